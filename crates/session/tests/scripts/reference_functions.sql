-- Functions and statements of the language's reference that tell of the server and of what it keeps.
SELECT BINARY_CHECKSUM(123456789) AS number, BINARY_CHECKSUM('bQ') - BINARY_CHECKSUM('aa') AS meet, BINARY_CHECKSUM(1, 0) AS folded,
    BINARY_CHECKSUM(NULL) AS of_null, CHECKSUM(123456789) AS same, CHECKSUM('Aa') - CHECKSUM('aA') AS equal;
SELECT CASE WHEN BINARY_CHECKSUM('A') = BINARY_CHECKSUM('a') THEN 'equal' ELSE 'differ' END AS bytes;
SELECT COUNT(DISTINCT s) AS n FROM (SELECT BINARY_CHECKSUM(*) AS s FROM (VALUES (1, 'a'), (1, 'b'), (1, 'a')) AS v (x, y)) AS w;
SELECT CURRENT_TIMEZONE() AS zone, CURRENT_TIMEZONE_ID() AS id;
SELECT PWDCOMPARE(N'secret', PWDENCRYPT(N'secret')) AS same, PWDCOMPARE(N'Secret', PWDENCRYPT(N'secret')) AS other, PWDCOMPARE('x', 0x01) AS none,
    DATALENGTH(PWDENCRYPT('secret')) AS bytes;
SELECT {fn BIT_LENGTH('abc')} AS bits, {fn EXTRACT(YEAR FROM CAST('2024-05-06' AS date))} AS year;
GO
CREATE DATABASE files;
GO
USE files;
SELECT FILE_ID('files') AS data, FILE_IDEX('files_log') AS log, FILE_ID('none') AS none, FILE_NAME(1) AS one, FILE_NAME(2) AS two, FILE_NAME(3) AS three;
SELECT FILEPROPERTY('files', 'IsPrimaryFile') AS is_primary, FILEPROPERTY('files_log', 'IsLogFile') AS is_log, FILEPROPERTY('files', 'IsReadOnly') AS is_read_only,
    SIGN(FILEPROPERTY('files', 'SpaceUsed')) AS used, FILEGROUPPROPERTY('PRIMARY', 'IsDefault') AS is_default, FILEPROPERTYEX('files', 'x') AS ex;
CREATE TABLE dbo.k (a int NOT NULL, b varchar(10) NOT NULL, PRIMARY KEY (b DESC, a));
SELECT INDEXKEY_PROPERTY(OBJECT_ID('dbo.k'), 1, 1, 'ColumnId') AS first, INDEXKEY_PROPERTY(OBJECT_ID('dbo.k'), 1, 1, 'IsDescending') AS descends,
    INDEXKEY_PROPERTY(OBJECT_ID('dbo.k'), 1, 2, 'ColumnId') AS second, INDEXKEY_PROPERTY(OBJECT_ID('dbo.k'), 1, 3, 'ColumnId') AS none;
CREATE TYPE dbo.code FROM varchar(7) NOT NULL;
SELECT TYPEPROPERTY('int', 'Precision') AS int_digits, TYPEPROPERTY('dbo.code', 'Precision') AS characters, TYPEPROPERTY('dbo.code', 'AllowsNull') AS nulls,
    TYPEPROPERTY('datetime2', 'Scale') AS scale, TYPEPROPERTY('nothing', 'Scale') AS none;
SELECT STATS_DATE(OBJECT_ID('dbo.k'), 1) AS stats, GETANSINULL() AS nulls, GETANSINULL('nowhere') AS nowhere;
SELECT PERMISSIONS() & 2 AS creates_tables, PERMISSIONS(OBJECT_ID('dbo.k')) AS of_table, PERMISSIONS(OBJECT_ID('dbo.k'), 'a') AS of_column;
SELECT LOGINPROPERTY('sa', 'DefaultDatabase') AS home, LOGINPROPERTY('sa', 'IsLocked') AS locked, LOGINPROPERTY('nobody', 'IsLocked') AS nobody;
GO
SELECT SIGN(@@TIMETICKS) AS ticks, @@PACKET_ERRORS AS packet_errors, @@TOTAL_ERRORS AS errors, @@REMSERVER AS remote,
    CASE WHEN @@CONNECTIONS >= 1 AND @@CPU_BUSY >= 0 AND @@IDLE >= 0 AND @@IO_BUSY >= 0 THEN 1 ELSE 0 END AS times,
    CASE WHEN @@PACK_SENT >= 0 AND @@PACK_RECEIVED >= 0 AND @@TOTAL_READ >= 0 AND @@TOTAL_WRITE >= 0 THEN 1 ELSE 0 END AS counts;
GO
-- Application locks.
BEGIN TRANSACTION;
SELECT APPLOCK_MODE('public', 'form', 'Transaction') AS before, APPLOCK_TEST('public', 'form', 'Exclusive', 'Transaction') AS free;
EXEC sp_getapplock @Resource = 'form', @LockMode = 'Shared';
SELECT APPLOCK_MODE('public', 'form', 'Transaction') AS held, APPLOCK_TEST('public', 'form', 'Exclusive', 'Transaction') AS own,
    APPLOCK_TEST('public', 'form', 'Exclusive', 'Session') AS others, APPLOCK_TEST('public', 'form', 'Shared', 'Session') AS shared;
