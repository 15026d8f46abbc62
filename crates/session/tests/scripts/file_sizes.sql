-- SIZE, FILEGROWTH and MAXSIZE of data and log: room is taken at once, steps and limits hold, and the views show them.
CREATE DATABASE sized
ON PRIMARY (NAME = sized_data, FILENAME = 'C:\data\sized.mdf', SIZE = 12MB, MAXSIZE = 20MB, FILEGROWTH = 1MB)
LOG ON (NAME = sized_log, FILENAME = 'C:\data\sized.ldf', SIZE = 1MB, MAXSIZE = 1536KB, FILEGROWTH = 10%);
GO
USE sized;
SELECT file_id, type_desc, data_space_id, name, size, max_size, growth, is_percent_growth FROM sys.database_files ORDER BY file_id;
SELECT file_id, name, size FROM sys.master_files WHERE database_id = DB_ID() ORDER BY file_id;
SELECT FILE_ID('sized_data') AS data, FILE_IDEX('SIZED_LOG') AS log, FILE_NAME(2) AS two, FILE_ID('sized') AS none;
SELECT total_page_count FROM sys.dm_db_file_space_usage;
GO
-- The file on the disk is that long, and what fits into it does not make it grow.
SELECT file_id, size_on_disk_bytes FROM sys.dm_io_virtual_file_stats(DB_ID(), 1);
CREATE TABLE dbo.t (id int IDENTITY PRIMARY KEY, filler varchar(7000) NOT NULL DEFAULT REPLICATE('x', 7000));
SET NOCOUNT ON;
DECLARE @i int = 0;
WHILE @i < 1000 BEGIN INSERT dbo.t DEFAULT VALUES; SET @i += 1; END;
CHECKPOINT;
SELECT size FROM sys.database_files WHERE file_id = 1;
GO
-- Behind that it grows by its step, to its limit.
SET NOCOUNT ON;
DECLARE @i int = 0;
WHILE @i < 700 BEGIN INSERT dbo.t DEFAULT VALUES; SET @i += 1; IF @i % 100 = 0 CHECKPOINT; END;
SELECT IIF(size > 1536 AND size < 2560 AND size % 128 = 0, 'grown by steps', CONCAT('size ', size)) AS grown FROM sys.database_files WHERE file_id = 1;
GO
SET NOCOUNT ON;
DECLARE @i int = 0;
BEGIN TRY
    WHILE @i < 3000 BEGIN INSERT dbo.t DEFAULT VALUES; SET @i += 1; IF @i % 100 = 0 CHECKPOINT; END;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number, ERROR_SEVERITY() AS severity, ERROR_MESSAGE() AS message;
