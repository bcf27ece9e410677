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
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT ward, SUM((SELECT COUNT(*) FROM drugs)) FROM visits GROUP BY ward
---
A scalar subquery is not supported here. (line 1, column 26)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward, (SELECT COUNT(*) FROM drugs)
---
A scalar subquery is not supported here. (line 1, column 58)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FROM (SELECT patient_id, (SELECT COUNT(*) FROM drugs) AS n FROM visits) t
---
A scalar subquery is not supported here. (line 1, column 50)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FROM visits v WHERE stay > (SELECT AVG(stay) FROM visits w WHERE w.ward = v.ward)
---
A scalar subquery cannot speak of the rows around it. (line 1, column 91)
  fix: sum up for each person in a subquery after JOIN, and compare with its column: JOIN (SELECT patient_id, AVG(x) AS m FROM … GROUP BY patient_id) AS t ON … WHERE x > t.m
===
SELECT COUNT(*) FROM visits WHERE stay > (SELECT ward FROM visits)
---
'ward' is neither aggregated nor grouped by. (line 1, column 50)
  fix: write GROUP BY ward
===
SELECT COUNT(*) FROM visits WHERE stay > (SELECT AVG(stay) FROM visits WHERE stay > (SELECT AVG(stay) FROM visits))
---
A scalar subquery must be one number for sure. (line 1, column 50)
  fix: select one aggregate without GROUP BY, HAVING and scalar subqueries of its own: (SELECT COUNT(*) …)
===
SELECT SUM(stay) FILTER (WHERE stay > (SELECT AVG(stay) FROM visits)) FROM visits
---
A scalar subquery is not supported here. (line 1, column 47)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits WHERE stay > (SELECT AVG(stay) FROM visits) GROUP BY patient_id) t
---
A scalar subquery is not supported here. (line 1, column 89)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FROM visits WHERE stay > (SELECT MAX(rate) FROM wards)
---
The rows of public tables are not known here. (line 1, column 50)
  fix: ask a session; or write the value itself
