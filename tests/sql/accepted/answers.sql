SELECT SUM(stay) / COUNT(*) AS mean FROM visits
---
SELECT SUM(stay) / COUNT(*) AS mean
FROM visits
===
SELECT COUNT(*) FILTER (WHERE smoker) / COUNT(*) AS share FROM visits
---
SELECT COUNT(CASE WHEN smoker THEN 1 END) / COUNT(*) AS share
FROM visits
===
SELECT 100 * AVG(stay), ROUND(AVG(stay), 2), ROUND(100.0 * COUNT(stay) / COUNT(*)) FROM visits
---
SELECT 100 * AVG(stay) AS avg_stay, ROUND(AVG(stay) * 100) / 100 AS avg_stay_2, ROUND(100.0 * COUNT(stay) / COUNT(*)) AS value
FROM visits
===
SELECT SQRT(VAR_POP(stay)), ABS(AVG(stay) - MEDIAN(stay)), LEAST(COUNT(*), 100), COALESCE(AVG(stay), 0) FROM visits
---
SELECT SQRT(VAR_POP(stay)) AS variance_stay, ABS(AVG(stay) - MEDIAN(stay)) AS value, LEAST(COUNT(*), 100) AS count, COALESCE(AVG(stay), 0) AS avg_stay
FROM visits
===
SELECT CAST(AVG(stay) AS INTEGER), COUNT(*) > 10, -COUNT(*), NULLIF(COUNT(*), 0), CLAMP(AVG(stay), 0, 60) FROM visits
---
SELECT CAST(avg_stay AS INTEGER) AS avg_stay, count > 10 AS count, -(count) AS count_2, NULLIF(count, 0) AS count_3, CLAMP(avg_stay, 0, 60) AS avg_stay_2
FROM (
SELECT AVG(stay) AS avg_stay, COUNT(*) AS count
FROM visits
) AS answer
===
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) >= 100
---
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
HAVING COUNT(*) >= 100
===
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n >= 100 AND n < 1000
---
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
HAVING COUNT(*) >= 100 AND COUNT(*) < 1000
===
SELECT ward, AVG(stay) AS stay FROM visits GROUP BY ward HAVING stay > 3 AND AVG(stay) < 10
---
SELECT ward, AVG(stay) AS stay
FROM visits
GROUP BY ward
HAVING AVG(stay) > 3 AND AVG(stay) < 10
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING ward IN ('A', 'B') AND NOT ward = 'C'
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
HAVING (ward = 'A' OR ward = 'B') AND NOT ward = 'C'
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING ward IN ('A') OR ward IS NULL
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
HAVING ward = 'A' OR ward IS NULL
===
SELECT day, COUNT(*) FROM visits GROUP BY day HAVING day > '2024-01-01' AND day BETWEEN '2024-01-01' AND '2025-01-01'
---
SELECT day, COUNT(*) AS count
FROM visits
GROUP BY day
HAVING day > DATE '2024-01-01' AND day >= DATE '2024-01-01' AND day <= DATE '2025-01-01'
===
SELECT COUNT(*) FROM visits HAVING COUNT(*) > 10
---
SELECT COUNT(*) AS count
FROM visits
HAVING COUNT(*) > 10
===
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 10
---
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
ORDER BY n DESC
LIMIT 10
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY 2, 1 DESC
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
ORDER BY count, ward DESC
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY COUNT(*) ASC, ward DESC NULLS LAST
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
ORDER BY count, ward DESC
===
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY AVG(stay) DESC, n * 2
---
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
ORDER BY AVG(stay) DESC, COUNT(*) * 2
===
SELECT ward, AVG(stay) AS stay FROM visits GROUP BY ward ORDER BY stay
---
SELECT ward, AVG(stay) AS stay
FROM visits
GROUP BY ward
ORDER BY stay
===
SELECT COUNT(*) AS ward FROM visits GROUP BY ward ORDER BY visits.ward, ward
---
SELECT COUNT(*) AS ward
FROM visits
GROUP BY ward
ORDER BY visits.ward, ward
===
SELECT COUNT(*) AS day FROM visits GROUP BY MONTH(day) HAVING MONTH(day) > 6 ORDER BY MONTH(visits.day), day
---
SELECT COUNT(*) AS day
FROM visits
GROUP BY MONTH(day)
HAVING MONTH(day) > 6
ORDER BY MONTH(visits.day), day
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY COUNT(*) + 1 LIMIT 1
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
ORDER BY COUNT(*) + 1
LIMIT 1
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY COUNT(DISTINCT patient_id)
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
ORDER BY COUNT(DISTINCT patient_id)
===
SELECT 'all' AS what, NULL AS nothing, TRUE AS yes, 1 + 1 AS two, DATE '2024-01-01' AS since, COUNT(*) FROM visits
---
SELECT 'all' AS what, NULL AS nothing, TRUE AS yes, 2 AS two, DATE '2024-01-01' AS since, COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) AS n, SUM(stay) AS total, total / n AS mean FROM visits
---
SELECT COUNT(*) AS n, SUM(stay) AS total, SUM(stay) / COUNT(*) AS mean
FROM visits
===
SELECT ward, COUNT(*) AS age, AVG(age) AS mean, mean * 2 AS twice FROM visits GROUP BY ward
---
SELECT ward, COUNT(*) AS age, AVG(age) AS mean, AVG(age) * 2 AS twice
FROM visits
GROUP BY ward
===
SELECT ward, 100.0 * SUM(CASE WHEN smoker THEN 1 ELSE 0 END) / NULLIF(COUNT(*), 0) AS pct FROM visits GROUP BY ward HAVING SUM(stay) // NULLIF(COUNT(stay), 0) > 1 ORDER BY pct DESC NULLS LAST
---
SELECT ward, 100.0 * SUM(CASE WHEN smoker THEN 1 ELSE 0 END) / COUNT(*) AS pct
FROM visits
GROUP BY ward
HAVING SUM(stay) // COUNT(stay) > 1
ORDER BY pct DESC
===
SELECT COALESCE(SUM(age) / NULLIF(COUNT(*), 0), 0) AS mean FROM visits WHERE age > 1000
---
SELECT COALESCE(SUM(age) / COUNT(*), 0) AS mean
FROM visits
WHERE age > 1000
