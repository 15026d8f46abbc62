-- Unicode comparisons are Windows': ß is ss, Æ is AE, þ is th in nchar and nvarchar of every collation, and in char and varchar of those
-- whose names do not begin with SQL_. In SQL collations varchar has sort order 52, which knows no expansions.
SELECT CASE WHEN N'Straße' = N'Strasse' THEN 1 ELSE 0 END AS nvarchar_sql, CASE WHEN 'Straße' = 'Strasse' THEN 1 ELSE 0 END AS varchar_sql,
    CASE WHEN 'Straße' = N'Strasse' THEN 1 ELSE 0 END AS mixed,
    CASE WHEN 'Straße' COLLATE Latin1_General_CI_AS = 'Strasse' THEN 1 ELSE 0 END AS varchar_windows,
    CASE WHEN NCHAR(198) = N'AE' COLLATE Latin1_General_CS_AS THEN 1 ELSE 0 END AS upper_ae,
    CASE WHEN NCHAR(198) = N'ae' COLLATE Latin1_General_CS_AS THEN 1 ELSE 0 END AS lower_ae,
    CASE WHEN N'þ' = N'th' THEN 1 ELSE 0 END AS th, CASE WHEN N'ĳ' = N'ij' THEN 1 ELSE 0 END AS ij,
    CASE WHEN N'ﬁ' = N'fi' THEN 1 ELSE 0 END AS fi;
GO
-- Keys: the primary key refuses the other spelling (2627), in a language of its own as well; ø and o are two.
CREATE TABLE #u (n nvarchar(20) COLLATE Latin1_General_CI_AS PRIMARY KEY);
INSERT #u VALUES (N'Straße');
INSERT #u VALUES (N'Strasse');
GO
CREATE TABLE #g (n nvarchar(20) COLLATE German_PhoneBook_CI_AS PRIMARY KEY);
INSERT #g VALUES (N'Straße');
INSERT #g VALUES (N'STRASSE');
GO
CREATE TABLE #v (v varchar(20) PRIMARY KEY, n nvarchar(20) UNIQUE);
INSERT #v VALUES ('Straße', N'Straße');
INSERT #v VALUES ('Strasse', N'o');
INSERT #v VALUES ('x', N'ø');
INSERT #v VALUES ('y', N'STRASSE');
GO
-- A varchar column is searched by its key for plain texts, and read through for those that other rows are equal to by Unicode's rules.
SELECT v FROM #v WHERE v = N'Strasse' ORDER BY v COLLATE Latin1_General_BIN2;
SELECT v FROM #v WHERE v = 'Strasse';
SELECT v FROM #v WHERE v = N'X';
SELECT v FROM #v WHERE v IN (N'X', N'Strasse') ORDER BY v;
DECLARE @n nvarchar(20) = N'STRASSE';
SELECT v FROM #v WHERE v = @n ORDER BY v;
SELECT a.v FROM #v AS a JOIN #v AS b ON a.v = b.n ORDER BY a.v;
GO
-- GROUP BY, DISTINCT, COUNT, joins and UNION see the same.
SELECT COUNT(*) AS rows, MIN(t) AS least FROM (VALUES (N'Straße'), (N'STRASSE'), (N'strasze')) AS v (t) GROUP BY t ORDER BY 1 DESC;
SELECT COUNT(DISTINCT t) AS n FROM (VALUES (N'Æ'), (N'ae'), (N'AE'), (N'e')) AS v (t);
SELECT COUNT(DISTINCT t) AS n FROM (VALUES ('Æ'), ('ae'), ('AE'), ('e')) AS v (t);
SELECT N'ß' AS t UNION SELECT N'SS';
GO
-- Word sort: hyphens and apostrophes count only between texts that are equal otherwise, but not in varchar of SQL collations.
SELECT t FROM (VALUES (N'co-op'), (N'coop'), (N'cop'), (N'can''t'), (N'cant'), (N'con')) AS v (t) ORDER BY t;
SELECT t FROM (VALUES ('co-op'), ('coop'), ('cop'), ('can''t'), ('cant'), ('con')) AS v (t) ORDER BY t;
SELECT t FROM (VALUES ('co-op'), ('coop'), ('cop')) AS v (t) ORDER BY t COLLATE Latin1_General_CI_AS;
SELECT CASE WHEN N'co-op' = N'coop' THEN 1 ELSE 0 END AS same;
GO
-- LIKE, CHARINDEX, REPLACE, PATINDEX and TRANSLATE.
SELECT CASE WHEN N'Straße' LIKE N'strass%' THEN 1 ELSE 0 END AS a, CASE WHEN N'Strasse' LIKE N'%ß%' THEN 1 ELSE 0 END AS b,
    CASE WHEN 'Straße' LIKE 'strass%' THEN 1 ELSE 0 END AS c, CASE WHEN N'co-op' LIKE N'coop' THEN 1 ELSE 0 END AS d,
    CHARINDEX(N'ss', N'Straße') AS e, CHARINDEX('ss', 'Straße') AS f, REPLACE(N'Straße, Strasse', N'ss', N'z') AS g,
    PATINDEX(N'%ae%', N'Cæsar') AS h, TRANSLATE(N'É', N'é', N'x') AS i;
