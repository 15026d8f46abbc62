-- Constants among the arguments say how long a text can be.
SELECT LEFT(CAST('a' AS varchar(10)), 3) AS l, RIGHT(CAST(N'a' AS nvarchar(10)), 30) AS r, REPLICATE(CAST('a' AS varchar(5)), 3) AS many, SPACE(4) AS blanks,
    STUFF(CAST('abcdefghij' AS varchar(10)), 8, 5, 'XY') AS stuffed, SUBSTRING('abcdef', 2, 3) AS sub, SUBSTRING(0x010203, 1, 2) AS bytes
INTO lengths
SELECT name, TYPE_NAME(system_type_id) AS type, max_length FROM sys.columns WHERE object_id = OBJECT_ID('lengths') ORDER BY column_id
SELECT * FROM lengths
DECLARE @n int = 3
SELECT LEFT(CAST('a' AS varchar(10)), @n) AS l, REPLICATE(CAST('a' AS varchar(5)), @n) AS many, LEFT(N'a', 0) AS zero, REPLICATE('ab', 5000) AS cut INTO others
SELECT name, TYPE_NAME(system_type_id) AS type, max_length FROM sys.columns WHERE object_id = OBJECT_ID('others') ORDER BY column_id
SELECT LEN(cut) AS length FROM others
GO
-- Which columns can be NULL: counts can, texts that are joined of what cannot do not.
CREATE TABLE s (v varchar(3) NOT NULL, w varchar(3) NULL, twice AS v + v, number AS 1 + 1)
SELECT 'x' + 'y' AS a, COUNT(*) OVER () AS b, v + v AS c, v + w AS d, CAST('x' AS varchar(3)) + v AS e INTO nulls FROM s
SELECT COUNT(*) AS c, COUNT_BIG(*) AS d INTO counts FROM s
SELECT OBJECT_NAME(object_id) AS t, name, is_nullable FROM sys.columns WHERE object_id IN (OBJECT_ID('s'), OBJECT_ID('nulls'), OBJECT_ID('counts')) ORDER BY 1, column_id
GO
-- Of an INSERT.
CREATE TABLE i (id int IDENTITY, a int)
GO
INSERT i (id, a) VALUES (DEFAULT, 2)
GO
SET IDENTITY_INSERT i ON
INSERT i (id, a) VALUES (DEFAULT, 2)
GO
INSERT i (id, a) VALUES (1, 2, 3)
GO
SET IDENTITY_INSERT i OFF
INSERT i (id, a) VALUES (1, 2, 3)
GO
INSERT s SELECT 'a'
GO
INSERT s (v, w) SELECT 'a'
GO
CREATE TRIGGER tr ON i AFTER INSERT, UPDATE AS RETURN
GO
EXEC sp_settriggerorder 'tr', 'First', 'INSERT'
EXEC sp_settriggerorder 'tr', 'Last', 'UPDATE'
SELECT OBJECTPROPERTY(OBJECT_ID('tr'), 'ExecIsFirstInsertTrigger') AS fi, OBJECTPROPERTY(OBJECT_ID('tr'), 'ExecIsLastInsertTrigger') AS li,
    OBJECTPROPERTY(OBJECT_ID('tr'), 'ExecIsLastUpdateTrigger') AS lu, OBJECTPROPERTY(OBJECT_ID('tr'), 'ExecIsFirstDeleteTrigger') AS fd
GO
-- SELECT INTO passes an identity on through a common or a derived table that does no more than choose.
DISABLE TRIGGER tr ON i
INSERT i (a) VALUES (10), (20)
GO
WITH c AS (SELECT id, a FROM i) SELECT id, a INTO through_common FROM c
SELECT d.id AS number, d.a INTO through_derived FROM (SELECT id, a FROM i WHERE a > 10) AS d;
WITH c AS (SELECT TOP 1 id, a FROM i ORDER BY id), e AS (SELECT id FROM c) SELECT id INTO through_two FROM e;
WITH c AS (SELECT id + 0 AS id FROM i) SELECT id INTO computed FROM c
SELECT OBJECT_NAME(object_id) AS t, name FROM sys.identity_columns WHERE OBJECT_NAME(object_id) IN ('through_common', 'through_derived', 'through_two', 'computed') ORDER BY 1
SELECT * FROM through_common ORDER BY id
GO
-- What a procedure returns that has caught an error and does not say.
CREATE PROCEDURE caught AS BEGIN TRY SELECT 1 / 0 AS x END TRY BEGIN CATCH PRINT 'caught' END CATCH
GO
CREATE PROCEDURE caught_and_says AS BEGIN TRY SELECT 1 / 0 AS x END TRY BEGIN CATCH RETURN 3 END CATCH
GO
DECLARE @r int
EXEC @r = caught
SELECT @r AS status
EXEC @r = caught_and_says
SELECT @r AS status
GO
