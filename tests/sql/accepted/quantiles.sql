SELECT MEDIAN(stay) FROM visits
---
SELECT MEDIAN(stay) AS median_stay
FROM visits
===
SELECT QUANTILE(stay, 0.9) FROM visits
---
SELECT QUANTILE(stay, 0.9) AS quantile_stay
FROM visits
===
SELECT QUANTILE_CONT(stay, 0.25) AS q1, APPROX_QUANTILE(stay, 0.75) AS q3 FROM visits
---
SELECT QUANTILE(stay, 0.25) AS q1, QUANTILE(stay, 0.75) AS q3
FROM visits
===
SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY stay) FROM visits
---
SELECT QUANTILE(stay, 0.9) AS quantile_stay
FROM visits
===
SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY stay DESC) FROM visits
---
SELECT QUANTILE(stay, 0.1) AS quantile_stay
FROM visits
===
SELECT QUANTILE(stay, 0.5), QUANTILE(stay, 1 / 4), QUANTILE(stay, .1) FROM visits
---
SELECT MEDIAN(stay) AS median_stay, QUANTILE(stay, 0.25) AS quantile_stay, QUANTILE(stay, 0.1) AS quantile_stay_2
FROM visits
===
SELECT MEDIAN(stay) FILTER (WHERE age > 60) FROM visits
---
SELECT MEDIAN(CASE WHEN age > 60 THEN stay END) AS median
FROM visits
===
SELECT QUANTILE(day, 0.9) AS late FROM visits
---
SELECT QUANTILE(day, 0.9) AS late
FROM visits
===
SELECT HISTOGRAM(stay, 0, 7, 14, 28) FROM visits
---
SELECT HISTOGRAM(stay, 0, 7, 14, 28) AS histogram_stay
FROM visits
===
SELECT HISTOGRAM(age, -0.5, 17.5, 64.5, 110) AS ages FROM visits WHERE smoker
---
SELECT HISTOGRAM(age, -0.5, 17.5, 64.5, 110) AS ages
FROM visits
WHERE smoker
===
SELECT PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY age), QUANTILE_DISC(age, 0.5), QUANTILE_DISC(age, 0.25) FROM visits
---
SELECT QUANTILE(age, 0.9) AS quantile_age, MEDIAN(age) AS median_age, QUANTILE(age, 0.25) AS quantile_age_2
FROM visits
