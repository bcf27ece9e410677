SELECT
    ward,
    COUNT(*) AS n
FROM visits
WHERE age >= 40
  AND stay > 1
GROUP BY
    ward
ORDER BY n DESC
---
SELECT ward, COUNT(*) AS n
FROM visits
WHERE age >= 40 AND stay > 1
GROUP BY ward
ORDER BY n DESC
===
SELECT	COUNT(*)	FROM visits	WHERE	ward	=	'a	b'
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward = 'a	b'
===
SELECT COUNT( * ) FROM visits WHERE((age)>(((1))))
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 1
===
SELECT COUNT(*)FROM visits WHERE age>1 AND(stay<2)
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 1 AND stay < 2
===
SELECT COUNT(*) FROM visits WHERE ward = 'two
lines'
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward = 'two
lines'
===
SELECT COUNT(*) FROM visits -- WHERE age > 40
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) /* all */ FROM visits
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT /*+ HINT */ COUNT(*) FROM visits
---
SELECT COUNT(*) AS count
FROM visits
===
/* first */ SELECT COUNT(*) FROM visits
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT ABS(COUNT(*)) /* sqlglot.anonymous */ FROM visits
---
SELECT ABS(COUNT(*)) AS count
FROM visits
===
SELECT COUNT(*)
FROM visits
-- the end
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) -- rows
FROM visits /* all; of them */ WHERE ward = 'a--b' AND "Blood Group" <> '/* A */' -- the 'end'
---
SELECT COUNT(*) AS count
FROM visits
WHERE ward = 'a--b' AND "Blood Group" <> '/* A */'
===
-- first
/* and
more */
SELECT/**/COUNT(*)FROM visits -- ; SELECT 2
---
SELECT COUNT(*) AS count
FROM visits
===
SELECT COUNT(*) FROM visits WHERE age > 5--3
AND ward = 'it''s -- x'
---
SELECT COUNT(*) AS count
FROM visits
WHERE age > 5 AND ward = 'it''s -- x'
