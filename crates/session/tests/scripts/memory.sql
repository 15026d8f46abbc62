-- What statements may keep in memory, and who has how much of it.
SELECT resource_semaphore_id, granted_memory_kb, used_memory_kb, grantee_count, waiter_count, timeout_error_count, pool_id
FROM sys.dm_exec_query_resource_semaphores;
SELECT COUNT(*) AS grants FROM sys.dm_exec_query_memory_grants;
GO
EXEC sp_configure 'max workspace memory (MB)', 2;
EXEC sp_configure 'max memory grant (%)', '50';
EXEC sp_configure 'min memory per query (KB)', 512;
EXEC sp_configure 'query wait (s)', 30;
GO
EXEC sp_configure 'min memory per query (KB)', 511;
GO
EXEC sp_configure 'query wait (s)', -2;
GO
EXEC sp_configure 'max memory grant (%)', 'much';
GO
SELECT name, value, value_in_use, minimum, maximum, is_dynamic FROM sys.configurations WHERE name LIKE '%memory%' OR name LIKE 'query wait%' ORDER BY name;
SELECT target_memory_kb, total_memory_kb, available_memory_kb FROM sys.dm_exec_query_resource_semaphores;
GO
-- What needs more than a megabyte goes on in files of tempdb.
CREATE TABLE dbo.heavy (k int NOT NULL PRIMARY KEY, g int NOT NULL, pad varchar(100) NOT NULL);
SET NOCOUNT ON;
DECLARE @from int = 0;
WHILE @from < 30000
BEGIN
    INSERT dbo.heavy SELECT value, value * 7919 % 10007, REPLICATE(CHAR(97 + value % 26), 60 + value % 40) FROM GENERATE_SERIES(@from + 1, @from + 1000);
    SET @from += 1000;
END
SET NOCOUNT OFF;
GO
SELECT TOP (3) k, g, LEFT(pad, 3) AS pad FROM (SELECT TOP (29999) k, g, pad FROM dbo.heavy ORDER BY pad DESC, g) AS a ORDER BY k DESC;
SELECT COUNT(*) AS groups, SUM(n) AS rows, MIN(low) AS low, MAX(high) AS high
FROM (SELECT g, pad, COUNT(*) AS n, MIN(k) AS low, MAX(k) AS high FROM dbo.heavy GROUP BY g, pad) AS a;
SELECT COUNT(*) AS rows, SUM(CAST(a.k AS bigint)) AS k FROM dbo.heavy AS a JOIN dbo.heavy AS b ON b.pad = a.pad AND b.g = a.g;
SELECT COUNT(DISTINCT pad) AS pads, COUNT(DISTINCT g) AS g, COUNT(DISTINCT k) AS k FROM dbo.heavy;
SELECT COUNT(*) AS rows FROM dbo.heavy AS a FULL JOIN (SELECT k + 15000 AS k, pad FROM dbo.heavy) AS b ON b.k = a.k;
SELECT CASE WHEN waiting_tasks_count > 0 THEN 'files' ELSE 'memory' END AS used FROM sys.dm_os_wait_stats WHERE wait_type = 'IO_COMPLETION';
SELECT granted_memory_kb, grantee_count, waiter_count FROM sys.dm_exec_query_resource_semaphores;
GO
-- A list that IN looks through is in memory: there is not as much.
SELECT COUNT(*) FROM dbo.heavy WHERE pad + STR(k) IN (SELECT pad + STR(k + 1) FROM dbo.heavy WHERE k > 0);
GO
SELECT COUNT(*) FROM dbo.heavy OPTION (MAX_GRANT_PERCENT = 200);
GO
-- Few groups come in the order of their values, and so do the rows of DISTINCT and of set operations.
CREATE TABLE dbo.few (a varchar(5) NULL, b int NULL);
INSERT dbo.few VALUES ('pear', 2), ('fig', 1), (NULL, 7), ('pear', 1), ('Fig', 1), ('apple', NULL), ('apple', 3);
SELECT a, COUNT(*) AS n FROM dbo.few GROUP BY a;
SELECT b, a, COUNT(*) AS n FROM dbo.few GROUP BY b, a;
SELECT DISTINCT b FROM dbo.few;
SELECT a, b FROM dbo.few UNION SELECT 'fig', 0;
SELECT b FROM dbo.few INTERSECT SELECT value FROM GENERATE_SERIES(1, 3);
SELECT b FROM dbo.few EXCEPT SELECT 2;
SELECT a, b, COUNT(*) AS n FROM dbo.few WHERE a IS NOT NULL AND b IS NOT NULL GROUP BY ROLLUP (a, b);
GO
