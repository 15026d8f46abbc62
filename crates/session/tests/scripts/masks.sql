-- Masks of columns: what who may not see the values sees, by function and by type.
CREATE TABLE t (
    id int PRIMARY KEY,
    s varchar(20) MASKED WITH (FUNCTION = 'default()'),
    e varchar(40) MASKED WITH (FUNCTION = 'email()') NULL,
    p varchar(30) MASKED WITH (FUNCTION = 'partial(2, "-XX-", 1)'),
    i int MASKED WITH (FUNCTION = 'default()'),
    d datetime MASKED WITH (FUNCTION = 'default()'),
    dt datetime2(3) MASKED WITH (FUNCTION = 'datetime("M")'),
    plain varchar(10))
INSERT t VALUES (1, 'hello', 'john@x.com', 'abcdefghij', 42, '2020-05-06 07:08:09', '2021-07-15 13:14:15.678', 'p1'),
    (2, 'ab', '', 'ab', 7, '1999-01-01', '2020-02-29 01:02:03', 'p2')
INSERT t (id) VALUES (3)
GO
CREATE USER u WITHOUT LOGIN
GRANT SELECT, UPDATE ON t TO u
GO
SELECT * FROM t
EXECUTE AS USER = 'u'
SELECT * FROM t
REVERT
SELECT s, i FROM t
GO
-- What is computed of a masked column is hidden by the default of its type; NULL is no secret, but what ISNULL makes of it is.
EXECUTE AS USER = 'u'
SELECT s + 'x', LEFT(s, 2), LEN(s), i + 1, UPPER(e), CONVERT(varchar(30), d, 120), YEAR(d), ISNULL(s, 'q'), i * 1.5 FROM t ORDER BY id
SELECT MAX(s), SUM(i), COUNT(s), COUNT(*), COUNT(DISTINCT e), AVG(i * 1.0) FROM t
SELECT e COLLATE Latin1_General_BIN, CAST(e AS varchar(10)) FROM t WHERE id = 1
GO
-- A column that stays as it is keeps its own mask, wherever it passes.
SELECT CAST(e AS varchar(40)), CONVERT(varchar(40), e), (e), NULLIF(e, 'q'), (SELECT e FROM t WHERE id = 1), CASE WHEN id = 1 THEN e ELSE 'nobody' END FROM t WHERE id = 1
SELECT CASE WHEN id = 1 THEN e ELSE 'nobody' END FROM t WHERE id = 2
SELECT x.e FROM (SELECT e FROM t) x WHERE x.e LIKE 'john%'
;WITH c AS (SELECT e, id FROM t) SELECT e FROM c WHERE id = 1
SELECT DISTINCT e, i FROM t
SELECT e, COUNT(*) FROM t GROUP BY e ORDER BY e
SELECT CASE WHEN id = 1 THEN p ELSE e END, COALESCE(e, s) FROM t WHERE id = 1
SELECT x FROM (SELECT plain AS x FROM t WHERE id = 1 UNION ALL SELECT e FROM t WHERE id = 1) u
SELECT x FROM (SELECT p AS x FROM t WHERE id = 1 UNION ALL SELECT e FROM t WHERE id = 1) u
SELECT x FROM (SELECT plain AS x FROM t EXCEPT SELECT e FROM t) u
SELECT a.x FROM t CROSS APPLY (SELECT t.p x) a WHERE id = 1
SELECT a.x FROM t OUTER APPLY (SELECT UPPER(t.p) x) a WHERE id = 1
SELECT (SELECT MAX(x.v) FROM (VALUES (t.s), ('z')) x (v)), (SELECT x.v FROM (VALUES (t.e)) x (v)) FROM t WHERE id = 1
SELECT id, LAG(p) OVER (ORDER BY id), MAX(i) OVER (), ROW_NUMBER() OVER (ORDER BY s) FROM t ORDER BY id
SELECT value FROM t CROSS APPLY STRING_SPLIT(t.e, '@') WHERE id = 1
SELECT p.e, p.[1] FROM (SELECT e, id FROM t WHERE id = 1) src PIVOT (MAX(id) FOR id IN ([1])) p
SELECT v FROM (SELECT e, CAST(plain AS varchar(40)) AS q FROM t WHERE id = 1) src UNPIVOT (v FOR c IN (e, q)) x
;WITH r AS (SELECT 1 AS n, p FROM t WHERE id = 1 UNION ALL SELECT n + 1, p FROM r WHERE n < 3) SELECT n, p FROM r
SELECT TOP 1 WITH TIES p FROM t ORDER BY p DESC
GO
-- Conditions, joins and orders see what is there.
SELECT CASE s WHEN 'hello' THEN 'h' END, CASE WHEN s = 'hello' THEN 'yes' ELSE 'no' END, IIF(i > 10, 1, 2) FROM t WHERE id = 1
SELECT COUNT(*) FROM t WHERE s = 'hello' AND i BETWEEN 40 AND 45
SELECT TOP 1 id FROM t ORDER BY s DESC
SELECT a.id, b.id FROM t a JOIN t b ON a.s = b.s AND a.i = b.i ORDER BY a.id
IF EXISTS (SELECT * FROM t WHERE e = 'john@x.com') PRINT 'found'
GO
-- Documents.
SELECT id, s, i FROM t WHERE id = 1 FOR JSON PATH
SELECT id, p FROM t WHERE id = 1 FOR XML RAW
SELECT (SELECT s FROM t WHERE id = 1 FOR JSON PATH)
GO
-- Variables take what is shown.
DECLARE @v varchar(40), @w varchar(20), @i int, @x varchar(40) = (SELECT e FROM t WHERE id = 1)
SELECT @v = e, @w = e, @i = i FROM t WHERE id = 1
SELECT @v, @w, @i, @x
SET @v = (SELECT p FROM t WHERE id = 1)
SELECT @v
DECLARE @y varchar(20) = (SELECT TOP 1 i FROM t)
SELECT @y
GO
DECLARE c CURSOR FOR SELECT s, p FROM t WHERE id = 1
OPEN c
FETCH NEXT FROM c
CLOSE c
DEALLOCATE c
GO
REVERT
GO
-- Errors tell nothing of the values, but those of conditions.
EXECUTE AS USER = 'u'
GO
SELECT CAST(p AS int) FROM t WHERE id = 1
GO
SELECT x FROM (SELECT p + 1 x FROM t) q
GO
SELECT CAST(i + 1000 AS tinyint) FROM t WHERE id = 1
GO
DECLARE @v int
SELECT @v = CAST(p AS int) FROM t WHERE id = 1
GO
SELECT MAX(CAST(p AS int)) FROM t WHERE id = 1
GO
SELECT DISTINCT CAST(p AS int) FROM t WHERE id = 1 UNION SELECT 1
GO
SELECT LAG(CAST(p AS int)) OVER (ORDER BY id), SUM(CAST(p AS int)) OVER () FROM t
GO
SELECT value FROM t CROSS APPLY STRING_SPLIT(CAST(CAST(p AS int) AS varchar(9)), ',')
GO
SELECT CAST(p AS int), COUNT(*) FROM t GROUP BY ROLLUP (CAST(p AS int))
GO
UPDATE t SET id = p WHERE id = 1
GO
SELECT id FROM t WHERE CAST(p AS int) = 1
GO
SELECT CAST(plain AS int) FROM t WHERE id = 1
GO
REVERT
GO
-- Views, procedures and functions show their caller what he may see, whoever owns them.
CREATE VIEW v AS SELECT id, e, e + '' AS e2, plain FROM t
GO
CREATE PROCEDURE pr AS SELECT s, e FROM t WHERE id = 1
GO
CREATE PROCEDURE as_owner WITH EXECUTE AS OWNER AS SELECT s, e FROM t WHERE id = 1
GO
CREATE FUNCTION f() RETURNS TABLE AS RETURN SELECT id, e FROM t
GO
CREATE FUNCTION g() RETURNS varchar(40) AS BEGIN RETURN (SELECT e FROM t WHERE id = 1) END
GO
CREATE FUNCTION h() RETURNS @r TABLE (e varchar(40)) AS BEGIN INSERT @r SELECT e FROM t WHERE id = 1 RETURN END
GO
CREATE FUNCTION k(@a varchar(40)) RETURNS varchar(40) AS BEGIN DECLARE @b varchar(40) = @a IF @a IS NULL SET @b = 'none' RETURN @b END
GO
GRANT SELECT ON v TO u
GRANT EXECUTE TO u
GRANT SELECT ON f TO u
GRANT SELECT ON h TO u
-- What dbo has run before is no other plan for who may see less.
EXEC pr
SELECT e, e2 FROM v WHERE id = 1
SELECT dbo.g(), dbo.k(e) FROM t WHERE id = 1
GO
EXECUTE AS USER = 'u'
EXEC pr
SELECT e, e2 FROM v WHERE id = 1
EXEC as_owner
SELECT e FROM f() WHERE id = 1
SELECT dbo.g(), dbo.k(e) FROM t WHERE id = 1
SELECT e FROM h()
REVERT
EXEC pr
SELECT e, e2 FROM v WHERE id = 1
GO
DECLARE @n int = 0
WHILE @n < 4
BEGIN
    SELECT s FROM t WHERE id = 1
    IF @n % 2 = 0 EXECUTE AS USER = 'u' ELSE REVERT
    SET @n += 1
