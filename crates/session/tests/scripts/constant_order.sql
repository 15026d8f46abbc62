-- A key that is the same in all rows puts them in no order: nobody sorts by it, and TOP ends a tally table after its rows (SQL Server
-- folds such keys: its plans have no Sort there).
CREATE FUNCTION dbo.Nums(@n int) RETURNS TABLE AS RETURN
 WITH a(c) AS (SELECT 1 UNION ALL SELECT 1), b(c) AS (SELECT 1 FROM a x CROSS JOIN a y), d(c) AS (SELECT 1 FROM b x CROSS JOIN b y),
      e(c) AS (SELECT 1 FROM d x CROSS JOIN d y), g(c) AS (SELECT 1 FROM e x CROSS JOIN e y), h(c) AS (SELECT 1 FROM g x CROSS JOIN g y)
 SELECT TOP (@n) ROW_NUMBER() OVER (ORDER BY c) AS n FROM h;
GO
SELECT COUNT(*) FROM dbo.Nums(10);
SELECT n FROM dbo.Nums(3) ORDER BY n;
GO
CREATE VIEW dbo.many AS
 WITH a(c) AS (SELECT CAST(NULL AS int) FROM (VALUES (0), (0), (0), (0), (0), (0), (0), (0), (0), (0)) v(x)),
      b(c) AS (SELECT x.c FROM a x CROSS JOIN a y CROSS JOIN a z), d(c) AS (SELECT x.c FROM b x CROSS JOIN b y CROSS JOIN b z)
 SELECT x.c FROM d x CROSS JOIN d y;
GO
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, g int NOT NULL, s varchar(10) NOT NULL);
INSERT dbo.t VALUES (1, 1, 'a'), (2, 1, 'A'), (3, 2, 'b'), (4, 1, 'c');
GO
-- NULL, a variable, the session's number, what is made of them; through a view, derived tables and a left join that finds nothing.
DECLARE @v int = 7, @w varchar(9) = 'w';
SELECT TOP (2) ROW_NUMBER() OVER (ORDER BY c) AS n FROM dbo.many;
SELECT TOP (2) ROW_NUMBER() OVER (ORDER BY @v) AS n FROM dbo.many;
SELECT TOP (2) ROW_NUMBER() OVER (ORDER BY @@SPID) AS n FROM dbo.many;
SELECT TOP (2) ROW_NUMBER() OVER (ORDER BY @@SPID) AS n FROM dbo.many LEFT JOIN dbo.t ON 0 = 1;
SELECT TOP (2) ROW_NUMBER() OVER (ORDER BY t.s, c) AS n FROM dbo.many LEFT JOIN dbo.t ON 0 = 1;
SELECT TOP (2) ROW_NUMBER() OVER (ORDER BY @v + @@SPID, LEN(@w), c) AS n FROM dbo.many;
SELECT TOP (2) ROW_NUMBER() OVER (ORDER BY k) AS n FROM (SELECT 'x' AS k FROM dbo.many) q;
SELECT TOP (2) ROW_NUMBER() OVER (ORDER BY k DESC) AS n FROM (SELECT @v * 2 AS k FROM dbo.many) q;
SELECT TOP (2) ROW_NUMBER() OVER (ORDER BY DB_NAME()) AS n FROM dbo.many;
SELECT TOP (2) ROW_NUMBER() OVER (ORDER BY (SELECT MAX(id) FROM dbo.t)) AS n FROM dbo.many;
SELECT TOP (2) ROW_NUMBER() OVER (PARTITION BY c, @v ORDER BY GETDATE()) AS n FROM dbo.many;
SELECT TOP (2) k FROM (SELECT 'x' AS k FROM dbo.many UNION ALL SELECT 'x' FROM dbo.many) q ORDER BY k;
SELECT TOP (2) @v + 1 AS k FROM dbo.many ORDER BY k, c;
GO
-- A condition on the number ends a tally table, too: rows behind the last that it can hold for are not made.
DECLARE @k int = 3, @none int;
SELECT n FROM (SELECT ROW_NUMBER() OVER (ORDER BY c) AS n FROM dbo.many) q WHERE n <= @k;
SELECT n FROM (SELECT ROW_NUMBER() OVER (ORDER BY c) AS n FROM dbo.many) q WHERE n < 3;
SELECT n FROM (SELECT ROW_NUMBER() OVER (ORDER BY c) AS n FROM dbo.many) q WHERE 3 >= n AND n % 2 = 0;
SELECT n FROM (SELECT ROW_NUMBER() OVER (ORDER BY c) AS n, RANK() OVER (ORDER BY c) AS r FROM dbo.many) q WHERE n BETWEEN 2 AND 3 AND r = 1;
SELECT n FROM (SELECT ROW_NUMBER() OVER (ORDER BY c) AS n FROM dbo.many) q WHERE n = @k;
SELECT n FROM (SELECT ROW_NUMBER() OVER (ORDER BY c) AS n FROM dbo.many) q WHERE n < @none;
SELECT n FROM (SELECT ROW_NUMBER() OVER (ORDER BY c) AS n FROM dbo.many) q WHERE n <= -1;
SET @k = -9;
SELECT n FROM (SELECT ROW_NUMBER() OVER (ORDER BY c) AS n FROM dbo.many) q WHERE n < @k;
SELECT id, n FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY s DESC) AS n FROM dbo.t) q WHERE n <= 2 ORDER BY n;
SELECT id, n FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY id) AS n FROM dbo.t) q WHERE n <= 1 ORDER BY id;
SELECT o.id, q.n FROM dbo.t AS o CROSS APPLY (SELECT ROW_NUMBER() OVER (ORDER BY id) AS n FROM dbo.t) q WHERE q.n <= o.g ORDER BY o.id, q.n;
BEGIN TRANSACTION;
WITH q AS (SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) AS n FROM dbo.t) DELETE q OUTPUT deleted.id WHERE n <= 2;
WITH q AS (SELECT s, ROW_NUMBER() OVER (ORDER BY id) AS n FROM dbo.t) UPDATE q SET s = 'first' WHERE n = 1;
SELECT id, s FROM dbo.t ORDER BY id;
ROLLBACK TRANSACTION;
GO
-- All rows are peers.
SELECT id, RANK() OVER (ORDER BY @@SPID) AS r, DENSE_RANK() OVER (ORDER BY @@SPID) AS d, COUNT(*) OVER (ORDER BY @@SPID) AS n,
  SUM(id) OVER (PARTITION BY @@SPID ORDER BY @@SPID) AS s, PERCENT_RANK() OVER (ORDER BY @@SPID) AS p,
  CUME_DIST() OVER (ORDER BY @@SPID) AS c FROM dbo.t ORDER BY id;
