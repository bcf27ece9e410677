SELECT COUNT(*) FROM visits GROUP BY ward HAVING ward LIKE 'A%'
---
SELECT count
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
WHERE ward LIKE 'A%'
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 10 OFFSET 5
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
SELECT ward, n FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t WHERE ward LIKE 'A%'
---
SELECT ward, n
FROM (
SELECT ward, COUNT(*) AS n, AVG(stay) AS stay
FROM visits
GROUP BY ward
) AS answer
WHERE ward LIKE 'A%'
===
SELECT UPPER(ward) FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t
---
SELECT UPPER(ward) AS upper_ward
FROM (
SELECT ward, COUNT(*) AS n, AVG(stay) AS stay
FROM visits
GROUP BY ward
) AS answer
===
SELECT UPPER(ward), COUNT(*) FROM visits GROUP BY ward
---
SELECT UPPER(ward) AS upper_ward, count
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
SELECT CASE WHEN COUNT(*) > 1 THEN 1 ELSE 0 END FROM visits
---
SELECT CASE WHEN count > 1 THEN 1 ELSE 0 END AS count
FROM (
SELECT COUNT(*) AS count
FROM visits
) AS answer
===
SELECT DISTINCT ward FROM visits
---
SELECT ward
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
SELECT ward FROM visits GROUP BY ward
---
SELECT ward
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
SELECT age + 1, COUNT(*) FROM visits GROUP BY age
---
SELECT age + 1 AS value, COUNT(*) AS count
FROM visits
GROUP BY age
===
SELECT CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END AS g, COUNT(*) FROM visits GROUP BY age ORDER BY g, 2
---
SELECT CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END AS g, count
FROM (
SELECT age, COUNT(*) AS count
FROM visits
GROUP BY age
) AS answer
ORDER BY g, count
===
SELECT CONCAT(ward, '-', age) AS label, COUNT(*) FROM visits GROUP BY ward, age
---
SELECT COALESCE(ward, '') || '-' || COALESCE(CAST(age AS VARCHAR), '') AS label, count
FROM (
SELECT ward, age, COUNT(*) AS count
FROM visits
GROUP BY ward, age
) AS answer
===
SELECT IF(ward = 'A', 1, 0) AS first, COUNT(*) FROM visits GROUP BY ward
---
SELECT CASE WHEN ward = 'A' THEN 1 ELSE 0 END AS "first", count
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
SELECT COALESCE(ward, 'none') AS ward, COUNT(*) AS n FROM visits GROUP BY visits.ward ORDER BY n DESC
---
SELECT COALESCE(ward, 'none') AS ward, n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
ORDER BY n DESC
===
SELECT DATE_TRUNC('month', day), COUNT(*) FROM visits GROUP BY day
---
SELECT DATE_TRUNC('month', day) AS month_day, count
FROM (
SELECT day, COUNT(*) AS count
FROM visits
GROUP BY day
) AS answer
===
SELECT SUBSTRING(ward, 1, 1), LENGTH(ward), COUNT(*) FROM visits GROUP BY ward HAVING UPPER(ward) <> 'X'
---
SELECT SUBSTRING(ward, 1, 1) AS substring_ward, LENGTH(ward) AS length_ward, count
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
WHERE UPPER(ward) <> 'X'
===
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY CASE WHEN ward = 'B' THEN 0 ELSE 1 END, ward
---
SELECT ward, n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
ORDER BY CASE WHEN answer.ward = 'B' THEN 0 ELSE 1 END, ward
===
SELECT MAX(CLAMP(day, '2023-01-01', '2024-12-31')) - MIN(CLAMP(day, '2023-01-01', '2024-12-31')) AS days FROM visits
---
SELECT DATE_DIFF('day', min, max) AS days
FROM (
SELECT MAX(CASE WHEN day IS NOT NULL THEN GREATEST(LEAST(day, DATE '2024-12-31'), DATE '2023-01-01') END) AS max, MIN(CASE WHEN day IS NOT NULL THEN GREATEST(LEAST(day, DATE '2024-12-31'), DATE '2023-01-01') END) AS min
FROM visits
) AS answer
===
SELECT DISTINCT ward, smoker FROM visits ORDER BY ward
---
SELECT ward, smoker
FROM (
SELECT ward, smoker, COUNT(*) AS count
FROM visits
GROUP BY ward, smoker
) AS answer
ORDER BY ward
===
SELECT DISTINCT UPPER(ward) AS w FROM visits WHERE age > 30
---
SELECT w
FROM (
SELECT UPPER(ward) AS w, COUNT(*) AS count
FROM visits
WHERE age > 30
GROUP BY UPPER(ward)
) AS answer
===
SELECT DISTINCT v.ward FROM visits v JOIN patients p ON v.patient_id = p.patient_id
---
SELECT ward
FROM (
SELECT t1.ward, COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
GROUP BY t1.ward
) AS answer
===
SELECT DISTINCT ward, COUNT(*) FROM visits GROUP BY ward
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
===
SELECT DISTINCT COUNT(*) FROM visits GROUP BY ward
---
SELECT DISTINCT count
FROM (
SELECT COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
SELECT ward, smoker FROM visits GROUP BY ward, smoker
---
SELECT ward, smoker
FROM (
SELECT ward, smoker, COUNT(*) AS count
FROM visits
GROUP BY ward, smoker
) AS answer
===
SELECT CASE WHEN AVG(stay) > 5 THEN 'long' WHEN AVG(stay) IS NULL THEN 'none' ELSE 'short' END AS kind FROM visits
---
SELECT CASE WHEN avg_stay > 5 THEN 'long' WHEN avg_stay IS NULL THEN 'none' ELSE 'short' END AS kind
FROM (
SELECT AVG(stay) AS avg_stay
FROM visits
) AS answer
===
SELECT p.city || '!' AS c, COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY p.city
---
SELECT city || '!' AS c, count
FROM (
SELECT t2.city, COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
GROUP BY t2.city
) AS answer
===
SELECT NULLIF(COUNT(*), 0), POWER(COUNT(*), 2), COUNT(*) % 2 FROM visits
---
SELECT NULLIF(count, 0) AS count, POWER(count, 2) AS count_2, count % 2 AS count_3
FROM (
SELECT COUNT(*) AS count
FROM visits
) AS answer
===
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward LIMIT 2 OFFSET 1
---
SELECT ward, n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
LIMIT 2
OFFSET 1
===
SELECT 1, 'a' FROM visits GROUP BY ward
---
SELECT 1 AS value, 'a' AS value_2
FROM (
SELECT COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
SELECT ward, n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS q WHERE UPPER(ward) LIKE 'A%' OR n > 3
---
SELECT ward, n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
WHERE UPPER(ward) LIKE 'A%' OR n > 3
===
SELECT RANK() OVER (ORDER BY ward) FROM visits GROUP BY ward
---
SELECT RANK() OVER (ORDER BY ward) AS rank
FROM (
SELECT ward
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
) AS answer
===
SELECT ward, COUNT(*) > 5 AS many, COUNT(*) BETWEEN 3 AND 9 AS some FROM visits GROUP BY ward
---
SELECT ward, count > 5 AS many, count >= 3 AND count <= 9 AS "some"
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
