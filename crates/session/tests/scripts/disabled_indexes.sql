-- ALTER INDEX ... DISABLE and REBUILD.
CREATE TABLE dbo.stock (id int NOT NULL CONSTRAINT pk_stock PRIMARY KEY, place int, name varchar(20), CONSTRAINT uq_name UNIQUE (name));
CREATE INDEX by_place ON dbo.stock (place);
INSERT dbo.stock SELECT value, value % 3, CONCAT('item ', value) FROM GENERATE_SERIES(1, 20);
ALTER INDEX by_place ON dbo.stock DISABLE;
ALTER INDEX uq_name ON dbo.stock DISABLE;
SELECT name, is_disabled, INDEXPROPERTY(object_id, name, 'IsDisabled') AS disabled FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.stock') ORDER BY index_id;
SELECT index_id FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.stock') ORDER BY index_id;
SELECT COUNT(*) AS n FROM dbo.stock WHERE place = 1;
-- Nobody keeps names apart now.
INSERT dbo.stock VALUES (21, 1, 'item 1');
UPDATE dbo.stock SET place = 5 WHERE id <= 4;
DELETE dbo.stock WHERE id = 5;
GO
ALTER INDEX uq_name ON dbo.stock REBUILD;
GO
DELETE dbo.stock WHERE id = 21;
ALTER INDEX uq_name ON dbo.stock REBUILD;
ALTER INDEX by_place ON dbo.stock REBUILD;
SELECT COUNT(*) AS n FROM dbo.stock WHERE place = 5;
INSERT dbo.stock VALUES (21, 1, 'item 1');
GO
-- A disabled index stays so while the table is made anew in other ways.
ALTER INDEX by_place ON dbo.stock DISABLE;
ALTER TABLE dbo.stock ADD extra int NOT NULL DEFAULT 3;
ALTER TABLE dbo.stock DROP CONSTRAINT pk_stock;
CREATE CLUSTERED INDEX cx ON dbo.stock (extra);
TRUNCATE TABLE dbo.stock;
INSERT dbo.stock (id, place, name) VALUES (1, 7, 'one'), (2, 7, 'two');
SELECT name, is_disabled FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.stock') ORDER BY index_id;
ALTER INDEX ALL ON dbo.stock REBUILD;
SELECT name, is_disabled FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.stock') ORDER BY index_id;
SELECT id FROM dbo.stock WHERE place = 7 ORDER BY id;
ALTER INDEX by_place ON dbo.stock DISABLE;
CREATE INDEX by_place ON dbo.stock (place, id) WITH (DROP_EXISTING = ON);
SELECT id FROM dbo.stock WHERE place = 7 ORDER BY id;
ALTER INDEX by_place ON dbo.stock DISABLE;
DROP INDEX by_place ON dbo.stock;
GO
ALTER INDEX cx ON dbo.stock DISABLE;
GO
ALTER INDEX nothing ON dbo.stock DISABLE;
GO
CREATE TABLE #t (a int, b int, INDEX ix (a));
INSERT #t VALUES (1, 1), (1, 2);
ALTER INDEX ix ON #t DISABLE;
INSERT #t VALUES (1, 3);
ALTER INDEX ix ON #t REBUILD;
SELECT b FROM #t WHERE a = 1 ORDER BY b;
