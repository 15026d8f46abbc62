-- DBCC, configuration, SET options, and what is refused by name.
DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR);
DBCC SQLPERF("sys.dm_os_latch_stats", CLEAR) WITH NO_INFOMSGS;
DBCC SQLPERF('sys.dm_os_spinlock_stats', CLEAR) WITH NO_INFOMSGS;
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
DBCC SHRINKFILE(1);
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
SET ANSI_NULLS OFF;
GO
SET STATISTICS TIME ON;
GO
SET DATEFORMAT dmy;
GO
SET NOSUCHOPTION ON;
GO
SET DATEFIRST 9;
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
BACKUP DATABASE master TO DISK = 'x';
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
