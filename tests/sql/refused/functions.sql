SELECT AVG(LOG(stay)) FROM visits
---
LOG needs a constant base before x: without one, some databases mean base 10, and others e. (line 1, column 12)
  fix: write LN(x) or LOG10(x); of another base LOG(2, x), with a constant first
===
SELECT AVG(LOG(stay, 10)) FROM visits
---
LOG needs a constant base before x: without one, some databases mean base 10, and others e. (line 1, column 12)
  fix: write LN(x) or LOG10(x); of another base LOG(2, x), with a constant first
===
SELECT AVG(LOG(1, stay)) FROM visits
---
LOG needs a constant base before x: without one, some databases mean base 10, and others e. (line 1, column 12)
  fix: write LN(x) or LOG10(x); of another base LOG(2, x), with a constant first
===
SELECT AVG(LOG2(stay, 2)) FROM visits
---
LOG2 has other arguments. (line 1, column 12)
  fix: write LOG2(x)
===
SELECT AVG(SIGN(stay, 1)) FROM visits
---
SIGN has other arguments. (line 1, column 12)
  fix: write SIGN(x)
===
SELECT COUNT(*) FROM visits WHERE RIGHT(ward, -1) = 'A'
---
RIGHT has other arguments. (line 1, column 35)
  fix: write RIGHT(text, 2) with a number
===
SELECT COUNT(*) FROM visits WHERE RIGHT(ward, age) = 'A'
---
RIGHT has other arguments. (line 1, column 35)
  fix: write RIGHT(text, 2) with a number
===
SELECT COUNT(*) FROM visits WHERE REPLACE(ward, '', 'A') = 'A'
---
REPLACE has other arguments. (line 1, column 35)
  fix: write REPLACE(text, 'a', 'b') with constant texts, the first of them not empty, and the second at most 10 times as long
===
SELECT COUNT(*) FROM visits WHERE REPLACE(ward, 'A', 'BBBBBBBBBBB') = 'A'
---
REPLACE has other arguments. (line 1, column 35)
  fix: write REPLACE(text, 'a', 'b') with constant texts, the first of them not empty, and the second at most 10 times as long
===
SELECT COUNT(*) FROM visits WHERE REPLACE(ward, "Blood Group", 'A') = 'A'
---
REPLACE has other arguments. (line 1, column 35)
  fix: write REPLACE(text, 'a', 'b') with constant texts, the first of them not empty, and the second at most 10 times as long
===
SELECT COUNT(*) FROM visits WHERE STRPOS(ward, '') > 0
---
STRPOS has other arguments. (line 1, column 35)
  fix: write STRPOS(text, 'a') or POSITION('a' IN text) with a constant text that is not empty
===
SELECT COUNT(*) FROM visits WHERE INSTR(ward, "Blood Group") > 0
---
INSTR has other arguments. (line 1, column 35)
  fix: write STRPOS(text, 'a') or POSITION('a' IN text) with a constant text that is not empty
===
SELECT COUNT(*) FROM visits WHERE POSITION(ward IN 'A') > 0
---
STRPOS has other arguments. (line 1, column 35)
  fix: write STRPOS(text, 'a') or POSITION('a' IN text) with a constant text that is not empty
===
SELECT COUNT(*) FROM visits WHERE STRPOS(age, 'A') > 0
---
POSITION does not take integer values. (line 1, column 35)
  fix: give it text, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE CONCAT_WS(ward, 'A', 'B') = 'A'
---
CONCAT_WS has other arguments. (line 1, column 35)
  fix: write CONCAT_WS(', ', a, b) with a constant text first, and texts, whole numbers and days after it
===
SELECT COUNT(*) FROM visits WHERE CONCAT_WS(',', ward, stay) = 'A'
---
CONCAT_WS has other arguments. (line 1, column 35)
  fix: write CONCAT_WS(', ', a, b) with a constant text first, and texts, whole numbers and days after it
===
SELECT AVGG(stay) FROM visits
---
AVGG is not a supported function. (line 1, column 8)
  fix: did you mean AVG?
===
SELECT AVG(my_udf(stay)) FROM visits
---
MY_UDF is not a supported function. (line 1, column 12)
  fix: see the list of functions; what is not on it cannot be asked
