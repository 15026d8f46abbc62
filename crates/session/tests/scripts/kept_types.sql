-- What SELECT ... INTO and views keep of the types of columns.
CREATE TYPE phone FROM varchar(20) NOT NULL;
GO
CREATE TABLE people (id int NOT NULL, number phone, other phone NULL, label sysname, amount numeric(9, 2) NULL);
INSERT people VALUES (1, '12', NULL, 'l', 1.5);
GO
CREATE VIEW shown AS SELECT number, other AS second, label, UPPER(number) AS derived FROM people;
GO
CREATE VIEW again AS SELECT number AS n FROM shown;
GO
SELECT * INTO copied FROM people;
SELECT number, second, derived INTO from_view FROM shown;
SELECT number INTO #copied FROM people;
WITH c AS (SELECT number AS x FROM people) SELECT x INTO from_common FROM c;
SELECT number AS x INTO united FROM people UNION ALL SELECT other FROM people;
SELECT OBJECT_NAME(object_id) AS of_what, name, TYPE_NAME(user_type_id) AS type, TYPE_NAME(system_type_id) AS stored, is_nullable FROM sys.columns
WHERE object_id IN (OBJECT_ID('copied'), OBJECT_ID('from_view'), OBJECT_ID('from_common'), OBJECT_ID('united'), OBJECT_ID('shown'), OBJECT_ID('again')) ORDER BY 1, column_id;
SELECT TABLE_NAME, COLUMN_NAME, DOMAIN_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'copied' AND DOMAIN_NAME IS NOT NULL;
SELECT number FROM #copied;
GO
-- Rowversions are copied with their column.
CREATE TABLE versions (a int NOT NULL, v rowversion);
INSERT versions (a) VALUES (1), (2);
SELECT * INTO copies FROM versions;
SELECT v AS w, a INTO #copies FROM versions WHERE a = 2;
SELECT TYPE_NAME(user_type_id) AS type, is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('copies') AND name = 'v';
SELECT COUNT(*) AS same FROM versions AS x JOIN copies AS y ON y.a = x.a AND y.v = x.v;
SELECT COUNT(*) AS same FROM versions AS x JOIN #copies AS y ON y.a = x.a AND y.w = x.v;
UPDATE copies SET a = 3 WHERE a = 2;
INSERT copies (a) VALUES (4);
SELECT COUNT(DISTINCT v) AS kinds, COUNT(*) AS rows, (SELECT COUNT(*) FROM copies WHERE v > (SELECT MAX(v) FROM versions)) AS newer FROM copies;
SELECT CONVERT(binary(8), v) AS b INTO plain FROM versions;
SELECT TYPE_NAME(user_type_id) AS type FROM sys.columns WHERE object_id = OBJECT_ID('plain');
GO
INSERT copies VALUES (5, 0x01);
GO
SELECT x.v, y.v AS w INTO two FROM versions AS x CROSS JOIN versions AS y;
GO
CREATE TABLE two (a rowversion, b timestamp);
GO
-- Where it is known which text is taken, that is how long the text is.
SELECT CASE WHEN 1 = 1 THEN 'ab' ELSE 'abcde' END AS a, COALESCE(N'ab', 'abcde') AS b, COALESCE('ab', N'abcde') AS c,
    IIF(1 = 1, CAST('a' AS char(5)), CAST('b' AS varchar(2))) AS d, CASE WHEN 1 = 0 THEN 'x' WHEN 2 = 2 THEN 'yy' END AS e,
    CASE WHEN 1 = 1 THEN 1 ELSE 2.5 END AS f, COALESCE(NULL, 'xyz', 'abcde') AS g, CASE WHEN id = 1 THEN 'ab' ELSE 'abcde' END AS h
INTO settled FROM people;
SELECT name, TYPE_NAME(user_type_id) AS type, max_length FROM sys.columns WHERE object_id = OBJECT_ID('settled') ORDER BY column_id;
SELECT * FROM settled;
GO
CREATE VIEW of_temporary AS SELECT number FROM #copied;
GO
SELECT DATEADD(day, 9999999999, GETDATE());
GO
DECLARE @n bigint = 3000000000;
SELECT DATEADD(year, @n, CAST('20240101' AS date));
GO
