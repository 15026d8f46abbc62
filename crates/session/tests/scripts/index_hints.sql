-- A hint names an index that is there, whatever plan is taken: a name that is none is told, as SQL Server tells it.
CREATE TABLE dbo.t (a int NOT NULL CONSTRAINT t_pk PRIMARY KEY, b int, c xml);
CREATE INDEX t_b ON dbo.t (b);
CREATE INDEX t_off ON dbo.t (b);
CREATE INDEX h ON dbo.t (b) WITH (STATISTICS_ONLY = -1);
CREATE PRIMARY XML INDEX t_x ON dbo.t (c);
ALTER INDEX t_off ON dbo.t DISABLE;
INSERT dbo.t (a, b) VALUES (1, 2);
GO
SELECT a FROM dbo.t WITH (INDEX (t_b)) WHERE b = 2;
SELECT a FROM dbo.t WITH (INDEX = T_PK, FORCESEEK (t_b (b))) WHERE b = 2;
SELECT t.a FROM dbo.t WITH (INDEX (0)), dbo.t AS u WITH (INDEX (1, t_b)) WHERE t.b = 2;
GO
SELECT a FROM dbo.t WITH (INDEX (none));
GO
SELECT a FROM dbo.t AS x WITH (INDEX (t_b, none));
GO
SELECT a
FROM t WITH (INDEX (h)) WHERE b = 2;
GO
SELECT a FROM dbo.t WITH (INDEX (99));
GO
SELECT a FROM dbo.t WITH (INDEX (t_off));
GO
SELECT a FROM dbo.t WITH (INDEX (t_x));
GO
SELECT a FROM dbo.t WITH (FORCESEEK (none (b)));
GO
UPDATE dbo.t WITH (INDEX (none)) SET b = 3;
GO
DELETE x FROM dbo.t AS x WITH (INDEX (h)) WHERE b = 2;
GO
UPDATE dbo.t SET b = 4 FROM dbo.t WITH (INDEX (t_off));
GO
MERGE dbo.t WITH (INDEX (none)) AS t USING (VALUES (1)) AS s (a) ON t.a = s.a WHEN MATCHED THEN DELETE;
GO
SELECT b FROM dbo.t;
GO
-- DROP STATISTICS drops statistics of columns, no index. Those of temporary tables are not stored.
CREATE STATISTICS st ON dbo.t (b);
DROP STATISTICS dbo.t.st;
CREATE TABLE #t (a int);
CREATE STATISTICS st ON #t (a);
DROP STATISTICS #t.st;
GO
DROP STATISTICS dbo.none.st;
GO
DROP STATISTICS st;
GO
DROP STATISTICS dbo.t.t_b;
GO
