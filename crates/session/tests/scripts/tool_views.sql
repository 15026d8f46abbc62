-- Views and functions that tools ask, and what they say.
CREATE DATABASE d;
GO
USE d;
CREATE TABLE t (a int PRIMARY KEY, v rowversion);
GO
SELECT CASE WHEN COUNT(*) > 0 THEN 'some' END AS modules FROM sys.dm_os_loaded_modules WHERE name LIKE '/%' AND base_address <> 0x0;
SELECT name, type FROM sys.dm_os_memory_cache_counters WHERE entries_count >= entries_in_use_count ORDER BY name;
SELECT COUNT(*) AS groups FROM sys.dm_resource_governor_workload_groups;
SELECT class_desc, type, covering_permission_name, parent_class_desc, parent_covering_permission_name FROM sys.fn_builtin_permissions(DEFAULT) WHERE permission_name = 'SELECT' ORDER BY class_desc;
SELECT permission_name FROM sys.fn_builtin_permissions('TYPE') ORDER BY 1;
SELECT COUNT(*) AS unknown FROM sys.fn_builtin_permissions('PLANET');
GO
SELECT COUNT(*) AS n FROM sys.dm_tran_current_transaction;
BEGIN TRAN;
INSERT t (a) VALUES (1);
SELECT COUNT(*) AS n, MAX(CAST(transaction_is_snapshot AS int)) AS snapshot FROM sys.dm_tran_current_transaction c JOIN sys.dm_tran_session_transactions s ON s.transaction_id = c.transaction_id WHERE s.session_id = @@SPID;
COMMIT;
GO
DECLARE c CURSOR GLOBAL SCROLL KEYSET FOR SELECT a FROM t;
DECLARE k CURSOR LOCAL STATIC READ_ONLY FOR SELECT a FROM t;
SELECT cursor_id, name, properties, is_open, fetch_status FROM sys.dm_exec_cursors(0);
OPEN c;
FETCH c;
SELECT name, is_open, fetch_status FROM sys.dm_exec_cursors(@@SPID) WHERE is_open = 1;
FETCH c;
SELECT name, is_open, fetch_status FROM sys.dm_exec_cursors(@@SPID) WHERE is_open = 1;
SELECT COUNT(*) AS others FROM sys.dm_exec_cursors(32000);
DEALLOCATE c;
GO
SELECT COUNT(*) AS n FROM sys.dm_exec_cursors(0);
SELECT CURRENT_REQUEST_ID() AS request, ORIGINAL_DB_NAME() AS original;
SELECT DATABASEPROPERTY('master', 'IsReadOnly') AS ro, DATABASEPROPERTY('d', 'IsTruncLog') AS tl, DATABASEPROPERTY('d', 'Version') AS v, DATABASEPROPERTY('nothing', 'IsReadOnly') AS none, DATABASEPROPERTY('d', 'Recovery') AS word;
GO
-- The lowest number that a transaction which has not ended may have written.
SELECT CASE WHEN MIN_ACTIVE_ROWVERSION() = CAST(CAST(@@DBTS AS bigint) + 1 AS binary(8)) THEN 'next' END AS none_open;
BEGIN TRAN;
INSERT t (a) VALUES (2);
INSERT t (a) VALUES (3);
SELECT CASE WHEN MIN_ACTIVE_ROWVERSION() = (SELECT v FROM t WHERE a = 2) THEN 'the first' END AS open_one;
COMMIT;
SELECT CASE WHEN MIN_ACTIVE_ROWVERSION() = CAST(CAST(@@DBTS AS bigint) + 1 AS binary(8)) THEN 'next' END AS none_open;
BEGIN TRAN;
UPDATE t SET a = 4 WHERE a = 3;
ROLLBACK;
SELECT CASE WHEN MIN_ACTIVE_ROWVERSION() = CAST(CAST(@@DBTS AS bigint) + 1 AS binary(8)) THEN 'next' END AS none_open;
GO
DBCC INPUTBUFFER(@@SPID) WITH NO_INFOMSGS;
GO
DBCC INPUTBUFFER(@@NOTHING);
GO
