CREATE TYPE dbo.Phone FROM nvarchar(20) NOT NULL;
CREATE TYPE Amount FROM decimal(10, 2);
CREATE TYPE dbo.Lines AS TABLE (
    line int IDENTITY PRIMARY KEY,
    item varchar(10) NOT NULL UNIQUE,
    pieces int NOT NULL DEFAULT 1 CHECK (pieces > 0),
    note nvarchar(30) NULL INDEX by_note
);
GO
-- What is there, is there.
CREATE TYPE dbo.Phone FROM int;
GO
CREATE TYPE Lines AS TABLE (a int);
GO
CREATE TYPE nowhere.t FROM int;
GO
CREATE TYPE dbo.t FROM no_such_type;
GO
CREATE TYPE dbo.t AS TABLE (a int CONSTRAINT named PRIMARY KEY);
GO
CREATE TYPE dbo.t AS TABLE (a dbo.Lines);
GO
-- Columns and variables of an alias type.
CREATE TABLE dbo.person (id int PRIMARY KEY, phone dbo.Phone, mobile dbo.Phone NULL, owed Amount);
DECLARE @p dbo.Phone = N'123456789012345678901234', @a Amount = 12.345;
SELECT @p AS p, @a AS a;
INSERT dbo.person (id, phone, owed) VALUES (1, N'1', 3.14159);
SELECT * FROM dbo.person;
INSERT dbo.person (id) VALUES (2);
GO
SELECT CAST('1' AS dbo.Phone);
GO
SELECT CONVERT(no_such_type, 1);
GO
DECLARE @x dbo.no_such_type;
GO
DECLARE @x Phone(10);
GO
-- A variable of a table type.
DECLARE @l dbo.Lines;
INSERT @l (item) VALUES ('nut'), ('bolt');
INSERT @l (item, pieces, note) VALUES ('screw', 5, N'long');
SELECT * FROM @l ORDER BY line;
INSERT @l (item) VALUES ('nut');
INSERT @l (item, pieces) VALUES ('x', 0);
UPDATE @l SET pieces += 1 WHERE item = 'nut';
SELECT SUM(pieces) AS pieces FROM @l;
SELECT COUNT(*) AS bolts FROM @l AS l JOIN @l AS m ON l.item = m.item WHERE l.item = 'bolt';
GO
-- Nothing of it is left behind the batch.
SELECT * FROM @l;
GO
DECLARE @l dbo.Lines = 1;
GO
-- Parameters.
CREATE PROCEDURE dbo.total @factor int, @lines dbo.Lines READONLY AS
SELECT @factor * SUM(pieces) AS total, COUNT(*) AS lines FROM @lines;
GO
CREATE PROCEDURE dbo.through @l dbo.Lines READONLY AS
EXEC dbo.total 10, @l;
EXEC dbo.total @lines = @l, @factor = 100;
GO
DECLARE @l dbo.Lines;
INSERT @l (item, pieces) VALUES ('a', 2), ('b', 3);
EXEC dbo.through @l;
EXEC dbo.total 1;
EXEC dbo.total 1, DEFAULT;
EXEC sp_executesql N'SELECT MAX(item) AS last FROM @t', N'@t dbo.Lines READONLY', @l;
EXEC sp_executesql N'SELECT COUNT(*) AS n FROM @t WHERE pieces > @m', N'@m int, @t Lines READONLY', @t = @l, @m = 2;
SELECT COUNT(*) AS still FROM @l;
GO
-- A call within a loop sees the rows of the moment.
DECLARE @l dbo.Lines, @i int = 0;
WHILE @i < 3
BEGIN
    INSERT @l (item) VALUES (CONCAT('i', @i));
    EXEC dbo.total 1, @l;
    SET @i += 1;
