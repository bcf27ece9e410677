SELECT COUNT(*) FROM visits v JOIN drugs d ON v.day = d.day
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT person, day AS day_2 FROM drugs) AS t2 ON t1.day = t2.day_2
===
SELECT v.ward, COUNT(*), SUM(d.dose) FROM visits v JOIN drugs d ON v.day = d.day WHERE v.age > 30 AND d.name = 'x' GROUP BY v.ward
---
SELECT t1.ward, COUNT(*) AS count, SUM(t2.dose) AS sum_dose
FROM visits AS t1 JOIN (SELECT person, name, dose, day AS day_2 FROM drugs) AS t2 ON t1.day = t2.day_2
WHERE t1.age > 30 AND t2.name = 'x'
GROUP BY t1.ward
===
SELECT AVG(a.stay) FROM visits a JOIN visits b USING (day) WHERE a.patient_id <> b.patient_id
---
SELECT AVG(t1.stay) AS avg_stay
FROM visits AS t1 JOIN (SELECT patient_id AS patient_id_2, day AS day_2 FROM visits) AS t2 ON t1.day = t2.day_2
WHERE t1.patient_id <> t2.patient_id_2
===
SELECT COUNT(*) FROM (SELECT v.stay AS s, d.dose AS x FROM visits v JOIN drugs d ON v.day = d.day AND MONTH(v.left_on) = MONTH(d.day)) t WHERE s > x
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT person, dose, day AS day_2 FROM drugs) AS t2 ON t1.day = t2.day_2 AND MONTH(t1.left_on) = MONTH(t2.day_2)
WHERE t1.stay > t2.dose
===
SELECT HISTOGRAM(d.dose, 0, 10, 50) FROM visits v JOIN drugs d ON v.day = d.day
---
SELECT HISTOGRAM(t2.dose, 0, 10, 50) AS histogram_dose
FROM visits AS t1 JOIN (SELECT person, dose, day AS day_2 FROM drugs) AS t2 ON t1.day = t2.day_2
===
SELECT COUNT(*) FROM (SELECT patient_id, ward FROM visits WHERE patient_id IN (SELECT person FROM drugs)) v JOIN (SELECT DISTINCT patient_id, ward FROM patients) p ON v.ward = p.ward
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, ward FROM visits WHERE patient_id IN (SELECT person FROM drugs)) AS t1 JOIN (SELECT patient_id, ward AS ward_2 FROM patients GROUP BY patient_id, ward) AS t2 ON t1.ward = t2.ward_2
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id JOIN drugs d ON d.day = v.day
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id JOIN (SELECT person, day AS day_2 FROM drugs) AS t3 ON t1.day = t3.day_2
===
SELECT COUNT(*) FROM visits a, visits b WHERE a.ward = b.ward AND a.day = b.day AND a.patient_id <> b.patient_id
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id AS patient_id_2, ward AS ward_2, day AS day_2 FROM visits) AS t2 ON t1.ward = t2.ward_2 AND t1.day = t2.day_2
WHERE t1.patient_id <> t2.patient_id_2
===
SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward AND a.day = b.day AND a.patient_id <> b.patient_id AND a.age > b.age
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id AS patient_id_2, ward AS ward_2, age AS age_2, day AS day_2 FROM visits) AS t2 ON t1.ward = t2.ward_2 AND t1.day = t2.day_2
WHERE t1.patient_id <> t2.patient_id_2 AND t1.age > t2.age_2
