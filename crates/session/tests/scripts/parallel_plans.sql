-- Plans of what workers share: the workers' rows come together in Parallelism(Gather Streams); what makes rows in bulk works in batches.
CREATE TABLE dbo.target (id bigint NOT NULL, part int NOT NULL, created datetime NOT NULL);
CREATE TABLE dbo.keyed (id int NOT NULL PRIMARY KEY);
GO
CREATE TABLE #BatchMe (id int NULL, INDEX batch_me CLUSTERED COLUMNSTORE);
GO
SET SHOWPLAN_TEXT ON;
GO
-- The published insert, of fewer rows.
WITH list AS (SELECT n FROM (VALUES (1), (1), (1), (1), (1), (1), (1), (1)) AS v (n)),
half AS (SELECT a.n FROM list AS a CROSS JOIN list AS b CROSS JOIN list AS c CROSS JOIN list AS d CROSS JOIN list AS e CROSS JOIN list AS f),
whole AS (SELECT n FROM half UNION ALL SELECT n FROM half),
numbers AS (SELECT ROW_NUMBER() OVER (ORDER BY @@SPID) AS n FROM whole LEFT JOIN #BatchMe ON 0 = 1)
INSERT INTO dbo.target WITH (TABLOCK) (id, part, created)
SELECT n, 1, DATEADD(SECOND, n % 86400, CONVERT(datetime, '20200101')) FROM numbers OPTION (MAXDOP 3);
-- The same by one worker, few rows, a default that only the session can make, and rows that are aggregated.
INSERT dbo.target SELECT value, 1, GETDATE() FROM GENERATE_SERIES(1, 1000000) OPTION (MAXDOP 1);
INSERT dbo.target SELECT value, 1, GETDATE() FROM GENERATE_SERIES(1, 1000) OPTION (MAXDOP 3);
INSERT dbo.target SELECT value, CHECKSUM(NEWID()), GETDATE() FROM GENERATE_SERIES(1, 1000000) OPTION (MAXDOP 3);
SELECT COUNT(*), MAX(value) FROM GENERATE_SERIES(1, 1000000) OPTION (MAXDOP 3);
SELECT COUNT(DISTINCT value) FROM GENERATE_SERIES(1, 1000000) OPTION (MAXDOP 3);
GO
SET SHOWPLAN_TEXT OFF;
GO
-- As XML: the degree, and what works in batches. What ran has each worker's rows and CPU time, which are not the same twice.
SET SHOWPLAN_XML ON;
GO
INSERT dbo.target SELECT value, 1, GETDATE() FROM GENERATE_SERIES(1, 1000000) OPTION (MAXDOP 3);
GO
SET SHOWPLAN_XML OFF;
GO
