SELECT COUNT(*) FROM visits JOIN patients ON visits.patient_id = patients.patient_id
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
===
SELECT COUNT(*) FROM visits AS a INNER JOIN patients AS b ON b.patient_id = a.patient_id
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
===
SELECT COUNT(*) FROM visits JOIN patients USING (patient_id)
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
===
SELECT city, AVG(stay) FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY city
---
SELECT t2.city, AVG(t1.stay) AS avg_stay
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
GROUP BY t2.city
===
SELECT p.city, COUNT(DISTINCT v.patient_id) AS people FROM visits v JOIN patients p USING (patient_id) WHERE v.age >= 40 AND p.age < 90 GROUP BY p.city
---
SELECT t2.city, COUNT(DISTINCT t1.patient_id) AS people
FROM visits AS t1 JOIN (SELECT patient_id, age AS age_2, city FROM patients) AS t2 ON t1.patient_id = t2.patient_id
WHERE t1.age >= 40 AND t2.age_2 < 90
GROUP BY t2.city
===
SELECT COUNT(DISTINCT p.patient_id) FROM visits v JOIN patients p ON v.patient_id = p.patient_id
---
SELECT COUNT(DISTINCT t1.patient_id) AS people
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
===
SELECT COUNT(DISTINCT patient_id) FROM visits JOIN patients USING (patient_id)
---
SELECT COUNT(DISTINCT t1.patient_id) AS people
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
===
SELECT AVG(p.age) - AVG(v.age) FROM visits v JOIN patients p ON (v.patient_id = p.patient_id)
---
SELECT AVG(t2.age_2) - AVG(t1.age) AS value
FROM visits AS t1 JOIN (SELECT patient_id, age AS age_2 FROM patients) AS t2 ON t1.patient_id = t2.patient_id
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id AND v.ward = p.ward
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id, ward AS ward_2 FROM patients) AS t2 ON t1.patient_id = t2.patient_id AND t1.ward = t2.ward_2
===
SELECT COUNT(*) FROM visits JOIN patients USING (patient_id, ward)
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id, ward AS ward_2 FROM patients) AS t2 ON t1.patient_id = t2.patient_id AND t1.ward = t2.ward_2
===
SELECT COUNT(*) FROM visits LEFT JOIN drugs ON visits.patient_id = drugs.person
---
SELECT COUNT(*) AS count
FROM visits AS t1 LEFT JOIN drugs AS t2 ON t1.patient_id = t2.person
===
SELECT COUNT(name), COUNT(*) FROM visits LEFT OUTER JOIN drugs ON patient_id = person
---
SELECT COUNT(t2.name) AS count_name, COUNT(*) AS count
FROM visits AS t1 LEFT JOIN drugs AS t2 ON t1.patient_id = t2.person
===
SELECT COUNT(DISTINCT d.person) FROM visits v LEFT JOIN drugs d ON v.patient_id = d.person
---
SELECT COUNT(DISTINCT t2.person) AS distinct_person
FROM visits AS t1 LEFT JOIN drugs AS t2 ON t1.patient_id = t2.person
===
SELECT COUNT(*) FROM visits v LEFT JOIN drugs d ON v.patient_id = d.person AND v.day = d.day WHERE d.name IS NULL
---
SELECT COUNT(*) AS count
FROM visits AS t1 LEFT JOIN (SELECT person, name, day AS day_2 FROM drugs) AS t2 ON t1.patient_id = t2.person AND t1.day = t2.day_2
WHERE t2.name IS NULL
===
SELECT SUM(dose) FROM visits v JOIN patients p ON v.patient_id = p.patient_id JOIN drugs d ON d.person = v.patient_id WHERE city = 'Bonn'
---
SELECT SUM(t3.dose) AS sum_dose
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id JOIN drugs AS t3 ON t1.patient_id = t3.person
WHERE t2.city = 'Bonn'
===
SELECT SUM(dose) FROM visits v JOIN patients p ON v.patient_id = p.patient_id LEFT JOIN drugs d ON d.person = p.patient_id
---
SELECT SUM(t3.dose) AS sum_dose
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id LEFT JOIN drugs AS t3 ON t1.patient_id = t3.person
===
SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.day = b.left_on
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN visits AS t2 ON t1.patient_id = t2.patient_id AND t1.day = t2.left_on
===
SELECT a.ward, b.ward AS later, COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id WHERE a.day < b.day GROUP BY a.ward, b.ward
---
SELECT t1.ward, t2.ward_2 AS later, COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id, ward AS ward_2, day AS day_2 FROM visits) AS t2 ON t1.patient_id = t2.patient_id
WHERE t1.day < t2.day_2
GROUP BY t1.ward, t2.ward_2
===
SELECT COUNT(*) FROM visits JOIN wards ON visits.ward = wards.code
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN wards AS t2 ON t1.ward = t2.code
===
SELECT kind, COUNT(*) FROM visits JOIN wards ON ward = code GROUP BY kind
---
SELECT t2.kind, COUNT(*) AS count
FROM visits AS t1 JOIN wards AS t2 ON t1.ward = t2.code
GROUP BY t2.kind
===
SELECT floor, AVG(stay) FROM visits LEFT JOIN wards ON ward = code GROUP BY floor
---
SELECT t2.floor, AVG(t1.stay) AS avg_stay
FROM visits AS t1 LEFT JOIN wards AS t2 ON t1.ward = t2.code
GROUP BY t2.floor
===
SELECT w.kind, SUM(CLAMP(v.cost * w.rate, 0, 900)) FROM visits v JOIN wards w ON v.ward = w.code GROUP BY w.kind
---
SELECT t2.kind, SUM(CLAMP(t1.cost * t2.rate, 0, 900)) AS sum
FROM visits AS t1 JOIN wards AS t2 ON t1.ward = t2.code
GROUP BY t2.kind
===
SELECT COUNT(*) FROM wards w JOIN visits v ON v.ward = w.code
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN wards AS t2 ON t1.ward = t2.code
===
SELECT COUNT(*) FROM visits v JOIN wards w ON UPPER(v.ward) = w.code
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN wards AS t2 ON UPPER(t1.ward) = t2.code
===
SELECT COUNT(*) FROM visits v JOIN wards a ON v.ward = a.code JOIN wards b ON b.floor = a.floor
---
SELECT COUNT(*) AS count
FROM (SELECT t1.patient_id AS patient_id, t1.ward AS ward, t2.code AS code, t2.floor AS floor_2 FROM visits AS t1 JOIN wards AS t2 ON t1.ward = t2.code) AS t3 JOIN wards AS t4 ON t3.floor_2 = t4.floor
===
SELECT COUNT(*) FROM visits v JOIN patients p USING (patient_id) JOIN wards w ON w.code = p.ward AND w.floor = v."index" % 3
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id JOIN wards AS t3 ON t2.ward = t3.code AND t1."index" % 3 = t3.floor
===
SELECT COUNT(*) FROM visits v JOIN patients p USING (patient_id) LEFT JOIN wards w ON w.code = p.ward WHERE w.code IS NULL
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id LEFT JOIN wards AS t3 ON t2.ward = t3.code
WHERE t3.code IS NULL
===
SELECT COUNT(*) FROM VISITS V JOIN Patients P ON V.PATIENT_ID = P.Patient_Id
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id WHERE v.patient_id = 3 OR p.patient_id IN (1, 2)
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id AS patient_id_2 FROM patients) AS t2 ON t1.patient_id = t2.patient_id_2
WHERE t1.patient_id = 3 OR t2.patient_id_2 IN (1, 2)
===
SELECT patients.ward, COUNT(*) AS n FROM visits JOIN patients USING (patient_id) GROUP BY patients.ward HAVING n > 3 ORDER BY patients.ward
---
SELECT t2.ward, COUNT(*) AS n
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
GROUP BY t2.ward
HAVING COUNT(*) > 3
ORDER BY ward
===
SELECT MEDIAN(v.age), COUNT(*) FROM visits v JOIN patients p USING (patient_id) WHERE p.income > 10
---
SELECT MEDIAN(t1.age) AS median_age, COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
WHERE t2.income > 10
===
SELECT p.ward, COUNT(*) FROM visits v JOIN patients p USING (patient_id) GROUP BY 1 ORDER BY 2 DESC, p.ward
---
SELECT t2.ward, COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
GROUP BY t2.ward
ORDER BY count DESC, ward
===
SELECT MONTH(p.born), COUNT(*) FROM drugs d JOIN patients p ON d.person = p.patient_id GROUP BY MONTH(p.born)
---
SELECT MONTH(t2.born) AS month_born, COUNT(*) AS count
FROM drugs AS t1 JOIN patients AS t2 ON t1.person = t2.patient_id
GROUP BY MONTH(t2.born)
===
SELECT COUNT(*) FROM visits RIGHT JOIN patients USING (patient_id)
---
SELECT COUNT(*) AS count
FROM patients AS t1 LEFT JOIN visits AS t2 ON t1.patient_id = t2.patient_id
===
SELECT COUNT(*) FROM visits, patients WHERE visits.patient_id = patients.patient_id
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id AND p.age > 40
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
WHERE t2.age > 40
===
SELECT p.city, COUNT(*) FROM visits v, patients p WHERE v.patient_id = p.patient_id AND p.age > 40 AND (v.smoker OR v.age > 30) GROUP BY p.city
---
SELECT t2.city, COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id, age AS age_2, city FROM patients) AS t2 ON t1.patient_id = t2.patient_id
WHERE t2.age_2 > 40 AND (t1.smoker OR t1.age > 30)
GROUP BY t2.city
===
SELECT COUNT(*) FROM visits v CROSS JOIN patients p WHERE v.age > 40 AND p.patient_id = v.patient_id AND v.ward = p.ward
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id, ward AS ward_2 FROM patients) AS t2 ON t1.patient_id = t2.patient_id AND t1.ward = t2.ward_2
WHERE t1.age > 40
===
SELECT COUNT(*) FROM visits v, wards w, patients p WHERE v.patient_id = p.patient_id AND p.ward = w.code AND w.floor > 1
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id JOIN wards AS t3 ON t2.ward = t3.code
WHERE t3.floor > 1
===
SELECT COUNT(*) FROM wards, visits WHERE code = ward AND stay > rate
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN wards AS t2 ON t1.ward = t2.code
WHERE t1.stay > t2.rate
===
SELECT COUNT(*) FROM visits v, drugs d WHERE v.patient_id = d.person AND v.stay = d.dose
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN drugs AS t2 ON t1.patient_id = t2.person
WHERE t1.stay = t2.dose
===
SELECT COUNT(*) FROM visits v, patients p JOIN drugs d ON d.person = p.patient_id AND d.dose > 20 WHERE v.patient_id = p.patient_id
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id JOIN drugs AS t3 ON t1.patient_id = t3.person
WHERE t3.dose > 20
===
SELECT COUNT(*) FROM (SELECT v.patient_id, d.name FROM visits v, drugs d WHERE v.patient_id = d.person AND v.day = d.day) t WHERE name <> 'z'
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT person, name, day AS day_2 FROM drugs) AS t2 ON t1.patient_id = t2.person AND t1.day = t2.day_2
WHERE t2.name <> 'z'
===
SELECT COUNT(*) FROM visits v JOIN drugs d ON v.patient_id = d.person AND d.day BETWEEN v.day AND v.left_on AND v.age > 30
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT person, day AS day_2 FROM drugs) AS t2 ON t1.patient_id = t2.person
WHERE t2.day_2 >= t1.day AND t2.day_2 <= t1.left_on AND t1.age > 30
===
SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward = w.code AND (w.floor > 2 OR v.stay > w.rate)
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN wards AS t2 ON t1.ward = t2.code
WHERE t2.floor > 2 OR t1.stay > t2.rate
===
SELECT COUNT(d.dose) FROM visits v LEFT JOIN drugs d ON v.patient_id = d.person AND d.name = 'x' AND d.dose > 10
---
SELECT COUNT(t2.dose) AS count_dose
FROM visits AS t1 LEFT JOIN (SELECT person, dose FROM drugs WHERE name = 'x' AND dose > 10) AS t2 ON t1.patient_id = t2.person
===
SELECT COUNT(*) FROM visits v LEFT JOIN drugs d ON v.patient_id = d.person AND d.name = 'x' WHERE d.person IS NULL
---
SELECT COUNT(*) AS count
FROM visits AS t1 LEFT JOIN (SELECT person FROM drugs WHERE name = 'x') AS t2 ON t1.patient_id = t2.person
WHERE t2.person IS NULL
===
SELECT COUNT(d.dose), COUNT(*) FROM visits v LEFT JOIN drugs d ON v.patient_id = d.person AND v.age > 40 AND d.day = v.day
---
SELECT COUNT(t2.dose) AS count_dose, COUNT(*) AS count
FROM visits AS t1 LEFT JOIN (SELECT person, dose, day AS day_2 FROM drugs) AS t2 ON t1.patient_id = t2.person AND t1.day = t2.day_2 AND t1.age > 40
===
SELECT COUNT(w.floor), COUNT(*) FROM visits v LEFT JOIN wards w ON v.ward = w.code AND w.kind = 'other' AND (v.smoker OR v.age > 50)
---
SELECT COUNT(t2.floor) AS count_floor, COUNT(*) AS count
FROM visits AS t1 LEFT JOIN wards AS t2 ON t1.ward = t2.code AND (t1.smoker OR t1.age > 50) AND t2.kind = 'other'
===
SELECT COUNT(*), COUNT(floor) FROM wards w RIGHT OUTER JOIN visits v ON w.code = v.ward AND w.floor > 1
---
SELECT COUNT(*) AS count, COUNT(t2.floor) AS count_floor
FROM visits AS t1 LEFT JOIN wards AS t2 ON t1.ward = t2.code AND t2.floor > 1
===
SELECT COUNT(dose) FROM (SELECT * FROM drugs d RIGHT JOIN visits v ON v.patient_id = d.person AND d.name <> 'y') t WHERE age > 30
---
SELECT COUNT(t2.dose) AS count_dose
FROM visits AS t1 LEFT JOIN (SELECT person, dose FROM drugs WHERE name <> 'y') AS t2 ON t1.patient_id = t2.person
WHERE t1.age > 30
===
SELECT COUNT(*) FROM visits v, drugs d, patients p WHERE v.day = d.day AND d.person = p.patient_id AND v.patient_id = p.patient_id
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id JOIN (SELECT person, day AS day_2 FROM drugs) AS t3 ON t1.patient_id = t3.person AND t1.day = t3.day_2
===
SELECT COUNT(*) FROM visits NATURAL JOIN patients
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN (SELECT patient_id, age AS age_2, ward AS ward_2 FROM patients) AS t2 ON t1.patient_id = t2.patient_id AND t1.ward = t2.ward_2 AND t1.age = t2.age_2
===
SELECT COUNT(*), AVG(age) FROM visits NATURAL LEFT JOIN patients
---
SELECT COUNT(*) AS count, AVG(t1.age) AS avg_age
FROM visits AS t1 LEFT JOIN (SELECT patient_id, age AS age_2, ward AS ward_2 FROM patients) AS t2 ON t1.patient_id = t2.patient_id AND t1.ward = t2.ward_2 AND t1.age = t2.age_2
===
SELECT kind, COUNT(*) FROM visits CROSS JOIN wards GROUP BY kind
---
SELECT t2.kind, COUNT(*) AS count
FROM visits AS t1 CROSS JOIN wards AS t2
GROUP BY t2.kind
===
SELECT COUNT(*) FROM wards CROSS JOIN visits WHERE floor < age
---
SELECT COUNT(*) AS count
FROM visits AS t1 CROSS JOIN wards AS t2
WHERE t2.floor < t1.age
===
SELECT COUNT(*) FROM visits v CROSS JOIN wards w JOIN patients p ON p.patient_id = v.patient_id
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id CROSS JOIN wards AS t3
===
SELECT w.k, COUNT(*) FROM visits v JOIN (SELECT code AS c, kind AS k FROM wards WHERE floor > 1) w ON v.ward = w.c GROUP BY w.k
---
SELECT t2.kind, COUNT(*) AS count
FROM visits AS t1 JOIN wards AS t2 ON t1.ward = t2.code
WHERE t2.floor > 1
GROUP BY t2.kind
===
WITH w AS (SELECT * FROM wards WHERE floor > 1 AND rate < 9) SELECT kind, COUNT(*) FROM visits LEFT JOIN w ON ward = code GROUP BY kind
---
SELECT t2.kind, COUNT(*) AS count
FROM visits AS t1 LEFT JOIN wards AS t2 ON t1.ward = t2.code AND t2.floor > 1 AND t2.rate < 9
GROUP BY t2.kind
===
WITH w AS (SELECT code, kind FROM wards), u AS (SELECT code AS x FROM w WHERE kind = 'other') SELECT COUNT(*) FROM visits JOIN u ON ward = x JOIN w ON w.code = u.x
---
SELECT COUNT(*) AS count
FROM (SELECT t1.patient_id AS patient_id, t2.code AS code_2 FROM visits AS t1 JOIN wards AS t2 ON t1.ward = t2.code WHERE t2.kind = 'other') AS t3 JOIN wards AS t4 ON t3.code_2 = t4.code
===
SELECT COUNT(*) FROM visits v CROSS JOIN (SELECT kind FROM wards WHERE floor < 3) w
---
SELECT COUNT(*) AS count
FROM visits AS t1 CROSS JOIN wards AS t2
WHERE t2.floor < 3
