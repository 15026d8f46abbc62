-- A call that runs again comes to what its name means now, with the permissions of now.
CREATE PROCEDURE dbo.callee @n int AS SELECT @n AS first_text
GO
CREATE USER someone WITHOUT LOGIN
GO
CREATE PROCEDURE dbo.caller AS
BEGIN
    DECLARE @i int = 0
    WHILE @i < 5
    BEGIN
        IF @i = 2 EXEC ('ALTER PROCEDURE dbo.callee @n int AS SELECT @n AS second_text')
        IF @i = 3 EXEC ('DROP PROCEDURE dbo.callee')
        IF @i = 4 EXEC ('CREATE PROCEDURE dbo.callee @n int AS SELECT @n * 10 AS third_text')
        EXEC dbo.callee @i
        SET @i += 1
    END
END
GO
EXEC dbo.caller
GO
DECLARE @i int = 0
WHILE @i < 4
BEGIN
    IF @i = 2 EXECUTE AS USER = 'someone'
    EXEC dbo.callee @i
    IF @i = 2 REVERT
    SET @i += 1
END
GO