===
SELECT AVG(RANDOM()) FROM visits
---
RANDOM is not a supported function. (line 1, column 12)
  fix: leave it out: noise is added automatically
===
SELECT COUNT(*) FROM visits WHERE HASH(patient_id) > 3
---
HASH is not a supported function. (line 1, column 35)
  fix: leave it out: noise is added automatically
===
SELECT COUNT(*) FROM visits WHERE ward ~ 'a'
---
~ matches the whole text in some databases, and a part of it in others. (line 1, column 40)
  fix: write REGEXP_MATCHES(x, '^(a|b)$'), in which ^ and $ are the ends of the text
===
SELECT COUNT(*) FROM visits WHERE ward SIMILAR TO 'a'
---
SIMILAR TO matches the whole text in some databases, and a part of it in others. (line 1, column 40)
  fix: write REGEXP_MATCHES(x, '^(a|b)$'), in which ^ and $ are the ends of the text
===
SELECT COUNT(*) FROM visits WHERE ward GLOB 'a*'
---
GLOB is not supported. (line 1, column 40)
  fix: use LIKE, ILIKE or IN ('A', 'B')
===
SELECT COUNT(*) FROM visits WHERE ward LIKE 'a!%' ESCAPE '!'
---
ESCAPE is not supported. (line 1, column 51)
  fix: leave it out: % is any text and _ any character, and nothing escapes them
===
SELECT COUNT(*) FROM visits WHERE ward LIKE ward
---
LIKE needs a constant text. (line 1, column 45)
  fix: write x LIKE 'A%'
===
SELECT COUNT(*) FROM visits WHERE ward LIKE ANY ('a', 'b')
---
ANY is not supported. (line 1, column 45)
  fix: write a subquery after FROM or JOIN, or person IN (SELECT person FROM …) after WHERE
===
SELECT COUNT(*) FROM visits WHERE WEEKDAY(day) = 0
---
WEEKDAY is not a supported function. (line 1, column 35)
  fix: databases count from different days: use ISODOW, which is 1 for Monday to 7 for Sunday, or DOW, which is 0 for Sunday to 6 for Saturday
===
SELECT COUNT(*) FROM visits WHERE getenv('HOME') = ''
---
GETENV is not a supported function. (line 1, column 35)
  fix: see the list of functions; what is not on it cannot be asked
===
SELECT COUNT(*) FROM visits WHERE current_setting('x') = ''
---
CURRENT_SETTING is not a supported function. (line 1, column 35)
  fix: see the list of functions; what is not on it cannot be asked
===
SELECT COUNT(*) FROM visits WHERE "abs"(age) > 1
---
A function name cannot be quoted. (line 1, column 35)
  fix: write the function without quotes
===
SELECT COUNT(*) FROM visits WHERE age ^ 2 > 3
---
^ is not supported. (line 1, column 39)
  fix: write POWER(a, b)
===
SELECT COUNT(*) FROM visits WHERE age ** 2 > 3
---
This SQL cannot be parsed. (line 1, column 42)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits WHERE age & 1 = 1
---
Arithmetic of bits is not supported. (line 1, column 39)
  fix: use // and %: x // 4 % 2 is the third bit of x
===
SELECT COUNT(*) FROM visits WHERE age << 1 = 1
---
<< is not supported here. (line 1, column 35)
  fix: write x * 8 for x << 3, and x // 8 for x >> 3
===
SELECT COUNT(*) FROM visits WHERE age DIV 2 = 1
---
DIV is not supported. (line 1, column 39)
  fix: write a // b for division without a rest
===
SELECT COUNT(*) FROM visits WHERE !smoker
---
! is not supported. (line 1, column 35)
  fix: write NOT
===
SELECT COUNT(*) FROM visits WHERE age IS 3
---
IS TRUE and IS FALSE are for conditions. (line 1, column 35)
  fix: write a comparison: age = 1
===
SELECT COUNT(*) FROM visits WHERE age <=> 3
---
<=> is not supported. (line 1, column 39)
  fix: write IS NOT DISTINCT FROM
