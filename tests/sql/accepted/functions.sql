SELECT AVG(LOG10(stay + 1)) FROM visits
---
SELECT AVG(LOG10(stay + 1)) AS avg
FROM visits
===
SELECT AVG(LOG(10, stay + 1)) AS a, AVG(LOG2(stay + 1)) AS b, AVG(LOG(2, stay + 1)) AS c FROM visits
---
SELECT AVG(LOG10(stay + 1)) AS a, AVG(LN(stay + 1) / 0.6931471805599453) AS b, AVG(LN(stay + 1) / 0.6931471805599453) AS c
FROM visits
===
SELECT LOG10(COUNT(*)), LOG2(COUNT(*)) FROM visits HAVING LOG10(COUNT(*)) > 2
---
SELECT LOG10(COUNT(*)) AS count, LN(COUNT(*)) / 0.6931471805599453 AS count_2
FROM visits
HAVING LOG10(COUNT(*)) > 2
===
SELECT SIGN(stay - 3), COUNT(*) FROM visits GROUP BY 1
---
SELECT CASE WHEN stay - 3 > 0 THEN 1 WHEN stay - 3 < 0 THEN -1 WHEN stay - 3 = 0 THEN 0 END AS value, COUNT(*) AS count
FROM visits
GROUP BY CASE WHEN stay - 3 > 0 THEN 1 WHEN stay - 3 < 0 THEN -1 WHEN stay - 3 = 0 THEN 0 END
===
SELECT COUNT(*) FROM visits WHERE RIGHT(ward, 2) = 'AB' AND LTRIM(ward) = RTRIM(ward)
---
SELECT COUNT(*) AS count
FROM visits
WHERE RIGHT(ward, 2) = 'AB' AND LTRIM(ward) = RTRIM(ward)
===
SELECT RIGHT(ward, 1), COUNT(*) FROM visits GROUP BY RIGHT(ward, 1)
---
SELECT RIGHT(ward, 1) AS right_ward, COUNT(*) AS count
FROM visits
GROUP BY RIGHT(ward, 1)
===
SELECT REPLACE(ward, 'A', 'it''s'), COUNT(*) FROM visits GROUP BY 1
---
SELECT REPLACE(ward, 'A', 'it''s') AS replace_ward, COUNT(*) AS count
FROM visits
GROUP BY REPLACE(ward, 'A', 'it''s')
===
SELECT COUNT(*) FROM visits WHERE POSITION('A' IN ward) > 0 AND STRPOS(ward, 'A') = INSTR(ward, 'A')
---
SELECT COUNT(*) AS count
FROM visits
WHERE STRPOS(ward, 'A') > 0 AND STRPOS(ward, 'A') = STRPOS(ward, 'A')
===
SELECT AVG(POSITION('A' IN LOWER("Blood Group"))) FROM visits
---
SELECT AVG(STRPOS(LOWER("Blood Group"), 'A')) AS avg
FROM visits
===
SELECT COUNT(*) FROM visits WHERE CONCAT_WS('-', ward, age, day, NULL) = 'A-40-2024-01-01'
---
SELECT COUNT(*) AS count
FROM visits
WHERE SUBSTRING(COALESCE('-' || ward, '') || COALESCE('-' || CAST(age AS VARCHAR), '') || COALESCE('-' || CAST(day AS VARCHAR), ''), 2, 2147483647) = 'A-40-2024-01-01'
===
SELECT COUNT(*) FROM visits WHERE CONCAT_WS('-', NULL) = ''
---
SELECT COUNT(*) AS count
FROM visits
WHERE '' = ''
===
SELECT EXTRACT(SECOND FROM seen), COUNT(*) FROM visits WHERE SECOND(seen) < 10 GROUP BY 1
---
SELECT SECOND(seen) AS second_seen, COUNT(*) AS count
FROM visits
WHERE SECOND(seen) < 10
GROUP BY SECOND(seen)
===
SELECT SUM(ROUND(stay, -1)) FROM visits
---
SELECT SUM(ROUND(stay / 10) * 10) AS sum
FROM visits
===
SELECT SUM(ROUND(stay, 0)), ROUND(AVG(stay), -3) FROM visits
---
SELECT SUM(ROUND(stay)) AS sum_round_stay, ROUND(AVG(stay) / 1000) * 1000 AS avg_stay
FROM visits
