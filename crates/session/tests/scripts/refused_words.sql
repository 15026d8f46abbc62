-- What is executed is made of texts and variables.
EXEC ('SELECT ' + UPPER('1'))
GO
EXEC (('SELECT 1'))
GO
EXEC (NULL)
GO
DECLARE @t nvarchar(100) = N'SELECT '
EXEC (@t + N'1 AS one' + ', 2 AS two')
GO
EXEC sp_executesql 'SELECT 1'
GO
DECLARE @t varchar(10) = 'SELECT 1'
EXEC sp_executesql @t
GO
EXEC sp_executesql N'SELECT @x AS x', N'@x int', @x = 1
GO
THROW 50000, 1, 1
GO
THROW 50000, NULL, 1
GO
THROW 3000000000, 'x', 1
GO
THROW 50000.5, 'x', 1
GO
THROW -5, 'x', 1
GO
DECLARE @n int = 50001, @m nvarchar(20) = N'raised', @s int = 7;
THROW @n, @m, @s
GO
RAISERROR (NULL, 16, 1)
GO
RAISERROR ('x', NULL, 1)
GO
RAISERROR ('x', '16', 1)
GO
RAISERROR ('x', 16.5, 1)
GO
RAISERROR ('x', 16, 2147483648)
GO
RAISERROR ('x', -1, -1)
GO
WAITFOR DELAY NULL
GO
WAITFOR DELAY 5
GO
-- TOP
CREATE TABLE t (a int, b int)
INSERT t VALUES (1, 2), (3, 4)
GO
UPDATE TOP 1 t SET a = 1
GO
DELETE TOP 1 FROM t
GO
SELECT TOP -1 a FROM t
GO
SELECT TOP +1 a FROM t
GO
DECLARE @n int = 1
SELECT TOP @n a FROM t
GO
SELECT TOP 1 PERCENT a FROM t ORDER BY a
SELECT TOP (1) a FROM t ORDER BY a FETCH NEXT 1 ROWS ONLY
GO
SELECT * FROM (t)
GO
SELECT COUNT(*) AS n FROM (t CROSS JOIN t AS u)
SELECT x.* FROM t AS x, t AS x
GO
SELECT * FROM t, t
GO
SELECT u.*
GO
-- ORDER BY
SELECT a FROM t ORDER BY -1
GO
SELECT a FROM t ORDER BY +1
SELECT a FROM t ORDER BY UPPER('a'), a DESC
SELECT a FROM t ORDER BY -a
GO
SELECT a FROM t ORDER BY 1 + 1
GO
-- Aggregates of nothing, groups of nothing.
SELECT COUNT(NULL) FROM t
GO
SELECT MAX(NULL) FROM t
GO
SELECT 1 FROM t GROUP BY GETDATE()
GO
DECLARE @n int
SET ROWCOUNT @n
GO
SET ROWCOUNT 1
SELECT a FROM t ORDER BY a
SET ROWCOUNT 0
GO
-- Arguments, and the words for them.
SELECT ISDATE(CAST('2020-01-01' AS date))
GO
SELECT DATE_BUCKET(day, 1, '2024-05-15')
GO
SELECT DATEDIFF(nosuch, 1, 2)
GO
SELECT DATEADD(nosuch, 1, 2)
GO
SELECT DATEDIFF_BIG(nanosecond, '1000-01-01', '9999-01-01')
GO
SELECT CONVERT(varchar(40), CAST('2024-03-15' AS date), 108)
GO
SELECT CONVERT(varchar(40), CAST('2024-03-15' AS date), 114)
GO
SELECT CONVERT(nvarchar(40), CAST('14:25:36' AS time(0)), 101)
GO
SELECT CONVERT(varchar(40), CAST(1.5 AS money), 99)
GO
-- What the system knows by @@ is a part of a text that is executed, too.
exec ('print ''' + @@language + '''')
go
