SELECT COUNT(*) FROM visits WHERE age IN (SELECT age FROM patients)
---
The subquery compares rows of different people. (line 1, column 35)
  fix: write visits.patient_id IN (SELECT … FROM …), and select only the person
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT age FROM patients)
---
The subquery compares rows of different people. (line 1, column 35)
  fix: write visits.patient_id IN (SELECT … FROM …), and select only the person
===
SELECT COUNT(*) FROM visits WHERE age IN (SELECT patient_id FROM patients)
---
The subquery compares rows of different people. (line 1, column 35)
  fix: write visits.patient_id IN (SELECT … FROM …), and select only the person
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id, age FROM patients)
---
The subquery compares rows of different people. (line 1, column 35)
  fix: write visits.patient_id IN (SELECT … FROM …), and select only the person
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT * FROM patients)
---
The subquery compares rows of different people. (line 1, column 35)
  fix: write visits.patient_id IN (SELECT … FROM …), and select only the person
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM patients) OR smoker
---
A scalar subquery is not supported here. (line 1, column 57)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FROM visits WHERE NOT (patient_id IN (SELECT patient_id FROM patients) AND smoker)
---
A scalar subquery is not supported here. (line 1, column 62)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FILTER (WHERE patient_id IN (SELECT patient_id FROM patients)) FROM visits
---
A scalar subquery is not supported here. (line 1, column 53)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FROM visits HAVING COUNT(*) IN (SELECT age FROM patients)
---
A scalar subquery is not supported here. (line 1, column 56)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM patients LIMIT 3)
---
LIMIT takes some rows inside a question. (line 1, column 88)
  fix: leave it out: all rows count, within the limits
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT ward FROM patients GROUP BY ward)
---
A subquery that sums up must do so for each person. (line 1, column 85)
  fix: group by patients.patient_id, too
===
SELECT COUNT(*) FROM visits WHERE patient_id + 1 IN (SELECT person FROM drugs)
---
The subquery compares rows of different people. (line 1, column 35)
  fix: write visits.patient_id IN (SELECT … FROM …), and select only the person
===
SELECT COUNT(*) FROM visits WHERE ward NOT IN (SELECT code FROM wards)
---
NOT IN with a public table is not supported: its result depends on NULLs. (line 1, column 35)
  fix: write NOT EXISTS (SELECT 1 FROM b WHERE b.code = a.code): true for rows without a match
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT code, floor FROM wards)
---
A lookup in a public table takes one column. (line 1, column 51)
  fix: write (SELECT code FROM wards), with or without WHERE; of several tables, EXISTS (SELECT 1 FROM …)
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT UPPER(code) FROM wards)
---
A lookup in a public table takes one column. (line 1, column 51)
  fix: write (SELECT code FROM wards), with or without WHERE; of several tables, EXISTS (SELECT 1 FROM …)
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT floor FROM wards)
---
Text values cannot be compared with integer values. (line 1, column 35)
  fix: compare whole numbers, texts or days of the same kind, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE stay IN (SELECT rate FROM wards)
---
Real values cannot be compared with real values. (line 1, column 35)
  fix: compare whole numbers, texts or days of the same kind, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT nothing FROM wards)
---
There is no column 'nothing' in wards. (line 1, column 51)
  fix: use one of: code, floor, kind, rate
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT code FROM nothing)
---
There is no table 'nothing'. (line 1, column 61)
  fix: use one of: visits, patients, drugs, wards; files cannot be read from here
===
SELECT COUNT(*) FROM visits WHERE ward IN wards
---
IN has an unsupported clause (field). (line 1, column 43)
  fix: leave it out
===
SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM patients)
---
The subquery compares rows of different people. (line 1, column 50)
  fix: write in it, after WHERE: patients.patient_id = visits.patient_id
===
SELECT COUNT(*) FROM visits WHERE (patient_id, age) IN (SELECT patient_id, age FROM patients)
---
A list in parentheses is not supported here. (line 1, column 36)
  fix: compare each value by itself
===
SELECT COUNT(*) FROM visits v LEFT JOIN drugs d ON v.patient_id = d.person WHERE d.person IN (SELECT patient_id FROM patients)
---
The subquery compares rows of different people. (line 1, column 82)
  fix: write v.patient_id IN (SELECT … FROM …), and select only the person
