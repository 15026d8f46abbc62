CREATE TABLE dbo.t (id int PRIMARY KEY, name nvarchar(20) NOT NULL UNIQUE, note varchar(20) COLLATE Latin1_General_CI_AS NULL);
INSERT dbo.t VALUES (1, N'abc', 'x'), (2, N'ABD', 'X '), (3, N'äbc', NULL), (4, N'Zoo', 'y');
GO
SELECT id FROM dbo.t WHERE name = 'ABC';
SELECT id FROM dbo.t WHERE name COLLATE Latin1_General_CS_AS = 'ABC';
SELECT id FROM dbo.t WHERE name = N'abc' COLLATE Latin1_General_BIN2;
SELECT id FROM dbo.t WHERE note COLLATE Latin1_General_BIN = 'X';
SELECT id FROM dbo.t WHERE name COLLATE Latin1_General_100_CS_AS_KS_WS IN ('ABD', 'zoo', 'abc');
SELECT id FROM dbo.t WHERE name COLLATE SQL_Latin1_General_CP1_CS_AS BETWEEN 'A' AND 'Zz' ORDER BY id;
SELECT id FROM dbo.t WHERE name COLLATE Latin1_General_CS_AS LIKE 'a%';
SELECT id FROM dbo.t WHERE name LIKE 'a%' COLLATE DATABASE_DEFAULT ORDER BY id;
SELECT name COLLATE Latin1_General_CI_AS AS name FROM dbo.t ORDER BY name;
SELECT name FROM dbo.t ORDER BY name COLLATE Latin1_General_BIN2 DESC;
SELECT a.id, b.id AS other FROM dbo.t AS a JOIN dbo.t AS b ON UPPER(a.name) COLLATE Latin1_General_BIN2 = b.name;
SELECT id, CASE name COLLATE Latin1_General_CS_AS WHEN 'ABC' THEN 'upper' WHEN 'abc' THEN 'lower' END AS of_case, NULLIF(name COLLATE Latin1_General_CS_AS, 'abd') AS other FROM dbo.t ORDER BY id;
GO
SELECT 1 WHERE 'a' COLLATE nonsense = 'a';
GO
SELECT 1 COLLATE Latin1_General_BIN2;
GO
SELECT id FROM dbo.t WHERE name COLLATE Latin1_General_CI_AI = 'abc';
GO
SELECT id FROM dbo.t WHERE name COLLATE Turkish_CS_AS = 'abc';
GO
SELECT DISTINCT name COLLATE Latin1_General_CS_AS FROM dbo.t;
GO
SELECT COUNT(*) FROM dbo.t GROUP BY name COLLATE Latin1_General_CS_AS;
GO
SELECT REPLACE(name COLLATE Latin1_General_CS_AS, 'a', 'b') FROM dbo.t;
GO
SELECT id FROM dbo.t WHERE name COLLATE Latin1_General_CS_AS IN (SELECT note FROM dbo.t);
GO
CREATE TABLE dbo.u (name varchar(10) COLLATE Latin1_General_BIN2);
GO
CREATE TABLE dbo.u (name varchar(10) COLLATE nonsense);
GO
CREATE DATABASE other COLLATE Latin1_General_CS_AS;
GO
CREATE DATABASE other COLLATE SQL_Latin1_General_CP1_CI_AS;
SELECT name, collation_name FROM sys.databases WHERE name = 'other';
GO
