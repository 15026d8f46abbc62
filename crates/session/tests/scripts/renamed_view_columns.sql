-- sp_rename of a column of a view: its text gets a list of columns, or another name in the one it has.
CREATE TABLE t (a int, b int);
INSERT t VALUES (1, 2);
GO
CREATE VIEW v AS SELECT a, b FROM t;
GO
CREATE VIEW w (x, [y z]) WITH SCHEMABINDING AS SELECT a, b FROM dbo.t;
GO
EXEC sp_rename 'dbo.v.a', 'first]', 'COLUMN';
EXEC sp_rename 'w.y z', 'second', 'COLUMN';
SELECT * FROM v;
SELECT * FROM w;
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('v') ORDER BY column_id;
EXEC sp_helptext 'v';
EXEC sp_helptext 'w';
GO
EXEC sp_rename 'dbo.v.a', 'c', 'COLUMN';
GO
EXEC sp_rename 'dbo.v.b', 'first]', 'COLUMN';
GO
BEGIN TRANSACTION;
EXEC sp_rename 'dbo.v.b', 'c', 'COLUMN';
SELECT * FROM v;
ROLLBACK;
SELECT * FROM v;
GO
