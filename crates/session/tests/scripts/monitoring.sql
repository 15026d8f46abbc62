-- What monitors and object explorers have asked for.

-- The text of a request, and what was sent; a variable names the session.
SELECT t.objectid, t.encrypted, t.text FROM sys.dm_exec_requests AS r CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) AS t WHERE r.session_id = @@SPID;
GO
DECLARE @session smallint = @@SPID; DBCC INPUTBUFFER(@session) WITH NO_INFOMSGS;
GO
DBCC INPUTBUFFER(30000);
GO
DBCC INPUTBUFFER;
GO
DECLARE @none int; DBCC INPUTBUFFER(@none);
GO
SELECT * FROM sys.dm_exec_sql_text(NULL);
SELECT * FROM sys.dm_exec_input_buffer(30000, 0);
-- A handle that names nothing any more, and what is no handle.
SELECT * FROM sys.dm_exec_sql_text(0x0200000000112233445566778899AABBCCDDEEFF);
GO
SELECT * FROM sys.dm_exec_sql_text(0x01);
GO
SELECT * FROM sys.dm_exec_query_plan(0x06);
GO
-- Statistics of temporary tables are accepted, and not stored.
CREATE TABLE #t (a int);
CREATE STATISTICS s ON #t (a);
GO
CREATE STATISTICS s ON #t (b);
GO
CREATE STATISTICS s ON #none (a);
GO
-- There is no registry to be read: what is asked for stays NULL.
DECLARE @port nvarchar(50);
EXEC xp_instance_regread @rootkey = 'HKEY_LOCAL_MACHINE', @key = 'Software\Tcp', @value_name = 'TcpPort', @value = @port OUTPUT;
SELECT @port AS port;
GO
-- The server itself is the only one; no database has a mirror.
SELECT server_id, CASE WHEN name = @@SERVERNAME THEN 1 ELSE 0 END AS is_this, product, is_linked FROM sys.servers;
SELECT DB_NAME(database_id) AS name, mirroring_state FROM sys.database_mirroring;
SELECT DB_NAME(database_id) AS name, last_log_backup_lsn FROM sys.database_recovery_status;
SELECT DB_NAME(database_id) AS name, non_transacted_access_desc FROM sys.database_filestream_options;
GO
-- The units of a table, its index and its long values.
CREATE TABLE dbo.units (id int PRIMARY KEY, other int INDEX i, long varchar(max));
INSERT dbo.units VALUES (1, 1, REPLICATE(CAST('x' AS varchar(max)), 30000));
SELECT i.index_id, u.type_desc, u.used_pages, CASE WHEN u.total_pages >= u.used_pages THEN 1 ELSE 0 END AS fits
FROM sys.allocation_units AS u JOIN sys.partitions AS p ON p.hobt_id = u.container_id
JOIN sys.indexes AS i ON i.object_id = p.object_id AND i.index_id = p.index_id
WHERE i.object_id = OBJECT_ID('dbo.units') ORDER BY i.index_id, u.type;
GO
-- Memory and CPUs are measured: parts are not more than the whole.
SELECT CASE WHEN available_physical_memory_kb <= total_physical_memory_kb AND total_physical_memory_kb > 0 THEN 1 ELSE 0 END AS fits FROM sys.dm_os_sys_memory;
SELECT COUNT(*) AS wrong FROM sys.dm_os_schedulers WHERE total_cpu_usage_ms < 0 OR total_scheduler_delay_ms < 0;
SELECT COUNT(*) AS sessions FROM sys.dm_db_session_space_usage WHERE session_id = @@SPID AND database_id = 2 AND internal_objects_alloc_page_count = 0;
SELECT COUNT(*) AS tasks FROM sys.dm_db_task_space_usage WHERE session_id = @@SPID;
-- A folder of no real disk is on no volume.
SELECT COUNT(*) AS volumes FROM sys.master_files AS f CROSS APPLY sys.dm_os_volume_stats(f.database_id, f.file_id) AS v;
GO
-- What is not here has no rows.
SELECT (SELECT COUNT(*) FROM sys.dm_exec_query_memory_grants) + (SELECT COUNT(*) FROM sys.dm_db_missing_index_details)
    + (SELECT COUNT(*) FROM sys.dm_hadr_database_replica_states) + (SELECT COUNT(*) FROM sys.xml_indexes)
    + (SELECT COUNT(*) FROM sys.dm_db_stats_properties(1, 1)) + (SELECT COUNT(*) FROM sys.dm_xe_sessions) AS rows;
GO
-- A column without any value but NULL goes into one of each type; a value must be one that the type takes.
CREATE TABLE #kept (x xml NULL, n int NULL);
INSERT #kept EXEC sp_executesql N'SELECT NULL AS x, 1 AS n';
INSERT #kept EXEC sp_executesql N'SELECT NULL AS x, 1 AS n WHERE 1 = 0';
SELECT x, n FROM #kept;
GO
INSERT #kept EXEC sp_executesql N'SELECT 1 AS x, 1 AS n';
GO
-- Options that tools ask for by number, and that cannot be set.
SELECT configuration_id, name, value_in_use, is_dynamic FROM sys.configurations WHERE configuration_id IN (115, 124, 518, 1126, 1127, 1539, 1555)
    AND name <> 'max degree of parallelism' ORDER BY configuration_id;
EXEC sp_configure 'nested triggers', 1;
GO
EXEC sp_configure 'nested triggers', 0;
GO
SELECT FILEGROUP_NAME(1) AS a, FILEGROUP_ID('primary') AS b, FILEGROUP_NAME(2) AS c, FILEGROUP_ID('other') AS d, FILEGROUP_NAME(NULL) AS e;
GO
