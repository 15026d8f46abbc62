-- Definitions have SQL Server's limits, which scripts rely on to be told: what is made beyond them fails later, elsewhere.
-- Long texts are made by functions, so that they can be read here.
CREATE PROCEDURE dbo.make @text nvarchar(max), @many int, @what nvarchar(100) = N'c# int', @with nvarchar(max) = N'' AS
BEGIN
    DECLARE @list nvarchar(max) = (
        SELECT STRING_AGG(CAST(REPLACE(@what, N'#', CAST(value AS nvarchar(9))) AS nvarchar(max)), N',') WITHIN GROUP (ORDER BY value)
        FROM GENERATE_SERIES(1, @many));
    SET @text = REPLACE(@text, N'...', @list) + @with;
    EXEC (@text);
END;
GO
-- 2,100 parameters of a procedure and of a function.
EXEC dbo.make N'CREATE PROCEDURE dbo.p2100 ... AS SELECT 1 AS one', 2100, N'@p# int = 1';
EXEC dbo.make N'CREATE PROCEDURE dbo.p2101 ... AS SELECT 1 AS one', 2101, N'@p# int = 1';
GO
EXEC dbo.make N'CREATE FUNCTION dbo.f2101 (...) RETURNS int AS BEGIN RETURN 1 END', 2101, N'@p# int = 1';
GO
SELECT name FROM sys.objects WHERE name IN ('p2100', 'p2101', 'f2101');
GO
-- 1,024 columns of a table of each kind, of a view and of what a function returns.
EXEC dbo.make N'CREATE TABLE dbo.t (...)', 1025;
GO
EXEC dbo.make N'CREATE TABLE #t (...)', 1025;
GO
EXEC dbo.make N'DECLARE @t TABLE (...)', 1025;
GO
EXEC dbo.make N'CREATE TYPE dbo.tt AS TABLE (...)', 1025;
GO
EXEC dbo.make N'SELECT ... INTO dbo.t', 1025, N'# AS c#';
GO
EXEC dbo.make N'CREATE VIEW dbo.v AS SELECT ...', 1025, N'# AS c#';
GO
EXEC dbo.make N'CREATE FUNCTION dbo.f () RETURNS TABLE AS RETURN SELECT ...', 1025, N'# AS c#';
GO
EXEC dbo.make N'CREATE FUNCTION dbo.f () RETURNS @r TABLE (...) AS BEGIN RETURN END', 1025;
GO
EXEC dbo.make N'CREATE TABLE dbo.wide (...)', 1024, N'c# bit';
ALTER TABLE dbo.wide ADD more int;
GO
SELECT COUNT(*) AS columns FROM sys.columns WHERE object_id = OBJECT_ID('dbo.wide');
GO
-- 4,096 elements of a select list.
EXEC dbo.make N'IF EXISTS (SELECT ...) PRINT ''4096''', 4096, N'# AS c#';
EXEC dbo.make N'IF EXISTS (SELECT ...) PRINT ''4097''', 4097, N'# AS c#';
GO
-- 32 columns of a key.
EXEC dbo.make N'CREATE TABLE dbo.k (...)', 40, N'c# bit NOT NULL';
EXEC dbo.make N'CREATE INDEX i32 ON dbo.k (...)', 32, N'c#';
EXEC dbo.make N'CREATE INDEX i33 ON dbo.k (...)', 33, N'c#';
GO
EXEC dbo.make N'ALTER TABLE dbo.k ADD CONSTRAINT u33 UNIQUE (...)', 33, N'c#';
GO
EXEC dbo.make N'ALTER TABLE dbo.k ADD CONSTRAINT p33 PRIMARY KEY (...)', 33, N'c#';
GO
SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.k') AND index_id > 0;
GO
-- 999 nonclustered indexes of a table.
CREATE TABLE dbo.many (a int);
DECLARE @i int = 1;
WHILE @i <= 1000
BEGIN
    DECLARE @text nvarchar(100) = CONCAT(N'CREATE INDEX i', @i, N' ON dbo.many (a)');
    EXEC (@text);
    SET @i += 1;
END;
GO
-- Keys of 900 and 1,700 bytes: what can only be longer is not made, and there is a warning of what may become so.
CREATE TABLE dbo.long (a char(901), b varchar(901), c char(1701), d varchar(1701), e nvarchar(450), f nvarchar(451));
GO
CREATE CLUSTERED INDEX a ON dbo.long (a);
GO
CREATE INDEX c ON dbo.long (c);
GO
CREATE CLUSTERED INDEX b ON dbo.long (b);
GO
CREATE INDEX d ON dbo.long (d);
GO
CREATE INDEX e ON dbo.long (e);
CREATE INDEX ef ON dbo.long (e, f);
GO
SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.long') AND index_id > 0 ORDER BY name;
GO
-- The index is named when an entry is too long for it, not the table.
INSERT dbo.long (d) VALUES (REPLICATE('x', 1701));
GO
CREATE TABLE dbo.keys (a varchar(1000) CONSTRAINT pk PRIMARY KEY, b nvarchar(900) CONSTRAINT uq UNIQUE);
GO
INSERT dbo.keys VALUES (REPLICATE('x', 1000), N'x');
GO
CREATE TABLE dbo.never (a char(901) CONSTRAINT never_pk PRIMARY KEY);
GO
DECLARE @t TABLE (a varchar(1000) PRIMARY KEY);
GO
-- 8,060 bytes of a row, without what may lie elsewhere.
CREATE TABLE dbo.r (a char(8000), b char(53));
GO
CREATE TABLE dbo.r1 (a char(8000), b char(54));
GO
CREATE TABLE dbo.r2 (a char(8000), b varchar(8000), c nvarchar(max));
GO
ALTER TABLE dbo.r2 ADD d char(100);
GO
ALTER TABLE dbo.r ADD c bit;
GO
DECLARE @t TABLE (a char(8000), b char(100));
GO
CREATE TABLE #r (a nchar(4000), b binary(100));
GO
SELECT name FROM sys.tables WHERE name LIKE 'r%' ORDER BY name;
GO
-- 116 characters of the name of a local temporary table, 128 of others.
DECLARE @name nvarchar(200) = REPLICATE(N'n', 115);
EXEC (N'CREATE TABLE #' + @name + N' (a int)');
EXEC (N'CREATE TABLE ##' + @name + N'more (a int)');
EXEC (N'CREATE TABLE #' + @name + N'm (a int)');
GO
DECLARE @name nvarchar(200) = REPLICATE(N'n', 116);
EXEC (N'SELECT 1 AS a INTO #' + @name);
GO
DECLARE @name nvarchar(200) = REPLICATE(N'n', 116);
EXEC (N'CREATE PROCEDURE #' + @name + N' AS SELECT 1 AS a');
GO
