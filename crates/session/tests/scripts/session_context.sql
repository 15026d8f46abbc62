-- What a session keeps for itself, and the first day of its weeks.
EXEC sp_set_session_context N'user', 42
EXEC sys.sp_set_session_context @key = N'name', @value = N'Ada', @read_only = 1
SELECT SESSION_CONTEXT(N'user') AS who, SESSION_CONTEXT(N'NAME') AS name, SESSION_CONTEXT(N'none') AS none
SELECT 'there' AS found WHERE SESSION_CONTEXT(N'user') = 42 AND CAST(SESSION_CONTEXT(N'user') AS int) + 1 = 43
GO
EXEC sp_set_session_context 'user', 'other'
EXEC sp_set_session_context 'name', 'Grace'
GO
EXEC sp_set_session_context 'user', NULL
EXEC sp_set_session_context NULL, 1
GO
SELECT SESSION_CONTEXT('user') AS who, SESSION_CONTEXT('name') AS name
DECLARE @key nvarchar(200) = REPLICATE('k', 129)
EXEC sp_set_session_context @key, 1
GO
DECLARE @value nvarchar(4000) = REPLICATE('v', 4000), @key nvarchar(10), @n int = 0
WHILE @n < 131
BEGIN
  SET @n += 1
  SET @key = CONCAT('k', @n)
  EXEC sp_set_session_context @key, @value
END
GO
SELECT SESSION_CONTEXT(N'k131') AS missing, DATALENGTH(SESSION_CONTEXT(N'k130')) AS bytes, LEN(CAST(SESSION_CONTEXT(N'k130') AS nvarchar(4000))) AS length
SELECT SQL_VARIANT_PROPERTY(SESSION_CONTEXT(N'name'), 'BaseType') AS type, SQL_VARIANT_PROPERTY(SESSION_CONTEXT(N'name'), 'MaxLength') AS length
EXEC sp_set_session_context N'when', 1.5
SELECT SQL_VARIANT_PROPERTY(SESSION_CONTEXT(N'when'), 'BaseType') AS type, CAST(SESSION_CONTEXT(N'when') AS decimal(5, 2)) * 2 AS twice
DECLARE @long nvarchar(max) = N'too long'
EXEC sp_set_session_context N'long', @long
GO
-- 2024-01-01 is a Monday.
SELECT @@DATEFIRST AS first, DATEPART(weekday, '20240101') AS day, DATEPART(week, '20240107') AS week, DATETRUNC(week, CAST('20240103' AS date)) AS begins
SET DATEFIRST 1
SELECT @@DATEFIRST AS first, DATEPART(weekday, '20240101') AS day, DATEPART(week, '20240107') AS week, DATETRUNC(week, CAST('20240103' AS date)) AS begins
DECLARE @old tinyint = @@DATEFIRST
SET DATEFIRST 3
SELECT DATEPART(dw, d) AS day, DATENAME(dw, d) AS name, DATENAME(wk, d) AS week, DATEDIFF(week, '20240101', d) AS weeks FROM (VALUES (CAST('20240102' AS date)), ('20240103'), ('20240107')) AS x (d)
SET DATEFIRST @old
SELECT @@DATEFIRST AS first
GO
CREATE PROCEDURE sunday AS SET DATEFIRST 7 SELECT DATEPART(weekday, '20240101') AS within
GO
EXEC sunday
SELECT DATEPART(weekday, '20240101') AS outside
SET DATEFIRST 8
SELECT DATEPART(weekday, '20240101') AS still, (SELECT date_first FROM sys.dm_exec_sessions WHERE session_id = @@SPID) AS shown
DROP PROCEDURE sunday
