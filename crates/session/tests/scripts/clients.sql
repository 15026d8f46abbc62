-- What drivers, tools and ORMs send when they connect and when they look at a schema.
set ansi_nulls on set ansi_null_dflt_on on set ansi_padding on set ansi_warnings on set arithabort on
set concat_null_yields_null on set cursor_close_on_commit off set datefirst 7 set dateformat mdy
set implicit_transactions off set language us_english set numeric_roundabort off set quoted_identifier on
set textsize 2147483647 set transaction isolation level read committed set no_browsetable on set fmtonly off
SET QUERY_GOVERNOR_COST_LIMIT 0 SET LOCK_TIMEOUT -1 SET ROWCOUNT 0 SET DEADLOCK_PRIORITY NORMAL;
GO
SET CONTEXT_INFO 0x0102;
SELECT CONTEXT_INFO() AS info;
GO
CREATE SCHEMA shop;
GO
CREATE TABLE shop.owner (id int IDENTITY(1,1) NOT NULL CONSTRAINT pk_owner PRIMARY KEY, name nvarchar(40) NOT NULL CONSTRAINT uq_owner UNIQUE);
CREATE TABLE shop.pet (
    id int IDENTITY NOT NULL CONSTRAINT pk_pet PRIMARY KEY,
    owner_id int NULL CONSTRAINT fk_owner REFERENCES shop.owner (id) ON DELETE CASCADE ON UPDATE SET NULL,
    name varchar(30) NOT NULL CONSTRAINT df_name DEFAULT 'Rex',
    age int NULL CONSTRAINT ck_age CHECK (age >= 0),
    months AS age * 12,
    stamp rowversion,
    chip char(4) NULL
);
CREATE UNIQUE INDEX ux_chip ON shop.pet (chip) INCLUDE (name) WHERE chip IS NOT NULL;
GO
CREATE VIEW shop.old_pets AS SELECT id, name, age FROM shop.pet WHERE age > 9;
GO
CREATE PROCEDURE shop.add_pet @name varchar(30), @id int = NULL OUTPUT AS INSERT shop.pet (name) VALUES (@name);
GO
-- What ORMs read of keys and columns.
SELECT fk.name, OBJECT_NAME(fk.parent_object_id) AS child, OBJECT_NAME(fk.referenced_object_id) AS parent,
       COL_NAME(fkc.parent_object_id, fkc.parent_column_id) AS c, COL_NAME(fkc.referenced_object_id, fkc.referenced_column_id) AS r,
       fk.delete_referential_action_desc, fk.update_referential_action_desc, fk.is_disabled
FROM sys.foreign_keys AS fk INNER JOIN sys.foreign_key_columns AS fkc ON fk.object_id = fkc.constraint_object_id;
SELECT name, definition, COL_NAME(parent_object_id, parent_column_id) AS c FROM sys.check_constraints;
SELECT name, definition, is_persisted, is_computed FROM sys.computed_columns;
SELECT c.name, t.name AS type, c.is_computed, c.is_nullable FROM sys.columns AS c JOIN sys.types AS t ON t.user_type_id = c.user_type_id
WHERE c.object_id = OBJECT_ID('shop.pet') ORDER BY c.column_id;
SELECT c.name, c.column_id, TYPE_NAME(c.user_type_id) AS type FROM sys.columns AS c WHERE c.object_id = OBJECT_ID('shop.old_pets') ORDER BY c.column_id;
SELECT i.name, i.has_filter, i.filter_definition, COL_NAME(ic.object_id, ic.column_id) AS c, ic.is_included_column
FROM sys.indexes AS i JOIN sys.index_columns AS ic ON ic.object_id = i.object_id AND ic.index_id = i.index_id
WHERE i.name = 'ux_chip' ORDER BY ic.index_column_id;
SELECT name, type, type_desc, OBJECT_NAME(parent_object_id) AS parent FROM sys.objects WHERE type IN ('F', 'C') ORDER BY name;
SELECT p.row_count FROM sys.dm_db_partition_stats AS p WHERE p.object_id = OBJECT_ID('shop.pet') AND p.index_id < 2;
SELECT COUNT(*) AS properties FROM sys.extended_properties;
SELECT COUNT(*) AS sequences FROM sys.sequences;
SELECT name, xtype FROM sysobjects WHERE xtype IN ('U', 'V') AND category = 0 ORDER BY name;
SELECT name, colid, isnullable FROM syscolumns WHERE id = OBJECT_ID('shop.owner') ORDER BY colid;
SELECT name, dbid FROM master..sysdatabases ORDER BY dbid;
SELECT name, database_id, recovery_model_desc, delayed_durability_desc FROM sys.databases ORDER BY database_id;
GO
SELECT C.CONSTRAINT_NAME, C.UNIQUE_CONSTRAINT_NAME, C.MATCH_OPTION, C.UPDATE_RULE, C.DELETE_RULE FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS C;
SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS ORDER BY CONSTRAINT_NAME;
SELECT CONSTRAINT_NAME, COLUMN_NAME FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE ORDER BY CONSTRAINT_NAME;
SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM INFORMATION_SCHEMA.CHECK_CONSTRAINTS;
SELECT TABLE_NAME, COLUMN_NAME, CONSTRAINT_NAME FROM INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE ORDER BY CONSTRAINT_NAME;
SELECT PARAMETER_NAME, PARAMETER_MODE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH FROM INFORMATION_SCHEMA.PARAMETERS ORDER BY ORDINAL_POSITION;
SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = 'shop' ORDER BY TABLE_NAME, ORDINAL_POSITION;
GO
EXEC sp_tables @table_owner = 'shop';
EXEC sp_pkeys 'pet', 'shop';
EXEC sp_fkeys @pktable_name = 'owner', @pktable_owner = 'shop';
EXEC sp_statistics 'pet', 'shop';
EXEC sp_special_columns 'pet', 'shop';
EXEC sp_stored_procedures 'add%';
EXEC sp_sproc_columns 'add_pet';
EXEC sp_datatype_info 4;
EXEC sp_server_info 1;
EXEC sp_helpindex 'shop.owner';
EXEC sp_describe_first_result_set N'SELECT id, name, age + @x AS later FROM shop.pet', N'@x int';
EXEC sp_tablecollations_100 'shop.owner';
GO
EXEC sp_rename 'shop.pet.age', 'years', 'COLUMN';
EXEC sp_rename 'shop.pet.ux_chip', 'ix_chip', 'INDEX';
EXEC sp_rename 'shop.uq_owner', 'uq_owner_name';
EXEC sp_rename 'shop.pet.chip', 'chip_code', 'COLUMN';
EXEC sp_rename 'shop.owner', 'keeper';
EXEC sp_rename 'shop.nothing', 'other';
GO
SELECT name FROM sys.objects WHERE type IN ('U', 'UQ') ORDER BY name;
INSERT shop.keeper (name) VALUES ('Ann'), ('Ann');
SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('shop.pet') ORDER BY name;
SELECT chip_code FROM shop.pet;
GO
-- Temporary tables as tools look for them.
CREATE TABLE #work (id int NOT NULL, name varchar(10));
IF OBJECT_ID('tempdb..#work') IS NOT NULL SELECT 'there' AS work;
SELECT OBJECT_ID('#work') AS not_of_this_database, COL_LENGTH('tempdb..#work', 'name') AS length,
       COLUMNPROPERTY(OBJECT_ID('tempdb..#work'), 'id', 'AllowsNull') AS nullable;
