SELECT COUNT(*) FROM visits GROUP BY stay
---
Groups cannot be real values: nearly every row would have its own. (line 1, column 38)
  fix: write FLOOR(stay / 10) in its place, or other bins
===
SELECT COUNT(*) FROM visits GROUP BY seen
---
Groups cannot be timestamp values: nearly every row would have its own. (line 1, column 38)
  fix: write DATE_TRUNC('day', seen) in its place, or other bins
===
SELECT COUNT(*) FROM visits GROUP BY age / 10
---
Groups cannot be real values: nearly every row would have its own. (line 1, column 38)
  fix: write // in place of /, or FLOOR(…) around it
===
SELECT COUNT(*) FROM visits GROUP BY 'x'
---
This expression is constant. (line 1, column 38)
  fix: group by a column
===
SELECT COUNT(*) FROM visits GROUP BY TRUE
---
This expression is constant. (line 1, column 8)
  fix: group by a column
===
SELECT COUNT(*) FROM visits GROUP BY 0
---
There is no output 0. (line 1, column 38)
  fix: write a number from 1 to 1, or a name
===
SELECT COUNT(*) FROM visits GROUP BY 2
---
There is no output 2. (line 1, column 38)
  fix: write a number from 1 to 1, or a name
===
SELECT COUNT(*) FROM visits GROUP BY 1.5
---
There is no output 1.5. (line 1, column 38)
  fix: write a number from 1 to 1, or a name
===
SELECT COUNT(*) FROM visits GROUP BY wrad
---
There is no column 'wrad' in visits. (line 1, column 38)
  fix: did you mean 'ward'?
===
SELECT COUNT(*) FROM visits GROUP BY ()
---
GROUP BY names nothing. (line 1, column 8)
  fix: name a column, or leave it out
===
SELECT COUNT(*) FROM visits GROUP BY ward HAVING stay > 3
---
'stay' is neither aggregated nor grouped by. (line 1, column 50)
  fix: write AVG(stay) or the like, or group by it
===
SELECT COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*)
---
HAVING needs a condition. (line 1, column 50)
  fix: write a comparison: COUNT(*) >= 10
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY stay
---
'stay' is neither aggregated nor grouped by. (line 1, column 58)
  fix: write AVG(stay) or the like, or group by it
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY 3
---
There is no output 3. (line 1, column 58)
  fix: write a number from 1 to 2, or a name
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY 0
---
There is no output 0. (line 1, column 58)
  fix: write a number from 1 to 2, or a name
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY 'ward'
---
There is no output ward. (line 1, column 58)
  fix: write a number from 1 to 2, or a name
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ALL
---
ALL is not supported. (line 1, column 58)
  fix: leave it out, or name the columns; ALL works after UNION and GROUP BY
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ward COLLATE NOCASE
---
COLLATE is not supported. (line 1, column 63)
  fix: use LOWER or ILIKE where capitals do not matter
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ward USING >
---
This SQL cannot be parsed. (line 1, column 63)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT -1
---
LIMIT needs a whole number of at least 0. (line 1, column 56)
  fix: write LIMIT 10
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 1 + 1
---
LIMIT needs a whole number of at least 0. (line 1, column 55)
  fix: write LIMIT 10
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 10%
---
LIMIT has an unsupported clause (limit_options). (line 1, column 55)
  fix: leave it out
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 10 PERCENT
---
A percentage of rows is not supported. (line 1, column 58)
  fix: write LIMIT 10
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 10 BY ward
---
LIMIT has an unsupported clause (expressions). (line 1, column 61)
  fix: leave it out
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 99999999999999
---
LIMIT needs a whole number of at least 0. (line 1, column 55)
  fix: write LIMIT 10
===
SELECT COUNT(*) AS n, SUM(stay) AS N FROM visits
---
Two outputs are called 'N'. (line 1, column 23)
  fix: give each its own name
===
SELECT COUNT(*) AS "" FROM visits
---
A name has 1 to 100 characters. (line 1, column 8)
  fix: give it a name such as n
===
SELECT COUNT(*) AS n FROM visits WHERE n > 3
---
There is no column 'n' in visits. (line 1, column 40)
  fix: use one of: patient_id, ward, age, stay, cost, day, left_on, seen, smoker, index, Blood Group
===
SELECT COUNT(*) AS (a, b) FROM visits
---
ALIASES is not supported here. (line 1, column 8)
  fix: see the page on SQL for supported syntax
===
SELECT n: COUNT(*) FROM visits
---
The question has a parameter without a value. (line 1, column 9)
  fix: write the value itself
