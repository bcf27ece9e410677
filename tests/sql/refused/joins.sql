SELECT COUNT(*) FROM visits OUTER JOIN patients USING (patient_id)
---
OUTER is not a supported join. (line 1, column 40)
  fix: write JOIN … ON or LEFT JOIN … ON
===
SELECT COUNT(*) FROM visits CROSS JOIN patients
---
The join has no condition. (line 1, column 40)
  fix: write JOIN … ON a.x = b.x; or a.x = b.x after WHERE, joined by AND
===
SELECT COUNT(*) FROM visits SEMI JOIN patients USING (patient_id)
---
SEMI is not a supported join. (line 1, column 29)
  fix: write JOIN … ON a.x = b.x, or LEFT JOIN
===
SELECT COUNT(*) FROM visits ANTI JOIN patients USING (patient_id)
---
ANTI is not a supported join. (line 1, column 29)
  fix: write JOIN … ON a.x = b.x, or LEFT JOIN
===
SELECT COUNT(*) FROM visits ASOF JOIN patients USING (patient_id)
---
ASOF is not a supported join. (line 1, column 29)
  fix: write JOIN … ON a.x = b.x, or LEFT JOIN
===
SELECT COUNT(*) FROM visits JOIN patients
---
The join has no condition. (line 1, column 34)
  fix: write JOIN … ON a.x = b.x; or a.x = b.x after WHERE, joined by AND
===
SELECT COUNT(*) FROM visits JOIN patients ON TRUE
---
This joins people with each other: a row would belong to two people. (line 1, column 34)
  fix: join on the person too: visits.patient_id = patients.patient_id; or pass matches=Matches(rows=…, matches=…), which limits what is joined
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id OR v.ward = p.ward
---
This joins people with each other: a row would belong to two people. (line 1, column 36)
  fix: join on the person too: v.patient_id = p.patient_id; or pass matches=Matches(rows=…, matches=…), which limits what is joined
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id >= p.patient_id
---
This joins people with each other: a row would belong to two people. (line 1, column 36)
  fix: join on the person too: v.patient_id = p.patient_id; or pass matches=Matches(rows=…, matches=…), which limits what is joined
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = v.patient_id
---
This joins people with each other: a row would belong to two people. (line 1, column 36)
  fix: join on the person too: v.patient_id = p.patient_id; or pass matches=Matches(rows=…, matches=…), which limits what is joined
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.ward = p.ward
---
This joins people with each other: a row would belong to two people. (line 1, column 36)
  fix: join on the person too: v.patient_id = p.patient_id; or pass matches=Matches(rows=…, matches=…), which limits what is joined
===
SELECT COUNT(*) FROM visits v LEFT JOIN drugs d ON v.day = d.day
---
This joins people with each other: a row would belong to two people. (line 1, column 41)
  fix: join on the person too: v.patient_id = d.person
===
SELECT COUNT(*) FROM visits v JOIN drugs d ON v.patient_id + 0 = d.person
---
This joins people with each other: a row would belong to two people. (line 1, column 36)
  fix: join on the person too: v.patient_id = d.person; or pass matches=Matches(rows=…, matches=…), which limits what is joined
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.ward
---
A join compares integer with text values. (line 1, column 50)
  fix: make them alike, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id AND v.stay = p.income
---
A join cannot compare floating-point values. (line 1, column 82)
  fix: join on whole numbers, texts or dates
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id AND v.age = p.income
---
A join compares integer with real values. (line 1, column 82)
  fix: make them alike, for instance with CAST(… AS …)
===
SELECT COUNT(*) FROM visits v JOIN visits v ON v.patient_id = v.patient_id
---
Two tables are called 'v'. (line 1, column 36)
  fix: give each a name of its own: visits AS a JOIN …
===
SELECT COUNT(*) FROM visits JOIN visits USING (patient_id)
---
Two tables are called 'visits'. (line 1, column 34)
  fix: give each a name of its own: visits AS a JOIN …
===
SELECT COUNT(*) FROM visits JOIN drugs USING (patient_id)
---
There is no column 'patient_id' in drugs. (line 1, column 47)
  fix: use one of: person, name, dose, day
===
SELECT COUNT(*) FROM visits JOIN patients USING (nothing)
---
There is no column 'nothing' in visits. (line 1, column 50)
  fix: use one of: patient_id, ward, age, stay, cost, day, left_on, seen, smoker, index, Blood Group
