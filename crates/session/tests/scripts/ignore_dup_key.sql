-- An index with IGNORE_DUP_KEY leaves out rows whose keys are there; the statement says so once.
CREATE TABLE t (id int NOT NULL CONSTRAINT pk_t PRIMARY KEY WITH (IGNORE_DUP_KEY = ON), v int);
INSERT t VALUES (1, 10), (2, 20), (1, 11), (2, 21), (3, 30);
SELECT @@ROWCOUNT AS came, @@ERROR AS error;
INSERT t VALUES (1, 12);
SELECT @@ROWCOUNT AS came;
INSERT t SELECT value, -value FROM GENERATE_SERIES(2, 6);
SELECT * FROM t ORDER BY id;
GO
-- OUTPUT tells of what came in; UPDATE and MERGE leave nothing out.
DECLARE @told TABLE (id int);
INSERT t OUTPUT inserted.id INTO @told VALUES (6, 1), (7, 1), (7, 2);
SELECT id FROM @told;
GO
UPDATE t SET id = 1 WHERE id = 2;
GO
MERGE t USING (VALUES (1)) AS s (id) ON t.id = -s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id);
GO
-- A second index is met when the row is in the table already: it is taken out again.
CREATE TABLE h (n int IDENTITY, u int NULL, s varchar(20));
CREATE UNIQUE INDEX u ON h (u) WITH (IGNORE_DUP_KEY = ON);
CREATE UNIQUE INDEX s ON h (s);
INSERT h (u, s) VALUES (1, 'a'), (1, 'b'), (NULL, 'c'), (NULL, 'd'), (2, 'e');
SELECT n, u, s FROM h ORDER BY n;
SELECT COUNT(*) AS by_s FROM h WITH (INDEX (s));
GO
INSERT h (u, s) VALUES (3, 'f'), (4, 'a');
GO
SELECT n, u, s FROM h ORDER BY n;
GO
-- In a transaction, what a row that was left out has done is gone, and the rest stays.
BEGIN TRANSACTION;
INSERT h (u, s) VALUES (5, 'g'), (5, 'h');
INSERT h (u, s) VALUES (5, 'i'), (6, 'j');
ROLLBACK;
SELECT COUNT(*) AS rows_left FROM h;
INSERT h (u, s) VALUES (5, 'h');
SELECT u, s FROM h WHERE u = 5;
GO
-- Long values go with their row.
CREATE TABLE l (id int, body varchar(max));
CREATE UNIQUE CLUSTERED INDEX c ON l (id) WITH IGNORE_DUP_KEY;
INSERT l VALUES (1, REPLICATE(CAST('x' AS varchar(max)), 20000)), (1, REPLICATE(CAST('y' AS varchar(max)), 20000)), (2, 'z');
SELECT id, LEN(body) AS bytes, LEFT(body, 1) AS first FROM l ORDER BY id;
GO
-- Triggers see the rows that came in.
CREATE TABLE seen (id int);
GO
CREATE TRIGGER told ON t AFTER INSERT AS INSERT seen SELECT id FROM inserted;
GO
INSERT t (id) VALUES (1), (100), (100);
SELECT id FROM seen;
DROP TRIGGER told;
GO
-- INSERT ... EXEC, table variables, types of tables and temporary tables.
INSERT t (id) EXEC ('SELECT 1 UNION ALL SELECT 101');
SELECT @@ROWCOUNT AS came;
DECLARE @v TABLE (id int PRIMARY KEY WITH (IGNORE_DUP_KEY = ON));
INSERT @v VALUES (1), (1), (2);
SELECT COUNT(*) AS in_variable FROM @v;
CREATE TABLE #t (id int UNIQUE WITH (IGNORE_DUP_KEY = ON));
INSERT #t VALUES (1), (1), (2);
SELECT COUNT(*) AS in_temporary FROM #t;
DROP TABLE #t;
GO
CREATE TYPE ids AS TABLE (id int NOT NULL PRIMARY KEY WITH (IGNORE_DUP_KEY = ON));
GO
DECLARE @p ids;
INSERT @p VALUES (1), (1), (2);
SELECT COUNT(*) AS in_type FROM @p;
GO
-- What the views say, and ALTER INDEX.
SELECT name, ignore_dup_key FROM sys.indexes WHERE object_id IN (OBJECT_ID('t'), OBJECT_ID('h')) ORDER BY name;
ALTER INDEX s ON h SET (IGNORE_DUP_KEY = ON);
INSERT h (u, s) VALUES (50, 'a');
ALTER INDEX s ON h REBUILD WITH (IGNORE_DUP_KEY = OFF);
GO
INSERT h (u, s) VALUES (51, 'a');
GO
ALTER INDEX u ON h REBUILD;
CREATE UNIQUE INDEX s ON h (s) WITH (DROP_EXISTING = ON, IGNORE_DUP_KEY = ON);
SELECT name, ignore_dup_key FROM sys.indexes WHERE object_id = OBJECT_ID('h') ORDER BY name;
EXEC sp_helpindex 'h';
GO
-- Where it cannot be.
CREATE INDEX i ON no_table (id) WITH (IGNORE_DUP_KEY = ON);
GO
CREATE UNIQUE INDEX i ON h (n) WHERE n > 0 WITH (IGNORE_DUP_KEY = ON);
GO
CREATE TABLE e (id int, INDEX i (id) WITH (IGNORE_DUP_KEY = ON));
GO
ALTER INDEX pk_t ON t SET (IGNORE_DUP_KEY = OFF);
GO
CREATE INDEX i ON h (n);
ALTER INDEX i ON h SET (IGNORE_DUP_KEY = ON);
GO
CREATE UNIQUE INDEX f ON h (n) WHERE n > 0;
ALTER INDEX f ON h SET (IGNORE_DUP_KEY = ON);
GO