END
GO
CREATE PROCEDURE dbo.bad @l dbo.Lines AS SELECT 1;
GO
CREATE PROCEDURE dbo.bad @l int READONLY AS SELECT 1;
GO
CREATE PROCEDURE dbo.bad @l dbo.Lines READONLY AS INSERT @l (item) VALUES ('z');
GO
CREATE PROCEDURE dbo.bad @l dbo.Lines READONLY AS
DELETE @l;
GO
CREATE PROCEDURE dbo.bad @l dbo.Lines READONLY AS WITH c AS (SELECT * FROM @l) DELETE c;
GO
DECLARE @l dbo.Lines;
EXEC dbo.bad @l;
GO
CREATE TYPE dbo.Other AS TABLE (line int, item varchar(10), pieces int, note nvarchar(30));
GO
DECLARE @o dbo.Other, @i int = 1;
DECLARE @v TABLE (a int);
EXEC dbo.total 1, @o;
EXEC dbo.total 1, @v;
EXEC dbo.total 1, @i;
EXEC dbo.total 1, NULL;
EXEC dbo.total @o, @o;
EXEC dbo.through;
GO
-- Functions.
CREATE FUNCTION dbo.pieces_of (@l dbo.Lines READONLY, @item varchar(10)) RETURNS int AS
BEGIN RETURN (SELECT SUM(pieces) FROM @l WHERE item = @item) END
GO
CREATE FUNCTION dbo.many (@l dbo.Lines READONLY, @least int) RETURNS TABLE AS
RETURN SELECT item, pieces FROM @l WHERE pieces >= @least;
GO
CREATE FUNCTION dbo.wrong (@l dbo.Lines READONLY) RETURNS TABLE AS RETURN SELECT no_such_column FROM @l;
GO
CREATE FUNCTION dbo.wrong (@l dbo.Lines) RETURNS TABLE AS RETURN SELECT item FROM @l;
GO
DECLARE @l dbo.Lines, @o dbo.Other;
INSERT @l (item, pieces) VALUES ('a', 2), ('b', 3), ('c', 4);
SELECT dbo.pieces_of(@l, 'b') AS b, dbo.pieces_of(@l, 'none') AS nothing;
SELECT * FROM dbo.many(@l, 3) ORDER BY item;
SELECT COUNT(*) AS n FROM dbo.many(@o, 3);
GO
CREATE PROCEDURE dbo.calls @l dbo.Lines READONLY AS
SELECT item, dbo.pieces_of(@l, item) AS n FROM dbo.many(@l, 1) ORDER BY item;
GO
DECLARE @l dbo.Lines;
INSERT @l (item, pieces) VALUES ('p', 7), ('q', 8);
EXEC dbo.calls @l;
GO
-- What the views say.
SELECT name, system_type_id, user_type_id, schema_id, max_length, precision, scale, collation_name, is_nullable, is_user_defined, is_table_type
FROM sys.types WHERE is_user_defined = 1 ORDER BY user_type_id;
SELECT t.name, o.type, o.type_desc, SCHEMA_NAME(o.schema_id) AS object_schema, o.parent_object_id
FROM sys.table_types AS t JOIN sys.objects AS o ON o.object_id = t.type_table_object_id ORDER BY t.name;
SELECT c.column_id, c.name, TYPE_NAME(c.user_type_id) AS type_name, c.is_nullable, c.is_identity
FROM sys.columns AS c JOIN sys.table_types AS t ON t.type_table_object_id = c.object_id WHERE t.name = 'Lines' ORDER BY c.column_id;
SELECT i.index_id, i.type_desc, i.is_unique, i.is_primary_key, LEFT(i.name, 14) AS name
FROM sys.indexes AS i JOIN sys.table_types AS t ON t.type_table_object_id = i.object_id WHERE t.name = 'Lines' ORDER BY i.index_id;
SELECT p.name, p.parameter_id, p.system_type_id, TYPE_NAME(p.user_type_id) AS type_name, p.max_length, p.is_readonly
FROM sys.parameters AS p WHERE p.object_id = OBJECT_ID('dbo.total') ORDER BY p.parameter_id;
SELECT COLUMN_NAME, DATA_TYPE, IS_NULLABLE, DOMAIN_SCHEMA, DOMAIN_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'person' ORDER BY ORDINAL_POSITION;
SELECT DOMAIN_SCHEMA, DOMAIN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE FROM INFORMATION_SCHEMA.DOMAINS ORDER BY DOMAIN_NAME;
SELECT PARAMETER_NAME, DATA_TYPE, USER_DEFINED_TYPE_SCHEMA, USER_DEFINED_TYPE_NAME FROM INFORMATION_SCHEMA.PARAMETERS WHERE SPECIFIC_NAME = 'total' ORDER BY ORDINAL_POSITION;
SELECT TYPE_NAME(TYPE_ID('dbo.Phone')) AS phone, TYPE_NAME(TYPE_ID('LINES')) AS lines, TYPE_ID('dbo.int') AS none, TYPE_ID('sys.int') AS of_sys, TYPE_ID('s.Phone') AS other;
GO
-- What is used stays.
DROP TYPE dbo.Lines;
GO
DROP TYPE dbo.Phone;
GO
DROP TYPE dbo.nothing;
GO
DROP TYPE IF EXISTS dbo.nothing;
DROP TYPE IF EXISTS dbo.Other;
SELECT COUNT(*) AS left_over FROM sys.types WHERE name = 'Other';
GO
-- A type that is made anew means what it is then.
DROP PROCEDURE dbo.total; DROP PROCEDURE dbo.through; DROP PROCEDURE dbo.calls; DROP PROCEDURE IF EXISTS dbo.bad;
DROP FUNCTION dbo.pieces_of; DROP FUNCTION dbo.many;
GO
DECLARE @l dbo.Lines; SELECT COUNT(*) AS n FROM @l;
GO
DROP TYPE dbo.Lines;
CREATE TYPE dbo.Lines AS TABLE (only_one bigint NULL);
GO
DECLARE @l dbo.Lines; SELECT COUNT(*) AS n FROM @l;
INSERT @l VALUES (5000000000);
SELECT * FROM @l;
GO
-- Definitions come and go with their transaction.
BEGIN TRANSACTION;
CREATE TYPE dbo.Brief AS TABLE (a int);
CREATE TYPE dbo.Short FROM int;
SELECT COUNT(*) AS within FROM sys.types WHERE name IN ('Brief', 'Short');
ROLLBACK;
SELECT COUNT(*) AS after FROM sys.types WHERE name IN ('Brief', 'Short');
CREATE TYPE dbo.Brief AS TABLE (b bigint);
DROP TYPE dbo.Brief;
GO
CREATE SCHEMA s;
GO
CREATE TYPE s.Own FROM date;
GO
DROP SCHEMA s;
GO
DECLARE @d s.Own = '2024-05-06'; SELECT @d AS d;
DROP TYPE s.Own;
DROP SCHEMA s;
GO
-- Temporary tables and table variables have columns of what a type stands for.
DECLARE @t TABLE (p dbo.Phone, a Amount);
INSERT @t (p, a) VALUES (N'1', 2);
SELECT * FROM @t;
INSERT @t (a) VALUES (2);
GO
ALTER TABLE dbo.person ADD home dbo.Phone NULL;
ALTER TABLE dbo.person ADD extra int NULL;
ALTER TABLE dbo.person ALTER COLUMN owed bigint;
ALTER TABLE dbo.person ALTER COLUMN extra Amount;
SELECT name, TYPE_NAME(user_type_id) AS type_name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.person') ORDER BY column_id;
DROP TYPE Amount;
DROP TABLE dbo.person;
DROP TYPE dbo.Phone;
DROP TYPE Amount;
GO
-- Long values, in a variable of a type and passed on; a temporary procedure takes them as another does.
CREATE TYPE dbo.Texts AS TABLE (n int PRIMARY KEY, t varchar(max) NULL);
GO
CREATE PROCEDURE dbo.lengths @t dbo.Texts READONLY AS SELECT n, LEN(t) AS l, RIGHT(t, 2) AS e FROM @t ORDER BY n;
GO
CREATE PROCEDURE #lengths @t dbo.Texts READONLY AS EXEC dbo.lengths @t;
GO
DECLARE @a dbo.Texts, @b dbo.Texts;
INSERT @a VALUES (1, REPLICATE(CAST('ab' AS varchar(max)), 30000)), (2, 'x');
INSERT @b SELECT n + 10, t + 'c' FROM @a;
UPDATE @a SET t = REPLICATE(CAST('cd' AS varchar(max)), 40000) WHERE n = 2;
EXEC #lengths @a;
EXEC #lengths @b;
DECLARE @kept TABLE (n int, l int, e varchar(2));
INSERT @kept EXEC #lengths @b;
SELECT COUNT(*) AS kept, SUM(l) AS l FROM @kept;
GO
-- The temporary procedure follows the type that has come in the place of its own.
DROP PROCEDURE dbo.lengths;
DROP TYPE dbo.Texts;
GO
CREATE TYPE dbo.Texts AS TABLE (other int);
GO
CREATE PROCEDURE dbo.lengths @t dbo.Texts READONLY AS SELECT other FROM @t;
GO
DECLARE @a dbo.Texts;
INSERT @a VALUES (7);
EXEC #lengths @a;
GO
DROP PROCEDURE #lengths;
DROP PROCEDURE dbo.lengths;
DROP TYPE dbo.Texts;
GO
