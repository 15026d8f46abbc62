-- The log's views and functions.
SELECT database_id, file_id, vlf_begin_offset, vlf_sequence_number, vlf_active, vlf_status, vlf_parity, vlf_first_lsn FROM sys.dm_db_log_info(DB_ID()) WHERE vlf_active = 1;
SELECT COUNT(*) AS missing FROM sys.dm_db_log_info(12345);
SELECT COUNT(DISTINCT database_id) AS databases, MIN(database_id) AS one FROM sys.dm_db_log_info(NULL);
SELECT COUNT(*) AS same FROM sys.dm_db_log_info(DEFAULT) a JOIN sys.dm_db_log_info(DB_ID()) b ON a.vlf_begin_offset = b.vlf_begin_offset;
GO
CREATE DATABASE other;
GO
SELECT d.name, i.vlf_sequence_number, i.vlf_active FROM sys.databases d CROSS APPLY sys.dm_db_log_info(d.database_id) i WHERE i.vlf_active = 1 ORDER BY d.name;
SELECT d.name, s.recovery_model, s.active_vlf_count, s.current_vlf_sequence_number, s.log_truncation_holdup_reason, s.log_backup_time FROM sys.databases AS d CROSS APPLY sys.dm_db_log_stats(d.database_id) AS s ORDER BY d.name;
SELECT name FROM sys.databases d WHERE EXISTS (SELECT 1 FROM sys.dm_db_log_stats(d.database_id) WHERE active_vlf_count > 0) ORDER BY name;
DECLARE @id int = DB_ID('other');
SELECT COUNT(*) AS rows, MAX(database_id) - @id AS difference FROM sys.dm_db_log_stats(@id);
GO
SELECT vlf_status FROM sys.dm_db_log_info;
GO
SELECT vlf_status FROM sys.dm_db_log_info();
GO
SELECT vlf_status FROM sys.dm_db_log_info(1, 2);
GO
SELECT vlf_status FROM sys.dm_db_log_info('x');
GO
SELECT i.vlf_status FROM sys.databases d, sys.dm_db_log_info(d.database_id) i;
GO
SELECT i.vlf_status FROM sys.databases d CROSS JOIN sys.dm_db_log_info(d.database_id) i;
GO
SELECT name, type, type_desc FROM sys.all_objects WHERE name LIKE 'dm_db_log%' ORDER BY name;
SELECT OBJECT_NAME(OBJECT_ID('sys.dm_db_log_info')) AS name;
GO
DBCC LOGINFO WITH NO_INFOMSGS;
DBCC LOGINFO('other') WITH NO_INFOMSGS;
DBCC LOGINFO('nowhere');
GO
DBCC OPENTRAN WITH NO_INFOMSGS;
DBCC OPENTRAN WITH TABLERESULTS, NO_INFOMSGS;
GO
SELECT database_id, CASE WHEN used_log_space_in_bytes BETWEEN 1 AND total_log_size_in_bytes THEN 1 ELSE 0 END AS used, log_space_in_bytes_since_last_backup FROM sys.dm_db_log_space_usage;
SELECT DB_NAME(database_id) AS db, file_id, num_of_reads FROM sys.dm_io_virtual_file_stats(NULL, 2) ORDER BY database_id;
SELECT DB_NAME(f.database_id) AS db, f.name, f.type_desc, CASE WHEN s.size_on_disk_bytes = f.size * 8192.0 THEN 1 ELSE 0 END AS same FROM sys.master_files f CROSS APPLY sys.dm_io_virtual_file_stats(f.database_id, f.file_id) s ORDER BY f.database_id, f.file_id;
GO
SELECT instance_name, counter_name, cntr_value FROM sys.dm_os_performance_counters WHERE counter_name IN ('Log File(s) Size (KB)', 'Data File(s) Size (KB)', 'Log Shrinks') ORDER BY counter_name, instance_name;
SELECT DISTINCT object_name FROM sys.dm_os_performance_counters WHERE instance_name = '' ORDER BY object_name;
SELECT DISTINCT object_name FROM sys.dm_os_performance_counters WHERE instance_name = '_Total' ORDER BY object_name;
GO
