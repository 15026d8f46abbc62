-- The alias type of a column, sysname or a user's, goes with its values into the table that SELECT INTO makes: generators of schemas read it.
CREATE TYPE dbo.phone FROM varchar(20) NOT NULL;
GO
CREATE TABLE dbo.p (id int, home dbo.phone, name sysname, plain nvarchar(128), n numeric(5, 2));
INSERT dbo.p VALUES (1, '123', N'a', N'b', 1.5);
GO
CREATE VIEW dbo.v AS SELECT home, name, plain FROM dbo.p;
GO
CREATE FUNCTION dbo.rows() RETURNS TABLE AS RETURN SELECT home, name FROM dbo.p;
GO
CREATE FUNCTION dbo.filled() RETURNS @r TABLE (home dbo.phone, name sysname) AS BEGIN INSERT @r SELECT home, name FROM dbo.p; RETURN; END;
GO
CREATE PROCEDURE dbo.show @table sysname AS
SELECT c.name, TYPE_NAME(c.user_type_id) AS type, c.is_nullable FROM sys.columns c WHERE c.object_id = OBJECT_ID(@table) ORDER BY c.column_id;
GO
-- A conversion, a column of the system's, a variable.
DECLARE @s sysname = N'x', @h dbo.phone = '1';
SELECT TOP (0) CAST(NULL AS sysname) AS a, CONVERT(sys.sysname, N'x') AS b, TRY_CAST(N'x' AS sysname) AS c, o.name AS d, @s AS e, @h AS f INTO dbo.s1 FROM sys.objects AS o;
EXEC dbo.show 'dbo.s1';
GO
-- Views, functions, derived and common tables, APPLY, VALUES.
SELECT v.home AS a, v.name AS b, v.plain AS c, r.home AS d, f.home AS e, f.name AS f, t.g, t.h INTO dbo.s2 FROM dbo.v AS v CROSS JOIN dbo.rows() AS r
CROSS APPLY dbo.filled() AS f CROSS JOIN (SELECT home AS g, x.h FROM dbo.p CROSS APPLY (VALUES (name), (CAST(N'z' AS sysname))) AS x(h)) AS t;
EXEC dbo.show 'dbo.s2';
WITH c AS (SELECT home, name FROM dbo.p) SELECT * INTO dbo.s3 FROM c;
EXEC dbo.show 'dbo.s3';
GO
-- Choices of one type keep it, a bare NULL among them is of each; choices of two types do not. Groups and extremes keep it, text functions do not.
SELECT ISNULL(name, N'') AS a, COALESCE(home, NULL) AS b, COALESCE(name, plain) AS c, CASE WHEN id = 1 THEN name END AS d, IIF(id = 1, home, home) AS e,
    CASE id WHEN 1 THEN name ELSE plain END AS f, NULLIF(name, N'x') AS g, name + N'' AS h, UPPER(home) AS i, (SELECT MAX(name) FROM dbo.p) AS j INTO dbo.s4 FROM dbo.p;
EXEC dbo.show 'dbo.s4';
SELECT name AS a, MAX(home) AS b INTO dbo.s5 FROM dbo.p GROUP BY name;
EXEC dbo.show 'dbo.s5';
GO
-- UNION: the same type on all sides, or NULL.
SELECT name AS a, home AS b, name AS c, NULL AS d INTO dbo.s6 FROM dbo.p UNION ALL SELECT name, NULL, plain, home FROM dbo.p;
EXEC dbo.show 'dbo.s6';
WITH r AS (SELECT name, id FROM dbo.p UNION ALL SELECT name, id + 1 FROM r WHERE id < 3) SELECT * INTO dbo.s7 FROM r;
EXEC dbo.show 'dbo.s7';
GO
-- Descriptions tell the same, and a rowversion by its older name.
CREATE TABLE dbo.rv (id int, r rowversion);
SELECT name, system_type_id, system_type_name, user_type_id, user_type_schema, user_type_name
FROM sys.dm_exec_describe_first_result_set(N'SELECT p.home, p.name, p.plain, v.home AS h, o.name AS o, rv.r, CAST(N''a'' AS sysname) AS c FROM dbo.p AS p, dbo.v AS v, sys.objects AS o, dbo.rv AS rv', NULL, 0);
GO
-- Names of system types may have their schema, also that of rowversion.
CREATE TABLE dbo.t (a [sys].[int], r [sys].[timestamp], d sys.decimal(5, 2), n sys.sysname);
INSERT dbo.t (a, d, n) VALUES (1, 1.5, N'n');
SELECT TYPE_NAME(c.user_type_id) AS type, c.is_nullable FROM sys.columns c WHERE c.object_id = OBJECT_ID('dbo.t') ORDER BY c.column_id;
SELECT DATALENGTH(r) AS length FROM dbo.t;
ALTER TABLE dbo.t ADD e sys.varchar(10);
CREATE TABLE dbo.u (a int);
INSERT dbo.u VALUES (1);
ALTER TABLE dbo.u ADD r sys.rowversion;
SELECT DATALENGTH(r) AS length FROM dbo.u;
DECLARE @t TABLE (a int, r sys.timestamp);
INSERT @t (a) VALUES (1);
SELECT DATALENGTH(r) AS length, CAST(1 AS sys.bigint) AS b FROM @t;
GO
CREATE TYPE dbo.tt AS TABLE (a sys.int, r sys.timestamp);
GO
DECLARE @t dbo.tt, @i sys.int = 3;
INSERT @t (a) VALUES (@i);
SELECT a, DATALENGTH(r) AS length FROM @t;
GO
-- Another database's names for types mean nothing here.
CREATE DATABASE other;
GO
USE other;
GO
SELECT home, name INTO dbo.here FROM master.dbo.p;
SELECT c.name, TYPE_NAME(c.user_type_id) AS type FROM sys.columns c WHERE c.object_id = OBJECT_ID('dbo.here') ORDER BY c.column_id;
GO
