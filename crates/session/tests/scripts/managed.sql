-- What .NET's SqlClient asks the catalog for.
CREATE TYPE dbo.list AS TABLE (a int);
GO
CREATE PROCEDURE dbo.takes @a int, @d decimal(9, 2) = 1.5, @s nvarchar(40) OUTPUT, @m varchar(max), @t dbo.list READONLY, @w datetime2(3), @n sysname AS RETURN;
GO
EXEC sys.sp_procedure_params_100_managed @procedure_name = N'takes', @group_number = 1, @procedure_schema = N'dbo';
GO
EXEC master.sys.sp_procedure_params_100_managed N'takes', 1, NULL, N'@d';
GO
EXEC sys.sp_procedure_params_100_managed N'nowhere';
GO
CREATE TABLE dbo.goods (id int IDENTITY CONSTRAINT goods_key PRIMARY KEY, name nvarchar(30) NULL CONSTRAINT goods_name UNIQUE, price decimal(9, 2) SPARSE NULL);
GO
CREATE NONCLUSTERED INDEX goods_price ON dbo.goods (price, name);
GO
EXEC sys.sp_columns_managed NULL, N'dbo', N'goods', NULL, 0;
EXEC sys.sp_columns_managed NULL, NULL, N'goods', N'price', 1;
EXEC sys.sp_columns_managed NULL, NULL, N'goods', NULL, 2;
GO
EXEC sys.sp_indexes_managed NULL, NULL, N'goods', NULL;
EXEC sys.sp_indexes_managed NULL, NULL, N'goods', N'goods_key';
EXEC sys.sp_indexcolumns_managed NULL, NULL, N'goods', NULL, NULL;
EXEC sys.sp_indexcolumns_managed NULL, NULL, NULL, N'goods_price', N'name';
GO
SELECT ASSEMBLYPROPERTY('nothing', 'VersionMajor') AS none;
GO
-- An error that names its procedure.
BEGIN TRY EXEC dbo.takes END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS number, ERROR_PROCEDURE() AS within, ERROR_MESSAGE() AS says END CATCH;
