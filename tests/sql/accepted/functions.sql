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
===
SELECT COUNT(*) FROM visits WHERE EXTRACT(DOW FROM day) = 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE DOW(day) = 1
===
SELECT COUNT(*) FROM visits WHERE EXTRACT(EPOCH FROM seen) = 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE DATE_DIFF('day', DATE '1970-01-01', seen) * 86400 + ((HOUR(seen) * 60 + MINUTE(seen)) * 60 + SECOND(seen)) = 1
===
SELECT COUNT(*) FROM visits WHERE DATE_DIFF('month', day, left_on) = 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE (YEAR(left_on) - YEAR(day)) * 12 + (MONTH(left_on) - MONTH(day)) = 1
===
SELECT COUNT(*) FROM visits WHERE CAST(day AS TIMESTAMP) = seen
---
SELECT COUNT(*) AS count
FROM visits
WHERE day + INTERVAL 0 SECOND = seen
===
SELECT COUNT(*) FROM visits WHERE seen + INTERVAL 6 HOUR > left_on
---
SELECT COUNT(*) AS count
FROM visits
WHERE seen + INTERVAL 21600 SECOND > left_on
===
SELECT COUNT(*) FROM visits WHERE TRUNC(stay) = 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE CASE WHEN stay >= 0 THEN FLOOR(stay) ELSE CEIL(stay) END = 1
===
SELECT COUNT(*) FROM visits WHERE LPAD(ward, 5, '0') = '0000A' AND RPAD(ward, 3, 'xy') = 'Axy'
---
SELECT COUNT(*) AS count
FROM visits
WHERE CASE WHEN LENGTH(ward) < 5 THEN RIGHT('00000' || ward, 5) ELSE SUBSTRING(ward, 1, 5) END = '0000A' AND SUBSTRING(ward || 'xyx', 1, 3) = 'Axy'
===
SELECT COUNT(*) FROM visits WHERE SPLIT_PART(ward, '-', 2) = ''
---
SELECT COUNT(*) AS count
FROM visits
WHERE SPLIT_PART(ward, '-', 2) = ''
===
SELECT COUNT(*) FROM visits WHERE CONTAINS(ward, 'A') AND NOT ENDS_WITH(ward, 'B') AND SUFFIX(ward, 'A')
---
SELECT COUNT(*) AS count
FROM visits
WHERE STRPOS(ward, 'A') > 0 AND NOT RIGHT(ward, 1) = 'B' AND RIGHT(ward, 1) = 'A'
===
SELECT COUNT(*) FROM visits WHERE REPEAT(ward, 2) = 'AA' OR TRANSLATE(ward, 'AB', 'x') = 'x'
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward || ward = 'AA' OR REPLACE(REPLACE(ward, 'B', ''), 'A', 'x') = 'x'
===
SELECT COUNT(*) FROM visits WHERE TRUNC(stay) = 3 AND TRUNC(stay, 1) = 3.5 AND stay > PI() AND RADIANS(stay) < DEGREES(stay)
---
SELECT COUNT(*) AS count
FROM visits
WHERE CASE WHEN stay >= 0 THEN FLOOR(stay) ELSE CEIL(stay) END = 3 AND CASE WHEN stay >= 0 THEN FLOOR(stay * 10) ELSE CEIL(stay * 10) END / 10 = 3.5 AND stay > 3.141592653589793 AND stay * 0.017453292519943295 < stay * 57.29577951308232
===
SELECT COUNT(*) FROM visits WHERE STRFTIME(day, '%Y') = '2024'
---
SELECT COUNT(*) AS count
FROM visits
WHERE SUBSTRING(CAST(day AS VARCHAR), 1, 4) = '2024'
===
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward, 'a.*')
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward LIKE '%a%%'
===
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward, '^[AB]') AND NOT REGEXP_MATCHES(ward, 'a|b')
---
SELECT COUNT(*) AS count
FROM visits
WHERE SUBSTRING(ward, 1, 1) IN ('A', 'B') AND NOT (STRPOS(ward, 'a') > 0 OR STRPOS(ward, 'b') > 0)
===
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward, 'a', 'i') OR REGEXP_FULL_MATCH(ward, 'A|B.*')
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward ILIKE '%a%' OR ward = 'A' OR ward LIKE 'B%'
