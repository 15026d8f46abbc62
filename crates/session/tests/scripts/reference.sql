-- What the language's reference shows: literals over several lines, dates, bytes of values, modules' options.
SELECT 'abc\
def' AS text, 0xabc\
def AS bytes, 'C:\temp\' AS plain, 'it''s\
 one' AS quoted;
DECLARE @d datetime2 = '2007-01-01 13:10:10.1111111';
SELECT DATEADD(nanosecond, 49, @d) AS n49, DATEADD(nanosecond, 50, @d) AS n50, DATEADD(nanosecond, 150, @d) AS n150,
    DATEADD(nanosecond, -49, @d) AS back49, DATEADD(nanosecond, -50, @d) AS back50;
GO
SELECT TIMEFROMPARTS(14, 23, 44, 5, 1) AS t1, TIMEFROMPARTS(14, 23, 44, 500, 3) AS t3, TIMEFROMPARTS(23, 59, 59, 0, 0) AS t0,
    DATETIME2FROMPARTS(2011, 8, 15, 14, 23, 44, 50, 2) AS d2, DATETIMEOFFSETFROMPARTS(2011, 8, 15, 14, 30, 0, 5, 12, 30, 1) AS o1,
    SQL_VARIANT_PROPERTY(TIMEFROMPARTS(14, 23, 44, 5, 1), 'Scale') AS scale;
GO
DECLARE @scale int = 3; SELECT TIMEFROMPARTS(14, 23, 44, 5, @scale);
GO
SELECT TIMEFROMPARTS(14, 23, 44, 5, 8);
GO
SELECT TIMEFROMPARTS(14, 23, 44, 5, NULL);
GO
-- Bytes of values, and back.
SELECT CAST(CAST(193.57 AS decimal(5,2)) AS varbinary(20)) AS d, CAST(CAST(126 AS numeric(10,4)) AS varbinary(10)) AS n,
    CAST(CAST(-1 AS decimal(38,0)) AS varbinary(30)) AS minus, CAST(CAST(4294967296 AS decimal(20,0)) AS varbinary(30)) AS two_words,
    CAST(CAST(12345.67 AS decimal(8,3)) AS binary(8)) AS fixed;
SELECT CAST(0x050200019D4B0000 AS decimal(10,5)) AS d, CAST(0x0A040001E03913 AS numeric(10,4)) AS short, CONVERT(numeric(38,0), 0x0100FF0001) AS minus,
    TRY_CAST(0x00000001 AS decimal(5,0)) AS none;
SELECT CAST(1e0 AS varbinary(8)) AS f, CAST(CAST(1.5 AS real) AS varbinary(8)) AS r;
SELECT CAST(CAST('2000-01-01' AS date) AS varbinary(10)) AS d, CAST(CAST('12:34:56.1234567' AS time) AS varbinary(10)) AS t,
    CAST(CAST('12:34:56' AS time(0)) AS varbinary(10)) AS t0, CAST(CAST('2000-01-01 00:00:01' AS datetime2(3)) AS varbinary(20)) AS d2,
    CAST(CAST('2000-01-01 01:00:00 +01:00' AS datetimeoffset(0)) AS varbinary(20)) AS o;
