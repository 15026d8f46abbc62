-- Scalar functions that declare and set variables and return: calls become expressions, also in computed columns and keys on them.
CREATE FUNCTION dbo.zeros (@Value int) RETURNS varchar(8) WITH SCHEMABINDING AS
BEGIN
  DECLARE @ReturnValue varchar(8);
  SET @ReturnValue = CONVERT(varchar(8), @Value);
  SET @ReturnValue = REPLICATE('0', 8 - DATALENGTH(@ReturnValue)) + @ReturnValue;
  RETURN (@ReturnValue);
END
GO
CREATE TABLE customer (id int IDENTITY PRIMARY KEY, place int, number AS ISNULL('AW' + dbo.zeros(id), ''))
CREATE UNIQUE INDEX ak ON customer (number)
INSERT customer (place) VALUES (3), (4), (NULL)
UPDATE customer SET place = 5 WHERE number = 'AW00000002'
SELECT id, place, number FROM customer WHERE number LIKE 'AW%2'
SELECT number, dbo.zeros(place) AS zeros FROM customer ORDER BY id
GO
-- A variable holds what its type holds, each time it is set; what is not set is NULL.
CREATE FUNCTION dbo.cut (@s varchar(20)) RETURNS varchar(30) AS
BEGIN
  DECLARE @a varchar(3) = @s, @none int
  DECLARE @b int = 7.9
  SET @s = UPPER(@a)
  RETURN @s + '|' + COALESCE(CAST(@none AS varchar(5)), 'none') + '|' + CAST(@b AS varchar(5))
END
GO
SELECT dbo.cut('abcdef') AS cut, dbo.cut(NULL) AS of_null
GO
CREATE FUNCTION dbo.quarter (@d date) RETURNS int AS BEGIN DECLARE @q int; SET @q = DATEPART(quarter, DATEADD(month, 1, @d)); RETURN @q END
GO
SELECT dbo.quarter('2024-03-31') AS quarter
GO
-- One that would grow too long is run, and cannot be in a computed column.
CREATE FUNCTION dbo.grows (@n int) RETURNS int AS
BEGIN
  DECLARE @a int
  SET @a = @n + @n
  SET @a = @a + @a + @a
  SET @a = @a + @a + @a
  SET @a = @a + @a + @a
  RETURN @a
END
GO
SELECT dbo.grows(1) AS grown
CREATE TABLE grown (a int, b AS dbo.grows(a))
GO
-- What is wrong in it is told when it is made.
CREATE FUNCTION dbo.wrong () RETURNS int AS BEGIN DECLARE @a int; SET @b = 1; RETURN @a END
GO
CREATE FUNCTION dbo.named (@a int) RETURNS int AS BEGIN SET @a = missing; RETURN @a END
GO
SELECT dbo.zeros('x') AS bad
