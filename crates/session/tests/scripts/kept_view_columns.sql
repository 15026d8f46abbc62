-- Views and functions of one query keep the columns that they had when they were made.
CREATE TABLE t (a int NOT NULL, b varchar(5));
CREATE TABLE u (c int);
INSERT t VALUES (1, 'one');
INSERT u VALUES (7);
GO
CREATE VIEW v AS SELECT * FROM t CROSS JOIN u;
GO
CREATE VIEW one AS SELECT * FROM t;
GO
CREATE VIEW listed (x, y) AS SELECT * FROM t;
GO
CREATE VIEW above AS SELECT * FROM one;
GO
CREATE VIEW united AS SELECT * FROM t UNION ALL SELECT * FROM t;
GO
CREATE VIEW sorted AS SELECT TOP (1) * FROM t ORDER BY a;
GO
CREATE FUNCTION rows_of (@n int) RETURNS TABLE AS RETURN (SELECT * FROM t WHERE a = @n);
GO
ALTER TABLE t ADD d int;
GO
UPDATE t SET d = 4;
SELECT * FROM v;
SELECT * FROM one;
SELECT o.b, o.a FROM one o WHERE o.a = 1;
SELECT * FROM listed;
SELECT * FROM above;
SELECT * FROM united;
SELECT * FROM sorted;
SELECT * FROM rows_of(1);
GO
SELECT d FROM v;
GO
SELECT d FROM rows_of(1);
GO
SELECT OBJECT_NAME(object_id) of_view, name, column_id, TYPE_NAME(system_type_id) type, max_length, is_nullable FROM sys.columns
WHERE object_id IN (OBJECT_ID('v'), OBJECT_ID('listed'), OBJECT_ID('rows_of')) ORDER BY of_view, column_id;
SELECT TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'v' ORDER BY ORDINAL_POSITION;
GO
-- Changes go by the kept names.
INSERT one VALUES (2, 'two');
INSERT listed (x, y) VALUES (3, 'three');
UPDATE one SET b = 'zwei' WHERE a = 2;
UPDATE l SET y = 'drei' FROM listed l WHERE x = 3;
DELETE FROM one WHERE a = 1;
SELECT * FROM t ORDER BY a;
GO
INSERT one VALUES (2, 'two', 5);
GO
UPDATE one SET d = 1;
GO
INSERT one (a, d) VALUES (1, 1);
GO
CREATE TRIGGER one_insert ON one INSTEAD OF INSERT AS SELECT * FROM inserted;
GO
INSERT one VALUES (5, 'five');
DROP TRIGGER one_insert;
GO
-- Types are those of the query.
ALTER TABLE t ALTER COLUMN a bigint;
SELECT SQL_VARIANT_PROPERTY(MAX(a), 'BaseType') type FROM one;
SELECT TYPE_NAME(system_type_id) type FROM sys.columns WHERE object_id = OBJECT_ID('one') AND name = 'a';
GO
EXEC sp_refreshview 'v';
SELECT * FROM v WHERE a = 2;
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('v') ORDER BY column_id;
EXEC sp_refreshsqlmodule 'rows_of';
SELECT * FROM rows_of(2);
SELECT TYPE_NAME(system_type_id) type FROM sys.columns WHERE object_id = OBJECT_ID('one') AND name = 'a';
GO
ALTER VIEW one AS SELECT * FROM t;
GO
SELECT * FROM one WHERE a = 2;
SELECT * FROM above WHERE a = 2;
GO
-- A column less.
ALTER TABLE t DROP COLUMN d;
SELECT * FROM v;
GO
SELECT a FROM dbo.one;
GO
INSERT one VALUES (4, 'four', 4);
GO
DELETE FROM one WHERE a = 2;
GO
SELECT * FROM rows_of(2);
GO
SELECT * FROM above;
GO
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('one') ORDER BY column_id;
EXEC sp_refreshview 'one';
GO
SELECT * FROM one WHERE a = 2;
SELECT * FROM above WHERE a = 2;
GO
EXEC sp_refreshview 'listed';
SELECT * FROM listed WHERE x = 2;
GO
-- Renamed columns keep their names in views.
EXEC sp_rename 't.b', 'bb', 'COLUMN';
SELECT * FROM one WHERE a = 2;
SELECT b FROM one WHERE a = 2;
EXEC sp_rename 'listed.y', 'z', 'COLUMN';
SELECT * FROM listed WHERE x = 2;
GO
-- What is bound to the schema has no others.
CREATE VIEW bound WITH SCHEMABINDING AS SELECT a FROM dbo.t;
GO
EXEC sp_refreshview 'bound';
GO
DROP VIEW bound;
DROP TABLE t;
GO
SELECT * FROM one;
GO
EXEC sp_refreshview 'one';
GO
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('one') ORDER BY column_id;
