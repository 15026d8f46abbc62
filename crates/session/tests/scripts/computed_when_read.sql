-- Computed columns whose value is another one each time: computed when they are read.
CREATE TABLE dbo.job (id int PRIMARY KEY, started datetime2 NOT NULL, ended datetime2 NULL,
    seconds AS DATEDIFF(SECOND, started, ISNULL(ended, SYSUTCDATETIME())), doubled AS id * 2, whoever AS NEWID());
INSERT dbo.job (id, started, ended) VALUES (1, '2020-01-01', '2020-01-01 00:01:00'), (2, '2020-01-01', NULL);
INSERT dbo.job (id, started) VALUES (3, DATEADD(HOUR, -1, SYSUTCDATETIME()));
GO
SELECT id, CASE WHEN seconds = 60 THEN 'a minute' WHEN seconds BETWEEN 3600 AND 3700 THEN 'an hour' WHEN seconds > 100000000 THEN 'years' END AS took, doubled
FROM dbo.job ORDER BY id;
SELECT j.id FROM dbo.job AS j WHERE j.seconds < 100 OR j.seconds BETWEEN 3600 AND 3700 ORDER BY j.seconds DESC;
SELECT COUNT(*) AS jobs FROM dbo.job GROUP BY seconds HAVING seconds = 60;
SELECT COUNT(DISTINCT whoever) AS different, MIN(seconds) AS shortest FROM dbo.job;
GO
CREATE VIEW dbo.shown AS SELECT * FROM dbo.job;
GO
SELECT id, seconds FROM dbo.shown WHERE id = 1;
UPDATE dbo.job SET ended = DATEADD(SECOND, 5, started) OUTPUT inserted.seconds AS now, deleted.id WHERE seconds > 100000000;
SELECT TOP (1) seconds FROM dbo.job WHERE id = 2;
SELECT name, is_nullable, is_computed FROM sys.columns WHERE object_id = OBJECT_ID('dbo.job') AND is_computed = 1;
SELECT name, definition, is_persisted FROM sys.computed_columns WHERE object_id = OBJECT_ID('dbo.job') ORDER BY column_id;
GO
UPDATE dbo.job SET seconds = 1;
GO
ALTER TABLE dbo.job ADD age AS DATEDIFF(DAY, started, GETDATE());
GO
SELECT id FROM dbo.job WHERE age > 1000 ORDER BY id;
GO
ALTER TABLE dbo.job ADD kept AS DATEDIFF(DAY, started, GETDATE()) PERSISTED;
GO
CREATE INDEX by_seconds ON dbo.job (seconds);
GO
CREATE TABLE dbo.never (id int NOT NULL, moment AS SYSDATETIME() PRIMARY KEY);
GO
CREATE TABLE #work (id int, stamp AS GETDATE());
INSERT #work (id) VALUES (1);
SELECT id, CASE WHEN stamp > '2020-01-01' THEN 'now' END AS stamp FROM #work;
GO
