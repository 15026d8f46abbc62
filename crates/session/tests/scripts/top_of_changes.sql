-- Subqueries in TOP of UPDATE, DELETE and MERGE.
CREATE TABLE t (k int PRIMARY KEY, v int NOT NULL);
CREATE TABLE n (count int);
INSERT n VALUES (2);
INSERT t SELECT value, 0 FROM GENERATE_SERIES(1, 10);
GO
UPDATE TOP (SELECT count FROM n) t SET v = 1;
DELETE TOP (SELECT MAX(count) FROM n) FROM t WHERE k > 5;
UPDATE TOP ((SELECT count FROM n) + 1) x SET v = 2 FROM t AS x JOIN n ON n.count < x.k;
SELECT COUNT(*) AS left_over, SUM(v) AS changed FROM t;
DECLARE @one int = 1;
UPDATE TOP (@one + 1) t SET v = 3 WHERE v = 0;
SELECT COUNT(*) AS threes FROM t WHERE v = 3;
DELETE TOP (SELECT 0) FROM t;
MERGE TOP (SELECT count FROM n) t USING (VALUES (101), (102), (103)) AS s (k) ON s.k = t.k WHEN NOT MATCHED THEN INSERT VALUES (s.k, 9);
SELECT COUNT(*) AS merged FROM t WHERE v = 9;
GO
UPDATE TOP (SELECT -1) t SET v = 4;
GO
UPDATE TOP (SELECT count FROM n WHERE 1 = 0) t SET v = 4;
GO
-- A view whose rows a trigger changes.
CREATE VIEW w AS SELECT k, v FROM t;
GO
CREATE TRIGGER instead ON w INSTEAD OF DELETE AS DELETE t WHERE k IN (SELECT k FROM deleted);
GO
DELETE TOP (SELECT count FROM n) FROM w WHERE v = 9;
SELECT COUNT(*) AS nines FROM t WHERE v = 9;
GO
