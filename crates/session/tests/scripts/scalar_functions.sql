-- Scalar functions of several statements.
CREATE TABLE part (id int PRIMARY KEY, whole int NULL, price money NOT NULL)
INSERT part VALUES (1, NULL, 10), (2, 1, 3), (3, 2, 4), (4, 1, 1), (5, NULL, 7)
GO
CREATE FUNCTION dbo.cost (@id int, @tax decimal(6,2) = 0.5) RETURNS money WITH SCHEMABINDING AS
BEGIN
  DECLARE @sum money = 0, @at int = @id
  SELECT @sum = price FROM dbo.part WHERE id = @id
  IF @sum IS NULL RETURN -1
  WHILE EXISTS (SELECT * FROM dbo.part WHERE id = @at AND whole IS NOT NULL)
  BEGIN
    SELECT @at = whole FROM dbo.part WHERE id = @at
    SET @sum += @tax
  END
  RETURN @sum
END
GO
CREATE FUNCTION dbo.fact (@n int) RETURNS bigint AS
BEGIN
  IF @n <= 1 RETURN 1
  RETURN @n * dbo.fact(@n - 1)
END
GO
CREATE FUNCTION dbo.deep (@n int) RETURNS int AS BEGIN DECLARE @m int = @n - 1 IF @m = 0 RETURN @@NESTLEVEL RETURN dbo.deep(@m) END
GO
CREATE FUNCTION dbo.others (@id int) RETURNS money AS BEGIN DECLARE @s money SELECT @s = SUM(price) FROM part WHERE id <> @id RETURN @s END
GO
CREATE FUNCTION dbo.fib (@n int) RETURNS int AS BEGIN RETURN CASE WHEN @n < 2 THEN @n ELSE dbo.fib(@n - 1) + dbo.fib(@n - 2) END END
GO
CREATE FUNCTION dbo.initials (@name nvarchar(100)) RETURNS nvarchar(20) AS
BEGIN
  DECLARE @out nvarchar(20) = ''
  DECLARE @words table (n int IDENTITY, w nvarchar(50))
  INSERT @words SELECT value FROM STRING_SPLIT(@name, ' ')
  DECLARE c CURSOR LOCAL FOR SELECT w FROM @words ORDER BY n
  DECLARE @w nvarchar(50)
  OPEN c
  FETCH NEXT FROM c INTO @w
  WHILE @@FETCH_STATUS = 0
  BEGIN
    SET @out = @out + UPPER(LEFT(@w, 1)) + '.'
    FETCH NEXT FROM c INTO @w
  END
  CLOSE c
  RETURN @out
