SELECT COUNT(*) FROM (SELECT day FROM visits UNION SELECT day FROM drugs) t
---
UNION would compare rows across people. (line 1, column 59)
  fix: select the person in each part, at the same place; or write UNION ALL, which keeps all rows
===
SELECT COUNT(*) FROM (SELECT day FROM visits EXCEPT SELECT day FROM drugs) t
---
EXCEPT would compare rows across people. (line 1, column 60)
  fix: select the person in each part, at the same place; or write UNION ALL, which keeps all rows
===
SELECT COUNT(*) FROM (SELECT day FROM visits INTERSECT SELECT day FROM drugs) t
---
INTERSECT would compare rows across people. (line 1, column 63)
  fix: select the person in each part, at the same place; or write UNION ALL, which keeps all rows
===
SELECT COUNT(*) FROM (SELECT day FROM visits UNION ALL SELECT name FROM drugs) t
---
The parts of UNION ALL have different columns. (line 1, column 63)
  fix: select as many in each, of the same kinds and in the same order; CAST(… AS …) makes them alike
===
SELECT COUNT(*) FROM (SELECT day FROM visits UNION ALL SELECT day, name FROM drugs) t
---
The parts of UNION ALL have different columns. (line 1, column 63)
  fix: select as many in each, of the same kinds and in the same order; CAST(… AS …) makes them alike
===
SELECT COUNT(*) FROM (SELECT age FROM visits UNION ALL SELECT dose FROM drugs) t
---
The parts of UNION ALL have different columns. (line 1, column 63)
  fix: select as many in each, of the same kinds and in the same order; CAST(… AS …) makes them alike
===
SELECT COUNT(*) FROM (SELECT ward FROM visits UNION ALL SELECT code FROM wards) t
---
'wards' is public and has no people to protect. (line 1, column 74)
  fix: read it directly, or join it: FROM visits JOIN … ON …
===
SELECT COUNT(*) FROM (SELECT day FROM visits UNION ALL SELECT day FROM drugs ORDER BY day) t
---
ORDER BY sorts rows inside a question. (line 1, column 87)
  fix: leave it out: rows have no order that the answer could show
===
SELECT COUNT(*) FROM (SELECT day FROM visits UNION ALL SELECT day FROM drugs LIMIT 4) t
---
LIMIT takes some rows inside a question. (line 1, column 84)
  fix: leave it out: all rows count, within the limits
===
SELECT COUNT(*) FROM (SELECT day FROM visits UNION ALL BY NAME SELECT day FROM drugs) t
---
BY NAME is not supported. (line 1, column 30)
  fix: select the columns in the same order
===
SELECT AVG(x) FROM (SELECT stay AS x FROM visits UNION ALL SELECT income FROM patients) t GROUP BY y
---
There is no column 'y' in visits UNION ALL patients. (line 1, column 100)
  fix: use one of: x
===
SELECT p, COUNT(*) FROM (SELECT patient_id AS p FROM visits UNION ALL SELECT person FROM drugs) t GROUP BY p
---
Grouping by the privacy unit would single people out. (line 1, column 108)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT COUNT(*) FROM (SELECT age AS x FROM visits UNION ALL SELECT person FROM drugs GROUP BY age) t
---
There is no column 'age' in drugs. (line 1, column 95)
  fix: use one of: person, name, dose, day
===
SELECT COUNT(*) FROM (SELECT patient_id, day FROM visits INTERSECT ALL SELECT person, day FROM drugs) t
---
ALL is not supported. (line 1, column 68)
  fix: leave it out, or name the columns; ALL works after UNION and GROUP BY
===
SELECT COUNT(*) FROM (SELECT patient_id FROM visits INTERSECT SELECT "index" FROM visits) t
---
INTERSECT compares rows of different people. (line 1, column 70)
  fix: select the person in both, at the same place
===
SELECT COUNT(*) FROM (SELECT patient_id, cost FROM visits UNION SELECT person, dose FROM drugs) t
---
Groups cannot be real values: nearly every row would have its own. (line 1, column 72)
  fix: group by FLOOR(x / 10) or by DATE_TRUNC('day', x)
===
SELECT COUNT(*) FROM visits EXCEPT SELECT COUNT(*) FROM drugs
---
EXCEPT of two answers is not supported. (line 1, column 43)
  fix: join them: FROM (…) AS a LEFT JOIN (…) AS b USING (x) WHERE b.n IS NULL
