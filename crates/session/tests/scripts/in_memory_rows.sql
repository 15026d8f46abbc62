-- Rows of in-memory tables: changes, reads by both kinds of indexes, transactions, savepoints, keys, foreign keys.
CREATE DATABASE shop;
GO
USE shop;
GO
CREATE TABLE dbo.item (
    id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 16),
    name nvarchar(20) COLLATE Latin1_General_CI_AS NULL,
    price decimal(9, 2) NOT NULL CHECK (price >= 0),
    size AS price * 2,
    INDEX by_name NONCLUSTERED (name, price DESC),
    INDEX by_price NONCLUSTERED (price)
) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
CREATE TABLE dbo.disk (id int NOT NULL PRIMARY KEY, note varchar(20));
GO
INSERT dbo.item (id, name, price) VALUES (1, N'Axe', 10), (2, N'bow', 20), (3, NULL, 30), (4, N'AXE', 5);
INSERT dbo.disk VALUES (1, 'first'), (4, 'fourth');
SELECT * FROM dbo.item ORDER BY id;
SELECT id FROM dbo.item WHERE id = 3;
SELECT id FROM dbo.item WHERE id IN (4, 2, 9) ORDER BY id;
SELECT id FROM dbo.item WHERE name = N'axe' ORDER BY id;
SELECT id FROM dbo.item WHERE price BETWEEN 10 AND 25 ORDER BY id;
SELECT id FROM dbo.item WHERE price > 10 ORDER BY price DESC;
SELECT COUNT(*), SUM(price), MIN(price) FROM dbo.item;
SELECT i.id, d.note FROM dbo.item AS i LEFT JOIN dbo.disk AS d ON d.id = i.id ORDER BY i.id;
SELECT d.note, i.name FROM dbo.disk AS d JOIN dbo.item AS i ON i.id = d.id ORDER BY d.id;
GO
-- Keys that are there, constraints, a statement that fails is undone as a whole.
INSERT dbo.item (id, name, price) VALUES (5, N'saw', 7), (1, N'again', 7);
INSERT dbo.item (id, name, price) VALUES (6, N'saw', -7);
SELECT COUNT(*) AS rows FROM dbo.item;
GO
UPDATE dbo.item SET price = price + 1 OUTPUT deleted.price, inserted.price WHERE name = N'axe';
UPDATE dbo.item SET id = id + 1;
SELECT id, name, price FROM dbo.item ORDER BY id;
UPDATE dbo.item SET id = 3 WHERE id = 5;
UPDATE dbo.item SET id = CASE id WHEN 2 THEN 3 WHEN 3 THEN 2 ELSE id END;
SELECT id, name, price FROM dbo.item ORDER BY id;
DELETE dbo.item OUTPUT deleted.id WHERE price > 25;
MERGE dbo.item AS t USING (VALUES (2, N'oar', 1), (9, N'pen', 2)) AS s (id, name, price) ON t.id = s.id
WHEN MATCHED THEN UPDATE SET name = s.name, price = s.price
WHEN NOT MATCHED THEN INSERT (id, name, price) VALUES (s.id, s.name, s.price);
SELECT id, name, price FROM dbo.item ORDER BY id;
SELECT id FROM dbo.item WHERE name = N'bow';
SELECT id FROM dbo.item WHERE name = N'OAR';
GO
-- Levels: READ COMMITTED is for statements that are transactions of their own.
BEGIN TRANSACTION;
SELECT COUNT(*) FROM dbo.item;
GO
SELECT @@TRANCOUNT AS trancount;
GO
BEGIN TRANSACTION;
INSERT dbo.item (id, name, price) VALUES (20, N'x', 1);
GO
SELECT @@TRANCOUNT AS trancount;
GO
BEGIN TRANSACTION;
INSERT dbo.item WITH (SNAPSHOT) (id, name, price) VALUES (20, N'x', 1);
INSERT dbo.disk VALUES (20, 'twenty');
SAVE TRANSACTION s;
UPDATE dbo.item WITH (SNAPSHOT) SET price = 99 WHERE id = 20;
DELETE dbo.disk WHERE id = 20;
SELECT price FROM dbo.item WITH (SNAPSHOT) WHERE id = 20;
ROLLBACK TRANSACTION s;
SELECT i.price, d.note FROM dbo.item AS i WITH (SNAPSHOT) JOIN dbo.disk AS d ON d.id = i.id WHERE i.id = 20;
COMMIT;
SELECT i.price, d.note FROM dbo.item AS i JOIN dbo.disk AS d ON d.id = i.id WHERE i.id = 20;
BEGIN TRANSACTION;
DELETE dbo.item WITH (REPEATABLEREAD) WHERE id = 20;
DELETE dbo.disk WHERE id = 20;
ROLLBACK;
SELECT i.price, d.note FROM dbo.item AS i JOIN dbo.disk AS d ON d.id = i.id WHERE i.id = 20;
GO
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SELECT COUNT(*) FROM dbo.item;
GO
SELECT COUNT(*) FROM dbo.item WITH (SNAPSHOT);
SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
SELECT COUNT(*) FROM dbo.item WITH (SNAPSHOT);
GO
SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;
SELECT COUNT(*) FROM dbo.item;
GO
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
ALTER DATABASE CURRENT SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT ON;
BEGIN TRANSACTION;
UPDATE dbo.item SET price = 3 WHERE id = 20;
SELECT price FROM dbo.item WHERE id = 20;
COMMIT;
GO
-- A statement with an error inside TRY is undone alone; the transaction goes on.
BEGIN TRANSACTION;
BEGIN TRY
    INSERT dbo.item (id, name, price) VALUES (21, N'x', 1), (20, N'x', 1);
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number, XACT_STATE() AS state;
END CATCH;
INSERT dbo.item (id, name, price) VALUES (22, N'x', 1);
COMMIT;
SELECT id FROM dbo.item WHERE id > 20 ORDER BY id;
GO
-- Foreign keys, identity, values of any length.
CREATE TABLE dbo.part (
    id int IDENTITY(10, 5) NOT NULL PRIMARY KEY NONCLUSTERED,
    item int NULL REFERENCES dbo.item (id),
    body nvarchar(max) NULL,
    tag varbinary(max) NULL
) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
INSERT dbo.part (item, body) VALUES (20, REPLICATE(CAST(N'long ' AS nvarchar(max)), 10000)), (NULL, N'none');
INSERT dbo.part (item, body) VALUES (77, N'no such item');
DELETE dbo.item WHERE id = 20;
SELECT id, item, LEN(body) AS length FROM dbo.part ORDER BY id;
DELETE dbo.part WHERE item = 20;
DELETE dbo.item WHERE id = 20;
UPDATE dbo.part SET tag = CAST(REPLICATE(CAST('ab' AS varchar(max)), 9000) AS varbinary(max));
SELECT id, DATALENGTH(tag) AS bytes FROM dbo.part;
GO
-- Queries over many rows give what they give over what the rows are made of: whole scans in batches, joins, own changes.
CREATE FUNCTION dbo.made() RETURNS TABLE AS RETURN
SELECT value AS id, NULLIF(value % 7, 3) AS g, CAST(value / 4.0 AS decimal(9, 2)) AS v, REPLICATE('x', 10 + value % 50) AS s
FROM GENERATE_SERIES(1, 9000);
GO
CREATE TABLE dbo.many (
    id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 1024),
    g int NULL,
    v decimal(9, 2) NOT NULL,
    s varchar(60) NOT NULL,
    INDEX by_g NONCLUSTERED (g)
) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
INSERT dbo.many SELECT id, g, v, s FROM dbo.made();
SELECT g, COUNT(*) AS n, SUM(v) AS v, MAX(s) AS s FROM dbo.many GROUP BY g
EXCEPT SELECT g, COUNT(*), SUM(v), MAX(s) FROM dbo.made() GROUP BY g;
SELECT COUNT(*) AS n, SUM(CAST(id AS bigint)) AS ids, SUM(LEN(s)) AS bytes FROM dbo.many WHERE v > 1000 AND g <> 2;
SELECT COUNT(*) AS n, SUM(CAST(id AS bigint)) AS ids, SUM(LEN(s)) AS bytes FROM dbo.made() WHERE v > 1000 AND g <> 2;
SELECT COUNT(*) AS n, SUM(a.v - b.v) AS v FROM dbo.many AS a JOIN dbo.made() AS b ON b.id = a.id;
SELECT COUNT(*) AS n FROM dbo.many AS a JOIN dbo.many AS b ON b.id = a.id + 1 WHERE a.g = b.g - 1;
SELECT COUNT(*) AS n FROM dbo.made() AS a JOIN dbo.made() AS b ON b.id = a.id + 1 WHERE a.g = b.g - 1;
BEGIN TRANSACTION;
UPDATE dbo.many SET v += 1 WHERE g = 1;
DELETE dbo.many WHERE g = 2;
SELECT COUNT(*) AS n, SUM(v) AS v FROM dbo.many;
ROLLBACK;
SELECT COUNT(*) AS n, SUM(v) AS v FROM dbo.many;
DROP TABLE dbo.many;
GO
-- Other ways to rows.
INSERT dbo.item (id, name, price) SELECT 100 + value, N'many', value FROM GENERATE_SERIES(1, 5000);
SELECT COUNT(*) AS rows, MAX(id) AS last FROM dbo.item WHERE name = N'MANY';
SELECT TOP 3 id FROM dbo.item WHERE price < 4000 ORDER BY price DESC;
DELETE dbo.item WHERE id > 103 AND name = N'many';
SELECT id FROM dbo.item ORDER BY id;
DECLARE c CURSOR FOR SELECT id FROM dbo.item WHERE name = N'many' FOR UPDATE;
OPEN c;
FETCH NEXT FROM c;
DELETE dbo.item WHERE CURRENT OF c;
CLOSE c;
DEALLOCATE c;
SELECT COUNT(*) AS rows FROM dbo.item WHERE name = N'many';
SELECT * INTO #copy FROM dbo.item;
SELECT COUNT(*) AS rows FROM #copy;
INSERT dbo.disk SELECT id, name FROM dbo.item WHERE id > 4 AND name IS NOT NULL;
SELECT * FROM dbo.disk ORDER BY id;
DROP TABLE dbo.part;
DROP TABLE dbo.item;
SELECT COUNT(*) FROM dbo.item;
