-- sp_sproc_columns: functions beside procedures.
CREATE TYPE dbo.list AS TABLE (id int);
GO
CREATE PROCEDURE dbo.a_procedure @n int, @l dbo.list READONLY, @o varchar(20) OUTPUT AS SELECT @o = 'x';
GO
CREATE FUNCTION dbo.b_scalar (@x decimal(9, 2)) RETURNS nvarchar(30) AS BEGIN RETURN N'' END;
GO
CREATE FUNCTION dbo.c_inline (@x int) RETURNS TABLE AS RETURN SELECT @x AS x;
GO
CREATE FUNCTION dbo.d_table () RETURNS @t TABLE (a int) AS BEGIN RETURN END;
GO
EXEC sp_sproc_columns;
EXEC sp_sproc_columns 'b_scalar';
EXEC sp_sproc_columns '%_%', @column_name = '@TABLE%';
EXEC sp_sproc_columns '%_%', @fUsePattern = 0;
EXEC sp_sproc_columns_100 'c%', 'dbo', NULL, NULL, 3;
GO
EXEC sp_catalogs 'elsewhere';
GO
BEGIN TRY EXEC sp_catalogs @@SERVERNAME; END TRY BEGIN CATCH SELECT ERROR_NUMBER() n, REPLACE(ERROR_MESSAGE(), @@SERVERNAME, 'this') m; END CATCH;
GO
