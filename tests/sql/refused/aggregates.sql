SELECT SUM(AVG(stay)) FROM visits
---
AVG cannot stand here. (line 1, column 12)
  fix: use aggregates after SELECT, HAVING or ORDER BY, and not inside each other
===
SELECT COUNT(*) FROM visits WHERE COUNT(*) > 3
---
COUNT cannot stand here. (line 1, column 35)
  fix: use aggregates after SELECT, HAVING or ORDER BY, and not inside each other
===
SELECT COUNT(*) FROM visits WHERE AVG(stay) > 3
---
AVG cannot stand here. (line 1, column 35)
  fix: use aggregates after SELECT, HAVING or ORDER BY, and not inside each other
===
SELECT COUNT(*) FROM visits GROUP BY COUNT(*)
---
COUNT cannot stand here. (line 1, column 38)
  fix: use aggregates after SELECT, HAVING or ORDER BY, and not inside each other
===
SELECT COUNT(*) AS n FROM visits GROUP BY n
---
COUNT cannot stand here. (line 1, column 8)
  fix: use aggregates after SELECT, HAVING or ORDER BY, and not inside each other
===
SELECT COUNT(*) OVER () FROM visits
---
A window over private rows would show or rank the rows of people one by one. (line 1, column 8)
  fix: sum up first: SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM … GROUP BY ward
===
SELECT SUM(stay) OVER (PARTITION BY ward) FROM visits
---
A window over private rows would show or rank the rows of people one by one. (line 1, column 8)
  fix: sum up first: SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM … GROUP BY ward
===
SELECT RANK() OVER (ORDER BY stay) FROM visits
---
A window over private rows would show or rank the rows of people one by one. (line 1, column 8)
  fix: sum up first: SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM … GROUP BY ward
===
SELECT ROW_NUMBER() FROM visits
---
ROW_NUMBER needs OVER. (line 1, column 8)
  fix: write ROW_NUMBER(…) OVER (ORDER BY n DESC)
===
SELECT LAG(stay) FROM visits
---
LAG needs OVER. (line 1, column 8)
  fix: write LAG(…) OVER (ORDER BY n DESC)
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward QUALIFY COUNT(*) > 1
---
QUALIFY needs a window function. (line 1, column 57)
  fix: write the condition after HAVING
===
SELECT COUNT(*) FROM visits WINDOW w AS (ORDER BY day)
---
No window uses this name. (line 1, column 36)
  fix: write OVER and the name; or leave it out
===
SELECT SUM(DISTINCT stay) FROM visits
---
Only different integers can be told apart with noise, not different reals. (line 1, column 21)
  fix: write SUM(DISTINCT ROUND(…)), or leave DISTINCT out; every row is then included
===
SELECT AVG(stay) IGNORE NULLS FROM visits
---
IGNORE NULLS is not supported here. (line 1, column 8)
  fix: see the page on SQL for supported syntax
===
SELECT SUM(stay IGNORE NULLS) FROM visits
---
IGNORE NULLS is not supported here. (line 1, column 12)
  fix: see the page on SQL for supported syntax
===
SELECT COUNT(DISTINCT ward, day) FROM visits
---
COUNT(DISTINCT …) takes one value. (line 1, column 23)
  fix: count each column by itself
===
SELECT COUNT(ward, day) FROM visits
---
COUNT takes one value. (line 1, column 8)
  fix: write COUNT(*), COUNT(x) or COUNT(DISTINCT x)
===
SELECT COUNT(NULL) FROM visits
---
This expression is constant. (line 1, column 8)
  fix: name a column, or write COUNT(*)
===
SELECT AVG(*) FROM visits
---
* would show rows, which are private. (line 1, column 12)
  fix: write COUNT(*), or name a column
===
SELECT AVG(1) FROM visits
---
This expression is constant. (line 1, column 12)
  fix: name a column, or write COUNT(*)
===
SELECT SUM(ward) FROM visits
---
This takes numbers, not text values. (line 1, column 12)
  fix: if these are numbers, declare kinds={"ward": "real"} when the table is opened; or group by it
===
SELECT AVG(smoker) FROM visits
---
This takes numbers, not boolean values. (line 1, column 12)
  fix: write CAST(smoker AS INTEGER), which is 1 or 0; or COUNT(*) FILTER (WHERE …)
