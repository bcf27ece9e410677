SELECT COUNT(*) FROM visits WHERE day >= '2024-01-01'
---
SELECT COUNT(*) AS count
FROM visits
WHERE day >= DATE '2024-01-01'
===
SELECT COUNT(*) FROM visits WHERE '2024-02-29' < day
---
SELECT COUNT(*) AS count
FROM visits
WHERE DATE '2024-02-29' < day
===
SELECT COUNT(*) FROM visits WHERE day >= DATE '2024-01-01' AND day < DATE '2024-01-01' + INTERVAL 7 DAY
---
SELECT COUNT(*) AS count
FROM visits
WHERE day >= DATE '2024-01-01' AND day < DATE '2024-01-08'
===
SELECT COUNT(*) FROM visits WHERE day BETWEEN '2024-01-01' AND '2024-12-31'
---
SELECT COUNT(*) AS count
FROM visits
WHERE day >= DATE '2024-01-01' AND day <= DATE '2024-12-31'
===
SELECT COUNT(*) FROM visits WHERE day IN ('2024-01-01', DATE '2024-12-25')
---
SELECT COUNT(*) AS count
FROM visits
WHERE day IN (DATE '2024-01-01', DATE '2024-12-25')
===
SELECT COUNT(*) FROM visits WHERE seen >= '2024-01-01' AND seen < '2024-01-01 12:30' AND seen <> TIMESTAMP '2024-01-01 12:30:15.5'
---
SELECT COUNT(*) AS count
FROM visits
WHERE seen >= TIMESTAMP '2024-01-01 00:00:00' AND seen < TIMESTAMP '2024-01-01 12:30:00' AND seen <> TIMESTAMP '2024-01-01 12:30:15.500000'
===
SELECT COUNT(*) FROM visits WHERE seen > DATE '2024-01-01' AND seen > day
---
SELECT COUNT(*) AS count
FROM visits
WHERE seen > DATE '2024-01-01' AND seen > day
===
SELECT COUNT(*) FROM visits WHERE seen IN ('2024-01-01', '2024-01-01 08:00:00')
---
SELECT COUNT(*) AS count
FROM visits
WHERE seen IN (TIMESTAMP '2024-01-01 00:00:00', TIMESTAMP '2024-01-01 08:00:00')
===
SELECT COUNT(*) FROM visits WHERE day + INTERVAL 7 DAY > left_on AND day - INTERVAL '2 weeks' < left_on AND day + INTERVAL '3' DAYS < left_on
---
SELECT COUNT(*) AS count
FROM visits
WHERE day + INTERVAL 7 DAY > left_on AND day - INTERVAL 14 DAY < left_on AND day + INTERVAL 3 DAY < left_on
===
SELECT COUNT(*) FROM visits WHERE EXTRACT(YEAR FROM day) = 2024 AND EXTRACT(isodow FROM seen) < 6
---
SELECT COUNT(*) AS count
FROM visits
WHERE YEAR(day) = 2024 AND ISODOW(seen) < 6
===
SELECT COUNT(*) FROM visits WHERE YEAR(day) = 2024 AND QUARTER(day) = 1 AND MONTH(day) = 2 AND WEEK(day) = 7 AND DAY(day) = 3
---
SELECT COUNT(*) AS count
FROM visits
WHERE YEAR(day) = 2024 AND QUARTER(day) = 1 AND MONTH(day) = 2 AND WEEK(day) = 7 AND DAY(day) = 3
===
SELECT COUNT(*) FROM visits WHERE HOUR(seen) >= 8 AND MINUTE(seen) = 0 AND ISODOW(seen) = 7 AND DATE_PART('month', seen) = 1
---
SELECT COUNT(*) AS count
FROM visits
WHERE HOUR(seen) >= 8 AND MINUTE(seen) = 0 AND ISODOW(seen) = 7 AND MONTH(seen) = 1
===
SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('month', day) = '2024-01-01' AND DATE_TRUNC('YEAR', seen) = day
---
SELECT COUNT(*) AS count
FROM visits
WHERE DATE_TRUNC('month', day) = DATE '2024-01-01' AND DATE_TRUNC('year', seen) = day
===
SELECT COUNT(*) FROM visits WHERE DATE_DIFF('day', day, '2024-01-31') > 3 AND DATEDIFF('day', day, left_on) < 2
---
SELECT COUNT(*) AS count
FROM visits
WHERE DATE_DIFF('day', day, DATE '2024-01-31') > 3 AND DATE_DIFF('day', day, left_on) < 2
===
SELECT COUNT(*) FROM visits WHERE CAST(seen AS DATE) = day AND seen::DATE + INTERVAL 1 DAY = day
---
SELECT COUNT(*) AS count
FROM visits
WHERE CAST(seen AS DATE) = day AND CAST(seen AS DATE) + INTERVAL 1 DAY = day
===
SELECT COUNT(*) FROM visits WHERE COALESCE(left_on, '2024-12-31') > day AND CASE WHEN smoker THEN day ELSE '2024-01-01' END < day
---
SELECT COUNT(*) AS count
FROM visits
WHERE COALESCE(left_on, DATE '2024-12-31') > day AND CASE WHEN smoker THEN day ELSE DATE '2024-01-01' END < day
===
SELECT COUNT(*) FROM visits WHERE day < DATE '2024-01-01' - INTERVAL 1 DAY AND day > CAST('2020-01-01' AS DATE)
---
SELECT COUNT(*) AS count
FROM visits
WHERE day < DATE '2023-12-31' AND day > DATE '2020-01-01'
===
SELECT COUNT(*) FROM visits WHERE DATE '2024-03-01' - DATE '2024-02-01' > age
---
SELECT COUNT(*) AS count
FROM visits
WHERE 29 > age
===
SELECT COUNT(*) FROM visits WHERE day >= DATE '2024-03-31' - INTERVAL '1 month' AND day < DATE '2023-02-28' + INTERVAL 1 YEAR
---
SELECT COUNT(*) AS count
FROM visits
WHERE day >= DATE '2024-02-29' AND day < DATE '2024-02-28'
===
SELECT COUNT(*) FROM visits WHERE day > DATE '2023-10-31' + INTERVAL '2' MONTH OR left_on < DATE '2024-02-29' - INTERVAL 1 QUARTER
---
SELECT COUNT(*) AS count
FROM visits
WHERE day > DATE '2023-12-31' OR left_on < DATE '2023-11-29'
===
SELECT MIN(CLAMP(day, '2024-01-01', '2024-02-01')) AS first, MAX(CLAMP(day, DATE '2024-01-01', DATE '2024-02-01')) AS last FROM visits
---
SELECT MIN(CASE WHEN day IS NOT NULL THEN GREATEST(LEAST(day, DATE '2024-02-01'), DATE '2024-01-01') END) AS "first", MAX(CASE WHEN day IS NOT NULL THEN GREATEST(LEAST(day, DATE '2024-02-01'), DATE '2024-01-01') END) AS last
FROM visits
===
SELECT COUNT(*) FROM visits WHERE day + INTERVAL 1 MONTH > left_on AND day - INTERVAL '2 years' < left_on AND day + INTERVAL '3' QUARTERS < left_on
---
SELECT COUNT(*) AS count
FROM visits
WHERE day + INTERVAL 1 MONTH > left_on AND day - INTERVAL 24 MONTH < left_on AND day + INTERVAL 9 MONTH < left_on
===
SELECT COUNT(*) FROM visits WHERE left_on - INTERVAL 1 YEAR + INTERVAL 12 MONTH + INTERVAL 1 DAY > day
---
SELECT COUNT(*) AS count
FROM visits
WHERE left_on - INTERVAL 12 MONTH + INTERVAL 12 MONTH + INTERVAL 1 DAY > day
===
SELECT COUNT(*) FROM visits WHERE seen + INTERVAL 1 MONTH > left_on AND seen - INTERVAL 36 DAY < TIMESTAMP '2024-01-31 08:30:00' + INTERVAL 1 MONTH
---
SELECT COUNT(*) AS count
FROM visits
WHERE seen + INTERVAL 1 MONTH > left_on AND seen - INTERVAL 36 DAY < TIMESTAMP '2024-02-29 08:30:00'
===
SELECT COUNT(*) FROM visits WHERE MONTH(day + INTERVAL 2 MONTH) = 2 AND DATE_DIFF('day', day, day + INTERVAL 1 MONTH) = 31
---
SELECT COUNT(*) AS count
FROM visits
WHERE MONTH(day + INTERVAL 2 MONTH) = 2 AND DATE_DIFF('day', day, day + INTERVAL 1 MONTH) = 31
===
SELECT DATE_TRUNC('month', day - INTERVAL 1 MONTH) AS month, COUNT(*) AS n FROM visits GROUP BY 1
---
SELECT DATE_TRUNC('month', day - INTERVAL 1 MONTH) AS month, COUNT(*) AS n
FROM visits
GROUP BY DATE_TRUNC('month', day - INTERVAL 1 MONTH)
===
SELECT COUNT(*) FROM visits WHERE CASE WHEN smoker THEN day ELSE left_on END + INTERVAL 1 MONTH >= '2024-02-29'
---
SELECT COUNT(*) AS count
FROM visits
WHERE CASE WHEN smoker THEN day ELSE left_on END + INTERVAL 1 MONTH >= DATE '2024-02-29'
===
SELECT COUNT(*) FROM visits WHERE seen + INTERVAL 1 DAY > left_on AND (seen + INTERVAL '1 week')::DATE = day
---
SELECT COUNT(*) AS count
FROM visits
WHERE seen + INTERVAL 1 DAY > left_on AND CAST(seen + INTERVAL 7 DAY AS DATE) = day
===
SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('hour', seen) = TIMESTAMP '2024-01-31 08:00:00'
---
SELECT COUNT(*) AS count
FROM visits
WHERE DATE_TRUNC('hour', seen) = TIMESTAMP '2024-01-31 08:00:00'
===
SELECT DOW(day), EXTRACT(DOW FROM seen) AS d, COUNT(*) FROM visits GROUP BY 1, 2
---
SELECT DOW(day) AS dow_day, DOW(seen) AS d, COUNT(*) AS count
FROM visits
GROUP BY DOW(day), DOW(seen)
===
SELECT DAYOFYEAR(day), DATE_PART('doy', seen), COUNT(*) FROM visits GROUP BY 1, 2
---
SELECT DAYOFYEAR(day) AS doy_day, DAYOFYEAR(seen) AS doy_seen, COUNT(*) AS count
FROM visits
GROUP BY DAYOFYEAR(day), DAYOFYEAR(seen)
===
SELECT DAYNAME(day) AS name, COUNT(*) FROM visits GROUP BY 1
---
SELECT CASE WHEN ISODOW(day) = 1 THEN 'Monday' WHEN ISODOW(day) = 2 THEN 'Tuesday' WHEN ISODOW(day) = 3 THEN 'Wednesday' WHEN ISODOW(day) = 4 THEN 'Thursday' WHEN ISODOW(day) = 5 THEN 'Friday' WHEN ISODOW(day) = 6 THEN 'Saturday' WHEN ISODOW(day) = 7 THEN 'Sunday' END AS name, COUNT(*) AS count
FROM visits
GROUP BY CASE WHEN ISODOW(day) = 1 THEN 'Monday' WHEN ISODOW(day) = 2 THEN 'Tuesday' WHEN ISODOW(day) = 3 THEN 'Wednesday' WHEN ISODOW(day) = 4 THEN 'Thursday' WHEN ISODOW(day) = 5 THEN 'Friday' WHEN ISODOW(day) = 6 THEN 'Saturday' WHEN ISODOW(day) = 7 THEN 'Sunday' END
===
SELECT COUNT(*) FROM visits WHERE MONTHNAME(seen) IN ('May', 'June')
---
SELECT COUNT(*) AS count
FROM visits
WHERE CASE WHEN MONTH(seen) = 1 THEN 'January' WHEN MONTH(seen) = 2 THEN 'February' WHEN MONTH(seen) = 3 THEN 'March' WHEN MONTH(seen) = 4 THEN 'April' WHEN MONTH(seen) = 5 THEN 'May' WHEN MONTH(seen) = 6 THEN 'June' WHEN MONTH(seen) = 7 THEN 'July' WHEN MONTH(seen) = 8 THEN 'August' WHEN MONTH(seen) = 9 THEN 'September' WHEN MONTH(seen) = 10 THEN 'October' WHEN MONTH(seen) = 11 THEN 'November' WHEN MONTH(seen) = 12 THEN 'December' END IN ('May', 'June')
===
SELECT LAST_DAY(day), COUNT(*) FROM visits GROUP BY 1
---
SELECT LAST_DAY(day) AS last_day_day, COUNT(*) AS count
FROM visits
GROUP BY LAST_DAY(day)
===
SELECT COUNT(*) FROM visits WHERE DATE_DIFF('month', day, left_on) > 2
---
SELECT COUNT(*) AS count
FROM visits
WHERE (YEAR(left_on) - YEAR(day)) * 12 + (MONTH(left_on) - MONTH(day)) > 2
===
SELECT COUNT(*) FROM visits WHERE DATE_DIFF('hours', seen, '2024-01-31 08:30:00') < 24
---
SELECT COUNT(*) AS count
FROM visits
WHERE DATE_DIFF('day', seen, TIMESTAMP '2024-01-31 08:30:00') * 24 + (8 - HOUR(seen)) < 24
===
SELECT COUNT(*) FROM visits WHERE DATE_DIFF('minute', day, seen) < 90 AND DATE_DIFF('second', seen, seen) = 0
---
SELECT COUNT(*) AS count
FROM visits
WHERE (DATE_DIFF('day', day, seen) * 24 + HOUR(seen)) * 60 + MINUTE(seen) < 90 AND ((DATE_DIFF('day', seen, seen) * 24 + (HOUR(seen) - HOUR(seen))) * 60 + (MINUTE(seen) - MINUTE(seen))) * 60 + (SECOND(seen) - SECOND(seen)) = 0
===
SELECT AVG(CLAMP(DATE_DIFF('hour', day, seen), 0, 48)) FROM visits
---
SELECT AVG(CLAMP(DATE_DIFF('day', day, seen) * 24 + HOUR(seen), 0, 48)) AS avg
FROM visits
===
SELECT COUNT(*) FROM visits WHERE seen + INTERVAL 6 HOUR > TIMESTAMP '2024-01-31 08:30:00' - INTERVAL '90' MINUTE
---
SELECT COUNT(*) AS count
FROM visits
WHERE seen + INTERVAL 21600 SECOND > TIMESTAMP '2024-01-31 07:00:00'
===
SELECT COUNT(*) FROM visits WHERE day + INTERVAL 6 HOUR > seen
---
SELECT COUNT(*) AS count
FROM visits
WHERE day + INTERVAL 21600 SECOND > seen
===
SELECT COUNT(*) FROM visits WHERE MAKE_DATE(YEAR(day), MONTH(day), 15) > day
---
SELECT COUNT(*) AS count
FROM visits
WHERE CASE WHEN YEAR(day) >= 1 AND YEAR(day) <= 9999 AND MONTH(day) >= 1 AND MONTH(day) <= 12 THEN CAST(RIGHT('000' || CAST(YEAR(day) AS VARCHAR), 4) || '-' || RIGHT('0' || CAST(MONTH(day) AS VARCHAR), 2) || '-15' AS DATE) END > day
===
SELECT COUNT(*) FROM visits WHERE MAKE_DATE(2024, 2, 29) > day
---
SELECT COUNT(*) AS count
FROM visits
WHERE DATE '2024-02-29' > day
===
SELECT COUNT(*) FROM visits WHERE EXTRACT(EPOCH FROM seen) > 1700000000 AND EPOCH(day) < 1800000000
---
SELECT COUNT(*) AS count
FROM visits
WHERE DATE_DIFF('day', DATE '1970-01-01', seen) * 86400 + ((HOUR(seen) * 60 + MINUTE(seen)) * 60 + SECOND(seen)) > 1700000000 AND DATE_DIFF('day', DATE '1970-01-01', day) * 86400 < 1800000000
===
SELECT COUNT(*) FROM visits WHERE CAST(day AS TIMESTAMP) < seen AND CAST(seen AS TIMESTAMP) > day
---
SELECT COUNT(*) AS count
FROM visits
WHERE day + INTERVAL 0 SECOND < seen AND seen > day
===
SELECT COUNT(*) FROM visits WHERE WEEKOFYEAR(day) = 5 AND DAYOFMONTH(day) = 6
---
SELECT COUNT(*) AS count
FROM visits
WHERE WEEK(day) = 5 AND DAY(day) = 6
===
SELECT STRFTIME(day, '%Y-%m') AS month, COUNT(*) FROM visits GROUP BY 1
---
SELECT SUBSTRING(CAST(day AS VARCHAR), 1, 7) AS month, COUNT(*) AS count
FROM visits
GROUP BY SUBSTRING(CAST(day AS VARCHAR), 1, 7)
===
SELECT COUNT(*) FROM visits WHERE STRFTIME(seen, '%Y-%m-%d %H:%M') > '2024-01-31 08:30' AND STRFTIME(day, '%A') = 'Monday'
---
SELECT COUNT(*) AS count
FROM visits
WHERE CAST(DATE_TRUNC('day', seen) AS VARCHAR) || ' ' || RIGHT('0' || CAST(HOUR(seen) AS VARCHAR), 2) || ':' || RIGHT('0' || CAST(MINUTE(seen) AS VARCHAR), 2) > '2024-01-31 08:30' AND CASE WHEN ISODOW(day) = 1 THEN 'Monday' WHEN ISODOW(day) = 2 THEN 'Tuesday' WHEN ISODOW(day) = 3 THEN 'Wednesday' WHEN ISODOW(day) = 4 THEN 'Thursday' WHEN ISODOW(day) = 5 THEN 'Friday' WHEN ISODOW(day) = 6 THEN 'Saturday' WHEN ISODOW(day) = 7 THEN 'Sunday' END = 'Monday'
