CREATE TABLE dbo.t (a int CONSTRAINT d_a DEFAULT 1, b int, c int NOT NULL, CONSTRAINT pk PRIMARY KEY (c), CONSTRAINT ck CHECK (c > 0), INDEX ix (b));
CREATE SEQUENCE dbo.s;
CREATE TYPE dbo.short FROM varchar(5);
CREATE SYNONYM dbo.n FOR dbo.t;
GO
CREATE SCHEMA side;
GO
CREATE VIEW side.v AS SELECT a FROM dbo.t;
GO
CREATE PROCEDURE side.p AS RETURN 0;
GO
CREATE FUNCTION side.f () RETURNS int AS BEGIN RETURN 1 END
GO
CREATE TRIGGER dbo.tr ON dbo.t AFTER INSERT AS RETURN
GO
CREATE USER ann WITHOUT LOGIN;
GO
CREATE VIEW dbo.properties AS
SELECT p.class, p.class_desc, COALESCE(o.name, s.name, u.name, ty.name, '') AS of_what, COALESCE(c.name, i.name, '') AS part, p.name, p.value
FROM sys.extended_properties p
LEFT JOIN sys.objects o ON p.class IN (1, 7) AND o.object_id = p.major_id
LEFT JOIN sys.columns c ON p.class = 1 AND c.object_id = p.major_id AND c.column_id = p.minor_id
LEFT JOIN sys.indexes i ON p.class = 7 AND i.object_id = p.major_id AND i.index_id = p.minor_id
LEFT JOIN sys.schemas s ON p.class = 3 AND s.schema_id = p.major_id
LEFT JOIN sys.database_principals u ON p.class = 4 AND u.principal_id = p.major_id
LEFT JOIN sys.types ty ON p.class = 6 AND ty.user_type_id = p.major_id;
GO
-- Everything that may have some.
EXEC sp_addextendedproperty N'version', N'1.0';
EXEC sys.sp_addextendedproperty @name = N'MS_Description', @value = N'a table', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N't';
EXEC sp_addextendedproperty 'MS_Description', 'column a', 'schema', dbo, 'table', t, 'column', a;
EXEC sp_addextendedproperty 'MS_Description', 'column b', 'USER', 'DBO', 'TABLE', 'T', 'COLUMN', 'B';
EXEC sp_addextendedproperty 'MS_Description', 'column c', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'c';
EXEC sp_addextendedproperty 'second', 42, 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'b';
EXEC sp_addextendedproperty 'MS_Description', 'index', 'SCHEMA', 'dbo', 'TABLE', 't', 'INDEX', 'ix';
EXEC sp_addextendedproperty 'MS_Description', 'default', 'SCHEMA', 'dbo', 'TABLE', 't', 'CONSTRAINT', 'd_a';
EXEC sp_addextendedproperty 'MS_Description', 'check', 'SCHEMA', 'dbo', 'TABLE', 't', 'CONSTRAINT', 'ck';
EXEC sp_addextendedproperty 'MS_Description', 'key', 'SCHEMA', 'dbo', 'TABLE', 't', 'CONSTRAINT', 'pk';
EXEC sp_addextendedproperty 'MS_Description', 'trigger', 'SCHEMA', 'dbo', 'TABLE', 't', 'TRIGGER', 'tr';
EXEC sp_addextendedproperty 'MS_Description', 'sequence', 'SCHEMA', 'dbo', 'SEQUENCE', 's';
EXEC sp_addextendedproperty 'MS_Description', 'synonym', 'SCHEMA', 'dbo', 'SYNONYM', 'n';
EXEC sp_addextendedproperty 'MS_Description', 'type', 'SCHEMA', 'dbo', 'TYPE', 'short';
EXEC sp_addextendedproperty 'MS_Description', 'view', 'SCHEMA', 'side', 'VIEW', 'v';
EXEC sp_addextendedproperty 'MS_Description', 'procedure', 'SCHEMA', 'side', 'PROCEDURE', 'p';
EXEC sp_addextendedproperty 'MS_Description', 'function', 'SCHEMA', 'side', 'FUNCTION', 'f';
EXEC sp_addextendedproperty 'MS_Description', 'schema', 'SCHEMA', 'side';
EXEC sp_addextendedproperty 'MS_Description', 'user', 'USER', 'ann';
EXEC sp_addextendedproperty 'empty', NULL, 'USER', 'ann';
GO
SELECT * FROM dbo.properties ORDER BY class, of_what, part, name;
GO
-- Listing.
SELECT * FROM sys.fn_listextendedproperty(NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT * FROM ::fn_listextendedproperty(N'MS_Description', 'SCHEMA', 'dbo', 'TABLE', DEFAULT, DEFAULT, DEFAULT);
SELECT * FROM fn_listextendedproperty('default', 'schema', 'dbo', 'table', 't', 'column', 'default') ORDER BY objname, name;
SELECT * FROM fn_listextendedproperty('second', 'schema', 'dbo', 'table', 't', 'column', 'b') AS l;
SELECT * FROM fn_listextendedproperty(NULL, 'schema', NULL, NULL, NULL, NULL, NULL);
SELECT * FROM fn_listextendedproperty(NULL, 'schema', NULL, 'table', NULL, NULL, NULL);
SELECT * FROM fn_listextendedproperty(NULL, 'nothing', 'dbo', NULL, NULL, NULL, NULL);
SELECT o.name, l.objname, l.value FROM sys.tables o CROSS APPLY fn_listextendedproperty('MS_Description', 'schema', 'dbo', 'table', o.name, 'column', NULL) l ORDER BY l.objname;
GO
-- Changing and dropping.
EXEC sp_updateextendedproperty N'ms_description', N'first', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'a';
EXEC sp_updateextendedproperty N'version', N'1.1';
EXEC sp_dropextendedproperty 'second', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'b';
EXEC sp_dropextendedproperty @name = 'empty', @level0type = 'USER', @level0name = 'ann';
SELECT name, value FROM dbo.properties WHERE part IN ('a', 'b') OR class IN (0, 4) ORDER BY value;
GO
-- Refused.
EXEC sp_addextendedproperty 'VERSION', 'x';
GO
EXEC sp_addextendedproperty 'MS_Description', 'x', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'a';
GO
EXEC sp_updateextendedproperty 'second', 'x', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'b';
GO
EXEC sp_dropextendedproperty 'nothing';
GO
EXEC sp_addextendedproperty 'p', 'x', 'SCHEMA', 'dbo', 'TABLE', 'nowhere';
GO
EXEC sp_addextendedproperty 'p', 'x', 'SCHEMA', 'dbo', 'VIEW', 't';
GO
EXEC sp_addextendedproperty 'p', 'x', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'z';
GO
EXEC sp_addextendedproperty 'p', 'x', 'SCHEMA', 'sys';
GO
EXEC sp_addextendedproperty 'p', 'x', 'SCHEMA', 'dbo', 'TYPE', 'short', 'COLUMN', 'z';
GO
EXEC sp_addextendedproperty 'p', 'x', 'PLANET', 'dbo';
GO
EXEC sp_addextendedproperty 'p', 'x', 'SCHEMA', 'dbo', 'TABLE';
GO
EXEC sp_addextendedproperty 'p', 'x', @level1type = 'TABLE', @level1name = 't';
GO
EXEC sp_addextendedproperty NULL, 'x';
GO
DECLARE @long nvarchar(4000) = REPLICATE(N'x', 3751);
EXEC sp_addextendedproperty 'p', @long;
GO
DECLARE @narrow varchar(8000) = REPLICATE('x', 7500);
EXEC sp_addextendedproperty 'narrow', @narrow;
SELECT SQL_VARIANT_PROPERTY(value, 'BaseType') AS type, LEN(CAST(value AS varchar(8000))) AS length FROM sys.extended_properties WHERE name = 'narrow';
EXEC sp_dropextendedproperty 'narrow';
GO
DECLARE @narrow varchar(8000) = REPLICATE('x', 7501);
EXEC sp_addextendedproperty 'p', @narrow;
GO
EXEC sp_addextendedproperty;
GO
-- A rollback takes back what was done.
BEGIN TRANSACTION;
EXEC sp_addextendedproperty 'undone', 'x', 'SCHEMA', 'side';
EXEC sp_updateextendedproperty 'version', '2.0';
EXEC sp_dropextendedproperty 'MS_Description', 'SCHEMA', 'dbo', 'TABLE', 't';
SELECT name, value FROM dbo.properties WHERE class IN (0, 3) OR of_what = 't' AND part = '' ORDER BY class, name;
ROLLBACK;
SELECT name, value FROM dbo.properties WHERE class IN (0, 3) OR of_what = 't' AND part = '' ORDER BY class, name;
GO
-- Columns keep theirs when others go before them, indexes and constraints go with theirs.
ALTER TABLE dbo.t DROP CONSTRAINT d_a;
ALTER TABLE dbo.t DROP COLUMN a;
ALTER TABLE dbo.t ADD x int CONSTRAINT d_x DEFAULT 7;
EXEC sp_addextendedproperty 'MS_Description', 'default of x', 'SCHEMA', 'dbo', 'TABLE', 't', 'CONSTRAINT', 'd_x';
DROP INDEX ix ON dbo.t;
ALTER TABLE dbo.t DROP COLUMN b;
CREATE INDEX other ON dbo.t (x);
ALTER TABLE dbo.t ADD z int;
EXEC sp_addextendedproperty 'MS_Description', 'column z', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'z';
ALTER TABLE dbo.t ALTER COLUMN z bigint NULL;
EXEC sp_rename 'dbo.t.z', 'renamed', 'COLUMN';
EXEC sp_rename 'dbo.t', 'u';
SELECT * FROM dbo.properties WHERE class IN (1, 7) AND of_what NOT IN ('s', 'n', 'v', 'p', 'f') ORDER BY of_what, part, name;
GO
-- What is dropped takes its own along.
DROP TABLE dbo.u;
DROP SEQUENCE dbo.s;
DROP TYPE dbo.short;
DROP SYNONYM dbo.n;
DROP VIEW side.v;
DROP PROCEDURE side.p;
DROP FUNCTION side.f;
DROP SCHEMA side;
DROP USER ann;
SELECT class, major_id, minor_id, name, value FROM sys.extended_properties;
EXEC sp_dropextendedproperty 'version';
SELECT COUNT(*) AS properties FROM sys.extended_properties;
GO
-- The alteration of a module, and a move to another schema.
CREATE TABLE dbo.w (a int);
GO
CREATE SCHEMA far;
GO
CREATE PROCEDURE dbo.q AS RETURN 1;
GO
EXEC sp_addextendedproperty 'kept', 'procedure', 'SCHEMA', 'dbo', 'PROCEDURE', 'q';
EXEC sp_addextendedproperty 'kept', 'table', 'SCHEMA', 'dbo', 'TABLE', 'w';
EXEC sp_addextendedproperty 'kept', 'column', 'SCHEMA', 'dbo', 'TABLE', 'w', 'COLUMN', 'a';
GO
ALTER PROCEDURE dbo.q AS RETURN 2;
GO
ALTER SCHEMA far TRANSFER dbo.w;
TRUNCATE TABLE far.w;
SELECT name, value, of_what, part FROM dbo.properties ORDER BY value;
GO
-- Of columns of views.
CREATE VIEW dbo.described AS SELECT 1 AS a, 2 AS b, 3 AS c;
GO
EXEC sp_addextendedproperty 'MS_Description', N'the first', 'SCHEMA', 'dbo', 'VIEW', 'described', 'COLUMN', 'a';
EXEC sp_addextendedproperty 'MS_Description', N'the second', 'SCHEMA', 'dbo', 'VIEW', 'described', 'COLUMN', 'b';
EXEC sp_addextendedproperty 'MS_Description', N'the third', 'SCHEMA', 'dbo', 'VIEW', 'described', 'COLUMN', 'c';
EXEC sp_updateextendedproperty 'MS_Description', N'the 1st', 'SCHEMA', 'dbo', 'VIEW', 'described', 'COLUMN', 'a';
SELECT objtype, objname, name, value FROM fn_listextendedproperty(DEFAULT, 'SCHEMA', 'dbo', 'VIEW', 'described', 'COLUMN', DEFAULT);
SELECT class, minor_id, value FROM sys.extended_properties WHERE major_id = OBJECT_ID('dbo.described') ORDER BY minor_id;
EXEC sp_addextendedproperty 'MS_Description', N'none', 'SCHEMA', 'dbo', 'VIEW', 'described', 'COLUMN', 'd';
GO
ALTER VIEW dbo.described AS SELECT 3 AS c, 1 AS a;
GO
SELECT c.name, p.value FROM sys.extended_properties AS p JOIN sys.columns AS c ON c.object_id = p.major_id AND c.column_id = p.minor_id WHERE p.major_id = OBJECT_ID('dbo.described') ORDER BY c.column_id;
DROP VIEW dbo.described;
SELECT COUNT(*) AS left_over FROM sys.extended_properties WHERE CONVERT(nvarchar(20), value) LIKE N'the %';
GO
-- Blanks at the end of names and types say nothing.
CREATE TABLE dbo.blanks (a int);
EXEC sp_addextendedproperty 'kept', 'v', 'SCHEMA ', 'dbo ', 'TABLE ', 'blanks ', 'COLUMN ', 'a ';
SELECT objtype, objname, name, value FROM fn_listextendedproperty('kept ', 'SCHEMA ', 'dbo ', 'TABLE ', 'blanks ', 'COLUMN ', 'a ');
DROP TABLE dbo.blanks;
GO