===
SELECT AVG(day) FROM visits
---
This takes numbers, not date values. (line 1, column 12)
  fix: count with COUNT(*) FILTER (WHERE …), or group by it
===
SELECT SUM(stay, age) FROM visits
---
SUM takes one value. (line 1, column 8)
  fix: write SUM(stay)
===
SELECT MEDIAN(ward) FROM visits
---
This takes numbers and dates, not text values. (line 1, column 15)
  fix: group by it, and count: the first or last text is a value of one row; if these are numbers, declare kinds={"ward": "real"} when the table is opened
===
SELECT QUANTILE(stay) FROM visits
---
QUANTILE takes a value and a level. (line 1, column 8)
  fix: write QUANTILE(stay, 0.9)
===
SELECT QUANTILE(stay, 0) FROM visits
---
A level lies between 0 and 1. (line 1, column 23)
  fix: write 0.9, or use MIN or MAX for the ends
===
SELECT QUANTILE(stay, 1.5) FROM visits
---
A level lies between 0 and 1. (line 1, column 23)
  fix: write 0.9, or use MIN or MAX for the ends
===
SELECT QUANTILE(stay, age) FROM visits
---
This must be a number. (line 1, column 23)
  fix: write a constant such as 0.9
===
SELECT QUANTILE(stay, [0.1, 0.9]) FROM visits
---
Lists and structures are not supported. (line 1, column 23)
  fix: use columns of numbers, texts and dates
===
SELECT PERCENTILE_CONT(0.9) FROM visits
---
PERCENTILE_CONT needs WITHIN GROUP. (line 1, column 8)
  fix: write QUANTILE(stay, 0.9)
===
SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY stay, age) FROM visits
---
WITHIN GROUP works only with PERCENTILE_CONT and PERCENTILE_DISC. (line 1, column 8)
  fix: write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY stay), or QUANTILE(stay, 0.9)
===
SELECT AVG(stay) WITHIN GROUP (ORDER BY stay) FROM visits
---
WITHIN GROUP works only with PERCENTILE_CONT and PERCENTILE_DISC. (line 1, column 8)
  fix: write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY stay), or QUANTILE(stay, 0.9)
===
SELECT ABS(stay) FILTER (WHERE age > 1) FROM visits
---
FILTER must follow COUNT, SUM or another aggregate. (line 1, column 8)
  fix: write COUNT(*) FILTER (WHERE …)
===
SELECT COUNT(*) FILTER (WHERE age) FROM visits
---
FILTER needs a condition. (line 1, column 31)
  fix: write FILTER (WHERE age >= 40)
===
SELECT COUNT(*) FILTER FROM visits
---
FILTER is not a name. (line 1, column 17)
  fix: write what is missing, or put the name in quotes: "FILTER"
===
SELECT HISTOGRAM(stay) FROM visits
---
HISTOGRAM takes a value and 2 to 1001 edges. (line 1, column 8)
  fix: write HISTOGRAM(stay, 0, 7, 14, 28)
===
SELECT HISTOGRAM(stay, 1) FROM visits
---
HISTOGRAM takes a value and 2 to 1001 edges. (line 1, column 8)
  fix: write HISTOGRAM(stay, 0, 7, 14, 28)
===
SELECT HISTOGRAM(stay, 3, 2, 1) FROM visits
---
Edges must increase. (line 1, column 24)
  fix: write them from low to high, each once
===
SELECT HISTOGRAM(stay, 0, age) FROM visits
---
This must be a number. (line 1, column 27)
  fix: write a constant such as 0.9
===
SELECT HISTOGRAM(stay, 0, 10), COUNT(*) FROM visits
---
HISTOGRAM must be the only output. (line 1, column 8)
  fix: ask for HISTOGRAM(…) by itself, with WHERE but without GROUP BY, HAVING, ORDER BY and LIMIT
===
SELECT HISTOGRAM(stay, 0, 10) + 1 FROM visits
---
HISTOGRAM must be the only output. (line 1, column 8)
  fix: ask for HISTOGRAM(…) by itself, with WHERE but without GROUP BY, HAVING, ORDER BY and LIMIT
