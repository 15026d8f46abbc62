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
-- A condition that can fail for a value is tested after those that cannot, wherever it stands.
CREATE TABLE #limits (name nvarchar(35), value sql_variant, text varchar(10));
INSERT #limits VALUES ('memory', 2000, '12');
INSERT #limits VALUES ('policy', N'CHUNK', 'x');
SELECT m.x FROM (VALUES (CAST(1 AS bigint))) AS m(x) JOIN #limits AS l ON l.name = 'memory' WHERE m.x < CAST(l.value AS bigint) * 1024;
SELECT name FROM #limits WHERE CAST(text AS int) > 5 AND CAST(value AS int) > 5 AND name = 'memory';
SELECT name FROM #limits WHERE ISNUMERIC(text) = 1 AND CAST(text AS int) > 5;
SELECT o.name FROM #limits AS o WHERE EXISTS (SELECT 1 FROM #limits AS i WHERE 10 / (LEN(i.text) - 1) > 1 AND i.name = 'memory' AND i.name = o.name);
DROP TABLE #limits;
GO
SELECT CASE WHEN CAST(m.total_physical_memory_kb AS bigint) > 0 THEN 'memory' END AS of_machine FROM sys.dm_os_sys_memory AS m JOIN sys.configurations AS c ON c.name = 'max degree of parallelism' WHERE CAST(c.value_in_use AS bigint) * 1024 > -1;
GO
-- When CHECKDB has last found nothing wrong.
CREATE TABLE #info (parent varchar(255), object varchar(255), field varchar(255), value varchar(255));
INSERT #info EXEC ('DBCC DBINFO() WITH TABLERESULTS, NO_INFOMSGS');
SELECT field, value FROM #info WHERE field IN ('dbi_dbname', 'dbi_dbccLastKnownGood');
SELECT DATABASEPROPERTYEX('master', 'LastGoodCheckDbTime') AS never;
DBCC CHECKDB WITH NO_INFOMSGS;
TRUNCATE TABLE #info;
INSERT #info EXEC ('DBCC DBINFO (''master'') WITH TABLERESULTS');
SELECT field FROM #info WHERE field = 'dbi_dbccLastKnownGood' AND CAST(value AS datetime) = CAST(DATABASEPROPERTYEX('master', 'LastGoodCheckDbTime') AS datetime) AND CAST(value AS datetime) > DATEADD(hour, -1, GETDATE());
SELECT COUNT(*) AS events FROM sys.fn_trace_gettable(N'log.trc', DEFAULT) WHERE EventClass = 116;
DROP TABLE #info;
GO
-- Of several results, all have as many columns as the table.
CREATE TABLE #used (a nvarchar(128), b varchar(40), c varchar(20));
INSERT #used EXEC sp_spaceused;
GO
SELECT COUNT(*) AS used FROM #used;
INSERT #used (a, b) EXEC ('DBCC USEROPTIONS WITH NO_INFOMSGS');
SELECT a, b FROM #used WHERE a = 'language';
GO
-- More of what is asked first.
IF EXISTS (SELECT * WHERE CONVERT(varchar(2), SERVERPROPERTY('ProductMajorVersion')) = '16') PRINT 'SQL Server 2022';
SELECT servicename, status_desc, is_clustered FROM sys.dm_server_services WHERE process_id > 0;
SELECT actual_state_desc, query_capture_mode_desc FROM sys.database_query_store_options;
SELECT name, actual_state_desc, reason_desc FROM sys.database_automatic_tuning_options;
SELECT db_id, file_id, page_id FROM sys.fn_PageResCracker(0x1002000001000500);
SELECT COUNT(*) AS none FROM sys.dm_exec_requests AS r CROSS APPLY sys.fn_PageResCracker(r.page_resource) AS p;
SELECT container_type_desc FROM sys.dm_os_sys_info;
CREATE TABLE #files ([Archive #] int, [Date] nvarchar(25), [Log File Size (Byte)] int);
INSERT #files EXEC master.sys.xp_enumerrorlogs;
DROP TABLE #files;
GO
-- The pages in the pool, beside the units that have them.
CREATE TABLE pages (id int PRIMARY KEY, text varchar(200), long varchar(max));
CREATE INDEX by_text ON pages (text);
INSERT pages SELECT value, REPLICATE('x', 150), REPLICATE(CAST('y' AS varchar(max)), 9000) FROM GENERATE_SERIES(1, 60);
SELECT i.name, u.type_desc, b.page_type, b.page_level, CASE WHEN COUNT(*) > 1 THEN 'several' ELSE 'one' END AS pages, CASE WHEN SUM(b.row_count) > 0 THEN 'rows' END AS has
FROM sys.dm_os_buffer_descriptors AS b JOIN sys.allocation_units AS u ON u.allocation_unit_id = b.allocation_unit_id
JOIN sys.partitions AS p ON p.hobt_id = u.container_id JOIN sys.indexes AS i ON i.object_id = p.object_id AND i.index_id = p.index_id
WHERE p.object_id = OBJECT_ID('pages') AND b.database_id = DB_ID() GROUP BY i.name, u.type_desc, b.page_type, b.page_level ORDER BY i.name DESC, u.type_desc, b.page_level;
SELECT CASE WHEN SUM(CASE WHEN is_modified = 1 THEN 1 ELSE 0 END) > 0 THEN 'changed' END AS changed, MAX(free_space_in_bytes) / 8192 AS whole FROM sys.dm_os_buffer_descriptors WHERE database_id = DB_ID();
CHECKPOINT;
DBCC DROPCLEANBUFFERS WITH NO_INFOMSGS;
SELECT COUNT(*) AS n FROM sys.dm_os_buffer_descriptors WHERE database_id = DB_ID() AND is_modified = 0 AND page_type <> 'GAM_PAGE';
DROP TABLE pages;
GO
