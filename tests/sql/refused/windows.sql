SELECT ROW_NUMBER() OVER (ORDER BY day) FROM visits
---
A window over private rows would show or rank the rows of people one by one. (line 1, column 8)
  fix: sum up first: SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM … GROUP BY ward
===
SELECT ward, SUM(stay) OVER (PARTITION BY ward) FROM visits
---
A window over private rows would show or rank the rows of people one by one. (line 1, column 14)
  fix: sum up first: SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM … GROUP BY ward
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM drugs QUALIFY RANK() OVER (ORDER BY day) = 1)
---
A window over private rows would show or rank the rows of people one by one. (line 1, column 87)
  fix: sum up first: SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM … GROUP BY ward
===
SELECT COUNT(*) FROM (SELECT patient_id, stay FROM visits WINDOW w AS (ORDER BY day)) t
---
A window over private rows would show or rank the rows of people one by one. (line 1, column 66)
  fix: sum up first: SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM … GROUP BY ward
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id QUALIFY 1 = 1)
---
EXISTS takes only tables and conditions. (line 1, column 105)
  fix: leave it out: EXISTS asks whether there is a row
===
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.person = v.patient_id OFFSET 3)
---
EXISTS takes only tables and conditions. (line 1, column 104)
  fix: leave it out: EXISTS asks whether there is a row
===
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT code FROM wards OFFSET 1)
---
A lookup in a public table takes one column. (line 1, column 51)
  fix: write (SELECT code FROM wards), with or without WHERE; of several tables, EXISTS (SELECT 1 FROM …)
===
SELECT COUNT(*) FROM visits WHERE RANK() OVER (ORDER BY stay) = 1
---
A window over private rows would show or rank the rows of people one by one. (line 1, column 35)
  fix: sum up first: SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM … GROUP BY ward
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING RANK() OVER (ORDER BY COUNT(*)) = 1
---
HAVING cannot use a window. (line 1, column 56)
  fix: write the condition after QUALIFY
===
SELECT ward, stay, RANK() OVER (ORDER BY COUNT(*)) FROM visits GROUP BY ward
---
'stay' is neither aggregated nor grouped by. (line 1, column 14)
  fix: write AVG(stay) or the like, or group by it
===
SELECT ward, RANK() OVER (ORDER BY stay), COUNT(*) FROM visits GROUP BY ward
---
'stay' is neither aggregated nor grouped by. (line 1, column 36)
  fix: write AVG(stay) or the like, or group by it
===
SELECT HISTOGRAM(stay, 0, 7, 14), RANK() OVER () FROM visits
---
HISTOGRAM cannot stand beside a window. (line 1, column 8)
  fix: ask for HISTOGRAM(…) by itself
===
SELECT n FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q ORDER BY SUM(n)
---
'n' is neither aggregated nor grouped by. (line 1, column 8)
  fix: write GROUP BY n, or MAX(n) or the like
===
SELECT n FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q WHERE RANK() OVER () = 1
---
A window cannot stand here. (line 1, column 75)
  fix: write it after SELECT, QUALIFY or ORDER BY, not in another window
===
SELECT RANK() FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
RANK needs OVER. (line 1, column 8)
  fix: write RANK(…) OVER (ORDER BY n DESC)
===
SELECT ward, COUNT(*) FROM visits GROUP BY ward QUALIFY COUNT(*) > 1
---
QUALIFY needs a window function. (line 1, column 57)
  fix: write the condition after HAVING
===
SELECT ward, RANK() OVER (ORDER BY COUNT(*)) AS r, SUM(r) OVER () FROM visits GROUP BY ward
---
A window cannot be about another one. (line 1, column 56)
  fix: compute the inner one in a subquery after FROM
===
SELECT SUM(RANK() OVER ()) OVER () FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
A window cannot stand here. (line 1, column 12)
  fix: write it after SELECT, QUALIFY or ORDER BY, not in another window
===
SELECT SUM(n) OVER (ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
RANGE takes only UNBOUNDED and CURRENT ROW. (line 1, column 46)
  fix: write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW
===
SELECT SUM(n) OVER (ORDER BY n ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
The frame ends before it begins. (line 1, column 61)
  fix: write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW
===
SELECT SUM(n) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
The frame ends before it begins. (line 1, column 8)
  fix: write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW
===
SELECT SUM(n) OVER (ORDER BY n GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
'GROUPS' is not supported here. (line 1, column 32)
  fix: see the page on SQL for supported syntax
===
SELECT SUM(n) OVER (ORDER BY n ROWS 1 PRECEDING EXCLUDE TIES) FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
WINDOWSPEC has an unsupported clause (exclude). (line 1, column 37)
  fix: leave it out
===
SELECT SUM(n) OVER w FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
OVER takes a window, or the name alone of one that WINDOW defines. (line 1, column 8)
  fix: write OVER (PARTITION BY … ORDER BY …), or add WINDOW w AS (…) at the end
===
SELECT SUM(n) OVER (w ORDER BY ward) FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q WINDOW w AS (PARTITION BY ward)
---
OVER takes a window, or the name alone of one that WINDOW defines. (line 1, column 8)
  fix: write OVER (PARTITION BY … ORDER BY …), or add WINDOW w AS (…) at the end
===
SELECT n FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q WINDOW w AS (ORDER BY n)
---
No window uses this name. (line 1, column 76)
  fix: write OVER and the name; or leave it out
===
SELECT COUNT(DISTINCT n) OVER () FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
This cannot stand before OVER. (line 1, column 8)
  fix: use RANK, DENSE_RANK, ROW_NUMBER, NTILE, PERCENT_RANK, CUME_DIST, LAG, LEAD, FIRST_VALUE, LAST_VALUE, SUM, AVG, COUNT, …
===
SELECT LAG(n, 1, 'x') OVER (ORDER BY n) FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
The default must be a constant of the same kind. (line 1, column 18)
  fix: write LAG(n, 1, 0)
===
SELECT LAG(n, n) OVER (ORDER BY n) FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
This must be a whole number from 0 to 1,000,000. (line 1, column 15)
  fix: write 1
===
SELECT LAG(n) IGNORE NULLS OVER (ORDER BY n) FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
IGNORE NULLS is not supported here. (line 1, column 8)
  fix: see the page on SQL for supported syntax
===
SELECT NTILE() OVER (ORDER BY n), RANK(3) OVER () FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
NTILE takes one number. (line 1, column 8)
  fix: write NTILE(4)
===
SELECT RANK(3) OVER () FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
RANK takes no value. (line 1, column 8)
  fix: write RANK()
===
SELECT FIRST_VALUE(n, 3) OVER () FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
FIRST_VALUE takes one value. (line 1, column 8)
  fix: write FIRST_VALUE(n)
===
SELECT NTH_VALUE(n, 3) OVER () FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
NTH_VALUE is not a supported function. (line 1, column 8)
  fix: use RANK, DENSE_RANK, ROW_NUMBER, NTILE, LAG, LEAD, FIRST_VALUE, LAST_VALUE, or SUM(n) OVER (ORDER BY m)
===
SELECT ABS(n) OVER () FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q
---
This cannot stand before OVER. (line 1, column 8)
  fix: use RANK, DENSE_RANK, ROW_NUMBER, NTILE, PERCENT_RANK, CUME_DIST, LAG, LEAD, FIRST_VALUE, LAST_VALUE, SUM, AVG, COUNT, …
===
SELECT n FROM (SELECT ward, COUNT(*) n FROM visits GROUP BY ward) q UNBOUNDED
---
This SQL cannot be parsed. (line 1, column 69)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
