-- Plans: SHOWPLAN shows statements without running them, STATISTICS PROFILE and XML those that have run.
CREATE TABLE dbo.reading (id int NOT NULL CONSTRAINT PK_reading PRIMARY KEY, place varchar(20) NOT NULL, celsius decimal(4,1) NULL);
CREATE INDEX IX_place ON dbo.reading (place);
CREATE TABLE dbo.heap (a int NULL, b varchar(10) NULL);
INSERT dbo.reading VALUES (1, 'bridge', 11.5), (2, 'sluice', 9.8), (3, 'bridge', NULL), (4, 'weir', 7.1);
INSERT dbo.heap VALUES (1, 'x'), (2, 'y'), (3, 'x');
GO
SET SHOWPLAN_TEXT ON;
GO
SELECT * FROM dbo.reading;
SELECT celsius + 1 FROM dbo.reading WHERE id = 3;
SELECT id FROM dbo.reading WHERE id > 1 AND id <= 3 AND celsius > 0 ORDER BY place DESC;
SELECT id FROM dbo.reading WHERE place = 'weir';
SELECT TOP 2 a FROM dbo.heap WHERE b LIKE 'x%' OR b IS NULL;
GO
SELECT r.place, COUNT(*) AS n, MAX(h.a) FROM dbo.reading r JOIN dbo.heap h ON h.a = r.id GROUP BY r.place HAVING COUNT(*) > 1;
SELECT h.a, r.place FROM dbo.heap h LEFT JOIN dbo.heap r2 ON r2.b = h.b LEFT JOIN dbo.reading r ON r.id = h.a;
SELECT a FROM dbo.heap WHERE EXISTS (SELECT 1 FROM dbo.reading r WHERE r.id = heap.a) UNION ALL SELECT 7;
SELECT COUNT(*), SUM(a) FROM dbo.heap;
SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) FROM dbo.heap;
SELECT value FROM STRING_SPLIT('a,b', ',');
SELECT name FROM sys.tables WHERE object_id > 5;
GO
DECLARE @id int = 2;
DECLARE @t TABLE (n int PRIMARY KEY);
INSERT @t SELECT id FROM dbo.reading WHERE id = @id;
UPDATE dbo.reading SET celsius = celsius * 2, place = UPPER(place) WHERE id = @id;
DELETE dbo.heap WHERE a IN (SELECT n FROM @t);
INSERT dbo.heap VALUES (4, 'z');
INSERT dbo.heap (a) VALUES (5), (@id);
MERGE dbo.reading AS t USING dbo.heap AS s ON t.id = s.a WHEN MATCHED THEN UPDATE SET place = s.b WHEN NOT MATCHED THEN INSERT VALUES (s.a, s.b, 1);
SELECT id INTO dbo.copied FROM dbo.reading;
IF EXISTS (SELECT 1 FROM dbo.heap) PRINT 'not run';
SET @id = (SELECT MAX(a) FROM dbo.heap);
GO
SELECT * FROM dbo.missing;
GO
SET SHOWPLAN_TEXT OFF;
GO
-- Nothing has run.
SELECT (SELECT COUNT(*) FROM dbo.heap), (SELECT COUNT(*) FROM dbo.reading WHERE celsius = 9.8), OBJECT_ID('dbo.copied');
GO
SET SHOWPLAN_ALL ON;
GO
SELECT r.id, r.place FROM dbo.heap h JOIN dbo.reading r ON r.id = h.a WHERE h.b = 'x';
SELECT name FROM sys.tables;
GO
SET SHOWPLAN_ALL OFF;
GO
SET SHOWPLAN_XML ON;
GO
SELECT id FROM dbo.reading WHERE place < 'c' AND celsius > 1;
SELECT 1 AS one;
GO
SET SHOWPLAN_XML OFF;
GO
SET SHOWPLAN_ALL ON;
SELECT 1;
GO
IF 1 = 1 SET SHOWPLAN_ALL ON;
GO
CREATE PROCEDURE dbo.shows AS SET SHOWPLAN_ALL ON;
GO
SET STATISTICS PROFILE ON;
SELECT r.id FROM dbo.heap h JOIN dbo.reading r ON r.id = h.a WHERE h.b = 'x';
UPDATE dbo.heap SET b = 'w' WHERE a > 1;
SELECT COUNT(*) FROM dbo.heap;
SELECT TOP 1 a FROM dbo.heap WHERE b = 'w';
SELECT @@ROWCOUNT;
-- Rows within a batch are not counted one by one.
SELECT MAX(value) FROM GENERATE_SERIES(1, 100) WHERE value < 50;
WITH down (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM down WHERE n < 3) SELECT n FROM down;
SET STATISTICS PROFILE OFF;
SELECT 'as before';
GO
-- A procedure's statements tell of themselves, each time anew.
CREATE PROCEDURE dbo.one @id int AS SELECT place FROM dbo.reading WHERE id = @id;
GO
SET STATISTICS PROFILE ON;
EXEC dbo.one 1;
EXEC dbo.one 9;
SET STATISTICS PROFILE OFF;
EXEC dbo.one 1;
GO
-- Who may see plans.
CREATE USER plain WITHOUT LOGIN;
GRANT SELECT ON dbo.heap TO plain;
EXECUTE AS USER = 'plain';
GO
SET SHOWPLAN_TEXT ON;
GO
SET STATISTICS XML ON;
GO
REVERT;
GRANT SHOWPLAN TO plain;
EXECUTE AS USER = 'plain';
GO
SET SHOWPLAN_TEXT ON;
GO
SELECT a FROM dbo.heap;
GO
SELECT id FROM dbo.reading;
GO
SET SHOWPLAN_TEXT OFF;
GO
REVERT;
SELECT permission_name, state_desc FROM sys.database_permissions WHERE grantee_principal_id = USER_ID('plain') ORDER BY 1;
-- An index that more of the conditions bound is taken before the clustered key, whose first column alone they bound.
CREATE TABLE dbo.accounts (tenant int NOT NULL, id int NOT NULL, code varchar(10) NOT NULL, place int NOT NULL, PRIMARY KEY (tenant, id), CONSTRAINT uq_code UNIQUE (tenant, code));
CREATE INDEX by_place ON dbo.accounts (tenant, place, code);
CREATE TABLE dbo.wanted (tenant int NOT NULL, code varchar(10) NOT NULL);
GO
SET SHOWPLAN_TEXT ON;
GO
SELECT id FROM dbo.accounts WHERE tenant = 1 AND code = 'x';
SELECT code FROM dbo.accounts WHERE tenant = 1 AND id = 2 AND code = 'x';
SELECT id FROM dbo.accounts WHERE tenant = 1 AND place = 2;
SELECT id FROM dbo.accounts WHERE tenant = 1 AND id > 2 AND place = 2;
SELECT w.code, a.id FROM dbo.wanted AS w LEFT JOIN dbo.accounts AS a ON a.tenant = w.tenant AND a.code = w.code;
GO
SET SHOWPLAN_TEXT OFF;
GO
DROP TABLE dbo.accounts, dbo.wanted;
GO
GO
-- Views of the system, and what a trigger sees, meet by a hash table.
SET SHOWPLAN_TEXT ON
GO
SELECT t.name, c.name FROM sys.tables AS t JOIN sys.columns AS c ON c.object_id = t.object_id
GO
SET SHOWPLAN_TEXT OFF
