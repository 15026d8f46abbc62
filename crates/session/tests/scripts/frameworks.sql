-- Catalog functions of drivers tell the columns of views, the system's too.
CREATE TABLE dbo.place (id int IDENTITY PRIMARY KEY, name nvarchar(20) NOT NULL, price decimal(9,2) NULL);
GO
CREATE VIEW dbo.place_names AS SELECT id, name, UPPER(name) AS loud, price * 2 AS twice FROM dbo.place;
GO
EXEC sp_columns 'place_names';
EXEC sp_columns_100 @table_name = N'place%', @column_name = N'name', @ODBCVer = 3;
EXEC sp_columns 'schemas', 'sys';
GO
