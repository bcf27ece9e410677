SELECT COUNT(DISTINCT v.patient_id) FROM visits v JOIN drugs d ON v.day = d.day
---
Where people are joined with each other, only rows can be counted and summed. (line 1, column 8)
  fix: ask for COUNT(*), SUM, AVG or HISTOGRAM; or join on the person
===
SELECT MEDIAN(d.dose) FROM visits v JOIN drugs d ON v.day = d.day
---
Where people are joined with each other, only rows can be counted and summed. (line 1, column 8)
  fix: ask for COUNT(*), SUM, AVG or HISTOGRAM; or join on the person
===
SELECT MIN(d.dose) FROM visits v JOIN drugs d ON v.day = d.day
---
Where people are joined with each other, only rows can be counted and summed. (line 1, column 8)
  fix: ask for COUNT(*), SUM, AVG or HISTOGRAM; or join on the person
===
SELECT COUNT(DISTINCT d.name) FROM visits v JOIN drugs d ON v.day = d.day
---
Where people are joined with each other, only rows can be counted and summed. (line 1, column 8)
  fix: ask for COUNT(*), SUM, AVG or HISTOGRAM; or join on the person
===
SELECT d.name, COUNT(*) FROM visits v JOIN drugs d ON v.day = d.day GROUP BY d.name
---
Where people are joined with each other, groups must be public; those of 'name' are private. (line 1, column 8)
  fix: declare them when the dataset is opened, as in groups={"ward": ["A", "B"]}
===
SELECT COUNT(*) FROM visits v LEFT JOIN drugs d ON v.day = d.day
---
This joins people with each other: a row would belong to two people. (line 1, column 41)
  fix: join on the person too: v.patient_id = d.person
===
SELECT COUNT(*) FROM visits v JOIN drugs d ON v.day = d.day JOIN patients p ON p.patient_id = v.patient_id
---
A join of people with each other must be the last join. (line 1, column 66)
  fix: put this join last, and only filter, group and sum its rows
===
SELECT COUNT(*) FROM visits v JOIN drugs d ON v.day = d.day JOIN wards w ON w.code = v.ward
---
A join of people with each other must be the last join. (line 1, column 66)
  fix: put this join last, and only filter, group and sum its rows
===
SELECT COUNT(*) FROM visits v JOIN drugs d ON v.day = d.day WHERE v.patient_id IN (SELECT person FROM drugs)
---
A row of a join of people with each other has no single owner. (line 1, column 67)
  fix: put the condition in a subquery, before the join
===
SELECT COUNT(*) FROM (SELECT v.patient_id, COUNT(*) AS n FROM visits v JOIN drugs d ON v.day = d.day GROUP BY v.patient_id) t
---
A row of a join of people with each other has no single owner. (line 1, column 30)
  fix: put this join last, and only filter, group and sum its rows
===
SELECT COUNT(*) FROM (SELECT DISTINCT v.ward FROM visits v JOIN drugs d ON v.day = d.day) t
---
A row of a join of people with each other has no single owner. (line 1, column 39)
  fix: put this join last, and only filter, group and sum its rows
===
SELECT COUNT(*) FROM (SELECT v.day FROM visits v JOIN drugs d ON v.day = d.day UNION ALL SELECT day FROM drugs) t
---
A row of a join of people with each other has no single owner. (line 1, column 30)
  fix: put this join last, and only filter, group and sum its rows
===
SELECT COUNT(*) FROM visits v JOIN (SELECT a.day FROM visits a JOIN drugs d ON a.day = d.day) t ON v.day = t.day
---
A join of people with each other must be the last join. (line 1, column 44)
  fix: put this join last, and only filter, group and sum its rows
===
SELECT COUNT(*) FROM visits a JOIN visits b ON a.seen = b.seen
---
People cannot be joined on timestamps. (line 1, column 48)
  fix: write DATE_TRUNC('day', x) on both sides
===
SELECT COUNT(*) FROM visits a JOIN visits b ON a.stay = b.stay
---
A join cannot compare floating-point values. (line 1, column 48)
  fix: join on whole numbers, texts or dates
===
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT a.patient_id FROM visits a JOIN drugs d ON a.day = d.day)
---
The subquery compares rows of different people. (line 1, column 35)
  fix: write visits.patient_id IN (SELECT … FROM …), and select only the person
