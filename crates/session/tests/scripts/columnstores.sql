-- Columnstore indexes are definitions: they are kept, shown and dropped, and change no answer.
CREATE TABLE dbo.fact (id int NOT NULL, place varchar(20), amount decimal(9,2), INDEX cci CLUSTERED COLUMNSTORE);
INSERT dbo.fact SELECT value, CONCAT('place ', value % 3), value FROM GENERATE_SERIES(1, 9);
CREATE INDEX by_id ON dbo.fact (id);
SELECT index_id, name, type, type_desc, is_unique, is_disabled, compression_delay FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.fact') ORDER BY index_id;
SELECT c.index_id, COL_NAME(c.object_id, c.column_id) AS name, c.key_ordinal, c.is_included_column FROM sys.index_columns AS c WHERE c.object_id = OBJECT_ID('dbo.fact') ORDER BY c.index_id, c.index_column_id;
SELECT index_id, rows FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.fact') ORDER BY index_id;
SELECT INDEXPROPERTY(OBJECT_ID('dbo.fact'), 'cci', 'IsColumnstore') AS of_columns, INDEXPROPERTY(OBJECT_ID('dbo.fact'), 'cci', 'IsClustered') AS of_rows,
    OBJECTPROPERTY(OBJECT_ID('dbo.fact'), 'TableHasClustIndex') AS has_clustered;
SELECT place, SUM(amount) AS total FROM dbo.fact GROUP BY place ORDER BY place;
EXEC sp_helpindex 'dbo.fact';
ALTER TABLE dbo.fact ADD extra int NULL;
SELECT COUNT(*) AS n FROM sys.index_columns WHERE object_id = OBJECT_ID('dbo.fact') AND index_id = 1;
ALTER INDEX cci ON dbo.fact REORGANIZE WITH (COMPRESS_ALL_ROW_GROUPS = ON);
ALTER INDEX cci ON dbo.fact REBUILD WITH (DATA_COMPRESSION = COLUMNSTORE_ARCHIVE);
ALTER INDEX cci ON dbo.fact SET (COMPRESSION_DELAY = 10);
ALTER INDEX ALL ON dbo.fact REBUILD;
SELECT name, type, compression_delay FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.fact') ORDER BY index_id;
GO
-- What a table cannot have beside it.
CREATE CLUSTERED INDEX other ON dbo.fact (id);
GO
CREATE NONCLUSTERED COLUMNSTORE INDEX ncci ON dbo.fact (id);
GO
ALTER TABLE dbo.fact ADD CONSTRAINT pk_fact PRIMARY KEY (id);
SELECT name, type, is_primary_key FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.fact') ORDER BY index_id;
SELECT amount FROM dbo.fact WHERE id = 5;
UPDATE dbo.fact SET amount = 0 WHERE id = 5;
DELETE dbo.fact WHERE id > 6;
SELECT SUM(amount) AS total FROM dbo.fact;
GO
ALTER INDEX cci ON dbo.fact DISABLE;
GO
CREATE CLUSTERED COLUMNSTORE INDEX cci ON dbo.fact WITH (DROP_EXISTING = ON, MAXDOP = 1);
DROP INDEX cci ON dbo.fact;
SELECT index_id, name, type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.fact') ORDER BY index_id;
CREATE CLUSTERED COLUMNSTORE INDEX again ON dbo.fact WITH (DATA_COMPRESSION = COLUMNSTORE);
TRUNCATE TABLE dbo.fact;
INSERT dbo.fact (id) VALUES (1);
SELECT index_id, name, type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.fact') ORDER BY index_id;
GO
-- One of some columns.
CREATE TABLE dbo.kept (id int NOT NULL PRIMARY KEY, a int, b varchar(max), c AS a + 1, x xml);
CREATE NONCLUSTERED COLUMNSTORE INDEX ncci ON dbo.kept (id, a) WHERE a > 5 WITH (COMPRESSION_DELAY = 5 MINUTES);
SELECT index_id, name, type, type_desc, has_filter, filter_definition, compression_delay FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.kept') ORDER BY index_id;
SELECT COL_NAME(object_id, column_id) AS name, key_ordinal, is_included_column FROM sys.index_columns WHERE object_id = OBJECT_ID('dbo.kept') AND index_id = 2 ORDER BY index_column_id;
INSERT dbo.kept (id, a) VALUES (1, 6), (2, 4);
SELECT id FROM dbo.kept WHERE a > 5;
ALTER INDEX ncci ON dbo.kept DISABLE;
SELECT name, is_disabled FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.kept') ORDER BY index_id;
ALTER INDEX ncci ON dbo.kept REBUILD;
SELECT name, is_disabled FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.kept') ORDER BY index_id;
GO
ALTER TABLE dbo.kept DROP COLUMN a;
GO
DROP INDEX ncci ON dbo.kept;
GO
CREATE CLUSTERED COLUMNSTORE INDEX cci ON dbo.kept;
GO
CREATE CLUSTERED COLUMNSTORE INDEX cci ON dbo.fact (id);
GO
CREATE COLUMNSTORE INDEX ncci ON dbo.kept;
GO
CREATE COLUMNSTORE INDEX ncci ON dbo.kept (id, b);
GO
CREATE COLUMNSTORE INDEX ncci ON dbo.kept (id, c);
GO
CREATE COLUMNSTORE INDEX ncci ON dbo.kept (id, nothing);
GO
CREATE COLUMNSTORE INDEX ncci ON dbo.kept (id) INCLUDE (a);
GO
CREATE COLUMNSTORE INDEX ncci ON dbo.nothing (id);
GO
-- A rollback takes it back; a table of the session may have one.
BEGIN TRANSACTION;
CREATE COLUMNSTORE INDEX ncci ON dbo.kept (id);
ROLLBACK;
SELECT COUNT(*) AS n FROM sys.indexes WHERE name = 'ncci';
CREATE TABLE #t (a int, b int, INDEX cci CLUSTERED COLUMNSTORE);
INSERT #t VALUES (1, 2);
SELECT * FROM #t;
DROP INDEX cci ON #t;
GO
CREATE TABLE dbo.both (id int PRIMARY KEY, INDEX cci CLUSTERED COLUMNSTORE);
SELECT name, type FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.both') AND type > 2;
GO
