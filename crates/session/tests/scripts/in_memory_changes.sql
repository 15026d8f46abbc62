-- Columns and indexes of in-memory tables change while they have rows.
CREATE TABLE dbo.t (
    id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 16),
    v int NOT NULL,
    s varchar(20) NULL,
    INDEX ix_v (v)
) WITH (MEMORY_OPTIMIZED = ON)
INSERT dbo.t VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 20, NULL)
SELECT name, is_memory_optimized, durability, durability_desc FROM sys.tables WHERE name = 't'
GO
ALTER TABLE dbo.t ADD w int NOT NULL DEFAULT 7, x AS v * 2
SELECT * FROM dbo.t ORDER BY id
GO
ALTER TABLE dbo.t ADD INDEX ix_s (s, v)
ALTER TABLE dbo.t ADD INDEX ix_hash HASH (w) WITH (BUCKET_COUNT = 8)
ALTER TABLE dbo.t ADD CONSTRAINT df_s DEFAULT 'none' FOR s
INSERT dbo.t (id, v) VALUES (4, 40)
SELECT id, s, w FROM dbo.t WHERE s >= 'none' ORDER BY s
SELECT name, type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.t') ORDER BY index_id
GO
ALTER TABLE dbo.t ADD CONSTRAINT uq_v UNIQUE NONCLUSTERED (v)
GO
ALTER TABLE dbo.t ADD CONSTRAINT uq_id_v UNIQUE NONCLUSTERED (id, v)
ALTER TABLE dbo.t ALTER COLUMN v bigint NOT NULL
GO
ALTER TABLE dbo.t DROP COLUMN x
ALTER TABLE dbo.t DROP INDEX ix_hash
ALTER TABLE dbo.t DROP INDEX ix_v
ALTER TABLE dbo.t DROP INDEX ix_s
ALTER TABLE dbo.t DROP CONSTRAINT uq_id_v
ALTER TABLE dbo.t ALTER COLUMN v bigint NOT NULL
GO
UPDATE dbo.t SET v = 4000000000 WHERE id = 4
ALTER TABLE dbo.t ADD INDEX ix_v (v)
GO
SELECT id, v FROM dbo.t WHERE v > 15 ORDER BY v, id
SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.t') ORDER BY index_id
GO
-- In a transaction, with other changes, undone and kept.
BEGIN TRANSACTION
INSERT dbo.t WITH (SNAPSHOT) (id, v) VALUES (5, 50)
ALTER TABLE dbo.t ADD y int NULL
GO
UPDATE dbo.t WITH (SNAPSHOT) SET y = id
SELECT id, y FROM dbo.t WITH (SNAPSHOT) ORDER BY id
ROLLBACK
GO
SELECT * FROM dbo.t ORDER BY id
GO
BEGIN TRANSACTION
DELETE dbo.t WITH (SNAPSHOT) WHERE id = 1
ALTER TABLE dbo.t ADD y int NULL
GO
UPDATE dbo.t WITH (SNAPSHOT) SET y = id
COMMIT
SELECT id, y FROM dbo.t ORDER BY id
DBCC CHECKTABLE ('dbo.t')
GO
-- What is refused.
ALTER TABLE dbo.t ADD INDEX ix_c CLUSTERED (v)
GO
ALTER TABLE dbo.t ADD INDEX ix_f (v) WHERE v > 1
GO
ALTER TABLE dbo.t ADD INDEX ix_h HASH (v)
GO
ALTER TABLE dbo.t ADD q xml
GO
ALTER TABLE dbo.t ALTER COLUMN s sql_variant
GO
ALTER TABLE dbo.t ADD r rowversion
GO
DECLARE @pk sysname = (SELECT name FROM sys.key_constraints WHERE parent_object_id = OBJECT_ID('dbo.t') AND type = 'PK')
EXEC ('ALTER TABLE dbo.t DROP CONSTRAINT ' + @pk)
GO
CREATE TABLE dbo.keyless (id int NOT NULL, INDEX ix (id)) WITH (MEMORY_OPTIMIZED = ON)
GO
CREATE TABLE dbo.u (id int NOT NULL, INDEX ix (id)) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY)
ALTER TABLE dbo.u DROP INDEX ix
GO
ALTER TABLE dbo.u ADD k int IDENTITY (1, 1) NOT NULL
GO
INSERT dbo.u VALUES (1), (2)
SELECT * FROM dbo.u ORDER BY k
GO
-- The log has one record for each of these, and none for the other table.
DECLARE @lsn nvarchar(30) = (SELECT MAX([Current LSN]) FROM sys.fn_dblog(NULL, NULL))
INSERT dbo.t (id, v) VALUES (6, 60)
INSERT dbo.u VALUES (3)
UPDATE dbo.t SET v = v + 1
SELECT Operation, Context FROM sys.fn_dblog(NULL, NULL) WHERE [Current LSN] > @lsn
DROP TABLE dbo.t, dbo.u
