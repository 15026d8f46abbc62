-- sp_describe_undeclared_parameters: the types that a driver's parameters should have.
CREATE TABLE dbo.item (id int IDENTITY PRIMARY KEY, name nvarchar(40) NOT NULL, price decimal(9, 2) NULL, made date NULL, code char(5) NULL, image varbinary(max) NULL)
GO
CREATE PROCEDURE dbo.put_item @name nvarchar(40), @price money = 0, @made datetime2(3) AS RETURN 0
GO
CREATE FUNCTION dbo.taxed(@price decimal(9, 2), @rate float) RETURNS decimal(9, 2) AS BEGIN RETURN @price * @rate END
GO
EXEC sp_describe_undeclared_parameters N'SELECT name FROM dbo.item WHERE id = @P1'
GO
CREATE TABLE #found (ordinal int, name sysname, id int, type_name nvarchar(256), length smallint, [precision] tinyint, scale tinyint, a int, b sysname NULL, c sysname NULL, d sysname NULL,
    e nvarchar(4000), f int, g sysname NULL, h sysname NULL, i sysname NULL, j bit, k bit, l bit, is_input bit, is_output bit, formal sysname NULL, tds_type int, tds_length int)
GO
CREATE PROCEDURE #show @sql nvarchar(max), @declared nvarchar(max) = N'' AS
DELETE #found
INSERT #found EXEC sp_describe_undeclared_parameters @sql, @declared
SELECT ordinal, name, type_name, length, is_input FROM #found ORDER BY ordinal
GO
EXEC #show N'INSERT dbo.item (name, price, made, code, image) VALUES (@P1, @P2, @P3, @P4, @P5)'
EXEC #show N'UPDATE dbo.item SET name = @P1, price = price * @P2 WHERE id = @P3 AND made BETWEEN @P4 AND @P5'
EXEC #show N'DELETE dbo.item WHERE code IN (@P1, @P2) OR name LIKE @P3'
EXEC #show N'SELECT TOP (@P1) ISNULL(price, @P2), CAST(@P3 AS bigint), COALESCE(made, @P4) FROM dbo.item ORDER BY id'
EXEC #show N'SELECT id FROM dbo.item ORDER BY id OFFSET @P1 ROWS FETCH NEXT @P2 ROWS ONLY'
EXEC #show N'EXEC dbo.put_item @P1, @made = @P2'
EXEC #show N'SELECT dbo.taxed(@P1, @P2)'
EXEC #show N'SELECT id FROM dbo.item WHERE id = @P1 AND price > @given', N'@given decimal(5, 1)'
EXEC #show N'DECLARE @own int = @P1; SELECT @own WHERE @P2 = @own'
EXEC #show N'SELECT 1'
GO
-- What cannot be told, and what is wrong.
EXEC #show N'SELECT @P1'
GO
EXEC #show N'SELECT id FROM dbo.item WHERE id = @P1 OR id = @P1'
GO
EXEC #show N'SELECT nothing FROM dbo.item WHERE id = @P1'
GO
EXEC #show N'SELECT FROM'
GO
EXEC #show N'SELECT a FROM dbo.nowhere WHERE id = @P1'
GO
-- Elsewhere an undeclared variable stays an error.
SELECT name FROM dbo.item WHERE id = @P1
GO
-- Who may not read a table learns nothing of it.
CREATE USER nobody WITHOUT LOGIN
GO
EXECUTE AS USER = 'nobody'
EXEC sp_describe_undeclared_parameters N'SELECT name FROM dbo.item WHERE id = @P1'
GO
EXEC sp_describe_undeclared_parameters N'EXEC dbo.put_item @P1'
GO
REVERT
GO
