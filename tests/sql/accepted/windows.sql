SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY ward ORDER BY r LIMIT 2
---
SELECT ward, n, RANK() OVER (ORDER BY n DESC) AS r
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
ORDER BY r
LIMIT 2
===
SELECT ward, MONTH(day) AS m, COUNT(*) AS n, SUM(n) OVER (PARTITION BY ward ORDER BY m) AS running FROM visits GROUP BY 1, 2
---
SELECT ward, m, n, SUM(n) OVER (PARTITION BY ward ORDER BY m) AS running
FROM (
SELECT ward, MONTH(day) AS m, COUNT(*) AS n
FROM visits
GROUP BY ward, MONTH(day)
) AS answer
===
SELECT ward, COUNT(*), 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY ward
---
SELECT ward, count, 100.0 * count / SUM(count) OVER () AS share
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
SELECT SUM(COUNT(*)) OVER () FROM visits
---
SELECT SUM(count) OVER () AS sum_count
FROM (
SELECT COUNT(*) AS count
FROM visits
) AS answer
===
SELECT ward, AVG(COUNT(*)) OVER (ORDER BY ward ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), LAG(COUNT(*), 1, 0) OVER (ORDER BY ward) FROM visits GROUP BY ward
---
SELECT ward, AVG(count) OVER (ORDER BY ward ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS avg_count, LAG(count, 1, 0) OVER (ORDER BY ward) AS lag_count
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
SELECT ward, COUNT(*) n FROM visits v GROUP BY v.ward QUALIFY ROW_NUMBER() OVER (PARTITION BY ward ORDER BY COUNT(*) DESC NULLS LAST) <= 3
---
SELECT ward, n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
QUALIFY ROW_NUMBER() OVER (PARTITION BY answer.ward ORDER BY answer.n DESC) <= 3
===
SELECT ward, COUNT(*) n FROM visits GROUP BY ward HAVING n > 3 WINDOW w AS (ORDER BY n DESC) QUALIFY ROW_NUMBER() OVER w <= 3
---
SELECT ward, n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
HAVING COUNT(*) > 3
) AS answer
QUALIFY ROW_NUMBER() OVER (ORDER BY answer.n DESC) <= 3
===
SELECT ward, n, n - LAG(n) OVER (ORDER BY ward) AS change FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
SELECT ward, n, n - LAG(n) OVER (ORDER BY ward) AS change
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
===
SELECT ward, SUM(n) AS s, SUM(SUM(n)) OVER () AS total, NTILE(4) OVER (ORDER BY SUM(n)) AS t FROM (SELECT ward, age, COUNT(*) n FROM visits GROUP BY ward, age) q GROUP BY ward
---
SELECT ward, SUM(n) AS s, SUM(SUM(n)) OVER () AS total, NTILE(4) OVER (ORDER BY SUM(n)) AS t
FROM (
SELECT ward, age, COUNT(*) AS n
FROM visits
GROUP BY ward, age
) AS answer
GROUP BY ward
===
SELECT * FROM (SELECT ward, COUNT(*) n, RANK() OVER (ORDER BY COUNT(*) DESC) r FROM visits GROUP BY ward) q WHERE r <= 2
---
SELECT ward, n, r
FROM (
SELECT ward, n, RANK() OVER (ORDER BY n DESC) AS r
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
) AS answer
WHERE r <= 2
===
SELECT ward, RANK() OVER (ORDER BY COUNT(*)) AS r, r + 1 AS s FROM visits GROUP BY ward
---
SELECT ward, RANK() OVER (ORDER BY count) AS r, RANK() OVER (ORDER BY count) + 1 AS s
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
SELECT ward, FIRST_VALUE(ward) OVER (ORDER BY n DESC) AS top, SUM(n) FILTER (WHERE ward <> 'A') OVER () FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
SELECT ward, FIRST_VALUE(ward) OVER (ORDER BY n DESC) AS top, SUM(CASE WHEN ward <> 'A' THEN n END) OVER () AS sum
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
===
SELECT ward, PERCENT_RANK() OVER (ORDER BY AVG(stay)) FROM visits GROUP BY ward ORDER BY AVG(stay) DESC, 1
---
SELECT ward, PERCENT_RANK() OVER (ORDER BY avg_stay) AS percent_rank
FROM (
SELECT ward, AVG(stay) AS avg_stay
FROM visits
GROUP BY ward
) AS answer
ORDER BY answer.avg_stay DESC, ward
===
SELECT ward, LEAD(n, 2) OVER (ORDER BY ward DESC), LAST_VALUE(n) OVER (ORDER BY ward ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), COUNT(*) OVER (ORDER BY ward RANGE UNBOUNDED PRECEDING) FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q ORDER BY DENSE_RANK() OVER (ORDER BY n DESC)
---
SELECT ward, LEAD(n, 2) OVER (ORDER BY ward DESC) AS lead_n, LAST_VALUE(n) OVER (ORDER BY ward ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS last_value_n, COUNT(*) OVER (ORDER BY ward RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS count
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
ORDER BY DENSE_RANK() OVER (ORDER BY answer.n DESC)
===
SELECT n, 2 * n AS n2, CUME_DIST() OVER (ORDER BY n) AS n3 FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q QUALIFY n3 < 0.5 AND n > 3
---
SELECT n, 2 * n AS n2, CUME_DIST() OVER (ORDER BY n) AS n3
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
QUALIFY CUME_DIST() OVER (ORDER BY answer.n) < 0.5 AND answer.n > 3
===
SELECT ward, COUNT(*) AS n, RANK() OVER (PARTITION BY GROUPING(ward) ORDER BY COUNT(*)) AS r FROM visits GROUP BY ROLLUP (ward)
---
SELECT ward, n, RANK() OVER (PARTITION BY "grouping" ORDER BY n) AS r
FROM (
SELECT ward, COUNT(*) AS n, GROUPING(ward) AS "grouping"
FROM visits
GROUP BY GROUPING SETS ((ward), ())
) AS answer
===
SELECT UPPER(ward) AS w, COUNT(*) AS n, RANK() OVER (ORDER BY n DESC) AS r FROM visits GROUP BY ward
---
SELECT w, n, RANK() OVER (ORDER BY n DESC) AS r
FROM (
SELECT UPPER(ward) AS w, n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
) AS answer