===
SELECT AVG(age) FROM visits v JOIN patients p USING (patient_id)
---
'age' is the name of several columns. (line 1, column 12)
  fix: write v.age or p.age
===
SELECT AVG(q.age) FROM visits v JOIN patients p USING (patient_id)
---
There is no table 'q' in this question. (line 1, column 12)
  fix: use one of: v, p; what is meant outside of a subquery is joined, on the person and on other columns
===
SELECT AVG(v.city) FROM visits v JOIN patients p USING (patient_id)
---
There is no column 'city' in v. (line 1, column 12)
  fix: use one of: patient_id, ward, age, stay, cost, day, left_on, seen, smoker, index, Blood Group
===
SELECT AVG(wages) FROM visits v JOIN patients p USING (patient_id)
---
There is no column 'wages' in visits JOIN patients. (line 1, column 12)
  fix: did you mean 'age'?
===
SELECT ward, COUNT(*) FROM visits v JOIN patients p USING (patient_id) GROUP BY ward
---
'ward' is the name of several columns. (line 1, column 81)
  fix: write v.ward or p.ward
===
SELECT patient_id, COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY p.patient_id
---
Grouping by the privacy unit would single people out. (line 1, column 99)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT p.patient_id, COUNT(*) FROM visits v JOIN patients p USING (patient_id) GROUP BY p.patient_id
---
Grouping by the privacy unit would single people out. (line 1, column 89)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT SUM(p.patient_id) FROM visits v JOIN patients p USING (patient_id)
---
The column of the privacy unit can only be counted. (line 1, column 12)
  fix: write COUNT(DISTINCT patient_id) for people, COUNT(*) for rows, or use it after WHERE
===
SELECT COUNT(*) FROM visits v JOIN clinics c ON v.ward = c.code
---
There is no table 'clinics'. (line 1, column 36)
  fix: use one of: visits, patients, drugs, wards; files cannot be read from here
===
SELECT COUNT(*) FROM wards
---
'wards' is public and has no people to protect. (line 1, column 22)
  fix: read it directly, or join it: FROM visits JOIN … ON …
===
SELECT COUNT(*) FROM wards a JOIN wards b ON a.code = b.code
---
A public table cannot come before the private ones. (line 1, column 35)
  fix: begin with a private table: FROM visits JOIN …
===
SELECT COUNT(*) FROM wards LEFT JOIN visits ON ward = code
---
A public table cannot come before the private ones. (line 1, column 38)
  fix: write JOIN: public groups without rows are shown, too, and COUNT(*) counts the private rows
===
SELECT COUNT(*) FROM visits JOIN wards ON code = 'A'
---
The join has no condition. (line 1, column 34)
  fix: write JOIN … ON a.x = b.x, or USING (x)
===
SELECT COUNT(*) FROM visits JOIN wards ON ward < code
---
The join has no condition. (line 1, column 34)
  fix: write JOIN … ON a.x = b.x, or USING (x)
===
SELECT COUNT(*) FROM visits JOIN wards ON ward = floor
---
A join compares text with integer values. (line 1, column 43)
  fix: make them alike, for instance with CAST(… AS …)
===
SELECT * FROM visits JOIN patients USING (patient_id)
---
SELECT * would show rows, which are private. (line 1, column 8)
  fix: ask for an aggregate, such as SELECT COUNT(*)
===
SELECT COUNT(*) FROM visits v LEFT JOIN drugs d ON v.patient_id = d.person JOIN patients p ON p.patient_id = d.person
---
This joins people with each other: a row would belong to two people. (line 1, column 81)
  fix: join on the person too: v.patient_id = p.patient_id; or pass matches=Matches(rows=…, matches=…), which limits what is joined
===
SELECT income, COUNT(*) FROM visits v JOIN patients p USING (patient_id) GROUP BY income
---
Groups cannot be real values: nearly every row would have its own. (line 1, column 83)
  fix: write FLOOR(income / 10) in its place, or other bins
===
SELECT v.stay FROM visits v JOIN patients p USING (patient_id)
---
'stay' is neither aggregated nor grouped by. (line 1, column 8)
  fix: write AVG(stay) or the like, or group by it
