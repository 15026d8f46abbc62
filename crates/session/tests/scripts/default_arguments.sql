-- DEFAULT for a parameter of a function that has no default: NULL where the function gives rows, and an error where it gives a value.
CREATE FUNCTION dbo.f (@a int, @b int) RETURNS TABLE AS RETURN SELECT @a AS a, ISNULL(@b, -1) AS b;
GO
CREATE FUNCTION dbo.g (@a int, @b int = 7, @c varchar(10)) RETURNS @r TABLE (a int, b int, c varchar(10)) AS BEGIN INSERT @r VALUES (@a, @b, ISNULL(@c, 'none')); RETURN; END;
GO
CREATE FUNCTION dbo.h (@a int, @b int = 7) RETURNS int AS BEGIN RETURN @a + @b; END;
GO
SELECT * FROM dbo.f(1, DEFAULT);
SELECT * FROM dbo.f(DEFAULT, DEFAULT);
SELECT * FROM dbo.g(1, DEFAULT, DEFAULT);
SELECT x.b FROM (VALUES (1), (2)) AS v (n) CROSS APPLY dbo.f(v.n, DEFAULT) AS x;
SELECT x.c FROM (VALUES (1)) AS v (n) CROSS APPLY dbo.g(v.n, 1, DEFAULT) AS x;
SELECT dbo.h(1, DEFAULT) AS h;
GO
SELECT dbo.h(DEFAULT, 1) AS h;
GO
SELECT * FROM dbo.f(1);
GO
