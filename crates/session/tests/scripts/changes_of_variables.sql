-- UPDATE and DELETE of a table variable that FROM names, by its name or an alias.
DECLARE @t TABLE (id int PRIMARY KEY, a int)
DECLARE @u TABLE (id int, b int)
INSERT @t VALUES (1, 10), (2, 20), (3, 30)
INSERT @u VALUES (1, 100), (3, 300)
UPDATE x SET a = a + 1 FROM @t AS x
SELECT * FROM @t
UPDATE x SET a = y.b FROM @t AS x JOIN @u AS y ON x.id = y.id
SELECT * FROM @t
UPDATE @t SET a = -y.b FROM @u AS y WHERE y.id = [@t].id
UPDATE @t SET a = a - 1 FROM @t
UPDATE @t SET a = a - 1 FROM @t AS x WHERE x.id = 2
SELECT * FROM @t
UPDATE TOP (1) x SET a = 0 OUTPUT deleted.a AS old, inserted.a AS new FROM @t AS x WHERE x.id > 1
DELETE x OUTPUT deleted.id FROM @t AS x JOIN @u AS y ON x.id = y.id WHERE y.b = 300
DELETE @t FROM @t AS x WHERE x.a = 0
SELECT * FROM @t
DELETE x FROM @t AS x
SELECT COUNT(*) AS rows FROM @t
GO
CREATE FUNCTION dbo.pairs(@n int = 3, @step int) RETURNS @r TABLE (n int, m int) AS
BEGIN
    INSERT @r VALUES (@n, 0), (@n + @step, 0)
    UPDATE x SET m = x.n * 2 FROM @r AS x
    DELETE x FROM @r AS x WHERE x.n = 99
    RETURN
END
GO
SELECT * FROM dbo.pairs(DEFAULT, 96)
GO
SELECT * FROM dbo.pairs(1, DEFAULT)
GO
CREATE FUNCTION dbo.added(@a int = 7, @b int) RETURNS int AS BEGIN RETURN @a + @b END
GO
CREATE FUNCTION dbo.listed(@a int = 7, @b int) RETURNS TABLE AS RETURN SELECT @a AS a, @b AS b
GO
SELECT dbo.added(DEFAULT, 1) AS added, dbo.added(1, 1) AS given
SELECT * FROM dbo.listed(DEFAULT, 5)
GO
SELECT dbo.added(1, DEFAULT) AS added
GO
UPDATE x SET a = 1 FROM @missing AS x
GO
CREATE TYPE dbo.numbers AS TABLE (n int)
GO
CREATE PROCEDURE dbo.spoils @n dbo.numbers READONLY AS UPDATE x SET n = 1 FROM @n AS x
GO
DECLARE @n dbo.numbers
EXEC dbo.spoils @n
GO
-- Triggers of both kinds on one table: a trigger of the other kind in between does not make recursion indirect.
CREATE TABLE dbo.log (id int IDENTITY, n int, said varchar(20))
CREATE TABLE dbo.t (n int)
GO
CREATE TRIGGER dbo.instead ON dbo.t INSTEAD OF INSERT AS
INSERT dbo.log (n, said) SELECT n, 'instead' FROM inserted
INSERT dbo.t SELECT n FROM inserted
GO
CREATE TRIGGER dbo.after_it ON dbo.t AFTER INSERT AS
INSERT dbo.log (n, said) SELECT n, 'after' FROM inserted
INSERT dbo.t SELECT n + 1 FROM inserted
GO
SET NOCOUNT ON
INSERT dbo.t VALUES (1)
SELECT n, said FROM dbo.log ORDER BY id
SELECT n FROM dbo.t ORDER BY n
GO
