-- text, ntext and image: what can be done with them, and what is refused.
CREATE TABLE dbo.notes (id int NOT NULL PRIMARY KEY, t text NULL, n ntext NULL, i image NULL, v varchar(20) NULL);
GO
INSERT dbo.notes VALUES (1, 'first note', N'erste Notiz é', 0x0102030405, 'v'), (2, NULL, NULL, NULL, NULL);
INSERT dbo.notes (id, t, n, i) SELECT 3, REPLICATE(CAST('ab' AS varchar(max)), 5000), REPLICATE(CAST(N'ü' AS nvarchar(max)), 5000), CAST('bytes' AS varbinary(10));
SELECT id, t, n, i FROM dbo.notes WHERE id < 3;
SELECT id, DATALENGTH(t) AS t, DATALENGTH(n) AS n, DATALENGTH(i) AS i FROM dbo.notes ORDER BY id;
SELECT SUBSTRING(t, 1, 5) AS t, SUBSTRING(n, 7, 100) AS n, SUBSTRING(i, 2, 2) AS i FROM dbo.notes WHERE id = 1;
SELECT LEN(SUBSTRING(t, 1, 20000)) AS t, LEN(SUBSTRING(n, 2, 20000)) AS n, SQL_VARIANT_PROPERTY(SUBSTRING(i, 1, 1), 'BaseType') AS i FROM dbo.notes WHERE id = 3;
SELECT id FROM dbo.notes WHERE t LIKE '%note' OR n LIKE N'ü%' ORDER BY id;
SELECT id FROM dbo.notes WHERE t IS NULL AND n IS NULL AND i IS NULL;
SELECT PATINDEX('%note%', t) AS p, CHARINDEX('note', t) AS c, PATINDEX(N'%é%', n) AS n, CHARINDEX('Notiz', n, 3) AS m FROM dbo.notes WHERE id = 1;
SELECT CAST(t AS varchar(5)) AS a, CONVERT(nvarchar(max), t) AS b, CAST(n AS varchar(20)) AS c, CAST(i AS varbinary(3)) AS d, CAST(t AS ntext) AS e, CAST('x' AS text) AS f
FROM dbo.notes WHERE id = 1;
SELECT ISNULL(t, 'none') AS t, COALESCE(n, N'none') AS n, CASE WHEN id = 1 THEN t ELSE 'else' END AS c FROM dbo.notes WHERE id < 3 ORDER BY id;
SELECT CAST(CAST('<a/>' AS text) AS xml) AS x;
DECLARE @v varchar(30), @n nvarchar(max);
SELECT @v = t, @n = n FROM dbo.notes WHERE id = 1;
SELECT @v AS v, @n AS n;
GO
UPDATE dbo.notes SET t = 'changed', n = t, v = t WHERE id = 1;
UPDATE dbo.notes SET t = CAST('n' AS nvarchar(max)), i = 'abc' WHERE id = 2;
SELECT id, t, n, i, v FROM dbo.notes WHERE id < 3;
GO
-- No comparison, no order, no groups.
SELECT id FROM dbo.notes WHERE t = 'changed';
GO
SELECT id FROM dbo.notes WHERE t = n;
GO
SELECT id FROM dbo.notes WHERE id <> i;
GO
SELECT id FROM dbo.notes WHERE t IN ('a', 'b');
GO
SELECT id FROM dbo.notes WHERE n BETWEEN 'a' AND 'b';
GO
SELECT id FROM dbo.notes WHERE 'a' IN (SELECT t FROM dbo.notes);
GO
SELECT NULLIF(t, 'a') FROM dbo.notes;
GO
SELECT id FROM dbo.notes ORDER BY t;
GO
SELECT COUNT(*) FROM dbo.notes GROUP BY i;
GO
SELECT DISTINCT id, n FROM dbo.notes;
GO
SELECT t FROM dbo.notes UNION SELECT t FROM dbo.notes;
GO
SELECT t FROM dbo.notes WHERE id = 1 UNION ALL SELECT t FROM dbo.notes WHERE id = 2;
GO
-- No operators, few functions, few conversions.
SELECT t + 'x' FROM dbo.notes;
GO
SELECT t + t FROM dbo.notes;
GO
SELECT LEN(t) FROM dbo.notes;
GO
SELECT UPPER(n) FROM dbo.notes;
GO
SELECT REPLACE('x', 'y', t) FROM dbo.notes;
GO
SELECT LEFT(i, 1) FROM dbo.notes;
GO
SELECT OBJECT_ID(t) FROM dbo.notes;
GO
SELECT PATINDEX('a', i) FROM dbo.notes;
GO
SELECT id FROM dbo.notes WHERE i LIKE 'a';
GO
SELECT COUNT(t) FROM dbo.notes;
GO
SELECT MAX(n) FROM dbo.notes;
GO
SELECT STRING_AGG(t, ',') FROM dbo.notes;
GO
SELECT CAST(t AS int) FROM dbo.notes;
GO
SELECT CAST(i AS varchar(10)) FROM dbo.notes;
GO
SELECT CAST(1 AS text);
GO
SELECT CAST(0x01 AS ntext);
GO
INSERT dbo.notes (id, t) VALUES (9, 1);
GO
INSERT dbo.notes (id, i) VALUES (9, N'x');
GO
SELECT CAST(t AS sql_variant) FROM dbo.notes;
GO
UPDATE dbo.notes SET t.WRITE('x', 0, 1);
GO
-- No variables, no keys.
DECLARE @t text;
GO
CREATE PROCEDURE dbo.sets @t text AS SET @t = 'x';
GO
CREATE PROCEDURE dbo.takes @id int, @t text, @i image = NULL AS
INSERT dbo.notes (id, t, i) VALUES (@id, @t, @i);
SELECT @t AS t, DATALENGTH(@i) AS i;
GO
EXEC dbo.takes 4, 'four', 0x01;
EXEC dbo.takes @id = 5, @t = N'five';
EXEC dbo.takes 6, 6;
GO
EXEC sp_executesql N'SELECT @p AS p, DATALENGTH(@p) AS l', N'@p ntext', @p = N'text';
GO
CREATE INDEX by_t ON dbo.notes (t);
GO
CREATE INDEX by_v ON dbo.notes (v) INCLUDE (n);
GO
CREATE TABLE dbo.keyed (t text PRIMARY KEY);
GO
-- ALTER COLUMN to what has come in their place, and to nothing else.
ALTER TABLE dbo.notes ALTER COLUMN t int;
GO
CREATE TABLE becoming (v varchar(20), b varbinary(9), n int)
INSERT becoming VALUES ('kept', 0x01, 1)
ALTER TABLE becoming ALTER COLUMN v text
ALTER TABLE becoming ALTER COLUMN b image NOT NULL
ALTER TABLE becoming ALTER COLUMN v text NOT NULL
SELECT v, b, COLUMNPROPERTY(OBJECT_ID('becoming'), 'v', 'AllowsNull') AS nullable FROM becoming
ALTER TABLE becoming ALTER COLUMN n text
DROP TABLE becoming
GO
ALTER TABLE dbo.notes ALTER COLUMN i varchar(max);
GO
CREATE TABLE dbo.renewed (t text, n ntext, i image);
INSERT dbo.renewed VALUES ('a', N'b', 0x0C);
ALTER TABLE dbo.renewed ALTER COLUMN t varchar(max);
ALTER TABLE dbo.renewed ALTER COLUMN n nvarchar(max);
ALTER TABLE dbo.renewed ALTER COLUMN i varbinary(max);
SELECT t + 'x' AS t, UPPER(n) AS n, i FROM dbo.renewed;
GO
-- An AFTER trigger sees none of them; one INSTEAD OF does.
CREATE TRIGGER dbo.after_notes ON dbo.notes AFTER INSERT AS SELECT id, t FROM inserted;
GO
CREATE TRIGGER dbo.after_notes ON dbo.notes AFTER INSERT AS SELECT * FROM inserted;
GO
CREATE TRIGGER dbo.after_notes ON dbo.notes AFTER INSERT AS SELECT id, v FROM inserted;
GO
INSERT dbo.notes (id, t, v) VALUES (7, 'x', 'seen');
DROP TRIGGER dbo.after_notes;
GO
-- SET TEXTSIZE, and what the catalog and the metadata say.
SET TEXTSIZE 4;
SELECT t, n, i FROM dbo.notes WHERE id = 3;
SET TEXTSIZE -1;
EXEC sp_tableoption 'dbo.notes', 'text in row', 'on';
EXEC sp_tableoption 'dbo.notes', 'text in row', '2000';
EXEC sp_describe_first_result_set N'SELECT t, n, i FROM dbo.notes';
SELECT name, system_type_id, user_type_id, max_length, collation_name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.notes') ORDER BY column_id;
SELECT * INTO dbo.copied FROM dbo.notes WHERE id = 1;
SELECT COLUMN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, COLLATION_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'copied';
CREATE TYPE dbo.memo FROM text;
GO
CREATE TABLE dbo.memos (m dbo.memo);
INSERT dbo.memos VALUES ('memo');
SELECT m FROM dbo.memos WHERE m LIKE 'm%';
SELECT m FROM dbo.memos WHERE m = 'memo';
GO
