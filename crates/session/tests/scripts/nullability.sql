-- Which columns can be NULL, as SELECT INTO, views and clients are told: a conversion or a sum can, wherever it stands in the query.
CREATE TABLE dbo.t (id int NOT NULL, f varchar(3) NOT NULL, n int NULL);
GO
CREATE VIEW dbo.v AS SELECT id, CAST(f AS varchar(8000)) AS c, id + 1 AS s, ISNULL(n, 0) AS i, CASE WHEN n > 1 THEN 'y' ELSE 'n' END AS y FROM dbo.t;
GO
SELECT name, is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('dbo.v') ORDER BY column_id;
SELECT COLUMNPROPERTY(OBJECT_ID('dbo.v'), 'c', 'AllowsNull') AS c, COLUMNPROPERTY(OBJECT_ID('dbo.v'), 'id', 'AllowsNull') AS id, COLUMNPROPERTY(OBJECT_ID('dbo.v'), 'id', 'IsIdentity') AS dealt,
    COLUMNPROPERTY(OBJECT_ID('dbo.v'), 's', 'ColumnId') AS place, COLUMNPROPERTY(OBJECT_ID('dbo.v'), 'c', 'PRECISION') AS size, COLUMNPROPERTY(OBJECT_ID('dbo.v'), 'nothing', 'ColumnId') AS nothing;
GO
SELECT * INTO dbo.a FROM (SELECT id, CAST(f AS varchar(8000)) AS c, f AS g FROM dbo.t) AS d;
WITH w AS (SELECT id, CONVERT(bigint, id) AS c FROM dbo.t) SELECT id, c INTO dbo.b FROM w;
SELECT id, f INTO dbo.c FROM dbo.t UNION ALL SELECT id, CAST(f AS varchar(3)) FROM dbo.t;
SELECT * INTO dbo.d FROM dbo.v;
SELECT 1 AS one, -1 AS minus, CAST(1 AS int) AS cast_one, CASE WHEN id = 1 THEN 1 END AS no_other, COUNT(*) AS number, GETDATE() AS now INTO dbo.e FROM dbo.t GROUP BY id;
SELECT x, y INTO dbo.f FROM (VALUES (1, CAST(2 AS int))) AS v (x, y);
SELECT OBJECT_NAME(object_id) AS t, name, is_nullable FROM sys.columns WHERE OBJECT_NAME(object_id) IN ('a', 'b', 'c', 'd', 'e', 'f') ORDER BY t, column_id;
GO
INSERT dbo.a VALUES (1, NULL, 'x');
GO
INSERT dbo.a VALUES (1, 'x', NULL);
GO
EXEC sp_describe_first_result_set N'SELECT CAST(0.5 AS float) AS a, 1 AS b, @@SPID AS c';
GO
DROP VIEW dbo.v;
DROP TABLE dbo.a, dbo.b, dbo.c, dbo.d, dbo.e, dbo.f, dbo.t;
GO
