-- SIGNALLED_FIRST = BOOST_1000: a task that is signalled goes to the head of its scheduler's queue, and boost_count counts that.
-- With the default nothing is boosted.
WAITFOR DELAY '00:00:00.010';
SELECT w.boost_count FROM sys.dm_os_workers w JOIN sys.dm_os_tasks t ON t.task_address = w.task_address
WHERE t.session_id = @@SPID;
GO
ALTER SERVER CONFIGURATION SET PIKEPOLE SIGNALLED_FIRST = BOOST_1000;
WAITFOR DELAY '00:00:00.010';
WAITFOR DELAY '00:00:00.010';
SELECT IIF(w.boost_count >= 2, 'boosted', 'not boosted') AS after_two_waits
FROM sys.dm_os_workers w JOIN sys.dm_os_tasks t ON t.task_address = w.task_address WHERE t.session_id = @@SPID;
SELECT value_in_use, statistics_rows FROM sys.dm_pikepole_policies WHERE name = 'SIGNALLED_FIRST';
GO
