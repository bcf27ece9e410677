SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id
---
Grouping by the privacy unit would single people out. (line 1, column 50)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT COUNT(*) FROM visits GROUP BY PATIENT_ID
---
Grouping by the privacy unit would single people out. (line 1, column 38)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT COUNT(*) FROM visits GROUP BY "patient_id"
---
Grouping by the privacy unit would single people out. (line 1, column 38)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT patient_id % 10, COUNT(*) FROM visits GROUP BY 1
---
Grouping by the privacy unit would single people out. (line 1, column 55)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT patient_id + 0 AS p, COUNT(*) FROM visits GROUP BY p
---
Grouping by the privacy unit would single people out. (line 1, column 59)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT COUNT(*) FROM visits v GROUP BY v.patient_id, v.ward
---
Grouping by the privacy unit would single people out. (line 1, column 40)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT COUNT(*) FROM visits GROUP BY CASE WHEN patient_id = 4711 THEN 1 ELSE 0 END
---
Grouping by the privacy unit would single people out. (line 1, column 38)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT AVG(patient_id) FROM visits
---
The column of the privacy unit can only be counted. (line 1, column 12)
  fix: write COUNT(DISTINCT patient_id) for people, COUNT(*) for rows, or use it after WHERE
===
SELECT MIN(patient_id), MAX(patient_id) FROM visits
---
The column of the privacy unit can only be counted. (line 1, column 12)
  fix: write COUNT(DISTINCT patient_id) for people, COUNT(*) for rows, or use it after WHERE
===
SELECT COUNT(patient_id) FROM visits
---
The column of the privacy unit can only be counted. (line 1, column 14)
  fix: write COUNT(DISTINCT patient_id) for people, COUNT(*) for rows, or use it after WHERE
===
SELECT COUNT(DISTINCT patient_id + 1) FROM visits
---
The column of the privacy unit can only be counted. (line 1, column 23)
  fix: write COUNT(DISTINCT patient_id) for people, COUNT(*) for rows, or use it after WHERE
===
SELECT COUNT(DISTINCT patient_id) FILTER (WHERE age > 40) FROM visits
---
People cannot be counted with FILTER. (line 1, column 23)
  fix: put the condition after WHERE
===
SELECT SUM(CASE WHEN patient_id = 4711 THEN stay END) FROM visits
---
The column of the privacy unit can only be counted. (line 1, column 12)
  fix: write COUNT(DISTINCT patient_id) for people, COUNT(*) for rows, or use it after WHERE
===
SELECT COUNT(*) FILTER (WHERE patient_id = 4711) FROM visits
---
The column of the privacy unit can only be counted. (line 1, column 14)
  fix: write COUNT(DISTINCT patient_id) for people, COUNT(*) for rows, or use it after WHERE
===
SELECT MEDIAN(patient_id) FROM visits
---
The column of the privacy unit can only be counted. (line 1, column 15)
  fix: write COUNT(DISTINCT patient_id) for people, COUNT(*) for rows, or use it after WHERE
===
SELECT COUNT(*) FROM visits HAVING patient_id = 1
---
'patient_id' is neither aggregated nor grouped by. (line 1, column 36)
  fix: write COUNT(DISTINCT patient_id), or use it after WHERE
===
SELECT COUNT(*) FROM visits ORDER BY patient_id
---
'patient_id' is neither aggregated nor grouped by. (line 1, column 38)
  fix: write COUNT(DISTINCT patient_id), or use it after WHERE
===
SELECT HISTOGRAM(patient_id, 0, 10, 20) FROM visits
---
The column of the privacy unit can only be counted. (line 1, column 18)
  fix: write COUNT(DISTINCT patient_id) for people, COUNT(*) for rows, or use it after WHERE
