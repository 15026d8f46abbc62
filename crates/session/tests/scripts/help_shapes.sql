-- The results of sp_help and its kin have the columns, the order and the messages of SQL Server, which tools read by place.
CREATE SCHEMA s;
GO
CREATE USER keeper WITHOUT LOGIN;
ALTER AUTHORIZATION ON SCHEMA::s TO keeper;
CREATE TYPE dbo.word FROM varchar(10) NOT NULL;
CREATE TABLE s.t (a int IDENTITY (5, 2) NOT NULL CONSTRAINT t_pk PRIMARY KEY, b varchar(10) NULL CONSTRAINT b_default DEFAULT 'x', c AS a + 1, d decimal(9, 2) NOT NULL);
CREATE INDEX t_d ON s.t (d DESC, b);
CREATE TABLE dbo.plain (x nvarchar(5) NOT NULL);
GO
CREATE PROCEDURE dbo.p @a varchar(10), @b int OUTPUT, @c decimal(9, 2) = 1, @d uniqueidentifier = NULL AS SELECT 1 AS one;
GO
CREATE FUNCTION dbo.f (@x nvarchar(20)) RETURNS int AS BEGIN RETURN 1 END;
GO
CREATE VIEW dbo.v AS SELECT a, b FROM s.t;
GO
CREATE VIEW dbo.bound WITH SCHEMABINDING AS SELECT a FROM s.t;
GO
EXEC sp_help 's.t';
GO
EXEC sp_help 'dbo.plain';
GO
EXEC sp_help 'dbo.p';
GO
EXEC sp_help 'dbo.f';
GO
EXEC sp_help 'dbo.v';
GO
EXEC sp_help 'dbo.word';
GO
EXEC sp_help;
GO
EXEC sp_helpindex 's.t';
EXEC sp_helpindex 'dbo.plain';
EXEC sp_helpconstraint 'dbo.plain';
GO
-- The database: its name and size, and its pages.
CREATE TABLE #one (database_name nvarchar(128), database_size varchar(18), unallocated varchar(18), reserved varchar(18), data varchar(18), index_size varchar(18), unused varchar(18));
INSERT #one EXEC sp_spaceused @oneresultset = 1;
SELECT database_name, COUNT(*) AS rows, MIN(CASE WHEN database_size LIKE '%_.__ MB' AND unallocated LIKE '%_.__ MB' AND reserved LIKE '%_ KB' AND data LIKE '%_ KB' AND index_size LIKE '%_ KB' AND unused LIKE '%_ KB' THEN 1 ELSE 0 END) AS units
FROM #one GROUP BY database_name;
GO
-- When a database was made, as text of eleven characters.
CREATE TABLE #bases (name nvarchar(128), db_size nvarchar(13), owner nvarchar(128), dbid smallint, created nvarchar(11), status nvarchar(600), compatibility_level tinyint);
INSERT #bases EXEC sp_helpdb;
SELECT name, CASE WHEN created LIKE '[A-Z][a-z][a-z] [ 1-3][0-9] 20[0-9][0-9]' THEN 'as text' ELSE created END AS created FROM #bases WHERE name = 'master';
GO
