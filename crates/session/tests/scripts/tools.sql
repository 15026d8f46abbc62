-- What suites of other projects, migration tools and object mappers have asked for.

-- A bare NULL is of no type inside a statement, and an int for whoever sees it from outside.
CREATE TABLE dbo.dated (d date NULL, b varbinary(9) NULL);
INSERT dbo.dated (d) SELECT x FROM (VALUES (NULL), (NULL)) AS v (x);
INSERT dbo.dated (d, b) SELECT x, y FROM (SELECT NULL AS x, NULL AS y) AS v UNION ALL SELECT NULL, NULL;
WITH c AS (SELECT NULL AS a) INSERT dbo.dated (b) SELECT a FROM c;
SELECT COUNT(*) AS n FROM dbo.dated WHERE d IS NULL AND b IS NULL;
SELECT ISNULL(a, 'q') AS a, COALESCE(a, 3) AS b, a + 1 AS c FROM (SELECT NULL AS a) AS v;
SELECT NULL AS a INTO dbo.untyped;
SELECT TYPE_NAME(system_type_id) AS type FROM sys.columns WHERE object_id = OBJECT_ID('dbo.untyped');
GO
CREATE VIEW dbo.nothing AS SELECT NULL AS a;
GO
INSERT dbo.dated (d) SELECT a FROM dbo.nothing;
GO
-- Counts of rows: subqueries, and literals beyond the integers.
SELECT TOP (SELECT 2) n FROM (VALUES (3), (1), (2)) AS v (n) ORDER BY n;
SELECT n FROM (VALUES (3), (1), (2)) AS v (n) ORDER BY n OFFSET (SELECT 1) ROWS FETCH NEXT 9223372036854775807 ROWS ONLY;
SELECT TOP 2147483648 n FROM (VALUES (7)) AS v (n);
SELECT n FROM (VALUES (1), (2)) AS v (n) WHERE EXISTS (SELECT TOP (SELECT v.n - 1) 1 AS x);
INSERT TOP (SELECT 1) INTO dbo.dated (b) SELECT n FROM (VALUES (1), (2)) AS v (n);
INSERT TOP (2) INTO dbo.dated (b) VALUES (1), (2), (3);
GO
DELETE TOP (SELECT 1) FROM dbo.dated;
GO
UPDATE TOP (SELECT 1) d SET b = 0x09 FROM dbo.dated AS d;
GO
SELECT TOP (1.5) n FROM (VALUES (7)) AS v (n);
GO
-- Identifiers that grow.
CREATE TABLE dbo.keyed (id uniqueidentifier NOT NULL DEFAULT NEWSEQUENTIALID() PRIMARY KEY, n int NOT NULL);
INSERT dbo.keyed (n) VALUES (1), (2), (3);
INSERT dbo.keyed (n) VALUES (4);
SELECT n FROM dbo.keyed ORDER BY id;
GO
SELECT NEWSEQUENTIALID();
GO
CREATE TABLE dbo.wrong (id varchar(40) DEFAULT UPPER(NEWSEQUENTIALID()));
GO
-- A column that is added gets an identifier for each row.
ALTER TABLE dbo.keyed ADD other uniqueidentifier NOT NULL DEFAULT NEWID();
GO
SELECT COUNT(DISTINCT other) AS n FROM dbo.keyed;
GO
ALTER TABLE dbo.keyed ADD third uniqueidentifier NOT NULL CONSTRAINT df_third DEFAULT (NEWSEQUENTIALID());
GO
INSERT dbo.keyed (n) VALUES (5);
SELECT a.n, b.n AS greater FROM dbo.keyed AS a JOIN dbo.keyed AS b ON a.third < b.third WHERE b.n = 5 ORDER BY a.n;
SELECT COUNT(DISTINCT third) AS n FROM dbo.keyed;
ALTER TABLE dbo.keyed ADD fourth varchar(40) NOT NULL DEFAULT NEWSEQUENTIALID();
GO
-- Identity columns that SELECT INTO adds.
SELECT n * 10 AS ten, IDENTITY(int, 100, 5) AS id, n INTO dbo.numbered FROM dbo.keyed ORDER BY n;
SELECT ten, id, n FROM dbo.numbered ORDER BY id;
SELECT name, is_identity, is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('dbo.numbered') ORDER BY column_id;
SELECT IDENTITY(bigint) AS id, n INTO #numbered FROM dbo.keyed;
SELECT COUNT(*) AS n, MAX(id) AS last FROM #numbered;
GO
SELECT *, IDENTITY(int, 1, 1) AS other INTO dbo.twice FROM dbo.numbered;
GO
SELECT IDENTITY(int, 1, 1) AS id;
GO
SELECT IDENTITY(date, 1, 1) AS id INTO dbo.twice FROM dbo.keyed;
GO
-- Angles in the type of their argument.
SELECT DEGREES(1) AS a, RADIANS(180) AS b, RADIANS(180e0) AS c, DEGREES(CAST(1 AS money)) AS d, RADIANS(CAST(NULL AS int)) AS e;
SELECT CAST(RADIANS(90.0) AS decimal(9, 6)) AS a;
-- Amounts, offsets, rowversions outside of tables.
SELECT CAST('$   12.5' AS money) AS a, CAST('-£ 3' AS money) AS b, CAST(N'￥100' AS money) AS c;
SELECT CAST('2020-01-02 03:04:05 +8:5' AS datetimeoffset(0)) AS a;
DECLARE @version rowversion = 0x01; SELECT @version AS a, CAST(0x02 AS timestamp) AS b;
SELECT COUNT(DISTINCT s) AS n FROM (SELECT CHECKSUM(*) AS s FROM (VALUES (1, 'a'), (1, 'b'), (1, 'a')) AS v (x, y)) AS w;
GO
SELECT CAST('1 $' AS money);
GO
-- GOTO out of TRY and within it, and not into it.
BEGIN TRY
    GOTO inner_label;
    PRINT 'skipped';
    inner_label: PRINT 'within';
    GOTO outer_label;