END
GO
SELECT id, dbo.cost(id, DEFAULT) AS cost FROM part WHERE dbo.cost(id, 0) > 1 ORDER BY dbo.cost(id, 1) DESC, id
SELECT dbo.fact(10) AS f, dbo.fib(10) AS fib, dbo.initials('ada king lovelace') AS initials
SELECT SUM(dbo.cost(id, 1)) AS total, MAX(dbo.fact(id)) AS most FROM part
SELECT dbo.cost(id, 0) % 3 AS rest, COUNT(*) AS n FROM part GROUP BY dbo.cost(id, 0) % 3 HAVING COUNT(*) > dbo.fact(1) ORDER BY rest
SELECT a.id, b.id AS other FROM part a JOIN part b ON dbo.fact(a.id) = b.id WHERE a.id < 3 ORDER BY 1
DECLARE @x int = dbo.fact(2)
SET @x += dbo.fact(@x)
IF dbo.fact(4) = 24 PRINT dbo.initials('it holds')
PRINT dbo.fact(5)
WHILE dbo.fact(@x) < 0 SET @x = 1
SELECT @x AS x, @@ROWCOUNT AS rows_before
SELECT TOP (2) dbo.fact(dbo.fact(id)) AS twice FROM part ORDER BY id
SELECT CASE WHEN id > 3 THEN dbo.fact(id * 1000) END AS never FROM part WHERE id < 3
GO
-- Too deep.
SELECT dbo.deep(32) AS levels
SELECT dbo.deep(33) AS levels
GO
-- Errors in a function are the statement's.
SELECT dbo.fact(25)
GO
SELECT dbo.cost(1)
SELECT dbo.cost(1, 2, 3)
GO
SELECT dbo.nothing(1)
GO
-- What changes rows calls them too, before the first row is changed.
UPDATE part SET price = dbo.cost(id, 100) WHERE dbo.cost(id, 0) < 100
SELECT id, price FROM part
UPDATE part SET price = dbo.others(id)
SELECT id, price FROM part
INSERT part SELECT id + 10, NULL, dbo.cost(id + 9, 0) FROM part
INSERT part VALUES (20, NULL, dbo.cost(1, 0)), (21, NULL, dbo.fact(3))
DELETE part WHERE dbo.cost(id, 0) = -1
SELECT id, price FROM part WHERE id > 5
MERGE part USING (VALUES (20), (22)) AS s (id) ON part.id = s.id
WHEN MATCHED THEN UPDATE SET price = dbo.fact(4)
WHEN NOT MATCHED THEN INSERT VALUES (s.id, NULL, dbo.fact(s.id - 20));
SELECT id, price FROM part WHERE id IN (20, 22)
GO
-- DEFAULT and CHECK.
CREATE TABLE ruled (id int IDENTITY, n int CONSTRAINT d DEFAULT dbo.fact(3), CONSTRAINT small CHECK (dbo.fact(n) < 1000 AND n > 0))
INSERT ruled DEFAULT VALUES
INSERT ruled (n) VALUES (2), (3)
INSERT ruled (n) VALUES (4), (7)
UPDATE ruled SET n = n + 3
UPDATE ruled SET n = n + 1 WHERE n < 4
INSERT ruled (n) SELECT id FROM part WHERE id < 4
MERGE ruled USING (VALUES (6), (9)) AS s (n) ON ruled.n = s.n WHEN NOT MATCHED THEN INSERT (n) VALUES (s.n);
SELECT * FROM ruled
ALTER TABLE ruled ADD doubled AS dbo.fact(n)
INSERT ruled (n) EXEC ('SELECT 1')
GO
-- What a function may not do.
CREATE FUNCTION dbo.bad () RETURNS int AS BEGIN INSERT part VALUES (90, NULL, 1) RETURN 1 END
GO
CREATE FUNCTION dbo.bad () RETURNS int AS BEGIN EXEC something RETURN 1 END
GO
CREATE FUNCTION dbo.bad () RETURNS int AS BEGIN SELECT 1 RETURN 1 END
GO
CREATE FUNCTION dbo.bad () RETURNS int AS BEGIN DECLARE @x int = 1 IF @x = 1 RETURN 1 END
GO
CREATE FUNCTION dbo.bad () RETURNS int AS BEGIN DECLARE @x int RETURN END
GO
CREATE FUNCTION dbo.bad () RETURNS int AS BEGIN PRINT 'x' RETURN 1 END
GO
CREATE FUNCTION dbo.bad () RETURNS int AS BEGIN DECLARE @x int SET @x = @y RETURN @x END
GO
SELECT name, type, type_desc FROM sys.objects WHERE type = 'FN' ORDER BY name
SELECT OBJECT_NAME(object_id) AS name, is_schema_bound, LEFT(definition, 24) AS begins FROM sys.sql_modules WHERE object_id = OBJECT_ID('dbo.cost')
SELECT OBJECTPROPERTY(OBJECT_ID('dbo.fact'), 'IsScalarFunction') AS scalar, OBJECT_ID('dbo.fact', 'FN') - OBJECT_ID('dbo.fact') AS same
GO
ALTER FUNCTION dbo.fact (@n int) RETURNS bigint AS BEGIN DECLARE @f bigint = 1 WHILE @n > 1 BEGIN SET @f *= @n SET @n -= 1 END RETURN @f END
GO
SELECT dbo.fact(20) AS big
DROP TABLE rule
DROP FUNCTION dbo.fact, dbo.deep, dbo.others, dbo.fib, dbo.initials, dbo.cost
DROP TABLE part
