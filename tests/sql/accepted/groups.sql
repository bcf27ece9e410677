SELECT ward, COUNT(*) FROM visits GROUP BY ward
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
===
SELECT ward, COUNT(*) FROM visits GROUP BY 1
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
===
SELECT v.ward, COUNT(*) AS n FROM visits AS v GROUP BY v.ward
---
SELECT ward, COUNT(*) AS n
FROM visits
GROUP BY ward
===
SELECT visits.ward, AVG(visits.stay) FROM visits GROUP BY visits.ward
---
SELECT ward, AVG(stay) AS avg_stay
FROM visits
GROUP BY ward
===
SELECT WARD, COUNT(*) FROM Visits GROUP BY Ward
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
===
SELECT MONTH(day) AS month, COUNT(*) FROM visits GROUP BY month
---
SELECT MONTH(day) AS month, COUNT(*) AS count
FROM visits
GROUP BY MONTH(day)
===
SELECT MONTH(day), COUNT(*) FROM visits GROUP BY MONTH(day)
---
SELECT MONTH(day) AS month_day, COUNT(*) AS count
FROM visits
GROUP BY MONTH(day)
===
SELECT DATE_TRUNC('month', day) AS month, ward, AVG(stay) FROM visits GROUP BY 1, 2
---
SELECT DATE_TRUNC('month', day) AS month, ward, AVG(stay) AS avg_stay
FROM visits
GROUP BY DATE_TRUNC('month', day), ward
===
SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) FROM visits GROUP BY decade
---
SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) AS count
FROM visits
GROUP BY FLOOR(age / 10) * 10
===
SELECT FLOOR(age / 10) * 10, COUNT(*) FROM visits GROUP BY FLOOR(age / 10)
---
SELECT FLOOR(age / 10) * 10 AS value, COUNT(*) AS count
FROM visits
GROUP BY FLOOR(age / 10)
===
SELECT CASE WHEN age < 18 THEN 'child' ELSE 'adult' END AS who, COUNT(*) FROM visits GROUP BY who
---
SELECT CASE WHEN age < 18 THEN 'child' ELSE 'adult' END AS who, COUNT(*) AS count
FROM visits
GROUP BY CASE WHEN age < 18 THEN 'child' ELSE 'adult' END
===
SELECT age >= 40, COUNT(*) FROM visits GROUP BY 1
---
SELECT age >= 40 AS value, COUNT(*) AS count
FROM visits
GROUP BY age >= 40
===
SELECT COUNT(*) FROM visits GROUP BY ward
---
SELECT COUNT(*) AS count
FROM visits
GROUP BY ward
===
SELECT ward, smoker, COUNT(*), AVG(stay) FROM visits GROUP BY smoker, ward
---
SELECT ward, smoker, COUNT(*) AS count, AVG(stay) AS avg_stay
FROM visits
GROUP BY smoker, ward
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward, ward
---
SELECT ward, COUNT(*) AS count
FROM visits
GROUP BY ward
===
SELECT ward, ward AS again, COUNT(*) FROM visits GROUP BY ward
---
SELECT ward, ward AS again, COUNT(*) AS count
FROM visits
GROUP BY ward
===
SELECT COUNT(*) AS ward FROM visits GROUP BY ward
---
SELECT COUNT(*) AS ward
FROM visits
GROUP BY ward
===
SELECT ward, ISODOW(seen), COUNT(*) FROM visits WHERE age > 10 GROUP BY ward, ISODOW(seen)
---
SELECT ward, ISODOW(seen) AS weekday_seen, COUNT(*) AS count
FROM visits
WHERE age > 10
GROUP BY ward, ISODOW(seen)
===
SELECT age // 10 AS bin, 1 AS one, COUNT(*) FROM visits GROUP BY bin
---
SELECT age // 10 AS bin, 1 AS one, COUNT(*) AS count
FROM visits
GROUP BY age // 10
===
SELECT day, COUNT(*) FROM visits GROUP BY day
---
SELECT day, COUNT(*) AS count
FROM visits
GROUP BY day
===
SELECT "Blood Group", "index", COUNT(*) AS "How many" FROM visits GROUP BY "Blood Group", "index"
---
SELECT "Blood Group", "index", COUNT(*) AS "How many"
FROM visits
GROUP BY "Blood Group", "index"
===
SELECT ward FROM visits GROUP BY ward HAVING COUNT(*) > 10
---
SELECT ward
FROM visits
GROUP BY ward
HAVING COUNT(*) > 10
===
SELECT COUNT(*) FROM visits GROUP BY ALL
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) AS n, n + 1 AS m FROM visits
---
SELECT COUNT(*) AS n, COUNT(*) + 1 AS m
FROM visits
===
SELECT ward, smoker, COUNT(*), 100.0 * SUM(CASE WHEN age > 40 THEN 1 ELSE 0 END) / COUNT(*) AS pct FROM visits GROUP BY ALL ORDER BY 1, 2
---
SELECT ward, smoker, COUNT(*) AS count, 100.0 * SUM(CASE WHEN age > 40 THEN 1 ELSE 0 END) / COUNT(*) AS pct
FROM visits
GROUP BY ward, smoker
ORDER BY ward, smoker
===
SELECT DATE_TRUNC('month', day) AS month, AVG(stay), 1 AS one FROM visits GROUP BY ALL
---
SELECT DATE_TRUNC('month', day) AS month, AVG(stay) AS avg_stay, 1 AS one
FROM visits
GROUP BY DATE_TRUNC('month', day)
===
SELECT AVG(CLAMP(n, 0, 9)) FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits GROUP BY ALL) t
---
SELECT AVG(CLAMP(count, 0, 9)) AS avg_n
FROM (SELECT patient_id, ward, COUNT(*) AS count FROM visits GROUP BY patient_id, ward) AS t1
===
SELECT ANY_VALUE(ward) AS w, ANY_VALUE(YEAR(day)), COUNT(*) FROM visits GROUP BY ward, YEAR(day)
---
SELECT ward AS w, YEAR(day) AS year_day, COUNT(*) AS count
FROM visits
GROUP BY ward, YEAR(day)
===
SELECT FLOOR(stay / 10.0) * 10.0 AS bin, COUNT(*) FROM visits GROUP BY FLOOR(stay / 10.0) * 10.0 ORDER BY bin
---
SELECT FLOOR(stay / 10.0) * 10 AS bin, COUNT(*) AS count
FROM visits
GROUP BY FLOOR(stay / 10.0) * 10
ORDER BY bin
===
SELECT FLOOR(age / 10.0) * 10.0 + 5.0, AVG(stay) FROM visits GROUP BY 1
---
SELECT FLOOR(age / 10.0) * 10 + 5 AS value, AVG(stay) AS avg_stay
FROM visits
GROUP BY FLOOR(age / 10.0) * 10 + 5
