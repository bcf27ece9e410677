SELECT COUNT(*) FROM visits WHERE age > 'forty'
---
> cannot put integer and text side by side. (line 1, column 35)
  fix: make them alike, for instance with CAST(… AS …); or declare the column's kind when the table is opened: kinds={"…": "real"}
===
SELECT COUNT(*) FROM visits WHERE ward > 3
---
> cannot put integer and text side by side. (line 1, column 35)
  fix: make them alike, for instance with CAST(… AS …); or declare the column's kind when the table is opened: kinds={"ward": "integer"}
===
SELECT COUNT(*) FROM visits WHERE age
---
WHERE needs a condition. (line 1, column 35)
  fix: write a comparison: age >= 40
===
SELECT COUNT(*) FROM visits WHERE stay AND smoker
---
WHERE needs a condition. (line 1, column 35)
  fix: write a comparison: age >= 40
===
SELECT COUNT(*) FROM visits WHERE NOT age
---
NOT does not take integer values. (line 1, column 39)
  fix: give it boolean, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE ward + 1 = 2
---
+ does not take text values. (line 1, column 35)
  fix: give it integer or real, for instance with CAST(… AS …); or declare the column's kind when the table is opened: kinds={"ward": "integer"}
===
SELECT COUNT(*) FROM visits WHERE -ward = 2
---
negate does not take text values. (line 1, column 36)
  fix: give it integer or real, for instance with CAST(… AS …); or declare the column's kind when the table is opened: kinds={"ward": "integer"}
===
SELECT COUNT(*) FROM visits WHERE age LIKE '1%'
---
LIKE does not take integer values. (line 1, column 35)
  fix: write CAST(x AS VARCHAR) LIKE …
===
SELECT COUNT(*) FROM visits WHERE ward IN (1, 2)
---
= cannot put integer and text side by side. (line 1, column 35)
  fix: make them alike, for instance with CAST(… AS …); or declare the column's kind when the table is opened: kinds={"…": "real"}
===
SELECT COUNT(*) FROM visits WHERE age IN (stay, 2)
---
IN needs constants. (line 1, column 43)
  fix: write x = y OR x = z to compare with columns
===
SELECT COUNT(*) FROM visits WHERE ward IN ('A', NULL)
---
NULL never matches in a list. (line 1, column 35)
  fix: write x IN (…) OR x IS NULL
===
SELECT COUNT(*) FROM visits WHERE ward IN ()
---
IN needs constants. (line 1, column 35)
  fix: write x IN ('A', 'B')
===
SELECT COUNT(*) FROM visits WHERE CASE WHEN age THEN 1 END = 1
---
A condition of CASE is not true or false. (line 1, column 35)
  fix: write a comparison after WHEN
===
SELECT COUNT(*) FROM visits WHERE CASE WHEN smoker THEN 1 ELSE 'a' END = 1
---
These values are of different kinds: integer, text. (line 1, column 35)
  fix: make them alike, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE age IS TRUE
---
IS TRUE and IS FALSE are for conditions. (line 1, column 35)
  fix: write a comparison: age = 1
===
SELECT COUNT(*) FROM visits WHERE day > '2024-13-01'
---
This text is not a date. (line 1, column 35)
  fix: write a day as '2024-01-31'
===
SELECT COUNT(*) FROM visits WHERE day > 'yesterday'
---
This text is not a date. (line 1, column 35)
  fix: write a day as '2024-01-31'
===
SELECT COUNT(*) FROM visits WHERE day > '2024-01-01 10:00'
---
This text is not a date. (line 1, column 35)
  fix: write a day as '2024-01-31'
===
SELECT COUNT(*) FROM visits WHERE day > '01.02.2024'
---
This text is not a date. (line 1, column 35)
  fix: write a day as '2024-01-31'
===
SELECT COUNT(*) FROM visits WHERE day > '2023-02-29'
---
This text is not a date. (line 1, column 35)
  fix: write a day as '2024-01-31'
===
SELECT COUNT(*) FROM visits WHERE seen > '2024-01-01 25:00'
---
This text is not a timestamp. (line 1, column 35)
  fix: write a moment as '2024-01-31 08:30:00'
===
SELECT COUNT(*) FROM visits WHERE seen > '2024-01-01T10:00:00Z'
---
This text is not a timestamp. (line 1, column 35)
  fix: write a moment as '2024-01-31 08:30:00'
===
SELECT COUNT(*) FROM visits WHERE day > 20240101
---
> cannot put date and integer side by side. (line 1, column 35)
  fix: make them alike, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE day IN (TIMESTAMP '2024-01-01 10:00')
---
Dates cannot be compared with timestamps here. (line 1, column 35)
  fix: write DATE '2024-01-31'
