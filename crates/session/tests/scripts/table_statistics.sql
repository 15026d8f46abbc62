-- Statistics are made by CREATE STATISTICS, of all rows of a small table.
CREATE TABLE dbo.pets (id int CONSTRAINT pk_pets PRIMARY KEY, kind varchar(10), weight decimal(6, 2), born date, notes varchar(max), chip xml);
INSERT dbo.pets (id, kind, weight, born) SELECT n, CHOOSE(n % 4 + 1, 'cat', 'dog', 'dog', NULL), n / 10.0, DATEADD(day, n % 5, '2020-01-01')
FROM (SELECT TOP 100 ROW_NUMBER() OVER (ORDER BY (SELECT 1)) AS n FROM sys.all_columns) AS numbers;
GO
CREATE STATISTICS of_kind ON dbo.pets (kind) WITH FULLSCAN;
CREATE STATISTICS of_both ON dbo.pets (born, kind) WITH SAMPLE 100 PERCENT, NORECOMPUTE, MAXDOP = 2, INCREMENTAL = OFF;
GO
SELECT name, stats_id, auto_created AS automatic, user_created AS made, no_recompute, has_persisted_sample FROM sys.stats
WHERE object_id = OBJECT_ID('dbo.pets') ORDER BY stats_id;
SELECT s.name, c.stats_column_id, COL_NAME(c.object_id, c.column_id) AS name FROM sys.stats AS s
JOIN sys.stats_columns AS c ON c.object_id = s.object_id AND c.stats_id = s.stats_id
WHERE s.object_id = OBJECT_ID('dbo.pets') ORDER BY s.stats_id, c.stats_column_id;
SELECT s.name, CASE WHEN p.last_updated <= GETUTCDATE() THEN 1 ELSE 0 END AS is_past, p.rows, p.rows_sampled, p.steps, p.unfiltered_rows, p.modification_counter, p.persisted_sample_percent
FROM sys.stats AS s CROSS APPLY sys.dm_db_stats_properties(s.object_id, s.stats_id) AS p WHERE s.object_id = OBJECT_ID('dbo.pets') ORDER BY s.stats_id;
SELECT s.name, h.step_number, h.range_high_key, h.range_rows, h.equal_rows, h.distinct_range_rows, h.average_range_rows,
    SQL_VARIANT_PROPERTY(h.range_high_key, 'BaseType') AS type
FROM sys.stats AS s CROSS APPLY sys.dm_db_stats_histogram(s.object_id, s.stats_id) AS h
WHERE s.object_id = OBJECT_ID('dbo.pets') ORDER BY s.stats_id, h.step_number;
SELECT CASE WHEN STATS_DATE(s.object_id, s.stats_id) = p.last_updated THEN 1 END AS same, s.name
FROM sys.stats AS s CROSS APPLY sys.dm_db_stats_properties(s.object_id, s.stats_id) AS p WHERE s.object_id = OBJECT_ID('dbo.pets') ORDER BY s.stats_id;
GO
-- DBCC shows the same. The header says when, which is another moment each time.
DBCC SHOW_STATISTICS ('dbo.pets', of_both) WITH DENSITY_VECTOR, HISTOGRAM, NO_INFOMSGS;
CREATE TABLE #header (name sysname, updated nvarchar(20), rows bigint, sampled bigint, steps smallint, density real, length real, string_index nchar(3), filter nvarchar(max), unfiltered bigint, persisted float);
INSERT #header EXEC ('DBCC SHOW_STATISTICS (''dbo.pets'', ''of_both'') WITH STAT_HEADER, NO_INFOMSGS');
INSERT #header EXEC ('DBCC SHOW_STATISTICS (''dbo.pets'', ''pk_pets'') WITH STAT_HEADER, NO_INFOMSGS');
SELECT name, CASE WHEN ISDATE(updated) = 1 AND updated LIKE '[A-Z][a-z][a-z] [ 0-9][0-9] [0-9][0-9][0-9][0-9] [ 0-9][0-9]:[0-9][0-9][AP]M' THEN 1 ELSE 0 END AS is_moment,
    rows, sampled, steps, density, length, string_index, filter, unfiltered, persisted FROM #header;
GO
-- Steps of a column with more values than a histogram has.
CREATE TABLE dbo.many (n int NOT NULL, m int);
INSERT dbo.many SELECT n, CASE WHEN n <= 500 THEN 7 ELSE n END FROM
    (SELECT TOP 2000 ROW_NUMBER() OVER (ORDER BY (SELECT 1)) AS n FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b) AS numbers;
