SELECT COUNT(DISTINCT patient_id) FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t
---
There is no column 'patient_id' in t. (line 1, column 23)
  fix: use one of: ward, n, stay
===
SELECT ward, MAX(n) FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t
---
'ward' is neither aggregated nor grouped by. (line 1, column 8)
  fix: write GROUP BY ward, or MAX(ward) or the like
===
SELECT nn FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t
---
There is no column 'nn' in t. (line 1, column 8)
  fix: did you mean 'n'?
===
SELECT n FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t WHERE n
---
WHERE needs a condition. (line 1, column 97)
  fix: write a comparison: n >= 10
===
SELECT n FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t WHERE MAX(n) > 3
---
WHERE cannot sum up. (line 1, column 97)
  fix: write the condition after HAVING
===
SELECT SUM(ward) FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t
---
This takes numbers, not text values. (line 1, column 12)
  fix: if these are numbers, declare kinds={"ward": "real"} when the table is opened; or group by it
===
SELECT n FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t ORDER BY 3
---
There is no output 3. (line 1, column 100)
  fix: write a number from 1 to 1, or a name
===
SELECT n AS a, stay AS a FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t
---
Two outputs are called 'a'. (line 1, column 16)
  fix: give each its own name
===
SELECT n FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t LIMIT 2 OFFSET n
---
OFFSET needs a whole number of at least 0. (line 1, column 106)
  fix: write OFFSET 10
===
SELECT t.n FROM (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t JOIN visits v ON v.ward = t.ward
---
A subquery that sums up must do so for each person. (line 1, column 85)
  fix: group by visits.patient_id, too
===
SELECT COUNT(*) FROM visits v JOIN (SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward) t ON v.ward = t.ward
---
A subquery that sums up must do so for each person. (line 1, column 104)
  fix: group by visits.patient_id, too
===
SELECT COUNT(*) FROM (SELECT HISTOGRAM(stay, 0, 7, 14) FROM visits) t
---
HISTOGRAM cannot stand in a subquery. (line 1, column 30)
  fix: ask for HISTOGRAM(…) by itself; or group by FLOOR(x / 10)
===
SELECT HISTOGRAM(n, 0, 7, 14) FROM (SELECT COUNT(*) AS n FROM visits) t
---
This summary cannot be computed from an answer. (line 1, column 8)
  fix: use COUNT, SUM, AVG, MIN, MAX, MEDIAN or STDDEV; or compute it from the answer afterwards
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits LIMIT 3 OFFSET 2) t
---
OFFSET leaves rows out inside a question. (line 1, column 68)
  fix: leave it out: all rows count, within the limits
