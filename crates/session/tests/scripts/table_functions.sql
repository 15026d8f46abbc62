-- Table-valued functions of several statements.
CREATE TABLE dbo.part (id int PRIMARY KEY, whole int NULL, name varchar(10) NOT NULL);
INSERT dbo.part VALUES (1, NULL, 'car'), (2, 1, 'engine'), (3, 2, 'piston'), (4, 1, 'door'), (5, NULL, 'bike');
GO
CREATE FUNCTION dbo.parts_of (@id int, @depth int = 9) RETURNS @found TABLE (id int PRIMARY KEY, depth int NOT NULL, name varchar(10)) AS
BEGIN
  DECLARE @at int = 0;
  INSERT @found SELECT id, 0, name FROM dbo.part WHERE id = @id;
  WHILE @@ROWCOUNT > 0 AND @at < @depth
  BEGIN
    SET @at += 1;
    INSERT @found SELECT p.id, @at, p.name FROM dbo.part p JOIN @found f ON p.whole = f.id WHERE f.depth = @at - 1;
  END;
  RETURN;
END;
GO
SELECT id, depth, name FROM dbo.parts_of(1, DEFAULT) ORDER BY id;
SELECT COUNT(*) AS shallow FROM dbo.parts_of(1, 1);
DECLARE @id int = 2;
SELECT f.name, p.whole FROM dbo.parts_of(@id, 5) AS f JOIN dbo.part p ON p.id = f.id ORDER BY f.id;
SELECT p.id, f.name FROM dbo.part p CROSS APPLY dbo.parts_of(p.id, 9) AS f WHERE p.whole IS NULL ORDER BY p.id, f.id;
SELECT p.id, f.name FROM dbo.part p OUTER APPLY dbo.parts_of(p.whole, 0) AS f ORDER BY p.id;
SELECT a.n AS one, b.n AS two FROM (SELECT COUNT(*) AS n FROM dbo.parts_of(1, 9)) AS a CROSS JOIN (SELECT COUNT(*) AS n FROM dbo.parts_of(5, 9)) AS b;
IF EXISTS (SELECT * FROM dbo.parts_of(5, 1)) PRINT 'there';
GO
CREATE TABLE dbo.copy (id int, name varchar(10));
INSERT dbo.copy SELECT p.id, f.name FROM dbo.part p CROSS APPLY dbo.parts_of(p.id, 9) AS f WHERE f.depth = 2;
UPDATE c SET name = f.name FROM dbo.copy c CROSS APPLY dbo.parts_of(c.id, 0) AS f;
SELECT id, name, @@TRANCOUNT AS open_transactions FROM dbo.copy;
DECLARE @kept table (id int);
INSERT @kept SELECT id FROM dbo.parts_of(1, 9);
SELECT COUNT(*) AS kept FROM @kept;
GO
-- A function sees its own rows, however they came.
CREATE FUNCTION dbo.doubling (@n int) RETURNS @r TABLE (y int IDENTITY, x int) AS
BEGIN
  IF NOT EXISTS (SELECT * FROM @r) INSERT @r VALUES (1);
  INSERT @r VALUES (2);
  WHILE (SELECT COUNT(*) FROM @r) < @n INSERT @r SELECT x + 2 FROM @r;
  RETURN;
END;
GO
SELECT COUNT(*) AS number, SUM(x) AS total FROM dbo.doubling(8);
SELECT v.n, COUNT(*) AS number FROM (VALUES (1), (4)) AS v (n) CROSS APPLY dbo.doubling(v.n) AS d GROUP BY v.n ORDER BY v.n;
SELECT @@IDENTITY AS none;
GO
-- In procedures, in other functions, in views; errors are the statement's.
CREATE FUNCTION dbo.doubled (@name varchar(10)) RETURNS @r TABLE (name varchar(10), twice AS name + name, length AS LEN(name) + 1) AS
BEGIN
    INSERT @r (name) VALUES (@name), ('ab');
    RETURN;
END;
GO
SELECT name, twice, length FROM dbo.doubled('x');
GO
CREATE FUNCTION dbo.names (@id int) RETURNS @r TABLE (name varchar(10)) AS
BEGIN
  INSERT @r SELECT name FROM dbo.parts_of(@id, 9);
  UPDATE @r SET name = UPPER(name);
  DELETE @r WHERE name = 'DOOR';
  RETURN
END
GO
CREATE VIEW dbo.car AS SELECT name FROM dbo.names(1);
GO
SELECT name FROM dbo.car ORDER BY name;
GO
CREATE FUNCTION dbo.fails (@x int) RETURNS @r TABLE (y int) AS
BEGIN
  INSERT @r VALUES (1);
  INSERT @r SELECT 10 / @x;
  RETURN;
END;
GO
SELECT y FROM dbo.fails(2);
SELECT y FROM dbo.fails(0);
PRINT 'goes on';
INSERT dbo.copy (id) SELECT f.y FROM dbo.part p CROSS APPLY dbo.fails(3 - p.id) AS f;
SELECT COUNT(*) AS rows_left, @@TRANCOUNT AS open_transactions FROM dbo.copy;
BEGIN TRY
  SELECT y FROM dbo.fails(0);
END TRY
BEGIN CATCH
  PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_PROCEDURE(), ' ', ERROR_LINE(), ' ', @@NESTLEVEL);
END CATCH;
GO
CREATE FUNCTION dbo.endless (@n int) RETURNS @r TABLE (y int) AS BEGIN INSERT @r SELECT y FROM dbo.endless(@n + 1); RETURN; END;
GO
SELECT y FROM dbo.endless(1);
GO
SELECT name, type, type_desc FROM sys.objects WHERE type = 'TF' ORDER BY name;
SELECT OBJECTPROPERTY(OBJECT_ID('dbo.names'), 'IsTableFunction') AS is_table, OBJECTPROPERTY(OBJECT_ID('dbo.names'), 'IsInlineFunction') AS is_inline,
       LEFT(OBJECT_DEFINITION(OBJECT_ID('dbo.names', 'TF')), 25) AS begins;
DECLARE each CURSOR FOR SELECT name FROM dbo.names(1);
OPEN each;
GO
-- What a function may not do.
CREATE FUNCTION dbo.f () RETURNS @r TABLE (y int) AS BEGIN INSERT dbo.copy (id) VALUES (1); RETURN; END;
GO
CREATE FUNCTION dbo.f () RETURNS @r TABLE (y int) AS BEGIN SELECT 1; RETURN; END;
GO
CREATE FUNCTION dbo.f () RETURNS @r TABLE (y int) AS BEGIN PRINT 'x'; RETURN; END;
GO
CREATE FUNCTION dbo.f () RETURNS @r TABLE (y int) AS BEGIN EXEC ('SELECT 1'); RETURN; END;
GO
CREATE FUNCTION dbo.f () RETURNS @r TABLE (y int) AS BEGIN INSERT @r VALUES (1); END;
GO
CREATE FUNCTION dbo.f () RETURNS @r TABLE (y int) AS BEGIN RETURN 1; END;
GO
CREATE FUNCTION dbo.f () RETURNS @r TABLE (y int) AS BEGIN INSERT @r (z) VALUES (1); RETURN; END;
GO
SELECT * FROM dbo.parts_of(1);
GO
