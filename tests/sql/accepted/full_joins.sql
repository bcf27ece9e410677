SELECT COUNT(*) FROM visits FULL OUTER JOIN patients USING (patient_id)
---
SELECT COUNT(*) AS count
FROM (SELECT t1.patient_id AS patient_id FROM visits AS t1 LEFT JOIN patients AS t2 ON t1.patient_id = t2.patient_id UNION ALL SELECT patient_id FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits)) AS t3
===
SELECT COUNT(*) FROM visits v FULL JOIN drugs d ON v.patient_id = d.person
---
SELECT COUNT(*) AS count
FROM (SELECT t1.patient_id AS patient_id FROM visits AS t1 LEFT JOIN drugs AS t2 ON t1.patient_id = t2.person UNION ALL SELECT person FROM drugs WHERE person NOT IN (SELECT patient_id FROM visits)) AS t3
===
SELECT COUNT(*), COUNT(v.patient_id), COUNT(d.person), COUNT(DISTINCT v.patient_id) FROM visits v FULL OUTER JOIN drugs d ON v.patient_id = d.person AND v.day = d.day
---
SELECT COUNT(*) AS count, COUNT(patient_id) AS count_patient_id, COUNT(person) AS count_person, COUNT(DISTINCT patient_id) AS distinct_patient_id
FROM (SELECT t1.patient_id AS patient_id_2, t1.patient_id AS patient_id, t2.person AS person FROM visits AS t1 LEFT JOIN (SELECT person, day AS day_2 FROM drugs) AS t2 ON t1.patient_id = t2.person AND t1.day = t2.day_2 UNION ALL SELECT person AS person_2, value AS patient_id, person FROM (SELECT NULLIF(0, 0) AS value, person FROM drugs WHERE NOT EXISTS (SELECT 1 FROM visits AS t3 WHERE drugs.person = t3.patient_id AND drugs.day = t3.day)) AS t4) AS t5
===
SELECT ward, COUNT(*), AVG(stay), SUM(dose) FROM visits v FULL JOIN drugs d ON v.patient_id = d.person GROUP BY ward
---
SELECT ward, COUNT(*) AS count, AVG(stay) AS avg_stay, SUM(dose) AS sum_dose
FROM (SELECT t1.patient_id AS patient_id, t1.ward AS ward, t1.stay AS stay, t2.dose AS dose FROM visits AS t1 LEFT JOIN drugs AS t2 ON t1.patient_id = t2.person UNION ALL SELECT person, value AS ward, value_2 AS stay, dose FROM (SELECT person, NULLIF('', '') AS value, NULLIF(0.5, 0.5) AS value_2, dose FROM drugs WHERE person NOT IN (SELECT patient_id FROM visits)) AS t3) AS t4
GROUP BY ward
===
SELECT COUNT(DISTINCT patient_id) AS people, COUNT(*) FROM visits FULL JOIN patients USING (patient_id) WHERE city IS NULL OR stay IS NULL
---
SELECT COUNT(DISTINCT patient_id) AS people, COUNT(*) AS count
FROM (SELECT t1.patient_id AS patient_id, t1.stay AS stay, t2.city AS city FROM visits AS t1 LEFT JOIN patients AS t2 ON t1.patient_id = t2.patient_id UNION ALL SELECT patient_id, value AS stay, city FROM (SELECT patient_id, NULLIF(0.5, 0.5) AS value, city FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits)) AS t3) AS t4
WHERE city IS NULL OR stay IS NULL
===
SELECT city, COUNT(*) FROM visits v FULL JOIN patients p ON v.patient_id = p.patient_id AND v.smoker AND p.income > 30 GROUP BY city
---
SELECT city, COUNT(*) AS count
FROM (SELECT t1.patient_id AS patient_id, t2.city AS city FROM visits AS t1 LEFT JOIN (SELECT patient_id, city FROM patients WHERE income > 30) AS t2 ON t1.patient_id = t2.patient_id AND t1.smoker UNION ALL SELECT patient_id, city FROM patients WHERE NOT EXISTS (SELECT 1 FROM (SELECT patient_id FROM visits WHERE smoker) AS t3 WHERE patients.patient_id = t3.patient_id AND patients.income > 30)) AS t4
GROUP BY city
===
SELECT COUNT(seen), MIN(age) FROM visits v NATURAL FULL JOIN (SELECT patient_id, born FROM patients) p
---
SELECT COUNT(seen) AS count_seen, MIN(age) AS min_age
FROM (SELECT t1.patient_id AS patient_id, t1.age AS age, t1.seen AS seen FROM visits AS t1 LEFT JOIN patients AS t2 ON t1.patient_id = t2.patient_id UNION ALL SELECT patient_id, value AS age, value_2 AS seen FROM (SELECT patient_id, NULLIF(0, 0) AS value, NULLIF(TIMESTAMP '1970-01-01 00:00:00', TIMESTAMP '1970-01-01 00:00:00') AS value_2 FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits)) AS t3) AS t4
===
SELECT a.ward, COUNT(*) FROM visits a FULL JOIN visits b ON a.patient_id = b.patient_id AND a.ward = b.ward AND a.smoker WHERE b.smoker OR a.age > 50 GROUP BY a.ward
---
SELECT ward, COUNT(*) AS count
FROM (SELECT t1.patient_id AS patient_id, t1.ward AS ward, t1.age AS age, t2.smoker_2 AS smoker_2 FROM visits AS t1 LEFT JOIN (SELECT patient_id, ward AS ward_2, smoker AS smoker_2 FROM visits) AS t2 ON t1.patient_id = t2.patient_id AND t1.ward = t2.ward_2 AND t1.smoker UNION ALL SELECT patient_id, value AS ward, value_2 AS age, smoker AS smoker_2 FROM (SELECT patient_id, NULLIF('', '') AS value, NULLIF(0, 0) AS value_2, smoker FROM visits WHERE NOT EXISTS (SELECT 1 FROM (SELECT patient_id, ward FROM visits WHERE smoker) AS t3 WHERE visits.patient_id = t3.patient_id AND visits.ward = t3.ward)) AS t4) AS t5
WHERE smoker_2 OR age > 50
GROUP BY ward
