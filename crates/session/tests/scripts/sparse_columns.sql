-- SPARSE is kept and shown; a row takes what it takes.
CREATE TABLE dbo.few (id int NOT NULL PRIMARY KEY, a int SPARSE NULL, b varchar(20) SPARSE, c int NULL);
INSERT dbo.few (id, b) VALUES (1, 'x'), (2, NULL);
SELECT name, is_sparse, COLUMNPROPERTY(object_id, name, 'IsSparse') AS property FROM sys.columns WHERE object_id = OBJECT_ID('dbo.few') ORDER BY column_id;
ALTER TABLE dbo.few ALTER COLUMN c ADD SPARSE;
ALTER TABLE dbo.few ALTER COLUMN a DROP SPARSE;
ALTER TABLE dbo.few ADD d int SPARSE NULL;
SELECT name, is_sparse FROM sys.columns WHERE object_id = OBJECT_ID('dbo.few') ORDER BY column_id;
ALTER TABLE dbo.few DROP COLUMN a;
SELECT name, is_sparse FROM sys.columns WHERE object_id = OBJECT_ID('dbo.few') ORDER BY column_id;
SELECT id, b, c, d FROM dbo.few ORDER BY id;
GO
CREATE TABLE dbo.never (a int SPARSE NOT NULL);
GO
CREATE TABLE dbo.never (a int SPARSE IDENTITY);
GO
CREATE TABLE dbo.never (a text SPARSE);
GO
CREATE TABLE dbo.never (id int, a rowversion SPARSE);
GO
ALTER TABLE dbo.few ALTER COLUMN id ADD SPARSE;
GO
ALTER TABLE dbo.few ALTER COLUMN nothing ADD SPARSE;
GO