===
SELECT COUNT(*) FROM visits WHERE cost ?? 3 > 2
---
?? is not supported. (line 1, column 40)
  fix: write COALESCE(a, b)
===
SELECT COUNT(*) FROM visits WHERE [1, 2][1] = age
---
Lists and structures are not supported. (line 1, column 35)
  fix: use columns of numbers, texts and dates
===
SELECT COUNT(*) FROM visits WHERE {'a': 1}.a = age
---
Lists and structures are not supported. (line 1, column 35)
  fix: use columns of numbers, texts and dates
===
SELECT COUNT(*) FROM visits WHERE x -> x + 1
---
Lists and structures are not supported. (line 1, column 37)
  fix: use columns of numbers, texts and dates
===
SELECT COUNT(*) FROM visits WHERE ward COLLATE NOCASE = 'a'
---
COLLATE is not supported. (line 1, column 40)
  fix: use LOWER or ILIKE where capitals do not matter
===
SELECT AVG(CLAMP(stay, 10, 0)) FROM visits
---
CLAMP has other arguments. (line 1, column 12)
  fix: write CLAMP(x, low, high) with constants low ≤ high, such as CLAMP(stay, 0, 60), or days: CLAMP(day, '2024-01-01', '2024-12-31')
===
SELECT AVG(CLAMP(stay, 0, age)) FROM visits
---
CLAMP has other arguments. (line 1, column 12)
  fix: write CLAMP(x, low, high) with constants low ≤ high, such as CLAMP(stay, 0, 60), or days: CLAMP(day, '2024-01-01', '2024-12-31')
===
SELECT AVG(CLAMP(stay, 0)) FROM visits
---
CLAMP has other arguments. (line 1, column 12)
  fix: write CLAMP(x, low, high) with constants low ≤ high, such as CLAMP(stay, 0, 60), or days: CLAMP(day, '2024-01-01', '2024-12-31')
===
SELECT AVG(COALESCE(stay)) FROM visits
---
COALESCE takes two values or more. (line 1, column 12)
  fix: write COALESCE(a, b)
===
SELECT AVG(ABS(stay, 2)) FROM visits
---
ABS takes 1 values, not 2. (line 1, column 12)
  fix: see the list of functions
===
SELECT COUNT(*) FROM visits WHERE SUBSTRING(ward, 0, 1) = 'a'
---
SUBSTRING has other arguments. (line 1, column 35)
  fix: write SUBSTRING(text, start, length) with numbers, the first character being 1
===
SELECT COUNT(*) FROM visits WHERE TRIM(BOTH 'x' FROM ward) = 'a'
---
This SQL cannot be parsed. (line 1, column 45)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits WHERE ABS() > 1
---
ABS takes 1 values, not 0. (line 1, column 35)
  fix: see the list of functions
===
SELECT AVG(TRY(stay)) FROM visits
---
TRY is not a supported function. (line 1, column 12)
  fix: leave it out: expressions do not fail on rows
===
SELECT COUNT(*) FROM visits WHERE LEFT(ward, age) = 'A'
---
LEFT has other arguments. (line 1, column 35)
  fix: write LEFT(text, 2) with a number, or SUBSTRING(text, 1, 2)
===
SELECT COUNT(*) FROM visits WHERE STARTS_WITH(ward, "Blood Group")
---
STARTS_WITH has other arguments. (line 1, column 35)
  fix: write STARTS_WITH(text, 'A') with a constant text, or text LIKE 'A%'
===
SELECT COUNT(*) FROM visits WHERE NVL(ward) = 'A'
---
NVL has other arguments. (line 1, column 35)
  fix: write COALESCE(a, b)
===
SELECT COUNT(*) FROM visits WHERE IF(smoker) = 1
---
IF has other arguments. (line 1, column 35)
  fix: write CASE WHEN … THEN … ELSE … END
===
SELECT COUNT(*) FROM visits WHERE DATE() = day
---
DATE has other arguments. (line 1, column 35)
  fix: write CAST(x AS DATE), or DATE '2024-01-31' for one day
