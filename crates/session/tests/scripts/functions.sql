-- Functions and globals that the session answers.
CREATE TABLE dbo.t (id int IDENTITY(5, 2) PRIMARY KEY, name nvarchar(20) NULL);
INSERT t (name) VALUES ('a'), ('b');
GO
SELECT @@SERVICENAME AS service, @@LANGUAGE AS language, @@DATEFIRST AS datefirst, @@MAX_PRECISION AS max_precision,
       @@LOCK_TIMEOUT AS lock_timeout, @@OPTIONS AS options, @@TEXTSIZE AS text_size;
SELECT CASE WHEN @@VERSION LIKE 'Microsoft % Pikepole % - 16.0.%' THEN 'Pikepole' END AS version, CASE WHEN LEN(@@SERVERNAME) > 0 THEN 'named' END AS server;
SELECT DB_ID() AS id, DB_NAME() AS name, DB_ID('nothing') AS nothing, DB_NAME(1) AS first;
SELECT SCHEMA_ID() AS id, SCHEMA_NAME() AS name, SCHEMA_ID('sys') AS sys, SCHEMA_NAME(1) AS one;
SELECT CASE WHEN OBJECT_ID('t') = OBJECT_ID('[dbo].[t]') THEN 'same' END AS a, OBJECT_ID('t', 'V') AS b,
       CASE WHEN OBJECT_ID('master.dbo.t', 'U') IS NOT NULL THEN 'found' END AS c, OBJECT_ID('x.y.z') AS d,
       CASE WHEN OBJECT_ID('sys.objects') < 0 THEN 'system' END AS e;
SELECT OBJECT_NAME(OBJECT_ID('t')) AS name, OBJECT_SCHEMA_NAME(OBJECT_ID('t')) AS s, OBJECT_NAME(-1) AS none;
SELECT COL_LENGTH('t', 'name') AS length, COL_NAME(OBJECT_ID('t'), 2) AS name, COL_LENGTH('t', 'x') AS none;
SELECT COLUMNPROPERTY(OBJECT_ID('t'), 'id', 'IsIdentity') AS i, COLUMNPROPERTY(OBJECT_ID('t'), 'name', 'AllowsNull') AS n,
       OBJECTPROPERTY(OBJECT_ID('t'), 'IsUserTable') AS u, OBJECTPROPERTY(OBJECT_ID('t'), 'TableHasPrimaryKey') AS p,
       INDEX_COL('t', 1, 1) AS x;
SELECT IDENT_CURRENT('t') AS c, IDENT_SEED('t') AS s, IDENT_INCR('t') AS i;
SELECT TYPE_NAME(56) AS a, TYPE_ID('nvarchar') AS b, TYPE_ID('nothing') AS c;
SELECT SERVERPROPERTY('ProductVersion') AS version, SERVERPROPERTY('EngineEdition') AS edition,
       SERVERPROPERTY('Collation') AS collation, SERVERPROPERTY('nothing') AS nothing;
SELECT SUSER_SNAME() AS s, USER_NAME() AS u, CURRENT_USER AS c, SYSTEM_USER AS y, ORIGINAL_LOGIN() AS o, APP_NAME() AS a;
SELECT HAS_DBACCESS('master') AS yes, HAS_DBACCESS('x') AS no, IS_SRVROLEMEMBER('sysadmin') AS member;
SELECT PARSENAME('a.b.c', 1) AS one, PARSENAME('a.b.c', 3) AS three, PARSENAME('a.b.c', 4) AS four;
SELECT QUOTENAME('a]b') AS brackets, QUOTENAME('it''s', '''') AS quotes;
SELECT DATABASEPROPERTYEX('master', 'Status') AS status, DATABASEPROPERTYEX('x', 'Status') AS none;
GO
SET DATEFIRST 7;
SELECT @@DATEFIRST AS datefirst;
SET LOCK_TIMEOUT 500;
SELECT @@LOCK_TIMEOUT AS lock_timeout;
GO
SELECT 1 << 3 AS a, 5 + 1 << 1 AS b, -1 >> 28 AS c, CAST(255 AS tinyint) << 4 AS d, {fn UCASE('x')} AS e;
SELECT LEFT_SHIFT(16, -2) AS a, LEFT_SHIFT(1, 64) AS b, RIGHT_SHIFT(-1, 28) AS c, BIT_COUNT(-1) AS d, GET_BIT(5, 2) AS e,
       SET_BIT(0, 3) AS f, SET_BIT(15, 0, 0) AS g;
GO
SELECT 1.5 << 1;
GO
SELECT GET_BIT(5, 32);
GO
-- FORMAT by cultures; without one by the session's language.
SELECT FORMAT(1234.5, 'C', 'en-us'), FORMAT(1234.5, 'C', 'de-de'), FORMAT(-1234.5, 'N1', 'fr-FR'), FORMAT(0.25, 'P0', 'sv-SE');
SELECT FORMAT(CAST('2020-11-22' AS date), 'd', 'en-gb'), FORMAT(CAST('2020-11-22' AS date), 'D', 'de-de'), FORMAT(CAST('07:35' AS time), N'hh\:mm'), FORMAT(CAST('07:35' AS time), N'hh:mm');
SET LANGUAGE Deutsch;
SELECT FORMAT(1234.5, 'N'), FORMAT(CAST('2020-02-03' AS date), 'D'), FORMAT(1234.5, 'N', NULL);
SET LANGUAGE us_english;
SELECT FORMAT(1234.5, 'N'), FORMAT(CAST('2020-02-03' AS date), 'D');
SELECT FORMAT(1, 'N', 'xx-XX');
GO
