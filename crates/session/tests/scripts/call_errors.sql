-- Errors of a call are the procedure's, at no line of it: it has not begun.
CREATE PROCEDURE dbo.small @a tinyint, @o int = 1 OUTPUT AS SELECT @a AS a
GO
DECLARE @i int = 256;
EXEC dbo.small @i;
GO
EXEC dbo.small @z = 1;
GO
EXEC dbo.small 1, 2, 3;
GO
EXEC dbo.small;
GO
DECLARE @a tinyint = 1;
EXEC dbo.small @a OUTPUT;
GO
EXEC dbo.small 1, @o = 2, @o = 3;
GO
BEGIN TRY EXEC dbo.small 'many' END TRY
BEGIN CATCH SELECT ERROR_NUMBER() AS number, ERROR_LINE() AS line, ERROR_PROCEDURE() AS [procedure] END CATCH;
GO
-- Called from a procedure it is still that of the called one.
CREATE PROCEDURE dbo.outer_one AS EXEC dbo.small 300
GO
EXEC dbo.outer_one;
GO
EXEC sp_helptext;
GO
EXEC sp_help @wrong = 1;
GO
DROP PROCEDURE dbo.small, dbo.outer_one;
GO
