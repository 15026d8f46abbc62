-- model and msdb: what everybody finds there, and what BACKUP and RESTORE write.
SELECT name, database_id, state_desc, recovery_model_desc FROM sys.databases ORDER BY database_id;
GO
SELECT DB_ID('msdb') AS msdb, DB_ID('model') AS model, DB_NAME(3) AS three, HAS_DBACCESS('msdb') AS may;
GO
SELECT COUNT(*) AS sets FROM msdb.dbo.backupset;
SELECT COUNT(*) AS jobs FROM msdb.dbo.sysjobs AS j JOIN msdb.dbo.sysjobsteps AS s ON s.job_id = j.job_id;
SELECT * FROM msdb..suspect_pages;
SELECT name FROM sys.databases WHERE database_id < 5 ORDER BY database_id;
GO
ALTER DATABASE model SET RECOVERY FULL;
ALTER DATABASE model SET ALLOW_SNAPSHOT_ISOLATION ON;
GO
CREATE DATABASE sales;
SELECT name, recovery_model_desc, snapshot_isolation_state_desc FROM sys.databases WHERE database_id IN (3, 5) ORDER BY database_id;
GO
CREATE TABLE sales.dbo.t (id int PRIMARY KEY);
GO
BACKUP DATABASE sales TO DISK = '/server/backup/sales.bak' WITH NAME = N'first', DESCRIPTION = N'of all';
INSERT sales.dbo.t VALUES (1);
BACKUP LOG sales TO DISK = '/server/backup/sales.bak';
BACKUP DATABASE sales TO DISK = '/server/backup/copy.bak' WITH COPY_ONLY;
GO
SELECT s.backup_set_id, s.database_name, s.type, s.name, s.description, s.position, s.is_copy_only, s.recovery_model,
       s.user_name, f.physical_device_name, f.device_type,
       CASE WHEN s.last_lsn >= s.first_lsn AND s.backup_size > 0 AND s.backup_finish_date >= s.backup_start_date THEN 'plausible' END AS numbers
FROM msdb.dbo.backupset AS s
JOIN msdb.dbo.backupmediafamily AS f ON f.media_set_id = s.media_set_id ORDER BY s.backup_set_id;
SELECT backup_set_id, file_number, file_type, logical_name FROM msdb.dbo.backupfile WHERE backup_set_id < 3 ORDER BY backup_set_id, file_number;
GO
RESTORE DATABASE again FROM DISK = '/server/backup/sales.bak' WITH NORECOVERY;
RESTORE LOG again FROM DISK = '/server/backup/sales.bak' WITH FILE = 2;
GO
SELECT r.restore_history_id, r.destination_database_name, r.backup_set_id, r.restore_type, r.replace, r.recovery, s.name
FROM msdb.dbo.restorehistory AS r JOIN msdb.dbo.backupset AS s ON s.backup_set_id = r.backup_set_id ORDER BY 1;
GO
EXEC msdb.dbo.sp_delete_database_backuphistory @database_name = N'sales';
SELECT (SELECT COUNT(*) FROM msdb.dbo.backupset) AS sets, (SELECT COUNT(*) FROM msdb.dbo.backupmediaset) AS media,
       (SELECT COUNT(*) FROM msdb.dbo.restorehistory) AS restores, (SELECT COUNT(*) FROM msdb.dbo.backupfile) AS files;
GO
BACKUP DATABASE sales TO DISK = '/server/backup/copy.bak' WITH INIT;
DECLARE @tomorrow datetime = DATEADD(day, 1, SYSUTCDATETIME());
EXEC msdb.dbo.sp_delete_backuphistory @oldest_date = '2000-01-01';
SELECT COUNT(*) AS kept FROM msdb.dbo.backupset;
EXEC msdb.dbo.sp_delete_backuphistory @tomorrow;
SELECT COUNT(*) AS kept FROM msdb.dbo.backupset;
GO
EXEC msdb.dbo.sp_add_job @job_name = N'nightly';
GO
DROP DATABASE msdb;
GO
CREATE DATABASE MODEL;
GO
USE msdb;
SELECT DB_NAME() AS here, OBJECT_ID('dbo.sysjobs_view') - OBJECT_ID('msdb.dbo.sysjobs_view') AS same;
GO
