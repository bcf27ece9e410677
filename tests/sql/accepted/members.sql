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
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT code FROM wards WHERE floor = 1)
---
SELECT COUNT(*) AS count
FROM visits
WHERE EXISTS (SELECT 1 FROM wards AS t1 WHERE visits.ward = t1.code AND t1.floor = 1)
===
SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = visits.patient_id AND d.name = 'x')
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id IN (SELECT person FROM drugs WHERE name = 'x')
===
SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT * FROM drugs WHERE person = patient_id AND dose > 30) AND v.age > 30
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id NOT IN (SELECT person FROM drugs WHERE dose > 30) AND age > 30
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT d.dose FROM drugs d WHERE d.person = v.patient_id AND d.day = v.day AND dose > 20)
---
SELECT COUNT(*) AS count
FROM visits
WHERE EXISTS (SELECT 1 FROM (SELECT person, day FROM drugs WHERE dose > 20) AS t1 WHERE visits.patient_id = t1.person AND visits.day = t1.day)
===
SELECT COUNT(*) FROM visits v WHERE age > 20 AND NOT EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id AND v.day = d.day)
---
SELECT COUNT(*) AS count
FROM visits
WHERE NOT EXISTS (SELECT 1 FROM drugs AS t1 WHERE visits.patient_id = t1.person AND visits.day = t1.day) AND age > 20
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id AND w.ward = v.ward AND w.smoker)
---
SELECT COUNT(*) AS count
FROM visits
WHERE EXISTS (SELECT 1 FROM (SELECT patient_id, ward FROM visits WHERE smoker) AS t1 WHERE visits.patient_id = t1.patient_id AND visits.ward = t1.ward)
===
SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM wards w WHERE w.code = v.ward)
---
SELECT COUNT(*) AS count
FROM visits
WHERE NOT EXISTS (SELECT 1 FROM wards AS t1 WHERE visits.ward = t1.code)
===
SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM wards WHERE code = ward)
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward IN (SELECT code FROM wards)
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM wards w WHERE w.code = v.ward AND w.floor = v."index" % 3 AND kind = 'other')
---
SELECT COUNT(*) AS count
FROM visits
WHERE EXISTS (SELECT 1 FROM wards AS t1 WHERE visits.ward = t1.code AND visits."index" % 3 = t1.floor AND t1.kind = 'other')
===
SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM wards w WHERE w.code = v.ward AND v.smoker)
---
SELECT COUNT(*) AS count
FROM visits
WHERE NOT EXISTS (SELECT 1 FROM wards AS t1 WHERE visits.ward = t1.code AND visits.smoker)
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d, patients p WHERE d.person = v.patient_id AND p.patient_id = d.person AND p.ward = v.ward)
---
SELECT COUNT(*) AS count
FROM visits
WHERE EXISTS (SELECT 1 FROM (SELECT t1.person AS person, t2.ward AS ward FROM drugs AS t1 JOIN patients AS t2 ON t1.person = t2.patient_id) AS t3 WHERE visits.patient_id = t3.person AND visits.ward = t3.ward)
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = p.patient_id AND d.day = v.day) AND p.age > 30
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
WHERE EXISTS (SELECT 1 FROM drugs AS t3 WHERE t1.patient_id = t3.person AND t1.day = t3.day) AND t2.age > 30
===
SELECT AVG(CLAMP(n, 0, 9)) FROM (SELECT patient_id, COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id AND d.day = v.day) GROUP BY patient_id) t
---
SELECT AVG(CLAMP(count, 0, 9)) AS avg_n
FROM (SELECT patient_id, COUNT(*) AS count FROM visits WHERE EXISTS (SELECT 1 FROM drugs AS t1 WHERE visits.patient_id = t1.person AND visits.day = t1.day) GROUP BY patient_id) AS t2
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id AND NOT EXISTS (SELECT 1 FROM patients p WHERE p.patient_id = d.person AND p.age > 60))
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id IN (SELECT person FROM drugs WHERE person NOT IN (SELECT patient_id FROM patients WHERE age > 60))
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM (SELECT person, COUNT(*) AS n FROM drugs GROUP BY person) d WHERE d.person = v.patient_id AND n = v."index")
---
SELECT COUNT(*) AS count
FROM visits
WHERE EXISTS (SELECT 1 FROM (SELECT person, COUNT(*) AS count FROM drugs GROUP BY person) AS t1 WHERE visits.patient_id = t1.person AND visits."index" = t1.count)
===
WITH d AS (SELECT * FROM drugs WHERE dose > 10) SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM d WHERE d.person = v.patient_id)
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id NOT IN (SELECT person FROM drugs WHERE dose > 10)
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT code FROM wards WHERE floor > 2 AND kind = 'other') AND age > 20
---
SELECT COUNT(*) AS count
FROM visits
WHERE EXISTS (SELECT 1 FROM wards AS t1 WHERE visits.ward = t1.code AND t1.floor > 2 AND t1.kind = 'other') AND age > 20
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT DISTINCT code FROM wards)
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward IN (SELECT code FROM wards)
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits v2 WHERE v2.patient_id = v.patient_id AND v2.day > v.day)
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id, MAX(day) AS max_day FROM visits GROUP BY patient_id) AS t2 ON t1.patient_id = t2.patient_id
WHERE t1.day < t2.max_day
===
SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits v2 WHERE v2.patient_id = v.patient_id AND v2.day > v.day)
---
SELECT COUNT(*) AS count
FROM visits AS t1 LEFT JOIN (SELECT patient_id, MAX(day) AS max_day FROM visits GROUP BY patient_id) AS t2 ON t1.patient_id = t2.patient_id
WHERE NOT COALESCE(t1.day < t2.max_day, FALSE)
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id AND v.day >= d.day AND d.dose > 5)
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT person, MIN(day) AS min_day FROM drugs WHERE dose > 5 GROUP BY person) AS t2 ON t1.patient_id = t2.person
WHERE t1.day >= t2.min_day
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id AND w.ward = v.ward AND w.day <> v.day)
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id, ward AS ward_2, MIN(day) AS min_day, MAX(day) AS max_day FROM visits GROUP BY patient_id, ward) AS t2 ON t1.patient_id = t2.patient_id AND t1.ward = t2.ward_2
WHERE t1.day <> t2.min_day OR t1.day <> t2.max_day
===
SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id AND w.ward = v.ward AND w.day <> v.day AND v.age < 60)
---
SELECT COUNT(*) AS count
FROM visits AS t1 LEFT JOIN (SELECT patient_id, ward AS ward_2, MIN(day) AS min_day, MAX(day) AS max_day FROM visits GROUP BY patient_id, ward) AS t2 ON t1.patient_id = t2.patient_id AND t1.ward = t2.ward_2 AND t1.age < 60
WHERE NOT COALESCE(t1.day <> t2.min_day OR t1.day <> t2.max_day, FALSE)
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.patient_id = v.patient_id AND v.stay < p.age)
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id, MAX(age) AS max_age FROM patients GROUP BY patient_id) AS t2 ON t1.patient_id = t2.patient_id
WHERE t1.stay < t2.max_age
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.patient_id = v.patient_id AND p.ward > v.ward)
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id, MAX(ward) AS max_ward FROM patients GROUP BY patient_id) AS t2 ON t1.patient_id = t2.patient_id
WHERE t1.ward < t2.max_ward
===
WITH w AS (SELECT code AS c, floor FROM wards WHERE kind = 'other') SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM w WHERE c = ward AND floor > 2)
---
SELECT COUNT(*) AS count
FROM visits
WHERE EXISTS (SELECT 1 FROM wards AS t1 WHERE visits.ward = t1.code AND t1.kind = 'other' AND t1.floor > 2)
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT c FROM (SELECT code AS c, floor FROM wards WHERE kind = 'other') w WHERE floor < 3)
---
SELECT COUNT(*) AS count
FROM visits
WHERE EXISTS (SELECT 1 FROM wards AS t1 WHERE visits.ward = t1.code AND t1.kind = 'other' AND t1.floor < 3)
===
WITH w AS (SELECT code FROM wards) SELECT COUNT(*) FROM visits WHERE ward IN (SELECT code FROM w)
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward IN (SELECT code FROM wards)
