-- The catalog's views and INFORMATION_SCHEMA over one database's objects.
CREATE DATABASE shop;
GO
USE shop;
GO
CREATE SCHEMA sales;
GO
CREATE TABLE sales.customer (
    id int IDENTITY(1, 1) NOT NULL CONSTRAINT pk_customer PRIMARY KEY CLUSTERED,
    name nvarchar(50) NOT NULL,
    code char(3) NULL CONSTRAINT df_code DEFAULT 'new',
    balance decimal(12, 2) NOT NULL CONSTRAINT df_balance DEFAULT (0),
    made datetime2(3) NULL,
    CONSTRAINT uq_name UNIQUE (name DESC, code)
);
CREATE TABLE dbo.plain (a bigint, b varchar(max));
INSERT sales.customer (name) VALUES (N'Ann'), (N'Bob');
GO
CREATE PROCEDURE sales.add_customer @name nvarchar(50), @id int = NULL OUTPUT AS INSERT sales.customer (name) VALUES (@name);
GO
CREATE VIEW sales.names AS SELECT name FROM sales.customer;
GO
SELECT s.name FROM sys.schemas s WHERE s.schema_id < 1000 ORDER BY s.schema_id;
SELECT SCHEMA_NAME(schema_id) AS s, name, type, type_desc, OBJECT_NAME(parent_object_id) AS parent
FROM sys.objects ORDER BY type, name;
SELECT name, max_column_id_used, lock_escalation_desc FROM sys.tables ORDER BY name;
SELECT c.name, c.column_id, TYPE_NAME(c.user_type_id) AS type, c.max_length, c.[precision], c.scale, c.collation_name,
       c.is_nullable, c.is_identity
FROM sys.columns c WHERE c.object_id = OBJECT_ID('sales.customer') ORDER BY c.column_id;
SELECT name, seed_value, increment_value, last_value FROM sys.identity_columns;
SELECT name, index_id, type_desc, is_unique, is_primary_key, is_unique_constraint
FROM sys.indexes ORDER BY object_id, index_id;
SELECT i.name, ic.key_ordinal, COL_NAME(ic.object_id, ic.column_id) AS c, ic.is_descending_key
FROM sys.index_columns ic JOIN sys.indexes i ON i.object_id = ic.object_id AND i.index_id = ic.index_id
ORDER BY i.name, ic.key_ordinal;
SELECT name, type, unique_index_id FROM sys.key_constraints ORDER BY name;
SELECT name, definition, COL_NAME(parent_object_id, parent_column_id) AS c FROM sys.default_constraints ORDER BY name;
SELECT name, type FROM sys.procedures;
SELECT name, type FROM sys.views;
SELECT OBJECT_NAME(object_id) AS name, LEN(definition) AS length FROM sys.sql_modules ORDER BY 1;
SELECT OBJECT_NAME(object_id) AS name, index_id, rows FROM sys.partitions ORDER BY 1, 2;
SELECT type_desc, name, state_desc FROM sys.database_files;
SELECT name, type, is_default FROM sys.filegroups;
SELECT name, system_type_id, max_length FROM sys.types WHERE name IN ('int', 'nvarchar', 'sysname', 'numeric') ORDER BY name;
SELECT COUNT(*) AS views FROM sys.all_objects WHERE is_ms_shipped = 1;
SELECT name, type FROM sys.system_objects WHERE name IN ('objects', 'dm_db_log_info', 'customer') ORDER BY name;
SELECT name, SCHEMA_NAME(schema_id) AS s FROM sys.system_views WHERE name IN ('objects', 'COLUMNS', 'dm_db_log_info') ORDER BY name;
SELECT (SELECT COUNT(*) FROM sys.views) + (SELECT COUNT(*) FROM sys.system_views) - (SELECT COUNT(*) FROM sys.all_views) AS other;
SELECT name, data_space_id, type, type_desc, is_default FROM sys.data_spaces;
SELECT s.name FROM sys.stats s JOIN sys.stats_columns c ON c.object_id = s.object_id;
SELECT name FROM sys.all_columns WHERE object_id = OBJECT_ID('sys.schemas') ORDER BY column_id;
GO
SELECT * FROM INFORMATION_SCHEMA.TABLES ORDER BY TABLE_NAME;
SELECT TABLE_SCHEMA, COLUMN_NAME, ORDINAL_POSITION, COLUMN_DEFAULT, IS_NULLABLE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH,
       NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION
FROM INFORMATION_SCHEMA.COLUMNS ORDER BY TABLE_NAME, ORDINAL_POSITION;
SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE FROM INFORMATION_SCHEMA.ROUTINES;
SELECT TABLE_NAME, VIEW_DEFINITION FROM INFORMATION_SCHEMA.VIEWS;
SELECT SCHEMA_NAME FROM INFORMATION_SCHEMA.SCHEMATA ORDER BY SCHEMA_NAME;
SELECT CONSTRAINT_NAME, TABLE_NAME, CONSTRAINT_TYPE FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS ORDER BY CONSTRAINT_NAME;
SELECT CONSTRAINT_NAME, COLUMN_NAME, ORDINAL_POSITION FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE
ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION;
GO
EXEC sp_help 'sales.add_customer';
EXEC sp_helptext 'sales.names';
EXEC sp_helptext 'nothing';
EXEC sp_columns 'plain';
EXEC sp_spaceused 'sales.customer';
GO
SELECT name, database_id, compatibility_level, state_desc, recovery_model_desc, is_read_committed_snapshot_on,
       delayed_durability_desc
FROM sys.databases ORDER BY database_id;
ALTER DATABASE shop SET RECOVERY FULL;
SELECT DATABASEPROPERTYEX('shop', 'Recovery') AS recovery;
SELECT TOP 3 message_id, severity, text FROM sys.messages WHERE message_id >= 2601 ORDER BY message_id;
GO
