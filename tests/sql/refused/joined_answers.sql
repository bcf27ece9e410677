SELECT a.ward FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) b ON a.n > b.n
---
Answers are joined where columns of both are equal. (line 1, column 90)
  fix: write JOIN … ON a.x = b.x, or USING (x); CROSS JOIN puts an answer with one row beside another
===
SELECT a.ward FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a LEFT JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) b
---
Answers are joined where columns of both are equal. (line 1, column 95)
  fix: write JOIN … ON a.x = b.x, or USING (x); CROSS JOIN puts an answer with one row beside another
===
SELECT ward FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) b ON a.ward = b.ward
---
'ward' is the name of several columns. (line 1, column 8)
  fix: write a.ward or b.ward
===
SELECT a.ward, b.x FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) b ON a.ward = b.ward
---
There is no column 'x' in b. (line 1, column 16)
  fix: use one of: ward, n
===
SELECT a.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a ON a.ward = a.ward
---
Two tables are called 'a'. (line 1, column 87)
  fix: give each a name of its own, with AS
===
SELECT a.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a JOIN (SELECT MONTH(day) AS ward, COUNT(*) AS n FROM visits GROUP BY 1) b USING (ward)
---
The columns 'ward' hold values of different kinds. (line 1, column 87)
  fix: join on columns of one kind
===
SELECT a.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a JOIN (SELECT MONTH(day) AS ward, COUNT(*) AS n FROM visits GROUP BY 1) b ON a.ward = b.ward
---
= cannot put integer and text side by side. (line 1, column 150)
  fix: make them alike, for instance with CAST(… AS …); or declare the column's kind when the table is opened: kinds={"ward": "integer"}
===
SELECT a.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) b ON a.ward = b.ward AND b.n
---
This is not a condition. (line 1, column 159)
  fix: write a comparison: a.x = b.x
===
SELECT a.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a CROSS JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) b
---
Answers are joined where columns of both are equal. (line 1, column 93)
  fix: write JOIN … ON a.x = b.x, or USING (x); CROSS JOIN puts an answer with one row beside another
===
SELECT a.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a, (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) b FULL JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) c ON c.ward = b.ward WHERE a.ward = b.ward
---
Answers are joined where columns of both are equal. (line 1, column 83)
  fix: write JOIN … ON a.x = b.x, or USING (x); CROSS JOIN puts an answer with one row beside another
===
SELECT a.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a SEMI JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) b ON a.ward = b.ward
---
SEMI is not a supported join. (line 1, column 74)
  fix: write JOIN … ON a.x = b.x, or LEFT JOIN
===
SELECT a.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) b ON a.ward = b.ward AND a.n > (SELECT COUNT(*) FROM visits)
---
A scalar subquery is not supported here. (line 1, column 173)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT a.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a JOIN wards w ON a.ward = w.code
---
An answer is joined with other answers, and not with a public table. (line 1, column 79)
  fix: join the public table inside of the question: FROM (SELECT … FROM visits JOIN wards ON …) AS q
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward UNION ALL SELECT COUNT(*) FROM visits
---
The parts of UNION have different columns. (line 1, column 66)
  fix: select as many in each, of the same kinds and in the same order; CAST(… AS …) makes them alike
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward UNION ALL SELECT COUNT(*), COUNT(*) FROM visits
---
The parts of UNION have different columns. (line 1, column 66)
  fix: select as many in each, of the same kinds and in the same order; CAST(… AS …) makes them alike
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward UNION ALL SELECT ward, stay FROM visits
---
A subquery that sums up must do so for each person. (line 1, column 44)
  fix: group by visits.patient_id, too
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward UNION ALL SELECT 'x', 0
---
A subquery that sums up must do so for each person. (line 1, column 44)
  fix: group by visits.patient_id, too
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward INTERSECT SELECT ward, COUNT(*) FROM visits GROUP BY ward
---
INTERSECT of two answers is not supported. (line 1, column 66)
  fix: join them: FROM (…) AS a LEFT JOIN (…) AS b USING (x) WHERE b.n IS NULL
===
SELECT COUNT(*) FROM visits UNION ALL SELECT HISTOGRAM(stay, 0, 7, 14) FROM visits
---
HISTOGRAM cannot stand in a subquery. (line 1, column 46)
  fix: ask for HISTOGRAM(…) by itself; or group by FLOOR(x / 10)
===
SELECT patient_id FROM visits UNION ALL SELECT person FROM drugs
---
SELECT * would show rows, which are private. (line 1, column 8)
  fix: ask for an aggregate, such as SELECT COUNT(*)
===
SELECT (SELECT ward FROM visits)
---
'ward' is neither aggregated nor grouped by. (line 1, column 16)
  fix: write GROUP BY ward
===
SELECT (SELECT MAX(day) FROM visits)
---
A scalar subquery must be one number for sure. (line 1, column 16)
  fix: select one aggregate without GROUP BY, HAVING and scalar subqueries of its own: (SELECT COUNT(*) …)
===
SELECT (SELECT COUNT(*) FROM visits) + stay
---
There is no column 'stay' in the subquery. (line 1, column 40)
  fix: use one of: count
