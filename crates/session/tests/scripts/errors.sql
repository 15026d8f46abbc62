-- Each error that a first user meets: number, severity, state, line, wording.
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT pk_t PRIMARY KEY, name varchar(5) NULL, n tinyint NOT NULL DEFAULT 0);
CREATE TABLE dbo.u (a int NULL, CONSTRAINT uq_u UNIQUE (a));
INSERT dbo.t (id, name) VALUES (1, 'one');
INSERT dbo.u VALUES (1);
GO
SELECT 1;

SELECT FROM t;
GO
SELECT * FORM t
GO
SELECT 1 +;
GO
IF 1 SELECT 2
GO
SELECT * FROM nothing;
GO
SELECT nothing FROM t;
GO

SELECT t.id, x.id FROM t;
GO
SELECT id FROM t a, t b;
GO
INSERT t (id) VALUES (1);
GO
INSERT u VALUES (1);
INSERT u VALUES (NULL);
INSERT u VALUES (NULL);
GO
PRINT 'before';
INSERT t (id, name) VALUES (NULL, 'x');
PRINT 'after';
GO
UPDATE t SET id = NULL;
GO
INSERT t (id, name) VALUES (2, 'too long');
GO
INSERT t (id, n) VALUES (2, 256);
GO
SELECT CAST('abc' AS int);
GO
SELECT id FROM t WHERE name = 1;
GO
SELECT CAST('99999999999' AS int);
GO
DECLARE @i int = 2147483647;
SET @i = @i + 1;
PRINT @i;
GO
SELECT 2147483647 + 1;
GO
DECLARE @d decimal(5, 2) = 1000;
GO
SELECT 1 / 0;
GO
SELECT CAST('2024-13-01' AS date);
GO
EXEC nothing;
GO
CREATE PROCEDURE dbo.p @a int, @b varchar(10) = 'b', @c int = 0 OUTPUT AS SELECT @a AS a, @b AS b;
GO
EXEC p;
GO
EXEC p 1, 'x', 3, 4;
GO
EXEC p @a = 1, @z = 2;
GO
EXEC p 'abc';
GO
SELECT @undeclared;
GO
DECLARE @a int; DECLARE @a int;
GO
INSERT t (id, name) VALUES (5);
GO
INSERT t VALUES (5);
GO
INSERT t (id, id) VALUES (5, 6);
GO
CREATE TABLE t (a int);
GO
CREATE TABLE twice (a int, A int);
GO
CREATE TABLE keys (a int NOT NULL PRIMARY KEY, b int NOT NULL PRIMARY KEY);
GO
CREATE TABLE types (a nosuchtype);
GO
DROP TABLE nothing;
GO
DROP PROCEDURE nothing;
GO
CREATE DATABASE master;
GO
USE nowhere;
GO
DROP DATABASE nowhere;
GO
COMMIT;
GO
ROLLBACK;
GO
SELECT NOSUCHFUNCTION(1);
GO
SELECT LEN();
GO
SELECT SUM(id), name FROM t;
GO
SELECT id FROM t ORDER BY 3;
GO
SELECT (SELECT id FROM t UNION ALL SELECT 2);
GO
BREAK;
GO
THROW;
GO
RAISERROR('user text %d of %s', 16, 3, 7, 'nine');
GO
RAISERROR('information', 10, 1);
GO
THROW 50001, 'thrown', 5;
GO
SELECT 'x' + 1;
GO
SELECT CAST(300 AS tinyint);
GO
TRUNCATE TABLE nothing;
GO
INSERT INTO sys.objects (name) VALUES ('x');
GO
SELECT * FROM sys.nothing;
GO
DECLARE @x int = 'a b';
GO
CREATE VIEW v AS SELECT 1;
GO
