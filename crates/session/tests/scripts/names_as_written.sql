-- Errors tell of an object by the name that the statement writes, with its schema where it has one.
CREATE PROCEDURE dbo.p AS SELECT 1 / 0;
GO
CREATE SCHEMA s;
GO
CREATE PROCEDURE s.q AS EXEC dbo.p;
GO
BEGIN TRY EXEC p END TRY BEGIN CATCH SELECT ERROR_PROCEDURE() AS name END CATCH;
BEGIN TRY EXEC dbo.p END TRY BEGIN CATCH SELECT ERROR_PROCEDURE() AS name END CATCH;
BEGIN TRY EXEC [dbo].[p] END TRY BEGIN CATCH SELECT ERROR_PROCEDURE() AS name END CATCH;
BEGIN TRY EXEC s.q END TRY BEGIN CATCH SELECT ERROR_PROCEDURE() AS name END CATCH;
BEGIN TRY EXEC ('EXEC p') END TRY BEGIN CATCH SELECT ERROR_PROCEDURE() AS name END CATCH;
DECLARE @name sysname = N'dbo.p';
BEGIN TRY EXEC @name END TRY BEGIN CATCH SELECT ERROR_PROCEDURE() AS name END CATCH;
GO
EXEC dbo.p;
GO
EXEC p;
GO
CREATE TABLE dbo.p1 (i int PRIMARY KEY);
CREATE TABLE dbo.c (i int REFERENCES dbo.p1);
GO
TRUNCATE TABLE dbo.p1;
GO
TRUNCATE TABLE p1;
GO
TRUNCATE TABLE [dbo].[p1];
GO
DROP TABLE dbo.p1;
GO
DROP TABLE p1;
GO
DROP TABLE dbo.none;
GO
-- That of a table to be truncated that is not there is told by its last part alone.
TRUNCATE TABLE dbo.none;
GO
SELECT * FROM dbo.none;
GO
CREATE INDEX i ON dbo.none (a);
GO
-- SET may name the table itself, though FROM gives it an alias.
CREATE TABLE dbo.t (a int, b int);
INSERT dbo.t VALUES (1, 1);
UPDATE dbo.t SET dbo.t.a = 2 FROM dbo.t AS x;
SELECT a FROM dbo.t;
UPDATE x SET t.a = 3 FROM dbo.t AS x;
UPDATE dbo.t SET t.a += x.b, x.b = 5 FROM dbo.t AS x JOIN (SELECT 1 AS n) AS y ON y.n = x.b;
SELECT a, b FROM dbo.t;
GO
UPDATE dbo.t SET other.a = 2 FROM dbo.t AS x;
GO
CREATE VIEW dbo.v AS SELECT a FROM dbo.t;
GO
UPDATE dbo.v SET dbo.v.a = 9 FROM dbo.v AS x;
SELECT a FROM dbo.t;
GO
-- A name for sp_rename means one thing.
CREATE TYPE s.tt AS TABLE (id int);
GO
CREATE PROCEDURE s.tt @p s.tt READONLY AS SELECT 1;
GO
EXEC sp_rename 's.tt', 'tt_new';
GO
SELECT name FROM sys.procedures WHERE schema_id = SCHEMA_ID('s') ORDER BY name;
GO
EXEC sp_rename 's.tt', 'tt_new', 'OBJECT';
SELECT name FROM sys.procedures WHERE schema_id = SCHEMA_ID('s') ORDER BY name;
GO
CREATE TABLE dbo.both (twice int);
CREATE INDEX twice ON dbo.both (twice);
GO
EXEC sp_rename 'both.twice', 'other';
GO
EXEC sp_rename 'dbo.both.twice', 'once', 'COLUMN ';
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.both');
EXEC sp_rename 'dbo.both.twice', 'ix';
SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.both') AND index_id > 0;
GO
EXEC sp_rename 'dbo.none', 'other';
GO
EXEC sp_rename 'dbo.none', 'other', 'OBJECT';
GO
-- Texts of procedures compare without the blanks at their end.
EXEC sp_addextendedproperty 'p', 'v', 'schema ', 'dbo', 'table ', 't';
SELECT COUNT(*) AS one FROM sys.extended_properties;
EXEC sp_dropextendedproperty 'p ', 'schema', 'dbo ', 'table', 't ';
SELECT COUNT(*) AS none FROM sys.extended_properties;
EXEC sp_rename 'dbo.t.a ', 'aa', 'column ';
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.t ') ORDER BY column_id;
GO
