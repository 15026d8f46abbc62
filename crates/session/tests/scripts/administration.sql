-- DBCC, configuration, SET options, and what is refused by name.
DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR);
DBCC SQLPERF("sys.dm_os_latch_stats", CLEAR) WITH NO_INFOMSGS;
DBCC SQLPERF('sys.dm_os_spinlock_stats', CLEAR) WITH NO_INFOMSGS;
GO
-- What there was before those views: the same rows.
CREATE TABLE #spinlocks (name sysname, collisions bigint, spins bigint, each real, slept bigint, backoffs bigint);
INSERT #spinlocks EXEC ('DBCC SQLPERF(spinlockstats) WITH NO_INFOMSGS');
SELECT (SELECT COUNT(*) FROM #spinlocks) - COUNT(*) AS more, COUNT(s.name) - COUNT(*) AS missing FROM sys.dm_os_spinlock_stats AS v LEFT JOIN #spinlocks AS s ON s.name = v.name;
CREATE TABLE #waits (name sysname, requests real, waited real, signal real);
INSERT #waits EXEC ('DBCC SQLPERF(WAITSTATS) WITH NO_INFOMSGS');
SELECT (SELECT COUNT(*) FROM #waits) - COUNT(*) AS more, COUNT(w.name) - COUNT(*) AS missing FROM sys.dm_os_wait_stats AS v LEFT JOIN #waits AS w ON w.name = v.wait_type;
GO
DBCC SQLPERF('sys.nothing', CLEAR);
GO
DBCC SQLPERF();
GO
DBCC SQLPERF(LOGSPACE, 1, 2);
GO
DBCC TRACEON(9038, -1) WITH NO_INFOMSGS;
DBCC TRACEON(3933);
DBCC TRACESTATUS(-1);
DBCC TRACESTATUS() WITH NO_INFOMSGS;
DBCC TRACESTATUS(9038, 3933, 8048) WITH NO_INFOMSGS;
DBCC TRACEOFF(9038, -1) WITH NO_INFOMSGS;
DBCC TRACEOFF(3933) WITH NO_INFOMSGS;
DBCC TRACESTATUS WITH NO_INFOMSGS;
GO
DBCC TRACEON();
GO
DBCC OPENTRAN;
GO
DBCC USEROPTIONS WITH NO_INFOMSGS;
GO
DBCC FREEPROCCACHE;
GO
DBCC SHOWCONTIG;
GO
DBCC NOSUCHTHING;
GO
CHECKPOINT;
GO
ALTER SERVER CONFIGURATION SET PIKEPOLE LOG_RESERVATION = SPINLOCK;
GO
ALTER SERVER CONFIGURATION SET PIKEPOLE LOG_RESERVATION = NOTHING;
GO
ALTER SERVER CONFIGURATION SET PIKEPOLE NOTHING = 1;
GO
EXEC sp_configure 'LOG_RESERVATION';
EXEC sp_configure 'LOG_RESERVATION', 'ATOMIC';
ALTER SERVER CONFIGURATION SET PIKEPOLE LOG_WRITERS = 4;
EXEC sp_configure 'LOG_WRITER_CPUS', '0';
RECONFIGURE;
EXEC sp_configure 'show advanced options', 1;
EXEC sp_configure 'nothing';
GO
SELECT name, value, value_in_use, is_dynamic FROM sys.configurations ORDER BY name;
EXEC sp_configure;
GO
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
SET ARITHABORT OFF;
SET DATEFORMAT mdy;
SET LANGUAGE us_english;
SET TEXTSIZE 2147483647;
SET NUMERIC_ROUNDABORT OFF;
GO
SET ANSI_PADDING OFF;
GO
SET FORCEPLAN ON;
GO
SET LANGUAGE French;
GO
SET NOSUCHOPTION ON;
GO
SET DATEFIRST 9;
GO
SET DATEFIRST 1;
GO
SET NOEXEC ON;
GO
SELECT 'not run';
GO
SET NOEXEC OFF;
GO
SELECT 'run' AS what;
GO
SET PARSEONLY ON;
GO
SELECT 'not run' FROM nowhere;
GO
SELECT FROM;
GO
SET PARSEONLY OFF;
GO
KILL 51;
GO
SHUTDOWN;
GO
BACKUP DATABASE master TO DISK = 'x' WITH DIFFERENTIAL;
GO
GRANT SELECT ON t TO public;
GO
EXEC sp_databases_nothing;
GO
EXEC sp_who 'nobody', 2;
GO
DECLARE @who int = @@SPID;
EXEC sp_who @who;
GO
SELECT command, status, database_id FROM sys.dm_exec_requests WHERE session_id = @@SPID;
SELECT program_name, login_name, status, is_user_process FROM sys.dm_exec_sessions WHERE session_id = @@SPID;
SELECT cmd, loginame FROM sysprocesses WHERE spid = @@SPID;
SELECT scheduler_id, status, is_online FROM sys.dm_os_schedulers WHERE scheduler_id < 1000 ORDER BY scheduler_id;
SELECT COUNT(*) AS log_writers FROM sys.dm_exec_requests WHERE command = 'LOG WRITER';
SELECT task_state FROM sys.dm_os_tasks WHERE session_id = @@SPID;
SELECT counter_name, cntr_type FROM sys.dm_os_performance_counters
WHERE object_name = 'SQLServer:SQL Statistics' ORDER BY counter_name;
GO
GO
ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 7;
GO
ALTER SERVER CONFIGURATION SET PROCESS AFFINITY NUMANODE = 3;
GO
ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 1;
SELECT scheduler_id, status, is_online FROM sys.dm_os_schedulers WHERE scheduler_id < 2 ORDER BY scheduler_id;
ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = AUTO;
GO
-- The masks that were there before it: bits of CPUs, in force at once; 0 is all. A CPU that is not there is refused.
EXEC sp_configure 'affinity mask', 2;
RECONFIGURE;
SELECT name, CAST(value AS int) AS value, CAST(value_in_use AS int) AS value_in_use, is_dynamic FROM sys.configurations WHERE name LIKE 'affinity%mask' AND name NOT LIKE '%I/O%';
SELECT COUNT(*) AS schedulers FROM sys.dm_os_schedulers WHERE status = 'VISIBLE ONLINE';
GO
EXEC sp_configure 'affinity mask', 128;
GO
EXEC sp_configure 'affinity64 mask', 1;
GO
EXEC sp_configure 'affinity mask', 'x';
GO
-- The I/O mask is where log writers run: another name of LOG_WRITER_CPUS.
EXEC sp_configure 'affinity I/O mask', 1;
SELECT name, value FROM sys.dm_pikepole_policies WHERE name = 'LOG_WRITER_CPUS';
EXEC sp_configure 'affinity I/O mask', 0;
GO
EXEC sp_configure 'affinity64 I/O mask', 1073741824;
GO
EXEC sp_configure 'affinity mask', 0;
RECONFIGURE;
SELECT COUNT(*) AS schedulers, MIN(affinity_type_desc) AS affinity FROM sys.dm_os_schedulers CROSS JOIN sys.dm_os_sys_info WHERE status = 'VISIBLE ONLINE';
SELECT scheduler_id, status, is_online FROM sys.dm_os_schedulers WHERE scheduler_id < 2 ORDER BY scheduler_id;
ALTER SERVER CONFIGURATION SET SOFTNUMA OFF;
GO
-- All points at once. The values are those of one table; what needs a start says so, as single policies do.
ALTER SERVER CONFIGURATION SET PIKEPOLE POLICIES = CLASSIC;
GO
SELECT name, value, value_in_use FROM sys.dm_pikepole_policies WHERE value <> default_value ORDER BY name;
GO
ALTER SERVER CONFIGURATION SET PIKEPOLE NESTED_TRANSACTIONS = UNFAIR_LATCH;
ALTER SERVER CONFIGURATION SET PIKEPOLE Policies = 'best';
ALTER SERVER CONFIGURATION SET PIKEPOLE POLICIES = BEST;
GO
-- LOG_IO, the limits of statements and the options of SQL Server belong to no set.
EXEC sp_configure 'LOG_IO', 'O_DSYNC';
ALTER SERVER CONFIGURATION SET PIKEPOLE POLICIES = BEST;
SELECT name, value FROM sys.dm_pikepole_policies WHERE value <> default_value;
GO
EXEC sp_configure 'LOG_IO', 'AUTO';
ALTER SERVER CONFIGURATION SET PIKEPOLE POLICIES = WORST;
GO
ALTER SERVER CONFIGURATION SET PIKEPOLE POLICIES = 1;
GO
-- A set is no option: it has no value of its own.
EXEC sp_configure 'POLICIES', 'CLASSIC';
GO
-- Which rows of the statistics a value makes live: with the others they stay at zero.
SELECT name, statistics_rows FROM sys.dm_pikepole_policies WHERE statistics_rows IS NOT NULL ORDER BY name;
GO
