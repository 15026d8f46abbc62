-- Errors tell of no value that is masked, wherever in a statement it is computed with: a condition, an order, a join, a key.
CREATE TABLE dbo.people (id int PRIMARY KEY, ssn varchar(20) MASKED WITH (FUNCTION = 'default()'), n int MASKED WITH (FUNCTION = 'default()'), d varchar(30) MASKED WITH (FUNCTION = 'default()'),
    plain varchar(20), other int, j nvarchar(100) MASKED WITH (FUNCTION = 'default()'));
INSERT dbo.people VALUES (1, 'secret-123', 70000, 'no date', 'open', 1, N'{"a": "hidden"}');
CREATE UNIQUE INDEX ux ON dbo.people (other, ssn);
INSERT dbo.people VALUES (2, 'secret-123', 70000, 'no date', 'open', 2, N'{"a": "hidden"}');
CREATE TABLE dbo.numbers (n int PRIMARY KEY);
INSERT dbo.numbers VALUES (1);
CREATE USER low WITHOUT LOGIN;
GRANT SELECT, UPDATE, DELETE, INSERT ON dbo.people TO low;
GRANT SELECT, INSERT, UPDATE ON dbo.numbers TO low;
GO
CREATE FUNCTION dbo.whole(@v varchar(20)) RETURNS int AS BEGIN DECLARE @i int = 0; WHILE @i < 1 SET @i += 1; SET @i = CONVERT(int, @v); RETURN @i END;
GO
CREATE FUNCTION dbo.straight(@v varchar(20)) RETURNS int AS BEGIN RETURN CONVERT(int, @v) END;
GO
GRANT EXECUTE ON dbo.whole TO low;
GRANT EXECUTE ON dbo.straight TO low;
GO
EXECUTE AS USER = 'low';
GO
SELECT id FROM dbo.people ORDER BY CONVERT(int, ssn);
GO
SELECT id FROM dbo.people WHERE CAST(ssn AS int) = 1;
GO
SELECT id FROM dbo.people WHERE ssn = 5;
GO
SELECT id FROM dbo.people WHERE ssn + 1 > 5 OR id = 9;
GO
SELECT id FROM dbo.people WHERE CAST(ssn AS int) IN (1, 2, 3) AND plain LIKE 'o%';
GO
SELECT id FROM dbo.people WHERE CAST(ssn AS int) BETWEEN 1 AND 3;
GO
SELECT id FROM dbo.people WHERE CAST(ssn AS int) IS NULL;
GO
SELECT id FROM dbo.people WHERE NOT (CAST(n AS tinyint) = 1);
GO
SELECT id FROM dbo.people WHERE CAST(ssn AS smallint) = 1;
GO
SELECT id FROM dbo.people WHERE CASE WHEN CAST(ssn AS int) > 1 THEN 1 ELSE 0 END = 1;
GO
SELECT CASE WHEN CAST(ssn AS int) > 1 THEN 1 ELSE 0 END FROM dbo.people;
GO
SELECT p.id FROM dbo.people AS p JOIN dbo.numbers AS n ON n.n = CONVERT(int, p.ssn);
GO
SELECT p.id FROM dbo.people AS p LEFT JOIN dbo.numbers AS n ON n.n + 1 = p.ssn;
GO
SELECT p.id FROM dbo.people AS p FULL JOIN dbo.people AS n ON CONVERT(int, n.ssn) = p.id;
GO
SELECT COUNT(*) FROM dbo.people GROUP BY CONVERT(int, ssn);
GO
SELECT COUNT(*) FROM dbo.people HAVING MAX(CONVERT(int, ssn)) > 1;
GO
SELECT id FROM dbo.people AS p WHERE EXISTS (SELECT * FROM dbo.numbers AS n WHERE n.n = CONVERT(int, p.ssn));
GO
SELECT n FROM dbo.numbers WHERE n IN (SELECT CONVERT(int, ssn) FROM dbo.people);
GO
SELECT n FROM dbo.numbers WHERE n > ALL (SELECT CONVERT(int, ssn) FROM dbo.people);
GO
SELECT ROW_NUMBER() OVER (ORDER BY CONVERT(int, ssn)) FROM dbo.people;
GO
SELECT SUM(id) OVER (PARTITION BY CONVERT(int, ssn)) FROM dbo.people;
GO
SELECT TOP (SELECT CONVERT(int, ssn) FROM dbo.people WHERE id = 1) id FROM dbo.people;
GO
SELECT id FROM dbo.people WHERE CONVERT(int, JSON_VALUE(j, '$.a')) = 1;
GO
SELECT o.[value] FROM dbo.people CROSS APPLY OPENJSON(CONVERT(nvarchar(10), CONVERT(int, ssn))) AS o;
GO
SELECT id FROM dbo.people WHERE PARSE(d AS date) > '20200101';
GO
SELECT id FROM dbo.people WHERE CONVERT(date, d) > '20200101';
GO
SELECT id FROM dbo.people WHERE dbo.whole(ssn) = 1;
GO
SELECT id FROM dbo.people WHERE dbo.straight(ssn) = 1;
GO
IF EXISTS (SELECT * FROM dbo.people WHERE CONVERT(int, ssn) = 1) PRINT 'yes';
GO
DECLARE @x int;
SELECT @x = id FROM dbo.people WHERE CONVERT(int, ssn) = 1;
GO
UPDATE dbo.people SET plain = 'x' WHERE CONVERT(int, ssn) = 1;
GO
DELETE dbo.people WHERE CONVERT(int, ssn) = 1;
GO
MERGE dbo.numbers AS t USING dbo.people AS s ON t.n = CONVERT(int, s.ssn) WHEN MATCHED THEN UPDATE SET n = 5;
GO
MERGE dbo.numbers AS t USING dbo.people AS s ON t.n = s.id WHEN MATCHED AND CONVERT(int, s.ssn) = 3 THEN UPDATE SET n = 5;
GO
INSERT dbo.numbers SELECT CONVERT(int, ssn) FROM dbo.people;
GO
DECLARE c CURSOR FOR SELECT id FROM dbo.people ORDER BY CONVERT(int, ssn);
OPEN c;
FETCH NEXT FROM c;
GO
BEGIN TRY SELECT id FROM dbo.people ORDER BY CONVERT(int, ssn) END TRY BEGIN CATCH SELECT ERROR_MESSAGE() AS message END CATCH;
GO
-- A key that is there already is told by its name alone, and a value that is too long not at all.
UPDATE dbo.people SET other = 1 WHERE id = 2;
GO
UPDATE dbo.people SET plain = REPLICATE(ssn, 3) WHERE id = 2;
GO
-- What is not masked is told as ever.
SELECT id FROM dbo.people WHERE CONVERT(int, plain) = 1;
GO
INSERT dbo.people (id) VALUES (1);
GO
DECLARE @v varchar(20);
SELECT @v = ssn FROM dbo.people WHERE id = 1;
RAISERROR('%s', 16, 1, @v);
GO
REVERT;
GO
-- Who sees the values is told of them.
SELECT id FROM dbo.people ORDER BY CONVERT(int, ssn);
GO
UPDATE dbo.people SET other = 1 WHERE id = 2;
GO
-- Definitions read rows, too, and rules are looked at with them.
GRANT ALTER ON dbo.people TO low;
ALTER TABLE dbo.people WITH NOCHECK ADD CONSTRAINT ck CHECK (CONVERT(int, ssn) > 0);
GO
EXECUTE AS USER = 'low';
GO
UPDATE dbo.people SET plain = 'y' WHERE id = 2;
GO
CREATE UNIQUE INDEX uy ON dbo.people (ssn);
GO
ALTER TABLE dbo.people ADD CONSTRAINT us UNIQUE (ssn);
GO
ALTER TABLE dbo.people WITH CHECK CHECK CONSTRAINT ck;
GO
ALTER TABLE dbo.people ALTER COLUMN ssn int;
GO
REVERT;
GO
