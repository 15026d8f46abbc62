-- A column keeps its number when others are dropped.
CREATE TABLE parent (a int NOT NULL CONSTRAINT pk_parent PRIMARY KEY, filler int NULL, b int NULL CONSTRAINT df_b DEFAULT 7, c int IDENTITY(1, 1), d AS a * 2,
    e int NOT NULL CONSTRAINT ck_e CHECK (e > 0));
CREATE TABLE child (x int NOT NULL PRIMARY KEY, junk int NULL, fa int NOT NULL);
EXEC sp_addextendedproperty 'note', 'of e', 'SCHEMA', 'dbo', 'TABLE', 'parent', 'COLUMN', 'e';
CREATE USER ann WITHOUT LOGIN;
GRANT SELECT (e) ON parent TO ann;
GO
ALTER TABLE parent DROP COLUMN filler;
ALTER TABLE child DROP COLUMN junk;
ALTER TABLE child ADD CONSTRAINT fk_x FOREIGN KEY (fa) REFERENCES parent (a);
CREATE INDEX ix ON parent (e) INCLUDE (b);
CREATE INDEX ix ON child (fa);
GO
CREATE VIEW bound WITH SCHEMABINDING AS SELECT e FROM dbo.parent;
GO
SELECT name, column_id FROM sys.columns WHERE object_id = OBJECT_ID('parent') ORDER BY column_id;
SELECT name, max_column_id_used FROM sys.tables ORDER BY name;
SELECT name, column_id FROM sys.computed_columns;
SELECT name, column_id FROM sys.identity_columns WHERE object_id = OBJECT_ID('parent');
SELECT name, parent_column_id FROM sys.check_constraints;
SELECT name, parent_column_id FROM sys.default_constraints;
SELECT OBJECT_NAME(constraint_object_id) name, parent_column_id, referenced_column_id FROM sys.foreign_key_columns;
SELECT OBJECT_NAME(object_id) name, index_id, index_column_id, column_id FROM sys.index_columns WHERE object_id IN (OBJECT_ID('parent'), OBJECT_ID('child')) ORDER BY 1, 2, 3;
SELECT OBJECT_NAME(object_id) name, stats_id, column_id FROM sys.stats_columns WHERE object_id IN (OBJECT_ID('parent'), OBJECT_ID('child')) ORDER BY 1, 2, 3;
SELECT name, minor_id FROM sys.extended_properties WHERE major_id = OBJECT_ID('parent');
SELECT minor_id, permission_name FROM sys.database_permissions WHERE major_id = OBJECT_ID('parent');
SELECT OBJECT_NAME(referencing_id) name, referenced_minor_id FROM sys.sql_expression_dependencies WHERE referencing_id IN (OBJECT_ID('bound'), OBJECT_ID('ck_e')) AND referenced_minor_id > 0 ORDER BY name;
SELECT referencing_minor_id, referenced_minor_id FROM sys.sql_expression_dependencies WHERE referencing_id = OBJECT_ID('parent');
SELECT name, colid, colorder FROM syscolumns WHERE id = OBJECT_ID('parent') ORDER BY colid;
SELECT rkey1, fkey1 FROM sysreferences;
SELECT COL_NAME(OBJECT_ID('parent'), 2) two, COL_NAME(OBJECT_ID('parent'), 3) three, COL_NAME(OBJECT_ID('parent'), 6) six, COL_NAME(OBJECT_ID('parent'), 7) seven, COL_NAME(OBJECT_ID('bound'), 1) of_view;
SELECT COLUMNPROPERTY(OBJECT_ID('parent'), 'e', 'ColumnId') id, COLUMNPROPERTY(OBJECT_ID('parent'), 'e', 'ordinal') ordinal;
SELECT COLUMN_NAME, ORDINAL_POSITION, COLUMNPROPERTY(OBJECT_ID(TABLE_NAME), COLUMN_NAME, 'ColumnID') id FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'parent' ORDER BY ORDINAL_POSITION;
GO
-- A new column gets a number that no other has had.
CREATE TABLE w_t (c1 int, c2 int, c3 int);
ALTER TABLE w_t DROP COLUMN c3;
SELECT max_column_id_used FROM sys.tables WHERE name = 'w_t';
ALTER TABLE w_t ADD c4 int;
ALTER TABLE w_t DROP COLUMN c1;
ALTER TABLE w_t ALTER COLUMN c2 bigint;
ALTER TABLE w_t ADD c5 int, c6 int, c7 int, c8 int, c9 int, c10 int;
SELECT name, column_id FROM sys.columns WHERE object_id = OBJECT_ID('w_t') ORDER BY column_id;
SELECT max_column_id_used FROM sys.tables WHERE name = 'w_t';
GO
-- COLUMNS_UPDATED() has a bit for each number.
CREATE TRIGGER tr ON w_t AFTER INSERT, UPDATE AS SELECT COLUMNS_UPDATED() bits, IIF(UPDATE(c2), 1, 0) c2, IIF(UPDATE(c9), 1, 0) c9;
GO
INSERT w_t (c2) VALUES (1);
UPDATE w_t SET c2 = 2;
UPDATE w_t SET c4 = 2, c9 = 1;
UPDATE w_t SET c10 = 2;
GO
-- In a transaction that is undone nothing is used up, and temporary tables count by themselves.
BEGIN TRANSACTION;
ALTER TABLE w_t DROP COLUMN c10;
ALTER TABLE w_t ADD c11 int;
SELECT column_id FROM sys.columns WHERE object_id = OBJECT_ID('w_t') AND name = 'c11';
ROLLBACK;
SELECT column_id FROM sys.columns WHERE object_id = OBJECT_ID('w_t') AND name = 'c10';
CREATE TABLE #t (a int, b int, c int);
ALTER TABLE #t DROP COLUMN a;
ALTER TABLE #t ADD d int;
SELECT name, column_id FROM tempdb.sys.columns WHERE object_id = OBJECT_ID('tempdb..#t') ORDER BY column_id;
GO
EXEC sp_columns 'w_t';