===
SELECT COUNT(*) FROM visits WHERE day > CURRENT_DATE
---
CURRENT_DATE depends on the time of the question. (line 1, column 41)
  fix: write the day itself, such as DATE '2024-01-31': a question must have the same meaning tomorrow
===
SELECT COUNT(*) FROM visits WHERE day > NOW()
---
NOW is not a supported function. (line 1, column 41)
  fix: write the day itself, such as DATE '2024-01-31': a question must have the same meaning tomorrow
===
SELECT COUNT(*) FROM visits WHERE day > today()
---
TODAY is not a supported function. (line 1, column 41)
  fix: write the day itself, such as DATE '2024-01-31': a question must have the same meaning tomorrow
===
SELECT COUNT(*) FROM visits WHERE seen > CURRENT_TIMESTAMP
---
CURRENT_TIMESTAMP depends on the time of the question. (line 1, column 42)
  fix: write the day itself, such as DATE '2024-01-31': a question must have the same meaning tomorrow
===
SELECT COUNT(*) FROM visits WHERE day + 7 > left_on
---
Dates and numbers cannot be added. (line 1, column 35)
  fix: write day + INTERVAL 7 DAY, or DATE_DIFF('day', a, b) for the days between
===
SELECT COUNT(*) FROM visits WHERE day + INTERVAL 1.5 DAY > left_on
---
An interval must be a whole number of days. (line 1, column 35)
  fix: write INTERVAL 7 DAY
===
SELECT COUNT(*) FROM visits WHERE day + INTERVAL age DAY > left_on
---
An interval must be a whole number of days. (line 1, column 50)
  fix: write INTERVAL 7 DAY
===
SELECT COUNT(*) FROM visits WHERE day + INTERVAL '1 day 2 hours' > left_on
---
An interval must be in seconds, minutes, hours, days, weeks, months, quarters or years. (line 1, column 50)
  fix: write INTERVAL 7 DAY, INTERVAL 3 MONTH, or the day itself, as in DATE '2025-01-01'
===
SELECT COUNT(*) FROM visits WHERE day + INTERVAL 99999999 DAY > left_on
---
The interval is longer than ten thousand years. (line 1, column 35)
  fix: write fewer days
===
SELECT COUNT(*) FROM visits WHERE seen - seen > 1
---
The difference of timestamps would be an interval. (line 1, column 35)
  fix: write DATE_DIFF('second', from, to), or 'minute', 'hour', 'day'
===
SELECT COUNT(*) FROM visits WHERE INTERVAL 1 DAY = 1
---
An interval cannot stand by itself. (line 1, column 52)
  fix: add it to a date: day + INTERVAL 7 DAY
===
SELECT COUNT(*) FROM visits WHERE HOUR(day) = 1
---
HOUR does not take date values. (line 1, column 35)
  fix: give it timestamp, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE YEAR(age) = 1
---
YEAR does not take integer values. (line 1, column 35)
  fix: give it date or timestamp, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('hour', seen) = 1
---
= cannot put integer and timestamp side by side. (line 1, column 35)
  fix: make them alike, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE DATE_TRUNC(ward, seen) = 1
---
DATE_TRUNC has other arguments. (line 1, column 35)
  fix: write DATE_TRUNC('month', day), or 'year', 'quarter', 'week', 'day', 'hour', 'minute', 'second'
===
SELECT COUNT(*) FROM visits WHERE CAST(stay AS VARCHAR) = '1'
---
CAST AS TEXT does not take real values. (line 1, column 35)
  fix: give it boolean or date or integer or text, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE CAST(age AS ward) = 1
---
The kind has an unsupported clause (kind). (line 1, column 35)
  fix: leave it out
===
SELECT COUNT(*) FROM visits WHERE DATE 'soon' < day
---
This text is not a date. (line 1, column 40)
  fix: write a day as '2024-01-31'
===
SELECT COUNT(*) FROM visits WHERE CAST(ward AS INTEGER FORMAT 'x') = 1
---
'FORMAT' is not supported here. (line 1, column 56)
  fix: see the page on SQL for supported syntax
===
SELECT COUNT(*) FROM visits WHERE age = 9223372036854775808
---
This number is too large. (line 1, column 41)
  fix: write an integer below 2^63, or a real such as 1e20
===
SELECT COUNT(*) FROM visits WHERE age = 99999999999999999999999999999999999999999999999999999
---
This number is too large. (line 1, column 41)
  fix: write an integer below 2^63, or a real such as 1e20
===
SELECT COUNT(*) FROM visits WHERE stay > 1e400
---
This number does not fit a floating-point number. (line 1, column 42)
  fix: write one between 1e-300 and 1e300, or 0
===
SELECT COUNT(*) FROM visits WHERE stay > 1e-400
---
This number does not fit a floating-point number. (line 1, column 42)
  fix: write one between 1e-300 and 1e300, or 0
