SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS share FROM visits GROUP BY ward
---
SELECT ward, count * 1.0 / (SELECT COUNT(*) AS count
FROM visits) AS share
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
WITH q AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) SELECT ward, n, 100.0 * n / (SELECT SUM(n) FROM q) AS share FROM q WHERE n > (SELECT AVG(n) FROM q) ORDER BY n DESC
---
SELECT ward, n, 100.0 * n / (SELECT SUM(n) AS sum_n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer) AS share
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
WHERE n > (SELECT AVG(n) AS avg_n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer)
ORDER BY n DESC
===
SELECT ward, AVG(stay) FROM visits GROUP BY ward HAVING AVG(stay) > (SELECT AVG(stay) FROM visits)
---
SELECT ward, avg_stay
FROM (
SELECT ward, AVG(stay) AS avg_stay
FROM visits
GROUP BY ward
) AS answer
WHERE avg_stay > (SELECT AVG(stay) AS avg_stay
FROM visits)
===
SELECT COUNT(*) - (SELECT COUNT(*) FROM visits WHERE smoker) AS rest FROM visits
---
SELECT count - (SELECT COUNT(*) AS count
FROM visits
WHERE smoker) AS rest
FROM (
SELECT COUNT(*) AS count
FROM visits
) AS answer
===
SELECT ward, COUNT(*) AS n, (SELECT COUNT(*) FROM drugs) FROM visits GROUP BY ward ORDER BY n / (SELECT COUNT(*) FROM drugs)
---
SELECT ward, n, (SELECT COUNT(*) AS count
FROM drugs) AS value
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
ORDER BY answer.n / (SELECT COUNT(*) AS count
FROM drugs)
===
SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY n) - (SELECT COUNT(*) FROM drugs) AS odd FROM visits GROUP BY ward
---
SELECT ward, n, RANK() OVER (ORDER BY n) - (SELECT COUNT(*) AS count
FROM drugs) AS odd
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
===
SELECT SUM(n) / (SELECT COUNT(DISTINCT patient_id) FROM visits) AS per FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS q
---
SELECT SUM(n) / (SELECT COUNT(DISTINCT patient_id) AS people
FROM visits) AS per
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
===
SELECT MAX(d) FROM (SELECT ward, COUNT(*) - (SELECT COUNT(*) FROM drugs) AS d FROM visits GROUP BY ward) AS q
---
SELECT MAX(d) AS max_d
FROM (
SELECT ward, count - (SELECT COUNT(*) AS count
FROM drugs) AS d
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
) AS answer
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward QUALIFY RANK() OVER (ORDER BY COUNT(*)) < (SELECT COUNT(DISTINCT ward) FROM visits)
---
SELECT ward, count
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
QUALIFY RANK() OVER (ORDER BY answer.count) < (SELECT COUNT(DISTINCT ward) AS distinct_ward
FROM visits)
===
SELECT (SELECT COUNT(*) FROM visits), COUNT(*) FROM visits
---
SELECT (SELECT COUNT(*) AS count
FROM visits) AS value, count
FROM (
SELECT COUNT(*) AS count
FROM visits
) AS answer
===
SELECT COUNT(*) FROM visits WHERE stay > (SELECT AVG(stay) FROM visits)
---
SELECT COUNT(*) AS count
FROM visits
WHERE stay > (SELECT AVG(stay) AS avg_stay
FROM visits)
===
SELECT ward, AVG(stay) AS m FROM visits v WHERE v.age >= 2 * (SELECT MEDIAN(age) FROM patients) - 1 AND smoker GROUP BY ward HAVING COUNT(*) > (SELECT COUNT(*) FROM drugs)
---
SELECT ward, m
FROM (
SELECT ward, AVG(stay) AS m, COUNT(*) AS count
FROM visits
WHERE age >= 2 * (SELECT MEDIAN(age) AS median_age
FROM patients) - 1 AND smoker
GROUP BY ward
) AS answer
WHERE count > (SELECT COUNT(*) AS count
FROM drugs)
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id WHERE p.age < (SELECT AVG(age) FROM visits) OR v.stay > (SELECT AVG(stay) FROM visits)
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
WHERE t2.age < (SELECT AVG(age) AS avg_age
FROM visits) OR t1.stay > (SELECT AVG(stay) AS avg_stay
FROM visits)
===
SELECT COUNT(*) FROM visits, patients p WHERE visits.patient_id = p.patient_id AND p.age = (SELECT MEDIAN(age) FROM patients)
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
WHERE t2.age = (SELECT MEDIAN(age) AS median_age
FROM patients)
===
WITH q AS (SELECT AVG(stay) AS m FROM visits) SELECT COUNT(*) FROM visits WHERE stay > (SELECT MAX(m) FROM q)
---
SELECT COUNT(*) AS count
FROM visits
WHERE stay > (SELECT MAX(m) AS max_m
FROM (
SELECT AVG(stay) AS m
FROM visits
) AS answer)
===
SELECT COUNT(*) FROM visits WHERE day >= (SELECT MIN(CLAMP(day, '2024-01-01', '2024-12-31')) FROM visits)
---
SELECT COUNT(*) AS count
FROM visits
WHERE day >= (SELECT MIN(CASE WHEN day IS NOT NULL THEN GREATEST(LEAST(day, DATE '2024-12-31'), DATE '2024-01-01') END) AS min
FROM visits)
