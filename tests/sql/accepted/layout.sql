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