CREATE STATISTICS of_n ON dbo.many (n) WITH FULLSCAN;
CREATE STATISTICS of_m ON dbo.many (m) WITH FULLSCAN;
SELECT s.name, COUNT(*) AS steps, SUM(h.range_rows + h.equal_rows) AS rows, MAX(h.equal_rows) AS most, MIN(CAST(h.range_high_key AS int)) AS low, MAX(CAST(h.range_high_key AS int)) AS high
FROM sys.stats AS s CROSS APPLY sys.dm_db_stats_histogram(s.object_id, s.stats_id) AS h WHERE s.object_id = OBJECT_ID('dbo.many') GROUP BY s.name ORDER BY s.name;
GO
-- UPDATE STATISTICS: all of a table, those of columns, those of indexes, those that are named.
INSERT dbo.pets (id, kind) VALUES (1000, 'owl');
UPDATE STATISTICS dbo.pets;
SELECT s.name, p.rows, p.steps, s.no_recompute FROM sys.stats AS s CROSS APPLY sys.dm_db_stats_properties(s.object_id, s.stats_id) AS p
WHERE s.object_id = OBJECT_ID('dbo.pets') ORDER BY s.stats_id;
INSERT dbo.pets (id, kind) VALUES (1001, 'cow');
UPDATE STATISTICS dbo.pets WITH RESAMPLE, INDEX, NORECOMPUTE;
SELECT s.name, p.rows, s.no_recompute FROM sys.stats AS s CROSS APPLY sys.dm_db_stats_properties(s.object_id, s.stats_id) AS p
WHERE s.object_id = OBJECT_ID('dbo.pets') ORDER BY s.stats_id;
UPDATE STATISTICS dbo.pets WITH FULLSCAN, COLUMNS;
INSERT dbo.pets (id, kind) VALUES (1002, 'hen');
UPDATE STATISTICS dbo.pets (of_kind, pk_pets) WITH SAMPLE 50 ROWS, ALL;
UPDATE STATISTICS master.dbo.pets of_both WITH SAMPLE 12.5 PERCENT, PERSIST_SAMPLE_PERCENT = OFF;
SELECT s.name, p.rows, p.rows_sampled, s.no_recompute FROM sys.stats AS s CROSS APPLY sys.dm_db_stats_properties(s.object_id, s.stats_id) AS p
WHERE s.object_id = OBJECT_ID('dbo.pets') ORDER BY s.stats_id;
GO
-- They belong to the session's transaction.
BEGIN TRANSACTION;
CREATE STATISTICS of_weight ON dbo.pets (weight);
DROP STATISTICS dbo.pets.of_kind;
SELECT name FROM sys.stats WHERE object_id = OBJECT_ID('dbo.pets') ORDER BY stats_id;
ROLLBACK;
SELECT name FROM sys.stats WHERE object_id = OBJECT_ID('dbo.pets') ORDER BY stats_id;
BEGIN TRANSACTION;
CREATE TABLE dbo.brief (a int, b int);
INSERT dbo.brief VALUES (1, 1), (2, 1);
CREATE STATISTICS s ON dbo.brief (b, a);
COMMIT;
SELECT p.rows, p.steps FROM sys.stats AS s CROSS APPLY sys.dm_db_stats_properties(s.object_id, s.stats_id) AS p WHERE s.object_id = OBJECT_ID('dbo.brief');
DROP TABLE dbo.brief;
SELECT COUNT(*) AS none FROM sys.stats WHERE name = 's';
GO
-- A statement fails as a whole: the first is not dropped.
DROP STATISTICS dbo.pets.of_kind, dbo.pets.nothing;
GO
SELECT COUNT(*) AS there FROM sys.stats WHERE name = 'of_kind';
GO
-- Names that are taken, or that nothing has.
CREATE STATISTICS OF_KIND ON dbo.pets (weight);
GO
CREATE STATISTICS pk_pets ON dbo.pets (weight);
GO
CREATE INDEX of_kind ON dbo.pets (weight);
GO
CREATE STATISTICS s ON dbo.nothing (a);
GO
CREATE STATISTICS s ON dbo.pets (id, nothing);
GO
CREATE STATISTICS s ON dbo.pets (id, kind, id);
GO
CREATE STATISTICS s ON dbo.pets (notes);
GO
CREATE STATISTICS s ON dbo.pets (chip);
GO
UPDATE STATISTICS dbo.nothing;
GO
UPDATE STATISTICS dbo.pets nothing;
GO
UPDATE STATISTICS dbo.pets (of_kind, nothing);
GO
DROP STATISTICS dbo.pets.pk_pets;
GO
DROP STATISTICS dbo.pets.nothing;
GO
DROP STATISTICS dbo.nothing.of_kind;
GO
-- Options that exclude each other, that there are not, and that this engine has not.
CREATE STATISTICS s ON dbo.pets (weight) WITH FULLSCAN, SAMPLE 5 PERCENT;
GO
UPDATE STATISTICS dbo.pets WITH COLUMNS, INDEX;
GO
CREATE STATISTICS s ON dbo.pets (weight) WITH RESAMPLE;
GO
UPDATE STATISTICS dbo.pets WITH FASTSCAN;
GO
UPDATE STATISTICS dbo.pets WITH SAMPLE 101 PERCENT;
GO
UPDATE STATISTICS dbo.pets WITH SAMPLE 0 ROWS;
GO
CREATE STATISTICS s ON dbo.pets (weight) WHERE weight > 5;
GO
CREATE STATISTICS s ON dbo.pets (weight) WITH INCREMENTAL = ON;
GO
UPDATE STATISTICS dbo.pets WITH FULLSCAN, PERSIST_SAMPLE_PERCENT = ON;
GO
UPDATE STATISTICS dbo.pets WITH ROWCOUNT = 1000, PAGECOUNT = 10;
GO
CREATE STATISTICS s ON dbo.pets (weight) WITH STATS_STREAM = 0x01;
GO
CREATE INDEX filtered ON dbo.pets (weight) WHERE weight > 5;
GO
UPDATE STATISTICS dbo.pets filtered;
GO
-- A column that statistics of a user are of stays; a longer one is as good.
ALTER TABLE dbo.pets DROP COLUMN kind;
GO
ALTER TABLE dbo.pets ALTER COLUMN kind char(5);
GO
ALTER TABLE dbo.pets ALTER COLUMN kind varchar(20);
GO
DROP STATISTICS dbo.pets.of_kind, dbo.pets.of_both;
ALTER TABLE dbo.pets DROP COLUMN kind;
SELECT name FROM sys.stats WHERE object_id = OBJECT_ID('dbo.pets') ORDER BY stats_id;
GO
-- Procedures.
EXEC sp_helpstats 'dbo.pets';
EXEC sp_helpstats 'dbo.pets', 'ALL';
EXEC sp_helpstats 'dbo.many';
EXEC sp_updatestats;
GO
EXEC sp_helpstats 'dbo.nothing';
GO
EXEC sp_updatestats 'always';
GO
-- Values of a column are shown to a session that may read it; statistics are made with the permission ALTER.
CREATE LOGIN guest_of_pets WITH PASSWORD = 'Pa55word!';
CREATE USER guest_of_pets FOR LOGIN guest_of_pets;
GRANT VIEW DEFINITION ON dbo.many TO guest_of_pets;
GRANT SELECT ON dbo.many (n) TO guest_of_pets;
GO
EXECUTE AS USER = 'guest_of_pets';
SELECT s.name, (SELECT COUNT(*) FROM sys.dm_db_stats_histogram(s.object_id, s.stats_id)) AS steps, (SELECT rows FROM sys.dm_db_stats_properties(s.object_id, s.stats_id)) AS rows
FROM sys.stats AS s WHERE s.object_id = OBJECT_ID('dbo.many') ORDER BY s.name;
DBCC SHOW_STATISTICS ('dbo.many', of_n) WITH DENSITY_VECTOR, NO_INFOMSGS;
GO
DBCC SHOW_STATISTICS ('dbo.many', of_m) WITH HISTOGRAM;
GO
UPDATE STATISTICS dbo.many;
GO
CREATE STATISTICS s ON dbo.many (n);
GO
DROP STATISTICS dbo.many.of_n;
GO
REVERT;
GO
-- In another database.
CREATE DATABASE shelter;
GO
CREATE TABLE shelter.dbo.cages (a int, b int);
INSERT shelter.dbo.cages VALUES (1, 1), (2, 2), (3, 2);
CREATE STATISTICS of_b ON shelter.dbo.cages (b);
SELECT name FROM shelter.sys.stats;
BEGIN TRANSACTION;
DROP STATISTICS shelter.dbo.cages.of_b;
ROLLBACK;
SELECT DB_NAME() AS here, name FROM shelter.sys.stats;
GO
DBCC SHOW_STATISTICS ('shelter.dbo.cages', of_b) WITH HISTOGRAM, NO_INFOMSGS;
GO
DROP STATISTICS shelter.dbo.cages.of_b, dbo.many.of_n;
GO
