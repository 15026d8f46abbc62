-- A type's second name is kept where it was declared with it, and is its first in all that is computed.
CREATE TYPE dbo.amount FROM numeric(8, 2);
CREATE TABLE dbo.old (
    id numeric(10, 0) IDENTITY PRIMARY KEY, t text, n ntext, i image, s sysname, maybe sysname NULL, d decimal(10, 2), m numeric(10, 2),
    a dbo.amount
);
GO
SELECT c.name, TYPE_NAME(c.user_type_id) AS type, c.system_type_id, c.user_type_id, c.max_length, c.precision, c.scale, c.is_nullable
FROM sys.columns AS c WHERE c.object_id = OBJECT_ID('dbo.old') ORDER BY c.column_id;
SELECT COLUMN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, IS_NULLABLE
FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'old' ORDER BY ORDINAL_POSITION;
SELECT name, xtype, xusertype, length FROM sys.syscolumns WHERE id = OBJECT_ID('dbo.old') ORDER BY colid;
GO
SELECT t.name, t.system_type_id, t.user_type_id, t.max_length, t.precision, t.is_nullable
FROM sys.types AS t WHERE t.name IN ('text', 'ntext', 'image', 'numeric', 'sysname') ORDER BY t.name;
SELECT TYPE_ID('text') AS a, TYPE_ID('NTEXT') AS b, TYPE_ID('sys.image') AS c, TYPE_ID('numeric') AS d, TYPE_ID('sysname') AS e;
GO
EXEC sp_columns 'old', 'dbo';
EXEC sp_help 'dbo.old';
EXEC sp_help 'ntext';
GO
INSERT dbo.old (t, n, i, s, d, m, a) VALUES ('a text', N'ein Täxt', 0x0102, N'name', 1.5, 2.5, 3.5);
SELECT id, CAST(t AS varchar(max)) + '!' AS t, DATALENGTH(n) AS n, DATALENGTH(i) AS i, s, maybe, d + m AS sum, a FROM dbo.old;
INSERT dbo.old (s) VALUES (NULL);
GO
-- Parameters and results too; another ALTER COLUMN changes the name with the type, or alone.
CREATE PROCEDURE dbo.takes @t text, @m numeric(5, 1), @s sysname AS SELECT @t AS t, @m AS m, @s AS s;
GO
CREATE FUNCTION dbo.half (@m numeric(5, 1)) RETURNS numeric(6, 2) AS BEGIN RETURN @m / 2 END;
GO
SELECT OBJECT_NAME(object_id) AS of_what, name, TYPE_NAME(system_type_id) AS system, TYPE_NAME(user_type_id) AS type, max_length
FROM sys.parameters ORDER BY of_what, parameter_id;
SELECT SPECIFIC_NAME, PARAMETER_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH FROM INFORMATION_SCHEMA.PARAMETERS ORDER BY 1, 2;
SELECT ROUTINE_NAME, DATA_TYPE, NUMERIC_PRECISION FROM INFORMATION_SCHEMA.ROUTINES ORDER BY 1;
EXEC sp_sproc_columns 'takes';
ALTER TABLE dbo.old ALTER COLUMN t varchar(max);
ALTER TABLE dbo.old ALTER COLUMN d numeric(10, 2);
ALTER TABLE dbo.old ADD late text NULL;
SELECT name, TYPE_NAME(user_type_id) AS type FROM sys.columns WHERE object_id = OBJECT_ID('dbo.old') ORDER BY column_id;
GO
-- Names of temporary tables, of variables and of types.
CREATE TABLE #old (n ntext);
SELECT TYPE_NAME(user_type_id) AS type FROM tempdb.sys.columns WHERE object_id = OBJECT_ID('tempdb..#old');
DECLARE @old TABLE (n ntext, s sysname);
INSERT @old VALUES (N'a', N'b');
SELECT n, s FROM @old;
DECLARE @s sysname = NULL;
SELECT @s AS s;
GO
CREATE TYPE dbo.shape AS TABLE (t text, m numeric(3, 1));
GO
SELECT c.name, TYPE_NAME(c.user_type_id) AS type FROM sys.columns AS c JOIN sys.table_types AS t ON t.type_table_object_id = c.object_id;
DECLARE @shape dbo.shape;
INSERT @shape VALUES ('x', 1.25);
SELECT t, m FROM @shape;
GO
DROP PROCEDURE dbo.takes;
DROP FUNCTION dbo.half;
DROP TYPE dbo.shape;
DROP TABLE dbo.old;
GO
-- What tools that read a schema ask about each column.
CREATE TABLE dbo.asked (id int NOT NULL, t text NULL, n ntext NULL, v varchar(max) NULL, m numeric(10, 3) NULL, f float NULL, d datetime2(3) NULL);
SELECT c.name, COLUMNPROPERTY(c.object_id, c.name, 'ordinal') AS ordinal, COLUMNPROPERTY(c.object_id, c.name, 'charmaxlen') AS characters,
    COL_LENGTH('dbo.asked', c.name) AS length, ODBCSCALE(c.system_type_id, c.scale) AS scale
FROM sys.columns AS c WHERE c.object_id = OBJECT_ID('dbo.asked') ORDER BY c.column_id;
SELECT ODBCSCALE(NULL, 1) AS a, ODBCSCALE(1, 1) AS b, ODBCSCALE(60, 4) AS money, ODBCSCALE(104, 0) AS bit;
DROP TABLE dbo.asked;
GO
-- Results say it too, and so do tables made of them: constants are numeric, conversions what was written.
EXEC sp_describe_first_result_set N'SELECT 1.5 AS n, CAST(1 AS decimal(5, 2)) AS d, CAST(1 AS numeric(5, 2)) AS m';
SELECT 1.5 AS n, CAST(1 AS decimal(5, 2)) AS d, CAST(1 AS numeric(5, 2)) + 1 AS m INTO dbo.made;
SELECT name, TYPE_NAME(user_type_id) AS type, precision FROM sys.columns WHERE object_id = OBJECT_ID('dbo.made') ORDER BY column_id;
DROP TABLE dbo.made;
GO
