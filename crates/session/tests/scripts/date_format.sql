-- SET DATEFORMAT: what texts mean as dates. Constants, variables, columns and functions read them alike.
CREATE TABLE dates (id int PRIMARY KEY, old datetime NULL, new date NULL, small smalldatetime NULL)
GO
CREATE PROCEDURE show_date AS SELECT CAST('01/02/2003' AS date) AS constant, MONTH('01/02/2003') AS month
GO
EXEC show_date
SET DATEFORMAT dmy
EXEC show_date
DECLARE @text varchar(20) = '01/02/2003', @old datetime = '01/02/2003', @new date
SET @new = @text
SELECT CAST(@text AS datetime) AS old, @old AS assigned, @new AS new, CONVERT(smalldatetime, '1.2.03') AS small
SELECT ISDATE('31/12/2003') AS day_first, ISDATE('12/31/2003') AS month_first, TRY_CAST('12/31/2003' AS date) AS tried
SELECT DATEDIFF(day, '01/02/2003', '02/02/2003') AS days, DATEADD(month, 1, '01/02/2003') AS later, DATENAME(month, @text) AS name
-- Texts of one meaning keep it; a style says more than the session.
SELECT CAST('2003-01-02' AS datetime) AS iso_old, CAST('2003-01-02' AS date) AS iso, CAST('20030102' AS date) AS digits, CAST('2003-01-02T03:04:05' AS datetime) AS t
SELECT CAST('2003/01/02' AS datetime) AS old, CAST('2003/01/02' AS date) AS new, CONVERT(date, '01/02/2003', 101) AS styled, CAST('2 Jan 2003' AS date) AS named
INSERT dates VALUES (1, '01/02/2003', '01/02/2003', '01/02/2003'), (2, @text, @text, @text)
SELECT * FROM dates WHERE new = '01/02/2003' AND old >= '01/02/2003' AND small IN ('01/02/2003')
SELECT CASE WHEN CAST('20030201' AS date) = '01/02/2003' THEN 'same' ELSE 'other' END AS compared
SELECT CAST('12/31/2003' AS datetime) AS too_late
GO
SELECT CAST('12/31/2003' AS date) AS too_late
GO
-- It stays for the session's next batches; each format.
SELECT CAST('01/02/03' AS datetime) AS dmy
SET DATEFORMAT mdy
SELECT CAST('01/02/03' AS datetime) AS mdy, CAST('2003/01/02' AS datetime) AS year_first
SET DATEFORMAT ymd
SELECT CAST('01/02/03' AS datetime) AS ymd, CAST('01/02/03' AS date) AS new, CAST('01/02/2003' AS datetime) AS year_last
SET DATEFORMAT 'MYD'
SELECT CAST('01/02/03' AS datetime) AS myd, CAST('01/2003/02' AS datetime) AS year_between
DECLARE @format nvarchar(10) = N'dym'
SET DATEFORMAT @format
SELECT CAST('01/02/03' AS datetime) AS dym
SET DATEFORMAT ydm
SELECT CAST('01/02/03' AS datetime) AS ydm, TRY_CAST('01/02/03' AS date) AS not_of_new_types, CAST('2003/31/12' AS datetime) AS year_first
GO
-- The views tell it; errors leave it as it is.
SELECT date_format FROM sys.dm_exec_sessions WHERE session_id = @@SPID
GO
SET DATEFORMAT dxy
GO
DECLARE @nothing nvarchar(10)
SET DATEFORMAT @nothing
GO
SELECT CAST('01/02/03' AS datetime) AS ydm
GO
-- A procedure's ends with it.
CREATE PROCEDURE months_first AS SET DATEFORMAT mdy SELECT CAST('01/02/03' AS datetime) AS mdy
GO
EXEC months_first
SELECT CAST('01/02/03' AS datetime) AS ydm
EXEC sp_executesql N'SELECT @d AS given', N'@d datetime', @d = '01/02/03'
GO