===
SELECT COUNT(*) FROM visits WHERE CONCAT() = 'A'
---
CONCAT has other arguments. (line 1, column 35)
  fix: put texts, whole numbers and days together; of others write CAST(ROUND(x) AS VARCHAR) or CASE … END
===
SELECT COUNT(*) FROM visits WHERE DAYOFWEEK(day) = 1
---
DAYOFWEEK is not a supported function. (line 1, column 35)
  fix: databases count from different days: use ISODOW, which is 1 for Monday to 7 for Sunday, or DOW, which is 0 for Sunday to 6 for Saturday
===
SELECT COUNT(*) FROM visits WHERE DATE_DIFF('week', day, left_on) = 1
---
DATE_DIFF has other arguments. (line 1, column 35)
  fix: write DATE_DIFF('day', from, to), or 'year', 'quarter', 'month', 'hour', 'minute', 'second'; for weeks DATE_DIFF('day', from, to) // 7, as databases begin them on different days
===
SELECT COUNT(*) FROM visits WHERE DATEDIFF(day, left_on, day) = 1
---
It is not clear which of these is the unit. (line 1, column 35)
  fix: put the unit first, in quotes: 'day'
===
SELECT COUNT(*) FROM visits WHERE DATE_DIFF('day', ward, day) = 1
---
DATE_DIFF has other arguments. (line 1, column 35)
  fix: write DATE_DIFF('day', from, to), or 'year', 'quarter', 'month', 'hour', 'minute', 'second'; for weeks DATE_DIFF('day', from, to) // 7, as databases begin them on different days
===
SELECT COUNT(*) FROM visits WHERE DATE_DIFF(1, 2) = 1
---
DATE_DIFF has other arguments. (line 1, column 35)
  fix: write DATE_DIFF('day', from, to), or 'year', 'quarter', 'month', 'hour', 'minute', 'second'; for weeks DATE_DIFF('day', from, to) // 7, as databases begin them on different days
===
SELECT COUNT(*) FROM visits WHERE TIMESTAMPDIFF(MONTH, day, left_on) > 1
---
TIMESTAMPDIFF is not a supported function. (line 1, column 35)
  fix: databases count differently: write DATE_DIFF('month', from, to), which counts the first days of months between them, or DATE_DIFF('day', from, to), or DATE_DIFF('day', from, to) // 365
===
SELECT COUNT(*) FROM visits WHERE AGE(day, left_on) > 1
---
AGE is not a supported function. (line 1, column 35)
  fix: databases count differently: write DATE_DIFF('month', from, to), which counts the first days of months between them, or DATE_DIFF('day', from, to), or DATE_DIFF('day', from, to) // 365
===
SELECT COUNT(*) FROM visits WHERE ADD_MONTHS(day, 1) > left_on
---
ADD_MONTHS is not a supported function. (line 1, column 35)
  fix: write day + INTERVAL 1 MONTH
===
SELECT COUNT(*) FROM visits WHERE DATE_SUB('month', day, left_on) > 1
---
DATE_SUB has other arguments. (line 1, column 35)
  fix: write day + INTERVAL 7 DAY or day - INTERVAL 1 MONTH, with a constant; for what lies between two days DATE_DIFF('day', from, to)
===
SELECT COUNT(*) FROM visits WHERE DATE_ADD(day, age) > left_on
---
DATE_ADD has other arguments. (line 1, column 35)
  fix: write day + INTERVAL 7 DAY or day - INTERVAL 1 MONTH, with a constant
===
SELECT COUNT(*) FROM visits WHERE seen - TIMESTAMP '2024-01-31 08:30:00' > 1
---
The difference of timestamps would be an interval. (line 1, column 35)
  fix: write DATE_DIFF('second', from, to), or 'minute', 'hour', 'day'
===
SELECT COUNT(*) FROM visits WHERE MAKE_DATE(2023, 2, 29) > day
---
MAKE_DATE has other arguments. (line 1, column 35)
  fix: write MAKE_DATE(year, month, day), with three whole numbers; a constant day as DATE '2024-01-31'
===
SELECT COUNT(*) FROM visits WHERE MAKE_DATE(age, 1) > day
---
MAKE_DATE has other arguments. (line 1, column 35)
  fix: write MAKE_DATE(year, month, day), with three whole numbers; a constant day as DATE '2024-01-31'
