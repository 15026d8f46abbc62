-- SET LANGUAGE: what months and days are called, in which order dates are read, where weeks begin.
CREATE TABLE days (d datetime NOT NULL, t varchar(40) NULL)
GO
CREATE PROCEDURE show_day AS
SELECT DATENAME(month, CAST('20200304' AS date)) AS month, DATENAME(weekday, '20200304') AS day, CONVERT(nvarchar(30), CAST('20200304 13:05' AS datetime)) AS text,
    CONVERT(varchar(30), CAST('20201204' AS date), 106) AS styled, DATEPART(weekday, '20200304') AS number, @@DATEFIRST AS first, @@LANGUAGE AS language, @@LANGID AS id
GO
EXEC show_day
SET LANGUAGE German
EXEC show_day
SET LANGUAGE N'français'
EXEC show_day
SET LANGUAGE [British English]
EXEC show_day
DECLARE @name nvarchar(30) = N'Español'
SET LANGUAGE @name
EXEC show_day
SET LANGUAGE Italian
EXEC show_day
SET LANGUAGE 日本語
EXEC show_day
SET LANGUAGE us_english
EXEC show_day
GO
-- Texts are read in the language.
SET LANGUAGE Deutsch
SELECT CAST('4 März 2020' AS datetime) AS named, CAST('04.05.2020' AS date) AS german, CONVERT(datetime, '4-DEZ-2020 10:00') AS short
INSERT days VALUES ('1. Mai 2020', 'x')
GO
INSERT days VALUES ('1 Mai 2020', CAST('20200501' AS datetime)), ('03/04/2020', GETDATE())
SELECT d, CASE WHEN t LIKE 'Mai%' THEN t ELSE '(now)' END AS t FROM days ORDER BY d
SELECT LEFT(d, 3) AS cut, CONCAT(d, '.') AS joined, 'am ' + CAST(d AS varchar(30)) AS added FROM days ORDER BY d
SELECT TRY_CAST('4 March 2020' AS date) AS other, ISDATE('4 Mai 2020') AS own, MONTH('4 Mai 2020') AS month
SELECT CAST('4 March 2020' AS date) AS other
GO
-- It ends with a procedure, and what is set after it stays.
CREATE PROCEDURE in_french AS SET LANGUAGE French SELECT DATENAME(month, '20200801') AS month
GO
EXEC in_french
SELECT DATENAME(month, '20200801') AS month
SET DATEFIRST 3
SELECT @@DATEFIRST AS first, @@LANGUAGE AS language
GO
SELECT language, date_format, date_first FROM sys.dm_exec_sessions WHERE session_id = @@SPID
GO
SET LANGUAGE Klingon
GO
SELECT @@LANGUAGE AS still
SET LANGUAGE English
GO
-- What there is.
SELECT langid, dateformat, datefirst, name, alias, lcid, msglangid FROM sys.syslanguages ORDER BY langid
SELECT months, shortmonths, days FROM dbo.syslanguages WHERE alias = 'German'
EXEC sp_helplanguage 'Italiano'
EXEC sp_helplanguage @language = french
GO
EXEC sp_helplanguage Klingon
GO
-- A login's own.
CREATE LOGIN jean WITH PASSWORD = 'a Password 1', DEFAULT_LANGUAGE = French
SELECT name, default_language_name FROM sys.server_principals WHERE name = 'jean'
ALTER LOGIN jean WITH DEFAULT_LANGUAGE = British
SELECT name, default_language_name FROM sys.sql_logins WHERE name = 'jean'
GO
ALTER LOGIN jean WITH DEFAULT_LANGUAGE = Klingon
GO
