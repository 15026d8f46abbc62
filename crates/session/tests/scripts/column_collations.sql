-- Keys, constraints and seeks follow the column's collation.
CREATE TABLE dbo.word (w varchar(20) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY, n int NOT NULL);
INSERT dbo.word VALUES ('b', 1), ('B', 2), ('a', 3), ('A', 4), ('á', 5);
SELECT w, n FROM dbo.word;
SELECT w FROM dbo.word ORDER BY w DESC;
SELECT w FROM dbo.word ORDER BY w COLLATE Latin1_General_CI_AS, n;
SELECT n FROM dbo.word WHERE w = 'A';
SELECT n FROM dbo.word WHERE w = 'A' COLLATE Latin1_General_CI_AS ORDER BY n;
SELECT n FROM dbo.word WHERE w > 'B' AND w < 'b';
SELECT n FROM dbo.word WHERE w IN ('A', 'C', 'á');
SELECT n FROM dbo.word WHERE w LIKE 'a%';
SELECT n FROM dbo.word WHERE w BETWEEN 'A' AND 'a' COLLATE Latin1_General_CI_AI ORDER BY n;
GO
INSERT dbo.word VALUES ('a ', 6);
GO
CREATE TABLE dbo.ci (w nvarchar(20) COLLATE Latin1_General_CI_AI CONSTRAINT uq UNIQUE, cs nvarchar(20) COLLATE Latin1_General_100_CS_AS_SC);
INSERT dbo.ci VALUES (N'résumé', N'Ab'), (N'b', N'aB');
GO
INSERT dbo.ci VALUES (N'RESUME', N'x');
GO
CREATE UNIQUE INDEX by_case ON dbo.ci (cs DESC);
INSERT dbo.ci VALUES (N'c', N'AB'), (N'd', N'ab'), (N'e', NULL);
SELECT cs FROM dbo.ci ORDER BY cs;
SELECT w FROM dbo.ci WHERE cs = 'ab';
SELECT w FROM dbo.ci WHERE w = 'resume';
SELECT cs FROM dbo.ci WHERE cs = 'ab' COLLATE Latin1_General_CI_AS ORDER BY cs;
GO
INSERT dbo.ci VALUES (N'f', N'ab ');
GO
-- Joins.
SELECT a.w, b.w FROM dbo.word AS a JOIN dbo.word AS b ON a.w = b.w WHERE a.n < 3 ORDER BY a.n;
SELECT a.n, b.cs FROM dbo.word AS a JOIN dbo.ci AS b ON a.w = b.w COLLATE Latin1_General_CS_AS ORDER BY a.n;
SELECT a.n, b.cs FROM dbo.word AS a LEFT JOIN dbo.ci AS b ON a.w COLLATE Latin1_General_CI_AS = b.w ORDER BY a.n;
SELECT a.n, b.w FROM dbo.word AS a FULL JOIN (SELECT 'A' AS w UNION ALL SELECT 'c') AS b ON a.w = b.w ORDER BY a.n;
GO
SELECT a.n FROM dbo.word AS a JOIN dbo.ci AS b ON a.w = b.w;
GO
SELECT n FROM dbo.word WHERE w <= (SELECT MAX(w) FROM dbo.ci);
GO
SELECT n FROM dbo.word WHERE w IN (SELECT w FROM dbo.ci);
GO
SELECT n FROM dbo.word AS a JOIN dbo.ci AS b ON a.w LIKE b.w;
GO
SELECT n FROM dbo.word WHERE w COLLATE Latin1_General_CI_AS = 'a' COLLATE Latin1_General_CS_AS;
GO
SELECT a.w + b.w FROM dbo.word AS a CROSS JOIN dbo.ci AS b;
GO
SELECT CASE WHEN a.n > 1 THEN a.w ELSE b.w END FROM dbo.word AS a CROSS JOIN dbo.ci AS b;
GO
SELECT COUNT(*) FROM dbo.word AS a CROSS JOIN dbo.ci AS b WHERE a.w + b.w = 'x';
GO
SELECT COUNT(*) AS n FROM dbo.word AS a CROSS JOIN dbo.ci AS b WHERE a.w + b.w = 'AC' COLLATE Latin1_General_CI_AS;
SELECT a.n FROM dbo.word AS a CROSS JOIN dbo.ci AS b ORDER BY a.w + b.w;
GO
SELECT REPLACE(a.w, b.w, 'x') FROM dbo.word AS a CROSS JOIN dbo.ci AS b;
GO
SELECT w FROM dbo.word UNION SELECT w FROM dbo.ci;
GO
SELECT w FROM dbo.word UNION ALL SELECT w FROM dbo.ci;
GO
DECLARE @s varchar(10);
SELECT @s = a.w + b.w FROM dbo.word AS a CROSS JOIN dbo.ci AS b;
GO
-- Groups and sets by the column's collation; derived tables and views keep it.
SELECT w, COUNT(*) AS n FROM dbo.word GROUP BY w;
SELECT COUNT(DISTINCT w) AS n, MIN(w) AS least, MAX(w) AS greatest FROM dbo.word;
SELECT w FROM dbo.word EXCEPT SELECT 'a';
SELECT d.w FROM (SELECT w FROM dbo.word UNION ALL SELECT 'c') AS d WHERE d.w > 'B' ORDER BY d.w;
GO
CREATE VIEW dbo.v AS SELECT w, UPPER(w) AS u, n, w COLLATE Latin1_General_CI_AS AS ci FROM dbo.word;
GO
SELECT n FROM dbo.v WHERE u = 'A' ORDER BY n;
SELECT n FROM dbo.v WHERE u = 'a';
SELECT n FROM dbo.v WHERE ci = 'a' ORDER BY n;
GO
-- Changes.
MERGE dbo.word AS t USING (VALUES ('a', 30), ('C', 31)) AS s (w, n) ON t.w = s.w
WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT (w, n) VALUES (s.w, s.n) OUTPUT $action, inserted.w, inserted.n;
UPDATE dbo.word SET n = 0 WHERE w = 'C';
DELETE dbo.word WHERE w = 'c';
SELECT w, n FROM dbo.word;
GO
-- Foreign keys.
CREATE TABLE dbo.refers (w varchar(20) COLLATE Latin1_General_BIN2 REFERENCES dbo.word (w) ON UPDATE CASCADE);
INSERT dbo.refers VALUES ('B'), ('b');
GO
INSERT dbo.refers VALUES ('c');
GO
UPDATE dbo.word SET w = 'bb' WHERE w = 'b';
SELECT w FROM dbo.refers;
GO
DELETE dbo.word WHERE w = 'B';
GO
CREATE TABLE dbo.other (w varchar(20) CONSTRAINT fk REFERENCES dbo.word (w));
GO
-- Constraints and computed columns.
CREATE TABLE dbo.checked (a varchar(10) COLLATE Latin1_General_CS_AS CHECK (a IN ('x', 'y')), up AS a + '!', lax AS a COLLATE Latin1_General_CI_AS);
INSERT dbo.checked VALUES ('x');
SELECT a FROM dbo.checked WHERE up = 'X!';
SELECT a FROM dbo.checked WHERE lax = 'X';
GO
INSERT dbo.checked VALUES ('X');
GO
-- Table variables, table types, temporary tables, functions.
DECLARE @t TABLE (w varchar(10) COLLATE Latin1_General_CS_AS PRIMARY KEY);
INSERT @t VALUES ('a'), ('A');
SELECT w FROM @t WHERE w = 'A';
GO
CREATE TYPE dbo.words AS TABLE (w nvarchar(10) COLLATE Latin1_General_BIN2 PRIMARY KEY);
GO
DECLARE @t dbo.words;
INSERT @t VALUES (N'a'), (N'A');
SELECT w FROM @t;
CREATE TABLE #t (w varchar(10) COLLATE DATABASE_DEFAULT, cs varchar(10) COLLATE SQL_Latin1_General_CP1_CS_AS);
INSERT #t VALUES ('a', 'a');
SELECT COUNT(*) AS n FROM #t WHERE w = 'A';
SELECT COUNT(*) AS n FROM #t WHERE cs = 'A';
SELECT w AS plain, cs AS other INTO #copy FROM #t;
SELECT COUNT(*) AS n FROM #copy WHERE other = 'A';
GO
CREATE FUNCTION dbo.f() RETURNS @r TABLE (w varchar(10) COLLATE Latin1_General_BIN2) AS BEGIN INSERT @r VALUES ('a'), ('B'); RETURN; END;
GO
SELECT w FROM dbo.f() WHERE w > 'a' OR w = 'b' OR w = 'B';
GO
-- ALTER TABLE.
ALTER TABLE dbo.ci ADD more varchar(10) COLLATE Latin1_General_BIN;
ALTER TABLE dbo.ci ALTER COLUMN more nvarchar(10) COLLATE Latin1_General_CS_AI;
SELECT name, collation_name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.ci');
GO
ALTER TABLE dbo.ci ALTER COLUMN cs nvarchar(20);
GO
ALTER TABLE dbo.ci ADD no int COLLATE Latin1_General_BIN;
GO
CREATE TABLE dbo.bad (w varchar(10) COLLATE nonsense);
GO
CREATE TABLE dbo.bad (w varchar(10) COLLATE Divehi_90_CI_AS);
GO
CREATE TABLE dbo.good (w nvarchar(10) COLLATE Latin1_General_100_CI_AS_SC_UTF8);
DROP TABLE dbo.good;
GO
-- Metadata.
SELECT TABLE_NAME, COLUMN_NAME, COLLATION_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME IN ('word', 'v', 'checked') ORDER BY 1, ORDINAL_POSITION;
SELECT name, collation FROM syscolumns WHERE id = OBJECT_ID('dbo.word') ORDER BY colid;
EXEC sp_tablecollations_100 'dbo.ci';
GO
-- A key that is changed to one that only its collation tells apart.
CREATE TABLE dbo.k (a varchar(10) COLLATE Latin1_General_CS_AS PRIMARY KEY, b varchar(10) COLLATE Latin1_General_CI_AS);
INSERT dbo.k VALUES ('a', 'x'), ('b', 'X');
UPDATE dbo.k SET a = UPPER(a);
SELECT a FROM dbo.k WHERE a = 'A';
SELECT a FROM dbo.k WHERE a = 'a';
CREATE INDEX kb ON dbo.k (b);
SELECT a FROM dbo.k WHERE b = 'x' ORDER BY a;
SELECT a FROM dbo.k WHERE b = 'x' COLLATE Latin1_General_BIN2;
GO
