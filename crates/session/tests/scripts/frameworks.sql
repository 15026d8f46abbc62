-- Catalog functions of drivers tell the columns of views, the system's too.
CREATE TABLE dbo.place (id int IDENTITY PRIMARY KEY, name nvarchar(20) NOT NULL, price decimal(9,2) NULL);
GO
CREATE VIEW dbo.place_names AS SELECT id, name, UPPER(name) AS loud, price * 2 AS twice FROM dbo.place;
GO
EXEC sp_columns 'place_names';
EXEC sp_columns_100 @table_name = N'place%', @column_name = N'name', @ODBCVer = 3;
EXEC sp_columns 'schemas', 'sys';
GO
-- A rowversion is called timestamp; without a name there are all tables.
CREATE TABLE dbo.mark (id int, version rowversion);
EXEC sp_columns 'mark', @column_name = 'version';
EXEC sp_special_columns 'mark', @col_type = 'V';
EXEC sp_columns_100 NULL, 'dbo', NULL, 'id';
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
-- Rows of VALUES may hold subqueries, which may read what APPLY gives.
SELECT * FROM (VALUES ((SELECT MAX(id) FROM dbo.place)), (2), ((SELECT 5 WHERE 1 = 0))) AS t(a);
SELECT p.name, t.a
FROM dbo.place p CROSS APPLY (VALUES ((SELECT q.height + p.depth FROM dbo.place q WHERE q.id = p.id)), (p.id)) AS t(a);
SELECT (SELECT STRING_AGG(v, ',') FROM (VALUES (p.name), ((SELECT STRING_AGG(w, '+') FROM (VALUES (N'x'), (p.name)) AS u(w)))) AS t(v))
FROM dbo.place p;
GO
SELECT * FROM (VALUES ((SELECT v FROM (VALUES (1), (2)) AS x(v)))) AS t(a);
GO
INSERT dbo.place (name) VALUES (N'lock');
MERGE dbo.place AS p USING (VALUES ((SELECT MAX(id) FROM dbo.place), N'sluice')) AS s (id, name) ON p.id = s.id
WHEN MATCHED THEN UPDATE SET name = s.name OUTPUT inserted.name;
INSERT TOP (1) dbo.place (name, length) OUTPUT inserted.name VALUES ((SELECT N'first'), 1), ((SELECT N'second'), 2);
GO
CREATE PROCEDURE dbo.places @from int AS SELECT id, name FROM dbo.place WHERE id >= @from;
GO
SELECT column_ordinal, name, system_type_name, is_nullable, error_number
FROM sys.dm_exec_describe_first_result_set(N'SELECT 1 AS one, name FROM dbo.place WHERE id = @id', N'@id int', 0);
SELECT name, error_number, error_severity, error_message, error_type_desc
FROM sys.dm_exec_describe_first_result_set(N'SELECT nothing FROM dbo.place', NULL, 0);
SELECT p.name AS module, d.name, d.system_type_name
FROM sys.procedures AS p CROSS APPLY sys.dm_exec_describe_first_result_set_for_object(p.object_id, 0) AS d WHERE p.name = 'places';
