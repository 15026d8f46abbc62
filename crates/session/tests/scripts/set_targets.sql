-- What SET assigns to is a column of what is changed, by the name that the statement gives it.
CREATE TABLE t (id int NOT NULL, v int NULL);
CREATE TABLE s (id int NOT NULL, v int NULL);
INSERT t VALUES (1, 1);
INSERT s VALUES (1, 1);
GO
UPDATE t SET zz.v = 5;
GO
UPDATE t SET s.v = 5 FROM t JOIN s ON t.id = s.id;
GO
UPDATE a SET t.v = 5 FROM t AS a;
GO
UPDATE a SET s.v = 5 FROM t AS a JOIN s ON s.id = a.id;
GO
MERGE t USING (VALUES (1)) AS s (id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET s.id = 2;
GO
MERGE t AS x USING (VALUES (1)) AS s (id) ON x.id = s.id WHEN MATCHED THEN UPDATE SET t.v = 2;
GO
UPDATE t SET t.nothing = 5;
GO
UPDATE t SET t.v = 6;
UPDATE a SET a.v += 1 FROM t AS a;
UPDATE dbo.t SET dbo.t.v += 1;
UPDATE t SET t.v += 1 FROM t JOIN s ON t.id = s.id;
UPDATE a SET a.v += 1 FROM t AS a JOIN s ON a.id = s.id;
MERGE t AS x USING (VALUES (1)) AS s (id) ON x.id = s.id WHEN MATCHED THEN UPDATE SET x.v += 1;
WITH c AS (SELECT id, v FROM t) UPDATE c SET c.v += 1;
SELECT * FROM t;
GO
CREATE VIEW w AS SELECT id, v FROM t;
GO
UPDATE w SET w.v += 1;
UPDATE w SET t.v += 1;
GO
CREATE TABLE #t (id int NULL, v int NULL);
INSERT #t VALUES (1, 1);
UPDATE #t SET #t.v = 2;
DECLARE @t TABLE (id int NULL, v int NULL);
INSERT @t VALUES (1, 1);
UPDATE x SET x.v = 3 FROM @t AS x;
SELECT (SELECT v FROM #t) AS temporary, (SELECT v FROM @t) AS variable, (SELECT v FROM t) AS stored;
GO
