-- Statements that are prepared and executed by the procedures that drivers call, from a text.
CREATE TABLE dbo.t (id int PRIMARY KEY, name nvarchar(20) NULL);
INSERT dbo.t VALUES (1, N'one'), (2, N'two'), (3, NULL);
GO
DECLARE @h int, @status int, @name nvarchar(20);
EXEC @status = sp_prepare @h OUTPUT, N'@id int', N'SELECT id, name FROM dbo.t WHERE id = @id';
SELECT @h AS h, @status AS status;
EXEC sp_execute @h, 1;
EXEC sp_execute @h, @id = 2;
EXEC sp_unprepare @h;
EXEC sp_execute @h, 1;
GO
DECLARE @h int, @name nvarchar(20);
EXEC sp_prepexec @h OUTPUT, N'@id int, @name nvarchar(20) OUTPUT', N'SELECT @name = name FROM dbo.t WHERE id = @id', 1, @name OUTPUT;
SELECT @h AS h, @name AS name;
EXEC sp_execute @h, 2, @name OUTPUT;
SELECT @name AS name;
CREATE TABLE #rows (id int, name nvarchar(20));
EXEC sp_prepare @h OUTPUT, NULL, N'SELECT id, name FROM dbo.t';
INSERT #rows EXEC sp_execute @h;
SELECT COUNT(*) AS rows FROM #rows;
EXEC sp_executesql N'EXEC sp_execute @h', N'@h int', @h;
GO
-- What does not go.
DECLARE @h int;
EXEC sp_prepare @h OUTPUT, N'@id int', N'SELECT x FROM dbo.nothing WHERE';
SELECT @h AS h;
GO
EXEC sp_prepare;
GO
EXEC sp_execute 4711;
GO
EXEC sp_unprepare 4711;
GO
EXEC sp_execute N'x';
GO
DECLARE @h int;
EXEC sp_prepare @h OUTPUT, N'@id int', N'SELECT @id AS id';
EXEC sp_execute @h;
GO
-- Procedures of cursors are those of the protocol.
EXEC sp_cursorclose 1;
GO
DROP TABLE dbo.t;
GO
