-- A module keeps its whole batch: its lines are counted from there, and comments stay. It says CREATE, whatever made it.
-- Why it is there.

/* More. */ CREATE PROCEDURE dbo.fails AS
BEGIN TRY
    SELECT 1 / 0 AS x
END TRY
BEGIN CATCH
    SELECT ERROR_LINE() AS line, ERROR_PROCEDURE() AS name
END CATCH
-- behind
SELECT 1 / 0 AS y
-- The end.
GO
EXEC dbo.fails
GO
EXEC sp_helptext 'dbo.fails'
GO

-- Now another way.
alter /* not CREATE */ PROCEDURE dbo.fails AS
SELECT 'ALTER' AS word
GO
EXEC dbo.fails
SELECT definition FROM sys.sql_modules WHERE object_id = OBJECT_ID('dbo.fails')
SELECT OBJECT_DEFINITION(OBJECT_ID('dbo.fails')) AS definition
GO
-- Made or altered.
CREATE OR ALTER FUNCTION dbo.one() RETURNS int AS BEGIN RETURN 1 END
GO
CREATE OR ALTER FUNCTION dbo.one() RETURNS int AS
BEGIN
    DECLARE @zero int = 0
    RETURN 1 / @zero
END
GO
SELECT definition FROM sys.sql_modules WHERE object_id = OBJECT_ID('dbo.one')
GO
SELECT dbo.one() AS failed
GO
-- A view,

-- and a trigger.
CREATE VIEW dbo.seen AS SELECT 1 AS one -- as it is
GO
CREATE TABLE dbo.watched (n int, m AS n + 1, CONSTRAINT positive CHECK (n > 0))
GO

-- The trigger fails in line 5.
CREATE TRIGGER dbo.watching ON dbo.watched AFTER INSERT AS
SET NOCOUNT ON
SELECT 1 / 0
GO
INSERT dbo.watched VALUES (1)
GO
-- What scripts of old ask.
SELECT OBJECT_NAME(id) AS name, number, colid, texttype, encrypted, LEN(text) AS length, CAST(LEFT(text, 12) AS nvarchar(12)) AS start FROM syscomments ORDER BY name
SELECT COUNT(*) AS parts FROM dbo.syscomments AS c JOIN dbo.sysobjects AS o ON o.id = c.id WHERE o.xtype = 'P'
GO
DECLARE @long nvarchar(max) = N'CREATE PROCEDURE dbo.long AS PRINT ''' + REPLICATE(CAST(N'ä' AS nvarchar(max)), 9000) + N''''
EXEC (@long)
SELECT colid, LEN(text) AS length, DATALENGTH(ctext) AS bytes FROM sys.syscomments WHERE id = OBJECT_ID('dbo.long') ORDER BY colid
GO
CREATE TABLE dbo.indexed (id int NOT NULL CONSTRAINT pk_indexed PRIMARY KEY, a int, b int CONSTRAINT uq_indexed UNIQUE)
CREATE INDEX ix_indexed ON dbo.indexed (a, b)
INSERT dbo.indexed VALUES (1, 2, 3), (2, 3, 4)
SELECT name, indid, status, keycnt, rows, rowcnt FROM sysindexes WHERE id = OBJECT_ID('dbo.indexed') ORDER BY indid
SELECT name, indid, rows FROM sys.sysindexes WHERE id = OBJECT_ID('dbo.watched')
GO
-- Parameters of everything there is.
CREATE PROCEDURE dbo.given @a int, @b nvarchar(10) = N'x' OUTPUT AS RETURN 0
GO
SELECT name, parameter_id, TYPE_NAME(user_type_id) AS type, max_length, is_output, has_default_value FROM sys.all_parameters WHERE object_id = OBJECT_ID('dbo.given') ORDER BY parameter_id
GO
