-- Aggregates in subqueries that read columns of a query outside are of that query.
CREATE TABLE t (g int, a int, b int);
CREATE TABLE u (x int, y int);
INSERT t VALUES (1, 5, 7), (1, 2, 1), (2, 9, 3), (2, NULL, 4);
INSERT u VALUES (1, 10), (2, 20), (3, 30);
GO
SELECT (SELECT MAX(v) FROM (VALUES (MAX(t.a)), (MAX(t.b))) x (v)) m FROM t;
SELECT g, (SELECT MAX(v) FROM (VALUES (SUM(t.a)), (COUNT(t.b)), (MIN(b))) x (v)) m FROM t GROUP BY g ORDER BY g;
SELECT g, SUM(a) s, (SELECT MIN(v) FROM (VALUES (SUM(a)), (SUM(b))) x (v)) m FROM t GROUP BY g ORDER BY g;
-- The query inside groups its own rows only for aggregates of its own.
SELECT (SELECT AVG(t.a) - AVG(u.y) FROM u) d FROM t;
SELECT (SELECT SUM(t.a) FROM u WHERE u.x = 1) s FROM t;
SELECT (SELECT SUM(t.a) FROM u) s FROM t;
GO
-- Grouped columns and grouped expressions are seen inside.
SELECT g, (SELECT SUM(u.y) FROM u WHERE u.x <= t.g) s, (SELECT u.y + MAX(t.a) FROM u WHERE u.x = t.g) y FROM t GROUP BY g ORDER BY g;
SELECT g + 1 n, (SELECT COUNT(*) FROM u WHERE u.x <= COUNT(t.a) AND u.x < t.g + 1) c FROM t GROUP BY g + 1 ORDER BY n;
-- HAVING, ORDER BY, EXISTS, IN, CASE, derived tables two levels down, windows.
SELECT g FROM t GROUP BY g HAVING (SELECT MAX(v) FROM (VALUES (MAX(t.a)), (MAX(t.b))) x (v)) > 8;
SELECT g FROM t GROUP BY g HAVING EXISTS (SELECT 1 FROM u WHERE u.y = SUM(t.b) * 10 / 4) OR MAX(a) IN (SELECT y / 2 FROM u WHERE x = COUNT(t.a));
SELECT 1 one FROM t HAVING EXISTS (SELECT 1 FROM u WHERE u.x = MIN(t.a) - 1);
SELECT g FROM t GROUP BY g ORDER BY (SELECT MIN(v) FROM (VALUES (SUM(t.a)), (SUM(t.b))) x (v)), g;
SELECT 1 one FROM t ORDER BY (SELECT MAX(t.a));
SELECT CASE WHEN EXISTS (SELECT 1 FROM u WHERE y > MAX(t.a)) THEN (SELECT MAX(t.b)) ELSE 0 END c FROM t;
SELECT (SELECT (SELECT MAX(u.y) + MIN(t.a)) FROM u) m FROM t;
SELECT g, (SELECT STRING_AGG(CAST(v AS varchar(9)), ',') WITHIN GROUP (ORDER BY v) FROM (VALUES (SUM(a)), (COUNT(DISTINCT b))) x (v)) l,
       SUM(SUM(b)) OVER (ORDER BY g) r FROM t GROUP BY g ORDER BY g;
SELECT (SELECT STRING_AGG(t.a, '-')) l, (SELECT COUNT(t.a)) n, (SELECT COUNT(*)) own FROM t;
DECLARE @m int; SELECT @m = (SELECT MAX(t.b)) FROM t; SELECT @m m;
SELECT d.g, d.m FROM (SELECT g, (SELECT MAX(t.a)) m FROM t GROUP BY g) d WHERE d.m > 5;
SELECT (SELECT MAX(t.a)) m FROM t WHERE 1 = 0;
GO
-- What is refused.
SELECT g FROM t WHERE (SELECT MAX(t.a)) > 1;
GO
SELECT g FROM t WHERE EXISTS (SELECT 1 FROM u HAVING SUM(t.a) > 1);
GO
SELECT g, (SELECT MAX(t.a)) FROM t;
GO
SELECT (SELECT MAX(t.a)), (SELECT t.b) FROM t;
GO
SELECT (SELECT SUM(u.x * t.a) FROM u) FROM t;
GO
SELECT (SELECT SUM(t.a + t.b)) FROM t;
GO
SELECT SUM((SELECT MAX(t.a))) FROM t;
GO
SELECT (SELECT MAX(SUM(t.a))) FROM t;
GO
SELECT d.m FROM t CROSS APPLY (SELECT MAX(t.a) m FROM u) d;
GO
SELECT 1 FROM t JOIN u ON u.x = (SELECT MAX(t.a));
GO
SELECT 1 FROM t JOIN u ON u.x = MAX(t.a);
GO
SELECT COUNT(*) FROM t GROUP BY (SELECT MAX(t.a));
GO
UPDATE t SET a = (SELECT MAX(t.b));
GO
DELETE t WHERE (SELECT MAX(t.b)) > 0;
GO
SELECT d.m FROM t CROSS APPLY (SELECT MAX(v) m FROM (VALUES (t.a), (t.b)) x (v)) d ORDER BY m;
GO
CREATE VIEW v AS SELECT g, (SELECT MAX(v) FROM (VALUES (MAX(t.a)), (MAX(t.b))) x (v)) m FROM t GROUP BY g;
GO
SELECT * FROM v WHERE g = 2;
