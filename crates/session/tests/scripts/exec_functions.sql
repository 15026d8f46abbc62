-- EXEC of scalar functions.
CREATE FUNCTION plus (@a int, @b int = 10) RETURNS int AS BEGIN RETURN @a + @b END;
GO
CREATE FUNCTION spelled (@n int, @end varchar(10)) RETURNS varchar(40) AS
BEGIN
    DECLARE @text varchar(40) = '';
    WHILE @n > 0 SELECT @text += 'x', @n -= 1;
    RETURN @text + @end;
END;
GO
CREATE FUNCTION listed (@n int) RETURNS TABLE AS RETURN SELECT @n AS n;
GO
DECLARE @r int, @s varchar(40), @two int = 2;
EXEC @r = dbo.plus 1, @two;
SELECT @r AS r;
EXEC @r = plus @b = 5, @a = 1;
SELECT @r AS r;
EXEC @r = plus 1;
SELECT @r AS r;
EXEC @r = plus 1, DEFAULT;
SELECT @r AS r;
EXEC @s = dbo.spelled 3, y;
SELECT @s AS s;
EXEC @s = dbo.plus @two, 3;
SELECT @s AS converted;
EXEC dbo.spelled 2, 'nobody looks';
EXECUTE @r = master.dbo.plus 7, 8;
SELECT @r AS r;
GO
CREATE PROCEDURE asks AS
    DECLARE @r int;
    EXEC @r = dbo.plus 20, 22;
    RETURN @r;
GO
DECLARE @status int;
EXEC @status = asks;
SELECT @status AS status;
GO
DECLARE @r int;
EXEC @r = plus 1, 2, 3;
GO
DECLARE @r int;
EXEC @r = plus;
GO
DECLARE @r int;
EXEC @r = plus 1, @c = 2;
GO
DECLARE @r int, @b int = 1;
EXEC @r = plus 1, @b OUTPUT;
GO
EXEC listed 1;
GO
DECLARE @r int;
EXEC @r = plus 'x', 1;
GO
-- What a name stands for can change between two runs of one text.
GO
DECLARE @r int; EXEC @r = later 5; SELECT @r AS r;
GO
CREATE FUNCTION later (@n int) RETURNS int AS BEGIN RETURN @n * 2 END;
GO
DECLARE @r int; EXEC @r = later 5; SELECT @r AS r;
GO
DROP FUNCTION later;
GO
CREATE PROCEDURE later @n int AS RETURN @n * 3;
GO
DECLARE @r int; EXEC @r = later 5; SELECT @r AS r;
GO
