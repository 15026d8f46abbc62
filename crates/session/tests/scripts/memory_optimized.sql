-- Table types optimized for memory are like others; tables are in memory.
CREATE TYPE dbo.ids AS TABLE (id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 64), INDEX ix HASH (id) WITH (BUCKET_COUNT = 64)) WITH (MEMORY_OPTIMIZED = ON)
GO
CREATE TYPE dbo.other AS TABLE (id int) WITH (SOMETHING = ON)
GO
CREATE TABLE dbo.session (id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 1024), name nvarchar(20), INDEX ix (name)) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA)
INSERT dbo.session VALUES (1, N'a'), (2, N'b')
DECLARE @ids dbo.ids
INSERT @ids VALUES (2)
SELECT s.name FROM dbo.session s WITH (SNAPSHOT) JOIN @ids i ON i.id = s.id
SELECT name, is_memory_optimized, durability_desc FROM sys.tables WHERE name = 'session'
GO
CREATE TABLE dbo.on_disk (id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 64))
GO
-- A procedure may write what a period fills: its caller may have ended the versioning.
CREATE TABLE dbo.city (id int PRIMARY KEY, name varchar(20), valid_from datetime2 GENERATED ALWAYS AS ROW START, valid_to datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (valid_from, valid_to))
WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.city_history))
GO
CREATE PROCEDURE dbo.load_city AS
INSERT dbo.city (id, name, valid_from, valid_to) VALUES (1, 'Delft', '2020-01-01', '9999-12-31 23:59:59.9999999')
UPDATE dbo.city SET valid_from = '2019-01-01' WHERE id = 1
GO
EXEC dbo.load_city
GO
ALTER TABLE dbo.city SET (SYSTEM_VERSIONING = OFF)
ALTER TABLE dbo.city DROP PERIOD FOR SYSTEM_TIME
GO
EXEC dbo.load_city
SELECT name, YEAR(valid_from) AS since FROM dbo.city
GO
UPDATE dbo.city SET missing = 1
