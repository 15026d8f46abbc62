-- Values that are stored or indexed must not hang on the session, the catalog or the clock: they would be wrong for the next session, without a word.
CREATE FUNCTION dbo.unbound(@x int) RETURNS int AS BEGIN RETURN @x + 1 END;
GO
CREATE FUNCTION dbo.bound(@x int) RETURNS int WITH SCHEMABINDING AS BEGIN RETURN @x + 1 END;
GO
CREATE FUNCTION dbo.dated(@x int) RETURNS datetime WITH SCHEMABINDING AS BEGIN RETURN DATEADD(day, @x, GETDATE()) END;
GO
CREATE FUNCTION dbo.named(@d datetime) RETURNS nvarchar(30) WITH SCHEMABINDING AS BEGIN RETURN DATENAME(month, @d) END;
GO
CREATE FUNCTION dbo.halved(@x int) RETURNS int WITH SCHEMABINDING AS BEGIN RETURN CAST(@x AS float) / 2 END;
GO
-- Persisted.
CREATE TABLE dbo.t1 (x int, v AS dbo.unbound(x) PERSISTED);
GO
CREATE TABLE dbo.t2 (a datetime, b AS CONVERT(varchar(30), a) PERSISTED);
GO
CREATE TABLE dbo.t3 (a varchar(20), b AS CAST(a AS datetime) PERSISTED);
GO
CREATE TABLE dbo.t4 (a datetime, b AS DATEPART(weekday, a) PERSISTED);
GO
CREATE TABLE dbo.n (a int, b AS DATEADD(day, a, '2000-01-01') PERSISTED);
GO
CREATE TABLE dbo.n (a datetime, b AS CASE WHEN a > '20200101' THEN 1 ELSE 0 END PERSISTED);
GO
CREATE TABLE dbo.n (a datetime, b AS LEFT(a, 4) PERSISTED);
GO
CREATE TABLE dbo.n (a varchar(20), b AS YEAR(a) PERSISTED);
GO
CREATE TABLE dbo.n (a varchar(20), b AS TRY_CONVERT(date, a) PERSISTED);
GO
CREATE TABLE dbo.n (a varchar(20), b AS CONVERT(datetime2, a, 109) PERSISTED);
GO
CREATE TABLE dbo.n (a varchar(20), s int, b AS CONVERT(date, a, s) PERSISTED);
GO
CREATE TABLE dbo.n (a int, b AS FORMAT(a, 'N') PERSISTED);
GO
CREATE TABLE dbo.n (a varchar(20), b AS PARSE(a AS int) PERSISTED);
GO
CREATE TABLE dbo.n (a varchar(20), b AS ISDATE(a) PERSISTED);
GO
CREATE TABLE dbo.n (a datetime2, b AS a AT TIME ZONE 'UTC' PERSISTED);
GO
CREATE TABLE dbo.n (a int, b AS a + @@SPID PERSISTED);
GO
CREATE TABLE dbo.n (a int, b AS CONCAT(a, USER_NAME()) PERSISTED);
GO
CREATE TABLE dbo.n (a varbinary(10), b AS COMPRESS(a) PERSISTED);
GO
CREATE TABLE dbo.n (a nvarchar(200), b AS PARSENAME(a, 1) PERSISTED);
GO
CREATE TABLE dbo.n (a sql_variant, b AS CAST(a AS int) PERSISTED);
GO
CREATE TABLE dbo.n (a int, b AS dbo.dated(a) PERSISTED);
GO
CREATE TABLE dbo.n (a int, b AS NEWID() PERSISTED);
GO
CREATE TABLE dbo.later (a datetime);
ALTER TABLE dbo.later ADD b AS DATENAME(month, a) PERSISTED;
GO
-- These say all that they need.
CREATE TABLE dbo.fine (a datetime, t varchar(30), d date, n int, b AS CONVERT(varchar(30), a, 121) PERSISTED, c AS CONVERT(datetime, t, 126) PERSISTED,
    e AS CONVERT(varchar(30), d) PERSISTED, f AS dbo.bound(n) PERSISTED, g AS DATEADD(day, n, d) PERSISTED, h AS YEAR(a) PERSISTED, i AS DATEPART(iso_week, a) PERSISTED,
    j AS RAND(n) PERSISTED, k AS CONVERT(datetime, n) PERSISTED, l AS HASHBYTES('SHA2_256', t) PERSISTED, m AS CAST(a AS date) PERSISTED, o AS CONVERT(varchar(10), a, 20) PERSISTED);
GO
-- Not persisted they may be, computed whenever they are read: in the reader's language and by its DATEFIRST.
CREATE TABLE dbo.t5 (a datetime, b AS DATENAME(month, a), c AS DATEPART(weekday, a), d AS CONVERT(varchar(30), a), e varchar(20), f AS CAST(e AS datetime));
INSERT dbo.t5 (a, e) VALUES ('20200302', '1/2/2020');
SET LANGUAGE Deutsch;
SET DATEFIRST 1;
SELECT b, c, d, f FROM dbo.t5;
SET LANGUAGE us_english;
SET DATEFIRST 7;
SELECT b, c, d, f FROM dbo.t5;
GO
CREATE INDEX ix ON dbo.t5 (b);
GO
CREATE UNIQUE INDEX ix ON dbo.t5 (d);
GO
CREATE STATISTICS st ON dbo.t5 (f);
GO
CREATE INDEX ix ON dbo.t5 (a) INCLUDE (b);
GO
ALTER TABLE dbo.t5 ADD CONSTRAINT u UNIQUE (c);
GO
CREATE TABLE dbo.n (a datetime, b AS DATENAME(month, a) UNIQUE);
GO
CREATE TABLE dbo.n (a datetime, b AS DATENAME(month, a), INDEX ix (b));
GO
-- Floats differ by machine: a key of them is stored, or it is none.
CREATE TABLE dbo.t6 (a float, r real, i int, b AS a * 2, c AS CAST(a AS int), d AS i + CAST(1.5e0 AS int), e AS CASE a WHEN 0 THEN i ELSE 1 END, f AS SQRT(i), g AS a * 2 PERSISTED,
    h AS r + 1, k AS dbo.halved(i), l AS i * 2);
