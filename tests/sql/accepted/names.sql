SELECT ward, COUNT(*), COUNT(stay), COUNT(DISTINCT patient_id), COUNT(DISTINCT day) FROM visits GROUP BY ward
---
SELECT ward, COUNT(*) AS count, COUNT(stay) AS count_stay, COUNT(DISTINCT patient_id) AS people, COUNT(DISTINCT day) AS distinct_day
FROM visits
GROUP BY ward
===
SELECT SUM(age), AVG(age), VAR_POP(age), STDDEV(age), MIN(age), MAX(age), MEDIAN(age), QUANTILE(age, 0.9) FROM visits
---
SELECT SUM(age) AS sum_age, AVG(age) AS avg_age, VAR_POP(age) AS variance_age, STDDEV_SAMP(age) AS stddev_age, MIN(age) AS min_age, MAX(age) AS max_age, MEDIAN(age) AS median_age, QUANTILE(age, 0.9) AS quantile_age
FROM visits
===
SELECT AVG(stay), AVG(stay), AVG(stay) AS avg_stay_2 FROM visits
---
SELECT AVG(stay) AS avg_stay, AVG(stay) AS avg_stay_3, AVG(stay) AS avg_stay_2
FROM visits
===
SELECT AVG(stay * 24), AVG(CLAMP(stay, 0, 10)), ROUND(AVG(stay), 1), SUM(stay) / COUNT(*) FROM visits
---
SELECT AVG(stay * 24) AS avg, AVG(CLAMP(stay, 0, 10)) AS avg_stay, ROUND(AVG(stay) * 10) / 10 AS avg_stay_2, SUM(stay) / COUNT(*) AS value
FROM visits
===
SELECT COUNT(*) "n", SUM(stay) s, AVG(stay) AS "select", MAX(stay) AS "a""b" FROM visits
---
SELECT COUNT(*) AS n, SUM(stay) AS s, AVG(stay) AS "select", MAX(stay) AS "a""b"
FROM visits
===
SELECT YEAR(day), DATE_TRUNC('week', day), CAST(seen AS DATE), COUNT(*) FROM visits GROUP BY 1, 2, 3
---
SELECT YEAR(day) AS year_day, DATE_TRUNC('week', day) AS week_day, CAST(seen AS DATE) AS value, COUNT(*) AS count
FROM visits
GROUP BY YEAR(day), DATE_TRUNC('week', day), CAST(seen AS DATE)
===
SELECT COUNT(*) AS Count, COUNT(*) FROM visits
---
SELECT COUNT(*) AS Count, COUNT(*) AS count_2
FROM visits
===
SELECT ward AS first, COUNT(*) AS last FROM visits GROUP BY first ORDER BY first, last DESC NULLS LAST
---
SELECT ward AS "first", COUNT(*) AS last
FROM visits
GROUP BY ward
ORDER BY "first", last DESC
===
SELECT COUNT(*) AS index FROM visits
---
SELECT COUNT(*) AS "index"
FROM visits
===
SELECT ward, 100 * COUNT(*) AS percent FROM visits GROUP BY ward ORDER BY percent
---
SELECT ward, 100 * COUNT(*) AS "percent"
FROM visits
GROUP BY ward
ORDER BY "percent"
===
SELECT COUNT(*) AS list, MAX(CAST(stay AS INTEGER)) AS time FROM visits HAVING list > 3
---
SELECT COUNT(*) AS "list", MAX(CAST(stay AS INTEGER)) AS "time"
FROM visits
HAVING COUNT(*) > 3
