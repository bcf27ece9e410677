SELECT COUNT(*) /*! AS n */ FROM visits
---
The question contains an unsupported comment. (line 1, column 17)
  fix: remove it; in a whole question, -- to the end of a line and /* … */, not inside each other, are fine
===
SELECT COUNT(*) FROM visits {# jinja #}
---
The question contains an unsupported comment. (line 1, column 29)
  fix: remove it; in a whole question, -- to the end of a line and /* … */, not inside each other, are fine
===
SELECT COUNT(*) FROM {{ table }}
---
Lists and structures are not supported. (line 1, column 22)
  fix: use columns of numbers, texts and dates
===
SELECT COUNT(*) FROM visits WHERE age > ?
---
The question has a parameter without a value. (line 1, column 41)
  fix: write the value itself
===
SELECT COUNT(*) FROM visits WHERE age > $1
---
The question has a parameter without a value. (line 1, column 41)
  fix: write the value itself
===
SELECT COUNT(*) FROM visits WHERE age > :age
---
The question has a parameter without a value. (line 1, column 41)
  fix: write the value itself
===
SELECT COUNT(*) FROM visits WHERE age > @age
---
The question has a parameter without a value. (line 1, column 41)
  fix: write the value itself
===
SELECT COUNT(*) FROM visits WHERE ward = 'open
---
A quote or a comment is not closed. (line 1, column 42)
  fix: close it
===
SELECT COUNT(*) FROM visits WHERE "open = 1
---
A quote or a comment is not closed. (line 1, column 35)
  fix: close it
===
SELECT COUNT(*) FROM visits /* open
---
A quote or a comment is not closed. (line 1, column 29)
  fix: close it
===
SELECT COUNT(*) FROM visits WHERE ward = 'a' 'b'
---
A text beside a text is not supported here. (line 1, column 42)
  fix: see the page on SQL for supported syntax
===
SELECT COUNT(*) FROM visits WHERE ward = e'a'
---
Two words are not separated. (line 1, column 42)
  fix: put a space between them
===
SELECT COUNT(*) FROM visits WHERE ward = x'41'
---
Two words are not separated. (line 1, column 42)
  fix: put a space between them
===
SELECT COUNT(*) FROM visits WHERE ward = N'a'
---
'a' is not supported here. (line 1, column 42)
  fix: see the page on SQL for supported syntax
===
SELECT COUNT(*) FROM visits WHERE ward = $$a$$
---
The question has a parameter without a value. (line 1, column 42)
  fix: write the value itself
===
SELECT COUNT(*) + 0x1F FROM visits
---
Two words are not separated. (line 1, column 19)
  fix: put a space between them
===
SELECT COUNT(*) FROM visits WHERE age > 1and smoker
---
Two words are not separated. (line 1, column 41)
  fix: put a space between them
===
SELECT COUNT(*) FROM visits WHERE age > 1_000
---
Two words are not separated. (line 1, column 41)
  fix: put a space between them
===
SELECT COUNT(*) FROM visits
---
The question contains an unsupported character, U+00A0. (line 1, column 16)
  fix: write a plain space, or remove it
===
SELECT COUNT(*) FROM visits WHERE аge > 1
---
There is no column 'аge' in visits. (line 1, column 35)
  fix: did you mean 'age'?
===
SELECT COUNT(*) FROM visits WHERE age > 1 \ 2
---
'\\' is not supported here. (line 1, column 43)
  fix: see the page on SQL for supported syntax
===
SELECT COUNT(*) FROM visits WHERE age > 1 |> AGGREGATE COUNT(*)
---
'|>' is not supported here. (line 1, column 43)
  fix: see the page on SQL for supported syntax
===
SELECT COUNT(*) FROM visits WHERE smoker = UNKNOWN
---
'UNKNOWN' is not supported here. (line 1, column 44)
  fix: see the page on SQL for supported syntax
===
SELECT COUNT(*) FROM visits WHERE ((age > 1)
---
This SQL cannot be parsed. (line 1, column 44)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits WHERE age > 1)
---
This SQL cannot be parsed. (line 1, column 42)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits WHERE age > > 1
---
>> is not supported here. (line 1, column 35)
  fix: write x * 8 for x << 3, and x // 8 for x >> 3
===
SELECT COUNT(*) FROM visits WHERE index > 1
---
'index' is a reserved word. (line 1, column 35)
  fix: put the column in quotes: "index"
===
SELECT COUNT(*)
FROM visits
WHERE age >= 40
  AND wrd = 'A'
---
There is no column 'wrd' in visits. (line 4, column 7)
  fix: did you mean 'ward'?
===
SELECT COUNT(*) /* a /* b */ c */ FROM visits
---
The question contains an unsupported comment. (line 1, column 17)
  fix: remove it; in a whole question, -- to the end of a line and /* … */, not inside each other, are fine
===
-- nothing else
---
The question is empty. (line 1, column 1)
  fix: write SELECT … FROM …, such as SELECT COUNT(*) FROM visits
===
SEL/* */ECT COUNT(*) FROM visits
---
A question does not begin with 'SEL'. (line 1, column 1)
  fix: begin with SELECT
===
SELECT COUNT(*) FROM visits # all
---
'#' is not supported here. (line 1, column 29)
  fix: leave it out
