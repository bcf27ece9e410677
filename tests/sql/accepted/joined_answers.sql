SELECT ward, COUNT(*) / (SELECT n FROM (SELECT COUNT(*) AS n FROM visits) t) FROM visits GROUP BY ward
---
SELECT ward, count / (SELECT n
FROM (
SELECT COUNT(*) AS n
FROM visits
) AS answer) AS value
FROM (
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
) AS answer
===
SELECT (SELECT COUNT(*) FROM visits)
---
SELECT count
FROM (
SELECT COUNT(*) AS count
FROM visits
) AS answer
===
SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits
---
SELECT count
FROM (
SELECT DISTINCT count
FROM (
(
SELECT COUNT(*) AS count
FROM visits
)
UNION ALL
(
SELECT COUNT(*) AS count
FROM visits
)
) AS answer
) AS answer
===
SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits
---
SELECT count
FROM (
(
SELECT COUNT(*) AS count
FROM visits
)
UNION ALL
(
SELECT COUNT(*) AS count
FROM visits
)
) AS answer
===
SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM patients
---
SELECT count
FROM (
(
SELECT COUNT(*) AS count
FROM visits
)
UNION ALL
(
SELECT COUNT(*) AS count
FROM patients
)
) AS answer
===
WITH a AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward), b AS (SELECT ward, COUNT(*) AS m FROM visits WHERE smoker GROUP BY ward) SELECT ward, m * 1.0 / n AS r FROM a JOIN b USING (ward) WHERE n > 3 ORDER BY r DESC
---
SELECT answer.ward, answer_2.m * 1.0 / answer.n AS r
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
JOIN (
SELECT ward, COUNT(*) AS m
FROM visits
WHERE smoker
GROUP BY ward
) AS answer_2 ON answer.ward = answer_2.ward
WHERE answer.n > 3
ORDER BY r DESC
===
SELECT a.ward, a.n, b.m FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a LEFT JOIN (SELECT ward, AVG(stay) AS m FROM visits GROUP BY ward) b ON b.ward = a.ward AND b.m > 3
---
SELECT answer.ward, answer.n, answer_2.m AS m
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
LEFT JOIN (
SELECT ward, AVG(stay) AS m
FROM visits
GROUP BY ward
) AS answer_2 ON answer.ward = answer_2.ward AND (answer_2.m > 3)
===
SELECT * FROM (SELECT ward, COUNT(*) AS n FROM visits WHERE ward <> 'A' GROUP BY ward) a FULL JOIN (SELECT ward, AVG(stay) AS m FROM visits WHERE ward <> 'B' GROUP BY ward) b USING (ward)
---
SELECT COALESCE(answer.ward, answer_2.ward) AS ward, answer.n, answer_2.m AS m
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
WHERE ward <> 'A'
GROUP BY ward
) AS answer
FULL JOIN (
SELECT ward, AVG(stay) AS m
FROM visits
WHERE ward <> 'B'
GROUP BY ward
) AS answer_2 ON answer.ward = answer_2.ward
===
SELECT a.ward, b.m, b.* FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a RIGHT OUTER JOIN (SELECT ward, AVG(stay) AS m FROM visits GROUP BY ward) b ON a.ward = b.ward AND a.n > 2
---
SELECT answer.ward AS ward_2, answer_2.m AS m_2, answer_2.ward AS ward, answer_2.m AS m
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
RIGHT JOIN (
SELECT ward, AVG(stay) AS m
FROM visits
GROUP BY ward
) AS answer_2 ON answer.ward = answer_2.ward AND (answer.n > 2)
===
SELECT * FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a NATURAL JOIN (SELECT ward, AVG(stay) AS m FROM visits GROUP BY ward) b
---
SELECT answer.ward, answer.n, answer_2.m AS m
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
JOIN (
SELECT ward, AVG(stay) AS m
FROM visits
GROUP BY ward
) AS answer_2 ON answer.ward = answer_2.ward
===
SELECT a.ward, a.n / t.n AS share FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a CROSS JOIN (SELECT COUNT(*) AS n FROM visits) t
---
SELECT answer.ward, answer.n / answer_2.n AS share
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
CROSS JOIN (
SELECT COUNT(*) AS n
FROM visits
) AS answer_2
===
SELECT a.ward, SUM(a.n * t.n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a, (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) t WHERE a.ward = t.ward AND a.n > 2 GROUP BY a.ward
---
SELECT answer.ward, SUM(answer.n * answer_2.n) AS sum
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
JOIN (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer_2 ON answer.ward = answer_2.ward
WHERE answer.n > 2
GROUP BY answer.ward
===
WITH m AS (SELECT MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY 1) SELECT later.m, later.n - before.n AS growth FROM m AS later LEFT JOIN m AS before ON later.m = before.m + 1 ORDER BY later.m
---
SELECT answer.m, answer.n - answer_2.n AS growth
FROM (
SELECT MONTH(day) AS m, COUNT(*) AS n
FROM visits
GROUP BY MONTH(day)
) AS answer
LEFT JOIN (
SELECT MONTH(day) AS m, COUNT(*) AS n
FROM visits
GROUP BY MONTH(day)
) AS answer_2 ON answer.m = answer_2.m + 1
ORDER BY m
===
WITH a AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward), b AS (SELECT ward, COUNT(*) AS m FROM drugs d JOIN visits v ON d.person = v.patient_id GROUP BY ward), c AS (SELECT COUNT(*) AS t FROM visits WHERE stay > (SELECT AVG(stay) FROM visits)) SELECT a.ward, n, m, n * 1.0 / t AS share, RANK() OVER (ORDER BY n DESC) AS place FROM a JOIN b ON a.ward = b.ward CROSS JOIN c WHERE n > (SELECT AVG(n) FROM a) - 100
---
SELECT answer.ward, answer.n, answer_2.m AS m, answer.n * 1.0 / answer_3.t AS share, RANK() OVER (ORDER BY answer.n DESC) AS place
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
JOIN (
SELECT t2.ward, COUNT(*) AS m
FROM drugs AS t1 JOIN visits AS t2 ON t1.person = t2.patient_id
GROUP BY t2.ward
) AS answer_2 ON answer.ward = answer_2.ward
CROSS JOIN (
SELECT COUNT(*) AS t
FROM visits
WHERE stay > (SELECT AVG(stay) AS avg_stay
FROM visits)
) AS answer_3
WHERE answer.n > (SELECT AVG(n) AS avg_n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer) - 100
===
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward UNION ALL SELECT 'all', COUNT(*) FROM visits ORDER BY n DESC
---
SELECT ward, n
FROM (
(
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
)
UNION ALL
(
SELECT 'all' AS value, COUNT(*) AS count
FROM visits
)
) AS answer
ORDER BY n DESC
===
SELECT MAX(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward UNION SELECT city, COUNT(*) FROM patients GROUP BY city) AS t
---
SELECT MAX(n) AS max_n
FROM (
SELECT DISTINCT ward, n
FROM (
(
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
)
UNION ALL
(
SELECT city, COUNT(*) AS count
FROM patients
GROUP BY city
)
) AS answer
) AS answer
===
(SELECT COUNT(*) AS n FROM visits) UNION ALL SELECT AVG(stay) FROM visits UNION ALL (SELECT ward_n FROM (SELECT ward, COUNT(*) AS ward_n FROM visits GROUP BY ward) AS q WHERE ward = 'A')
---
SELECT n
FROM (
(
SELECT COUNT(*) AS n
FROM visits
)
UNION ALL
(
SELECT AVG(stay) AS avg_stay
FROM visits
)
UNION ALL
(
SELECT ward_n
FROM (
SELECT ward, COUNT(*) AS ward_n
FROM visits
GROUP BY ward
) AS answer
WHERE ward = 'A'
)
) AS answer
===
SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM visits UNION ALL SELECT COUNT(*) FROM drugs) AS q
---
SELECT SUM(n) AS sum_n
FROM (
(
SELECT COUNT(*) AS n
FROM visits
)
UNION ALL
(
SELECT COUNT(*) AS count
FROM drugs
)
) AS answer
===
WITH q AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward UNION ALL SELECT city, COUNT(*) FROM patients GROUP BY city) SELECT q.ward, q.n, c.k FROM q LEFT JOIN (SELECT ward, COUNT(DISTINCT patient_id) AS k FROM visits GROUP BY ward) c ON q.ward = c.ward
---
SELECT answer.ward, answer.n, answer_2.k AS k
FROM (
SELECT ward, n
FROM (
(
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
)
UNION ALL
(
SELECT city, COUNT(*) AS count
FROM patients
GROUP BY city
)
) AS answer
) AS answer
LEFT JOIN (
SELECT ward, COUNT(DISTINCT patient_id) AS k
FROM visits
GROUP BY ward
) AS answer_2 ON answer.ward = answer_2.ward
===
SELECT (SELECT COUNT(*) FROM visits) * 1.0 / (SELECT COUNT(*) FROM patients) AS visits_of_each
---
SELECT (SELECT COUNT(*) AS count
FROM visits) * 1.0 / count AS visits_of_each
FROM (
SELECT COUNT(*) AS count
FROM patients
) AS answer
===
SELECT DISTINCT n FROM (SELECT DISTINCT ward, n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS q) AS r
---
SELECT DISTINCT n
FROM (
SELECT DISTINCT ward, n
FROM (
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
) AS answer
) AS answer
===
(SELECT COUNT(*) FROM visits) UNION ALL (SELECT COUNT(*) FROM patients)
---
SELECT count
FROM (
(
SELECT COUNT(*) AS count
FROM visits
)
UNION ALL
(
SELECT COUNT(*) AS count
FROM patients
)
) AS answer
