-- What the scripts of sample databases and of benchmarks say that nothing else here says.
-- Types as they were made before there was CREATE TYPE.
EXEC sp_addtype id, 'varchar(11)', 'NOT NULL'
EXEC sp_addtype @typename = 'amount', @phystype = 'decimal(9, 2)'
GO
SELECT name, max_length, precision, scale, is_nullable FROM sys.types WHERE is_user_defined = 1 ORDER BY name;
CREATE TABLE dbo.author (au_id id, fee amount);
INSERT dbo.author VALUES ('1', 12.345);
SELECT au_id, fee FROM dbo.author;
INSERT dbo.author VALUES (NULL, 1);
GO
EXEC sp_addtype other, 'int; DROP TABLE dbo.author', 'NULL'
GO
EXEC sp_addtype other, 'int', 'PERHAPS'
GO
EXEC sp_addtype other
GO
EXEC tempdb..sp_addtype other, 'int'
GO
EXEC sp_addtype id, 'int'
GO
EXEC sp_droptype id
GO
DROP TABLE dbo.author;
EXEC sp_droptype id
EXEC sp_droptype 'amount'
SELECT COUNT(*) AS types FROM sys.types WHERE is_user_defined = 1;
GO
-- What is said of a table's locks is kept.
CREATE TABLE dbo.stock (id int NOT NULL PRIMARY KEY, n int);
ALTER TABLE dbo.stock SET (LOCK_ESCALATION = DISABLE);
SELECT lock_escalation, lock_escalation_desc FROM sys.tables WHERE name = 'stock';
ALTER TABLE dbo.stock SET (LOCK_ESCALATION = AUTO);
SELECT lock_escalation, lock_escalation_desc FROM sys.tables WHERE name = 'stock';
GO
ALTER TABLE dbo.stock SET (LOCK_ESCALATION = SOMETIMES);
GO
ALTER TABLE dbo.nothing SET (LOCK_ESCALATION = AUTO);
GO
ALTER TABLE dbo.stock SET (SYSTEM_VERSIONING = ON);
GO
-- An index whose keys may repeat is nonclustered, and says so; a table's second clustered one is refused.
CREATE TABLE dbo.line (a int NOT NULL, b int NOT NULL);
INSERT dbo.line VALUES (1, 1), (1, 2), (1, 1);
CREATE CLUSTERED INDEX by_a ON dbo.line (a);
SELECT name, type_desc, is_unique FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.line') ORDER BY index_id;
SELECT COUNT(*) AS n FROM dbo.line WHERE a = 1;
GO
CREATE CLUSTERED INDEX by_n ON dbo.stock (n);
GO
-- What an object is, as scripts of old ask for it.
CREATE VIEW dbo.lines AS SELECT a FROM dbo.line;
GO
CREATE PROCEDURE dbo.read_lines AS SELECT a FROM dbo.line;
GO
SELECT name, sysstat & 0xf AS kind FROM sysobjects WHERE name IN ('line', 'lines', 'read_lines') ORDER BY name;
DROP PROCEDURE dbo.read_lines;
DROP VIEW dbo.lines;
DROP TABLE dbo.line;
GO
-- Statistics of a table, and of all tables.
CREATE STATISTICS of_n ON dbo.stock (n) WITH FULLSCAN;
GO
CREATE STATISTICS of_m ON dbo.stock (m);
GO
CREATE STATISTICS of_n ON dbo.nothing (n);
GO
EXEC sp_updatestats
GO
-- The pool is emptied of what is on disk; nothing is lost.
INSERT dbo.stock VALUES (1, 10), (2, 20);
CHECKPOINT;
DBCC DROPCLEANBUFFERS;
SELECT SUM(n) AS n FROM dbo.stock;
DBCC PINTABLE (5, 6) WITH NO_INFOMSGS;
DROP TABLE dbo.stock;
GO
-- Definitions in the form of the catalog views, whatever parentheses they were written with.
CREATE SEQUENCE dbo.numbers AS int START WITH 5;
CREATE TABLE dbo.shown (
    a int NOT NULL DEFAULT NEXT VALUE FOR numbers,
    b int DEFAULT ((1)+2),
    c datetime DEFAULT GETDATE(),
    d varchar(20) DEFAULT 'it''s',
    e int DEFAULT -1,
    f AS (b)*(2),
    g AS CAST(b AS varchar(10)) + ISNULL(d, ''),
    CONSTRAINT low CHECK ((b) > (0) AND ((b) < 10)),
    CONSTRAINT few CHECK (e IN (-1, 2) OR e BETWEEN 5 AND 9));
SELECT c.name, d.definition FROM sys.default_constraints AS d
JOIN sys.columns AS c ON c.object_id = d.parent_object_id AND c.column_id = d.parent_column_id ORDER BY c.column_id;
SELECT name, definition FROM sys.computed_columns ORDER BY column_id;
SELECT name, definition FROM sys.check_constraints ORDER BY name;
INSERT dbo.shown DEFAULT VALUES;
SELECT a, b, d, e, f, g FROM dbo.shown;
ALTER TABLE dbo.shown ADD h int NOT NULL DEFAULT ((2)*(3));
SELECT h FROM dbo.shown;
INSERT dbo.shown (e) VALUES (3);
GO
DROP TABLE dbo.shown;
DROP SEQUENCE dbo.numbers;
GO
-- Without ANSI_WARNINGS a text is cut to fit into its column, and no aggregate warns.
CREATE TABLE dbo.short (id int NOT NULL, t char(3), b varbinary(2));
SET ANSI_WARNINGS OFF;
INSERT dbo.short VALUES (1, 'abcdef', 0x010203), (2, 'ab   ', NULL);
UPDATE dbo.short SET t = t + 'xyz' WHERE id = 2;
SELECT id, t, b FROM dbo.short;
SELECT COUNT(b) AS n FROM dbo.short;
SELECT 1 / 0;
GO
SELECT SESSIONPROPERTY('ANSI_WARNINGS') AS ansi_warnings, @@OPTIONS & 8 AS bit, ansi_warnings AS shown
FROM sys.dm_exec_sessions WHERE session_id = @@SPID;
SET ARITHABORT OFF;
GO
SET ANSI_WARNINGS ON;
SELECT COUNT(b) AS n FROM dbo.short;
INSERT dbo.short VALUES (3, 'abcdef', NULL);
GO
SET ARITHABORT OFF;
SET ANSI_WARNINGS OFF;
GO
SET ARITHABORT ON;
SET ANSI_WARNINGS ON;
GO
-- What a procedure sets ends with it.
CREATE PROCEDURE dbo.put @t varchar(20) AS SET ANSI_WARNINGS OFF; INSERT dbo.short VALUES (4, @t, NULL);
GO
EXEC dbo.put 'longer';
SELECT t FROM dbo.short WHERE id = 4;
INSERT dbo.short VALUES (5, 'longer', NULL);
GO
DROP PROCEDURE dbo.put;
DROP TABLE dbo.short;
GO
