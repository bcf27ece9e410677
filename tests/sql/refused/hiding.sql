SELECT COUNT(*) /*! AS n */ FROM visits
---
There is a comment that cannot be passed over. (line 1, column 17)
  fix: take it out; in a whole question, -- to the end of a line and /* … */, not inside each other, are fine
===
SELECT COUNT(*) FROM visits {# jinja #}
---
There is a comment that cannot be passed over. (line 1, column 29)
  fix: take it out; in a whole question, -- to the end of a line and /* … */, not inside each other, are fine
===
SELECT COUNT(*) FROM {{ table }}
---
Lists and structures are not understood. (line 1, column 22)
  fix: use columns of numbers, texts and dates
===
SELECT COUNT(*) FROM visits WHERE age > ?
---
There is a place for a value that is not given. (line 1, column 41)
  fix: write the value itself
===
SELECT COUNT(*) FROM visits WHERE age > $1
---
There is a place for a value that is not given. (line 1, column 41)
  fix: write the value itself
===
SELECT COUNT(*) FROM visits WHERE age > :age
---
There is a place for a value that is not given. (line 1, column 41)
  fix: write the value itself
===
SELECT COUNT(*) FROM visits WHERE age > @age
---
There is a place for a value that is not given. (line 1, column 41)
  fix: write the value itself
===
SELECT COUNT(*) FROM visits WHERE ward = 'open
---
A quote or a comment is opened and not closed. (line 1, column 42)
  fix: close it
===
SELECT COUNT(*) FROM visits WHERE "open = 1
---
A quote or a comment is opened and not closed. (line 1, column 35)
  fix: close it
===
SELECT COUNT(*) FROM visits /* open
---
A quote or a comment is opened and not closed. (line 1, column 29)
  fix: close it
===
SELECT COUNT(*) FROM visits WHERE ward = 'a' 'b'
---
A text beside a text is not understood here. (line 1, column 42)
  fix: see the page on SQL for what is
===
SELECT COUNT(*) FROM visits WHERE ward = e'a'
---
Two words touch, so that it is unclear what is meant. (line 1, column 42)
  fix: put a space between
===
SELECT COUNT(*) FROM visits WHERE ward = x'41'
---
Two words touch, so that it is unclear what is meant. (line 1, column 42)
  fix: put a space between
===
SELECT COUNT(*) FROM visits WHERE ward = N'a'
---
'a' is not understood here. (line 1, column 42)
  fix: leave it out
===
SELECT COUNT(*) FROM visits WHERE ward = $$a$$
---
There is a place for a value that is not given. (line 1, column 42)
  fix: write the value itself
===
SELECT COUNT(*) + 0x1F FROM visits
---
Two words touch, so that it is unclear what is meant. (line 1, column 19)
  fix: put a space between
===
SELECT COUNT(*) FROM visits WHERE age > 1and smoker
---
Two words touch, so that it is unclear what is meant. (line 1, column 41)
  fix: put a space between
===
SELECT COUNT(*) FROM visits WHERE age > 1_000
---
Two words touch, so that it is unclear what is meant. (line 1, column 41)
  fix: put a space between
===
SELECT COUNT(*) FROM visits WHERE `age` > 1
---
'`' is not understood here. (line 1, column 35)
  fix: leave it out
===
SELECT COUNT(*) FROM visits WHERE [age] > 1
---
Lists and structures are not understood. (line 1, column 35)
  fix: use columns of numbers, texts and dates
===
SELECT COUNT(*) FROM visits
---
There is a character that means nothing here, U+00A0. (line 1, column 16)
  fix: write a plain space, or take it out
===
SELECT COUNT(*) FROM visits WHERE аge > 1
---
There is no column 'аge' in visits. (line 1, column 35)
  fix: did you mean 'age'?
===
SELECT COUNT(*) FROM visits WHERE age > 1 \ 2
---
'\\' is not understood here. (line 1, column 43)
  fix: leave it out
===
SELECT COUNT(*) FROM visits WHERE age > 1 |> AGGREGATE COUNT(*)
---
'|>' is not understood here. (line 1, column 43)
  fix: leave it out
===
SELECT COUNT(*) FROM visits WHERE smoker = UNKNOWN
---
'UNKNOWN' is not understood here. (line 1, column 44)
  fix: leave it out
===
SELECT COUNT(*) FROM visits WHERE ((age > 1)
---
This is not SQL that can be read here. (line 1, column 44)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits WHERE age > 1)
---
This is not SQL that can be read here. (line 1, column 42)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits WHERE age > > 1
---
>> is not understood here. (line 1, column 35)
  fix: see the page on SQL for what is
===
SELECT COUNT(*) FROM visits WHERE index > 1
---
INDEX is a word of SQL. (line 1, column 35)
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
There is a comment that cannot be passed over. (line 1, column 17)
  fix: take it out; in a whole question, -- to the end of a line and /* … */, not inside each other, are fine
===
-- nothing else
---
There is no question. (line 1, column 1)
  fix: write SELECT … FROM …, such as SELECT COUNT(*) FROM visits
===
SEL/* */ECT COUNT(*) FROM visits
---
A question does not begin with 'SEL'. (line 1, column 1)
  fix: begin with SELECT
===
SELECT COUNT(*) FROM visits # all
---
'#' is not understood here. (line 1, column 29)
  fix: leave it out
