-- BACKUP WITH COMPRESSION deflates pages and log; what it restores is what was there.
CREATE DATABASE packed;
ALTER DATABASE packed SET RECOVERY FULL;
GO
USE packed;
CREATE TABLE t (id int PRIMARY KEY, text varchar(200));
INSERT t SELECT value, REPLICATE('abc', 50) FROM GENERATE_SERIES(1, 2000);
BACKUP DATABASE packed TO DISK = 'plain.bak';
BACKUP DATABASE packed TO DISK = 'packed.bak' WITH COMPRESSION, INIT;
INSERT t VALUES (3000, 'later');
BACKUP LOG packed TO DISK = 'packed.bak' WITH COMPRESSION;
BACKUP LOG packed TO DISK = 'packed.bak' WITH NO_COMPRESSION, COPY_ONLY;
GO
USE master;
RESTORE VERIFYONLY FROM DISK = 'packed.bak';
RESTORE VERIFYONLY FROM DISK = 'packed.bak' WITH FILE = 2;
SELECT position, IIF(backup_size > compressed_backup_size * 3, 1, 0) much_smaller, IIF(backup_size = compressed_backup_size, 1, 0) same
FROM msdb.dbo.backupset WHERE database_name = 'packed' ORDER BY backup_set_id;
SELECT m.is_compressed FROM msdb.dbo.backupset s JOIN msdb.dbo.backupmediaset m ON m.media_set_id = s.media_set_id WHERE s.database_name = 'packed' ORDER BY s.backup_set_id;
GO
RESTORE DATABASE unpacked FROM DISK = 'packed.bak' WITH NORECOVERY;
RESTORE LOG unpacked FROM DISK = 'packed.bak' WITH FILE = 2, RECOVERY;
GO
SELECT COUNT(*) n, MIN(text) t, MAX(id) m FROM unpacked.dbo.t;
DBCC CHECKDB (unpacked) WITH NO_INFOMSGS;
SELECT name, value_in_use FROM sys.configurations WHERE name = 'backup compression default';
GO