GO
CREATE INDEX ix ON dbo.t6 (b);
GO
CREATE INDEX ix ON dbo.t6 (c);
GO
CREATE INDEX ix ON dbo.t6 (d);
GO
CREATE INDEX ix ON dbo.t6 (e);
GO
CREATE INDEX ix ON dbo.t6 (f);
GO
CREATE UNIQUE INDEX ix ON dbo.t6 (h);
GO
CREATE INDEX ix ON dbo.t6 (k);
GO
CREATE STATISTICS st ON dbo.t6 (b);
GO
CREATE TABLE dbo.n (a float, b AS a * 2, CONSTRAINT u UNIQUE (b));
GO
CREATE INDEX ix1 ON dbo.t6 (g);
CREATE INDEX ix2 ON dbo.t6 (l);
CREATE INDEX ix3 ON dbo.t6 (a);
CREATE INDEX ix4 ON dbo.t6 (i) INCLUDE (b);
GO
-- The same is told by the properties.
SELECT c.name, COLUMNPROPERTY(c.object_id, c.name, 'IsDeterministic') AS d, COLUMNPROPERTY(c.object_id, c.name, 'IsPrecise') AS p, COLUMNPROPERTY(c.object_id, c.name, 'IsIndexable') AS i
FROM sys.columns AS c WHERE c.object_id = OBJECT_ID('dbo.t6') ORDER BY c.column_id;
SELECT c.name, COLUMNPROPERTY(c.object_id, c.name, 'IsDeterministic') AS d, COLUMNPROPERTY(c.object_id, c.name, 'IsPrecise') AS p, COLUMNPROPERTY(c.object_id, c.name, 'IsIndexable') AS i
FROM sys.columns AS c WHERE c.object_id = OBJECT_ID('dbo.t5') ORDER BY c.column_id;
GO
CREATE FUNCTION dbo.several(@x int) RETURNS int WITH SCHEMABINDING AS BEGIN DECLARE @y int = @x; WHILE @y > 10 SET @y -= 10; RETURN @y END;
GO
CREATE FUNCTION dbo.several_dated(@x int) RETURNS int WITH SCHEMABINDING AS BEGIN DECLARE @y int = @x; IF GETDATE() > 0 SET @y -= 10; RETURN @y END;
GO
CREATE FUNCTION dbo.rows(@x int) RETURNS TABLE WITH SCHEMABINDING AS RETURN SELECT a, i FROM dbo.t6 WHERE i = @x;
GO
CREATE FUNCTION dbo.converted(@x varchar(20)) RETURNS datetime WITH SCHEMABINDING AS BEGIN RETURN CONVERT(datetime, @x) END;
GO
CREATE FUNCTION dbo.styled(@x varchar(20)) RETURNS datetime WITH SCHEMABINDING AS BEGIN RETURN CONVERT(datetime, @x, 112) END;
GO
CREATE VIEW dbo.v WITH SCHEMABINDING AS SELECT i FROM dbo.t6;
GO
CREATE VIEW dbo.vd WITH SCHEMABINDING AS SELECT i, GETDATE() AS now FROM dbo.t6;
GO
SELECT o.name, OBJECTPROPERTY(o.object_id, 'IsDeterministic') AS d FROM sys.objects AS o WHERE o.type IN ('FN', 'IF', 'TF', 'V') ORDER BY o.name;
GO
SELECT COLUMNPROPERTY(OBJECT_ID('dbo.v'), 'i', 'IsDeterministic') AS v, COLUMNPROPERTY(OBJECT_ID('dbo.vd'), 'now', 'IsDeterministic') AS vd;
GO
-- Rules and partitions take a computed column whose values are stored.
CREATE TABLE dbo.n (a int, b AS a + 1, CHECK (b > 0));
GO
CREATE TABLE dbo.p (a int PRIMARY KEY);
CREATE TABLE dbo.n (a int, b AS a + 1, CONSTRAINT fk FOREIGN KEY (b) REFERENCES dbo.p (a));
GO
CREATE PARTITION FUNCTION pf (int) AS RANGE LEFT FOR VALUES (1, 2);
CREATE PARTITION SCHEME ps AS PARTITION pf ALL TO ([PRIMARY]);
GO
CREATE TABLE dbo.parted (a int, b AS a + 1) ON ps (b);
GO
CREATE TABLE dbo.stored (a int, b AS a + 1 PERSISTED, CHECK (b > 0)) ON ps (b);
GO
CREATE INDEX ix ON dbo.stored (a) WHERE b > 1;
GO
