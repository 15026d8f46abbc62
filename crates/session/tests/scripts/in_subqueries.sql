-- Rows whose value a subquery has are looked up where these are few.
SET NOCOUNT ON;
CREATE TABLE n (id int NOT NULL PRIMARY KEY, a int NULL, t varchar(20) NULL, d decimal(9, 2) NULL);
CREATE INDEX by_a ON n(a);
CREATE INDEX by_t ON n(t);
CREATE INDEX by_d ON n(d);
DECLARE @from int = 1;
WHILE @from < 8000
BEGIN
    INSERT n SELECT value, value % 500, CONCAT('t', value), value FROM GENERATE_SERIES(@from, @from + 499);
    CHECKPOINT;
    SET @from += 500;
END;
CREATE TABLE w (v int NULL, t varchar(10), big bigint);
INSERT w VALUES (7999, 't7', 7999), (3, 'T8', 99999999999), (3, 't8', 3), (1, 'x', NULL), (40000, NULL, 2), (NULL, 't9', -1);
CREATE TABLE k (x int NOT NULL, y int NOT NULL, PRIMARY KEY (x DESC, y));
INSERT k SELECT x.value, y.value FROM GENERATE_SERIES(1, 100) x CROSS JOIN GENERATE_SERIES(1, 40) y;
SET NOCOUNT OFF;
GO
CREATE PROCEDURE reads_few @text nvarchar(400) AS
-- How many pages a statement reads: fewer than the table has, or not.
DECLARE @before bigint = (SELECT logical_reads FROM sys.dm_exec_sessions WHERE session_id = @@SPID), @after bigint;
EXEC (@text);
SET @after = (SELECT logical_reads FROM sys.dm_exec_sessions WHERE session_id = @@SPID);
PRINT IIF(@after - @before < 40, 'looked up', 'read');
GO
SELECT id, t FROM n WHERE id IN (SELECT v FROM w) ORDER BY id;
SELECT id FROM n WHERE id IN (SELECT v FROM w) ORDER BY id DESC;
SELECT id FROM n WHERE id IN (SELECT big FROM w) ORDER BY id;
SELECT id FROM n WHERE id NOT IN (SELECT v FROM w WHERE v IS NOT NULL) AND id < 5 ORDER BY id;
SELECT id FROM n WHERE id IN (SELECT v FROM w WHERE v = -1);
SELECT COUNT(*) FROM n WHERE id IN (SELECT v FROM w WHERE 1 = 0);
SELECT COUNT(*), MIN(id), MAX(id) FROM n WHERE a IN (SELECT v FROM w);
SELECT TOP 3 id FROM n WHERE a IN (SELECT v FROM w) ORDER BY id;
SELECT id FROM n WHERE t IN (SELECT t FROM w) ORDER BY id;
SELECT id FROM n WHERE d IN (SELECT v FROM w) ORDER BY id;
SELECT id FROM n WHERE id IN (SELECT v FROM w) AND a IN (SELECT v FROM w) ORDER BY id;
SELECT id FROM n WHERE id IN (SELECT v FROM w) OR id = 7 ORDER BY id;
SELECT id FROM n WHERE id = ANY (SELECT v FROM w) ORDER BY id;
SELECT x, COUNT(*) FROM k WHERE x IN (SELECT v FROM w) GROUP BY x ORDER BY x;
SELECT TOP 2 x, y FROM k WHERE x IN (SELECT v FROM w) ORDER BY x DESC, y;
SELECT COUNT(*) FROM n WHERE id IN (SELECT value FROM OPENJSON('[5, 6, 7]') WITH (value int '$'));
SELECT COUNT(*) FROM n WHERE id IN (SELECT a.id FROM n AS a);
GO
-- Of the row outside, and of rows that are made anew.
SELECT o.value, (SELECT COUNT(*) FROM n WHERE id IN (SELECT v FROM w WHERE v <= o.value)) FROM GENERATE_SERIES(1, 3) o;
SELECT o.value, c.found FROM GENERATE_SERIES(1, 3) o CROSS APPLY (SELECT COUNT(*) AS found FROM n WHERE id IN (SELECT v FROM w) AND id <= o.value) c;
GO
EXEC reads_few N'SELECT COUNT(*) FROM n WHERE id IN (SELECT v FROM w)';
EXEC reads_few N'SELECT MAX(t) FROM n WHERE id IN (SELECT id FROM n AS few WHERE few.id < 4)';
EXEC reads_few N'SELECT MAX(t) FROM n WHERE id IN (SELECT id FROM n AS many WHERE many.id < 6000)';
EXEC reads_few N'UPDATE n SET t = t WHERE id IN (SELECT v FROM w)';
EXEC reads_few N'SELECT MAX(t) FROM n WHERE id IN (3, 4, 7000)';
EXEC reads_few N'SELECT MAX(t) FROM n WHERE id + 0 IN (3, 4, 7000)';
GO
-- Changes that move what they look for.
UPDATE n SET a = a + 2 WHERE a IN (SELECT v FROM w WHERE v < 4);
SELECT COUNT(*) FROM n WHERE a = 3;
SELECT COUNT(*) FROM n WHERE a = 5;
UPDATE n SET id = id + 8000 WHERE id IN (SELECT value FROM GENERATE_SERIES(7998, 8001));
SELECT COUNT(*), MAX(id) FROM n;
DELETE n WHERE id IN (SELECT TOP 10 id FROM n AS own ORDER BY id DESC);
SELECT COUNT(*), MAX(id) FROM n;
DELETE TOP (2) FROM n WHERE id IN (SELECT v FROM w);
SELECT COUNT(*), MIN(id) FROM n;
SELECT 1 / 0 FROM n WHERE id IN (SELECT v FROM w WHERE v = 12345);
SELECT id FROM n WHERE id IN (SELECT 1 / 0);
GO
