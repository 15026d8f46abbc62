-- Keys that an UPDATE changes as a set: a row takes the key that another row of the statement leaves.
CREATE TABLE t (id int NOT NULL CONSTRAINT pk PRIMARY KEY, u int NOT NULL CONSTRAINT uq UNIQUE, n varchar(10) NOT NULL)
INSERT t VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, 'three')
UPDATE t SET id = id + 1
SELECT * FROM t
UPDATE t SET id = id - 1
UPDATE t SET id = 5 - id, u = 40 - u
SELECT * FROM t
UPDATE t SET u = u + 10 WHERE id > 1
SELECT id, u FROM t WHERE u = 30
GO
-- A key that is there in the end is a violation, and nothing has changed.
UPDATE t SET id = id + 1 WHERE id < 4
UPDATE t SET id = 7
UPDATE t SET u = 30 WHERE u = 20
UPDATE t SET id = 9, u = 5 WHERE id IN (2, 3)
SELECT * FROM t
GO
-- Heaps, unique indexes with filters, descending keys of two columns.
CREATE TABLE h (a int, b int)
CREATE UNIQUE INDEX ux ON h (a DESC, b) WHERE a IS NOT NULL
INSERT h VALUES (1, 1), (2, 1), (NULL, 1), (NULL, 1)
UPDATE h SET a = a + 1
UPDATE h SET a = CASE WHEN a = 3 THEN 2 WHEN a = 2 THEN 3 END
UPDATE h SET a = 3 WHERE a IS NULL
UPDATE h SET a = 1 WHERE a IS NULL
SELECT a, b FROM h ORDER BY a, b
GO
-- A row is changed once, though it moves on in the index that finds it.
CREATE TABLE w (id int IDENTITY PRIMARY KEY, a int, b int, INDEX ix (a, b))
INSERT w (a, b) SELECT 1, value FROM GENERATE_SERIES(1, 1000)
UPDATE w SET b = b + 500 WHERE a = 1 AND b > 0
SELECT MIN(b) AS least, MAX(b) AS most, SUM(b) AS total FROM w
GO
-- OUTPUT, joined updates, MERGE and triggers see each row once.
UPDATE t SET id = id + 1 OUTPUT deleted.id, inserted.id, inserted.n
UPDATE x SET id = x.id + y.step FROM t AS x JOIN (VALUES (1), (1)) AS y (step) ON 1 = 1
MERGE t USING (VALUES (4, 'four'), (5, 'five'), (6, 'six')) AS s (id, n) ON t.id = s.id
WHEN MATCHED AND t.id = 4 THEN DELETE
WHEN MATCHED THEN UPDATE SET id = s.id + 1, u = s.id
WHEN NOT MATCHED THEN INSERT VALUES (5, 1, s.n)
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET id = t.id + 1
OUTPUT $action, deleted.id, inserted.id;
SELECT * FROM t
GO
CREATE TRIGGER watch ON t AFTER UPDATE AS
SELECT d.id AS was, i.id AS became FROM deleted d JOIN inserted i ON i.n = d.n ORDER BY 1
SELECT COUNT(*) AS rows_now FROM t
GO
UPDATE t SET id = id - 1
UPDATE t SET id = 0
DROP TRIGGER watch
GO
-- Rolled back.
BEGIN TRAN
UPDATE t SET id = id + 1
SELECT MIN(id), MAX(id), COUNT(*) FROM t
ROLLBACK
SELECT MIN(id), MAX(id), COUNT(*) FROM t
DECLARE @v TABLE (k int PRIMARY KEY) INSERT @v VALUES (1), (2), (3)
UPDATE @v SET k += 1
SELECT k FROM @v
CREATE TABLE #t (k int PRIMARY KEY, s varchar(max)) INSERT #t VALUES (1, REPLICATE(CAST('a' AS varchar(max)), 20000)), (2, REPLICATE(CAST('b' AS varchar(max)), 20000))
UPDATE #t SET k += 1
UPDATE #t SET k += 1, s = s + 'x' WHERE k = 3
SELECT k, LEN(s) AS length, LEFT(s, 1) AS first, RIGHT(s, 1) AS last FROM #t
GO
-- Foreign keys: rows that refer to a key follow the row that had it.
CREATE TABLE p (id int NOT NULL PRIMARY KEY, parent int CONSTRAINT self REFERENCES p, n int)
CREATE TABLE c (pid int CONSTRAINT up REFERENCES p ON UPDATE CASCADE, was int)
INSERT p VALUES (1, NULL, 1), (2, NULL, 2), (3, NULL, 3), (4, NULL, 4)
INSERT c VALUES (1, 1), (2, 2), (2, 2), (3, 3), (4, 4), (4, 4)
UPDATE p SET id = id + 1
SELECT pid, was FROM c ORDER BY was
UPDATE p SET id = CASE id WHEN 2 THEN 3 WHEN 3 THEN 4 WHEN 4 THEN 2 ELSE 9 END
SELECT pid, was FROM c ORDER BY was
SELECT id, n FROM p ORDER BY id
UPDATE p SET id = CASE id WHEN 2 THEN 3 WHEN 3 THEN 2 ELSE id END
SELECT pid, was FROM c ORDER BY was
GO
CREATE TABLE s (id int NOT NULL PRIMARY KEY, parent int CONSTRAINT within REFERENCES s)
INSERT s VALUES (1, NULL), (2, 1), (3, 2)
UPDATE s SET id = id + 1
UPDATE s SET id = id + 1, parent = parent + 1
UPDATE s SET id = 6 - id, parent = 6 - parent
SELECT * FROM s
DROP TABLE t, h, w, c, p, s