===
SELECT COUNT(*) FROM visits WHERE CAST(ward AS TIMESTAMP) < seen
---
Only days and constant texts can be cast to TIMESTAMP. (line 1, column 35)
  fix: write CAST(x AS DATE), or declare kinds={"x": "timestamp"} when the table is opened
===
SELECT COUNT(*) FROM visits WHERE CAST(seen AS TIME) < 5
---
TIME is not a supported type. (line 1, column 48)
  fix: use HOUR(x), MINUTE(x) and SECOND(x); HOUR(x) * 3600 + MINUTE(x) * 60 + SECOND(x) are the seconds of the day
===
SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('minute', day) = day
---
DATE_TRUNC minute does not take date values. (line 1, column 35)
  fix: give it timestamp, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('century', day) = day
---
DATE_TRUNC has other arguments. (line 1, column 35)
  fix: write DATE_TRUNC('month', day), or 'year', 'quarter', 'week', 'day', 'hour', 'minute', 'second'
===
SELECT COUNT(*) FROM visits WHERE EPOCH(ward) = 1
---
EPOCH has other arguments. (line 1, column 35)
  fix: write EPOCH(seen), of a date or a timestamp
===
SELECT COUNT(*) FROM visits WHERE TIMESTAMP '0001-01-01 00:00:00' - INTERVAL 1 HOUR < seen
---
The date is outside the years 1 to 9999. (line 1, column 45)
  fix: write a shorter interval
===
SELECT COUNT(*) FROM visits WHERE LPAD(ward, 5, '00') = 'A'
---
LPAD has other arguments. (line 1, column 35)
  fix: write LPAD(text, 5, '0'), with a length from 1 to 1,000 and one letter
===
SELECT COUNT(*) FROM visits WHERE LPAD(ward, age, '0') = 'A'
---
LPAD has other arguments. (line 1, column 35)
  fix: write LPAD(text, 5, '0'), with a length from 1 to 1,000 and one letter
===
SELECT COUNT(*) FROM visits WHERE RPAD(ward, 0, '0') = 'A'
---
RPAD has other arguments. (line 1, column 35)
  fix: write RPAD(text, 5, ' '), with a length from 1 to 1,000 and a constant text
===
SELECT COUNT(*) FROM visits WHERE LPAD(stay, 3, '0') = 'A'
---
LPAD has other arguments. (line 1, column 35)
  fix: write LPAD(text, 5, '0'), with a length from 1 to 1,000 and one letter
===
SELECT COUNT(*) FROM visits WHERE SPLIT_PART(ward, '', 1) = 'A'
---
SPLIT_PART has other arguments. (line 1, column 35)
  fix: write SPLIT_PART(text, '-', 1) with a constant text that is not empty, and a number of 1 or more
===
SELECT COUNT(*) FROM visits WHERE SPLIT_PART(ward, '-', -1) = 'A'
---
SPLIT_PART has other arguments. (line 1, column 35)
  fix: write SPLIT_PART(text, '-', 1) with a constant text that is not empty, and a number of 1 or more
===
SELECT COUNT(*) FROM visits WHERE SPLIT_PART(ward, "Blood Group", 1) = 'A'
---
SPLIT_PART has other arguments. (line 1, column 35)
  fix: write SPLIT_PART(text, '-', 1) with a constant text that is not empty, and a number of 1 or more
===
SELECT COUNT(*) FROM visits WHERE CONTAINS(ward, '')
---
CONTAINS has other arguments. (line 1, column 35)
  fix: write CONTAINS(text, 'a') with a constant text that is not empty, or text LIKE '%a%'
===
SELECT COUNT(*) FROM visits WHERE ENDS_WITH(ward, "Blood Group")
---
ENDS_WITH has other arguments. (line 1, column 35)
  fix: write ENDS_WITH(text, 'a') with a constant text that is not empty, or text LIKE '%a'
===
SELECT COUNT(*) FROM visits WHERE LOCATE(ward, 'A') = 1
---
LOCATE has other arguments. (line 1, column 35)
  fix: write STRPOS(text, 'a') or POSITION('a' IN text) with a constant text that is not empty
