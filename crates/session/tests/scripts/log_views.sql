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
