-- Columns of char and varchar hold what their collation's code page has, and their lengths count its bytes.
CREATE TABLE dbo.p (id int PRIMARY KEY,
    u varchar(12) COLLATE Latin1_General_100_CI_AS_SC_UTF8, cu char(6) COLLATE Latin1_General_100_BIN2_UTF8,
    r varchar(20) COLLATE Cyrillic_General_CI_AS, g varchar(20) COLLATE Greek_CI_AS, j varchar(8) COLLATE Japanese_CI_AS,
    z varchar(8) COLLATE Chinese_PRC_CI_AS, cj char(5) COLLATE Japanese_XJIS_100_CI_AS, d varchar(8) COLLATE SQL_Latin1_General_CP437_CI_AS,
    w varchar(20));
INSERT dbo.p VALUES (1, N'Привет', N'日本', N'Привет мир', N'Γειά σου', N'日本語', N'中文字', N'日本', N'½αß', N'Привет Ω é');
SELECT * FROM dbo.p;
SELECT DATALENGTH(u) AS u, DATALENGTH(cu) AS cu, DATALENGTH(r) AS r, DATALENGTH(g) AS g, DATALENGTH(j) AS j, DATALENGTH(z) AS z, DATALENGTH(cj) AS cj, DATALENGTH(w) AS w FROM dbo.p;
SELECT LEN(u) AS u, LEN(cu) AS cu, LEN(r) AS r, LEN(j) AS j, LEN(cj) AS cj FROM dbo.p;
SELECT CAST(u AS varbinary(12)) AS u, CAST(r AS varbinary(20)) AS r, CAST(j AS varbinary(8)) AS j, CAST(z AS varbinary(8)) AS z, CAST(d AS varbinary(8)) AS d, CAST(cj AS varbinary(8)) AS cj, CAST(w AS varbinary(20)) AS w FROM dbo.p;
SELECT LEFT(u, 3) AS u, RIGHT(r, 3) AS r, SUBSTRING(j, 2, 1) AS j, CHARINDEX(N'В', r) AS at, UPPER(r) AS up, LOWER(g) AS low, REPLACE(u, N'т', N'Т') AS replaced, STUFF(j, 1, 1, N'x') AS stuffed, REVERSE(z) AS z FROM dbo.p;
SELECT ASCII(r) AS r, ASCII(j) AS j, ASCII(u) AS u, UNICODE(r) AS code FROM dbo.p;
GO
-- What is too long is told by bytes.
INSERT dbo.p (id, u) VALUES (2, N'Приветы');
GO
INSERT dbo.p (id, j) VALUES (2, N'日本語日本');
GO
INSERT dbo.p (id, cu) VALUES (2, N'日本語');
GO
-- What the code page lacks.
INSERT dbo.p (id, r, j, w) VALUES (3, N'日本 é', N'한é', N'Łódź ﬁ Ａ‐１');
SELECT r, j, w FROM dbo.p WHERE id = 3;
UPDATE dbo.p SET r = u, w = r, u = LEFT(r, 6), j = r WHERE id = 1;
SELECT r, w, u, j FROM dbo.p WHERE id = 1;
DECLARE @v varchar(20) = (SELECT r FROM dbo.p WHERE id = 1);
SELECT @v AS v, 'Привет' AS literal, 'Привет' COLLATE Cyrillic_General_CI_AS AS late, CAST(N'Привет' AS varchar(10)) AS cast_default,
    CAST(N'Привет' COLLATE Cyrillic_General_CI_AS AS varchar(10)) AS cast_cyrillic, CAST(N'Привет' COLLATE Cyrillic_General_CI_AS AS varchar(3)) AS short,
    CAST(N'日本語' COLLATE Japanese_CI_AS AS varchar(5)) AS two_and_a_half;
GO
-- Between code pages.
SELECT CAST('é' COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varbinary(4)) AS utf8, DATALENGTH('é' COLLATE Latin1_General_100_CI_AS_SC_UTF8) AS bytes,
    CAST('é' COLLATE SQL_Latin1_General_CP850_CI_AS AS varbinary(4)) AS dos, 'é' COLLATE Cyrillic_General_CI_AS AS cyrillic,
    CAST(0xCFF0E8 AS varchar(9)) COLLATE Cyrillic_General_CI_AS AS too_late, DATALENGTH(REPLICATE(N'é' COLLATE Latin1_General_100_CI_AS_SC_UTF8, 3)) AS wide;
