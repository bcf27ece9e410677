SELECT COUNT(*) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) t
---
SELECT COUNT(*) AS count
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
===
SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits) t
---
SELECT COUNT(*) AS count
FROM (
SELECT COUNT(*) AS n
FROM visits
) AS answer
===
WITH a AS (SELECT COUNT(*) AS n FROM visits) SELECT SUM(n) FROM a
---
SELECT SUM(n) AS sum_n
FROM (
SELECT COUNT(*) AS n
FROM visits
) AS answer
===
SELECT AVG(s) FROM (SELECT age, SUM(stay) AS s FROM visits GROUP BY age) q
---
SELECT AVG(s) AS avg_s
FROM (
SELECT age, SUM(stay) AS s
FROM visits
GROUP BY age
) AS answer
===
SELECT * FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t WHERE n > 10 ORDER BY n DESC LIMIT 2 OFFSET 1
---
SELECT ward, n, stay
FROM (
SELECT ward, COUNT(*) AS n, AVG(stay) AS stay
FROM visits
GROUP BY ward
) AS answer
WHERE n > 10
ORDER BY n DESC
LIMIT 2
OFFSET 1
===
SELECT t.*, n * 2 AS twice FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) AS t WHERE t.ward <> 'A'
---
SELECT ward, n, stay, n * 2 AS twice
FROM (
SELECT ward, COUNT(*) AS n, AVG(stay) AS stay
FROM visits
GROUP BY ward
) AS answer
WHERE ward <> 'A'
===
SELECT ward, n FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t WHERE n > 10 AND stay IS NOT NULL OR ward IN ('A', 'B')
---
SELECT ward, n
FROM (
SELECT ward, COUNT(*) AS n, AVG(stay) AS stay
FROM visits
GROUP BY ward
) AS answer
WHERE n > 10 AND stay IS NOT NULL OR ward IN ('A', 'B')
===
SELECT MAX(n), ROUND(AVG(n), 2), MIN(n), MEDIAN(n), STDDEV(n), COUNT(*), COUNT(stay) FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) q
---
SELECT MAX(n) AS max_n, ROUND(AVG(n) * 100) / 100 AS avg_n, MIN(n) AS min_n, QUANTILE_CONT(n, 0.5) AS quantile_n, STDDEV_SAMP(n) AS stddev_n, COUNT(*) AS count, COUNT(stay) AS count_stay
FROM (
SELECT ward, COUNT(*) AS n, AVG(stay) AS stay
FROM visits
GROUP BY ward
) AS answer
===
WITH q AS (SELECT ward, MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY 1, 2) SELECT ward, SUM(n) AS n FROM q GROUP BY ward HAVING n > 3 ORDER BY n
---
SELECT ward, SUM(n) AS n
FROM (
SELECT ward, MONTH(day) AS m, COUNT(*) AS n
FROM visits
GROUP BY ward, MONTH(day)
) AS answer
GROUP BY ward
HAVING SUM(answer.n) > 3
ORDER BY n
===
WITH q AS (SELECT ward, MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY 1, 2) SELECT FLOOR(n / 10) * 10 AS bin, COUNT(*) AS months FROM q GROUP BY FLOOR(n / 10) ORDER BY bin
---
SELECT (FLOOR(n / 10)) * 10 AS bin, COUNT(*) AS months
FROM (
SELECT ward, MONTH(day) AS m, COUNT(*) AS n
FROM visits
GROUP BY ward, MONTH(day)
) AS answer
GROUP BY FLOOR(n / 10)
ORDER BY bin
===
WITH q AS (SELECT ward, MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY 1, 2) , r AS (SELECT ward, MAX(n) AS most FROM q GROUP BY ward) SELECT AVG(most) AS mean FROM r WHERE most < 100
---
SELECT AVG(most) AS mean
FROM (
SELECT ward, MAX(n) AS most
FROM (
SELECT ward, MONTH(day) AS m, COUNT(*) AS n
FROM visits
GROUP BY ward, MONTH(day)
) AS answer
GROUP BY ward
) AS answer
WHERE most < 100
===
WITH q AS (SELECT ward, MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY 1, 2) SELECT CASE WHEN n > 5 THEN 'many' ELSE 'few' END AS size, COUNT(*) FROM q GROUP BY 1
---
SELECT CASE WHEN n > 5 THEN 'many' ELSE 'few' END AS size, COUNT(*) AS count
FROM (
SELECT ward, MONTH(day) AS m, COUNT(*) AS n
FROM visits
GROUP BY ward, MONTH(day)
) AS answer
GROUP BY CASE WHEN n > 5 THEN 'many' ELSE 'few' END
===
WITH q AS (SELECT ward, MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY 1, 2) SELECT SUM(CASE WHEN n > 5 THEN 1 ELSE 0 END) / COUNT(*) AS share, COUNT(*) FILTER (WHERE n > 5) AS large FROM q
---
SELECT SUM(CASE WHEN n > 5 THEN 1 ELSE 0 END) / COUNT(*) AS share, COUNT(CASE WHEN n > 5 THEN 1 END) AS large
FROM (
SELECT ward, MONTH(day) AS m, COUNT(*) AS n
FROM visits
GROUP BY ward, MONTH(day)
) AS answer
===
WITH q AS (SELECT ward, MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY 1, 2) SELECT DISTINCT ward FROM q ORDER BY ward
---
SELECT DISTINCT ward
FROM (
SELECT ward, MONTH(day) AS m, COUNT(*) AS n
FROM visits
GROUP BY ward, MONTH(day)
) AS answer
ORDER BY ward
===
WITH q AS (SELECT ward, MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY 1, 2) SELECT -n AS n, m FROM q ORDER BY q.n DESC, m
---
SELECT -(n) AS n, m
FROM (
SELECT ward, MONTH(day) AS m, COUNT(*) AS n
FROM visits
GROUP BY ward, MONTH(day)
) AS answer
ORDER BY answer.n DESC, m
===
SELECT n / 2 AS half FROM (SELECT COUNT(*) AS n FROM visits) t
---
SELECT n / 2 AS half
FROM (
SELECT COUNT(*) AS n
FROM visits
) AS answer
===
SELECT MIN(ward), MAX(UPPER(ward)) AS last FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) t
---
SELECT MIN(ward) AS min_ward, MAX(UPPER(ward)) AS last
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
===
SELECT MAX(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 3 ORDER BY n LIMIT 2) t
---
SELECT MAX(n) AS max_n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
HAVING COUNT(*) > 3
ORDER BY n
LIMIT 2
) AS answer