===
SELECT COUNT(*) n m FROM visits
---
This SQL cannot be parsed. (line 1, column 19)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT ward, COUNT(*) FROM visits GROUP BY ALL, ward
---
GROUP BY ALL cannot be combined with columns. (line 1, column 49)
  fix: leave out ALL, or the columns
===
SELECT patient_id, COUNT(*) FROM visits GROUP BY ALL
---
Grouping by the privacy unit would single people out. (line 1, column 8)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT stay, COUNT(*) FROM visits GROUP BY ALL
---
Groups cannot be real values: nearly every row would have its own. (line 1, column 8)
  fix: write FLOOR(stay / 10) in its place, or other bins
===
SELECT COUNT(*) AS n, SUM(n) FROM visits
---
There is no column 'n' in visits. (line 1, column 27)
  fix: use one of: patient_id, ward, age, stay, cost, day, left_on, seen, smoker, index, Blood Group
===
SELECT age + COUNT(*) FROM visits GROUP BY ALL
---
'age' is neither aggregated nor grouped by. (line 1, column 8)
  fix: write AVG(age) or the like, or group by it
===
SELECT DATE_TRUNC('hour', seen), COUNT(*) FROM visits GROUP BY 1
---
Groups cannot be timestamp values: nearly every row would have its own. (line 1, column 64)
  fix: write DATE_TRUNC('day', …), and HOUR(…) beside it where hours are wanted
===
SELECT COUNT(*) FROM visits GROUP BY ROLLUP(patient_id)
---
Grouping by the privacy unit would single people out. (line 1, column 45)
  fix: group by something else, and count people with COUNT(DISTINCT patient_id)
===
SELECT COUNT(*) FROM visits GROUP BY CUBE(ward, smoker, age, day, left_on, "index", "Blood Group")
---
CUBE takes at most 6 keys. (line 1, column 43)
  fix: use ROLLUP, or fewer keys
===
SELECT COUNT(*) FROM visits GROUP BY CUBE(ward, smoker, age, day), CUBE(ward, smoker, "index")
---
There are more than 64 grouping sets. (line 1, column 43)
  fix: use fewer keys
===
SELECT GROUPING(age), COUNT(*) FROM visits GROUP BY ROLLUP(ward)
---
GROUPING takes keys of GROUP BY. (line 1, column 8)
  fix: name what is grouped by: GROUPING(ward)
===
SELECT GROUPING(ward), COUNT(*) FROM visits GROUP BY ward
---
GROUPING tells which keys a row adds up. (line 1, column 8)
  fix: use it among the outputs, for keys of GROUP BY ROLLUP(…), CUBE(…) or GROUPING SETS (…)
===
SELECT ward, SUM(n) FROM (SELECT ward, smoker, COUNT(*) AS n FROM visits GROUP BY ward, smoker) AS q GROUP BY ROLLUP(ward)
---
ROLLUP, CUBE and GROUPING SETS cannot be used here. (line 1, column 118)
  fix: use them where rows are grouped, in a question of its own; here write GROUP BY with keys
===
SELECT AVG(CLAMP(n, 0, 9)) FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP(patient_id, ward)) AS q
---
ROLLUP, CUBE and GROUPING SETS cannot be used here. (line 1, column 101)
  fix: use them where rows are grouped, in a question of its own; here write GROUP BY with keys
===
SELECT DATE_TRUNC('hour', seen), COUNT(*) FROM visits GROUP BY 1
---
Groups cannot be timestamp values: nearly every row would have its own. (line 1, column 64)
  fix: write DATE_TRUNC('day', …), and HOUR(…) beside it where hours are wanted
===
SELECT COUNT(*) FROM visits GROUP BY FLOOR(stay / 10.0) * 2.5
---
Groups cannot be real values: nearly every row would have its own. (line 1, column 38)
  fix: see the page on SQL for supported syntax
===
SELECT WIDTH_BUCKET(stay, 60, 0, 6), COUNT(*) FROM visits GROUP BY 1
---
WIDTH_BUCKET has other arguments. (line 1, column 8)
  fix: write WIDTH_BUCKET(x, 0, 60, 6) with constants: two ends, and 1 to 9,000 bins
===
SELECT WIDTH_BUCKET(stay, 0, 60, age), COUNT(*) FROM visits GROUP BY 1
---
WIDTH_BUCKET has other arguments. (line 1, column 8)
  fix: write WIDTH_BUCKET(x, 0, 60, 6) with constants: two ends, and 1 to 9,000 bins