DROP TABLE #work;
IF OBJECT_ID('tempdb..#work', 'U') IS NULL SELECT 'gone' AS work;
GO
-- Other databases' views.
CREATE TABLE #seen (a int, b varchar(5));
SELECT c.name FROM tempdb.sys.columns AS c WHERE c.object_id = OBJECT_ID('tempdb..#seen') ORDER BY c.column_id;
SELECT name FROM tempdb.sys.tables WHERE name LIKE '#seen%';
CREATE DATABASE side;
GO
SELECT name FROM side.sys.tables;
SELECT COUNT(*) AS tables FROM side.INFORMATION_SCHEMA.TABLES;
SELECT name FROM nowhere.sys.tables;
GO
-- GOTO, EXEC of a text, sp_executesql with its ways of passing values.
DECLARE @i int = 0;
again: SET @i += 1; IF @i < 3 GOTO again;
SELECT @i AS turns;
EXEC ('SELECT ' + '1 + 1 AS two');
DECLARE @out int, @text nvarchar(100) = N'SET @y = @x * 2; SELECT @x AS x';
EXEC sp_executesql @text, N'@x int, @y int OUTPUT', 21, @out OUTPUT;
EXEC sp_executesql @stmt = N'SELECT @a AS a', @params = N'@a varchar(5)', @a = 'named';
SELECT @out AS doubled;
WAITFOR DELAY '00:00:00.010';
GO
-- Functions.
CREATE FUNCTION shop.tax (@net decimal(9,2)) RETURNS decimal(9,2) AS BEGIN RETURN @net * 0.2 END;
GO
CREATE FUNCTION shop.pets_of (@owner int) RETURNS TABLE AS RETURN (SELECT id, name FROM shop.pet WHERE owner_id = @owner);
GO
SELECT shop.tax(50) AS tax, OBJECTPROPERTY(OBJECT_ID('shop.tax'), 'IsScalarFunction') AS scalar;
SELECT * FROM shop.pets_of(1);
SELECT name, type, type_desc FROM sys.objects WHERE type IN ('FN', 'IF') ORDER BY name;
SELECT name, parameter_id, is_output, TYPE_NAME(user_type_id) AS type FROM sys.parameters WHERE object_id = OBJECT_ID('shop.tax') ORDER BY parameter_id;
SELECT ROUTINE_NAME, ROUTINE_TYPE, DATA_TYPE FROM INFORMATION_SCHEMA.ROUTINES ORDER BY ROUTINE_NAME;
EXEC sp_helptext 'shop.pets_of';
GO
-- Metadata only.
SET FMTONLY ON;
SELECT id, name FROM shop.pet;
DELETE shop.pet;
CREATE TABLE not_made (a int);
SET FMTONLY OFF;
SELECT OBJECT_ID('not_made') AS not_made;
GO
SET CURSOR_CLOSE_ON_COMMIT ON;
DECLARE c CURSOR FOR SELECT 1;
OPEN c;
SELECT CURSOR_STATUS('global', 'c') AS opened;
BEGIN TRAN;
COMMIT;
SELECT CURSOR_STATUS('global', 'c') AS closed, CURSOR_STATUS('local', 'c') AS none;
DEALLOCATE c;
GO
-- The order of a set operation, by columns named as the first SELECT names them; by the second's names, error 104.
WITH kinds AS (SELECT 1 AS id, 'dog' AS kind UNION ALL SELECT 2, 'cat')
SELECT kinds.id, kinds.kind AS called FROM kinds UNION SELECT more.id + 5, more.kind FROM kinds AS more ORDER BY kinds.kind, kinds.id DESC;
GO
WITH kinds AS (SELECT 1 AS id, 'dog' AS kind)
SELECT kinds.id FROM kinds UNION SELECT more.id FROM kinds AS more ORDER BY more.id;
GO
