-- Lists of values of a key are looked up one after the other, in the order of the key.
CREATE TABLE n (id int NOT NULL PRIMARY KEY, a int NULL, t varchar(20) NULL);
INSERT n SELECT value, value % 50, CONCAT('t', value) FROM GENERATE_SERIES(1, 3000);
CREATE INDEX by_a ON n(a);
CREATE TABLE s (code varchar(10) NOT NULL PRIMARY KEY, v int);
INSERT s VALUES ('a', 1), ('b', 2), ('c', 3), ('D', 4);
CREATE TABLE d (k int NOT NULL, j int NOT NULL, v int, PRIMARY KEY (k DESC, j));
INSERT d SELECT k.value, j.value, k.value * 10 + j.value FROM GENERATE_SERIES(1, 5) k CROSS JOIN GENERATE_SERIES(1, 3) j;
CREATE TABLE g (id uniqueidentifier NOT NULL PRIMARY KEY, at datetime2 NULL, b binary(2) NULL);
INSERT g VALUES ('00000000-0000-0000-0000-000000000001', '2026-01-01', 0x01), ('00000000-0000-0000-0000-000000000002', '2026-01-02', 0x02), ('10000000-0000-0000-0000-000000000000', NULL, NULL);
CREATE INDEX by_at ON g(at);
GO
SET SHOWPLAN_TEXT ON;
GO
SELECT t FROM n WHERE id IN (3, 1, 2);
SELECT t FROM n WHERE id = 5 OR id = 7 ORDER BY id DESC;
SELECT t FROM n WHERE id NOT IN (5, 7);
SELECT v FROM s WHERE code IN ('a', 'B');
DELETE n WHERE id IN (1, 2);
GO
SET SHOWPLAN_TEXT OFF;
GO
SELECT id, t FROM n WHERE id IN (2999, 3, 3, 1, 4000, -1, 2) ORDER BY id;
SELECT id FROM n WHERE id IN (3, 1, NULL, 2) ORDER BY id DESC;
SELECT id FROM n WHERE id IN (1.5, 2, 3) ORDER BY id;
SELECT id FROM n WHERE id IN ('7', '8') ORDER BY id;
SELECT id FROM n WHERE id IN (99999999999, 5) ORDER BY id;
SELECT COUNT(*) FROM n WHERE id IN (1, 2, 3, 9000);
SELECT COUNT(*) FROM n WHERE a IN (7, 8);
SELECT COUNT(*) FROM n WHERE a IN (7, NULL);
SELECT COUNT(*) FROM n WHERE a IS NULL OR a = 3;
SELECT TOP 3 id FROM n WHERE a IN (8, 7) ORDER BY id;
SELECT id FROM n WHERE (id = 4 OR id IN (6, 5)) AND a = 5;
SELECT id FROM n WHERE id IN (4, 6) AND id IN (6, 8);
SELECT id FROM n WHERE id IN (4, 5, 6, 7) AND id > 5 ORDER BY id;
GO
DECLARE @x bigint = 11, @y bigint = NULL, @z int = 12;
SELECT id FROM n WHERE id IN (@x, @y, @z, @z) ORDER BY id;
SELECT id FROM n WHERE id = @x OR id = @y OR id = @z ORDER BY id;
GO
-- Equal by the column's collation is equal.
SELECT code FROM s WHERE code IN ('a', 'A', 'a  ', 'd', 'x', NULL) ORDER BY code;
SELECT code FROM s WHERE code IN ('c', 'a') ORDER BY code DESC;
SELECT code FROM s WHERE code COLLATE Latin1_General_CS_AS IN ('A', 'D');
SELECT code FROM s WHERE code IN (N'b', N'B', N'c') ORDER BY code;
GO
-- A descending key, a list behind a value, a list in front of one.
SELECT k, j FROM d WHERE k IN (2, 4, 3) ORDER BY k DESC, j;
SELECT k, j FROM d WHERE k IN (2, 4) ORDER BY k, j DESC;
SELECT k, j FROM d WHERE k = 2 AND j IN (3, 1) ORDER BY j;
SELECT k, j FROM d WHERE k IN (1, 5) AND j = 2 ORDER BY k;
GO
SELECT b FROM g WHERE id IN ('10000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000002') ORDER BY id;
SELECT b FROM g WHERE at IN ('2026-01-02', '2026-01-02T00:00:00', NULL, '2027-01-01');
GO
-- With rows outside.
SELECT o.value, n.id FROM GENERATE_SERIES(1, 3) o JOIN n ON n.id IN (o.value, o.value + 1000) ORDER BY 1, 2;
SELECT o.value, n.id FROM GENERATE_SERIES(2998, 3001) o LEFT JOIN n ON n.id IN (o.value, -1) ORDER BY 1;
SELECT (SELECT COUNT(*) FROM n WHERE n.id IN (o.value, 1, 2)) FROM GENERATE_SERIES(1, 3) o;
GO
-- Changes that move what they look for.
UPDATE n SET id = id + 3000 WHERE id IN (1, 3001, 2);
SELECT id FROM n WHERE id IN (1, 2, 3001, 3002, 6001) ORDER BY id;
UPDATE n SET a = a + 1 WHERE a IN (1, 2) AND id < 110;
SELECT a, COUNT(*) FROM n WHERE id < 110 AND a IN (1, 2, 3) GROUP BY a ORDER BY a;
DELETE n WHERE id IN (3001, 3002, 3);
SELECT COUNT(*) FROM n;
GO
CREATE TABLE #t (id int PRIMARY KEY, v int);
INSERT #t VALUES (1, 1), (2, 2), (3, 3);
SELECT v FROM #t WHERE id IN (3, 1) ORDER BY id;
DECLARE @t TABLE (id int PRIMARY KEY, v int);
INSERT @t SELECT * FROM #t;
SELECT v FROM @t WHERE id IN (3, 2) ORDER BY id DESC;
GO
SET ANSI_NULLS OFF;
GO
SELECT COUNT(*) FROM n WHERE a IN (7, NULL);
GO
-- A list of one value is an equality.
SET SHOWPLAN_TEXT ON;
GO
SELECT v FROM d WHERE k IN (2) AND j = 3;
GO
SET SHOWPLAN_TEXT OFF;
GO
SELECT v FROM d WHERE k IN (2) AND j = 3;
SELECT v FROM d WHERE k IN (NULL) AND j = 3;
GO
-- What was looked up and left half-way is read as a whole the next time.
CREATE TABLE big (id int NOT NULL PRIMARY KEY, filler char(200) NOT NULL DEFAULT '');
INSERT big (id) SELECT value FROM GENERATE_SERIES(1, 1000);
SELECT o.value, c.id FROM GENERATE_SERIES(1, 2) o
CROSS APPLY (SELECT TOP (IIF(o.value = 1, 1, 2000)) id FROM big WHERE id IN (SELECT s.value FROM GENERATE_SERIES(1, IIF(o.value = 1, 3, 900)) s) AND id > 895 * (o.value - 1)) c;
GO
