CREATE DATABASE ru COLLATE Cyrillic_General_CS_AS;
CREATE DATABASE other COLLATE no_such_one;
GO
CREATE DATABASE indic COLLATE Indic_General_100_CI_AS;
GO
SELECT name, collation_name FROM sys.databases ORDER BY name;
SELECT DATABASEPROPERTYEX('ru', 'Collation') AS ru, SERVERPROPERTY('Collation') AS server;
GO
USE ru;
GO
-- Columns, variables and literals have the database's collation.
CREATE TABLE dbo.t (id int PRIMARY KEY, a varchar(10), b varchar(10) COLLATE Latin1_General_CI_AS, c nvarchar(10) COLLATE database_default);
INSERT dbo.t VALUES (1, 'Привет', 'Привет', 'Мир'), (2, 'привет', 'a', 'МИР');
SELECT * FROM dbo.t WHERE a = 'Привет';
SELECT id FROM dbo.t ORDER BY c;
SELECT name, collation_name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.t') ORDER BY column_id;
DECLARE @v varchar(10) = N'Мир';
SELECT @v AS v, DATALENGTH(@v) AS bytes, CHAR(207) AS c, ASCII('П') AS byte, CAST(0xCFF0E8 AS varchar(3)) AS text, IIF('a' = 'A', 1, 0) AS same, UPPER(@v) AS up, CONCAT('ж', 1) AS joined;
SELECT 'a' AS a, @v AS b, CAST(5 AS varchar(3)) AS c, N'x' + 'ж' AS d INTO dbo.made;
SELECT name, collation_name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.made') ORDER BY column_id;
SELECT name, collation_name FROM sys.types WHERE name IN ('varchar', 'int') ORDER BY name;
GO
-- tempdb's columns have the server's, table variables the database's.
CREATE TABLE #t (a varchar(10), b varchar(10) COLLATE database_default);
INSERT #t VALUES ('Привет', 'Привет');
SELECT a, b FROM #t;
DECLARE @t table (a varchar(10));
INSERT @t VALUES ('Привет');
SELECT a FROM @t AS v WHERE EXISTS (SELECT * FROM dbo.t WHERE t.a = v.a);
SELECT t.id FROM dbo.t AS t JOIN #t AS h ON t.a = h.b ORDER BY t.id;
GO
SELECT t.id FROM dbo.t AS t JOIN #t AS h ON t.a = h.a;
GO
DROP TABLE #t;
GO
CREATE FUNCTION dbo.f (@x varchar(10)) RETURNS varchar(10) AS BEGIN RETURN @x + 'ж'; END;
GO
CREATE PROCEDURE dbo.p @x varchar(10) AS SELECT @x AS x, dbo.f(@x) AS f;
GO
EXEC dbo.p N'Я';
SELECT a FROM dbo.t WHERE a = dbo.f('привет') OR a LIKE 'п%';
EXEC sp_executesql N'SELECT @p AS p, id FROM dbo.t WHERE a = @p', N'@p varchar(10)', N'привет';
GO
-- Changing it.
ALTER TABLE dbo.t ADD CONSTRAINT ck CHECK (a <> 'x'), d AS UPPER(a);
GO
ALTER DATABASE ru COLLATE Greek_CI_AS;
GO
ALTER TABLE dbo.t DROP CONSTRAINT ck;
ALTER TABLE dbo.t DROP COLUMN d;
GO
SELECT IIF('a' = 'A', 1, 0) AS same;
ALTER DATABASE ru COLLATE Greek_CI_AS;
SELECT IIF('a' = 'A', 1, 0) AS same;
GO
SELECT IIF('a' = 'A', 1, 0) AS same, 'Γειά' AS greek, DATABASEPROPERTYEX('ru', 'Collation') AS collation;
CREATE TABLE dbo.g (a varchar(10));
SELECT OBJECT_NAME(object_id) AS of_table, name, collation_name FROM sys.columns WHERE name = 'a' AND object_id IN (OBJECT_ID('dbo.g'), OBJECT_ID('dbo.t')) ORDER BY of_table;
ALTER DATABASE CURRENT COLLATE nonsense;
GO
USE master;
GO
ALTER DATABASE master COLLATE Greek_CI_AS;
GO
SELECT 'a' AS a WHERE 'Я' = 'я';
SELECT g.a FROM ru.dbo.g AS g JOIN ru.dbo.t AS t ON g.a = t.a COLLATE database_default;
DROP DATABASE ru;
GO
