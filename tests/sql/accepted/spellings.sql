SELECT COUNT(ALL stay) FROM visits
---
SELECT COUNT(stay) AS count_stay
FROM visits
===
SELECT MEAN(stay) FROM visits
---
SELECT AVG(stay) AS avg_stay
FROM visits
===
SELECT COUNTIF(smoker) FROM visits
---
SELECT COUNT(CASE WHEN smoker THEN 1 END) AS count
FROM visits
===
SELECT COUNT(*) FROM visits WHERE age ISNULL
---
SELECT COUNT(*) AS count
FROM visits
WHERE age IS NULL
===
SELECT COUNT(*) FROM visits WHERE SUBSTRING(ward FROM 1 FOR 2) = 'a'
---
SELECT COUNT(*) AS count
FROM visits
WHERE SUBSTRING(ward, 1, 2) = 'a'
===
SELECT APPROX_COUNT_DISTINCT(ward) FROM visits
---
SELECT COUNT(DISTINCT ward) AS distinct_ward
FROM visits
===
SELECT COUNT(*) FROM visits GROUP BY (ward, day)
---
SELECT COUNT(*) AS count
FROM visits
GROUP BY ward, day
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ward NULLS FIRST
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
ORDER BY visits.ward IS NULL DESC, ward
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT ALL
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
===
SELECT COUNT(*), FROM visits
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) FROM (visits JOIN patients USING (patient_id))
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
===
SELECT COUNT(*) FROM visits WHERE CAST(age AS BOOLEAN)
---
SELECT COUNT(*) AS count
FROM visits
WHERE age <> 0
===
SELECT COUNT(*) FROM visits WHERE CAST(ward AS VARCHAR(3)) = 'a'
---
SELECT COUNT(*) AS count
FROM visits
WHERE SUBSTRING(CAST(ward AS VARCHAR), 1, 3) = 'a'
===
(SELECT COUNT(*) FROM visits)
---
SELECT COUNT(*) AS count
FROM visits
===
WITH a (x, y) AS (SELECT age, stay FROM visits) SELECT COUNT(*) FROM a
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) FROM main.visits
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) FROM visits ORDER BY 1 FETCH FIRST 3 ROWS ONLY
---
SELECT COUNT(*) AS count
FROM visits
ORDER BY count
LIMIT 3
===
SELECT COUNT(*) FROM memory.main.visits AS v WHERE v.age > 3
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 3
===
SELECT main.visits.ward, COUNT(*) FROM main.visits GROUP BY main.visits.ward ORDER BY main.visits.ward
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
ORDER BY ward
===
SELECT v.ward, COUNT(*) FROM main.visits v JOIN main.patients p ON v.patient_id = p.patient_id GROUP BY v.ward
---
SELECT t1.ward, COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
GROUP BY t1.ward
===
SELECT ward, COUNT(*), FROM visits GROUP BY ward
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
===
SELECT ALL COUNT(*) FROM visits
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) FROM visits WHERE UCASE(ward) = 'A' OR LCASE(ward) = 'b' OR DAYOFMONTH(day) = 3
---
SELECT COUNT(*) AS count
FROM visits
WHERE UPPER(ward) = 'A' OR LOWER(ward) = 'b' OR DAY(day) = 3
===
SELECT COUNT(*) FROM visits WHERE CAST(age AS CHAR(2)) = '30' OR ward::VARCHAR(1) = 'B' OR CAST(ward AS NVARCHAR(20)) = 'C'
---
SELECT COUNT(*) AS count
FROM visits
WHERE SUBSTRING(CAST(age AS VARCHAR), 1, 2) = '30' OR SUBSTRING(CAST(ward AS VARCHAR), 1, 1) = 'B' OR SUBSTRING(CAST(ward AS VARCHAR), 1, 20) = 'C'
===
SELECT COUNT(*) FROM visits WHERE CAST(smoker AS BOOLEAN) AND CAST(age AS SMALLINT) > 3 AND CAST(seen AS TIMESTAMP) > '2024-01-01'
---
SELECT COUNT(*) AS count
FROM visits
WHERE smoker AND CAST(age AS INTEGER) > 3 AND seen > TIMESTAMP '2024-01-01 00:00:00'
===
SELECT SUBSTRING(ward FROM 1 FOR 1), COUNT(*) FROM visits GROUP BY 1
---
SELECT SUBSTRING(ward, 1, 1) AS substring_ward, COUNT(*) AS count
FROM visits
GROUP BY SUBSTRING(ward, 1, 1)
===
SELECT SUBSTRING(ward FROM 2), COUNT(*) FROM visits GROUP BY 1
---
SELECT SUBSTRING(ward, 2, 2147483647) AS substring_ward, COUNT(*) AS count
FROM visits
GROUP BY SUBSTRING(ward, 2, 2147483647)
===
SELECT SUBSTRING(ward FOR 1), COUNT(*) FROM visits GROUP BY 1
---
SELECT SUBSTRING(ward, 1, 1) AS substring_ward, COUNT(*) AS count
FROM visits
GROUP BY SUBSTRING(ward, 1, 1)
===
SELECT SUBSTRING(SUBSTRING(ward FROM 1 FOR 2) FROM 1 FOR 1), COUNT(*) FROM visits GROUP BY 1
---
SELECT SUBSTRING(SUBSTRING(ward, 1, 2), 1, 1) AS value, COUNT(*) AS count
FROM visits
GROUP BY SUBSTRING(SUBSTRING(ward, 1, 2), 1, 1)
===
WITH q(a, b) AS (SELECT ward, age FROM visits), p(x) AS (SELECT b FROM q) SELECT AVG(CLAMP(x, 0, 100)) FROM p
---
SELECT AVG(CLAMP(age, 0, 100)) AS avg_x
FROM visits
===
SELECT AVG(CLAMP(b, 0, 100)) FROM (SELECT ward, age FROM visits) AS t(a, b)
---
SELECT AVG(CLAMP(age, 0, 100)) AS avg_b
FROM visits
===
SELECT a, b FROM (SELECT ward, COUNT(*) FROM visits GROUP BY ward) AS t(a, b)
---
SELECT a, b
FROM (
SELECT ward AS a, COUNT(*) AS b
FROM visits
GROUP BY ward
) AS answer
===
WITH q(ward, age) AS (SELECT age AS ward, ward AS age FROM visits) SELECT COUNT(*) FROM q
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC FETCH FIRST 3 ROWS ONLY
---
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
ORDER BY n DESC
LIMIT 3
===
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC FETCH NEXT ROW ONLY
---
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
ORDER BY n DESC
LIMIT 1
===
SELECT ward, AVG(stay) AS n FROM visits GROUP BY ward ORDER BY n DESC NULLS FIRST, 1 NULLS LAST
---
SELECT ward, AVG(stay) AS n
FROM visits
GROUP BY ward
ORDER BY AVG(stay) IS NULL DESC, n DESC, ward
===
SELECT * FROM (SELECT ward, AVG(stay) AS n FROM visits GROUP BY ward) AS q ORDER BY n NULLS FIRST
---
SELECT ward, n
FROM (
SELECT ward, AVG(stay) AS n
FROM visits
GROUP BY ward
) AS answer
ORDER BY answer.n IS NULL DESC, n
===
SELECT ROUND(AVG(stay)::numeric, 2), ROUND(CAST(SUM(stay) AS DECIMAL), 1) FROM visits
---
SELECT ROUND(AVG(stay) * 100) / 100 AS avg_stay, ROUND(SUM(stay) * 10) / 10 AS sum_stay
FROM visits
===
SELECT ward, age, COUNT(*) FROM visits GROUP BY (ward, age)
---
SELECT ward, age, COUNT(*) AS count
FROM visits
GROUP BY ward, age
===
SELECT COUNT(*) FROM (visits v JOIN patients p ON v.patient_id = p.patient_id) JOIN drugs d ON d.person = p.patient_id
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id JOIN drugs AS t3 ON t1.patient_id = t3.person
===
((SELECT COUNT(*) FROM visits));
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) FROM visits WHERE ward == 'A' AND age != 3 -- a comment
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward = 'A' AND age <> 3
===
SELECT COUNT() FROM visits
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT ward, COUNT(*) > 5 AS many, COUNT(*) BETWEEN 3 AND 9 AS some FROM visits GROUP BY ward
---
SELECT ward, count > 5 AS many, count >= 3 AND count <= 9 AS "some"
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
SELECT COUNT(*) FROM visits WHERE STRFTIME(day, '%Y') = '2024'
---
SELECT COUNT(*) AS count
FROM visits
WHERE SUBSTRING(CAST(day AS VARCHAR), 1, 4) = '2024'
===
SELECT SUM(ROUND(stay, -1)) FROM visits
---
SELECT SUM(ROUND(stay / 10) * 10) AS sum
FROM visits
===
SELECT COUNT(*) FROM visits WHERE TRUNC(stay) = 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE CASE WHEN stay >= 0 THEN FLOOR(stay) ELSE CEIL(stay) END = 1
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 0
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
LIMIT 0
===
SELECT COUNT(*) AS index FROM visits
---
SELECT COUNT(*) AS "index"
FROM visits
===
SELECT COUNT(*) FROM visits WHERE EXTRACT(DOW FROM day) = 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE DOW(day) = 1
===
SELECT n FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t LIMIT 0
---
SELECT n
FROM (
SELECT ward, COUNT(*) AS n, AVG(stay) AS stay
FROM visits
GROUP BY ward
) AS answer
LIMIT 0
===
SELECT ward, COUNT(*) AS percent FROM visits GROUP BY ward ORDER BY percent DESC
---
SELECT ward, COUNT(*) AS "percent"
FROM visits
GROUP BY ward
ORDER BY "percent" DESC
===
SELECT COUNT(*) AS rows, SUM(stay) AS range FROM visits
---
SELECT COUNT(*) AS "rows", SUM(stay) AS "range"
FROM visits
===
SELECT ROUND(AVG(stay), 0), ROUND(SUM(stay), -2), TRUNC(AVG(stay)) FROM visits
---
SELECT ROUND(avg_stay) AS avg_stay, ROUND(sum_stay / 100) * 100 AS sum_stay, CASE WHEN avg_stay >= 0 THEN FLOOR(avg_stay) ELSE CEIL(avg_stay) END AS avg_stay_2
FROM (
SELECT AVG(stay) AS avg_stay, SUM(stay) AS sum_stay
FROM visits
) AS answer
===
SELECT 1, ward, COUNT(*) FROM visits GROUP BY 1, ward
---
SELECT 1 AS value, ward, COUNT(*) AS count
FROM visits
GROUP BY ward
===
SELECT 1, COUNT(*) FROM visits GROUP BY 1
---
SELECT 1 AS value, COUNT(*) AS count
FROM visits
===
SELECT EXTRACT(DOW FROM day) AS d, DATE_PART('dow', day) AS e, COUNT(*) FROM visits GROUP BY 1, 2
---
SELECT DOW(day) AS d, DOW(day) AS e, COUNT(*) AS count
FROM visits
GROUP BY DOW(day)
===
SELECT DAYNAME(day), MONTHNAME(day), COUNT(*) FROM visits GROUP BY 1, 2
---
SELECT CASE WHEN ISODOW(day) = 1 THEN 'Monday' WHEN ISODOW(day) = 2 THEN 'Tuesday' WHEN ISODOW(day) = 3 THEN 'Wednesday' WHEN ISODOW(day) = 4 THEN 'Thursday' WHEN ISODOW(day) = 5 THEN 'Friday' WHEN ISODOW(day) = 6 THEN 'Saturday' WHEN ISODOW(day) = 7 THEN 'Sunday' END AS value, CASE WHEN MONTH(day) = 1 THEN 'January' WHEN MONTH(day) = 2 THEN 'February' WHEN MONTH(day) = 3 THEN 'March' WHEN MONTH(day) = 4 THEN 'April' WHEN MONTH(day) = 5 THEN 'May' WHEN MONTH(day) = 6 THEN 'June' WHEN MONTH(day) = 7 THEN 'July' WHEN MONTH(day) = 8 THEN 'August' WHEN MONTH(day) = 9 THEN 'September' WHEN MONTH(day) = 10 THEN 'October' WHEN MONTH(day) = 11 THEN 'November' WHEN MONTH(day) = 12 THEN 'December' END AS value_2, COUNT(*) AS count
FROM visits
GROUP BY CASE WHEN ISODOW(day) = 1 THEN 'Monday' WHEN ISODOW(day) = 2 THEN 'Tuesday' WHEN ISODOW(day) = 3 THEN 'Wednesday' WHEN ISODOW(day) = 4 THEN 'Thursday' WHEN ISODOW(day) = 5 THEN 'Friday' WHEN ISODOW(day) = 6 THEN 'Saturday' WHEN ISODOW(day) = 7 THEN 'Sunday' END, CASE WHEN MONTH(day) = 1 THEN 'January' WHEN MONTH(day) = 2 THEN 'February' WHEN MONTH(day) = 3 THEN 'March' WHEN MONTH(day) = 4 THEN 'April' WHEN MONTH(day) = 5 THEN 'May' WHEN MONTH(day) = 6 THEN 'June' WHEN MONTH(day) = 7 THEN 'July' WHEN MONTH(day) = 8 THEN 'August' WHEN MONTH(day) = 9 THEN 'September' WHEN MONTH(day) = 10 THEN 'October' WHEN MONTH(day) = 11 THEN 'November' WHEN MONTH(day) = 12 THEN 'December' END
===
SELECT STRFTIME(day, '%Y-%m') AS m, COUNT(*) FROM visits GROUP BY m
---
SELECT SUBSTRING(CAST(day AS VARCHAR), 1, 7) AS m, COUNT(*) AS count
FROM visits
GROUP BY SUBSTRING(CAST(day AS VARCHAR), 1, 7)
===
SELECT STRFTIME(seen, '%d.%m.%Y') AS m, COUNT(*) FROM visits GROUP BY m
---
SELECT SUBSTRING(CAST(DATE_TRUNC('day', seen) AS VARCHAR), 9, 2) || '.' || SUBSTRING(CAST(DATE_TRUNC('day', seen) AS VARCHAR), 6, 2) || '.' || SUBSTRING(CAST(DATE_TRUNC('day', seen) AS VARCHAR), 1, 4) AS m, COUNT(*) AS count
FROM visits
GROUP BY SUBSTRING(CAST(DATE_TRUNC('day', seen) AS VARCHAR), 9, 2) || '.' || SUBSTRING(CAST(DATE_TRUNC('day', seen) AS VARCHAR), 6, 2) || '.' || SUBSTRING(CAST(DATE_TRUNC('day', seen) AS VARCHAR), 1, 4)
===
SELECT PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY stay) FROM visits
---
SELECT QUANTILE(stay, 0.9) AS quantile_stay
FROM visits
===
SELECT COUNT(*) FROM visits WHERE stay > '5' AND age BETWEEN '30' AND '40'
---
SELECT COUNT(*) AS count
FROM visits
WHERE stay > 5 AND age >= 30 AND age <= 40
===
SELECT STRFTIME(day, '%A') AS m, COUNT(*) FROM visits GROUP BY m
---
SELECT CASE WHEN ISODOW(day) = 1 THEN 'Monday' WHEN ISODOW(day) = 2 THEN 'Tuesday' WHEN ISODOW(day) = 3 THEN 'Wednesday' WHEN ISODOW(day) = 4 THEN 'Thursday' WHEN ISODOW(day) = 5 THEN 'Friday' WHEN ISODOW(day) = 6 THEN 'Saturday' WHEN ISODOW(day) = 7 THEN 'Sunday' END AS m, COUNT(*) AS count
FROM visits
GROUP BY CASE WHEN ISODOW(day) = 1 THEN 'Monday' WHEN ISODOW(day) = 2 THEN 'Tuesday' WHEN ISODOW(day) = 3 THEN 'Wednesday' WHEN ISODOW(day) = 4 THEN 'Thursday' WHEN ISODOW(day) = 5 THEN 'Friday' WHEN ISODOW(day) = 6 THEN 'Saturday' WHEN ISODOW(day) = 7 THEN 'Sunday' END
===
SELECT COUNT(*) FROM visits WHERE DATE_ADD(day, 7) > '2024-01-05'
---
SELECT COUNT(*) AS count
FROM visits
WHERE day + INTERVAL 7 DAY > DATE '2024-01-05'
===
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward, '^[A-C][0-9]*$')
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward IN ('A', 'B', 'C') OR SUBSTRING(ward, 1, 1) IN ('A', 'B', 'C') AND REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(SUBSTRING(ward, 2, 10000), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') = '' AND SUBSTRING(ward, 2, 10000) <> ''
===
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES("Blood Group", '[AB]+')
---
SELECT COUNT(*) AS count
FROM visits
WHERE STRPOS("Blood Group", 'A') > 0 OR STRPOS("Blood Group", 'B') > 0
===
SELECT COUNT(*) FROM visits WHERE (ward, age) IN (('A', 40), ('B', 50)) OR smoker
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward = 'A' AND age = 40 OR ward = 'B' AND age = 50 OR smoker
===
SELECT EXTRACT(DOW FROM d) AS wd, AVG(n) AS n FROM (SELECT DATE_TRUNC('day', day) AS d, COUNT(*) AS n FROM visits WHERE day BETWEEN '2024-01-01' AND '2024-02-01' GROUP BY 1) AS q GROUP BY 1
---
SELECT DOW(d) AS wd, AVG(n) AS n
FROM (
SELECT DATE_TRUNC('day', day) AS d, COUNT(*) AS n
FROM visits
WHERE day >= DATE '2024-01-01' AND day <= DATE '2024-02-01'
GROUP BY DATE_TRUNC('day', day)
) AS answer
GROUP BY DOW(d)
