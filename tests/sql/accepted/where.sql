SELECT COUNT(*) FROM visits WHERE age >= 40
---
SELECT COUNT(*) AS count
FROM visits
WHERE age >= 40
===
SELECT COUNT(*) FROM visits WHERE age > 40 AND stay <= 3 AND ward <> 'A'
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 40 AND stay <= 3 AND ward <> 'A'
===
SELECT COUNT(*) FROM visits WHERE age = 1 OR age == 2 OR age != 3
---
SELECT COUNT(*) AS count
FROM visits
WHERE age = 1 OR age = 2 OR age <> 3
===
SELECT COUNT(*) FROM visits WHERE age > 1 AND (stay > 2 OR smoker) AND NOT smoker
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 1 AND (stay > 2 OR smoker) AND NOT smoker
===
SELECT COUNT(*) FROM visits WHERE NOT (age > 1 OR stay > 2)
---
SELECT COUNT(*) AS count
FROM visits
WHERE NOT (age > 1 OR stay > 2)
===
SELECT COUNT(*) FROM visits WHERE NOT age > 1 AND stay > 2
---
SELECT COUNT(*) AS count
FROM visits
WHERE NOT age > 1 AND stay > 2
===
SELECT COUNT(*) FROM visits WHERE (age > 1 AND stay > 2) AND (smoker AND ward = 'A')
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 1 AND stay > 2 AND smoker AND ward = 'A'
===
SELECT COUNT(*) FROM visits WHERE age BETWEEN 18 AND 65
---
SELECT COUNT(*) AS count
FROM visits
WHERE age >= 18 AND age <= 65
===
SELECT COUNT(*) FROM visits WHERE age NOT BETWEEN 18 AND 65 OR smoker
---
SELECT COUNT(*) AS count
FROM visits
WHERE NOT (age >= 18 AND age <= 65) OR smoker
===
SELECT COUNT(*) FROM visits WHERE ward IN ('A', 'B', 'A')
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward IN ('A', 'B')
===
SELECT COUNT(*) FROM visits WHERE ward NOT IN ('A', 'it''s')
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward NOT IN ('A', 'it''s')
===
SELECT COUNT(*) FROM visits WHERE age IN (1, 2, 2.5)
---
SELECT COUNT(*) AS count
FROM visits
WHERE age IN (1.0, 2.0, 2.5)
===
SELECT COUNT(*) FROM visits WHERE stay IN (1, 2)
---
SELECT COUNT(*) AS count
FROM visits
WHERE stay IN (1.0, 2.0)
===
SELECT COUNT(*) FROM visits WHERE age IN (-1, 1 + 1)
---
SELECT COUNT(*) AS count
FROM visits
WHERE age IN (-1, 2)
===
SELECT COUNT(*) FROM visits WHERE ward LIKE 'A%'
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward LIKE 'A%'
===
SELECT COUNT(*) FROM visits WHERE ward NOT LIKE '_x%' AND ward ILIKE 'b%' AND ward NOT ILIKE '%''%'
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward NOT LIKE '_x%' AND ward ILIKE 'b%' AND ward NOT ILIKE '%''%'
===
SELECT COUNT(*) FROM visits WHERE ward IS NULL OR stay IS NOT NULL
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward IS NULL OR stay IS NOT NULL
===
SELECT COUNT(*) FROM visits WHERE smoker IS TRUE OR smoker IS NOT TRUE OR smoker IS FALSE OR smoker IS NOT FALSE
---
SELECT COUNT(*) AS count
FROM visits
WHERE COALESCE(smoker, FALSE) OR NOT COALESCE(smoker, FALSE) OR COALESCE(NOT smoker, FALSE) OR NOT COALESCE(NOT smoker, FALSE)
===
SELECT COUNT(*) FROM visits WHERE (age > 40) IS NOT TRUE
---
SELECT COUNT(*) AS count
FROM visits
WHERE NOT COALESCE(age > 40, FALSE)
===
SELECT COUNT(*) FROM visits WHERE smoker = TRUE AND smoker
---
SELECT COUNT(*) AS count
FROM visits
WHERE smoker = TRUE AND smoker
===
SELECT COUNT(*) FROM visits WHERE TRUE
---
SELECT COUNT(*) AS count
FROM visits
WHERE TRUE
===
SELECT COUNT(*) FROM visits WHERE CASE WHEN age > 40 THEN TRUE ELSE FALSE END
---
SELECT COUNT(*) AS count
FROM visits
WHERE CASE WHEN age > 40 THEN TRUE ELSE FALSE END
===
SELECT COUNT(*) FROM visits WHERE CASE age WHEN 1 THEN 'a' WHEN 2 THEN 'b' END = 'a'
---
SELECT COUNT(*) AS count
FROM visits
WHERE CASE WHEN age = 1 THEN 'a' WHEN age = 2 THEN 'b' END = 'a'
===
SELECT COUNT(*) FROM visits WHERE COALESCE(cost, stay, 0) > 10 AND NULLIF(ward, '') IS NOT NULL
---
SELECT COUNT(*) AS count
FROM visits
WHERE COALESCE(cost, stay, 0) > 10 AND NULLIF(ward, '') IS NOT NULL
===
SELECT COUNT(*) FROM visits WHERE patient_id = 4711
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id = 4711
===
SELECT COUNT(*) FROM visits WHERE patient_id % 2 = 0
---
SELECT COUNT(*) AS count
FROM visits
WHERE patient_id % 2 = 0
===
SELECT COUNT(*) FROM visits WHERE LOWER(ward) = 'a' AND UPPER(ward) = 'A' AND TRIM(ward) = ward
---
SELECT COUNT(*) AS count
FROM visits
WHERE LOWER(ward) = 'a' AND UPPER(ward) = 'A' AND TRIM(ward) = ward
===
SELECT COUNT(*) FROM visits WHERE SUBSTRING(ward, 1, 2) = 'AB' OR SUBSTR(ward, 2) = 'B'
---
SELECT COUNT(*) AS count
FROM visits
WHERE SUBSTRING(ward, 1, 2) = 'AB' OR SUBSTRING(ward, 2, 2147483647) = 'B'
===
SELECT COUNT(*) FROM visits WHERE ward || '-' || ward = 'A-A'
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward || '-' || ward = 'A-A'
===
SELECT COUNT(*) FROM visits WHERE 'a' || 'b' = ward
---
SELECT COUNT(*) AS count
FROM visits
WHERE 'ab' = ward
===
SELECT COUNT(*) FROM visits WHERE CAST(ward AS INTEGER) > 3 AND TRY_CAST(ward AS DOUBLE) > 3 AND ward::INT > 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE CAST(ward AS INTEGER) > 3 AND CAST(ward AS DOUBLE) > 3 AND CAST(ward AS INTEGER) > 1
===
SELECT COUNT(*) FROM visits WHERE age::VARCHAR = '3' AND CAST(ward AS DATE) = DATE '2024-01-01' AND age::TEXT LIKE '1%'
---
SELECT COUNT(*) AS count
FROM visits
WHERE CAST(age AS VARCHAR) = '3' AND CAST(ward AS DATE) = DATE '2024-01-01' AND CAST(age AS VARCHAR) LIKE '1%'
===
SELECT COUNT(*) FROM visits WHERE -age < -40 AND stay * -1 < 0 AND 1 - -1 = 2
---
SELECT COUNT(*) AS count
FROM visits
WHERE -(age) < -40 AND stay * -1 < 0 AND 2 = 2
===
SELECT COUNT(*) FROM visits WHERE (age = 1) = (stay = 2)
---
SELECT COUNT(*) AS count
FROM visits
WHERE (age = 1) = (stay = 2)
===
SELECT COUNT(*) FROM visits WHERE age + 1 * 2 > 3 AND (age + 1) * 2 > 3
---
SELECT COUNT(*) AS count
FROM visits
WHERE age + 2 > 3 AND (age + 1) * 2 > 3
===
SELECT COUNT(*) FROM visits WHERE age > 9007199254740993 AND age < 9223372036854775807 AND stay > 1e20 AND stay > 1.50
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 9007199254740993 AND age < 9223372036854775807 AND stay > 1e+20 AND stay > 1.5
===
SELECT COUNT(*) FROM visits WHERE "Blood Group" = '0' AND "index" = 1 AND "AGE" > 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE "Blood Group" = '0' AND "index" = 1 AND age > 1
===
SELECT COUNT(*) FROM visits WHERE ward = '-- not a comment' OR ward = '/* nor */' OR ward = ';' OR ward = '"'
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward = '-- not a comment' OR ward = '/* nor */' OR ward = ';' OR ward = '"'
===
SELECT COUNT(*) FROM visits WHERE ward = 'Zürich' OR ward = '東京' OR ward = '🏥'
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward = 'Zürich' OR ward = '東京' OR ward = '🏥'
===
SELECT COUNT(*) FROM visits WHERE smoker = smoker IS NULL
---
SELECT COUNT(*) AS count
FROM visits
WHERE (smoker = smoker) IS NULL
===
SELECT COUNT(*) FROM visits WHERE smoker = (smoker IS NULL) AND NOT smoker IS NULL AND age > 3 IS TRUE
---
SELECT COUNT(*) AS count
FROM visits
WHERE smoker = (smoker IS NULL) AND smoker IS NOT NULL AND COALESCE(age > 3, FALSE)
===
SELECT SUM(IF(smoker, 1, 0)) FROM visits
---
SELECT SUM(CASE WHEN smoker THEN 1 ELSE 0 END) AS sum
FROM visits
===
SELECT AVG(IFNULL(stay, 0)) FROM visits
---
SELECT AVG(COALESCE(stay, 0)) AS avg_coalesce_stay
FROM visits
===
SELECT COUNT(*) FROM visits WHERE LEFT(ward, 1) = 'A'
---
SELECT COUNT(*) AS count
FROM visits
WHERE SUBSTRING(ward, 1, 1) = 'A'
===
SELECT COUNT(*) FROM visits WHERE CONCAT(ward, 'x') = 'Ax'
---
SELECT COUNT(*) AS count
FROM visits
WHERE COALESCE(ward, '') || 'x' = 'Ax'
===
SELECT COUNT(*) FROM visits WHERE age IS DISTINCT FROM 3
---
SELECT COUNT(*) AS count
FROM visits
WHERE COALESCE(age <> 3, TRUE)
===
SELECT COUNT(*) FROM visits WHERE DATE(seen) = day
---
SELECT COUNT(*) AS count
FROM visits
WHERE CAST(seen AS DATE) = day
===
SELECT COUNT(*) FROM visits WHERE CAST(age AS DECIMAL(10, 2)) > 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE ROUND(age * 100) / 100 > 1
===
SELECT COUNT(*) FROM visits WHERE CONCAT(ward, '-', age, NULL, day) LIKE 'A-%' OR CONCAT(ward) = ''
---
SELECT COUNT(*) AS count
FROM visits
WHERE COALESCE(ward, '') || '-' || COALESCE(CAST(age AS VARCHAR), '') || COALESCE(CAST(day AS VARCHAR), '') LIKE 'A-%' OR COALESCE(ward, '') = ''
===
SELECT COUNT(*) FROM visits WHERE STARTS_WITH(ward, 'A') AND CHAR_LENGTH(ward) = 1 AND IFNULL(smoker, FALSE)
---
SELECT COUNT(*) AS count
FROM visits
WHERE SUBSTRING(ward, 1, 1) = 'A' AND LENGTH(ward) = 1 AND COALESCE(smoker, FALSE)
===
SELECT COUNT(*) FROM visits WHERE smoker IS NOT DISTINCT FROM (age > 40) AND ward IS DISTINCT FROM 'A'
---
SELECT COUNT(*) AS count
FROM visits
WHERE COALESCE(smoker = (age > 40), smoker IS NULL AND (age > 40) IS NULL) AND COALESCE(ward <> 'A', TRUE)
===
SELECT COUNT(*) FROM visits WHERE CAST(stay AS DECIMAL(10, 1)) = 2.5 OR age::NUMERIC(3) > 80 OR CAST(stay AS DECIMAL(8, 0)) = 3
---
SELECT COUNT(*) AS count
FROM visits
WHERE ROUND(stay * 10) / 10 = 2.5 OR ROUND(age) > 80 OR ROUND(stay) = 3
===
SELECT COUNT(*) FROM visits WHERE age > '40' AND stay <= '-2.5'
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 40 AND stay <= -2.5
===
SELECT COUNT(*) FROM visits WHERE '40' < age AND stay IN ('1', '2.5') AND age BETWEEN '1' AND '30'
---
SELECT COUNT(*) AS count
FROM visits
WHERE 40 < age AND stay IN (1.0, 2.5) AND age >= 1 AND age <= 30
