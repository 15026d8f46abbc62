-- What the system has is found by its names.
SELECT name, xtype, category FROM master..sysobjects WHERE name IN ('sysobjects', 'sp_executesql', 'sp_help') ORDER BY name;
SELECT name, type, type_desc, is_ms_shipped, SCHEMA_NAME(schema_id) AS [schema] FROM sys.all_objects WHERE name IN ('sp_rename', 'sp_prepare', 'xp_msver', 'objects') ORDER BY name;
SELECT name FROM sys.system_objects WHERE object_id = OBJECT_ID('sp_columns');
SELECT OBJECT_NAME(OBJECT_ID('sys.sp_columns')) AS name, OBJECT_SCHEMA_NAME(OBJECT_ID('sp_columns')) AS [schema], OBJECTPROPERTY(OBJECT_ID('sp_columns'), 'IsProcedure') AS is_procedure,
    OBJECT_ID('sp_columns', 'P') - OBJECT_ID('sp_columns') AS same, OBJECT_ID('sp_columns', 'U') AS none, OBJECT_ID('sp_nothing') AS missing;
SELECT COUNT(*) - COUNT(DISTINCT object_id) AS twice FROM sys.all_objects;
GO
-- An own procedure of such a name is one's own.
CREATE PROCEDURE dbo.sp_depends_on_me AS SELECT 1 AS one
GO
SELECT OBJECTPROPERTY(OBJECT_ID('sp_depends_on_me'), 'IsMSShipped') AS shipped;
DROP PROCEDURE dbo.sp_depends_on_me;
GO
-- Those of other databases are not among their own.
CREATE DATABASE other;
GO
USE other;
SELECT COUNT(*) AS none FROM sysobjects;
SELECT name FROM master..sysobjects WHERE name = 'sysobjects';
SELECT OBJECT_NAME(OBJECT_ID('sp_help')) AS name;
USE master;
DROP DATABASE other;
GO
