-- SET STATISTICS IO: what each statement reads of each table.
CREATE TABLE plain (n int, filler char(1000) NOT NULL DEFAULT REPLICATE('x', 1000));
CREATE TABLE keyed (id int PRIMARY KEY, name varchar(20), note varchar(max), INDEX by_name (name));
CREATE TABLE part (id int PRIMARY KEY, keyed_id int REFERENCES keyed (id));
INSERT plain (n) SELECT value FROM GENERATE_SERIES(1, 70);
INSERT keyed (id, name) SELECT value, CONCAT('n', value) FROM GENERATE_SERIES(1, 2000);
GO
SET STATISTICS IO ON;
GO
-- A heap of ten pages, some seven rows on each.
SELECT COUNT(*) FROM plain;
SELECT n FROM plain WHERE n = 70;
GO
-- One row by its unique key begins no scan; a range does.
SELECT name FROM keyed WHERE id = 1000;
SELECT COUNT(name) FROM keyed WHERE id BETWEEN 10 AND 12;
-- By an index: its pages and those of the row.
SELECT id FROM keyed WHERE name = 'n77';
SELECT note FROM keyed WHERE name = 'n77';
GO
-- Each table has its line, whatever the references to it.
SELECT COUNT(*) FROM plain AS a JOIN keyed AS b ON b.id = a.n;
SELECT COUNT(*) FROM plain AS a JOIN plain AS b ON b.n = a.n;
GO
-- Long values are told of apart.
UPDATE keyed SET note = REPLICATE(CAST('y' AS varchar(max)), 100000) WHERE id = 1;
SELECT LEN(note) FROM keyed WHERE id = 1;
SELECT LEN(name) FROM keyed WHERE id = 1;
GO
-- Changes tell of the table and of what its constraints look at.
INSERT part VALUES (1, 1000);
INSERT part VALUES (2, 1001);
DELETE part WHERE id = 1;
DELETE keyed WHERE id = 2000;
GO
-- Variables, conditions, temporary tables and table variables.
DECLARE @n int = (SELECT COUNT(*) FROM plain);
IF EXISTS (SELECT * FROM keyed WHERE id = 3) PRINT 'there';
DECLARE @t TABLE (a int PRIMARY KEY);
INSERT @t VALUES (1), (2);
SELECT a FROM @t;
CREATE TABLE #own (a int);
INSERT #own VALUES (1);
SELECT a FROM #own;
DROP TABLE #own;
GO
-- Statements without tables tell nothing; nor do those that fail.
SELECT 1 AS one;
SELECT 1 / (n - 70) FROM plain WHERE n >= 70;
GO
-- Statements of procedures and triggers tell of themselves, those of functions do not.
CREATE FUNCTION counted () RETURNS int AS BEGIN DECLARE @c int; SELECT @c = COUNT(*) FROM plain; RETURN @c END;
GO
CREATE TRIGGER noted ON part AFTER UPDATE AS SELECT COUNT(*) AS n FROM inserted JOIN plain ON plain.n = inserted.id;
GO
CREATE PROCEDURE looks AS SELECT MAX(n) FROM plain;
GO
EXEC looks;
SELECT dbo.counted() AS counted FROM keyed WHERE id = 5;
UPDATE part SET keyed_id = 7 WHERE id = 2;
GO
SET STATISTICS IO OFF;
GO
SELECT COUNT(*) FROM plain;
GO
