-- What drivers and the suites of object mappers ask for.
CREATE TYPE dbo.pair AS TABLE (a int, b varchar(10))
GO
CREATE TYPE dbo.code FROM varchar(12) NOT NULL
GO
CREATE PROCEDURE dbo.take @first int, @pairs dbo.pair READONLY, @code dbo.code AS SELECT COUNT(*) FROM @pairs
GO
-- A table's type, and a user's name for a type, are told of with their names.
CREATE TABLE #found (
    parameter_ordinal int, name sysname, suggested_system_type_id int, suggested_system_type_name nvarchar(256),
    suggested_max_length smallint, suggested_precision tinyint, suggested_scale tinyint, suggested_user_type_id int,
    suggested_user_type_database sysname NULL, suggested_user_type_schema sysname NULL, suggested_user_type_name sysname NULL,
    suggested_assembly_qualified_type_name nvarchar(4000), suggested_xml_collection_id int, suggested_xml_collection_database sysname NULL,
    suggested_xml_collection_schema sysname NULL, suggested_xml_collection_name sysname NULL, suggested_is_xml_document bit,
    suggested_is_case_sensitive bit, suggested_is_fixed_length_clr_type bit, suggested_is_input bit, suggested_is_output bit,
    formal_parameter_name sysname NULL, suggested_tds_type_id int, suggested_tds_length int)
INSERT #found EXEC sp_describe_undeclared_parameters N'EXEC dbo.take @P1, @P2, @P3'
SELECT name, suggested_system_type_id, suggested_system_type_name, suggested_max_length, suggested_user_type_database,
    suggested_user_type_schema, suggested_user_type_name, suggested_tds_type_id FROM #found
GO
-- The version as monitors ask for it.
EXEC master..xp_msver 'ProductVersion'
EXEC xp_msver productname
CREATE TABLE #version (id smallint, name sysname, internal int, value nvarchar(512))
INSERT #version EXEC xp_msver
SELECT id, name, CASE WHEN value > '' THEN 1 ELSE 0 END AS told FROM #version
GO
-- A schema's owner.
CREATE USER mapper WITHOUT LOGIN
GO
CREATE SCHEMA mapped AUTHORIZATION mapper
GO
SELECT SCHEMA_NAME, SCHEMA_OWNER FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME IN ('dbo', 'mapped')
GO
-- A constraint whose name is taken is told of by two errors, a table by one.
CREATE TABLE dbo.named (a int NOT NULL, b int NOT NULL, CONSTRAINT taken PRIMARY KEY (a))
GO
ALTER TABLE dbo.named ADD CONSTRAINT taken UNIQUE (b)
GO
CREATE INDEX only_index ON dbo.named (b)
GO
ALTER TABLE dbo.named ADD CONSTRAINT only_index UNIQUE (b)
GO
CREATE TABLE dbo.named (a int)
GO
-- A column is in an index once.
CREATE INDEX twice ON dbo.named (b) INCLUDE (a, b)
GO
CREATE INDEX twice ON dbo.named (b) INCLUDE (a, a)
GO
-- Blanks may stand behind the sign of an amount.
SELECT CAST('- 214,748.3648' AS smallmoney) AS a, CAST('+ $ 1.5' AS money) AS b
GO
SELECT CAST('1 2' AS money)
GO
SELECT CAST('- ' AS money)
GO
