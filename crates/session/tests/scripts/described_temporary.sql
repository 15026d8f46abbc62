-- A description of what a text gives says so when it cannot know: a temporary table or a text that is made when it runs. Tools tell no result from that.
CREATE PROCEDURE dbo.p AS SELECT 1 AS idx INTO #q; SELECT idx FROM #q;
GO
CREATE PROCEDURE dbo.inserts AS CREATE TABLE #q (a int); INSERT #q VALUES (1); SELECT 1 AS a;
GO
CREATE PROCEDURE dbo.text AS EXEC ('SELECT 1 AS a');
GO
CREATE PROCEDURE dbo.outer_one AS EXEC dbo.p;
GO
CREATE PROCEDURE dbo.none AS SELECT 1 AS idx INTO #q; DROP TABLE #q;
GO
CREATE PROCEDURE dbo.first AS SELECT 1 AS a; SELECT 1 AS b INTO #q; SELECT * FROM #q;
GO
EXEC sp_describe_first_result_set N'EXEC dbo.p';
GO
EXEC sp_describe_first_result_set N'EXEC dbo.outer_one';
GO
EXEC sp_describe_first_result_set N'SELECT 1 AS a INTO #x; SELECT * FROM #x';
GO
EXEC sp_describe_first_result_set N'EXEC (''SELECT 1'')';
GO
SELECT error_number, error_severity, error_state, error_message, error_type, error_type_desc FROM sys.dm_exec_describe_first_result_set(N'EXEC dbo.p', NULL, 0);
SELECT error_number, error_message, error_type_desc FROM sys.dm_exec_describe_first_result_set(N'EXEC dbo.inserts', NULL, 0);
SELECT error_number, error_message, error_type_desc FROM sys.dm_exec_describe_first_result_set(N'EXEC dbo.text', NULL, 0);
SELECT error_number, error_type_desc FROM sys.dm_exec_describe_first_result_set_for_object(OBJECT_ID('dbo.p'), 0);
SELECT name, error_number FROM sys.dm_exec_describe_first_result_set(N'EXEC dbo.none', NULL, 0);
SELECT name, error_number FROM sys.dm_exec_describe_first_result_set(N'EXEC dbo.first', NULL, 0);
SELECT name, error_number FROM sys.dm_exec_describe_first_result_set(N'EXEC (''SELECT 1'') WITH RESULT SETS ((a int))', NULL, 0);
GO
-- A table of the session's own is not looked at either.
CREATE TABLE #mine (a int);
GO
SELECT error_number FROM sys.dm_exec_describe_first_result_set(N'SELECT a FROM #mine', NULL, 0);
GO
-- A table that is not there, and ways through a program whose first rows have other columns.
CREATE PROCEDURE dbo.ways @x int AS IF @x = 1 SELECT 1 AS a ELSE SELECT 'x' AS b, 2 AS c;
GO
CREATE PROCEDURE dbo.types @x int AS IF @x = 1 SELECT 1 AS a ELSE SELECT 'x' AS a;
GO
CREATE PROCEDURE dbo.alike @x int AS IF @x = 1 SELECT 1 AS a, 2 AS b ELSE IF @x = 2 SELECT CAST(NULL AS int) AS a, 3 AS c ELSE RETURN;
GO
CREATE PROCEDURE dbo.later @x int AS WHILE @x > 0 BEGIN IF @x = 5 BREAK; SET @x -= 1; END; SELECT @x AS x; SELECT 'y' AS y;
GO
EXEC sp_describe_first_result_set N'EXEC dbo.ways 1';
GO
EXEC sp_describe_first_result_set N'SELECT a FROM dbo.not_there';
GO
SELECT error_number, error_message, error_type, error_type_desc FROM sys.dm_exec_describe_first_result_set(N'EXEC dbo.types 1', NULL, 0);
SELECT error_number, error_message, error_type_desc FROM sys.dm_exec_describe_first_result_set(N'DECLARE @i int; IF @i = 1 SELECT 1 AS a; ELSE SELECT 2 AS a, 3 AS b;', NULL, 0);
SELECT error_number, error_message, error_type_desc FROM sys.dm_exec_describe_first_result_set(N'DECLARE @i int; IF @i = 1 EXEC dbo.p2; ELSE EXEC dbo.ways 1; SELECT 1 AS a', NULL, 0);
SELECT error_number, error_message, error_type, error_type_desc FROM sys.dm_exec_describe_first_result_set(N'SELECT a FROM dbo.not_there', NULL, 0);
SELECT name, system_type_name, is_nullable, error_number FROM sys.dm_exec_describe_first_result_set(N'EXEC dbo.alike 1', NULL, 0);
SELECT name, system_type_name, error_number FROM sys.dm_exec_describe_first_result_set(N'EXEC dbo.later 1', NULL, 0);
GO
-- A procedure that calls itself, and more than once: each is looked at once.
CREATE PROCEDURE dbo.twice AS EXEC dbo.twice; EXEC dbo.twice; EXEC dbo.twice; SELECT 1 AS a;
GO
SELECT name, error_number FROM sys.dm_exec_describe_first_result_set(N'EXEC dbo.twice; EXEC dbo.twice', NULL, 0);
GO