===
SELECT COUNT(*) FROM visits WHERE REPEAT(ward, 11) = 'A'
---
REPEAT has other arguments. (line 1, column 35)
  fix: write REPEAT(text, 3) with a number from 1 to 10
===
SELECT COUNT(*) FROM visits WHERE REPEAT(ward, age) = 'A'
---
REPEAT has other arguments. (line 1, column 35)
  fix: write REPEAT(text, 3) with a number from 1 to 10
===
SELECT COUNT(*) FROM visits WHERE TRANSLATE(ward, 'AB', 'BA') = 'A'
---
TRANSLATE has other arguments. (line 1, column 35)
  fix: write TRANSLATE(text, 'abc', 'xyz') with constants that have no letter in common, or REPLACE, which takes one after another
===
SELECT COUNT(*) FROM visits WHERE TRUNC(stay, 13) = 1
---
TRUNC has other arguments. (line 1, column 35)
  fix: write TRUNC(x), TRUNC(x, 2) with a number of digits from 0 to 12, or TRUNC(day, 'month')
===
SELECT COUNT(*) FROM visits WHERE TRUNC(ward) = 1
---
TRUNC has other arguments. (line 1, column 35)
  fix: write TRUNC(x), TRUNC(x, 2) with a number of digits from 0 to 12, or TRUNC(day, 'month')
===
SELECT COUNT(*) FROM visits WHERE TRUNC(day, 'century') = day
---
TRUNC has other arguments. (line 1, column 35)
  fix: write TRUNC(x), TRUNC(x, 2) with a number of digits from 0 to 12, or TRUNC(day, 'month')
===
SELECT COUNT(*) FROM visits WHERE PI(1) = 3
---
PI has other arguments. (line 1, column 35)
  fix: write PI()
===
SELECT COUNT(*) FROM visits WHERE RADIANS(stay, 1) = 3
---
RADIANS has other arguments. (line 1, column 35)
  fix: write RADIANS(x)
===
SELECT COUNT(*) FROM visits WHERE SAFE_DIVIDE(stay) = 3
---
SAFE_DIVIDE has other arguments. (line 1, column 35)
  fix: write a / b, which is NULL where b is 0
===
SELECT COUNT(*) FROM visits WHERE ISNULL(ward, 'A', 'B') = 'A'
---
ISNULL has other arguments. (line 1, column 35)
  fix: write COALESCE(a, b), or a IS NULL
===
SELECT COUNT(*) FROM visits WHERE NVL2(ward, 1) = 1
---
NVL2 has other arguments. (line 1, column 35)
  fix: write CASE WHEN x IS NOT NULL THEN a ELSE b END
===
SELECT COUNT(*) FROM visits WHERE DECODE(ward, "Blood Group", 1) = 1
---
DECODE has other arguments. (line 1, column 35)
  fix: write DECODE(x, 1, 'a', 2, 'b', 'other') with constants to compare with, or CASE x WHEN 1 THEN … END
===
SELECT COUNT(*) FROM visits WHERE DECODE(ward, 1) = 1
---
DECODE has other arguments. (line 1, column 35)
  fix: write DECODE(x, 1, 'a', 2, 'b', 'other') with constants to compare with, or CASE x WHEN 1 THEN … END
===
SELECT COUNT(*) FROM visits WHERE CHOOSE(stay, 1, 2) = 1
---
CHOOSE has other arguments. (line 1, column 35)
  fix: write CHOOSE(n, a, b) with a whole number first, or CASE n WHEN 1 THEN … END
===
SELECT COUNT(*) FROM visits WHERE ISNAN(stay)
---
ISNAN is not a supported function. (line 1, column 35)
  fix: write x IS NULL: what is no finite number is NULL
===
SELECT COUNT(*) FROM visits WHERE REVERSE(ward) = 'A'
---
REVERSE is not a supported function. (line 1, column 35)
  fix: use RIGHT(x, 2) for the last letters: databases take letters apart differently
===
SELECT COUNT(*) FROM visits WHERE INITCAP(ward) = 'A'
---
INITCAP is not a supported function. (line 1, column 35)
  fix: write UPPER(LEFT(x, 1)) || LOWER(SUBSTRING(x, 2))
