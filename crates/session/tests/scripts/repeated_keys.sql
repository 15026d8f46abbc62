-- Clustered indexes whose keys may repeat.
CREATE TABLE dbo.line (id int NOT NULL CONSTRAINT pk_line PRIMARY KEY NONCLUSTERED, a int NULL, s varchar(20) NULL,
    INDEX cx CLUSTERED (a DESC), INDEX by_s (s));
INSERT dbo.line VALUES (1, 5, 'one'), (2, 5, 'two'), (3, NULL, 'none'), (4, 7, 'four'), (5, 5, 'five'), (6, NULL, NULL);
SELECT id, a FROM dbo.line;
SELECT id FROM dbo.line WHERE a = 5;
SELECT id FROM dbo.line WHERE a >= 5 AND a < 7;
SELECT id FROM dbo.line WHERE a IS NULL ORDER BY id;
SELECT id FROM dbo.line WHERE s = 'two';
SELECT id, a FROM dbo.line ORDER BY a DESC, id DESC;
SELECT COUNT(*) AS n FROM dbo.line WHERE a = 5;
SELECT l.id, r.id AS other FROM dbo.line AS l JOIN dbo.line AS r ON r.a = l.a AND r.id > l.id ORDER BY l.id, r.id;
GO
-- The primary key is unique still.
INSERT dbo.line VALUES (1, 9, 'again');
GO
SELECT name, type, type_desc, index_id, is_unique, is_primary_key FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.line') ORDER BY index_id;
SELECT i.name, c.key_ordinal, COL_NAME(c.object_id, c.column_id) AS col, c.is_descending_key
FROM sys.index_columns AS c JOIN sys.indexes AS i ON i.object_id = c.object_id AND i.index_id = c.index_id
WHERE c.object_id = OBJECT_ID('dbo.line') ORDER BY i.index_id, c.key_ordinal;
SELECT index_id, rows FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.line') ORDER BY index_id;
SELECT OBJECTPROPERTY(OBJECT_ID('dbo.line'), 'TableHasClustIndex') AS has_one,
    INDEXPROPERTY(OBJECT_ID('dbo.line'), 'cx', 'IsClustered') AS cx, INDEXPROPERTY(OBJECT_ID('dbo.line'), 'cx', 'IsUnique') AS is_unique;
EXEC sp_helpindex 'dbo.line';
EXEC sp_statistics 'line', 'dbo';
GO
-- Changes: in place, of the key, of all keys to one, and away.
UPDATE dbo.line SET s = s + ', longer' WHERE a = 5;
UPDATE dbo.line SET a = a + 2 WHERE a = 5;
SELECT id, a, s FROM dbo.line ORDER BY id;
UPDATE dbo.line SET a = 1;
SELECT id FROM dbo.line WHERE a = 1 ORDER BY id;
DELETE dbo.line WHERE id IN (2, 4);
SELECT id FROM dbo.line WHERE a = 1 AND s IS NOT NULL ORDER BY id;
MERGE dbo.line AS t USING (VALUES (1, 10), (7, 10), (8, 1)) AS s (id, a) ON t.id = s.id
WHEN MATCHED THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.a, 'merged')
WHEN NOT MATCHED BY SOURCE AND t.id = 6 THEN DELETE;
SELECT id, a, s FROM dbo.line ORDER BY a, id;
BEGIN TRAN;
INSERT dbo.line VALUES (20, 1, 'undone');
UPDATE dbo.line SET a = 10 WHERE a = 1;
SELECT COUNT(*) AS n FROM dbo.line WHERE a = 10;
ROLLBACK;
SELECT COUNT(*) AS n FROM dbo.line WHERE a = 10;
GO
-- A heap becomes clustered, is replaced, rebuilt, and a heap again; its other indexes lead to the rows all the time.
CREATE TABLE dbo.pile (id int IDENTITY PRIMARY KEY NONCLUSTERED, a int, b varchar(10));
INSERT dbo.pile (a, b) SELECT value % 3, CONCAT('b', value % 2) FROM GENERATE_SERIES(1, 30);
CREATE INDEX by_b ON dbo.pile (b);
CREATE CLUSTERED INDEX cx ON dbo.pile (a);
SELECT COUNT(*) AS n FROM dbo.pile WHERE a = 1;
SELECT COUNT(*) AS n FROM dbo.pile WHERE b = 'b1';
SELECT id, a, b FROM dbo.pile WHERE id = 30;
ALTER INDEX cx ON dbo.pile REBUILD;
SELECT COUNT(*) AS n FROM dbo.pile WHERE b = 'b1';
ALTER INDEX ALL ON dbo.pile REBUILD;
SELECT COUNT(*) AS n FROM dbo.pile WHERE b = 'b1';
CREATE CLUSTERED INDEX cx ON dbo.pile (b, a) WITH (DROP_EXISTING = ON);
SELECT COUNT(*) AS n FROM dbo.pile WHERE b = 'b1' AND a = 2;
CREATE UNIQUE CLUSTERED INDEX cx ON dbo.pile (a, id) WITH (DROP_EXISTING = ON);
CREATE INDEX by_b ON dbo.pile (b, a DESC) INCLUDE (id) WITH DROP_EXISTING;
EXEC sp_helpindex 'dbo.pile';
DROP INDEX cx ON dbo.pile;
SELECT name, type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.pile') ORDER BY index_id;
SELECT COUNT(*) AS n, SUM(a) AS total FROM dbo.pile WHERE b = 'b0';
CREATE INDEX by_b ON dbo.pile (b) WITH (DROP_EXISTING = ON);
ALTER TABLE dbo.pile ALTER COLUMN a bigint;
CREATE CLUSTERED INDEX cx ON dbo.pile (a);
ALTER TABLE dbo.pile ADD c int NOT NULL DEFAULT 4;
SELECT COUNT(*) AS n, SUM(c) AS total FROM dbo.pile WHERE a = 1;
TRUNCATE TABLE dbo.pile;
INSERT dbo.pile (a, b) VALUES (1, 'x'), (1, 'y');
SELECT id, a, b FROM dbo.pile;
GO
-- What cannot be.
CREATE CLUSTERED INDEX second ON dbo.pile (b);
GO
CREATE CLUSTERED INDEX cx ON dbo.pile (a) INCLUDE (b) WITH (DROP_EXISTING = ON);
GO
CREATE INDEX nothing ON dbo.pile (a) WITH (DROP_EXISTING = ON);
GO
CREATE INDEX cx ON dbo.pile (a) WITH (DROP_EXISTING = ON);
GO
CREATE TABLE dbo.keyed (id int CONSTRAINT pk_keyed PRIMARY KEY);
CREATE CLUSTERED INDEX pk_keyed ON dbo.keyed (id) WITH (DROP_EXISTING = ON);
GO
-- Temporary tables and table variables; many rows at once.
CREATE TABLE #t (a int, b int);
CREATE CLUSTERED INDEX cx ON #t (a);
INSERT #t SELECT value % 10, value FROM GENERATE_SERIES(1, 2000);
SELECT COUNT(*) AS n, MIN(b) AS low, MAX(b) AS high FROM #t WHERE a = 3;
DELETE #t WHERE a <> 3;
SELECT COUNT(*) AS n FROM #t;
DECLARE @v TABLE (a int INDEX cx CLUSTERED, b int);
INSERT @v VALUES (1, 1), (1, 2), (1, 1);
UPDATE @v SET a = 2 WHERE b = 1;
SELECT a, b FROM @v ORDER BY a, b;
DROP TABLE #t;
