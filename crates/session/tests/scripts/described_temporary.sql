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
