SELECT COUNT(*) FROM (SELECT * FROM visits)
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) FROM (SELECT * FROM visits WHERE age > 40) AS v WHERE ward = 'A'
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 40 AND ward = 'A'
===
SELECT AVG(s) FROM (SELECT stay AS s, ward FROM visits WHERE age > 40) v GROUP BY ward
---
SELECT AVG(stay) AS avg_s
FROM visits
WHERE age > 40
GROUP BY ward
===
SELECT AVG(double) FROM (SELECT stay * 2 AS double FROM visits) v
---
SELECT AVG(value) AS avg_double
FROM (SELECT patient_id, stay * 2 AS value FROM visits) AS t1
===
SELECT AVG(CLAMP(total, 0, 100)) FROM (SELECT patient_id, SUM(stay) AS total FROM visits GROUP BY patient_id) AS t
---
SELECT AVG(CLAMP(sum_stay, 0, 100)) AS avg_total
FROM (SELECT patient_id, SUM(stay) AS sum_stay FROM visits GROUP BY patient_id) AS t1
===
SELECT n, COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t GROUP BY n
---
SELECT count AS n, COUNT(*) AS count
FROM (SELECT patient_id, COUNT(*) AS count FROM visits GROUP BY patient_id) AS t1
GROUP BY count
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 3) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, COUNT(*) AS count FROM visits GROUP BY patient_id) AS t1
WHERE count >= 3
===
SELECT AVG(oldest) FROM (SELECT patient_id, MAX(age) AS oldest FROM visits GROUP BY patient_id) t
---
SELECT AVG(max_age) AS avg_oldest
FROM (SELECT patient_id, MAX(age) AS max_age FROM visits GROUP BY patient_id) AS t1
===
SELECT AVG(mean) FROM (SELECT patient_id, AVG(stay) AS mean FROM visits GROUP BY patient_id HAVING MIN(age) > 18) t WHERE mean > 2
---
SELECT AVG(avg_stay) AS avg_mean
FROM (SELECT patient_id, AVG(stay) AS avg_stay, MIN(age) AS min_age FROM visits GROUP BY patient_id) AS t1
WHERE min_age > 18 AND avg_stay > 2
===
SELECT AVG(CLAMP(w, 0, 5)) FROM (SELECT patient_id, COUNT(DISTINCT ward) AS w FROM visits GROUP BY patient_id) t
---
SELECT AVG(CLAMP(distinct_ward, 0, 5)) AS avg_w
FROM (SELECT patient_id, COUNT(DISTINCT ward) AS distinct_ward FROM visits GROUP BY patient_id) AS t1
===
SELECT ward, AVG(CLAMP(n, 0, 9)) FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits GROUP BY patient_id, ward) t GROUP BY ward
---
SELECT ward, AVG(CLAMP(count, 0, 9)) AS avg_n
FROM (SELECT patient_id, ward, COUNT(*) AS count FROM visits GROUP BY patient_id, ward) AS t1
GROUP BY ward
===
SELECT m, COUNT(*) FROM (SELECT patient_id, MONTH(day) AS m, SUM(age) AS s FROM visits GROUP BY patient_id, m) t WHERE s > 50 GROUP BY m
---
SELECT month_day AS m, COUNT(*) AS count
FROM (SELECT patient_id, MONTH(day) AS month_day, SUM(age) AS sum_age FROM visits GROUP BY patient_id, MONTH(day)) AS t1
WHERE sum_age > 50
GROUP BY month_day
===
SELECT COUNT(*) FROM (SELECT patient_id AS who, SUM(age) / COUNT(*) AS ratio FROM visits GROUP BY 1) t WHERE ratio > 40
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, sum_age / count AS value FROM (SELECT patient_id, SUM(age) AS sum_age, COUNT(*) AS count FROM visits GROUP BY patient_id) AS t1) AS t2
WHERE value > 40
===
SELECT COUNT(DISTINCT who) FROM (SELECT patient_id AS who, ward FROM visits WHERE smoker) t
---
SELECT COUNT(DISTINCT patient_id) AS people
FROM visits
WHERE smoker
===
SELECT COUNT(DISTINCT who) FROM (SELECT patient_id AS who, ward, COUNT(*) AS n FROM visits GROUP BY patient_id, ward) t WHERE n > 1
---
SELECT COUNT(DISTINCT patient_id) AS people
FROM (SELECT patient_id, ward, COUNT(*) AS count FROM visits GROUP BY patient_id, ward) AS t1
WHERE count > 1
===
SELECT COUNT(*) FROM (SELECT patient_id AS who, COUNT(*) AS n FROM visits GROUP BY patient_id) t WHERE who IN (1, 2) AND n > 1
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, COUNT(*) AS count FROM visits GROUP BY patient_id) AS t1
WHERE patient_id IN (1, 2) AND count > 1
===
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, ward FROM visits) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, ward FROM visits GROUP BY patient_id, ward) AS t1
===
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id FROM visits WHERE age > 30) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id FROM visits WHERE age > 30 GROUP BY patient_id) AS t1
===
SELECT wd, COUNT(*) FROM (SELECT DISTINCT LOWER(ward) AS wd, patient_id, smoker FROM visits) t GROUP BY wd
---
SELECT lower_ward AS wd, COUNT(*) AS count
FROM (SELECT patient_id, LOWER(ward) AS lower_ward, smoker FROM visits GROUP BY patient_id, LOWER(ward), smoker) AS t1
GROUP BY lower_ward
===
WITH t AS (SELECT * FROM visits) SELECT COUNT(*) FROM t
---
SELECT COUNT(*) AS count
FROM visits
===
WITH old AS (SELECT patient_id, ward FROM visits WHERE age >= 60) SELECT ward, COUNT(DISTINCT patient_id) FROM old GROUP BY ward
---
SELECT ward, COUNT(DISTINCT patient_id) AS people
FROM visits
WHERE age >= 60
GROUP BY ward
===
WITH a AS (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id), b AS (SELECT * FROM a WHERE n > 2) SELECT COUNT(*) FROM b
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, COUNT(*) AS count FROM visits GROUP BY patient_id) AS t1
WHERE count > 2
===
WITH a AS (SELECT patient_id, stay FROM visits) SELECT COUNT(*) FROM a x JOIN a y ON x.patient_id = y.patient_id
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN visits AS t2 ON t1.patient_id = t2.patient_id
===
WITH a AS (SELECT person, SUM(dose) AS dose FROM drugs GROUP BY person) SELECT city, SUM(CLAMP(dose, 0, 200)) FROM patients p LEFT JOIN a ON a.person = p.patient_id GROUP BY city
---
SELECT t1.city, SUM(CLAMP(t2.sum_dose, 0, 200)) AS sum_dose
FROM patients AS t1 LEFT JOIN (SELECT person, SUM(dose) AS sum_dose FROM drugs GROUP BY person) AS t2 ON t1.patient_id = t2.person
GROUP BY t1.city
===
SELECT city, AVG(CLAMP(t.n, 0, 20)) FROM patients p JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t USING (patient_id) GROUP BY city
---
SELECT t1.city, AVG(CLAMP(t2.count, 0, 20)) AS avg_n
FROM patients AS t1 JOIN (SELECT patient_id, COUNT(*) AS count FROM visits GROUP BY patient_id) AS t2 ON t1.patient_id = t2.patient_id
GROUP BY t1.city
===
SELECT COUNT(*) FROM (SELECT n FROM (SELECT patient_id, COUNT(*) AS n FROM (SELECT * FROM visits WHERE smoker) a GROUP BY patient_id) b WHERE n > 1) c
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, COUNT(*) AS count FROM visits WHERE smoker GROUP BY patient_id) AS t1
WHERE count > 1
===
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) FILTER (WHERE age > 40) AS n FROM visits GROUP BY patient_id) t WHERE n > 2
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, COUNT(CASE WHEN age > 40 THEN 1 END) AS count FROM visits GROUP BY patient_id) AS t1
WHERE count > 2
===
SELECT COUNT(*) FROM (SELECT patient_id, SUM(CASE WHEN ward = 'A' THEN stay ELSE 0 END) AS s FROM visits GROUP BY patient_id) t WHERE s > 5
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, SUM(CASE WHEN ward = 'A' THEN stay ELSE 0 END) AS sum FROM visits GROUP BY patient_id) AS t1
WHERE sum > 5
===
SELECT COUNT(*) FROM (SELECT v.*, p.city FROM visits v JOIN patients p USING (patient_id)) t WHERE city = 'Bonn'
---
SELECT COUNT(*) AS count
FROM visits AS t1 JOIN patients AS t2 ON t1.patient_id = t2.patient_id
WHERE t2.city = 'Bonn'
===
SELECT kind, AVG(CLAMP(n, 0, 5)) FROM (SELECT patient_id, kind, COUNT(*) AS n FROM visits JOIN wards ON ward = code GROUP BY patient_id, kind) t GROUP BY kind
---
SELECT kind, AVG(CLAMP(count, 0, 5)) AS avg_n
FROM (SELECT t1.patient_id AS patient_id, t2.kind AS kind, COUNT(*) AS count FROM visits AS t1 JOIN wards AS t2 ON t1.ward = t2.code GROUP BY t1.patient_id, t2.kind) AS t3
GROUP BY kind
===
SELECT month, COUNT(*) FROM (SELECT patient_id, DATE_TRUNC('month', day) AS month FROM visits GROUP BY patient_id, DATE_TRUNC('month', day)) t GROUP BY month
---
SELECT month_day AS month, COUNT(*) AS count
FROM (SELECT patient_id, DATE_TRUNC('month', day) AS month_day FROM visits GROUP BY patient_id, DATE_TRUNC('month', day)) AS t1
GROUP BY month_day
===
SELECT AVG(CLAMP(days, 0, 99)) FROM (SELECT patient_id, DATE_DIFF('day', MIN(day), MAX(day)) AS days FROM visits GROUP BY patient_id) t
---
SELECT AVG(CLAMP(value, 0, 99)) AS avg_days
FROM (SELECT patient_id, DATE_DIFF('day', min_day, max_day) AS value FROM (SELECT patient_id, MIN(day) AS min_day, MAX(day) AS max_day FROM visits GROUP BY patient_id) AS t1) AS t2
===
SELECT COUNT(*) FROM (SELECT patient_id, AVG(cost) AS c FROM (SELECT patient_id, CLAMP(cost, 0, 90) AS cost FROM visits) v GROUP BY patient_id) t WHERE c > 30
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, AVG(cost) AS avg_cost FROM (SELECT patient_id, CLAMP(cost, 0, 90) AS cost FROM visits) AS t1 GROUP BY patient_id) AS t2
WHERE avg_cost > 30
===
SELECT COUNT(*) FROM (WITH a AS (SELECT patient_id FROM visits) SELECT * FROM a) t
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) FROM ((SELECT ward FROM visits)) t WHERE ward = 'A'
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward = 'A'
===
SELECT SUM(n) FROM (SELECT patient_id, CLAMP(COUNT(*), 0, 10) AS n FROM visits GROUP BY patient_id) t
---
SELECT SUM(count) AS sum_n
FROM (SELECT patient_id, CLAMP(count, 0, 10) AS count FROM (SELECT patient_id, COUNT(*) AS count FROM visits GROUP BY patient_id) AS t1) AS t2
===
SELECT "N 1", COUNT(*) FROM (SELECT "index" AS "N 1" FROM visits) "T 1" GROUP BY "T 1"."N 1"
---
SELECT "index" AS "N 1", COUNT(*) AS count
FROM visits
GROUP BY "index"
===
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id HAVING n > 2 AND AVG(age) < 80) t
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, COUNT(*) AS count, AVG(age) AS avg_age FROM visits GROUP BY patient_id) AS t1
WHERE count > 2 AND avg_age < 80
===
SELECT COUNT(*) FROM (SELECT 1 AS one FROM visits) t
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT first_ward, COUNT(*) FROM (SELECT patient_id, MIN(ward) AS first_ward FROM visits GROUP BY patient_id) t GROUP BY first_ward
---
SELECT min_ward AS first_ward, COUNT(*) AS count
FROM (SELECT patient_id, MIN(ward) AS min_ward FROM visits GROUP BY patient_id) AS t1
GROUP BY min_ward
===
SELECT COUNT(*) FROM (SELECT patient_id, MAX("Blood Group") FILTER (WHERE age > 40) AS b FROM visits GROUP BY patient_id) t WHERE b = 'A'
---
SELECT COUNT(*) AS count
FROM (SELECT patient_id, MAX(CASE WHEN age > 40 THEN "Blood Group" END) AS max FROM visits GROUP BY patient_id) AS t1
WHERE max = 'A'
===
SELECT c, COUNT(*) FROM (SELECT patient_id, ANY_VALUE(city) AS c, ANY_VALUE(born) AS b FROM patients GROUP BY patient_id) t WHERE b > '1960-01-01' GROUP BY c
---
SELECT min_city AS c, COUNT(*) AS count
FROM (SELECT patient_id, MIN(city) AS min_city, MIN(born) AS min_born FROM patients GROUP BY patient_id) AS t1
WHERE min_born > DATE '1960-01-01'
GROUP BY min_city
