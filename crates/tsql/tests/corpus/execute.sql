sp_who
GO
sp_helptext 'dbo.p'
GO
[dbo].[p] 1, 'x', @c = 3
GO
dbo.p @a = 1, @b = DEFAULT
GO
EXEC p
GO
EXEC dbo.insert_rows @count = 1000, @start = -5
GO
DECLARE @rc int, @out int = 0
EXEC @rc = dbo.p 1, @out OUTPUT, @named = NULL
GO
EXECUTE p @a, @b OUT, 0x01, $1.5, 1e3, -2.5, N'x'
GO
EXEC p WITH RECOMPILE
GO
EXEC p @a = @@SPID WITH RESULT SETS ((id int NOT NULL, name nvarchar(10) COLLATE Latin1_General_BIN NULL), (x int))
GO
EXEC p WITH RECOMPILE, RESULT SETS NONE EXEC p WITH RESULT SETS UNDEFINED
GO
EXEC ('SELECT 1')
GO
DECLARE @sql nvarchar(max) = N'SELECT @x'; EXEC (N'-- ' + @sql + 'x') EXEC (@sql) AS USER = 'u' EXEC ('select ?', 5) AT remote
GO
DECLARE @p sysname = 'dbo.p' EXEC @p 1 EXEC @rc = @p @a = 1
GO
EXEC sp_executesql N'SELECT @a, @b', N'@a int, @b nvarchar(10) OUTPUT', @a = 1, @b = @x OUTPUT
GO
EXEC sp_configure 'show advanced options', 1
RECONFIGURE
EXEC sp_configure 'max degree of parallelism', 2; RECONFIGURE WITH OVERRIDE
GO
EXEC sp_flush_log
GO
EXEC master..sp_who2 active
GO
EXEC server1.db.dbo.p 1
GO
EXEC p;2 5
GO
exec sp_help t exec sp_rename 'a', 'b', 'COLUMN'
