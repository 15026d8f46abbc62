-- Procedures: parameters, defaults, OUTPUT, status, nesting, errors in them, ALTER and DROP.
CREATE TABLE dbo.log (id int NOT NULL PRIMARY KEY, note varchar(20) NULL);
GO
CREATE PROCEDURE dbo.add_rows
    @first int,
    @rows int = 3,
    @last int = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @i int = 0;
    WHILE @i < @rows
    BEGIN
        INSERT dbo.log (id, note) VALUES (@first + @i, 'row');
        SET @i += 1;
    END;
    SET @last = @first + @rows - 1;
    RETURN @rows;
END
GO
DECLARE @rc int, @l int;
EXEC @rc = dbo.add_rows 10, @last = @l OUTPUT;
SELECT @rc AS status, @l AS last;
EXEC add_rows @rows = 1, @first = 20;
SELECT id FROM dbo.log ORDER BY id;
GO
add_rows 30, 2
GO
SELECT COUNT(*) AS n FROM dbo.log;
GO
-- The error names the procedure and its own line.
EXEC dbo.add_rows 31;
GO
CREATE PROCEDURE outer_one AS
    PRINT CONCAT('level ', @@NESTLEVEL);
    EXEC inner_one;
    PRINT 'back';
GO
EXEC outer_one;
GO
CREATE PROCEDURE inner_one AS PRINT CONCAT('inner level ', @@NESTLEVEL, ' ', OBJECT_NAME(@@PROCID));
GO
EXEC outer_one;
GO
CREATE PROCEDURE forever AS EXEC forever;
GO
EXEC forever;
GO
ALTER PROCEDURE inner_one AS SELECT 'altered' AS what;
GO
EXEC outer_one;
GO
CREATE OR ALTER PROCEDURE inner_one AS THROW 50000, 'from inside', 1;
GO
EXEC outer_one;
GO
CREATE PROCEDURE handled AS
BEGIN TRY
    EXEC inner_one;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n, ERROR_PROCEDURE() AS p, ERROR_LINE() AS l;
    RETURN 5;
END CATCH
GO
DECLARE @s int;
EXEC @s = handled;
PRINT @s;
GO
CREATE TABLE gathered (n int, p nvarchar(128), l int);
INSERT gathered EXEC handled;
SELECT * FROM gathered;
GO
DROP PROCEDURE inner_one, outer_one;
DROP PROC IF EXISTS outer_one;
EXEC outer_one;
GO
CREATE PROCEDURE counts AS
    SELECT id FROM dbo.log WHERE id = 10;
    UPDATE dbo.log SET note = 'x' WHERE id < 12;
GO
EXEC counts;
SET NOCOUNT ON;
EXEC counts;
SET NOCOUNT OFF;
GO
SELECT name, parameter_id, TYPE_NAME(user_type_id) AS type, is_output, has_default_value
FROM sys.parameters WHERE object_id = OBJECT_ID('dbo.add_rows') ORDER BY parameter_id;
GO