SELECT id, RANK() OVER (PARTITION BY k, g ORDER BY k, id) AS r FROM (SELECT id, g, 5 AS k FROM dbo.t) q ORDER BY id;
SELECT TOP (1) WITH TIES id FROM (SELECT id, 5 AS k FROM dbo.t) q ORDER BY k;
SELECT g, STRING_AGG(s, ',') WITHIN GROUP (ORDER BY k) AS all_s FROM (SELECT g, s, 5 AS k FROM dbo.t) q GROUP BY g ORDER BY g;
GO
-- Columns that are not the same: branches of two values, a left join that finds some, random values, equal texts that differ.
SELECT k, ROW_NUMBER() OVER (ORDER BY k) AS n FROM (SELECT 2 AS k UNION ALL SELECT 1) q ORDER BY k;
SELECT t.id, ROW_NUMBER() OVER (ORDER BY u.k, t.id) AS n FROM dbo.t LEFT JOIN (SELECT id, 1 AS k FROM dbo.t WHERE id < 3) u ON u.id = t.id ORDER BY t.id;
SELECT COUNT(DISTINCT n) AS n FROM (SELECT ROW_NUMBER() OVER (ORDER BY NEWID()) AS n FROM dbo.t) q;
SELECT s FROM dbo.t WHERE s = 'a' ORDER BY s COLLATE Latin1_General_BIN2;
SELECT o.id, i.n FROM dbo.t o CROSS APPLY (SELECT MAX(x.n) AS n FROM (SELECT ROW_NUMBER() OVER (ORDER BY o.g, -t.id) AS n, t.id FROM dbo.t) x WHERE x.id = 1) i ORDER BY o.id;
GO
-- What is refused as an order stays so.
SELECT ROW_NUMBER() OVER (ORDER BY 1) FROM dbo.t;
GO
SELECT ROW_NUMBER() OVER (ORDER BY 'a') FROM dbo.t;
GO
SELECT id FROM dbo.t ORDER BY 'a';
GO
DECLARE @v int = 1; SELECT id FROM dbo.t ORDER BY @v;
GO
SET SHOWPLAN_TEXT ON
GO
SELECT TOP (10) ROW_NUMBER() OVER (ORDER BY c) FROM dbo.many;
SELECT RANK() OVER (PARTITION BY k ORDER BY @@SPID), COUNT(*) OVER (ORDER BY k) FROM (SELECT 5 AS k FROM dbo.t) q;
SELECT TOP (1) WITH TIES id FROM (SELECT id, s, 5 AS k FROM dbo.t) q ORDER BY k;
SELECT s FROM dbo.t WHERE s = 'a' AND g = 1 ORDER BY s, g, id;
SELECT s FROM dbo.t WHERE s = 'a' ORDER BY s COLLATE Latin1_General_BIN2;
GO
SET SHOWPLAN_TEXT OFF
GO
