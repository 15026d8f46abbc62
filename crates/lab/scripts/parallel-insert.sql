-- The parallel insert of the study of the latch that parallel workers log under, in its published shape: 64 Mi rows of
-- (bigint, int, datetime) into a heap, made by cross joins of one list, numbered in any order, and inserted by 11 workers.
--
--   pikepole stress --workload parallel-insert           runs it, as it stands, with the table empty, and shows what was waited for
--   pikepole sql -i parallel-insert.sql                  runs it once
--
-- The study has the database in SIMPLE recovery and then in FULL without a backup; trace flag 3933 makes the latch unfair:
--
--   ALTER DATABASE stress SET RECOVERY FULL;
--   DBCC TRACEON (3933, -1);
CREATE TABLE dbo.parallel_insert (
    id      bigint   NOT NULL,
    part    int      NOT NULL,
    created datetime NOT NULL
);
GO
-- Joined to nothing: a columnstore index has the statement run in batch mode.
CREATE TABLE #BatchMe (id int NULL, INDEX batch_me CLUSTERED COLUMNSTORE);
GO
WITH list AS (
    SELECT n FROM (VALUES (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1),
                          (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1), (1)) AS v (n)
),
kibi AS (SELECT a.n FROM list AS a CROSS JOIN list AS b),
mebi AS (SELECT a.n FROM kibi AS a CROSS JOIN kibi AS b),
half AS (SELECT a.n FROM mebi AS a CROSS JOIN list AS b),
whole AS (SELECT n FROM half UNION ALL SELECT n FROM half),
numbers AS (SELECT ROW_NUMBER() OVER (ORDER BY @@SPID) AS n FROM whole LEFT JOIN #BatchMe ON 0 = 1)
INSERT INTO dbo.parallel_insert WITH (TABLOCK) (id, part, created)
SELECT n, 1, DATEADD(SECOND, n % 86400, CONVERT(datetime, '20200101')) FROM numbers
OPTION (MAXDOP 11);
GO
