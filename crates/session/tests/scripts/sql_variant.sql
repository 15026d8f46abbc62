-- sql_variant: values that bring their types along.
CREATE TABLE v (id int PRIMARY KEY, x sql_variant, y sql_variant NOT NULL DEFAULT 5);
SET NOCOUNT ON;
INSERT v (id, x) VALUES (1, 42);
INSERT v (id, x) VALUES (2, CAST(7 AS tinyint));
INSERT v (id, x) VALUES (3, 1.50);
INSERT v (id, x) VALUES (4, N'text');
INSERT v (id, x) VALUES (5, 'text');
INSERT v (id, x) VALUES (6, CAST('2024-01-31' AS date));
INSERT v (id, x) VALUES (7, CAST('10:20:30.5' AS time(1)));
INSERT v (id, x) VALUES (8, CAST('2024-01-31 10:20' AS datetime2(3)));
INSERT v (id, x) VALUES (9, 0x0102);
INSERT v (id, x) VALUES (10, $2.5);
INSERT v (id, x) VALUES (11, CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier));
INSERT v (id, x) VALUES (12, NULL);
INSERT v (id, x) VALUES (13, CAST(1 AS bit));
INSERT v (id, x) VALUES (14, 1e2);
INSERT v (id, x) VALUES (15, CAST('x' AS char(4)));
INSERT v (id, x) VALUES (16, CAST(42 AS bigint));
INSERT v (id, x) VALUES (17, CAST(0.25 AS real));
INSERT v (id, x) VALUES (18, SYSDATETIMEOFFSET());
SET NOCOUNT OFF;
SELECT id, SQL_VARIANT_PROPERTY(x, 'BaseType') AS type, SQL_VARIANT_PROPERTY(x, 'Precision') AS p, SQL_VARIANT_PROPERTY(x, 'Scale') AS s,
    SQL_VARIANT_PROPERTY(x, 'TotalBytes') AS total, SQL_VARIANT_PROPERTY(x, 'MaxLength') AS most, SQL_VARIANT_PROPERTY(x, 'Collation') AS c,
    DATALENGTH(x) AS bytes FROM v ORDER BY id;
SELECT id, x, y FROM v WHERE id < 18 ORDER BY id;
-- Families first, then values; equal numbers of different types are one.
SELECT id FROM v ORDER BY x, id;
SELECT COUNT(DISTINCT x) AS different, COUNT(x) AS there FROM v;
SELECT x, COUNT(*) AS n FROM v WHERE id IN (1, 4, 5, 16) GROUP BY x ORDER BY n, x;
SELECT id FROM v WHERE x = 42 ORDER BY id;
SELECT id FROM v WHERE x = '42';
SELECT id FROM v WHERE x > 'a' AND x < CAST('1900-01-01' AS datetime) ORDER BY id;
SELECT MIN(x) AS least, MAX(x) AS most FROM v WHERE id < 18;
SELECT a.id, b.id FROM v AS a JOIN v AS b ON a.x = b.x AND a.id < b.id ORDER BY a.id;
GO
-- Conversions.
SELECT CAST(x AS int) + 1 AS n, CONVERT(varchar(10), x) AS t FROM v WHERE id IN (1, 2, 10, 13) ORDER BY id;
SELECT CAST(x AS nvarchar(max)) AS t, TRY_CAST(x AS int) AS n FROM v WHERE id IN (3, 4, 6) ORDER BY id;
SELECT CONVERT(varchar(20), x, 103) AS t FROM v WHERE id = 6;
SELECT CASE WHEN id = 1 THEN x ELSE 'other' END AS mixed, COALESCE(x, 0) AS c, ISNULL(x, N'none') AS n FROM v WHERE id IN (1, 12) ORDER BY id;
SELECT x FROM v WHERE id = 1 UNION ALL SELECT 'text' UNION ALL SELECT GETDATE() WHERE 1 = 0;
DECLARE @v sql_variant = 5, @n int, @t nvarchar(10);
SELECT @v AS v, SQL_VARIANT_PROPERTY(@v, 'BaseType') AS type;
SET @v = N'five';
SELECT @v AS v, SQL_VARIANT_PROPERTY(@v, 'BaseType') AS type, SQL_VARIANT_PROPERTY(@v, 'MaxLength') AS most;
SET @n = CAST(CAST(6 AS sql_variant) AS int);
SELECT @n AS n;
UPDATE v SET x = id * 2 WHERE id = 12;
SELECT x FROM v WHERE id = 12;
SELECT SQL_VARIANT_PROPERTY(1.5, 'Scale') AS scale, SQL_VARIANT_PROPERTY(NULL, 'BaseType') AS nothing, SQL_VARIANT_PROPERTY(1, 'Colour') AS unknown;
GO
CREATE PROCEDURE p @x sql_variant, @out sql_variant OUTPUT AS
BEGIN
    SET @out = @x;
    SELECT SQL_VARIANT_PROPERTY(@x, 'BaseType') AS type;
