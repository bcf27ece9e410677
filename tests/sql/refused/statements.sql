DROP TABLE visits
---
DROP is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
DELETE FROM visits
---
DELETE is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
INSERT INTO visits VALUES (1)
---
INSERT is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
UPDATE visits SET age = 1
---
UPDATE is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
CREATE TABLE t AS SELECT * FROM visits
---
CREATE is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
COPY visits TO 'out.csv'
---
COPY is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
ATTACH 'other.db'
---
ATTACH is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
PRAGMA database_list
---
PRAGMA is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
SET memory_limit = '1GB'
---
SET is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
EXPLAIN SELECT COUNT(*) FROM visits
---
EXPLAIN is not a question. (line 1, column 1)
  fix: call session.explain with the question
===
DESCRIBE visits
---
DESCRIBE is not a question. (line 1, column 1)
  fix: see session.schema
===
SHOW TABLES
---
SHOW is not a question. (line 1, column 1)
  fix: see session.schema
===
INSTALL httpfs
---
INSTALL is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
CALL pragma_version()
---
CALL is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
EXPORT DATABASE 'x'
---
EXPORT is not a question. (line 1, column 1)
  fix: begin with SELECT: a question only reads
===
FROM visits
---
The question begins with FROM. (line 1, column 1)
  fix: begin with SELECT, followed by FROM
===
FROM visits SELECT COUNT(*)
---
The question begins with FROM. (line 1, column 1)
  fix: begin with SELECT, followed by FROM
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
The question has several statements. (line 1, column 28)
  fix: ask them one after the other
===
SELECT COUNT(*) FROM visits; DROP TABLE visits;
---
The question has several statements. (line 1, column 28)
  fix: ask them one after the other
===
SELECT COUNT(*) FROM visits;;
---
The question has several statements. (line 1, column 28)
  fix: ask them one after the other
===
COUNT(*)
---
A question does not begin with 'COUNT'. (line 1, column 1)
  fix: begin with SELECT
===
SELECT
---
The question has no FROM. (line 1, column 1)
  fix: write FROM and one of: visits, patients, drugs, wards
===
SELECT FROM visits
---
The question has no aggregate. (line 1, column 13)
  fix: write SELECT COUNT(*) FROM …
===
SELECT COUNT(*)
---
The question has no FROM. (line 1, column 8)
  fix: write FROM and one of: visits, patients, drugs, wards
===
SELECT COUNT(*) FROM
---
This SQL cannot be parsed. (line 1, column 17)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits WHERE
---
This SQL cannot be parsed. (line 1, column 29)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) FROM visits GROUP BY
---
GROUP BY names nothing. (line 1, column 8)
  fix: name a column, or leave it out
===
SELECT COUNT(*) FROM visits ORDER BY
---
This SQL cannot be parsed. (line 1, column 29)
  fix: write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]
===
SELECT COUNT(*) INTO t FROM visits
---
INTO would write a table. (line 1, column 17)
  fix: leave it out: the answer is a value of the session
===
;
---
A question does not begin with ';'. (line 1, column 1)
  fix: begin with SELECT
