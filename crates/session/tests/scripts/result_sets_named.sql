-- EXEC ... WITH RESULT SETS: names and types of what a call sends.
CREATE PROCEDURE two AS
SELECT 1 AS a, 'x' AS b UNION ALL SELECT NULL, 'longer'
PRINT 'between'
SELECT 2.5 AS c
GO
EXEC two WITH RESULT SETS ((n bigint, t varchar(3)), (f float NOT NULL))
EXEC two WITH RESULT SETS UNDEFINED
GO
-- Another number of columns, of sets, and a NULL that was not to come: the call has failed, and the batch goes on.
EXEC two WITH RESULT SETS ((n int), (f float))
PRINT 'after'
GO
EXEC two WITH RESULT SETS ((n int, t varchar(9)))
PRINT 'after'
GO
EXEC two WITH RESULT SETS ((n int, t varchar(9)), (f float), (g int))
PRINT 'after'
GO
EXEC two WITH RESULT SETS ((n int NOT NULL, t varchar(9)), (f float))
PRINT 'after'
GO
EXEC two WITH RESULT SETS NONE
GO
BEGIN TRY
    EXEC two WITH RESULT SETS ((n int), (f float))
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number, ERROR_MESSAGE() AS message
END CATCH
SELECT 'own' AS rows_of_the_batch
GO
CREATE PROCEDURE outer_one AS EXEC two WITH RESULT SETS ((n int, t varchar(9)), (f float))
GO
EXEC outer_one WITH RESULT SETS ((m varchar(4), u nvarchar(9)), (g decimal(5, 2)))
EXEC ('SELECT 1 AS q; SELECT 2 AS r') WITH RESULT SETS ((z tinyint), (y char(3)))
EXEC sp_executesql N'SELECT @p AS p', N'@p int', 5 WITH RESULT SETS ((answer varchar(10)))
GO
CREATE TABLE kept (n int, t varchar(9))
INSERT kept EXEC two WITH RESULT SETS ((n int, t varchar(9)), (f float))
GO
-- What describes a batch knows the names without running it.
EXEC sp_describe_first_result_set N'EXEC two WITH RESULT SETS ((n bigint, t varchar(3)), (f float NOT NULL))'
GO
EXEC two WITH RESULT SETS ((n nothing))
GO
EXEC two WITH RESULT SETS (AS OBJECT kept, (f float))
GO
EXEC ('DBCC USEROPTIONS') WITH RESULT SETS ((name varchar(30), setting sql_variant))
EXEC sp_columns 'kept' WITH RESULT SETS NONE
GO
