SELECT COUNT(*) FROM visit
---
There is no table 'visit'. (line 1, column 22)
  fix: did you mean 'visits'?
===
SELECT COUNT(*) FROM secrets
---
There is no table 'secrets'. (line 1, column 22)
  fix: use one of: visits, patients, drugs, wards; files cannot be read from here
===
SELECT COUNT(*) FROM 'visits.parquet'
---
There is no table 'visits.parquet'. (line 1, column 22)
  fix: use one of: drugs, patients, visits, wards; files cannot be read from here
===
SELECT COUNT(*) FROM "visits.csv"
---
There is no table 'visits.csv'. (line 1, column 22)
  fix: use one of: drugs, patients, visits, wards; files cannot be read from here
===
SELECT COUNT(*) FROM read_csv('visits.csv')
---
READ_CSV is not a supported function. (line 1, column 22)
  fix: open the file with discreet.open, and name its table after FROM
===
SELECT COUNT(*) FROM read_parquet('visits.parquet')
---
READ_PARQUET is not a supported function. (line 1, column 22)
  fix: open the file with discreet.open, and name its table after FROM
===
SELECT COUNT(*) FROM generate_series(1, 10)
---
GENERATE_SERIES is not a supported function. (line 1, column 22)
  fix: see the list of functions; what is not on it cannot be asked
===
SELECT COUNT(*) FROM visits, wards
---
The join has no condition. (line 1, column 30)
  fix: write JOIN … ON a.x = b.x; or a.x = b.x after WHERE, joined by AND
===
SELECT COUNT(*) FROM visits JOIN wards ON visits.ward = wards.ward
---
There is no column 'ward' in wards. (line 1, column 57)
  fix: use one of: code, floor, kind, rate
===
SELECT COUNT(*) FROM visits LEFT JOIN wards USING (ward)
---
There is no column 'ward' in wards. (line 1, column 52)
  fix: use one of: code, floor, kind, rate
===
SELECT COUNT(*) FROM visits NATURAL JOIN visits
---
Two tables are called 'visits'. (line 1, column 42)
  fix: give each a name of its own: visits AS a JOIN …
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT ward FROM wards)
---
There is no column 'ward' in wards. (line 1, column 51)
  fix: use one of: code, floor, kind, rate
===
SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM visits)
---
The subquery compares rows of different people. (line 1, column 50)
  fix: compare the persons: b.person = a.person
===
SELECT COUNT(*) FROM visits WHERE age > ALL (SELECT age FROM visits)
---
ALL is not supported. (line 1, column 41)
  fix: leave it out, or name the columns; ALL works after UNION and GROUP BY
===
SELECT COUNT(*) FROM visits EXCEPT SELECT 1
---
A subquery that sums up must do so for each person. (line 1, column 8)
  fix: group by visits.patient_id, too
===
SELECT COUNT(*) FROM visits, LATERAL (SELECT 1)
---
LATERAL is not supported. (line 1, column 30)
  fix: write a subquery after FROM or JOIN, or person IN (SELECT person FROM …) after WHERE
===
SELECT COUNT(*) FROM visits TABLESAMPLE 10%
---
Sampling rows is not supported. (line 1, column 29)
  fix: leave TABLESAMPLE out: all rows are used, up to the contribution bound
===
SELECT COUNT(*) FROM visits USING SAMPLE 10
---
Sampling rows is not supported. (line 1, column 42)
  fix: leave it out: all rows are used, up to the contribution bound
===
SELECT COUNT(*) FROM visits SAMPLE 10
---
This SQL cannot be parsed. (line 1, column 36)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits PIVOT (COUNT(*) FOR ward IN ('A'))
---
PIVOT is not supported. (line 1, column 29)
  fix: use GROUP BY, and pivot the answer afterwards
===
SELECT COUNT(*) FROM visits AS v (a, b)
---
A table keeps the names of its columns. (line 1, column 32)
  fix: write (SELECT x AS a, … FROM …) AS t
===
SELECT COUNT(*) FROM visits AT (VERSION => 3)
---
AT is not a supported function. (line 1, column 29)
  fix: see the list of functions; what is not on it cannot be asked
===
SELECT COUNT(*) FROM visits FOR UPDATE
---
FOR is not supported. (line 1, column 29)
  fix: leave it out, and write commas: SUBSTRING(ward, 1, 2)
===
SELECT AVG(w.stay) FROM visits
---
There is no table 'w' in this question. (line 1, column 12)
  fix: write visits.stay
===
SELECT AVG(visits.stay) FROM visits v
---
There is no table 'visits' in this question. (line 1, column 12)
  fix: write v.stay
===
SELECT AVG(a.b.stay) FROM visits
---
There is no table 'a.b' in this question. (line 1, column 12)
  fix: write b.stay, with the table as it stands after FROM, or the column's name alone
===
SELECT COUNT(*) FROM information_schema.tables
---
There is no table 'information_schema.tables'. (line 1, column 22)
  fix: use one of: drugs, patients, visits, wards
===
SELECT UNNEST(stay) FROM visits
---
UNNEST is not supported. (line 1, column 8)
  fix: write a subquery after FROM or JOIN, or person IN (SELECT person FROM …) after WHERE
===
SELECT count FROM visits
---
There is no column 'count' in visits. (line 1, column 8)
  fix: write COUNT(*): a function needs parentheses
===
SELECT ward, avg FROM visits GROUP BY ward
---
There is no column 'avg' in visits. (line 1, column 14)
  fix: write AVG(…): a function needs parentheses
