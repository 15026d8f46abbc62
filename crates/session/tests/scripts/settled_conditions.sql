-- What decides a condition is known before a row is looked at: what else it says is not evaluated, and so cannot fail.
CREATE TABLE t (v int)
INSERT t VALUES (1), (2)
SELECT COUNT(*) AS none FROM t WHERE NULL > v / 0
SELECT COUNT(*) AS none FROM t WHERE NULL > v * 2000000000
SELECT COUNT(*) AS none FROM t WHERE 1 / 0 = NULL
SELECT COUNT(*) AS rows FROM t WHERE v / 0 = 1 OR 1 = 1
SELECT COUNT(*) AS rows FROM t WHERE NOT 84 BETWEEN v / 0 AND 61
SELECT COUNT(*) AS none FROM t WHERE v / 0 = 1 AND 1 = 0
SELECT CASE CAST(NULL AS int) WHEN 1 / 0 THEN 1 ELSE 2 END AS two
SELECT NULLIF(CAST(NULL AS int), 1 / 0) AS nothing
GO
SELECT COUNT(*) FROM t WHERE v / 0 = 1 OR 1 = 0
GO
SELECT COUNT(*) AS rows FROM t WHERE NOT (NULL = v) OR v = 1
SELECT COUNT(*) AS none FROM t WHERE v NOT IN (1, NULL)
SET ANSI_NULLS OFF
GO
INSERT t VALUES (NULL)
SELECT COUNT(*) AS one FROM t WHERE v = NULL
SELECT COUNT(*) AS two FROM t WHERE v <> NULL
GO
