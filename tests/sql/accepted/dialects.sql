SELECT COUNT(*) FROM visits WHERE `age` > 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 1
===
SELECT COUNT(*) FROM visits WHERE [age] > 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 1
===
SELECT COUNT(*) FROM visits WHERE DATEDIFF(day, left_on) = 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE DATE_DIFF('day', left_on, day) = 1
===
SELECT COUNT(*) FROM (visits) t
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) FROM public.visits
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) FROM `my-project.clinic.visits` WHERE visits.age > 3
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 3
===
SELECT COUNT(*) FROM "main.visits"
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT TOP 3 ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC
---
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
ORDER BY n DESC
LIMIT 3
===
SELECT TOP (2) ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC
---
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
ORDER BY n DESC
LIMIT 2
===
SELECT [ward], COUNT(*) AS [how many] FROM [visits] GROUP BY [ward]
---
SELECT ward, COUNT(*) AS "how many"
FROM visits
GROUP BY ward
===
SELECT `Blood Group`, COUNT(*) AS `how many` FROM `visits` GROUP BY `Blood Group`
---
SELECT "Blood Group", COUNT(*) AS "how many"
FROM visits
GROUP BY "Blood Group"
===
SELECT VAR(stay), VARP(stay), STDEV(stay), STDEVP(stay), AVERAGE(stay) FROM visits
---
SELECT VAR_SAMP(stay) AS variance_stay, VAR_POP(stay) AS variance_stay_2, STDDEV_SAMP(stay) AS stddev_stay, STDDEV_POP(stay) AS stddev_stay_2, AVG(stay) AS avg_stay
FROM visits
===
SELECT COUNT(*) FROM visits WHERE LEN(ward) = 1 AND ISNULL(ward, 'B') = 'A'
---
SELECT COUNT(*) AS count
FROM visits
WHERE LENGTH(ward) = 1 AND COALESCE(ward, 'B') = 'A'
===
SELECT DATE_TRUNC(day, MONTH) AS m, COUNT(*) FROM visits GROUP BY m
---
SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS count
FROM visits
GROUP BY DATE_TRUNC('month', day)
===
SELECT DATE_TRUNC(month, day) AS m, COUNT(*) FROM visits GROUP BY m
---
SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS count
FROM visits
GROUP BY DATE_TRUNC('month', day)
===
SELECT COUNT(*) FROM visits WHERE DATE_PART(month, day) = 1 OR DATEPART(year, day) = 2023
---
SELECT COUNT(*) AS count
FROM visits
WHERE MONTH(day) = 1 OR YEAR(day) = 2023
===
SELECT COUNT(*) FROM (visits) WHERE age NOTNULL
---
SELECT COUNT(*) AS count
FROM visits
WHERE age IS NOT NULL
===
SELECT PERCENTILE_CONT(stay, 0.9) FROM visits
---
SELECT QUANTILE(stay, 0.9) AS quantile_stay
FROM visits
===
SELECT COUNT_DISTINCT(ward), APPROX_DISTINCT(day) FROM visits
---
SELECT COUNT(DISTINCT ward) AS distinct_ward, COUNT(DISTINCT day) AS distinct_day
FROM visits
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 5, 10
---
SELECT ward, count
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
LIMIT 10
OFFSET 5
===
SELECT COUNT(*) FROM visits WHERE DATE_DIFF(left_on, day, DAY) > 3 OR DATEDIFF(left_on, day) > 9
---
SELECT COUNT(*) AS count
FROM visits
WHERE DATE_DIFF('day', day, left_on) > 3 OR DATE_DIFF('day', day, left_on) > 9
===
SELECT COUNT(*) FROM visits WHERE TO_CHAR(seen, 'YYYY-MM') = '2024-01' AND DATE_FORMAT(day, '%Y-%m') = '2024-01' AND DATE_FORMAT(day, 'yyyy-MM') = '2024-01'
---
SELECT COUNT(*) AS count
FROM visits
WHERE SUBSTRING(CAST(DATE_TRUNC('day', seen) AS VARCHAR), 1, 7) = '2024-01' AND SUBSTRING(CAST(day AS VARCHAR), 1, 7) = '2024-01' AND SUBSTRING(CAST(day AS VARCHAR), 1, 7) = '2024-01'
===
SELECT COUNT(*) FROM visits WHERE TO_DATE(ward, 'DD.MM.YYYY') = '2024-01-31' OR TO_DATE(ward) = '2024-01-31' OR STRPTIME(ward, '%Y%m%d') = '2024-01-31'
---
SELECT COUNT(*) AS count
FROM visits
WHERE CASE WHEN ward LIKE '__.__.____' THEN CAST(SUBSTRING(ward, 7, 4) || '-' || SUBSTRING(ward, 4, 2) || '-' || SUBSTRING(ward, 1, 2) AS DATE) END = DATE '2024-01-31' OR CAST(ward AS DATE) = DATE '2024-01-31' OR CASE WHEN ward LIKE '________' THEN CAST(SUBSTRING(ward, 1, 4) || '-' || SUBSTRING(ward, 5, 2) || '-' || SUBSTRING(ward, 7, 2) AS DATE) END = DATE '2024-01-31'
===
SELECT COUNT(*) FROM visits WHERE ward RLIKE '^(A|B)$' AND ward NOT RLIKE 'C' AND REGEXP_LIKE(ward, '[A-C]$')
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward IN ('A', 'B') AND NOT STRPOS(ward, 'C') > 0 AND RIGHT(ward, 1) IN ('A', 'B', 'C')
===
SELECT TO_CHAR(day, 'YYYY-MM') AS m, DATE_FORMAT(day, '%Y') AS y, COUNT(*) FROM visits GROUP BY m, y
---
SELECT SUBSTRING(CAST(day AS VARCHAR), 1, 7) AS m, SUBSTRING(CAST(day AS VARCHAR), 1, 4) AS y, COUNT(*) AS count
FROM visits
GROUP BY SUBSTRING(CAST(day AS VARCHAR), 1, 7), SUBSTRING(CAST(day AS VARCHAR), 1, 4)
===
SELECT COUNT(*) FROM visits WHERE day > DATE_SUB('2024-01-31', INTERVAL 20 DAY) AND DATE_ADD(day, INTERVAL 1 MONTH) > '2024-01-05'
---
SELECT COUNT(*) AS count
FROM visits
WHERE day > DATE '2024-01-11' AND day + INTERVAL 1 MONTH > DATE '2024-01-05'
===
SELECT COUNT(*) FROM visits WHERE DATEADD(month, 6, left_on) > '2024-01-05' AND DATEADD(week, -2, day) < '2024-03-01'
---
SELECT COUNT(*) AS count
FROM visits
WHERE left_on + INTERVAL 6 MONTH > DATE '2024-01-05' AND day - INTERVAL 14 DAY < DATE '2024-03-01'
===
SELECT UNIQ(ward), COUNT() FROM visits
---
SELECT COUNT(DISTINCT ward) AS distinct_ward, COUNT(*) AS count
FROM visits
===
SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY age) FROM visits
---
SELECT MEDIAN(age) AS median_age
FROM visits
===
SELECT SUM(stay, contribution_bounds_per_row => (0, 10)) FROM visits
---
SELECT SUM(CLAMP(stay, 0, 10)) AS sum_stay
FROM visits
===
SELECT ward, AVG(stay, contribution_bounds_per_row => (0, 10)), SUM(cost, contribution_bounds_per_row => (-5, 100.5)) AS c FROM visits GROUP BY ward
---
SELECT ward, AVG(CLAMP(stay, 0, 10)) AS avg_stay, SUM(CLAMP(cost, -5, 100.5)) AS c
FROM visits
GROUP BY ward
===
SELECT WIDTH_BUCKET(stay, 0, 60, 6) AS bin, COUNT(*) FROM visits GROUP BY bin
---
SELECT CLAMP(FLOOR((stay - 0) / 60 * 6) + 1, 0, 7) AS bin, COUNT(*) AS count
FROM visits
GROUP BY CLAMP(FLOOR((stay - 0) / 60 * 6) + 1, 0, 7)
===
SELECT ward, smoker, COUNT(*) AS n FROM visits GROUP BY ward, smoker WITH ROLLUP
---
SELECT ward, smoker, COUNT(*) AS n
FROM visits
GROUP BY GROUPING SETS ((ward, smoker), (ward), ())
===
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward WITH CUBE
---
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY GROUPING SETS ((ward), ())