SELECT LEN(N'😀a' COLLATE Latin1_General_100_CI_AS) AS units, LEN(N'😀a' COLLATE Latin1_General_100_CI_AS_SC) AS characters,
    LEFT(N'😀a' COLLATE Latin1_General_100_CI_AS_SC, 1) AS first, CHARINDEX(N'a', N'😀a' COLLATE Latin1_General_100_CI_AS_SC) AS at,
    LEN(N'😀a' COLLATE Japanese_XJIS_140_CI_AS) AS newest;
GO
CREATE TABLE dbo.i (a varchar(5) COLLATE Indic_General_100_CI_AS);
GO
CREATE TABLE dbo.i (a nvarchar(5) COLLATE Indic_General_100_CI_AS);
SELECT 'a' COLLATE Maori_100_CI_AS AS m;
GO
SELECT N'a' COLLATE Maori_100_CI_AS AS m, COLLATIONPROPERTY('Maori_100_CI_AS', 'CodePage') AS page;
SELECT c.name, p.page, p.lcid, p.version FROM (VALUES ('Latin1_General_100_CI_AS_SC_UTF8'), ('Cyrillic_General_CI_AS'), ('Japanese_XJIS_140_BIN2'), ('German_PhoneBook_100_CS_AI'), ('SQL_Polish_CP1250_CI_AS'), ('Thai_CI_AS')) AS c (name)
    CROSS APPLY (SELECT COLLATIONPROPERTY(c.name, 'CodePage') AS page, COLLATIONPROPERTY(c.name, 'LCID') AS lcid, COLLATIONPROPERTY(c.name, 'Version') AS version) AS p ORDER BY c.name;
SELECT COUNT(*) AS sql_collations FROM sys.fn_helpcollations() WHERE name LIKE 'SQL[_]%';
SELECT name, description FROM sys.fn_helpcollations() WHERE name IN ('Czech_100_CI_AI_KS_SC_UTF8', 'SQL_Ukrainian_CP1251_CS_AS', 'Divehi_90_BIN');
SELECT COLUMN_NAME, CHARACTER_SET_NAME, COLLATION_NAME, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'p' AND COLLATION_NAME IS NOT NULL ORDER BY ORDINAL_POSITION;
GO
-- Keys, and what is joined by a code page's texts.
CREATE TABLE dbo.k (name varchar(20) COLLATE Cyrillic_General_CI_AS PRIMARY KEY, n int);
INSERT dbo.k VALUES (N'яблоко', 1), (N'Арбуз', 2), (N'ёлка', 3), (N'ель', 4), (N'abc', 5);
SELECT name, n FROM dbo.k;
SELECT n FROM dbo.k WHERE name = N'АРБУЗ';
SELECT n FROM dbo.k WHERE name BETWEEN N'а' AND N'ж' ORDER BY n;
SELECT n FROM dbo.k WHERE name LIKE N'Я%' OR name LIKE N'[а-в]%' ORDER BY n;
SELECT a.n, b.n AS other FROM dbo.k AS a JOIN dbo.k AS b ON UPPER(a.name) = b.name WHERE a.n < 3 ORDER BY a.n;
GO
INSERT dbo.k VALUES (N'АРБУЗ ', 6);
GO
ALTER TABLE dbo.p ALTER COLUMN w varchar(30) COLLATE Latin1_General_100_CI_AS_SC_UTF8;
UPDATE dbo.p SET w = N'Ж日😀';
SELECT w, DATALENGTH(w) AS bytes FROM dbo.p WHERE id = 1;
ALTER TABLE dbo.p ALTER COLUMN w varchar(10) COLLATE Japanese_CI_AS;
SELECT w, DATALENGTH(w) AS bytes FROM dbo.p WHERE id = 1;
SELECT u, r INTO dbo.copy FROM dbo.p;
SELECT name, collation_name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.copy') ORDER BY column_id;
GO
