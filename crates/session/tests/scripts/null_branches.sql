-- NULL has no type of its own where the types of several queries meet: each column is of the type that another query gives it.
CREATE TABLE dbo.t (id int, pid int, nm nvarchar(128));
INSERT dbo.t VALUES (1, 0, N'a'), (2, 1, N'b'), (3, 2, N'c');
GO
WITH h (id, nm, lvl) AS (SELECT id, nm, 0 FROM dbo.t WHERE pid = 0 UNION ALL SELECT r.id, NULL, lvl + 1 FROM dbo.t r JOIN h ON r.pid = h.id)
SELECT id, nm, lvl FROM h ORDER BY id;
-- Several members, one of them without a NULL.
WITH h AS (SELECT id, nm, CAST(NULL AS datetime) AS at FROM dbo.t WHERE pid = 0 UNION ALL SELECT r.id, NULL, NULL FROM dbo.t r JOIN h ON r.pid = h.id AND h.id = 1
    UNION ALL SELECT r.id, r.nm, NULL FROM dbo.t r JOIN h ON r.pid = h.id AND h.id = 2)
SELECT * FROM h ORDER BY id;
-- A NULL in the anchor alone is an int, as everywhere outside a statement.
WITH h AS (SELECT 1 AS n, NULL AS v UNION ALL SELECT n + 1, n FROM h WHERE n < 3) SELECT * FROM h;
GO
WITH h AS (SELECT 1 AS n, NULL AS v UNION ALL SELECT n + 1, N'x' FROM h WHERE n < 3) SELECT * FROM h;
GO
-- Other types must be the anchor's.
WITH h AS (SELECT 1 AS n, 'a' AS v UNION ALL SELECT n + 1, 'ab' FROM h WHERE n < 3) SELECT * FROM h;
GO
SELECT NULL AS a UNION ALL SELECT 'x' UNION ALL SELECT NULL;
SELECT 'x' AS a UNION SELECT NULL ORDER BY a;
SELECT NULL AS a EXCEPT SELECT CAST('20200101' AS date);
SELECT NULL AS a INTERSECT SELECT 'x';
SELECT NULL AS a INTERSECT SELECT NULL;
SELECT * FROM (VALUES (NULL, 1), (N'x', NULL)) AS v (a, b);
SELECT v.a, v.b FROM (SELECT NULL AS a, 1 AS b UNION ALL SELECT 'text', NULL) AS v;
GO
CREATE VIEW dbo.v AS SELECT NULL AS a, N'x' AS b UNION ALL SELECT 1.5, NULL;
GO
SELECT * FROM dbo.v;
SELECT TYPE_NAME(user_type_id) AS type, precision, scale, max_length FROM sys.columns WHERE object_id = OBJECT_ID('dbo.v');
-- Inside a derived table a column that is NULL throughout is an int.
SELECT 'x' AS a UNION ALL SELECT d.a FROM (SELECT NULL AS a) AS d;
GO
-- What the recursive part must not have.
WITH h AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM h WHERE n < 3 AND EXISTS (SELECT * FROM h)) SELECT * FROM h;
GO
WITH h AS (SELECT 1 AS n UNION ALL SELECT (SELECT MAX(n) FROM h) + 1 FROM dbo.t) SELECT * FROM h;
GO
WITH h AS (SELECT 1 AS n UNION ALL (SELECT n + 1 FROM h WHERE n < 3 UNION SELECT 7)) SELECT * FROM h;
GO
WITH h AS (SELECT 1 AS n UNION ALL (SELECT DISTINCT n + 1 FROM h WHERE n < 3)) SELECT * FROM h;
GO