===
SELECT COUNT(*) FROM visits WHERE ASCII(ward) = 65
---
ASCII is not a supported function. (line 1, column 35)
  fix: compare texts: LEFT(x, 1) >= 'A' AND LEFT(x, 1) <= 'Z'
===
SELECT COUNT(*) FROM visits WHERE CBRT(stay) = 1
---
CBRT is not a supported function. (line 1, column 35)
  fix: write POWER(x, 1.0 / 3), of numbers that are not negative
===
SELECT COUNT(*) FROM visits WHERE XOR(smoker, smoker)
---
XOR is not a supported function. (line 1, column 35)
  fix: write a <> b
===
SELECT COUNT(*) FROM visits WHERE age & 3 = 1
---
Arithmetic of bits is not supported. (line 1, column 39)
  fix: use // and %: x // 4 % 2 is the third bit of x
===
SELECT COUNT(*) FROM visits WHERE age << 3 = 8
---
<< is not supported here. (line 1, column 35)
  fix: write x * 8 for x << 3, and x // 8 for x >> 3
===
SELECT COUNT(*) FROM visits WHERE smoker IS UNKNOWN
---
'UNKNOWN' is not supported here. (line 1, column 45)
  fix: see the page on SQL for supported syntax
===
SELECT COUNT(*) FROM visits WHERE STRFTIME(day, '%U') = '05'
---
STRFTIME has other arguments. (line 1, column 35)
  fix: write STRFTIME(day, '%Y-%m-%d'), of a date or a timestamp, with these: %Y %y %m %d %H %S %j %M %B %b %A %a %u %w %V %-d %-m %-H
===
SELECT COUNT(*) FROM visits WHERE STRFTIME(day, '%') = '05'
---
STRFTIME has other arguments. (line 1, column 35)
  fix: write STRFTIME(day, '%Y-%m-%d'), of a date or a timestamp, with these: %Y %y %m %d %H %S %j %M %B %b %A %a %u %w %V %-d %-m %-H
===
SELECT COUNT(*) FROM visits WHERE STRFTIME(ward, '%Y') = '05'
---
STRFTIME has other arguments. (line 1, column 35)
  fix: write STRFTIME(day, '%Y-%m-%d'), of a date or a timestamp, with these: %Y %y %m %d %H %S %j %M %B %b %A %a %u %w %V %-d %-m %-H
===
SELECT COUNT(*) FROM visits WHERE STRFTIME(day, ward) = '05'
---
STRFTIME has other arguments. (line 1, column 35)
  fix: write STRFTIME(day, '%Y-%m-%d'), of a date or a timestamp, with these: %Y %y %m %d %H %S %j %M %B %b %A %a %u %w %V %-d %-m %-H
===
SELECT COUNT(*) FROM visits WHERE STRFTIME(day, '%H:%M') = '00:00'
---
STRFTIME has other arguments. (line 1, column 35)
  fix: write STRFTIME(day, '%Y-%m-%d'), of a date or a timestamp, with these: %Y %y %m %d %H %S %j %M %B %b %A %a %u %w %V %-d %-m %-H
===
SELECT COUNT(*) FROM visits WHERE TO_CHAR(day, 'Month') = 'May'
---
TO_CHAR has other arguments. (line 1, column 35)
  fix: write TO_CHAR(day, 'YYYY-MM-DD'), of a date or a timestamp, with these: YYYY yyyy YY MM DD dd HH24 MI SS DDD ID IW Q FMMonth Mon FMDay Dy
===
SELECT COUNT(*) FROM visits WHERE TO_CHAR(stay, '999.9') = '1'
---
TO_CHAR has other arguments. (line 1, column 35)
  fix: write TO_CHAR(day, 'YYYY-MM-DD'), of a date or a timestamp, with these: YYYY yyyy YY MM DD dd HH24 MI SS DDD ID IW Q FMMonth Mon FMDay Dy
