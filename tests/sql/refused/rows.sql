SELECT * FROM visits
---
SELECT * would show rows. (line 1, column 8)
  fix: name what to count or sum up, such as SELECT COUNT(*)
===
SELECT visits.* FROM visits
---
SELECT * would show rows. (line 1, column 8)
  fix: name what to count or sum up, such as SELECT COUNT(*)
===
SELECT COUNT(*), * FROM visits
---
SELECT * would show rows. (line 1, column 18)
  fix: name what to count or sum up, such as SELECT COUNT(*)
===
SELECT stay FROM visits
---
'stay' is neither summed up nor grouped by. (line 1, column 8)
  fix: write AVG(stay) or the like, or group by it
===
SELECT stay + 1, COUNT(*) FROM visits
---
'stay' is neither summed up nor grouped by. (line 1, column 8)
  fix: write AVG(stay) or the like, or group by it
===
SELECT ward, stay, COUNT(*) FROM visits GROUP BY ward
---
'stay' is neither summed up nor grouped by. (line 1, column 14)
  fix: write AVG(stay) or the like, or group by it
===
SELECT UPPER(ward), COUNT(*) FROM visits GROUP BY ward
---
This cannot be computed from private answers. (line 1, column 8)
  fix: put it inside SUM, COUNT or the like, or after GROUP BY; or compute it from the answer yourself
===
SELECT CASE WHEN COUNT(*) > 1 THEN 1 ELSE 0 END FROM visits
---
This cannot be computed from private answers. (line 1, column 8)
  fix: put it inside SUM, COUNT or the like, or after GROUP BY; or compute it from the answer yourself
===
SELECT DISTINCT ward FROM visits
---
SELECT DISTINCT is not understood. (line 1, column 17)
  fix: write GROUP BY, such as SELECT ward, COUNT(*) FROM visits GROUP BY ward
===
SELECT DISTINCT ON (ward) ward FROM visits
---
DISTINCT has an addition that is not understood (on). (line 1, column 21)
  fix: leave it out
===
SELECT ALL ward FROM visits
---
ALL is not understood. (line 1, column 8)
  fix: leave it out, or name the columns; after UNION and GROUP BY it may stand
===
SELECT ward FROM visits GROUP BY ward
---
Nothing is counted or summed up. (line 1, column 8)
  fix: add COUNT(*)
===
SELECT 1 FROM visits
---
Nothing is counted or summed up. (line 1, column 8)
  fix: add COUNT(*)
===
SELECT ARRAY_AGG(stay) FROM visits
---
ARRAY_AGG is not a function that can be used. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another summary: this one would quote what stands in rows
===
SELECT LIST(stay) FROM visits
---
LIST is not a function that can be used. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another summary: this one would quote what stands in rows
===
SELECT STRING_AGG(ward, ',') FROM visits
---
STRING_AGG is not a function that can be used. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another summary: this one would quote what stands in rows
===
SELECT STRING_AGG(ward, ',' ORDER BY day) FROM visits
---
STRING_AGG is not a function that can be used. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another summary: this one would quote what stands in rows
===
SELECT ANY_VALUE(ward) FROM visits
---
ANY_VALUE is not a function that can be used. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another summary: this one would quote what stands in rows
===
SELECT FIRST(ward) FROM visits
---
FIRST is not a function that can be used. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another summary: this one would quote what stands in rows
===
SELECT MODE(ward) FROM visits
---
MODE is not a function that can be used. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another summary: this one would quote what stands in rows
===
SELECT MIN(ward) FROM visits
---
This takes numbers and dates, not text values. (line 1, column 12)
  fix: if these are numbers, declare kinds={"ward": "real"} when the table is opened; or group by it
===
SELECT MAX_BY(ward, stay) FROM visits
---
MAX_BY is not a function that can be used. (line 1, column 8)
  fix: ask for COUNT, SUM, AVG, MEDIAN or another summary: this one would quote what stands in rows
===
SELECT SUM(stay ORDER BY day) FROM visits
---
Rows have no order inside a summary of them. (line 1, column 12)
  fix: leave ORDER BY out there
===
SELECT MAX(stay, 3) FROM visits
---
MAX takes one value. (line 1, column 8)
  fix: write MAX(stay)
===
SELECT COLUMNS('a.*') FROM visits
---
COLUMNS is not a function that can be used. (line 1, column 8)
  fix: did you mean COUNT?
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
'ROW' is not understood here. (line 1, column 8)
  fix: leave it out
===
SELECT STRUCT_PACK(a := stay) FROM visits
---
STRUCT_PACK is not a function that can be used. (line 1, column 8)
  fix: see the list of functions; what is not on it cannot be asked
===
SELECT rowid, COUNT(*) FROM visits GROUP BY rowid
---
There is no column 'rowid' in visits. (line 1, column 45)
  fix: use one of: patient_id, ward, age, stay, cost, day, left_on, seen, smoker, index, Blood Group
