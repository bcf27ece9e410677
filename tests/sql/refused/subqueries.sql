SELECT AVG(total) FROM (SELECT patient_id, SUM(stay) AS total FROM visits GROUP BY patient_id) t
---
AVG needs bounds for 'total', a computed column. (line 1, column 12)
  fix: write AVG(CLAMP(total, 0, 100)), with your own least and greatest value
===
SELECT SUM(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t
---
SUM needs bounds for 'n', a computed column. (line 1, column 12)
  fix: write SUM(CLAMP(n, 0, 100)), with your own least and greatest value
===
SELECT MEDIAN(n + 1) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t
---
MEDIAN needs bounds for 'n', a computed column. (line 1, column 15)
  fix: write MEDIAN(CLAMP(n, 0, 100)), with your own least and greatest value
===
SELECT AVG(total) FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) t
---
SUM(cost) needs bounds for 'cost'. (line 1, column 44)
  fix: declare bounds={"cost": (low, high)} when the dataset is opened, write CLAMP(cost, low, high), or buy them with buy_bounds("cost", epsilon=…)
===
SELECT COUNT(*) FROM (SELECT patient_id, AVG(cost) AS c FROM visits GROUP BY patient_id) t
---
AVG(cost) needs bounds for 'cost'. (line 1, column 42)
  fix: declare bounds={"cost": (low, high)} when the dataset is opened, write CLAMP(cost, low, high), or buy them with buy_bounds("cost", epsilon=…)
===
SELECT COUNT(*) FROM (SELECT ward FROM visits HAVING COUNT(*) > 3) t
---
'ward' is neither aggregated nor grouped by. (line 1, column 30)
  fix: write GROUP BY ward
===
SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM visits) t
---
SELECT DISTINCT would list what stands in rows. (line 1, column 39)
  fix: count values with COUNT(DISTINCT ward), or select visits.patient_id, too
===
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, stay FROM visits) t
---
Groups cannot be real values: nearly every row would have its own. (line 1, column 51)
  fix: group by FLOOR(x / 10) or by DATE_TRUNC('day', x)
===
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t
---
DISTINCT cannot be combined with GROUP BY. (line 1, column 39)
  fix: leave out one of them
===
SELECT COUNT(*) FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits GROUP BY patient_id) t
---
'ward' is neither aggregated nor grouped by. (line 1, column 42)
  fix: write GROUP BY ward, too, or sum it up
===
SELECT COUNT(*) FROM (SELECT patient_id, MEDIAN(age) AS m FROM visits GROUP BY patient_id) t
---
This cannot be computed for each person. (line 1, column 42)
  fix: use COUNT, SUM, AVG, MIN or MAX in a subquery per person
===
SELECT COUNT(*) FROM (SELECT patient_id, MAX(smoker) AS m FROM visits GROUP BY patient_id) t
---
This takes numbers and dates, not boolean values. (line 1, column 46)
  fix: write CAST(smoker AS INTEGER), which is 1 or 0; or COUNT(*) FILTER (WHERE …)
===
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY patient_id) t
---
This cannot be computed for each person. (line 1, column 42)
  fix: use COUNT, SUM, AVG, MIN or MAX in a subquery per person
===
SELECT COUNT(*) FROM (SELECT patient_id, stay, COUNT(*) AS n FROM visits GROUP BY patient_id, stay) t
---
Groups cannot be real values: nearly every row would have its own. (line 1, column 95)
  fix: group by FLOOR(x / 10) or by DATE_TRUNC('day', x)
===
SELECT COUNT(*) FROM (SELECT patient_id, 1 AS one, COUNT(*) AS n FROM visits GROUP BY patient_id, one) t
---
This expression is constant. (line 1, column 99)
  fix: group by a column
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id, 7) t
---
There is no output 7. (line 1, column 74)
  fix: write the name of a column
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*)) t
---
HAVING needs a condition. (line 1, column 80)
  fix: write a comparison: COUNT(*) >= 10
===
SELECT COUNT(*) FROM (SELECT age FROM visits ORDER BY age) t
---
ORDER BY sorts rows inside a question. (line 1, column 55)
  fix: leave it out: rows have no order that the answer could show
===
SELECT COUNT(*) FROM (SELECT age FROM visits LIMIT 10) t
---
LIMIT takes some rows inside a question. (line 1, column 52)
  fix: leave it out: all rows count, within the limits
===
SELECT COUNT(*) FROM (SELECT age FROM visits WHERE ward) t
---
WHERE needs a condition. (line 1, column 52)
  fix: write a comparison: age >= 40
===
SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY patient_id) AS n FROM visits) t
---
A window over private rows would show or rank the rows of people one by one. (line 1, column 30)
  fix: sum up first: SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM … GROUP BY ward
===
SELECT COUNT(*) FROM (SELECT ag FROM visits) t
---
There is no column 'ag' in visits. (line 1, column 30)
  fix: did you mean 'age'?
===
SELECT COUNT(*) FROM (SELECT age FROM visits) t WHERE stay > 1
---
There is no column 'stay' in rows of visits. (line 1, column 55)
  fix: use one of: age
===
SELECT AVG(visits.age) FROM (SELECT age FROM visits) t
---
There is no table 'visits' in this question. (line 1, column 12)
  fix: write t.age
===
SELECT AVG(t.age) FROM (SELECT age FROM visits)
---
There is no table 't' in this question. (line 1, column 12)
  fix: leave out what is before the dot; what is meant outside of a subquery is joined, on the person and on other columns
