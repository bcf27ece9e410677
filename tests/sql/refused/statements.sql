DROP TABLE visits
---
DROP is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
DELETE FROM visits
---
DELETE is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
INSERT INTO visits VALUES (1)
---
INSERT is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
UPDATE visits SET age = 1
---
UPDATE is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
CREATE TABLE t AS SELECT * FROM visits
---
CREATE is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
COPY visits TO 'out.csv'
---
COPY is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
ATTACH 'other.db'
---
ATTACH is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
PRAGMA database_list
---
PRAGMA is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
SET memory_limit = '1GB'
---
SET is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
EXPLAIN SELECT COUNT(*) FROM visits
---
EXPLAIN is not a question. (line 1, column 1)
  fix: ask explain of the session, with the question alone
===
DESCRIBE visits
---
DESCRIBE is not a question. (line 1, column 1)
  fix: look at the schema of the session
===
SHOW TABLES
---
SHOW is not a question. (line 1, column 1)
  fix: look at the schema of the session
===
INSTALL httpfs
---
INSTALL is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
CALL pragma_version()
---
CALL is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
EXPORT DATABASE 'x'
---
EXPORT is not a question. (line 1, column 1)
  fix: begin with SELECT: questions read, and change nothing
===
FROM visits
---
The question begins with FROM. (line 1, column 1)
  fix: begin with SELECT, and put FROM behind it
===
FROM visits SELECT COUNT(*)
---
The question begins with FROM. (line 1, column 1)
  fix: begin with SELECT, and put FROM behind it
===
VALUES (1)
---
VALUES is not a question. (line 1, column 1)
  fix: write SELECT … FROM …
===
TABLE visits
---
TABLE is not a question. (line 1, column 1)
  fix: write SELECT … FROM …
===
SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits
---
There are several statements. (line 1, column 28)
  fix: ask them one after the other
===
SELECT COUNT(*) FROM visits; DROP TABLE visits;
---
There are several statements. (line 1, column 28)
  fix: ask them one after the other
===
SELECT COUNT(*) FROM visits;;
---
There are several statements. (line 1, column 28)
  fix: ask them one after the other
===
(SELECT COUNT(*) FROM visits)
---
The question stands in parentheses. (line 1, column 1)
  fix: take them off
===
COUNT(*)
---
A question does not begin with 'COUNT'. (line 1, column 1)
  fix: begin with SELECT
===
SELECT
---
The question names no table. (line 1, column 1)
  fix: write FROM and one of: visits, patients, drugs, wards
===
SELECT FROM visits
---
Nothing is asked of the table. (line 1, column 13)
  fix: write SELECT COUNT(*) FROM …
===
SELECT COUNT(*)
---
The question names no table. (line 1, column 8)
  fix: write FROM and one of: visits, patients, drugs, wards
===
SELECT COUNT(*) FROM
---
This is not SQL that can be read here. (line 1, column 17)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits WHERE
---
This is not SQL that can be read here. (line 1, column 29)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits GROUP BY
---
GROUP BY names nothing. (line 1, column 8)
  fix: name a column, or leave it out
===
SELECT COUNT(*) FROM visits ORDER BY
---
This is not SQL that can be read here. (line 1, column 29)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) INTO t FROM visits
---
INTO would write. (line 1, column 17)
  fix: leave it out: the answer is a value of the session
===
;
---
A question does not begin with ';'. (line 1, column 1)
  fix: begin with SELECT
