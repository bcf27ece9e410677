SELECT COUNT(*) FROM (SELECT day FROM visits UNION ALL SELECT day FROM drugs) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM visits UNION ALL SELECT person FROM drugs) AS t1
===
SELECT COUNT(DISTINCT who) FROM (SELECT patient_id AS who, day FROM visits UNION ALL SELECT person, day FROM drugs) t WHERE day > DATE '2024-01-05'
---
SELECT COUNT(DISTINCT patient_id) AS people
FROM (SELECT patient_id, day FROM visits UNION ALL SELECT person, day FROM drugs) AS t1
WHERE day > DATE '2024-01-05'
===
SELECT AVG(x) FROM (SELECT stay AS x FROM visits UNION ALL SELECT dose FROM drugs) t
---
SELECT AVG(stay) AS avg_x
FROM (SELECT patient_id, stay FROM visits UNION ALL SELECT person, dose AS stay FROM drugs) AS t1
===
SELECT SUM(x) FROM (SELECT age AS x FROM visits UNION ALL SELECT age FROM patients) t
---
SELECT SUM(age) AS sum_x
FROM (SELECT patient_id, age FROM visits UNION ALL SELECT patient_id, age FROM patients) AS t1
===
SELECT what, COUNT(*) FROM (SELECT 'visit' AS what, day FROM visits UNION ALL SELECT 'drug', day FROM drugs) t GROUP BY what
---
SELECT value AS what, COUNT(*) AS count
FROM (SELECT patient_id, value FROM (SELECT patient_id, 'visit' AS value FROM visits) AS t1 UNION ALL SELECT person, value FROM (SELECT person, 'drug' AS value FROM drugs) AS t2) AS t3
GROUP BY value
===
SELECT COUNT(*) FROM (SELECT ward FROM visits WHERE smoker UNION ALL SELECT ward FROM visits WHERE age > 40 UNION ALL SELECT city FROM patients) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM visits WHERE smoker UNION ALL SELECT patient_id FROM visits WHERE age > 40 UNION ALL SELECT patient_id FROM patients) AS t1
===
SELECT COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM (SELECT patient_id AS person, day FROM visits UNION ALL SELECT person, day FROM drugs) u GROUP BY person) t WHERE n > 5
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, COUNT(*) AS count FROM (SELECT patient_id FROM visits UNION ALL SELECT person FROM drugs) AS t1 GROUP BY patient_id) AS t2
WHERE count > 5
===
WITH u AS (SELECT patient_id AS p, ward AS w FROM visits UNION ALL SELECT patient_id, ward FROM patients) SELECT w, COUNT(*) FROM u GROUP BY w
---
SELECT ward AS w, COUNT(*) AS count
FROM (SELECT patient_id, ward FROM visits UNION ALL SELECT patient_id, ward FROM patients) AS t1
GROUP BY ward
===
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id UNION ALL SELECT person, COUNT(*) FROM drugs GROUP BY person) t WHERE n > 2
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, COUNT(*) AS count FROM visits GROUP BY patient_id UNION ALL SELECT person, COUNT(*) AS count FROM drugs GROUP BY person) AS t1
WHERE count > 2
===
SELECT COUNT(*) FROM (SELECT * FROM drugs UNION ALL SELECT * FROM drugs WHERE dose > 10) t WHERE name = 'x'
---
SELECT COUNT(*) AS count
FROM (SELECT person, name FROM drugs UNION ALL SELECT person, name FROM drugs WHERE dose > 10) AS t1
WHERE name = 'x'
===
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, ward FROM visits UNION ALL SELECT patient_id, ward FROM patients) t JOIN wards ON code = t.ward
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, ward FROM (SELECT patient_id, ward FROM visits GROUP BY patient_id, ward) AS t1 UNION ALL SELECT patient_id, ward FROM patients) AS t2 JOIN wards AS t3 ON t2.ward = t3.code
===
SELECT code, COUNT(*) FROM (SELECT * FROM (SELECT patient_id AS i FROM visits) v, wards w, (SELECT patient_id AS j, ward AS k FROM patients) q WHERE i = j AND k = code UNION ALL SELECT patient_id, ward, age, ward, stay, patient_id, ward FROM visits) t GROUP BY code
---
SELECT code, COUNT(*) AS count
FROM (SELECT t1.patient_id AS patient_id, t3.code AS code FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id JOIN wards AS t3 ON t2.ward = t3.code UNION ALL SELECT patient_id, ward AS code FROM visits) AS t4
GROUP BY code
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits UNION SELECT person FROM drugs) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM (SELECT patient_id FROM visits UNION ALL SELECT person FROM drugs) AS t1 GROUP BY patient_id) AS t2
===
SELECT COUNT(*) FROM (SELECT patient_id, day FROM visits UNION SELECT person, day FROM drugs) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, day FROM (SELECT patient_id, day FROM visits UNION ALL SELECT person, day FROM drugs) AS t1 GROUP BY patient_id, day) AS t2
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits INTERSECT SELECT person FROM drugs) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM visits GROUP BY patient_id) AS t1
WHERE patient_id IN (SELECT person FROM drugs)
===
SELECT COUNT(*) FROM (SELECT patient_id, day FROM visits INTERSECT SELECT person, day FROM drugs) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, day FROM visits GROUP BY patient_id, day) AS t1
WHERE EXISTS (SELECT 1 FROM drugs AS t2 WHERE t1.patient_id = t2.person AND COALESCE(t1.day, DATE '1970-01-01') = COALESCE(t2.day, DATE '1970-01-01') AND (t1.day IS NULL) = (t2.day IS NULL))
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits EXCEPT SELECT person FROM drugs) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM visits GROUP BY patient_id) AS t1
WHERE patient_id NOT IN (SELECT person FROM drugs)
===
SELECT COUNT(*) FROM (SELECT patient_id, ward, age, smoker FROM visits EXCEPT SELECT patient_id, ward, age, age > 50 FROM patients) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, ward, age, smoker FROM visits GROUP BY patient_id, ward, age, smoker) AS t1
WHERE NOT EXISTS (SELECT 1 FROM (SELECT patient_id, ward, age, age > 50 AS value FROM patients) AS t2 WHERE t1.patient_id = t2.patient_id AND COALESCE(t1.ward, '') = COALESCE(t2.ward, '') AND (t1.ward IS NULL) = (t2.ward IS NULL) AND COALESCE(t1.age, 0) = COALESCE(t2.age, 0) AND (t1.age IS NULL) = (t2.age IS NULL) AND COALESCE(t1.smoker, FALSE) = COALESCE(t2.value, FALSE) AND (t1.smoker IS NULL) = (t2.value IS NULL))
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits EXCEPT SELECT person FROM drugs EXCEPT SELECT patient_id FROM patients) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM (SELECT patient_id FROM visits GROUP BY patient_id) AS t1 WHERE patient_id NOT IN (SELECT person FROM drugs) GROUP BY patient_id) AS t2
WHERE patient_id NOT IN (SELECT patient_id FROM patients)
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits UNION SELECT person FROM drugs INTERSECT SELECT patient_id FROM patients) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM (SELECT patient_id FROM visits UNION ALL SELECT person FROM (SELECT person FROM drugs GROUP BY person) AS t1 WHERE person IN (SELECT patient_id FROM patients)) AS t2 GROUP BY patient_id) AS t3
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits INTERSECT SELECT person FROM drugs UNION ALL SELECT patient_id FROM patients) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM (SELECT patient_id FROM visits GROUP BY patient_id) AS t1 WHERE patient_id IN (SELECT person FROM drugs) UNION ALL SELECT patient_id FROM patients) AS t2
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits UNION ALL SELECT person FROM drugs UNION SELECT patient_id FROM patients) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM (SELECT patient_id FROM visits UNION ALL SELECT person FROM drugs UNION ALL SELECT patient_id FROM patients) AS t1 GROUP BY patient_id) AS t2
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits UNION SELECT person FROM drugs UNION ALL SELECT patient_id FROM patients) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM (SELECT patient_id FROM visits UNION ALL SELECT person FROM drugs) AS t1 GROUP BY patient_id UNION ALL SELECT patient_id FROM patients) AS t2
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT person FROM drugs INTERSECT SELECT patient_id FROM patients)
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id IN (SELECT person FROM (SELECT person FROM drugs GROUP BY person) AS t1 WHERE person IN (SELECT patient_id FROM patients))
