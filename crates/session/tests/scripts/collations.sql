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
SELECT id FROM dbo.t WHERE name COLLATE Latin1_General_CI_AI = 'abc';
SELECT id FROM dbo.t WHERE name COLLATE Latin1_General_CI_AI LIKE 'A_C' ORDER BY id;
SELECT id FROM dbo.t WHERE name COLLATE Latin1_General_CS_AS LIKE '[a-c]%' ORDER BY id;
SELECT name COLLATE Latin1_General_CI_AS AS name FROM dbo.t ORDER BY name;
SELECT name FROM dbo.t ORDER BY name COLLATE Latin1_General_BIN2 DESC;
SELECT name FROM dbo.t ORDER BY name COLLATE SQL_Latin1_General_CP1_CS_AS;
SELECT a.id, b.id AS other FROM dbo.t AS a JOIN dbo.t AS b ON UPPER(a.name) COLLATE Latin1_General_BIN2 = b.name;
SELECT id, CASE name COLLATE Latin1_General_CS_AS WHEN 'ABC' THEN 'upper' WHEN 'abc' THEN 'lower' END AS of_case, NULLIF(name COLLATE Latin1_General_CS_AS, 'abd') AS other FROM dbo.t ORDER BY id;
GO
SELECT 1 WHERE 'a' COLLATE nonsense = 'a';
GO
SELECT 1 COLLATE Latin1_General_BIN2;
GO
SELECT id FROM dbo.t WHERE name COLLATE Turkish_CS_AS = 'abc';
GO
SELECT id FROM dbo.t WHERE name COLLATE SQL_Latin1_General_CP1_CS_AI = 'abc';
GO
SELECT id FROM dbo.t WHERE name COLLATE Latin1_General_100_CI_AS_SC_UTF8 = 'abc';
SELECT id FROM dbo.t WHERE note COLLATE Latin1_General_100_CI_AS_SC_UTF8 = 'abc';
GO
-- Rows told apart, grouped and counted.
CREATE TABLE #w (w varchar(10));
INSERT #w VALUES ('a'), ('A'), ('á'), ('b'), ('B '), ('b');
SELECT DISTINCT w FROM #w ORDER BY w;
SELECT DISTINCT w COLLATE Latin1_General_CS_AS AS w FROM #w ORDER BY w;
SELECT DISTINCT w COLLATE Latin1_General_BIN2 AS w FROM #w ORDER BY 1 DESC;
SELECT w COLLATE Latin1_General_CI_AI AS w, COUNT(*) AS n FROM #w GROUP BY w COLLATE Latin1_General_CI_AI ORDER BY n;
SELECT COUNT(DISTINCT w) AS ci, COUNT(DISTINCT w COLLATE Latin1_General_CS_AS) AS cs, COUNT(DISTINCT w COLLATE Latin1_General_CI_AI) AS ai FROM #w;
SELECT MIN(w COLLATE Latin1_General_BIN2) AS least, MAX(w COLLATE Latin1_General_BIN2) AS greatest, MAX(w) AS ci FROM #w;
SELECT STRING_AGG(w, ',') WITHIN GROUP (ORDER BY w COLLATE Latin1_General_BIN2) AS list FROM #w;
SELECT w COLLATE Latin1_General_CS_AS AS w FROM #w WHERE w LIKE 'b' UNION SELECT 'b' ORDER BY w;
SELECT w COLLATE Latin1_General_CS_AS AS w FROM #w EXCEPT SELECT 'B';
SELECT w COLLATE Latin1_General_CI_AI AS w FROM #w INTERSECT SELECT 'a';
SELECT w, RANK() OVER (ORDER BY w COLLATE Latin1_General_CI_AI) AS r, COUNT(*) OVER (PARTITION BY w COLLATE Latin1_General_CS_AS) AS n FROM #w ORDER BY w COLLATE Latin1_General_BIN2;
SELECT TOP (1) WITH TIES w FROM #w ORDER BY w COLLATE Latin1_General_CI_AI;
GO
SELECT w FROM #w GROUP BY w COLLATE Latin1_General_BIN2;
GO
SELECT DISTINCT w FROM #w ORDER BY w COLLATE Latin1_General_BIN2;
GO
-- Functions.
SELECT REPLACE('aAa' COLLATE Latin1_General_CS_AS, 'a', 'b') AS replaced, CHARINDEX('b', 'aBb' COLLATE Latin1_General_BIN2) AS at,
    PATINDEX('%B%', 'abB' COLLATE Latin1_General_CS_AS) AS pattern, TRANSLATE('aA' COLLATE Latin1_General_CS_AS, 'a', 'x') AS translated,
    CHARINDEX('e', 'é' COLLATE Latin1_General_CI_AI) AS unaccented, GREATEST('a' COLLATE Latin1_General_BIN2, 'B') AS greatest,
    IIF('a' = 'A' COLLATE Latin1_General_CS_AS, 1, 0) AS same;
SELECT id FROM dbo.t WHERE name COLLATE Latin1_General_CS_AS IN (SELECT UPPER(name) FROM dbo.t);
SELECT id FROM dbo.t WHERE name COLLATE Latin1_General_BIN2 >= ALL (SELECT name FROM dbo.t);
GO
-- What there is.
SELECT COUNT(*) AS collations FROM fn_helpcollations();
SELECT name, description FROM sys.fn_helpcollations() WHERE name IN ('Latin1_General_BIN2', 'SQL_Latin1_General_CP1_CI_AS', 'Latin1_General_100_CS_AI_WS_SC_UTF8', 'Latin1_General_100_BIN') ORDER BY name;
SELECT COLLATIONPROPERTY('Latin1_General_100_CI_AS', 'Version') AS version, COLLATIONPROPERTY('SQL_Latin1_General_CP1_CI_AS', 'ComparisonStyle') AS style,
    COLLATIONPROPERTY('Latin1_General_BIN', 'ComparisonStyle') AS style_of_binary, COLLATIONPROPERTY('Latin1_General_CI_AI', 'LCID') AS lcid,
    COLLATIONPROPERTY('Latin1_General_100_BIN2_UTF8', 'CodePage') AS code_page, COLLATIONPROPERTY('nonsense', 'LCID') AS nothing;
SELECT SERVERPROPERTY('Collation') AS of_server, DATABASEPROPERTYEX('master', 'Collation') AS of_database;
GO
CREATE DATABASE other COLLATE SQL_Latin1_General_CP1_CI_AS;
SELECT name, collation_name FROM sys.databases WHERE name = 'other';
GO
ALTER DATABASE other COLLATE Latin1_General_BIN2;
SELECT name, collation_name FROM sys.databases WHERE name = 'other';
GO
