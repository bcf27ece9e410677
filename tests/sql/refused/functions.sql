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
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward, 'a.*')
---
REGEXP_MATCHES is not a supported function. (line 1, column 35)
  fix: use LIKE, SUBSTRING, RIGHT, STRPOS, REPLACE, LOWER, UPPER, TRIM, LENGTH or ||
===
SELECT COUNT(*) FROM visits WHERE ward ~ 'a'
---
~ is not supported. (line 1, column 40)
  fix: use LIKE, ILIKE or IN ('A', 'B')
===
SELECT COUNT(*) FROM visits WHERE ward SIMILAR TO 'a'
---
SIMILAR TO is not supported. (line 1, column 40)
  fix: use LIKE, ILIKE or IN ('A', 'B')
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
SELECT COUNT(*) FROM visits WHERE STRFTIME(day, '%Y') = '2024'
---
STRFTIME is not a supported function. (line 1, column 35)
  fix: use YEAR, QUARTER, MONTH, WEEK, DAY, ISODOW, HOUR, MINUTE, SECOND or DATE_TRUNC('month', day)
===
SELECT COUNT(*) FROM visits WHERE WEEKDAY(day) = 0
---
WEEKDAY is not a supported function. (line 1, column 35)
  fix: use ISODOW, which is 1 for Monday to 7 for Sunday
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
'&' is not supported here. (line 1, column 39)
  fix: see the page on SQL for supported syntax
===
SELECT COUNT(*) FROM visits WHERE age << 1 = 1
---
<< is not supported here. (line 1, column 35)
  fix: see the page on SQL for supported syntax
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
SELECT COUNT(*) FROM visits WHERE TRUNC(stay) = 1
---
TRUNC is not a supported function. (line 1, column 35)
  fix: use FLOOR; of dates, DATE_TRUNC('month', day)