===
SELECT COUNT(*) FROM visits WHERE patient_id = ANY (SELECT person FROM drugs)
---
ANY is not supported. (line 1, column 48)
  fix: write a subquery after FROM or JOIN, or person IN (SELECT person FROM …) after WHERE
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM wards w WHERE w.floor > 3)
---
EXISTS does not refer to the outer rows. (line 1, column 52)
  fix: write EXISTS (SELECT 1 FROM b WHERE b.x = a.x)
===
SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM patients WHERE patient_id = patient_id)
---
The subquery compares rows of different people. (line 1, column 50)
  fix: write in it, after WHERE: patients.patient_id = visits.patient_id
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.day = v.day)
---
The subquery compares rows of different people. (line 1, column 52)
  fix: write in it, after WHERE: d.person = v.patient_id
===
SELECT COUNT(*) FROM visits v WHERE age > 3 OR EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id)
---
A scalar subquery is not supported here. (line 1, column 63)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id GROUP BY d.person HAVING COUNT(*) > 2)
---
EXISTS takes only tables and conditions. (line 1, column 106)
  fix: write person IN (SELECT person FROM … GROUP BY person HAVING …)
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT COUNT(*) FROM drugs d WHERE d.person = v.patient_id)
---
EXISTS takes only tables and conditions. (line 1, column 52)
  fix: write EXISTS (SELECT 1 FROM b WHERE b.x = a.x)
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id LIMIT 1)
---
EXISTS takes only tables and conditions. (line 1, column 103)
  fix: leave it out: EXISTS asks whether there is a row
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT person FROM drugs UNION ALL SELECT patient_id FROM patients)
---
EXISTS takes one SELECT. (line 1, column 52)
  fix: write EXISTS (SELECT 1 FROM b WHERE b.x = a.x)
===
SELECT EXISTS (SELECT 1 FROM drugs), COUNT(*) FROM visits
---
A scalar subquery is not supported here. (line 1, column 23)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = u.patient_id)
---
There is no table 'u' in this question. (line 1, column 84)
  fix: use one of: d, v; what is meant outside of a subquery is joined, on the person and on other columns
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT code FROM wards WHERE floor)
---
WHERE needs a condition on the public table. (line 1, column 73)
  fix: write a comparison: floor >= 2
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT code FROM wards WHERE rate > stay)
---
There is no column 'stay' in wards. (line 1, column 80)
  fix: use one of: code, floor, kind, rate
===
SELECT COUNT(*) FROM visits WHERE ward NOT IN (SELECT code FROM wards WHERE code IS NOT NULL)
---
NOT IN with a public table is not supported: its result depends on NULLs. (line 1, column 35)
  fix: write NOT EXISTS (SELECT 1 FROM b WHERE b.code = a.code): true for rows without a match
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT nothing FROM drugs d WHERE d.person = v.patient_id)
---
There is no column 'nothing' in drugs. (line 1, column 52)
  fix: use one of: person, name, dose, day
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id AND w.day > v.day AND w.age > v.age)
---
EXISTS can compare with outer rows for equality, and once by <, <=, >, >= or <>. (line 1, column 124)
  fix: join the tables, and compare after WHERE: then a row counts once for each partner
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id AND (w.day > v.day OR w.age = v.age))
---
EXISTS can compare with outer rows for equality, and once by <, <=, >, >= or <>. (line 1, column 107)
  fix: join the tables, and compare after WHERE: then a row counts once for each partner
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.day > v.day)
---
The subquery compares rows of different people. (line 1, column 52)
  fix: write in it, after WHERE: w.patient_id = v.patient_id
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM wards w WHERE w.code = v.ward AND w.floor > v.age)
---
EXISTS can compare public rows with outer rows only for equality. (line 1, column 93)
  fix: join the tables, and compare after WHERE: then a row counts once for each partner
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id AND w.seen = v.seen AND w.age > v.age)
---
EXISTS with <, <=, >, >= or <> cannot compare timestamps for equality besides. (line 1, column 52)
  fix: write DATE_TRUNC('day', x) on both sides
