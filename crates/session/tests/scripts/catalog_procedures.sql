-- The catalog procedures in the database of the temporary tables.
CREATE TABLE #t (id int NOT NULL, d decimal(18, 2));
CREATE TABLE ##shared (id int NOT NULL PRIMARY KEY);
EXEC tempdb..sp_columns '##shared';
EXEC tempdb.dbo.sp_columns @table_name = '##shared', @table_qualifier = 'tempdb', @ODBCVer = 3;
EXEC tempdb..sp_columns '#t', @column_name = 'd';
EXEC sp_columns '##shared', NULL, 'tempdb';
SELECT DB_NAME() AS here;
DROP TABLE ##shared;
GO
EXEC sp_datatype_info -9;
EXEC sp_datatype_info_100 93, 3;
EXEC sp_datatype_info 2;
GO
EXEC sp_tableswc 'no%such', '%', 'master', N'''TABLE'',''VIEW''';
EXEC sp_tableswc @table_name = 'schemas', @table_owner = 'sys', @fTableCreated = 0;
GO
