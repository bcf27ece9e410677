SELECT * FROM visits
---
SELECT * would show rows, which are private. (line 1, column 8)
  fix: ask for an aggregate, such as SELECT COUNT(*)
===
SELECT visits.* FROM visits
---
SELECT * would show rows, which are private. (line 1, column 8)
  fix: ask for an aggregate, such as SELECT COUNT(*)
===
SELECT COUNT(*), * FROM visits
---
SELECT * would show rows, which are private. (line 1, column 18)
  fix: ask for an aggregate, such as SELECT COUNT(*)
===
SELECT stay FROM visits
---
'stay' is neither aggregated nor grouped by. (line 1, column 8)
  fix: write AVG(stay) or the like, or group by it
===
SELECT stay + 1, COUNT(*) FROM visits
---
'stay' is neither aggregated nor grouped by. (line 1, column 8)
  fix: write AVG(stay) or the like, or group by it
===
SELECT ward, stay, COUNT(*) FROM visits GROUP BY ward
---
'stay' is neither aggregated nor grouped by. (line 1, column 14)
  fix: write AVG(stay) or the like, or group by it
===
SELECT DISTINCT ON (ward) ward FROM visits
---
DISTINCT has an unsupported clause (on). (line 1, column 21)
  fix: leave it out
===
SELECT ALL ward FROM visits
---
'ward' is neither aggregated nor grouped by. (line 1, column 12)
  fix: write GROUP BY ward
===
SELECT 1 FROM visits
---
The question has no aggregate. (line 1, column 8)
  fix: add COUNT(*)
===
SELECT ARRAY_AGG(stay) FROM visits
---
ARRAY_AGG is not a supported function. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another aggregate: this one would show values of rows
===
SELECT LIST(stay) FROM visits
---
LIST is not a supported function. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another aggregate: this one would show values of rows
===
SELECT STRING_AGG(ward, ',') FROM visits
---
STRING_AGG is not a supported function. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another aggregate: this one would show values of rows
===
SELECT STRING_AGG(ward, ',' ORDER BY day) FROM visits
---
STRING_AGG is not a supported function. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another aggregate: this one would show values of rows
===
SELECT ANY_VALUE(ward) FROM visits
---
ANY_VALUE would show the value of a row. (line 1, column 8)
  fix: use it for what is grouped by, or group by this, too
===
SELECT FIRST(ward) FROM visits
---
FIRST is not a supported function. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another aggregate: this one would show values of rows
===
SELECT MODE(ward) FROM visits
---
MODE is not a supported function. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another aggregate: this one would show values of rows
===
SELECT MIN(ward) FROM visits
---
This takes numbers and dates, not text values. (line 1, column 12)
  fix: group by it, and count: the first or last text is a value of one row; if these are numbers, declare kinds={"ward": "real"} when the table is opened
===
SELECT MAX_BY(ward, stay) FROM visits
---
MAX_BY is not a supported function. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another aggregate: this one would show values of rows
===
SELECT SUM(stay ORDER BY day) FROM visits
---
ORDER BY inside an aggregate is not supported. (line 1, column 12)
  fix: leave ORDER BY out there
===
SELECT MAX(stay, 3) FROM visits
---
MAX takes one value. (line 1, column 8)
  fix: write MAX(stay)
===
SELECT COLUMNS('a.*') FROM visits
---
COLUMNS is not a supported function. (line 1, column 8)
  fix: see the list of functions; what is not on it cannot be asked
===
SELECT visits FROM visits
---
There is no column 'visits' in visits. (line 1, column 8)
  fix: use one of: patient_id, ward, age, stay, cost, day, left_on, seen, smoker, index, Blood Group
===
SELECT COUNT(visits.*) FROM visits
---
This is not a column. (line 1, column 14)
  fix: name a column of the table
===
SELECT ROW(ward, stay) FROM visits
---
ROW is not a supported function. (line 1, column 8)
  fix: see the list of functions
===
SELECT STRUCT_PACK(a := stay) FROM visits
---
STRUCT_PACK is not a supported function. (line 1, column 8)
  fix: see the list of functions; what is not on it cannot be asked
===
SELECT rowid, COUNT(*) FROM visits GROUP BY rowid
---
There is no column 'rowid' in visits. (line 1, column 45)
  fix: use one of: patient_id, ward, age, stay, cost, day, left_on, seen, smoker, index, Blood Group
