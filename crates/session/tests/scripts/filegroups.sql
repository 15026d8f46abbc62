-- Filegroups are facts of the catalog: they are kept and shown, and what names an unknown one is refused.
CREATE DATABASE grouped
ON PRIMARY (NAME = grouped, FILENAME = 'C:\data\grouped.mdf'),
FILEGROUP history (NAME = grouped_history, FILENAME = 'C:\data\grouped_history.ndf'),
FILEGROUP mem CONTAINS MEMORY_OPTIMIZED_DATA (NAME = grouped_mem, FILENAME = 'C:\data\mem')
LOG ON (NAME = grouped_log, FILENAME = 'C:\data\grouped_log.ldf');
GO
USE grouped;
ALTER DATABASE grouped ADD FILEGROUP archive;
ALTER DATABASE CURRENT ADD FILEGROUP spare;
GO
SELECT name, data_space_id, type, type_desc, is_default, is_system, is_read_only, is_autogrow_all_files
FROM sys.filegroups ORDER BY data_space_id;
SELECT name, data_space_id, type, is_default FROM sys.data_spaces ORDER BY data_space_id;
SELECT groupid, groupname FROM sysfilegroups ORDER BY groupid;
SELECT FILEGROUP_ID('HISTORY') AS history, FILEGROUP_NAME(4) AS four, FILEGROUP_NAME(9) AS nine,
    FILEGROUPPROPERTY('archive', 'IsUserDefinedFG') AS own, FILEGROUPPROPERTY('PRIMARY', 'IsUserDefinedFG') AS not_own,
    FILEGROUPPROPERTY('archive', 'IsDefault') AS is_default, FILEGROUPPROPERTY('archive', 'IsReadOnly') AS is_read_only;
EXEC sp_helpfilegroup;
EXEC sp_helpfilegroup 'archive';
GO
EXEC sp_helpfilegroup 'nothing';
GO
-- A table's rows, its indexes and its keys, each where it says; an index that says nothing lies where its table does.
CREATE TABLE dbo.heap (id int NOT NULL, v varchar(max)) ON history TEXTIMAGE_ON archive;
CREATE INDEX ix_same ON dbo.heap (id);
CREATE INDEX ix_other ON dbo.heap (id DESC) ON [archive];
CREATE TABLE dbo.keyed (id int NOT NULL CONSTRAINT pk_keyed PRIMARY KEY ON archive, v int, w int,
    CONSTRAINT u_keyed UNIQUE (v) ON history, INDEX ix_inline (w) ON spare, INDEX ix_plain (w, v)) ON history;