===
SELECT COUNT(*) FROM visits JOIN patients ON visits.patient_id = patients.patient_id JOIN
---
This SQL cannot be parsed. (line 1, column 86)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = (SELECT 1)
---
A scalar subquery is not supported here. (line 1, column 73)
  fix: compare rows with its number after WHERE of the question itself, or ask for the number first and write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or EXISTS (SELECT …) among the conditions of WHERE joined by AND
===
SELECT COUNT(*) FROM visits v, drugs d WHERE v.day = d.day
---
This joins people with each other: a row would belong to two people. (line 1, column 32)
  fix: join on the person too: v.patient_id = d.person; or pass matches=Matches(rows=…, matches=…), which limits what is joined
===
SELECT COUNT(*) FROM visits v, drugs d WHERE v.patient_id = d.person OR v.day = d.day
---
The join has no condition. (line 1, column 32)
  fix: write JOIN … ON a.x = b.x; or a.x = b.x after WHERE, joined by AND
===
SELECT COUNT(*) FROM visits v, patients p, drugs d WHERE v.patient_id = p.patient_id AND person = v.patient_id AND day = born
---
'day' is the name of several columns. (line 1, column 116)
  fix: write v.day or d.day
===
SELECT COUNT(*) FROM visits, visits WHERE patient_id = 1
---
Two tables are called 'visits'. (line 1, column 30)
  fix: give each a name of its own: visits AS a JOIN …
===
SELECT COUNT(*) FROM visits v CROSS JOIN patients p WHERE v.patient_id > p.patient_id
---
The join has no condition. (line 1, column 42)
  fix: write JOIN … ON a.x = b.x; or a.x = b.x after WHERE, joined by AND
===
SELECT COUNT(*) FROM visits v CROSS JOIN patients p ON v.patient_id = p.patient_id
---
CROSS is not a supported join. (line 1, column 42)
  fix: write JOIN … ON or LEFT JOIN … ON
===
SELECT COUNT(w.floor) FROM visits v LEFT JOIN wards w ON v.ward = w.code AND v.stay > w.rate
---
An outer join can compare the two sides only for equality. (line 1, column 78)
  fix: write ON a.x = b.x AND b.y > 3, each condition on one side; or JOIN, which takes others, too
===
SELECT COUNT(*) FROM visits v LEFT JOIN drugs d ON v.patient_id = d.person AND d.day > v.day
---
An outer join can compare the two sides only for equality. (line 1, column 80)
  fix: write ON a.x = b.x AND b.y > 3, each condition on one side; or JOIN, which takes others, too
===
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id AND p.age
---
This is not a condition. (line 1, column 82)
  fix: write a comparison: a.x = b.x
===
SELECT COUNT(*) FROM visits JOIN patients USING (patient_id) RIGHT JOIN drugs ON person = patient_id
---
RIGHT JOIN cannot follow another join. (line 1, column 73)
  fix: write a LEFT JOIN, with the table that keeps all rows first
===
SELECT COUNT(*) FROM visits RIGHT JOIN wards ON ward = code
---
A public table cannot come before the private ones. (line 1, column 40)
  fix: write JOIN: public groups without rows are shown, too, and COUNT(*) counts the private rows
===
SELECT COUNT(*) FROM visits, wards
---
The join has no condition. (line 1, column 30)
  fix: write JOIN … ON a.x = b.x; or a.x = b.x after WHERE, joined by AND
===
SELECT COUNT(*) FROM wards NATURAL JOIN drugs
---
The join has no condition. (line 1, column 41)
  fix: write JOIN … ON a.x = b.x, or USING (x)
===
SELECT COUNT(*) FROM visits v JOIN (SELECT code, floor + 1 AS f FROM wards) w ON v.ward = w.code
---
A subquery of a public table computes something. (line 1, column 50)
  fix: select columns, and compute after the join
===
SELECT COUNT(*) FROM visits JOIN (SELECT kind, COUNT(*) AS n FROM wards GROUP BY kind) w ON ward = kind
---
'wards' is public and has no people to protect. (line 1, column 67)
  fix: read it directly, or join it: FROM visits JOIN … ON …
===
SELECT COUNT(*) FROM visits JOIN (SELECT code FROM wards WHERE 1 = 1) w ON ward = code
---
WHERE needs a condition on the public table. (line 1, column 64)
  fix: write a comparison: floor >= 2