END TRY
BEGIN CATCH
    PRINT 'not here';
END CATCH;
outer_label: PRINT 'outside';
GO
again:
BEGIN TRY
    target: PRINT 'in';
END TRY
BEGIN CATCH
    PRINT 'not here';
END CATCH;
GOTO target;
GO
-- Names whose first parts are left out.
SELECT COUNT(*) AS n FROM ..keyed;
SELECT COUNT(*) AS n FROM .dbo.keyed;
EXEC ..sp_helpconstraint 'dbo.numbered', 'nomsg';
GO
-- What drivers and tools ask of tables.
CREATE TABLE dbo.parent (id int CONSTRAINT pk_parent PRIMARY KEY, code varchar(9) CONSTRAINT uq_parent UNIQUE, CONSTRAINT ck_parent CHECK (id > 0));
CREATE TABLE dbo.child (id int CONSTRAINT df_child DEFAULT 1, parent int CONSTRAINT fk_child REFERENCES dbo.parent ON DELETE CASCADE);
EXEC sp_helpconstraint 'dbo.parent';
EXEC sp_helpconstraint @objname = 'child', @nomsg = 'nomsg';
EXEC sp_helpconstraint 'dbo.nobody';
GO
CREATE ROLE reader;
GRANT SELECT ON dbo.child TO reader;
GRANT UPDATE ON dbo.child TO reader WITH GRANT OPTION;
DENY DELETE ON dbo.child TO reader;
EXEC sp_table_privileges 'chi%';
EXEC sp_column_privileges 'child', 'dbo', NULL, 'parent';
EXEC sp_special_columns_100 @table_name = 'parent', @qualifier = 'lab';
GO
SELECT COUNT(*) AS n FROM sys.service_queues q JOIN sys.services s ON s.service_queue_id = q.object_id;
SELECT CONNECTIONPROPERTY('net_transport') AS a, CONNECTIONPROPERTY('local_tcp_port') AS b;
GO
-- sp_rename without a type: a column, an index, a key by the name of its table.
EXEC sp_rename 'dbo.child.parent', 'parent_id';
CREATE INDEX ix_child ON dbo.child (parent_id);
EXEC sp_rename 'child.ix_child', 'ix_parent';
EXEC sp_rename 'dbo.parent.uq_parent', 'uq_code';
SELECT c.name AS c, i.name AS i FROM sys.columns c CROSS JOIN sys.indexes i
WHERE c.object_id = OBJECT_ID('dbo.child') AND i.object_id = c.object_id AND i.name IS NOT NULL ORDER BY c.column_id;
SELECT OBJECT_NAME(OBJECT_ID('uq_code')) AS a, OBJECT_ID('dbo.uq_parent') AS b, OBJECT_NAME(OBJECT_ID('sys.objects')) AS c;
EXEC sp_rename 'dbo.child.nobody', 'x';
GO
-- Each index has statistics of its name and number, which tools join it to.
CREATE TABLE dbo.kept (a int CONSTRAINT pk_kept PRIMARY KEY, b int, c int);
CREATE INDEX ix_kept ON dbo.kept (c DESC, b) INCLUDE (a) WHERE b > 5;
SELECT s.name, s.stats_id, s.auto_created AS auto, s.user_created AS made, s.has_filter AS filtered, s.filter_definition AS filter, c.stats_column_id AS place, COL_NAME(c.object_id, c.column_id) AS [column]
FROM sys.indexes i JOIN sys.stats s ON s.object_id = i.object_id AND s.name = i.name AND s.stats_id = i.index_id
JOIN sys.stats_columns c ON c.object_id = s.object_id AND c.stats_id = s.stats_id
WHERE i.object_id = OBJECT_ID('dbo.kept') ORDER BY s.stats_id, c.stats_column_id;
DROP TABLE dbo.kept;
GO
-- Scripts of maintenance make an empty procedure and alter it then.
EXEC dbo.sp_executesql @statement = N'CREATE PROCEDURE [dbo].[filled_later] AS';
GO
EXEC dbo.filled_later;
GO
ALTER PROCEDURE dbo.filled_later AS SELECT sys.fn_hadr_backup_is_preferred_replica(N'master') AS preferred, sys.fn_hadr_is_primary_replica(N'master') AS [primary];
GO
EXEC dbo.filled_later;
DROP PROCEDURE dbo.filled_later;
GO
-- The * of EXISTS names no columns.
DECLARE @t TABLE (a int, b int);
INSERT @t VALUES (1, 1), (1, 2), (2, 3);
IF EXISTS (SELECT * FROM @t GROUP BY a HAVING COUNT(*) > 1) PRINT 'twice';
SELECT a, b FROM @t AS t WHERE EXISTS (SELECT * FROM @t AS x WHERE x.a >= t.a GROUP BY x.a HAVING MAX(x.b) > 2 AND COUNT(*) = t.a - 1) ORDER BY b;
IF NOT EXISTS (SELECT * FROM @t HAVING COUNT(*) > 3) PRINT 'not four';
SELECT a, b FROM @t AS t WHERE EXISTS (SELECT * FROM @t AS x WHERE x.b = t.b GROUP BY x.a HAVING COUNT(*) = 1) ORDER BY b;
GO
GO
-- The best of two orders: SELECT TOP ... ORDER BY before a set operator, which only a query within another one may have.
CREATE TABLE dbo.cost (id int PRIMARY KEY, cpu int, reads int);
INSERT dbo.cost VALUES (1, 90, 5), (2, 10, 70), (3, 50, 60), (4, 20, 1);
GO
SELECT x.id FROM (SELECT TOP (1) id FROM dbo.cost ORDER BY cpu DESC UNION SELECT TOP (2) id FROM dbo.cost ORDER BY reads DESC) AS x ORDER BY x.id;
WITH best AS (SELECT TOP 1 id FROM dbo.cost ORDER BY cpu UNION ALL SELECT TOP 1 id FROM dbo.cost ORDER BY reads UNION ALL SELECT 9)
SELECT id FROM best ORDER BY id;
SELECT id FROM dbo.cost WHERE id IN (SELECT TOP 1 id FROM dbo.cost ORDER BY cpu DESC EXCEPT SELECT 7);
GO
SELECT TOP 1 id FROM dbo.cost ORDER BY cpu DESC UNION SELECT 9;
GO
SELECT x.id FROM (SELECT id FROM dbo.cost ORDER BY cpu DESC UNION SELECT 9) AS x;
GO
-- An expression that the outer query groups by, within a query in its select list.
SELECT COALESCE(o.reads / 10, 0) AS tens,
    (SELECT COUNT(*) FROM dbo.cost AS i WHERE i.cpu > COALESCE(o.reads / 10, 0) * 10 AND o.k = i.id % 2) AS above
FROM (SELECT id % 2 AS k, reads FROM dbo.cost) AS o GROUP BY COALESCE(o.reads / 10, 0), o.k ORDER BY tens, above;
GO
SELECT (SELECT MAX(COALESCE(i.reads, 0)) FROM dbo.cost AS i WHERE COALESCE(o.cpu, 0) = 1) FROM dbo.cost AS o GROUP BY COALESCE(o.reads, 0);
GO
DROP TABLE dbo.cost;