END
GO
-- What is written is what is seen.
CREATE TABLE dst (id int, s varchar(20), e varchar(40))
GRANT SELECT, INSERT, UPDATE, DELETE ON dst TO u
GRANT INSERT, UPDATE, DELETE ON t TO u
GRANT CREATE TABLE TO u
GRANT ALTER ON SCHEMA::dbo TO u
GRANT UPDATE ON v TO u
GO
EXECUTE AS USER = 'u'
INSERT dst SELECT id, s, e FROM t WHERE id = 1
INSERT dst (id, e) VALUES (2, (SELECT e FROM t WHERE id = 1))
INSERT dst (id) VALUES (3)
UPDATE dst SET e = t.e FROM t WHERE t.id = 1 AND dst.id = 3
UPDATE t SET plain = LEFT(s, 10) WHERE id = 2
UPDATE t SET s = 'new' OUTPUT deleted.s, inserted.s, inserted.plain WHERE id = 3
UPDATE t SET i = i + 1 WHERE id = 2
SELECT id, s, e, i INTO x FROM t
INSERT dst (id, s) EXEC ('SELECT id, s FROM t WHERE id = 1')
UPDATE v SET plain = LEFT(e, 2) WHERE id = 1
DELETE t OUTPUT deleted.p INTO dst (e) WHERE id = 3
REVERT
SELECT id, s, e FROM dst ORDER BY id, s, e
SELECT id, s, i, plain FROM t ORDER BY id
SELECT id, s, e, i FROM x ORDER BY id
SELECT name, is_masked FROM sys.columns WHERE object_id = OBJECT_ID('x')
GO
CREATE TABLE m (id int, v varchar(30))
INSERT m VALUES (1, 'old')
GRANT SELECT, INSERT, UPDATE ON m TO u
GO
EXECUTE AS USER = 'u'
MERGE m USING t ON m.id = t.id AND t.id < 3
WHEN MATCHED THEN UPDATE SET v = t.p
WHEN NOT MATCHED AND t.id = 2 THEN INSERT VALUES (t.id, t.p)
OUTPUT $action, t.p, t.s;
REVERT
SELECT id, v FROM m ORDER BY id
GO
-- Computed columns hide what they are made of.
CREATE TABLE c (a varchar(10) MASKED WITH (FUNCTION = 'email()'), b AS a + '!', n AS LEN(a) PERSISTED, o int)
INSERT c (a, o) VALUES ('abc', 7)
GRANT SELECT ON c TO u
EXECUTE AS USER = 'u'
SELECT a, b, n, o FROM c
REVERT
SELECT a, b, n, o FROM c
GO
-- Table variables are masked for who reads them, temporary tables are not.
EXECUTE AS USER = 'u'
DECLARE @t TABLE (a varchar(10) MASKED WITH (FUNCTION = 'default()'))
INSERT @t VALUES ('abc')
SELECT a FROM @t
CREATE TABLE #t (a varchar(10) MASKED WITH (FUNCTION = 'default()'))
INSERT #t VALUES ('abc')
SELECT a FROM #t
DROP TABLE #t
REVERT
GO
-- Roundabout ways.
EXECUTE AS USER = 'u'
GO
SELECT UPPER(e), COUNT(*) FROM t GROUP BY UPPER(e) ORDER BY 2, 1
SELECT e, SUM(id) FROM t GROUP BY ROLLUP (e) ORDER BY 2
SELECT e, MAX(p) FROM t GROUP BY e HAVING MAX(i) > 40
SELECT plain AS x FROM t INTERSECT SELECT plain FROM t
SELECT s AS x FROM t WHERE id < 3 INTERSECT SELECT s FROM t
SELECT (SELECT TOP 1 a.p FROM t a WHERE a.id <= b.id ORDER BY a.id DESC) FROM t b WHERE id = 1
SELECT value FROM t CROSS APPLY OPENJSON('["' + t.p + '"]') WHERE id = 1
;WITH r AS (SELECT 1 AS n, CAST('a' AS varchar(30)) AS x, p FROM t WHERE id = 1 UNION ALL SELECT n + 1, p, p FROM r WHERE n < 3) SELECT n, x FROM r
SELECT a.s, b.e FROM t a LEFT JOIN t b ON b.id = a.id + 1 ORDER BY a.id
SELECT a.s, b.e FROM t a FULL JOIN t b ON b.id = a.id + 1 ORDER BY a.id, b.id
SELECT CHOOSE(2, plain, e), IIF(id = 1, s, plain), CONCAT(s, plain), s + NULL, CAST(s AS varbinary(20)), CAST(e AS sql_variant) FROM t WHERE id = 1
SELECT FIRST_VALUE(e) OVER (ORDER BY id) FROM t
SELECT STRING_AGG(s, ',') WITHIN GROUP (ORDER BY s), MIN(e) FROM t
EXEC ('SELECT s FROM t WHERE id = 1')
EXEC sp_executesql N'SELECT @x = p FROM t WHERE id = 1 SELECT @x', N'@x varchar(30)', @x = NULL
SELECT id, s FROM t FOR JSON AUTO
SELECT p AS [@p], (SELECT e FROM t b WHERE b.id = t.id FOR XML PATH(''), TYPE) FROM t WHERE id = 1 FOR XML PATH('row')
GO
DECLARE @v varchar(20), @w varchar(30)
UPDATE t SET @v = s, @w = p, plain = 'p1' WHERE id = 1
SELECT @v, @w
INSERT dst (id, s) SELECT id, d FROM (UPDATE t SET plain = 'p2' OUTPUT deleted.id + 100 AS id, deleted.s AS d WHERE id = 2) x
SELECT id, s FROM dst WHERE id > 100
DELETE dst WHERE id > 100
GO
REVERT
GO
-- What a trigger that stands in for a change of a view is told.
CREATE TABLE told (what varchar(9), id int, e varchar(40), plain varchar(10))
GO
CREATE TRIGGER vt ON v INSTEAD OF UPDATE, INSERT, DELETE AS INSERT told SELECT 'old', id, e, plain FROM deleted UNION ALL SELECT 'new', id, e, plain FROM inserted
GO
GRANT INSERT, DELETE ON v TO u
UPDATE v SET plain = 'by dbo' WHERE id = 1
EXECUTE AS USER = 'u'
UPDATE v SET plain = e WHERE id = 1
INSERT v (id, e, plain) SELECT 9, e, plain FROM t WHERE id = 1
DELETE v WHERE id = 2
REVERT
SELECT * FROM told
GO
-- Another database asks who one is there.
CREATE DATABASE other
GO
USE other
CREATE TABLE o (s varchar(20) MASKED WITH (FUNCTION = 'default()'))
INSERT o VALUES ('elsewhere')
GO
CREATE LOGIN ann WITH PASSWORD = 'a Passw0rd'
CREATE USER ann
GRANT SELECT ON o TO ann
USE master
GO
SELECT s FROM other.dbo.o
EXECUTE AS LOGIN = 'ann'
SELECT s FROM other.dbo.o
REVERT
USE other
GRANT UNMASK TO ann
USE master
EXECUTE AS LOGIN = 'ann'
SELECT s FROM other.dbo.o
REVERT
SELECT s FROM other.dbo.o
GO