END;
GO
CREATE FUNCTION f (@x sql_variant) RETURNS sql_variant AS BEGIN RETURN COALESCE(@x, N'none') END;
GO
DECLARE @out sql_variant;
EXEC p 1.25, @out OUTPUT;
SELECT @out AS out, dbo.f(NULL) AS none, dbo.f(CAST('20240131' AS date)) AS date;
EXEC sp_executesql N'SELECT @p AS p, SQL_VARIANT_PROPERTY(@p, ''BaseType'') AS type', N'@p sql_variant', @p = 3;
GO
-- What it does not do.
DECLARE @v sql_variant = 1, @n int;
SET @n = @v;
GO
SELECT CAST(1 AS sql_variant) + 1;
GO
SELECT CAST(1 AS sql_variant) + CAST(1 AS sql_variant);
GO
SELECT LEN(CAST('a' AS sql_variant));
GO
SELECT SUM(x) FROM v;
GO
SELECT id FROM v WHERE x LIKE 't%';
GO
SELECT CAST(CAST(1 AS sql_variant) AS date);
GO
DECLARE @v sql_variant = CAST('a' AS varchar(max));
GO
INSERT v (id, x) VALUES (99, CAST('a' AS nvarchar(max)));
GO
SELECT CAST(x AS int) FROM v WHERE id = 4;
GO
CREATE TABLE bad (a sql_variant(10));
GO
-- What the catalog says.
SELECT c.name, t.name AS type, c.system_type_id, c.max_length, c.precision, c.scale, c.collation_name FROM sys.columns AS c
    JOIN sys.types AS t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('v') ORDER BY c.column_id;
SELECT COLUMN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'v' ORDER BY ORDINAL_POSITION;
SELECT name, system_type_id, user_type_id, max_length, precision, scale, collation_name FROM sys.types WHERE name = 'sql_variant';
SELECT TYPE_ID('sql_variant') AS id, TYPE_NAME(98) AS name, COL_LENGTH('v', 'x') AS length;
EXEC sp_columns 'v';
SELECT SQL_VARIANT_PROPERTY(SERVERPROPERTY('EngineEdition'), 'BaseType') AS edition, SQL_VARIANT_PROPERTY(SERVERPROPERTY('ProductVersion'), 'BaseType') AS version,
    CAST(SERVERPROPERTY('ProductMajorVersion') AS int) AS major, SQL_VARIANT_PROPERTY(DATABASEPROPERTYEX('master', 'Version'), 'BaseType') AS db;
SELECT CASE WHEN SERVERPROPERTY('EngineEdition') = 3 AND SERVERPROPERTY('EngineEdition') IN (2, 3, 5) THEN 'yes' END AS enterprise;
SELECT name, SQL_VARIANT_PROPERTY(value, 'BaseType') AS type FROM sys.configurations WHERE name = 'show advanced options';
-- A row has room for what it is, in bytes of UTF-8; other long values leave it.
CREATE TABLE long (x sql_variant, t nvarchar(4000));
INSERT long VALUES (REPLICATE(CAST(N'€' AS nvarchar(4000)), 2500), REPLICATE(N'y', 4000));
INSERT long VALUES (REPLICATE('z', 8000), NULL), (REPLICATE('z', 4000), REPLICATE('y', 4000));
SELECT DATALENGTH(x) AS bytes, LEN(t) AS length, SQL_VARIANT_PROPERTY(x, 'BaseType') AS type FROM long ORDER BY bytes;
INSERT long VALUES (REPLICATE(CAST(N'€' AS nvarchar(4000)), 4000), NULL);
GO
-- Rows survive what tables go through.
ALTER TABLE v ADD z sql_variant NULL;
GO
UPDATE v SET z = y WHERE id < 3;
SELECT id, x, z INTO w FROM v WHERE id < 5;
SELECT id, x, SQL_VARIANT_PROPERTY(x, 'BaseType') AS type, z FROM w ORDER BY id;
DECLARE @many TABLE (x sql_variant);
INSERT @many SELECT x FROM v;
SELECT COUNT(*) AS n FROM @many;
SELECT x FROM v WHERE id IN (1, 4) ORDER BY id FOR JSON PATH;
ALTER TABLE w ALTER COLUMN id sql_variant;
GO
SELECT id, SQL_VARIANT_PROPERTY(id, 'BaseType') AS type FROM w ORDER BY id;