===
SELECT COUNT(*) FROM visits WHERE DATE_FORMAT(day, 'yyyy-ww') = '2024-01'
---
DATE_FORMAT has other arguments. (line 1, column 35)
  fix: write DATE_FORMAT(day, '%Y-%m-%d') or DATE_FORMAT(day, 'yyyy-MM-dd'), with these: %Y %y %m %d %H %S %j %i %s %M %b %W %a %w %e %c %k, or yyyy yy MM dd HH mm ss MMMM MMM EEEE EEE E DDD M d H Q
===
SELECT COUNT(*) FROM visits WHERE TO_DATE(ward, 'yyyy-mm-dd') = day
---
TO_DATE has other arguments. (line 1, column 35)
  fix: write TO_DATE(text, '%d.%m.%Y') or TO_DATE(text, 'DD.MM.YYYY'), with a year of four digits, and a month and a day of two; or declare kinds={"day": "date:%d.%m.%Y"} when the table is opened
===
SELECT COUNT(*) FROM visits WHERE TO_DATE(ward, '%d.%m.%y') = day
---
TO_DATE has other arguments. (line 1, column 35)
  fix: write TO_DATE(text, '%d.%m.%Y') or TO_DATE(text, 'DD.MM.YYYY'), with a year of four digits, and a month and a day of two; or declare kinds={"day": "date:%d.%m.%Y"} when the table is opened
===
SELECT COUNT(*) FROM visits WHERE TO_DATE(ward, '%d_%m_%Y') = day
---
TO_DATE has other arguments. (line 1, column 35)
  fix: write TO_DATE(text, '%d.%m.%Y') or TO_DATE(text, 'DD.MM.YYYY'), with a year of four digits, and a month and a day of two; or declare kinds={"day": "date:%d.%m.%Y"} when the table is opened
===
SELECT COUNT(*) FROM visits WHERE STRPTIME(ward, '%d.%m.%Y %H:%M') = day
---
STRPTIME has other arguments. (line 1, column 35)
  fix: write TO_DATE(text, '%d.%m.%Y') or TO_DATE(text, 'DD.MM.YYYY'), with a year of four digits, and a month and a day of two; or declare kinds={"day": "date:%d.%m.%Y"} when the table is opened
===
SELECT COUNT(*) FROM visits WHERE TO_TIMESTAMP(ward, '%d.%m.%Y %H:%M') = seen
---
TO_TIMESTAMP is not a supported function. (line 1, column 35)
  fix: write TO_DATE(text, '%d.%m.%Y') for the day; moments are declared when the table is opened: kinds={"seen": "timestamp:%d.%m.%Y %H:%M"}
===
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward, '(A)\1')
---
This regular expression has a backslash before a letter, but for \d. (line 1, column 35)
  fix: use letters, (a|b), [abc], [0-9], \d, a?, {2}, ., .*, ^ and $, such as '^E1[0-4]', and [0-9]+ at the end, for at most 200 texts; for numbers write TRY_CAST(x AS INTEGER) IS NOT NULL
===
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward, "Blood Group")
---
REGEXP_MATCHES has other arguments. (line 1, column 35)
  fix: write REGEXP_MATCHES(text, '^E1[0-4]') with a constant, or text LIKE 'A%'
===
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(age, 'A')
---
REGEXP_MATCHES has other arguments. (line 1, column 35)
  fix: write REGEXP_MATCHES(text, '^E1[0-4]') with a constant, or text LIKE 'A%'
===
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward, 'A', 'g')
---
REGEXP_MATCHES has other arguments. (line 1, column 35)
  fix: write REGEXP_MATCHES(text, '^E1[0-4]') with a constant, or text LIKE 'A%'
===
SELECT COUNT(*) FROM visits WHERE ward RLIKE "Blood Group"
---
A regular expression needs a text, and a constant to match it with. (line 1, column 35)
  fix: write REGEXP_MATCHES(text, '^E1[0-4]') with a constant, or text LIKE 'A%'
===
SELECT COUNT(*) FROM visits WHERE ward SIMILAR TO 'A|B'
---
SIMILAR TO matches the whole text in some databases, and a part of it in others. (line 1, column 40)
  fix: write REGEXP_MATCHES(x, '^(a|b)$'), in which ^ and $ are the ends of the text
