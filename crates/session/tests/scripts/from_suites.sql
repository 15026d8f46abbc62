-- What the tests of drivers and object-relational mappers send.
-- The same column twice in the select list: two output columns to order by.
SELECT DISTINCT d.id AS x, d.id FROM (VALUES (2), (1)) d (id) ORDER BY d.id ASC, id ASC;
GO
SELECT d.id FROM (VALUES (2), (1)) d (id) ORDER BY id, d.id;
GO
-- A set operation ordered by a column in another collation.
SELECT 'b' AS a UNION ALL SELECT 'B' UNION ALL SELECT 'a' ORDER BY a COLLATE Latin1_General_BIN;
SELECT 'b' AS a, 1 AS n UNION SELECT 'B', 2 UNION SELECT 'a', 3 ORDER BY 1 COLLATE Latin1_General_BIN DESC;
GO
SELECT 1 AS n UNION SELECT 2 ORDER BY n COLLATE Latin1_General_BIN;
GO
CREATE TABLE dbo.versions (id int, r rowversion);
INSERT dbo.versions (id, r) VALUES (1, DEFAULT), (2, DEFAULT);
SELECT id, CASE WHEN r > 0x THEN 'made' END AS r FROM dbo.versions ORDER BY id;
GO
INSERT dbo.versions (id, r) VALUES (3, DEFAULT), (4, 0x01);
GO
INSERT dbo.versions (id, r) SELECT 5, 0x01;
GO
MERGE dbo.versions AS t USING (VALUES (9)) s (id) ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, r) VALUES (s.id, DEFAULT);
SELECT COUNT(*) AS n FROM dbo.versions;
GO
-- A column with a default keeps its type; its length may change.
CREATE TABLE dbo.defaulted (c int CONSTRAINT df_c DEFAULT 0, d varchar(10) CONSTRAINT df_d DEFAULT 'x', e decimal(10, 2) CONSTRAINT df_e DEFAULT 1);
ALTER TABLE dbo.defaulted ALTER COLUMN d varchar(20) NOT NULL;
ALTER TABLE dbo.defaulted ALTER COLUMN e decimal(12, 4);
ALTER TABLE dbo.defaulted ALTER COLUMN c int NOT NULL;
GO
ALTER TABLE dbo.defaulted ALTER COLUMN c varchar(10);
GO
ALTER TABLE dbo.defaulted DROP CONSTRAINT df_c;
ALTER TABLE dbo.defaulted ALTER COLUMN c varchar(10);
SELECT name, TYPE_NAME(system_type_id) AS type, max_length, precision, scale FROM sys.columns
WHERE object_id = OBJECT_ID('dbo.defaulted') ORDER BY column_id;
