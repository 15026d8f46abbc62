-- Catalog functions of drivers tell the columns of views, the system's too.
CREATE TABLE dbo.place (id int IDENTITY PRIMARY KEY, name nvarchar(20) NOT NULL, price decimal(9,2) NULL);
GO
CREATE VIEW dbo.place_names AS SELECT id, name, UPPER(name) AS loud, price * 2 AS twice FROM dbo.place;
GO
EXEC sp_columns 'place_names';
EXEC sp_columns_100 @table_name = N'place%', @column_name = N'name', @ODBCVer = 3;
EXEC sp_columns 'schemas', 'sys';
GO
-- WITH VALUES: rows that are there get the default, also where the column can be NULL.
INSERT dbo.place (name) VALUES (N'weir');
ALTER TABLE dbo.place ADD height float NULL DEFAULT 4.5 WITH VALUES, depth float NULL DEFAULT 2;
ALTER TABLE dbo.place ADD seen datetime NULL CONSTRAINT place_seen DEFAULT GETDATE() WITH VALUES;
ALTER TABLE dbo.place ADD width int NULL, CONSTRAINT place_width DEFAULT 7 FOR width WITH VALUES;
ALTER TABLE dbo.place ADD length int NOT NULL, CONSTRAINT place_length DEFAULT 8 FOR length;
GO
SELECT height, depth, IIF(seen IS NULL, 'no', 'yes') AS seen, width, length FROM dbo.place;
SELECT name, definition FROM sys.default_constraints WHERE name LIKE 'place%' ORDER BY name;
GO