ALTER TABLE dbo.keyed ADD CONSTRAINT u_added UNIQUE (w, id) ON [PRIMARY];
CREATE NONCLUSTERED COLUMNSTORE INDEX ix_columns ON dbo.keyed (v, w) ON spare;
CREATE TABLE dbo.plain (id int) ON [DEFAULT];
SELECT id, v INTO dbo.copied ON archive FROM dbo.heap;
CREATE TABLE #temporary (id int PRIMARY KEY ON "default") ON [PRIMARY];
GO
SELECT OBJECT_NAME(i.object_id) AS tab, i.name, d.name AS space
FROM sys.indexes AS i JOIN sys.data_spaces AS d ON d.data_space_id = i.data_space_id
JOIN sys.tables AS t ON t.object_id = i.object_id ORDER BY tab, i.index_id;
SELECT name, FILEGROUP_NAME(lob_data_space_id) AS long_values FROM sys.tables ORDER BY name;
SELECT OBJECT_NAME(p.object_id) AS tab, u.type_desc, FILEGROUP_NAME(u.data_space_id) AS space
FROM sys.allocation_units AS u JOIN sys.partitions AS p ON p.hobt_id = u.container_id
WHERE p.object_id = OBJECT_ID('dbo.heap') AND p.index_id = 0 ORDER BY u.type;
EXEC sp_helpindex 'dbo.keyed';
GO
-- The clustered index has the rows; MOVE TO says where they lie when it goes.
CREATE CLUSTERED INDEX ix_rows ON dbo.heap (id) ON spare;
DROP INDEX ix_rows ON dbo.heap;
SELECT FILEGROUP_NAME(data_space_id) AS rows_in FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.heap') AND index_id = 0;
CREATE CLUSTERED INDEX ix_rows ON dbo.heap (id);
DROP INDEX ix_rows ON dbo.heap WITH (MOVE TO archive);
ALTER TABLE dbo.keyed DROP CONSTRAINT pk_keyed WITH (MOVE TO [PRIMARY]);
SELECT OBJECT_NAME(object_id) AS tab, FILEGROUP_NAME(data_space_id) AS rows_in FROM sys.indexes
WHERE object_id IN (OBJECT_ID('dbo.heap'), OBJECT_ID('dbo.keyed')) AND index_id = 0 ORDER BY tab;
GO
-- What names a filegroup that is not there.
CREATE TABLE dbo.bad (id int) ON nowhere;
GO
CREATE TABLE dbo.bad (id int, v xml) TEXTIMAGE_ON nowhere;
GO
CREATE TABLE dbo.bad (id int) TEXTIMAGE_ON archive;
GO
CREATE TABLE dbo.bad (id int PRIMARY KEY ON nowhere);
GO
CREATE TABLE dbo.bad (id int, INDEX i (id) ON nowhere);
GO
CREATE TABLE dbo.bad (id int) ON mem;
GO
CREATE INDEX ix_bad ON dbo.heap (v) ON nowhere;
GO
CREATE CLUSTERED COLUMNSTORE INDEX ix_bad ON dbo.copied ON nowhere;
GO
ALTER TABLE dbo.heap ADD CONSTRAINT u_bad UNIQUE (id) ON nowhere;
GO
DROP INDEX ix_same ON dbo.heap WITH (MOVE TO nowhere);
GO
SELECT id INTO dbo.bad ON nowhere FROM dbo.heap;
GO
CREATE TABLE #bad (id int) ON archive;
GO
SELECT id INTO #bad ON archive FROM dbo.heap;
GO
ALTER DATABASE grouped ADD FILE (NAME = f, FILENAME = 'f.ndf') TO FILEGROUP nowhere;
GO
DBCC CHECKFILEGROUP ('nowhere');
GO
DBCC CHECKFILEGROUP ('archive') WITH NO_INFOMSGS;
GO
-- Partition schemes name filegroups, and are renamed along.
CREATE PARTITION FUNCTION pf (int) AS RANGE LEFT FOR VALUES (10, 20);
CREATE PARTITION SCHEME ps AS PARTITION pf TO (history, archive, [PRIMARY], spare);
GO
CREATE PARTITION SCHEME bad AS PARTITION pf ALL TO (nowhere);
GO
ALTER PARTITION SCHEME ps NEXT USED nowhere;
GO
SELECT destination_id, FILEGROUP_NAME(data_space_id) AS space FROM sys.destination_data_spaces ORDER BY destination_id;
ALTER DATABASE grouped MODIFY FILEGROUP history NAME = former;
SELECT destination_id, FILEGROUP_NAME(data_space_id) AS space FROM sys.destination_data_spaces ORDER BY destination_id;
GO
-- What may be changed of a filegroup, and what may not.
ALTER DATABASE grouped MODIFY FILEGROUP archive DEFAULT;
CREATE TABLE dbo.by_default (id int PRIMARY KEY);
SELECT FILEGROUP_NAME(data_space_id) AS space FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.by_default');
ALTER DATABASE grouped MODIFY FILEGROUP archive AUTOGROW_ALL_FILES;
SELECT name, is_default, is_autogrow_all_files FROM sys.filegroups ORDER BY data_space_id;
GO
ALTER DATABASE grouped MODIFY FILEGROUP archive DEFAULT;
GO
ALTER DATABASE grouped MODIFY FILEGROUP archive AUTOGROW_ALL_FILES;
GO
ALTER DATABASE grouped MODIFY FILEGROUP former AUTOGROW_SINGLE_FILE;
GO
ALTER DATABASE grouped MODIFY FILEGROUP nowhere DEFAULT;
GO
ALTER DATABASE grouped MODIFY FILEGROUP archive NAME = former;
GO
ALTER DATABASE grouped MODIFY FILEGROUP [PRIMARY] NAME = first;
GO
ALTER DATABASE grouped MODIFY FILEGROUP archive NAME = [DEFAULT];
GO
ALTER DATABASE grouped MODIFY FILEGROUP [PRIMARY] READ_ONLY;
GO
ALTER DATABASE grouped MODIFY FILEGROUP archive READ_ONLY;
GO
ALTER DATABASE grouped MODIFY FILEGROUP archive READ_WRITE;
GO
ALTER DATABASE grouped MODIFY FILEGROUP mem DEFAULT;
GO
ALTER DATABASE grouped ADD FILEGROUP Archive;
GO
ALTER DATABASE grouped ADD FILEGROUP [default];
GO
ALTER DATABASE grouped ADD FILEGROUP mem2 CONTAINS MEMORY_OPTIMIZED_DATA;
GO
ALTER DATABASE grouped ADD FILEGROUP streams CONTAINS FILESTREAM;
GO
ALTER DATABASE master ADD FILEGROUP own;
GO
ALTER DATABASE tempdb ADD FILEGROUP own;
GO
-- One in use stays, by rows, by an index, by a scheme or as the default one.
ALTER DATABASE grouped REMOVE FILEGROUP archive;
GO
ALTER DATABASE grouped REMOVE FILEGROUP spare;
GO
ALTER DATABASE grouped REMOVE FILEGROUP former;
GO
ALTER DATABASE grouped REMOVE FILEGROUP [PRIMARY];
GO
ALTER DATABASE grouped REMOVE FILEGROUP nowhere;
GO
ALTER DATABASE grouped ADD FILEGROUP unused;
EXEC sp_addextendedproperty 'use', 'none', 'FILEGROUP', 'unused';
SELECT class_desc, name, value FROM sys.extended_properties;
ALTER DATABASE grouped REMOVE FILEGROUP unused;
SELECT COUNT(*) AS properties FROM sys.extended_properties;
SELECT COUNT(*) AS unused FROM sys.filegroups WHERE name = 'unused';
GO
-- A copy has them too.
BACKUP DATABASE grouped TO DISK = 'grouped.bak';
RESTORE DATABASE grouped_copy FROM DISK = 'grouped.bak';
GO
USE grouped_copy;
SELECT name, data_space_id, is_default FROM sys.filegroups ORDER BY data_space_id;
SELECT i.name, d.name AS space FROM sys.indexes AS i JOIN sys.data_spaces AS d ON d.data_space_id = i.data_space_id
WHERE i.object_id = OBJECT_ID('dbo.keyed') ORDER BY i.index_id;
GO
-- Before anything is made, CREATE DATABASE looks at its filegroups.
CREATE DATABASE bad ON PRIMARY (NAME = a, FILENAME = 'a'), FILEGROUP f (NAME = b, FILENAME = 'b'), FILEGROUP F (NAME = c, FILENAME = 'c');
GO
CREATE DATABASE bad ON PRIMARY (NAME = a, FILENAME = 'a'), FILEGROUP f CONTAINS FILESTREAM (NAME = b, FILENAME = 'b');
GO
SELECT DB_ID('bad') AS bad;
CREATE DATABASE with_default ON PRIMARY (NAME = a, FILENAME = 'a'), FILEGROUP f DEFAULT (NAME = b, FILENAME = 'b');
GO
USE with_default;
SELECT name, is_default FROM sys.filegroups ORDER BY data_space_id;
GO