SELECT CASE WHEN CURRENT_TRANSACTION_ID() = (SELECT transaction_id FROM sys.dm_tran_session_transactions WHERE session_id = @@SPID) THEN 1 ELSE 0 END AS same;
ROLLBACK;
GO
SELECT APPLOCK_MODE('public', 'form', 'Transaction');
GO
-- SET with variables.
DECLARE @info varbinary(128) = 0x0102, @priority int = -3, @word varchar(10) = 'HIGH';
SET CONTEXT_INFO @info;
SELECT CONTEXT_INFO() AS info;
SET DEADLOCK_PRIORITY @priority;
SELECT deadlock_priority FROM sys.dm_exec_sessions WHERE session_id = @@SPID;
SET DEADLOCK_PRIORITY @word;
SELECT deadlock_priority FROM sys.dm_exec_sessions WHERE session_id = @@SPID;
GO
-- Samples.
CREATE TABLE dbo.many (id int PRIMARY KEY, v varchar(10));
INSERT dbo.many SELECT value, 'x' FROM GENERATE_SERIES(1, 2000);
SELECT COUNT(*) AS n FROM dbo.many TABLESAMPLE (100 PERCENT);
SELECT COUNT(*) AS n FROM dbo.many TABLESAMPLE (0 PERCENT);
SELECT COUNT(*) AS n FROM dbo.many TABLESAMPLE SYSTEM (25 ROWS);
SELECT CASE WHEN COUNT(*) BETWEEN 100 AND 300 THEN 'some' ELSE CAST(COUNT(*) AS varchar(10)) END AS n FROM dbo.many TABLESAMPLE (10);
SELECT COUNT(*) - (SELECT COUNT(*) FROM dbo.many AS n TABLESAMPLE (10 PERCENT) REPEATABLE (7)) AS same FROM dbo.many AS m TABLESAMPLE (10 PERCENT) REPEATABLE (7);
SELECT MIN(dbo.many.id) AS first FROM dbo.many TABLESAMPLE (100);
GO
SELECT COUNT(*) FROM dbo.many TABLESAMPLE (101 PERCENT);
GO
SELECT COUNT(*) FROM sys.objects TABLESAMPLE (10 PERCENT);
GO
DECLARE @n int = 5; SELECT COUNT(*) FROM dbo.many TABLESAMPLE (@n ROWS);
GO
-- DBCC.
DBCC UPDATEUSAGE(0);
DBCC UPDATEUSAGE(files, 'dbo.k') WITH NO_INFOMSGS;
DBCC CLEANTABLE(files, 'dbo.many', 100) WITH NO_INFOMSGS;
DBCC FREESYSTEMCACHE('ALL') WITH NO_INFOMSGS;
DBCC FREESESSIONCACHE WITH NO_INFOMSGS;
DBCC HELP('checkident') WITH NO_INFOMSGS;
GO
DBCC UPDATEUSAGE(files, 'dbo.none');
GO
DBCC SHRINKFILE('none', 1);
GO
DBCC SHRINKFILE(1, 'half');
GO
DBCC FREESYSTEMCACHE('Other');
GO
DBCC HELP('nothing');
GO
DBCC SHOW_STATISTICS('dbo.k', 'x');
GO
-- What is refused by name.
CREATE CERTIFICATE c WITH SUBJECT = 'x';
GO
CREATE PARTITION FUNCTION pf (int) AS RANGE LEFT FOR VALUES (1, 2);
GO
CREATE PARTITION SCHEME ps AS PARTITION pf ALL TO ([PRIMARY]);
GO
CREATE FULLTEXT INDEX ON dbo.k (b) KEY INDEX x;
GO
IF 1 = 1 OPEN SYMMETRIC KEY k DECRYPTION BY CERTIFICATE c;
GO
BEGIN DIALOG CONVERSATION @h FROM SERVICE s TO SERVICE 't';
GO
SEND ON CONVERSATION @h ('x');
GO
DROP ASYMMETRIC KEY p;
GO
CREATE CERTIFICAT c;
GO
-- Columns of which nothing is said.
SET ANSI_NULL_DFLT_OFF ON;
CREATE TABLE dbo.strict (a int, b int NULL, c dbo.code);
SELECT @@OPTIONS & 3072 AS options, GETANSINULL() AS nulls;
SET ANSI_NULL_DFLT_ON ON;
ALTER TABLE dbo.strict ADD d int;
SELECT name, is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('dbo.strict') ORDER BY column_id;
SELECT @@OPTIONS & 3072 AS options, GETANSINULL() AS nulls;
GO
CREATE VIEW dbo.seen WITH SCHEMABINDING AS SELECT a FROM dbo.k;
GO
CREATE UNIQUE CLUSTERED INDEX cx ON dbo.seen (a);
GO
