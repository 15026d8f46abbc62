-- INSERT into a common table is one into the table below it.
CREATE TABLE dbo.t (id int NOT NULL, x int NULL, y varchar(5) NOT NULL DEFAULT 'd');
CREATE USER clerk WITHOUT LOGIN;
GRANT INSERT, SELECT ON dbo.t TO clerk;
GO
WITH c AS (SELECT * FROM dbo.t) INSERT INTO c (id, x) VALUES (1, 10), (2, 20);
WITH c (n, text) AS (SELECT id, y FROM dbo.t WHERE x > 5) INSERT c (text, n) OUTPUT inserted.id, inserted.y SELECT 'e', id + 10 FROM dbo.t;
WITH b AS (SELECT x AS z, id FROM dbo.t) INSERT b (id, z) VALUES (30, 3);
WITH c AS (SELECT id, x FROM dbo.t), s AS (SELECT MAX(id) AS m FROM dbo.t) INSERT c SELECT m + 1, 7 FROM s;
SELECT * FROM dbo.t ORDER BY id;
GO
WITH c AS (SELECT id + 1 AS id FROM dbo.t) INSERT c (id) VALUES (1);
GO
WITH c AS (SELECT id, COUNT(*) AS n FROM dbo.t GROUP BY id) INSERT c (id) VALUES (1);
GO
WITH c AS (SELECT id FROM dbo.t) INSERT c (nothing) VALUES (1);
GO
EXECUTE AS USER = 'clerk';
WITH c AS (SELECT id FROM dbo.t) INSERT c VALUES (40);
REVERT;
DENY INSERT ON dbo.t TO clerk;
EXECUTE AS USER = 'clerk';
GO
WITH c AS (SELECT id FROM dbo.t) INSERT c VALUES (41);
GO
REVERT;
SELECT COUNT(*) AS rows FROM dbo.t WHERE id >= 40;
DROP TABLE dbo.t;
DROP USER clerk;
GO