END CATCH;
GO
SELECT size FROM sys.database_files WHERE file_id = 1;
GO
-- More room, and it goes on.
ALTER DATABASE sized MODIFY FILE (NAME = sized_data, MAXSIZE = UNLIMITED, FILEGROWTH = 50%);
INSERT dbo.t DEFAULT VALUES;
SELECT max_size, growth, is_percent_growth FROM sys.database_files WHERE file_id = 1;
ALTER DATABASE sized MODIFY FILE (NAME = sized_data, SIZE = 40MB, FILEGROWTH = 0);
SELECT size, max_size, growth, is_percent_growth FROM sys.database_files WHERE file_id = 1;
ALTER DATABASE sized MODIFY FILE (NAME = sized_data, NEWNAME = renamed);
EXEC sp_helpfile 'renamed';
GO
EXEC sp_helpfile 'sized_data';
GO
-- Further files are room in the same: their sizes add up.
ALTER DATABASE sized ADD FILE (NAME = second, FILENAME = 'second.ndf', SIZE = 5MB), (NAME = third, FILENAME = 'third.ndf');
ALTER DATABASE sized ADD FILEGROUP history;
ALTER DATABASE sized ADD FILE (NAME = old_rows, FILENAME = 'old.ndf', SIZE = 2MB, FILEGROWTH = 2MB) TO FILEGROUP history;
ALTER DATABASE sized ADD LOG FILE (NAME = second_log, FILENAME = 'second.ldf', SIZE = 512KB);
SELECT file_id, type_desc, FILEGROUP_NAME(data_space_id) AS filegroup, name, IIF(file_id = 2, NULL, size) AS size, max_size FROM sys.database_files ORDER BY file_id;
SELECT total_page_count FROM sys.dm_db_file_space_usage;
EXEC sp_helpfilegroup;
ALTER DATABASE sized MODIFY FILE (NAME = second, SIZE = 6MB);
ALTER DATABASE sized REMOVE FILE third;
SELECT file_id, name, size FROM sys.database_files WHERE type = 0 ORDER BY file_id;
EXEC sp_addextendedproperty 'use', 'history', 'FILEGROUP', 'history', 'Logical File Name', 'old_rows';
SELECT class_desc, major_id, value FROM sys.extended_properties;
GO
-- The last file of a filegroup in use stays, and so does the filegroup.
CREATE TABLE dbo.former (id int) ON history;
ALTER DATABASE sized REMOVE FILE old_rows;
GO
ALTER DATABASE sized REMOVE FILEGROUP history;
GO
DROP TABLE dbo.former;
ALTER DATABASE sized REMOVE FILE old_rows;
ALTER DATABASE sized REMOVE FILEGROUP history;
SELECT COUNT(*) AS properties FROM sys.extended_properties;
GO
-- A copy has the files, and their names are those of its backup.
CREATE DATABASE kept ON (NAME = kept_data, FILENAME = 'kept.mdf', SIZE = 2MB, FILEGROWTH = 3MB), (NAME = kept_more, FILENAME = 'more.ndf', SIZE = 1MB)
LOG ON (NAME = kept_ldf, FILENAME = 'kept.ldf');
BACKUP DATABASE kept TO DISK = 'kept.bak';
RESTORE DATABASE copied FROM DISK = 'kept.bak' WITH MOVE 'kept_data' TO 'a', MOVE 'kept_ldf' TO 'b';
GO
RESTORE DATABASE copied2 FROM DISK = 'kept.bak' WITH MOVE 'kept' TO 'a';
GO
SELECT file_id, name, IIF(size >= IIF(file_id = 1, 256, 128), 'so large', CONCAT('size ', size)) AS size, growth FROM copied.sys.database_files WHERE type = 0 ORDER BY file_id;
GO
-- Scripts that make tempdb larger know its files.
ALTER DATABASE tempdb MODIFY FILE (NAME = tempdev, SIZE = 24MB);
ALTER DATABASE tempdb ADD FILE (NAME = tempdev2, FILENAME = 'tempdev2.ndf', SIZE = 1MB);
SELECT name, IIF(size >= 128, 'at least 1 MB', CONCAT('size ', size)) AS size FROM tempdb.sys.database_files WHERE type = 0 ORDER BY file_id;
GO
-- What is refused.
ALTER DATABASE sized MODIFY FILE (NAME = renamed, SIZE = 10MB);
GO
ALTER DATABASE sized MODIFY FILE (NAME = renamed, MAXSIZE = 10MB);
GO
ALTER DATABASE sized MODIFY FILE (NAME = renamed, MAXSIZE = 60MB, FILEGROWTH = 61MB);
GO
ALTER DATABASE sized MODIFY FILE (NAME = nothing, SIZE = 100MB);
GO
ALTER DATABASE sized MODIFY FILE (NAME = renamed);
GO
ALTER DATABASE sized MODIFY FILE (NAME = renamed, NEWNAME = second);
GO
ALTER DATABASE sized MODIFY FILE (SIZE = 100MB);
GO
ALTER DATABASE sized MODIFY FILE (NAME = renamed, SIZE = 10%);
GO
ALTER DATABASE sized MODIFY FILE (NAME = renamed, FILEGROWTH = UNLIMITED);
GO
ALTER DATABASE sized MODIFY FILE (NAME = renamed, SIZE = 99999TB);
GO
ALTER DATABASE sized MODIFY FILE (NAME = renamed, FILEGROWTH = 4294967296%);
GO
ALTER DATABASE sized MODIFY FILE (NAME = second, OFFLINE);
GO
ALTER DATABASE sized MODIFY FILE (NAME = second, FILENAME = 'D:\second.ndf');
GO
ALTER DATABASE sized ADD FILE (NAME = second, FILENAME = 'x.ndf');
GO
ALTER DATABASE sized ADD FILE (NAME = x, FILENAME = 'x.ndf'), (NAME = X, FILENAME = 'y.ndf');
GO
ALTER DATABASE sized ADD FILE (NAME = x, FILENAME = 'x.ndf', SIZE = 100KB);
GO
ALTER DATABASE sized ADD FILE (NAME = x, FILENAME = 'x.ndf', SIZE = 2MB, MAXSIZE = 1MB);
GO
ALTER DATABASE sized ADD FILE (NAME = x, FILENAME = 'x.ndf', SIZE = 1MB, MAXSIZE = 2MB, FILEGROWTH = 3MB);
GO
ALTER DATABASE sized REMOVE FILE nothing;
GO
ALTER DATABASE sized REMOVE FILE renamed;
GO
ALTER DATABASE sized REMOVE FILE sized_log;
GO
CREATE DATABASE bad ON (NAME = a, FILENAME = 'a', SIZE = 600KB);
GO
CREATE DATABASE bad ON (NAME = a, FILENAME = 'a') LOG ON (NAME = A, FILENAME = 'b');
GO
CREATE DATABASE bad ON (NAME = a, FILENAME = 'a', SIZE = 20MB, MAXSIZE = 10MB);
GO
CREATE DATABASE bad ON (FILENAME = 'a', SIZE = 20MB);
GO
SELECT DB_ID('bad') AS bad;
GO
