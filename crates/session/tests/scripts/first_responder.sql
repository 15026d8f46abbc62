-- What scripts that look a server over ask for.
CREATE PROCEDURE dbo.shown @server nvarchar(128) = @@SERVERNAME, @rows int = @@ROWCOUNT, @word sysname = plain AS
SELECT CASE WHEN @server = @@SERVERNAME THEN 'this server' END AS server, @rows AS rows, @word AS word;
GO
EXEC dbo.shown;
EXEC dbo.shown @rows = 7, @server = N'?';
DROP PROCEDURE dbo.shown;
GO
-- No rows of a call without a result.
CREATE TABLE #found (id int, text varchar(10));
DECLARE @nothing nvarchar(max);
INSERT #found (id, text) EXEC sys.sp_executesql @nothing;
INSERT #found EXEC ('DECLARE @x int = 1');
INSERT #found EXEC ('SELECT 1');
GO
SELECT COUNT(*) AS found FROM #found;
DROP TABLE #found;
GO
EXEC sp_validatelogins;
SELECT * FROM sys.resource_governor_configuration;
SELECT CASE WHEN SUM(pages_kb) > 0 THEN 'pages' END AS clerks FROM sys.dm_os_memory_clerks WHERE type = 'MEMORYCLERK_SQLBUFFERPOOL' AND pages_kb <= virtual_memory_reserved_kb;
SELECT COUNT(*) AS n FROM sys.column_store_segments AS s JOIN sys.column_store_dictionaries AS d ON d.hobt_id = s.hobt_id;
SELECT counter, occurrence, value FROM sys.dm_exec_query_optimizer_info;
GO