===
SELECT COUNT(*) FROM (SELECT age, stay AS age FROM visits) t WHERE age > 1
---
'age' is the name of several columns. (line 1, column 68)
  fix: give each its own name, with AS
===
SELECT COUNT(*) FROM (SELECT x.* FROM visits) t
---
The question has no such table. (line 1, column 30)
  fix: name the columns
===
SELECT COUNT(*) FROM (SELECT age + 1 FROM visits) t WHERE value > 1
---
There is no column 'value' in rows of visits. (line 1, column 59)
  fix: give the column a name inside, with AS
===
SELECT COUNT(*) FROM (SELECT age AS "" FROM visits) t
---
A name has 1 to 100 characters. (line 1, column 30)
  fix: give it a name such as n
===
SELECT COUNT(*) FROM (SELECT code FROM wards) t
---
'wards' is public and has no people to protect. (line 1, column 30)
  fix: read it directly, or join it: FROM visits JOIN … ON …
===
SELECT COUNT(*) FROM (SELECT 1) t
---
The question has no FROM. (line 1, column 30)
  fix: write FROM and one of: visits, patients, drugs, wards
===
SELECT COUNT(*) FROM (SELECT FROM visits) t
---
SELECT has no columns. (line 1, column 35)
  fix: name columns
===
SELECT COUNT(*) FROM (VALUES (1)) t
---
VALUES is not supported. (line 1, column 23)
  fix: write a subquery after FROM or JOIN, or person IN (SELECT person FROM …) after WHERE
===
SELECT who, COUNT(*) FROM (SELECT patient_id AS who, ward FROM visits) t GROUP BY who
---
Grouping by the privacy unit would single people out. (line 1, column 83)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT AVG(who) FROM (SELECT patient_id AS who, COUNT(*) AS n FROM visits GROUP BY patient_id) t
---
The column of the privacy unit can only be counted. (line 1, column 12)
  fix: write COUNT(DISTINCT patient_id) for people, COUNT(*) for rows, or use it after WHERE
===
SELECT COUNT(*) FROM visits GROUP BY (SELECT 1)
---
A scalar subquery is not supported here. (line 1, column 46)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
WITH t AS (SELECT * FROM visits) SELECT COUNT(*) FROM visits
---
't' is not used. (line 1, column 6)
  fix: leave it out
===
WITH visits AS (SELECT * FROM patients) SELECT COUNT(*) FROM visits
---
'visits' is the name of a table already. (line 1, column 6)
  fix: choose another
===
WITH wards AS (SELECT * FROM patients) SELECT COUNT(*) FROM wards
---
'wards' is the name of a table already. (line 1, column 6)
  fix: choose another
===
WITH a AS (SELECT * FROM visits), a AS (SELECT * FROM patients) SELECT COUNT(*) FROM a
---
'a' is the name of a table already. (line 1, column 35)
  fix: choose another
===
WITH a AS (SELECT * FROM b), b AS (SELECT * FROM visits) SELECT COUNT(*) FROM a JOIN b USING (patient_id)
---
There is no table 'b'. (line 1, column 26)
  fix: use one of: visits, patients, drugs, wards; files cannot be read from here
===
WITH a AS (SELECT * FROM a) SELECT COUNT(*) FROM a
---
There is no table 'a'. (line 1, column 26)
  fix: use one of: visits, patients, drugs, wards; files cannot be read from here
===
WITH RECURSIVE a AS (SELECT * FROM visits) SELECT COUNT(*) FROM a
---
RECURSIVE is not supported. (line 1, column 6)
  fix: write a subquery after FROM or JOIN, or person IN (SELECT person FROM …) after WHERE
===
WITH a AS (SELECT age FROM visits)
---
This SQL cannot be parsed. (line 1, column 34)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
WITH a AS (DELETE FROM visits) SELECT COUNT(*) FROM a
---
'DELETE' is not supported here. (line 1, column 12)
  fix: leave it out
===
WITH a AS MATERIALIZED (SELECT age FROM visits) SELECT COUNT(*) FROM a
---
MATERIALIZED is not supported. (line 1, column 6)
  fix: leave it out
===
WITH a AS (SELECT age FROM visits) SELECT COUNT(*) FROM aa
---
'a' is not used. (line 1, column 6)
  fix: leave it out
===
SELECT COUNT(*) FROM (SELECT patient_id, SUM(age) FROM visits GROUP BY patient_id) t WHERE sum > 3
---
There is no column 'sum' in visits per person. (line 1, column 92)
  fix: give the column a name inside, with AS; or use one of: patient_id
===
SELECT MAX(d) FROM (SELECT patient_id, day + INTERVAL 1 DAY AS d FROM visits) t
---
MAX needs bounds for 'd', a computed column. (line 1, column 12)
  fix: write MAX(CLAMP(d, '2020-01-01', '2029-12-31')), with your own first and last day
===
SELECT COUNT(*) FROM (SELECT patient_id, ANY_VALUE(smoker) AS s FROM visits GROUP BY patient_id) t
---
MIN and MAX do not take conditions. (line 1, column 42)
  fix: write SUM(CASE WHEN … THEN 1 ELSE 0 END)
===
SELECT COUNT(*) FROM (SELECT patient_id, SUM(ward) AS s FROM visits GROUP BY patient_id) t
---
This takes numbers, not text values. (line 1, column 46)
  fix: if these are numbers, declare kinds={"ward": "real"} when the table is opened; or group by it
===
SELECT COUNT(*) FROM visits WHERE ANY_VALUE(ward) = 'A'
---
ANY_VALUE cannot stand here. (line 1, column 35)
  fix: use aggregates after SELECT, HAVING or ORDER BY, and not inside each other
