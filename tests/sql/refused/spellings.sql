SELECT COUNT(*) FROM a.visits JOIN b.visits AS w ON visits.patient_id = w.patient_id
---
'visits' is named with two different schemas. (line 1, column 36)
  fix: write visits everywhere: there is one table of this name
===
SELECT COUNT(*) FROM a.visits WHERE b.visits.age > 3
---
There is no table 'b.visits' in this question. (line 1, column 37)
  fix: write visits.age, with the table as it stands after FROM, or the column's name alone
===
SELECT COUNT(*) FROM visits WHERE a.visits.age > 3
---
There is no table 'a.visits' in this question. (line 1, column 35)
  fix: write visits.age, with the table as it stands after FROM, or the column's name alone
===
SELECT COUNT(*) FROM main.visits AS v WHERE main.visits.age > 3
---
There is no table 'visits' in this question. (line 1, column 50)
  fix: write v.age
===
SELECT COUNT(*) FROM a.b.c.d.visits
---
DOT is not supported here. (line 1, column 26)
  fix: see the page on SQL for supported syntax
===
WITH q AS (SELECT age FROM visits) SELECT COUNT(*) FROM main.q
---
There is no table 'main.q'. (line 1, column 57)
  fix: use one of: drugs, patients, visits, wards
===
SELECT COUNT(*) FROM main.nothing
---
There is no table 'main.nothing'. (line 1, column 22)
  fix: use one of: drugs, patients, visits, wards
===
SELECT TOP 10 PERCENT ward, COUNT(*) FROM visits GROUP BY ward
---
A percentage of rows is not supported. (line 1, column 15)
  fix: write LIMIT 10
===
SELECT TOP 3 ward, COUNT(*) AS n FROM visits GROUP BY ward LIMIT 2
---
This SQL cannot be parsed. (line 1, column 60)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits WHERE ward IN ['A', 'B']
---
Lists and structures are not supported. (line 1, column 43)
  fix: use columns of numbers, texts and dates
===
SELECT COUNT(*) x[1] FROM visits
---
Lists and structures are not supported. (line 1, column 18)
  fix: use columns of numbers, texts and dates
===
SELECT COUNT(*) [1] FROM visits
---
Lists and structures are not supported. (line 1, column 17)
  fix: use columns of numbers, texts and dates
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward,
---
Nothing follows this comma. (line 1, column 48)
  fix: remove it, or write what is missing
===
SELECT COUNT(stay,) FROM visits
---
Nothing follows this comma. (line 1, column 18)
  fix: remove it, or write what is missing
===
SELECT COUNT(*) FROM visits WHERE CAST(ward AS VARCHAR(a)) = 'b'
---
'a' is not supported here. (line 1, column 56)
  fix: leave it out
===
SELECT COUNT(*) FROM (SELECT ward, age FROM visits) AS t(a)
---
The names are not as many as the outputs of the subquery. (line 1, column 58)
  fix: name every output once: SELECT x AS a, …
===
SELECT COUNT(*) FROM (SELECT * FROM visits) AS t(a)
---
The names are not as many as the outputs of the subquery. (line 1, column 50)
  fix: name every output once: SELECT x AS a, …
===
WITH q(age, ward) AS (SELECT age AS ward, ward AS age FROM visits) SELECT COUNT(*) FROM q
---
These names would change what is meant inside of the subquery. (line 1, column 8)
  fix: write the names behind its outputs: SELECT x AS a, …
===
SELECT * FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n LIMIT 2) AS q(n, ward)
---
These names would change what is meant inside of the subquery. (line 1, column 94)
  fix: write the names behind its outputs: SELECT x AS a, …
===
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward FETCH FIRST 3 ROWS WITH TIES
---
FETCH is not supported. (line 1, column 54)
  fix: write LIMIT 10
===
SELECT AVG(stay)::numeric FROM visits
---
DECIMAL needs its digits; databases differ in the default. (line 1, column 8)
  fix: write DECIMAL(18, 2), with two digits after the point, or DOUBLE
===
SELECT COUNT(*) FROM drugs d JOIN (visits v JOIN patients p ON v.patient_id = p.patient_id) ON d.person = p.patient_id
---
A join in parentheses must stand first. (line 1, column 36)
  fix: remove the parentheses: FROM a JOIN b ON …
===
SELECT TO_CHAR(day, 'Day') AS m, COUNT(*) FROM visits GROUP BY m
---
TO_CHAR has other arguments. (line 1, column 8)
  fix: write TO_CHAR(day, 'YYYY-MM-DD'), of a date or a timestamp, with these: YYYY yyyy YY MM DD dd HH24 MI SS DDD ID IW Q FMMonth Mon FMDay Dy
