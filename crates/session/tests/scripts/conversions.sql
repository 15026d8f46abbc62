-- Overflow on the way from one type to another, precision as a name, and branches that are not taken.
DECLARE @t tinyint = 300;
GO
DECLARE @s smallint;
SET @s = -32769;
PRINT 'goes on';
GO
SELECT CAST(-1 AS tinyint) AS x;
GO
SELECT CAST(CAST(256 AS smallint) AS tinyint) AS x;
GO
SELECT CAST(CAST(300 AS bigint) AS tinyint) AS x;
GO
SELECT CAST(CAST(3000000000 AS bigint) AS int) AS x;
GO
DECLARE @a tinyint = 200, @b tinyint = 100;
SELECT @a + @b AS x;
GO
DECLARE @a smallint = 30000;
SELECT @a + @a AS x;
GO
SELECT CAST(300.5 AS tinyint) AS x;
GO
SELECT CAST(3e2 AS tinyint) AS x;
GO
SELECT CAST(4e4 AS smallint) AS x;
GO
SELECT CAST(1e10 AS int) AS x;
GO
SELECT CAST(1e30 AS bigint) AS x;
GO
SELECT CAST('300' AS tinyint) AS x;
GO
SELECT CAST('40000' AS smallint) AS x;
GO
SELECT CAST('3000000000' AS int) AS x;
GO
SELECT TRY_CAST(300 AS tinyint) AS tiny, TRY_CONVERT(smallint, 40000) AS small, TRY_CAST('x' AS int) AS word;
GO
CREATE TABLE dbo.n (id int NOT NULL PRIMARY KEY, tiny tinyint NULL, small smallint NULL, exact decimal(4, 1) NULL);
INSERT dbo.n VALUES (1, 255, 32767, 999.9);
INSERT dbo.n (id, tiny) VALUES (2, 256);
INSERT dbo.n (id, small) VALUES (2, 32768);
INSERT dbo.n (id, exact) VALUES (2, 1000);
UPDATE dbo.n SET tiny = tiny + 1;
UPDATE dbo.n SET small = small - 1;
SELECT * FROM dbo.n;
GO
-- PRECISION is a reserved word that scripts use as the name it is in the catalog.
SELECT c.name, c.precision, c.scale FROM sys.columns AS c WHERE c.object_id = OBJECT_ID('dbo.n') AND c.precision > 0 ORDER BY c.column_id;
SELECT name, precision, scale FROM sys.types WHERE name = 'decimal';
DECLARE @d double precision = 1.5;
SELECT @d AS precision;
GO
SELECT n.key FROM dbo.n;
GO
-- What a branch that is not taken would do does not happen.
SELECT CASE WHEN id = 1 THEN 'one' ELSE (SELECT CAST(1 / (id - id) AS varchar(5))) END AS name FROM dbo.n;
SELECT IIF(1 = 1, 2, (SELECT 1 / 0)) AS two, COALESCE(3, (SELECT 1 / 0)) AS three;
SELECT CASE WHEN id = 2 THEN 'two' ELSE (SELECT CAST(1 / (id - id) AS varchar(5))) END AS name FROM dbo.n;
GO
-- Subqueries over the table that is changed see it as it was before the statement.
INSERT dbo.n (id, small) VALUES (2, 1), (3, 1), (4, 2);
UPDATE dbo.n SET small = (SELECT COUNT(*) FROM dbo.n AS o WHERE o.id < n.id);
SELECT id, small FROM dbo.n;
UPDATE dbo.n SET small = id / 3;
DELETE dbo.n WHERE (SELECT COUNT(*) FROM dbo.n AS o WHERE o.small = n.small) > 1;
SELECT id, small FROM dbo.n;
GO
DECLARE @rows TABLE (id int);
INSERT @rows VALUES (1);
GO
DROP TABLE dbo.n;
GO
-- What would be rounded beyond the last of its type is cut off there. Seven digits of a second are read, and no more.
SELECT CAST('23:59:59.9999999' AS time(0)) AS zero, CAST('23:59:59.9999999' AS time(4)) AS four, CAST('23:59:59.9999999' AS time) AS seven;
SELECT CAST(CAST('23:59:59.9999999' AS time) AS time(3)) AS three, CAST('2024-02-29 23:59:59.9999999' AS datetime2(0)) AS next_day;
SELECT CAST('9999-12-31 23:59:59.9999999' AS datetime2(3)) AS last, CAST('9999-12-31 23:59:59.9999999 +00:00' AS datetimeoffset(0)) AS last_of_all;
SELECT CAST('2024-01-01T00:00:00.1234567Z' AS datetimeoffset) AS seven, TRY_CAST('2024-01-01T00:00:00.123456789Z' AS datetimeoffset) AS nine;
SELECT CAST('10:00:00.1234567890' AS time) AS ten;
GO
SELECT CAST('2024-01-01 00:00:00.123456789' AS datetime) AS nine;
GO