SELECT CAST(0x07240B00 AS date) AS d, TRY_CAST(0x09 AS time) AS none, TRY_CAST(0x07FFFFFFFFFF AS time) AS too_late;
GO
SELECT CAST(0x0710A5D4E80007240B AS datetime2(7)) AS d2, CAST(0x00F0B00000 AS time(0)) AS t;
SELECT CAST(CAST(x AS varbinary(20)) AS datetimeoffset(7)) AS back FROM (VALUES (CAST('2000-01-01 01:00:00.1234567 -05:30' AS datetimeoffset(7)))) AS v (x);
SELECT CAST(CAST(x AS varbinary(20)) AS time(3)) AS back FROM (VALUES (CAST('23:59:59.999' AS time(3)))) AS v (x);
GO
SELECT CAST(0x00 AS date);
GO
SELECT CAST(0x3FF0000000000000 AS float);
GO
CREATE TABLE dbo.b (v varbinary(20));
INSERT dbo.b VALUES (1.5);
INSERT dbo.b VALUES (1e0);
SELECT v FROM dbo.b;
INSERT dbo.b VALUES (CAST('2000-01-01' AS date));
GO
-- Separators that are constant expressions.
SELECT STRING_AGG(v, CHAR(13)) AS crs, STRING_AGG(v, ', ' + 'x') AS more, STRING_AGG(v, CONCAT(CHAR(45), '-')) AS called
FROM (VALUES ('a'), ('b')) AS t (v);
GO
DECLARE @between varchar(5) = '+'; SELECT STRING_AGG(v, @between) AS of_variable FROM (VALUES ('a'), ('b')) AS t (v);
GO
SELECT STRING_AGG(v, v + ',') FROM (VALUES ('a'), ('b')) AS t (v);
GO
CREATE PROCEDURE dbo.nest AS
SELECT @@NESTLEVEL AS level;
EXEC ('SELECT @@NESTLEVEL AS level');
EXEC sp_executesql N'SELECT @@NESTLEVEL AS level; CREATE TABLE #own (i int)';
SELECT @@NESTLEVEL AS level, OBJECT_ID('tempdb..#own') AS gone;
GO
EXEC dbo.nest;
EXEC sp_executesql N'SELECT @@NESTLEVEL AS level';
SELECT @@NESTLEVEL AS level;
GO
-- WITH ENCRYPTION: nobody is shown the text.
CREATE PROCEDURE dbo.hidden WITH ENCRYPTION AS SELECT 1 AS one;
GO
CREATE VIEW dbo.hidden_view WITH ENCRYPTION AS SELECT 1 AS encryption;
GO
CREATE PROCEDURE dbo.shown AS SELECT 'ENCRYPTION' AS word;
GO
EXEC dbo.hidden;
SELECT OBJECT_NAME(object_id) AS name, definition FROM sys.sql_modules WHERE OBJECT_NAME(object_id) IN ('hidden', 'hidden_view', 'shown') ORDER BY name;
SELECT OBJECT_DEFINITION(OBJECT_ID('dbo.hidden')) AS hidden, OBJECT_DEFINITION(OBJECT_ID('dbo.shown')) AS shown,
    OBJECTPROPERTY(OBJECT_ID('dbo.hidden'), 'IsEncrypted') AS encrypted, OBJECTPROPERTY(OBJECT_ID('dbo.shown'), 'IsEncrypted') AS plain;
SELECT ROUTINE_DEFINITION FROM INFORMATION_SCHEMA.ROUTINES WHERE ROUTINE_NAME = 'hidden';
EXEC sp_helptext 'dbo.hidden';
SELECT t.text, t.encrypted FROM sys.dm_exec_cached_plans AS p CROSS APPLY sys.dm_exec_sql_text(p.plan_handle) AS t
WHERE t.objectid = OBJECT_ID('dbo.hidden');
GO
-- SCHEMABINDING.
CREATE TABLE dbo.base (id int NOT NULL, v int);
GO
CREATE VIEW dbo.one_part WITH SCHEMABINDING AS SELECT id FROM base;
GO
CREATE VIEW dbo.of_system WITH SCHEMABINDING AS SELECT name FROM sys.objects;
GO
CREATE VIEW dbo.of_star WITH SCHEMABINDING AS SELECT * FROM dbo.base;
GO
CREATE VIEW dbo.loose AS SELECT id FROM base;
GO
CREATE VIEW dbo.of_loose WITH SCHEMABINDING AS SELECT id FROM dbo.loose;
GO
CREATE FUNCTION dbo.f_loose (@id int) RETURNS TABLE WITH SCHEMABINDING AS RETURN SELECT v FROM base WHERE id = @id;
GO
CREATE FUNCTION dbo.plus_loose (@i int) RETURNS int AS BEGIN RETURN @i + 1 END;
GO
CREATE VIEW dbo.calls_loose WITH SCHEMABINDING AS SELECT dbo.plus_loose(id) AS next FROM dbo.base;
GO
CREATE FUNCTION dbo.plus_bound (@i int) RETURNS int WITH SCHEMABINDING AS BEGIN RETURN @i + 1 END;
GO
CREATE VIEW dbo.bound WITH SCHEMABINDING AS WITH c AS (SELECT id, v FROM dbo.base) SELECT id, dbo.plus_bound(v) AS next FROM c;
GO
CREATE VIEW dbo.over_bound WITH SCHEMABINDING AS SELECT id FROM dbo.bound;
GO
SELECT OBJECT_NAME(object_id) AS name, is_schema_bound FROM sys.sql_modules WHERE OBJECT_NAME(object_id) IN ('bound', 'loose', 'plus_bound', 'over_bound') ORDER BY name;
SELECT OBJECTPROPERTY(OBJECT_ID('dbo.bound'), 'IsSchemaBound') AS bound, OBJECTPROPERTY(OBJECT_ID('dbo.loose'), 'IsSchemaBound') AS loose,
    OBJECTPROPERTY(OBJECT_ID('dbo.plus_loose'), 'IsDeterministic') AS deterministic,
    OBJECTPROPERTYEX(OBJECT_ID('dbo.base'), 'BaseType') AS base, OBJECTPROPERTYEX(OBJECT_ID('dbo.bound'), 'BaseType') AS of_view,
    OBJECTPROPERTYEX(OBJECT_ID('dbo.base'), 'IsTable') AS is_table;
SELECT SERVERPROPERTY('ResourceLastUpdateDateTime') AS updated, SERVERPROPERTY('SqlCharSet') AS charset;
GO
