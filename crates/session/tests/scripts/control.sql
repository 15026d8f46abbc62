-- Control of flow, variables, TRY and CATCH, errors inside loops.
DECLARE @i int = 0, @s varchar(20) = '';
WHILE 1 = 1
BEGIN
    SET @i += 1;
    IF @i = 2 CONTINUE;
    IF @i > 4 BREAK;
    SET @s = @s + CAST(@i AS varchar(5)) + ',';
END
PRINT @s;
IF @i = 5 PRINT 'five' ELSE PRINT 'not five';
SELECT @i = 7, @s = 'set';
SELECT @i AS i, @s AS s;
GO
BEGIN TRY
    SELECT 1 / 0 AS never;
    PRINT 'not reached';
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number, ERROR_SEVERITY() AS severity, ERROR_STATE() AS state, ERROR_LINE() AS line,
           ERROR_PROCEDURE() AS [procedure], ERROR_MESSAGE() AS message;
END CATCH
SELECT ERROR_NUMBER() AS outside;
GO
BEGIN TRY
    BEGIN TRY
        THROW 50010, 'inner', 2;
    END TRY
    BEGIN CATCH
        PRINT 'caught ' + ERROR_MESSAGE();
        THROW;
    END CATCH
END TRY
BEGIN CATCH
    PRINT 'again ' + ERROR_MESSAGE();
END CATCH
GO
CREATE TABLE t (id int NOT NULL PRIMARY KEY);
GO
-- A key violation inside a loop: the statement fails, the loop goes on.
DECLARE @i int = 0;
WHILE @i < 5
BEGIN
    INSERT t VALUES (@i / 2);
    IF @@ERROR <> 0 PRINT 'failed at ' + CAST(@i AS varchar(5));
    SET @i += 1;
END
SELECT id FROM t ORDER BY id;
GO
-- An overflow inside a loop in TRY.
DECLARE @i int = 2147483645;
BEGIN TRY
    WHILE 1 = 1 SET @i += 1;
END TRY
BEGIN CATCH
    PRINT CAST(ERROR_NUMBER() AS varchar(10)) + ' at ' + CAST(@i AS varchar(20));
END CATCH
GO
DECLARE @n int = 0;
again:
SET @n += 1;
IF @n < 3 GOTO again;
PRINT @n;
RETURN;
PRINT 'not reached';
GO
PRINT CONCAT('rows ', @@ROWCOUNT, ' nest ', @@NESTLEVEL, ' tran ', @@TRANCOUNT);
PRINT CASE WHEN @@SPID >= 51 THEN 'a user session' END;
GO
PRINT 'twice'
GO 2
EXEC('SELECT 1 AS one; PRINT ''from a text''');
EXEC sp_executesql N'SELECT @a + @b AS sum; SET @b = 40', N'@a int, @b int OUTPUT', @a = 1, @b = 2;
DECLARE @out int = 5;
EXEC sp_executesql N'SET @x = @x * 2', N'@x int OUTPUT', @x = @out OUTPUT;
PRINT @out;
GO
