-- Rows are changed through views upon views and common tables, and WITH CHECK OPTION of each of them holds.
CREATE TABLE b (id int NOT NULL PRIMARY KEY, g int NULL, t varchar(10) NULL);
GO
CREATE VIEW v1 AS SELECT id, g, t FROM b WHERE g > 0 WITH CHECK OPTION;
GO
CREATE VIEW v2 AS SELECT id AS number, g AS grade, UPPER(t) AS shown FROM v1;
GO
CREATE VIEW v3 AS SELECT number, grade FROM v2 WHERE number < 10 WITH CHECK OPTION;
GO
CREATE VIEW v4 (a, b) AS SELECT x.number, x.grade FROM v3 AS x WHERE x.grade < 100;
GO
INSERT v2 (number, grade) VALUES (1, 1), (12, 12);
INSERT v4 VALUES (2, 2);
INSERT v4 (b, a) SELECT 3, 3;
SELECT * FROM b;
GO
-- Of the view below, of the view itself, and of those above that say nothing.
INSERT v2 (number, grade) VALUES (4, -1);
GO
INSERT v3 VALUES (20, 1);
GO
INSERT v4 VALUES (5, 500);
SELECT a, b FROM v4 ORDER BY a;
SELECT id, g FROM b ORDER BY id;
GO
UPDATE v3 SET grade = -5 WHERE number = 2;
GO
UPDATE v4 SET b = 7 WHERE a = 2;
UPDATE x SET grade += 1 FROM v3 AS x JOIN b ON b.id = x.number WHERE b.id < 3;
UPDATE v3 SET number = 11 WHERE number = 3;
GO
SELECT id, g FROM b ORDER BY id;
GO
-- What is derived cannot be changed.
UPDATE v2 SET shown = 'x';
GO
DELETE v4 WHERE a = 3;
DELETE FROM v2 WHERE grade = 12;
MERGE v3 AS target USING (VALUES (1, 40), (6, 60)) AS source (number, grade) ON target.number = source.number
WHEN MATCHED THEN UPDATE SET grade = source.grade
WHEN NOT MATCHED THEN INSERT (number, grade) VALUES (source.number, source.grade);
SELECT id, g FROM b ORDER BY id;
GO
MERGE v3 AS target USING (VALUES (30, 3)) AS source (number, grade) ON target.number = source.number
WHEN NOT MATCHED THEN INSERT (number, grade) VALUES (source.number, source.grade);
GO
-- A view whose rows a common table gives.
CREATE VIEW w1 AS WITH c AS (SELECT id, g FROM b WHERE g < 50) SELECT id, g FROM c;
GO
CREATE VIEW w2 AS WITH c AS (SELECT id, g AS grade FROM b), d AS (SELECT id AS n, grade FROM c WHERE grade > 3) SELECT n, grade FROM d WHERE n <> 13 WITH CHECK OPTION;
GO
UPDATE w1 SET g = 8 WHERE id = 1;
INSERT w1 VALUES (9, 9);
DELETE w1 WHERE id = 2;
INSERT w2 VALUES (12, 10);
SELECT * FROM w2 ORDER BY n;
GO
INSERT w2 VALUES (13, 10);
GO
INSERT w2 VALUES (14, 1);
GO
-- A statement's own common table over a view.
WITH c AS (SELECT number, grade FROM v3 WHERE number > 1) UPDATE c SET grade = 99;
SELECT id, g FROM b ORDER BY id;
GO
-- Groups and joins below are what they are above.
CREATE VIEW grouped AS SELECT g, COUNT(*) AS n FROM b GROUP BY g;
GO
CREATE VIEW over_grouped AS SELECT g, n FROM grouped;
GO
UPDATE over_grouped SET g = 1;
GO
CREATE TABLE other (id int NOT NULL PRIMARY KEY, note varchar(10) NULL);
INSERT other VALUES (1, 'one'), (6, 'six');
GO
CREATE VIEW joined AS SELECT b.id, b.g, other.note FROM b JOIN other ON other.id = b.id;
GO
CREATE VIEW over_joined AS SELECT id AS i, g AS h, note AS remark FROM joined WHERE g > 0;
GO
UPDATE over_joined SET h = 70 WHERE remark = 'six';
UPDATE over_joined SET remark = 'ONE' WHERE i = 1;
SELECT * FROM over_joined ORDER BY i;
GO
UPDATE over_joined SET remark = 'ONE', h = 3;
GO
DELETE over_joined;
GO
CREATE VIEW checked_join AS SELECT id, g FROM joined WHERE g > 0 WITH CHECK OPTION;
GO
-- Whoever may change the view need not be able to change what lies below.
CREATE LOGIN reader WITH PASSWORD = 'Strong_pass1';
CREATE USER reader FOR LOGIN reader;
GRANT SELECT, UPDATE ON v3 TO reader;
GO
EXECUTE AS USER = 'reader';
UPDATE v3 SET grade = 21 WHERE number = 6;
SELECT number, grade FROM v3 WHERE number = 6;
UPDATE v2 SET grade = 22 WHERE number = 6;
REVERT;
GO
