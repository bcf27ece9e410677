SELECT ward, smoker, COUNT(*) AS n, AVG(stay), GROUPING(ward, smoker) AS g FROM visits GROUP BY ROLLUP(ward, smoker)
---
SELECT ward, smoker, COUNT(*) AS n, AVG(stay) AS avg_stay, GROUPING(ward, smoker) AS g
FROM visits
GROUP BY GROUPING SETS ((ward, smoker), (ward), ())
===
SELECT ward, smoker, COUNT(*) AS n FROM visits GROUP BY CUBE(ward, smoker) HAVING GROUPING(smoker) = 1 ORDER BY GROUPING(ward), n DESC
---
SELECT ward, smoker, COUNT(*) AS n
FROM visits
GROUP BY GROUPING SETS ((ward, smoker), (ward), (smoker), ())
HAVING GROUPING(smoker) = 1
ORDER BY GROUPING(visits.ward), n DESC
===
SELECT ward, smoker, SUM(age) FROM visits GROUP BY GROUPING SETS ((ward), smoker, ())
---
SELECT ward, smoker, SUM(age) AS sum_age
FROM visits
GROUP BY GROUPING SETS ((ward), (smoker), ())
===
SELECT ward, smoker, COUNT(stay) FROM visits WHERE age > 40 GROUP BY ward, ROLLUP(smoker)
---
SELECT ward, smoker, COUNT(stay) AS count_stay
FROM visits
WHERE age > 40
GROUP BY GROUPING SETS ((ward, smoker), (ward))
===
SELECT ward, age >= 40 AS old, smoker, COUNT(*) FROM visits GROUP BY ROLLUP((ward, old), 3)
---
SELECT ward, age >= 40 AS old, smoker, COUNT(*) AS count
FROM visits
GROUP BY GROUPING SETS ((ward, age >= 40, smoker), (ward, age >= 40), ())
===
SELECT ward, COUNT(*) FROM visits GROUP BY GROUPING SETS (ROLLUP(ward), smoker)
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY GROUPING SETS ((ward), (), (smoker))
===
SELECT ward, COUNT(*) FROM visits GROUP BY GROUPING SETS ((ward))
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
===
SELECT CASE WHEN GROUPING(ward) = 1 THEN 'all' ELSE ward END AS w, COUNT(*) AS n FROM visits GROUP BY ROLLUP(ward)
---
SELECT CASE WHEN "grouping" = 1 THEN 'all' ELSE ward END AS w, n
FROM (
SELECT ward, GROUPING(ward) AS "grouping", COUNT(*) AS n
FROM visits
GROUP BY GROUPING SETS ((ward), ())
) AS answer
===
SELECT ward, n FROM (SELECT ward, GROUPING(ward) AS g, COUNT(*) AS n FROM visits GROUP BY ROLLUP(ward)) AS q WHERE g = 1
---
SELECT ward, n
FROM (
SELECT ward, GROUPING(ward) AS g, COUNT(*) AS n
FROM visits
GROUP BY GROUPING SETS ((ward), ())
) AS answer
WHERE g = 1
