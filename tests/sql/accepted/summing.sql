SELECT SUM(stay) FROM visits
---
SELECT SUM(stay) AS sum_stay
FROM visits
===
SELECT SUM(age), SUM(stay * 24), SUM(-stay) FROM visits
---
SELECT SUM(age) AS sum_age, SUM(stay * 24) AS sum, SUM(-(stay)) AS sum_2
FROM visits
===
SELECT AVG(stay) AS stay FROM visits
---
SELECT AVG(stay) AS stay
FROM visits
===
SELECT AVG(CLAMP(cost, 0, 1000)) FROM visits
---
SELECT AVG(CLAMP(cost, 0, 1000)) AS avg_cost
FROM visits
===
SELECT AVG(CLAMP(cost, -1.5, 1e3)) FROM visits
---
SELECT AVG(CLAMP(cost, -1.5, 1000.0)) AS avg_cost
FROM visits
===
SELECT VARIANCE(stay), VAR_SAMP(stay), VAR_POP(stay) FROM visits
---
SELECT VAR_SAMP(stay) AS variance_stay, VAR_SAMP(stay) AS variance_stay_2, VAR_POP(stay) AS variance_stay_3
FROM visits
===
SELECT STDDEV(stay), STDDEV_SAMP(age), STDDEV_POP(stay) FROM visits
---
SELECT STDDEV_SAMP(stay) AS stddev_stay, STDDEV_SAMP(age) AS stddev_age, STDDEV_POP(stay) AS stddev_stay_2
FROM visits
===
SELECT MIN(stay), MAX(age), MIN(day), MAX(seen) FROM visits
---
SELECT MIN(stay) AS min_stay, MAX(age) AS max_age, MIN(day) AS min_day, MAX(seen) AS max_seen
FROM visits
===
SELECT SUM(CASE WHEN ward = 'A' THEN stay ELSE 0 END) FROM visits
---
SELECT SUM(CASE WHEN ward = 'A' THEN stay ELSE 0 END) AS sum
FROM visits
===
SELECT SUM(stay) FILTER (WHERE ward = 'A') AS a FROM visits
---
SELECT SUM(CASE WHEN ward = 'A' THEN stay END) AS a
FROM visits
===
SELECT SUM(CASE ward WHEN 'A' THEN 1 WHEN 'B' THEN 2 ELSE 3 END) FROM visits
---
SELECT SUM(CASE WHEN ward = 'A' THEN 1 WHEN ward = 'B' THEN 2 ELSE 3 END) AS sum
FROM visits
===
SELECT SUM(CAST(smoker AS INTEGER)) FROM visits
---
SELECT SUM(CAST(smoker AS INTEGER)) AS sum
FROM visits
===
SELECT AVG(POWER(stay, 2)), AVG(SQRT(stay)), AVG(LN(stay)), AVG(EXP(age / 100)) FROM visits
---
SELECT AVG(POWER(stay, 2)) AS avg_power_stay, AVG(SQRT(stay)) AS avg_sqrt_stay, AVG(LN(stay)) AS avg_ln_stay, AVG(EXP(age / 100)) AS avg
FROM visits
===
SELECT SUM(LEAST(stay, 10)), SUM(GREATEST(stay, 1, age)) FROM visits
---
SELECT SUM(LEAST(stay, 10)) AS sum_least_stay, SUM(GREATEST(stay, 1, age)) AS sum
FROM visits
===
SELECT SUM(age // 10), SUM(age % 10), SUM(MOD(age, 10)), SUM(ABS(age - 50)) FROM visits
---
SELECT SUM(age // 10) AS sum, SUM(age % 10) AS sum_2, SUM(age % 10) AS sum_3, SUM(ABS(age - 50)) AS sum_4
FROM visits
===
SELECT SUM(FLOOR(stay)), SUM(CEIL(stay)), SUM(CEILING(stay)), SUM(ROUND(stay)), SUM(ROUND(stay, 1)) FROM visits
---
SELECT SUM(FLOOR(stay)) AS sum_floor_stay, SUM(CEIL(stay)) AS sum_ceil_stay, SUM(CEIL(stay)) AS sum_ceil_stay_2, SUM(ROUND(stay)) AS sum_round_stay, SUM(ROUND(stay * 10) / 10) AS sum
FROM visits
===
SELECT AVG(COALESCE(cost, 0)), AVG(NULLIF(age, 0)) FROM visits
---
SELECT AVG(COALESCE(cost, 0)) AS avg_coalesce_cost, AVG(NULLIF(age, 0)) AS avg_nullif_age
FROM visits
===
SELECT AVG(LENGTH(TRIM(ward))) FROM visits
---
SELECT AVG(LENGTH(TRIM(ward))) AS avg
FROM visits
===
SELECT AVG(DATE_DIFF('day', day, left_on)) FROM visits
---
SELECT AVG(DATE_DIFF('day', day, left_on)) AS avg
FROM visits
===
SELECT AVG(left_on - day) AS nights FROM visits
---
SELECT AVG(DATE_DIFF('day', day, left_on)) AS nights
FROM visits
===
SELECT AVG(stay - (age - 1) - 2), AVG(stay / (age * 2)), AVG(-(-age)), AVG(- -1 + age) FROM visits
---
SELECT AVG(stay - (age - 1) - 2) AS avg, AVG(stay / (age * 2)) AS avg_2, AVG(-(-(age))) AS avg_3, AVG(1 + age) AS avg_4
FROM visits
===
SELECT CAST(AVG(stay) AS DECIMAL(10, 2)) AS a, SUM(CAST(stay AS NUMERIC(10, 1))) AS b, SUM(stay)::DECIMAL(9) AS c FROM visits
---
SELECT ROUND(AVG(stay) * 100) / 100 AS a, SUM(ROUND(stay * 10) / 10) AS b, ROUND(SUM(stay)) AS c
FROM visits
===
SELECT SUM(IF(age > 40, stay, 0)) AS old, SUM(IF(smoker, 1, NULL)) AS s FROM visits
---
SELECT SUM(CASE WHEN age > 40 THEN stay ELSE 0 END) AS old, SUM(CASE WHEN smoker THEN 1 END) AS s
FROM visits
===
SELECT CORR(stay, age), covar_pop(stay, age), COVAR_SAMP(stay, age * 2) AS c FROM visits
---
SELECT CORR(stay, age) AS corr_stay_age, COVAR_POP(stay, age) AS covar_pop_stay_age, COVAR_SAMP(stay, age * 2) AS c
FROM visits
===
SELECT ward, REGR_SLOPE(stay, age), REGR_INTERCEPT(stay, age), REGR_R2(stay, age) FROM visits GROUP BY ward
---
SELECT ward, REGR_SLOPE(stay, age) AS regr_slope_stay_age, REGR_INTERCEPT(stay, age) AS regr_intercept_stay_age, REGR_R2(stay, age) AS regr_r2_stay_age
FROM visits
GROUP BY ward
===
SELECT REGR_COUNT(stay, age), REGR_AVGX(stay, age), REGR_AVGY(stay, age) FROM visits
---
SELECT COUNT(CASE WHEN age IS NOT NULL THEN stay END) AS count, AVG(CASE WHEN stay IS NOT NULL THEN age END) AS avg, AVG(CASE WHEN age IS NOT NULL THEN stay END) AS avg_2
FROM visits
===
SELECT CORR(stay, age) FILTER (WHERE smoker), ROUND(100 * REGR_R2(stay, age), 1) AS r FROM visits HAVING CORR(age, stay) > 0
---
SELECT CORR(CASE WHEN smoker THEN stay END, age) AS corr, ROUND(100 * REGR_R2(stay, age) * 10) / 10 AS r
FROM visits
HAVING CORR(age, stay) > 0
===
SELECT CORR(x, stay) FROM (SELECT stay, CLAMP(cost, 0, 9) AS x FROM visits) AS q
---
SELECT CORR(cost, stay) AS corr_x_stay
FROM (SELECT patient_id, stay, CLAMP(cost, 0, 9) AS cost FROM visits) AS t1
===
SELECT SUM(DISTINCT age), AVG(DISTINCT age), VARIANCE(DISTINCT age), STDDEV_POP(DISTINCT age) FROM visits
---
SELECT SUM(DISTINCT age) AS sum_distinct_age, AVG(DISTINCT age) AS avg_distinct_age, VAR_SAMP(DISTINCT age) AS var_samp_distinct_age, STDDEV_POP(DISTINCT age) AS stddev_pop_distinct_age
FROM visits
===
SELECT ward, SUM(DISTINCT FLOOR(stay / 7)) FILTER (WHERE smoker) AS weeks, MIN(DISTINCT age) AS youngest FROM visits GROUP BY ward
---
SELECT ward, SUM(DISTINCT CASE WHEN smoker THEN FLOOR(stay / 7) END) AS weeks, MIN(age) AS youngest
FROM visits
GROUP BY ward
