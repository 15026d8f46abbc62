-- ALTER TABLE ... ADD of an IDENTITY column: the rows that are there get numbers.
SET NOCOUNT ON
CREATE TABLE dbo.t (name varchar(10))
INSERT dbo.t VALUES ('a'), ('b'), ('c')
ALTER TABLE dbo.t ADD id int IDENTITY(10, 5) NOT NULL CONSTRAINT pk_t PRIMARY KEY
SELECT * FROM dbo.t ORDER BY name
INSERT dbo.t (name) VALUES ('d')
SELECT id, name, SCOPE_IDENTITY() AS last FROM dbo.t WHERE name = 'd'
SELECT IDENT_CURRENT('dbo.t') AS [current], IDENT_SEED('dbo.t') AS seed, IDENT_INCR('dbo.t') AS step, COLUMNPROPERTY(OBJECT_ID('dbo.t'), 'id', 'IsIdentity') AS is_identity
SELECT name, seed_value, increment_value, last_value FROM sys.identity_columns WHERE object_id = OBJECT_ID('dbo.t')
GO
ALTER TABLE dbo.t ADD other int IDENTITY
GO
-- Dropped and added again: it begins anew.
ALTER TABLE dbo.t DROP CONSTRAINT pk_t
ALTER TABLE dbo.t DROP COLUMN id
ALTER TABLE dbo.t ADD id decimal(5, 0) IDENTITY
SELECT * FROM dbo.t ORDER BY id
INSERT dbo.t VALUES ('e')
SELECT * FROM dbo.t WHERE name = 'e'
GO
-- Undone with its transaction.
BEGIN TRANSACTION
CREATE TABLE dbo.u (a int)
INSERT dbo.u VALUES (1)
COMMIT
BEGIN TRANSACTION
ALTER TABLE dbo.u ADD id int IDENTITY
ROLLBACK
SELECT * FROM dbo.u
ALTER TABLE dbo.u ADD id bigint IDENTITY(-5, -1)
INSERT dbo.u VALUES (2)
SELECT * FROM dbo.u ORDER BY a
GO
-- An empty table, a temporary one, a type that has no more values.
CREATE TABLE #e (a int)
ALTER TABLE #e ADD id int IDENTITY(7, 1)
INSERT #e VALUES (1), (2)
SELECT * FROM #e ORDER BY id
ALTER TABLE #e DROP COLUMN id
ALTER TABLE #e ADD id int IDENTITY(3, 1)
INSERT #e VALUES (3)
SELECT * FROM #e ORDER BY id
GO
CREATE TABLE dbo.small (a int)
INSERT dbo.small VALUES (1), (2)
GO
ALTER TABLE dbo.small ADD id tinyint IDENTITY(255, 1)
GO
SELECT * FROM dbo.small
ALTER TABLE dbo.small ADD id int IDENTITY NULL
GO
