SELECT COUNT(*) FROM visits WHERE stay > (SELECT AVG(stay) FROM visits)
---
A scalar subquery is not supported here. (line 1, column 50)
  fix: ask for the number first, and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT ward, COUNT(*) / (SELECT COUNT(*) FROM visits v WHERE v.ward = visits.ward) FROM visits GROUP BY ward
---
There is no table 'visits' in this question. (line 1, column 71)
  fix: write v.ward
===
SELECT ward, COUNT(*) / (SELECT COUNT(*) FROM visits GROUP BY ward) FROM visits GROUP BY ward
---
A scalar subquery must be one number for sure. (line 1, column 33)
  fix: select one aggregate without GROUP BY, HAVING and scalar subqueries of its own: (SELECT COUNT(*) …)
===
SELECT ward, COUNT(*) / (SELECT COUNT(*), 1 FROM visits) FROM visits GROUP BY ward
---
A scalar subquery must be one number for sure. (line 1, column 33)
  fix: select one aggregate without GROUP BY, HAVING and scalar subqueries of its own: (SELECT COUNT(*) …)
===
SELECT ward, COUNT(*) / (SELECT COUNT(*) / (SELECT COUNT(*) FROM drugs) FROM visits) FROM visits GROUP BY ward
---
A scalar subquery must be one number for sure. (line 1, column 33)
  fix: select one aggregate without GROUP BY, HAVING and scalar subqueries of its own: (SELECT COUNT(*) …)
===
SELECT ward, COUNT(*) / (SELECT n FROM (SELECT COUNT(*) AS n FROM visits) t) FROM visits GROUP BY ward
---
A scalar subquery must be one number for sure. (line 1, column 33)
  fix: select one aggregate without GROUP BY, HAVING and scalar subqueries of its own: (SELECT COUNT(*) …)
===
SELECT COUNT(*) / (SELECT MAX(day) FROM visits) FROM visits
---
A scalar subquery must be one number for sure. (line 1, column 27)
  fix: select one aggregate without GROUP BY, HAVING and scalar subqueries of its own: (SELECT COUNT(*) …)
===
SELECT COUNT(*) / (SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM drugs) FROM visits
---
A scalar subquery is one SELECT. (line 1, column 27)
  fix: write (SELECT COUNT(*) FROM …)
===
SELECT COUNT(*) / (SELECT HISTOGRAM(stay, 0, 7, 14) FROM visits) FROM visits
---
A scalar subquery must be one number for sure. (line 1, column 27)
  fix: select one aggregate without GROUP BY, HAVING and scalar subqueries of its own: (SELECT COUNT(*) …)
===
SELECT ward, (SELECT COUNT(*) FROM visits) FROM visits
---
A scalar subquery is not supported here. (line 1, column 22)
  fix: ask for the number first, and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT (SELECT COUNT(*) FROM visits)
---
The question has no FROM. (line 1, column 16)
  fix: write FROM and one of: visits, patients, drugs, wards
===
SELECT ward, SUM((SELECT COUNT(*) FROM drugs)) FROM visits GROUP BY ward
---
A scalar subquery is not supported here. (line 1, column 26)
  fix: ask for the number first, and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward, (SELECT COUNT(*) FROM drugs)
---
A scalar subquery is not supported here. (line 1, column 58)
  fix: ask for the number first, and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FROM (SELECT patient_id, (SELECT COUNT(*) FROM drugs) AS n FROM visits) t
---
A scalar subquery is not supported here. (line 1, column 50)
  fix: ask for the number first, and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
