-- COALESCE gives its first choice that is a constant and not NULL whatever the row: columns behind it need not be grouped.
CREATE TABLE t (a int, b int, c float);
INSERT t VALUES (1, 2, 2.5), (1, 3, 3.5), (2, 4, 4.5);
SELECT a, COALESCE(29, b) AS x, COALESCE(NULL, 29, b + 1) AS y, COALESCE(1, c) / 2 AS z FROM t GROUP BY a ORDER BY a;
SELECT COUNT(*) AS n FROM t GROUP BY a HAVING COALESCE(1, b) = 1;
GO
SELECT a, COALESCE(b, 29) FROM t GROUP BY a;
GO
SELECT a, COALESCE(NULL, b, 29) FROM t GROUP BY a;
GO
