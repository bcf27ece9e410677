SELECT COUNT(*) FROM visits
---
SELECT COUNT(*) AS count
FROM visits
===
select count(*) from visits;
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(1) FROM visits
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(stay) FROM visits
---
SELECT COUNT(stay) AS count_stay
FROM visits
===
SELECT COUNT(DISTINCT patient_id) FROM visits
---
SELECT COUNT(DISTINCT patient_id) AS people
FROM visits
===
SELECT COUNT(DISTINCT Patient_ID) AS n FROM VISITS
---
SELECT COUNT(DISTINCT patient_id) AS n
FROM visits
===
SELECT COUNT(DISTINCT ward) FROM visits
---
SELECT COUNT(DISTINCT ward) AS distinct_ward
FROM visits
===
SELECT COUNT(DISTINCT UPPER(ward)) FROM visits
---
SELECT COUNT(DISTINCT UPPER(ward)) AS distinct_upper_ward
FROM visits
===
SELECT COUNT(*) FILTER (WHERE age >= 40) FROM visits
---
SELECT COUNT(CASE WHEN age >= 40 THEN 1 END) AS count
FROM visits
===
SELECT COUNT(stay) FILTER (WHERE smoker) FROM visits
---
SELECT COUNT(CASE WHEN smoker THEN stay END) AS count
FROM visits
===
SELECT COUNT(DISTINCT ward) FILTER (WHERE age < 18) FROM visits
---
SELECT COUNT(DISTINCT CASE WHEN age < 18 THEN ward END) AS "distinct"
FROM visits
===
SELECT COUNT(CASE WHEN smoker THEN 1 END) AS smokers FROM visits
---
SELECT COUNT(CASE WHEN smoker THEN 1 END) AS smokers
FROM visits
===
SELECT COUNT(*) AS n, COUNT(*) AS m FROM visits
---
SELECT COUNT(*) AS n, COUNT(*) AS m
FROM visits
===
SELECT COUNT_IF(age > 40) AS old, COUNT_IF(smoker) FROM visits
---
SELECT COUNT(CASE WHEN age > 40 THEN 1 END) AS old, COUNT(CASE WHEN smoker THEN 1 END) AS count
FROM visits
===
SELECT APPROX_COUNT_DISTINCT(ward), APPROX_COUNT_DISTINCT(patient_id) FROM visits
---
SELECT COUNT(DISTINCT ward) AS distinct_ward, COUNT(DISTINCT patient_id) AS people
FROM visits
