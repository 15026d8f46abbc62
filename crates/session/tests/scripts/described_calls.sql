-- Calls of the system's procedures are described, as ODBC asks for {? = call sp_tables(?)}.
CREATE TABLE #p (parameter_ordinal int, name sysname, suggested_system_type_id int, suggested_system_type_name nvarchar(256), suggested_max_length smallint,
    suggested_precision tinyint, suggested_scale tinyint, c8 int, c9 sysname NULL, c10 sysname NULL, c11 sysname NULL, c12 nvarchar(4000), c13 int, c14 sysname NULL, c15 sysname NULL, c16 sysname NULL,
    c17 bit, c18 bit, c19 bit, is_input bit, is_output bit, formal_parameter_name sysname NULL, tds_type int, tds_length int);
INSERT #p EXEC sp_describe_undeclared_parameters N' EXEC @P1=sp_tables @P2';
INSERT #p EXEC sp_describe_undeclared_parameters N'EXEC sys.sp_columns_100 @P1, @table_owner = @P2, @fUsePattern = @P3';
INSERT #p EXEC sp_describe_undeclared_parameters N'EXEC sp_statistics @P1, @P2, NULL, NULL, @P3';
SELECT name, suggested_system_type_name, is_output, formal_parameter_name, tds_length FROM #p;
DROP TABLE #p;
GO
EXEC sp_describe_undeclared_parameters N'EXEC sp_settriggerorder @P1';
GO
CREATE TABLE #c (is_hidden bit, column_ordinal int, name sysname NULL, is_nullable bit, system_type_id int, system_type_name nvarchar(256), max_length smallint, c8 tinyint, c9 tinyint, c10 sysname NULL, c11 int,
    c12 sysname NULL, c13 sysname NULL, c14 sysname NULL, c15 nvarchar(4000), c16 int, c17 sysname NULL, c18 sysname NULL, c19 sysname NULL, c20 bit, c21 bit, c22 bit, c23 sysname NULL, c24 sysname NULL, c25 sysname NULL,
    c26 sysname NULL, c27 sysname NULL, c28 bit, c29 bit, c30 bit, c31 bit, c32 bit, c33 smallint, c34 smallint, c35 smallint, c36 int, c37 int, c38 int, c39 tinyint);
INSERT #c EXEC sp_describe_first_result_set N'EXEC sp_tables @P1';
INSERT #c EXEC sp_describe_first_result_set N'EXEC sp_pkeys N''t''';
SELECT name, system_type_name FROM #c;
DROP TABLE #c;
GO
EXEC sp_describe_first_result_set N'EXEC sp_updatestats';
GO
