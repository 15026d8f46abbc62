-- Filtered indexes: what their WHERE can say, what is kept of it, and what they enforce.
CREATE TABLE dbo.job (id int NOT NULL PRIMARY KEY, state tinyint NOT NULL, owner varchar(10) NULL, due date NULL, price decimal(9, 2) NULL,
    gone bit NOT NULL DEFAULT 0, twice AS state * 2,
    INDEX inline_one (owner) INCLUDE (due) WHERE state > 3 AND owner IS NOT NULL);
CREATE UNIQUE INDEX one_open ON dbo.job (owner) WHERE state = 1 AND gone = 0;
CREATE INDEX listed ON dbo.job (owner, id) WHERE state IN (1, 2) AND owner <> 'nobody';
CREATE INDEX undated ON dbo.job (state) WHERE due IS NULL;
CREATE INDEX dated ON dbo.job (due) WHERE due >= '20240101' AND due < '2025-01-01';
CREATE INDEX priced ON dbo.job (price) WHERE price !< 10 AND (price <= CONVERT(decimal(9, 2), 99.5)) AND price != -1;
CREATE INDEX cast_bit ON dbo.job (id) WHERE gone = CAST(1 AS bit);
SELECT name, is_unique, has_filter, filter_definition FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.job') AND has_filter = 1 ORDER BY index_id;
GO
INSERT dbo.job (id, state, owner, due, price) VALUES (1, 1, 'ann', NULL, 5), (2, 2, 'ann', '20240301', 10), (3, 2, 'ann', '20241231', 99.5), (4, 1, 'bob', '20250101', 99.51);
GO
-- A second open one of ann: refused by the index, whichever way it comes.
INSERT dbo.job (id, state, owner) VALUES (5, 1, 'ANN ');
GO
UPDATE dbo.job SET state = 1 WHERE id = 2;
GO
MERGE dbo.job AS t USING (VALUES (6, 'bob')) AS s (id, owner) ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, state, owner) VALUES (s.id, 1, s.owner);
GO
-- One that is gone does not count, and comes back only when there is none.
UPDATE dbo.job SET gone = 1 WHERE id = 1;
INSERT dbo.job (id, state, owner) VALUES (5, 1, 'ann'), (7, 1, NULL);
GO
INSERT dbo.job (id, state, owner) VALUES (8, 1, NULL);
GO
UPDATE dbo.job SET gone = 0 WHERE id = 1;
GO
-- One leaves its place to the other in one statement.
UPDATE dbo.job SET gone = CASE id WHEN 1 THEN 0 ELSE 1 END WHERE id IN (1, 5);
SELECT id, state, owner, gone FROM dbo.job ORDER BY id;
GO
-- The same rows with an index and without: conditions that imply a filter, and such as only look so.
SELECT id FROM dbo.job WHERE owner = 'ann' AND state = 1 AND gone = 0;
SELECT id FROM dbo.job WHERE owner = 'ann' AND state = 1 ORDER BY id;
SELECT id FROM dbo.job WHERE owner = 'ann' AND gone = 0 ORDER BY id;
SELECT id FROM dbo.job WHERE owner = 'ann' AND state IN (1, 2) ORDER BY id;
SELECT id FROM dbo.job WHERE owner = 'ann' AND state IN (1, 2, 3) ORDER BY id;
SELECT id FROM dbo.job WHERE owner = 'ann' AND (state = 1 OR gone = 1) ORDER BY id;
SELECT id FROM dbo.job WHERE state = 1 AND due IS NULL ORDER BY id;
SELECT id FROM dbo.job WHERE state = 1 ORDER BY id;
SELECT id FROM dbo.job WHERE due = '20241231';
SELECT id FROM dbo.job WHERE due = '20250101';
SELECT id FROM dbo.job WHERE price = 99.5;
SELECT id FROM dbo.job WHERE price = 99.51;
DECLARE @state tinyint = 2;
SELECT id FROM dbo.job WHERE owner = 'ann' AND state = @state ORDER BY id;
GO
-- A heap with rows; keys that are there twice among the rows that pass, and not.
CREATE TABLE dbo.tag (id int, name nvarchar(10) NULL);
INSERT dbo.tag VALUES (1, N'a'), (1, N'b'), (2, N'a'), (3, NULL), (3, NULL);
CREATE UNIQUE INDEX ux ON dbo.tag (id) WHERE name > N'a';
GO
CREATE UNIQUE INDEX uy ON dbo.tag (id) WHERE name IS NULL;
GO
INSERT dbo.tag VALUES (1, N'c');
GO
DELETE dbo.tag WHERE id = 1 AND name = 'b';
INSERT dbo.tag VALUES (1, N'c');
SELECT id, name FROM dbo.tag WHERE id = 1 AND name > 'a';
ALTER INDEX ux ON dbo.tag REBUILD;
SELECT id, name FROM dbo.tag WHERE id = 1 AND name >= 'b';
GO
-- A column of a filter cannot go or become another type.
ALTER TABLE dbo.tag DROP COLUMN name;
GO
ALTER TABLE dbo.tag ALTER COLUMN name varchar(30);
GO
-- What a filter cannot say.
CREATE INDEX no ON dbo.job (id) WHERE state = 1 OR state = 2;
GO
CREATE INDEX no ON dbo.job (id) WHERE NOT state = 1;
GO
CREATE INDEX no ON dbo.job (id) WHERE owner LIKE 'a%';
GO
CREATE INDEX no ON dbo.job (id) WHERE state BETWEEN 1 AND 2;
GO
CREATE INDEX no ON dbo.job (id) WHERE state NOT IN (1, 2);
GO
CREATE INDEX no ON dbo.job (id) WHERE state = id;
GO
CREATE INDEX no ON dbo.job (id) WHERE 1 = state;
GO
CREATE INDEX no ON dbo.job (id) WHERE state + 1 = 2;
GO
CREATE INDEX no ON dbo.job (id) WHERE due > GETDATE();
GO
CREATE INDEX no ON dbo.job (id) WHERE twice = 2;
GO
CREATE INDEX no ON dbo.job (id) WHERE owner = 1;
GO
CREATE INDEX no ON dbo.job (id) WHERE state = 'many';
GO
CREATE INDEX no ON dbo.job (id) WHERE state = NULL;
GO
CREATE INDEX no ON dbo.job (id) WHERE nothing = 1;
GO
CREATE TABLE #t (a int, b int, INDEX ix UNIQUE (a) WHERE b = 1);
INSERT #t VALUES (1, 1), (1, 2), (1, 2);
INSERT #t VALUES (1, 1);
GO
SELECT COUNT(*) AS n FROM #t WHERE a = 1 AND b = 1;
SELECT COUNT(*) AS n FROM #t WHERE a = 1 AND b = 2;