GO
-- Width, kana, superscripts: only _WS and _KS tell them apart.
SELECT CASE WHEN N'ＡＢ' = N'ab' THEN 1 ELSE 0 END AS width, CASE WHEN N'Ａ' = N'a' COLLATE Latin1_General_CI_AS_WS THEN 1 ELSE 0 END AS width_ws,
    CASE WHEN N'x²' = N'x2' THEN 1 ELSE 0 END AS super, CASE WHEN N'か' = N'カ' THEN 1 ELSE 0 END AS kana,
    CASE WHEN N'か' = N'カ' COLLATE Latin1_General_CI_AS_KS THEN 1 ELSE 0 END AS kana_ks;
GO
-- Characters without a weight are passed over: those outside the basic plane in version 80, not from 90 on.
SELECT CASE WHEN N'😀' = N'' THEN 1 ELSE 0 END AS v80, CASE WHEN N'😀' = N'😁' COLLATE Latin1_General_100_CI_AS THEN 1 ELSE 0 END AS v100,
    CASE WHEN N'a' + NCHAR(0) + N'b' = N'ab' THEN 1 ELSE 0 END AS nul;
GO
-- Case: the lower one first in Windows collations, the upper one in varchar of SQL_..._CS_AS.
SELECT t FROM (VALUES ('B'), ('b'), ('a'), ('A')) AS v (t) ORDER BY t COLLATE Latin1_General_CS_AS;
SELECT t FROM (VALUES ('B'), ('b'), ('a'), ('A')) AS v (t) ORDER BY t COLLATE SQL_Latin1_General_CP1_CS_AS;
GO
-- Binary: varchar by the bytes of the code page, nvarchar by UTF-16; _BIN looks at the lower byte first behind the first character.
SELECT CASE WHEN '€' < 'é' COLLATE Latin1_General_BIN2 THEN 1 ELSE 0 END AS bytes, CASE WHEN N'€' < N'é' COLLATE Latin1_General_BIN2 THEN 1 ELSE 0 END AS units,
    CASE WHEN N'a' + NCHAR(0x201) < N'a' + NCHAR(0x102) COLLATE Latin1_General_BIN THEN 1 ELSE 0 END AS bin,
    CASE WHEN N'a' + NCHAR(0x201) < N'a' + NCHAR(0x102) COLLATE Latin1_General_BIN2 THEN 1 ELSE 0 END AS bin2;
GO
-- Rows that several keys are equal to by Unicode's rules are not in the order of the rest of the key.
CREATE TABLE o (v varchar(10), n int, PRIMARY KEY (v, n));
INSERT o VALUES ('ss', 2), ('ss', 4), ('ß', 1), ('ß', 3), ('x', 5);
SELECT n FROM o WHERE v = N'ss' ORDER BY n;
SELECT n FROM o WHERE v = N'x' ORDER BY n;
DROP TABLE o;
GO