===
SELECT ward, HISTOGRAM(stay, 0, 10) FROM visits GROUP BY ward
---
HISTOGRAM must be the only output. (line 1, column 8)
  fix: ask for HISTOGRAM(…) by itself, with WHERE but without GROUP BY, HAVING, ORDER BY and LIMIT
===
SELECT HISTOGRAM(stay, 0, 10) FROM visits LIMIT 3
---
HISTOGRAM must be the only output. (line 1, column 8)
  fix: ask for HISTOGRAM(…) by itself, with WHERE but without GROUP BY, HAVING, ORDER BY and LIMIT
===
SELECT COUNT(*) + ward FROM visits GROUP BY ward
---
+ does not take text values. (line 1, column 8)
  fix: give it integer or real, for instance with CAST(… AS …); or declare the column's kind when the table is opened: kinds={"ward": "integer"}
===
SELECT COUNT(*) || 'x' FROM visits
---
|| does not take integer values. (line 1, column 8)
  fix: give it text, for instance with CAST(… AS …)
===
SELECT COUNT(*) AND TRUE FROM visits
---
AND does not take integer values. (line 1, column 8)
  fix: give it boolean, for instance with CAST(… AS …)
===
SELECT COUNT_IF(age) FROM visits
---
COUNT_IF needs a condition. (line 1, column 8)
  fix: write a comparison: COUNT_IF(age >= 40)
===
SELECT COUNT_IF(smoker, age) FROM visits
---
COUNT_IF takes one condition. (line 1, column 8)
  fix: write COUNT(*) FILTER (WHERE …)
===
SELECT COUNT_IF(smoker) FILTER (WHERE age > 3) FROM visits
---
COUNT_IF takes one condition. (line 1, column 8)
  fix: write COUNT(*) FILTER (WHERE …)
===
SELECT CORR(stay) FROM visits
---
CORR takes two values. (line 1, column 8)
  fix: write CORR(stay, age)
===
SELECT CORR(stay, ward) FROM visits
---
This takes numbers, not text values. (line 1, column 19)
  fix: if these are numbers, declare kinds={"ward": "real"} when the table is opened; or group by it
===
SELECT COVAR_POP(stay, 1) FROM visits
---
This expression is constant. (line 1, column 24)
  fix: name a column, or write COUNT(*)
===
SELECT REGR_SLOPE(stay, patient_id) FROM visits
---
The column of the privacy unit can only be counted. (line 1, column 25)
  fix: write COUNT(DISTINCT patient_id) for people, COUNT(*) for rows, or use it after WHERE
===
SELECT CORR(n, stay) FROM (SELECT patient_id, COUNT(*) AS n, MAX(stay) AS stay FROM visits GROUP BY patient_id) AS q
---
CORR needs bounds for 'n', a computed column. (line 1, column 13)
  fix: write CORR(CLAMP(n, 0, 100), …), with your own least and greatest value
===
SELECT CORR(n, m) FROM (SELECT ward, COUNT(*) AS n, COUNT(age) AS m FROM visits GROUP BY ward) AS q
---
This summary cannot be computed from an answer. (line 1, column 8)
  fix: use COUNT, SUM, AVG, MIN, MAX, MEDIAN or STDDEV; or compute it from the answer afterwards
===
SELECT SUM(DISTINCT age, day) FROM visits
---
SUM takes one value. (line 1, column 21)
  fix: write SUM(DISTINCT age)
===
SELECT MEDIAN(DISTINCT age) FROM visits
---
DISTINCT does not work here. (line 1, column 24)
  fix: leave it out; every row is then included
===
SELECT ward, ANY_VALUE(age), COUNT(*) FROM visits GROUP BY ward
---
ANY_VALUE would show the value of a row. (line 1, column 14)
  fix: use it for what is grouped by, or group by this, too
===
SELECT BOOL_OR(smoker) FROM visits
---
BOOL_OR is not a supported function. (line 1, column 8)
  fix: ask how many: COUNT(*) FILTER (WHERE x)
===
SELECT PERCENTILE_DISC(0.5) FROM visits
---
PERCENTILE_DISC needs WITHIN GROUP. (line 1, column 8)
  fix: write QUANTILE(stay, 0.9)
===
SELECT APPROX_COUNT_DISTINCT(ward, day) FROM visits
---
COUNT(DISTINCT …) takes one value. (line 1, column 30)
  fix: count each column by itself
