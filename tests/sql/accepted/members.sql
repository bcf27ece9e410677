SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT person FROM drugs)
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id IN (SELECT person FROM drugs)
===
SELECT COUNT(*) FROM visits WHERE patient_id NOT IN (SELECT person FROM drugs WHERE name = 'x') AND age > 30
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id NOT IN (SELECT person FROM drugs WHERE name = 'x') AND age > 30
===
SELECT AVG(stay) FROM visits WHERE age > 30 AND patient_id IN (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 3)
---
SELECT AVG(stay) AS avg_stay
FROM visits
WHERE patient_id IN (SELECT patient_id FROM (SELECT patient_id, COUNT(*) AS count FROM visits GROUP BY patient_id) AS t1 WHERE count >= 3) AND age > 30
===
SELECT ward, COUNT(*) FROM visits v WHERE v.patient_id IN (SELECT DISTINCT person FROM drugs WHERE dose > 40) GROUP BY ward ORDER BY v.ward
---
SELECT ward, COUNT(*) AS count
FROM visits
WHERE patient_id IN (SELECT person FROM drugs WHERE dose > 40 GROUP BY person)
GROUP BY ward
ORDER BY ward
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT code FROM wards)
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward IN (SELECT code FROM wards)
===
SELECT COUNT(*) FROM visits WHERE (age > 5 OR smoker) AND (LOWER(ward) IN (SELECT w.code FROM wards w))
---
SELECT COUNT(*) AS count
FROM visits
WHERE LOWER(ward) IN (SELECT code FROM wards) AND (age > 5 OR smoker)
===
SELECT COUNT(*) FROM visits JOIN patients USING (patient_id) WHERE patient_id IN (SELECT person FROM drugs) AND city = 'Bonn'
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
WHERE t1.patient_id IN (SELECT person FROM drugs) AND t2.city = 'Bonn'
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT person FROM drugs) AND patient_id NOT IN (SELECT patient_id FROM patients WHERE age > 60)
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id IN (SELECT person FROM drugs) AND patient_id NOT IN (SELECT patient_id FROM patients WHERE age > 60)
===
SELECT COUNT(*) FROM visits WHERE NOT patient_id IN (SELECT person FROM drugs)
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id NOT IN (SELECT person FROM drugs)
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM patients WHERE patient_id IN (SELECT person FROM drugs))
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id IN (SELECT patient_id FROM patients WHERE patient_id IN (SELECT person FROM drugs))
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT person FROM drugs UNION ALL SELECT patient_id FROM patients WHERE age < 30)
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id IN (SELECT person FROM drugs UNION ALL SELECT patient_id FROM patients WHERE age < 30)
===
WITH d AS (SELECT person FROM drugs WHERE dose > 20) SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT person FROM d)
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id IN (SELECT person FROM drugs WHERE dose > 20)
===
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits WHERE patient_id IN (SELECT person FROM drugs) GROUP BY patient_id) t WHERE n > 4
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, COUNT(*) AS count FROM visits WHERE patient_id IN (SELECT person FROM drugs) GROUP BY patient_id) AS t1
WHERE count > 4
===
SELECT COUNT(*) FROM (SELECT age FROM visits WHERE ward IN (SELECT code FROM wards)) v JOIN wards w ON w.floor = v.age % 4
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, ward, age FROM visits WHERE ward IN (SELECT code FROM wards)) AS t1 JOIN wards AS t2 ON t1.age % 4 = t2.floor
===
SELECT COUNT(*) FROM (SELECT stay, patient_id FROM visits WHERE patient_id IN (SELECT person FROM drugs)) v JOIN patients p USING (patient_id)
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM visits WHERE patient_id IN (SELECT person FROM drugs)) AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
===
SELECT COUNT(*) FROM visits v WHERE v.patient_id IN (SELECT d.person FROM drugs d JOIN patients p ON d.person = p.patient_id WHERE p.city = 'Bonn')
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id IN (SELECT t1.person AS person FROM drugs AS t1 JOIN patients AS t2 ON t1.person = t2.patient_id WHERE t2.city = 'Bonn')
