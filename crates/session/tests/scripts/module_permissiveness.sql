-- What no module may hold is refused when it is made.
CREATE PROCEDURE dbo.p AS USE master;
GO
CREATE TABLE dbo.t (a int);
GO
CREATE TRIGGER dbo.tr ON dbo.t AFTER INSERT AS USE tempdb;
GO
CREATE PROCEDURE dbo.p AS SET PARSEONLY ON;
GO
CREATE FUNCTION dbo.f (@a int OUTPUT) RETURNS int AS BEGIN RETURN 1 END;
GO
CREATE FUNCTION #f () RETURNS int AS BEGIN RETURN 1 END;
GO
CREATE VIEW #v AS SELECT 1 AS a;
GO
SELECT COUNT(*) AS none FROM sys.objects WHERE name IN ('p', 'tr', 'f');
GO
-- A batch of EXEC may change the database for itself.
EXEC ('USE tempdb; SELECT DB_NAME() AS name');
GO
-- Definitions of columns.
CREATE TABLE dbo.c (a int ROWGUIDCOL);
GO
CREATE TABLE dbo.c (a uniqueidentifier ROWGUIDCOL, b uniqueidentifier ROWGUIDCOL);
GO
CREATE TABLE dbo.c (a int, r timestamp DEFAULT 0x01);
GO
CREATE TABLE dbo.c (a int, b AS COUNT(a));
GO
CREATE TABLE dbo.c (a int CHECK (SUM(a) > 1));
GO
CREATE TABLE dbo.c (x xml, b AS x.value('(/a)[1]', 'int'));
GO
DECLARE @c TABLE (x xml, b AS x.value('(/a)[1]', 'int'));
GO
CREATE TABLE dbo.c (x xml);
ALTER TABLE dbo.c ADD b AS x.exist('/a');
GO
-- A computed column that calls a function with a query is refused by name; a CHECK may call one.
INSERT dbo.t VALUES (1), (2);
GO
CREATE FUNCTION dbo.counts (@a int) RETURNS int WITH SCHEMABINDING AS BEGIN RETURN (SELECT COUNT(*) FROM dbo.t WHERE a >= @a) END;
GO
CREATE TABLE dbo.reads (a int, n AS dbo.counts(a));
GO
CREATE TABLE dbo.checked (a int CHECK (dbo.counts(a) < 2));
INSERT dbo.checked VALUES (2);
INSERT dbo.checked VALUES (1);
GO
