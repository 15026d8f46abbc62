-- A statement about one kind of object that names another one says so, by the name as it is written.
CREATE SCHEMA s;
GO
CREATE TABLE s.t (a int);
CREATE SYNONYM s.y FOR s.t;
CREATE SEQUENCE s.q;
GO
CREATE VIEW s.v AS SELECT 1 AS a;
GO
CREATE PROCEDURE s.p AS SELECT 1 AS a;
GO
CREATE FUNCTION s.f () RETURNS int AS BEGIN RETURN 1 END;
GO
DROP TABLE s.v;
GO
DROP VIEW s.t;
GO
DROP PROCEDURE s.v;
GO
DROP FUNCTION s.p;
GO
DROP SYNONYM s.t;
GO
DROP SEQUENCE s.f;
GO
DROP TABLE s.q;
GO
DROP TABLE s.y;
GO
-- What changes a table takes no other name for it.
TRUNCATE TABLE s.v;
GO
TRUNCATE TABLE s.y;
GO
ALTER TABLE s.v ADD b int;
GO
ALTER TABLE s.y ADD b int;
GO
ALTER TABLE s.y NOCHECK CONSTRAINT ALL;
GO
CREATE INDEX i ON s.y (a);
GO
CREATE INDEX i ON s.p (a);
GO
-- Modules.
ALTER PROCEDURE s.v AS SELECT 1 AS a;
GO
ALTER VIEW s.p AS SELECT 1 AS a;
GO
ALTER FUNCTION s.v () RETURNS int AS BEGIN RETURN 1 END;
GO
ALTER TRIGGER s.p ON s.t AFTER INSERT AS PRINT 'x';
GO
ALTER PROCEDURE s.none AS SELECT 1 AS a;
GO
ALTER VIEW none AS SELECT 1 AS a;
GO
ALTER FUNCTION s.none () RETURNS int AS BEGIN RETURN 1 END;
GO
ALTER TRIGGER s.none ON s.t AFTER INSERT AS PRINT 'x';
GO
EXEC s.t;
GO
EXEC s.v;
GO
EXEC s.none;
GO
-- The state tells what was to be made: a table or its like, a module, a constraint.
CREATE TABLE s.v (a int);
GO
CREATE PROCEDURE s.t AS SELECT 1 AS a;
GO
CREATE TABLE s.t2 (a int CONSTRAINT t CHECK (a > 0));
GO
-- sp_rename names the current database, a kind that there is, and no name of another object.
EXEC sp_rename 'none.s.t', 'u';
GO
EXEC sp_rename 'none.s.t.a', 'u', 'COLUMN';
GO
EXEC sp_rename 'master.s.t', 't2';
EXEC sp_rename '[s]."t2"', 't', 'object ';
GO
EXEC sp_rename 's.t', 'u', 'Thing';
GO
EXEC sp_rename 's.t', 'v';
GO
ALTER TABLE s.t ADD b int;
CREATE INDEX i1 ON s.t (a);
CREATE INDEX i2 ON s.t (b);
GO
EXEC sp_rename 's.t.a', 'b', 'COLUMN';
GO
EXEC sp_rename 's.t.i1', 'i2', 'INDEX';
GO
-- A text that is run has no name: errors of its arguments quote it, or say nothing.
EXEC sp_executesql N'SELECT @a', N'@a int';
GO
EXEC sp_executesql N'SELECT @a', N'@a int', 1, 2;
GO
EXEC sp_executesql N'SELECT @a', N'@a int', @b = 2;
GO
-- An option of sp_configure may be begun, if that means one.
EXEC sp_configure 'max', 1;
GO
EXEC sp_configure 'none', 1;
GO
-- In collations of supplementary characters UNICODE gives the whole one's number.
SELECT UNICODE(N'😀' COLLATE Latin1_General_100_CI_AS_SC) AS character, UNICODE(N'😀' COLLATE Latin1_General_100_CI_AS) AS unit,
    UNICODE(N'a' COLLATE Latin1_General_100_CI_AS_SC) AS letter;
GO
-- What is not there is named as it was written.
DROP SEQUENCE s.none;
GO
DROP DATABASE none;
GO
CREATE TRIGGER s.tr ON s.none AFTER INSERT AS PRINT 'x';
GO
