-- Extended properties keep the types of their values, and filegroups and files have some, too.
CREATE DATABASE d;
GO
USE d;
CREATE TABLE t (a int);
GO
DECLARE @i int = 7, @m money = 1.2345, @f float = 0.1, @d datetime2(3) = '2026-01-02T03:04:05.678', @b varbinary(4) = 0x00FF, @g uniqueidentifier = '00000000-0000-0000-0000-000000000001', @n decimal(9, 3) = 1.500, @v varchar(10) = 'text', @bit bit = 1, @o datetimeoffset(2) = '2026-01-02T03:04:05.67+01:00';
EXEC sp_addextendedproperty 'int', @i;
EXEC sp_addextendedproperty 'money', @m;
EXEC sp_addextendedproperty 'float', @f, 'SCHEMA', 'dbo', 'TABLE', 't';
EXEC sp_addextendedproperty 'moment', @d, 'SCHEMA', 'dbo', 'TABLE', 't';
EXEC sp_addextendedproperty 'bytes', @b, 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'a';
EXEC sp_addextendedproperty 'guid', @g;
EXEC sp_addextendedproperty 'decimal', @n;
EXEC sp_addextendedproperty 'narrow', @v;
EXEC sp_addextendedproperty 'wide', N'text';
EXEC sp_addextendedproperty 'bit', @bit;
EXEC sp_addextendedproperty 'offset', @o;
EXEC sp_addextendedproperty 'null', NULL;
GO
SELECT class_desc, name, value, SQL_VARIANT_PROPERTY(value, 'BaseType') AS base FROM sys.extended_properties ORDER BY name;
DECLARE @i bigint = 8;
EXEC sp_updateextendedproperty 'int', @i;
SELECT name, value, SQL_VARIANT_PROPERTY(value, 'BaseType') AS base FROM fn_listextendedproperty('int', NULL, NULL, NULL, NULL, NULL, NULL);
SELECT name FROM sys.extended_properties WHERE value = 0.1e0;
GO
EXEC sp_addextendedproperty 'use', 'rows', 'FILEGROUP', 'PRIMARY';
EXEC sp_addextendedproperty 'use', 'file', 'FILEGROUP', 'primary', 'Logical File Name', 'd';
EXEC sp_addextendedproperty 'use', 'other', 'FILEGROUP', 'OTHER';
GO
EXEC sp_addextendedproperty 'use', 'other', 'FILEGROUP', 'PRIMARY', 'Logical File Name', 'x';
GO
EXEC sp_addextendedproperty 'use', 'other', 'FILEGROUP', 'PRIMARY', 'TABLE', 't';
GO
SELECT class, class_desc, major_id, minor_id, name, value FROM sys.extended_properties WHERE name = 'use' ORDER BY class;
SELECT objtype, objname, value FROM fn_listextendedproperty(NULL, 'FILEGROUP', NULL, NULL, NULL, NULL, NULL);
SELECT objtype, objname, value FROM fn_listextendedproperty('use', 'FILEGROUP', 'PRIMARY', 'LOGICAL FILE NAME', NULL, NULL, NULL);
EXEC sp_updateextendedproperty 'use', 'all rows', 'FILEGROUP', 'PRIMARY';
EXEC sp_dropextendedproperty 'use', 'FILEGROUP', 'PRIMARY', 'LOGICAL FILE NAME', 'd';
SELECT class_desc, value FROM sys.extended_properties WHERE name = 'use';
GO