===
SELECT COUNT(*) FROM visits WHERE CAST(stay AS DECIMAL) > 1
---
DECIMAL needs its digits; databases differ in the default. (line 1, column 35)
  fix: write DECIMAL(18, 2), with two digits after the point, or DOUBLE
===
SELECT COUNT(*) FROM visits WHERE CAST(stay AS NUMERIC(30, 20)) > 1
---
DECIMAL has at most 12 digits after the point here. (line 1, column 35)
  fix: write DECIMAL(18, 2), or DOUBLE
===
SELECT COUNT(*) FROM visits WHERE CAST(smoker AS DECIMAL(3, 1)) > 1
---
* does not take boolean values. (line 1, column 35)
  fix: give it integer or real, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE day > DATE '9999-12-31' + INTERVAL 1 MONTH
---
The date is outside the years 1 to 9999. (line 1, column 46)
  fix: write a shorter interval
===
SELECT COUNT(*) FROM visits WHERE CONCAT(ward, stay) = 'A'
---
CONCAT has other arguments. (line 1, column 35)
  fix: put texts, whole numbers and days together; of others write CAST(ROUND(x) AS VARCHAR) or CASE … END
===
SELECT COUNT(*) FROM visits WHERE CONCAT(ward, smoker) = 'A'
---
CONCAT has other arguments. (line 1, column 35)
  fix: put texts, whole numbers and days together; of others write CAST(ROUND(x) AS VARCHAR) or CASE … END
===
SELECT MIN(CLAMP(day, '2024-02-01', '2024-01-01')) FROM visits
---
CLAMP has other arguments. (line 1, column 12)
  fix: write CLAMP(x, low, high) with constants low ≤ high, such as CLAMP(stay, 0, 60), or days: CLAMP(day, '2024-01-01', '2024-12-31')
===
SELECT MIN(CLAMP(day, 0, 9)) FROM visits
---
CLAMP has other arguments. (line 1, column 12)
  fix: write CLAMP(x, low, high) with constants low ≤ high, such as CLAMP(stay, 0, 60), or days: CLAMP(day, '2024-01-01', '2024-12-31')
===
SELECT MIN(CLAMP(day, left_on, '2024-01-01')) FROM visits
---
CLAMP has other arguments. (line 1, column 12)
  fix: write CLAMP(x, low, high) with constants low ≤ high, such as CLAMP(stay, 0, 60), or days: CLAMP(day, '2024-01-01', '2024-12-31')
===
SELECT SUM(IF(age, 1, 0)) FROM visits
---
A condition of CASE is not true or false. (line 1, column 12)
  fix: write a comparison after WHEN
===
SELECT COUNT(*) FROM visits WHERE ward = "A"
---
There is no column 'A' in visits. (line 1, column 42)
  fix: use one of: patient_id, ward, age, stay, cost, day, left_on, seen, smoker, index, Blood Group; a text stands in single quotes
===
SELECT COUNT(*) FROM visits WHERE day + INTERVAL 1.5 MONTH > left_on
---
An interval must be a whole number of months. (line 1, column 35)
  fix: write INTERVAL 7 MONTH
===
SELECT COUNT(*) FROM visits WHERE day - INTERVAL 10001 YEAR > left_on
---
The interval is longer than ten thousand years. (line 1, column 35)
  fix: write fewer years
===
SELECT COUNT(*) FROM visits WHERE age + INTERVAL 1 MONTH > 3
---
An interval can be added only to dates and timestamps. (line 1, column 35)
  fix: write CAST(x AS DATE) + INTERVAL 7 DAY
===
SELECT COUNT(*) FROM visits WHERE day < DATE '0001-03-31' - INTERVAL 1 QUARTER
---
The date is outside the years 1 to 9999. (line 1, column 46)
  fix: write a shorter interval
===
SELECT COUNT(*) FROM visits WHERE day > DATE '9999-12-31' + INTERVAL 1 DAY
---
The date is outside the years 1 to 9999. (line 1, column 46)
  fix: write a shorter interval
===
SELECT COUNT(*) FROM visits WHERE INTERVAL 1 MONTH + day > left_on
---
An interval cannot stand by itself. (line 1, column 54)
  fix: add it to a date: day + INTERVAL 7 DAY
===
SELECT COUNT(*) FROM visits WHERE age > '40.5'
---
> cannot put integer and text side by side. (line 1, column 35)
  fix: make them alike, for instance with CAST(… AS …); or declare the column's kind when the table is opened: kinds={"…": "real"}
===
SELECT COUNT(*) FROM visits WHERE stay > '1e3'
---
> cannot put real and text side by side. (line 1, column 35)
  fix: make them alike, for instance with CAST(… AS …); or declare the column's kind when the table is opened: kinds={"…": "real"}