===
SELECT TO_CHAR(stay, '999') AS m, COUNT(*) FROM visits GROUP BY m
---
TO_CHAR has other arguments. (line 1, column 8)
  fix: write TO_CHAR(day, 'YYYY-MM-DD'), of a date or a timestamp, with these: YYYY yyyy YY MM DD dd HH24 MI SS DDD ID IW Q FMMonth Mon FMDay Dy
===
SELECT COUNT(*) FROM visits WHERE stay > 'long'
---
> cannot put real and text side by side. (line 1, column 35)
  fix: make them alike, for instance with CAST(… AS …); or declare the column's kind when the table is opened: kinds={"…": "real"}
===
SELECT AVG(Größe) FROM visits
---
There is no column 'Größe' in visits. (line 1, column 12)
  fix: use one of: patient_id, ward, age, stay, cost, day, left_on, seen, smoker, index, Blood Group
===
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10, delta=.01, privacy_unit_column=id) item, COUNT(*) FROM visits GROUP BY item
---
WITH DIFFERENTIAL_PRIVACY is read by session.sql, preview and explain alone. (line 1, column 8)
  fix: leave it out, and pass epsilon=10 as keywords; the privacy unit and delta are those that the dataset was opened with
===
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10, max_groups_contributed=2) ward, COUNT(*) FROM visits GROUP BY ward
---
WITH DIFFERENTIAL_PRIVACY is read by session.sql, preview and explain alone. (line 1, column 8)
  fix: leave it out, and pass epsilon=10, limit=discreet.Limit(groups=2) as keywords; the privacy unit and delta are those that the dataset was opened with
===
SELECT SUM(stay, contribution_bounds_per_group => (0, 10)) FROM visits
---
contribution_bounds_per_group bounds what one person adds to a group; here rows are bounded. (line 1, column 18)
  fix: write contribution_bounds_per_row => (low, high), and limit=… for rows per person; or sum up for each person in a subquery, and write SUM(CLAMP(x, low, high)) around it
===
SELECT COUNT(*, contribution_bounds_per_group => (0, 10)) FROM visits
---
contribution_bounds_per_group bounds what one person adds to a group; here rows are bounded. (line 1, column 17)
  fix: write contribution_bounds_per_row => (low, high), and limit=… for rows per person; or sum up for each person in a subquery, and write SUM(CLAMP(x, low, high)) around it
===
SELECT SUM(stay, contribution_bounds_per_row => (0)) FROM visits
---
CLAMP has other arguments. (line 1, column 12)
  fix: write CLAMP(x, low, high) with constants low ≤ high, such as CLAMP(stay, 0, 60), or days: CLAMP(day, '2024-01-01', '2024-12-31')
===
SELECT SUM(stay, contribution_bounds_per_row => (0, 1) FROM visits
---
This SQL cannot be parsed. (line 1, column 56)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward, '^[0-9]+-[0-9]+$')
---
This regular expression has a part that may be repeated without end. (line 1, column 35)
  fix: use letters, (a|b), [abc], [0-9], \d, a?, {2}, ., .*, ^ and $, such as '^E1[0-4]', and [0-9]+ at the end, for at most 200 texts; for numbers write TRY_CAST(x AS INTEGER) IS NOT NULL
===
SELECT COUNT(*) FROM visits WHERE (ward, age) NOT IN (('A', 40), ('B', 50))
---
A list in parentheses is not supported here. (line 1, column 36)
  fix: compare each value by itself
===
SELECT COUNT(*) FROM visits WHERE (ward, age) IN (('A', 40, 3), ('B', 50))
---
A list in parentheses is not supported here. (line 1, column 36)
  fix: compare each value by itself
===
SELECT COUNT(*) FROM visits WHERE (ward, age) = ('A', 40)
---
A list in parentheses is not supported here. (line 1, column 36)
  fix: compare each value by itself
===
SELECT AVG(seen - seen) FROM visits
---
The difference of timestamps would be an interval. (line 1, column 12)
  fix: write DATE_DIFF('second', from, to), or 'minute', 'hour', 'day'
===
SELECT DAYOFWEEK(day), COUNT(*) FROM visits GROUP BY 1
---
DAYOFWEEK is not a supported function. (line 1, column 8)
  fix: databases count from different days: use ISODOW, which is 1 for Monday to 7 for Sunday, or DOW, which is 0 for Sunday to 6 for Saturday
===
SELECT w.floor, COUNT(v.age) FROM wards w LEFT JOIN visits v ON v.ward = w.code GROUP BY w.floor
---
A public table cannot come before the private ones. (line 1, column 53)
  fix: write JOIN: public groups without rows are shown, too, and COUNT(*) counts the private rows
===
SELECT BOOL_OR(smoker) FROM visits
---
BOOL_OR is not a supported function. (line 1, column 8)
  fix: ask how many: COUNT(*) FILTER (WHERE x)
===
SELECT COUNT(*) FROM visits WHERE NOT (ward, age) IN (('A', 40), ('B', 50))
---
A list in parentheses is not supported here. (line 1, column 40)
  fix: compare each value by itself
