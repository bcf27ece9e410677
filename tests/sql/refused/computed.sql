SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward OFFSET x
---
OFFSET needs a whole number of at least 0. (line 1, column 61)
  fix: write OFFSET 10
===
SELECT CAST(ward AS INTEGER), COUNT(*) FROM visits GROUP BY ward
---
CAST AS INTEGER cannot be computed from noisy answers. (line 1, column 8)
  fix: put it inside an aggregate, or after GROUP BY; or compute it from the answer
===
SELECT HOUR(seen), COUNT(*) FROM visits GROUP BY CAST(seen AS DATE)
---
'seen' is neither aggregated nor grouped by. (line 1, column 13)
  fix: write GROUP BY seen
===
SELECT UPPER(ward), COUNT(*) FROM visits
---
'ward' is neither aggregated nor grouped by. (line 1, column 14)
  fix: write GROUP BY ward
===
SELECT DISTINCT * FROM visits
---
SELECT * would show rows, which are private. (line 1, column 17)
  fix: ask for an aggregate, such as SELECT COUNT(*)
===
SELECT UPPER(ward), HISTOGRAM(stay, 0, 7, 14) FROM visits GROUP BY ward
---
HISTOGRAM must be the only output. (line 1, column 8)
  fix: ask for HISTOGRAM(…) by itself, with WHERE but without GROUP BY, HAVING, ORDER BY and LIMIT
