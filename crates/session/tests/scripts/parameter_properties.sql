-- Extended properties of parameters (class 2, the parameter's number as minor_id), and of everything else that the documentation names.
CREATE DATABASE props;
GO
USE props;
GO
CREATE PROCEDURE dbo.p @first int, @second varchar(10) = 'x', @third int OUTPUT AS RETURN 0;
GO
CREATE FUNCTION dbo.f (@a int, @b money) RETURNS int AS BEGIN RETURN @a END;
GO
CREATE FUNCTION dbo.i (@a int) RETURNS TABLE AS RETURN SELECT @a AS x, 2 AS y;
GO
CREATE FUNCTION dbo.m (@a int) RETURNS @r TABLE (x int, y int) AS BEGIN INSERT @r VALUES (@a, 1); RETURN END;
GO
-- Values keep their types.
DECLARE @n decimal(9, 3) = 1.500, @d datetime2(3) = '2026-01-02T03:04:05.678', @m money = 1.2345, @b varbinary(4) = 0x00FF, @v varchar(10) = 'text';
EXEC sys.sp_addextendedproperty @name = N'MS_Description', @value = N'the first', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'PROCEDURE', @level1name = N'p', @level2type = N'PARAMETER', @level2name = N'@first';
EXEC sp_addextendedproperty 'limit', @n, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@first';
EXEC sp_addextendedproperty 'MS_Description', @v, 'schema', 'DBO', 'procedure', 'P', 'parameter', '@SECOND';
EXEC sp_addextendedproperty 'since', @d, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@third';
EXEC sp_addextendedproperty 'of all', 7, 'SCHEMA', 'dbo', 'PROCEDURE', 'p';
EXEC sp_addextendedproperty 'MS_Description', @m, 'SCHEMA', 'dbo', 'FUNCTION', 'f', 'PARAMETER', '@b';
EXEC sp_addextendedproperty 'MS_Description', @b, 'SCHEMA', 'dbo', 'FUNCTION', 'i', 'PARAMETER', '@a';
EXEC sp_addextendedproperty 'MS_Description', NULL, 'USER', 'dbo', 'FUNCTION', 'm', 'PARAMETER', '@a';
EXEC sp_addextendedproperty 'MS_Description', 'column y', 'SCHEMA', 'dbo', 'FUNCTION', 'i', 'COLUMN', 'y';
EXEC sp_addextendedproperty 'MS_Description', 'column y', 'SCHEMA', 'dbo', 'FUNCTION', 'm', 'COLUMN', 'y';
GO
SELECT e.class, e.class_desc, OBJECT_NAME(e.major_id) AS object, e.minor_id, p.name AS parameter, e.name, e.value, SQL_VARIANT_PROPERTY(e.value, 'BaseType') AS base
    FROM sys.extended_properties AS e LEFT JOIN sys.parameters AS p ON e.class = 2 AND p.object_id = e.major_id AND p.parameter_id = e.minor_id
    ORDER BY e.class, object, e.minor_id, e.name;
SELECT objtype, objname, name, value FROM fn_listextendedproperty(NULL, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', NULL);
SELECT objtype, objname, name, value FROM fn_listextendedproperty('MS_Description', 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@second');
SELECT objtype, objname, name, value FROM fn_listextendedproperty(NULL, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', NULL, NULL);
SELECT objtype, objname, name FROM fn_listextendedproperty(NULL, 'SCHEMA', 'dbo', 'FUNCTION', 'f', 'PARAMETER', DEFAULT);
SELECT o.name, l.objname, l.value FROM sys.objects AS o CROSS APPLY fn_listextendedproperty(NULL, 'SCHEMA', 'dbo', 'FUNCTION', o.name, 'PARAMETER', NULL) AS l ORDER BY o.name;
GO
-- Changed and dropped.
DECLARE @f float = 0.1;
EXEC sp_updateextendedproperty 'ms_description', @f, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@first';
EXEC sp_dropextendedproperty 'limit', 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@first';
SELECT objname, name, value, SQL_VARIANT_PROPERTY(value, 'BaseType') AS base FROM fn_listextendedproperty(NULL, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@first');
GO
-- An altered module keeps those of the parameters that stay, whatever their places are.
ALTER PROCEDURE dbo.p @new int, @THIRD int OUTPUT, @first bigint AS RETURN 0;
GO
CREATE OR ALTER FUNCTION dbo.f (@b money) RETURNS int AS BEGIN RETURN 1 END;
GO
ALTER FUNCTION dbo.i (@b int) RETURNS TABLE AS RETURN SELECT 2 AS y, 3 AS z;
GO
ALTER FUNCTION dbo.m (@z int, @a int) RETURNS @r TABLE (w int, x int, y int) AS BEGIN RETURN END;
GO
SELECT e.class, OBJECT_NAME(e.major_id) AS object, e.minor_id, COALESCE(p.name, c.name) AS part, e.name, e.value
    FROM sys.extended_properties AS e LEFT JOIN sys.parameters AS p ON e.class = 2 AND p.object_id = e.major_id AND p.parameter_id = e.minor_id
    LEFT JOIN sys.columns AS c ON e.class = 1 AND c.object_id = e.major_id AND c.column_id = e.minor_id
    ORDER BY e.class, object, e.minor_id, e.name;
GO
-- Renamed, moved to another schema, rolled back, dropped.
CREATE SCHEMA side;
GO
EXEC sp_rename 'dbo.p', 'q';
ALTER SCHEMA side TRANSFER dbo.q;
SELECT objname, name FROM fn_listextendedproperty(NULL, 'SCHEMA', 'side', 'PROCEDURE', 'q', 'PARAMETER', NULL) ORDER BY objname;
BEGIN TRANSACTION;
DROP PROCEDURE side.q;
SELECT COUNT(*) AS n FROM sys.extended_properties WHERE class = 2;
ROLLBACK;
SELECT COUNT(*) AS n FROM sys.extended_properties WHERE class = 2;
DROP PROCEDURE side.q; DROP FUNCTION dbo.f, dbo.i, dbo.m;
SELECT COUNT(*) AS n FROM sys.extended_properties;
GO
-- Refused.
CREATE PROCEDURE dbo.p @first int AS RETURN 0;
GO
CREATE TABLE dbo.t (a int CONSTRAINT c CHECK (a > 0));
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@none';
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', 'first';
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'PROCEDURE', 'none', 'PARAMETER', '@first';
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'TABLE', 't', 'PARAMETER', 'a';
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'COLUMN', '@first';
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER';
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'ARGUMENT', '@first';
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@first';
EXEC sp_addextendedproperty 'X', 1, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@first';
GO
EXEC sp_updateextendedproperty 'y', 1, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@first';
GO
EXEC sp_dropextendedproperty 'y', 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@first';
GO
EXEC sp_dropextendedproperty 'x', 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@first';
GO
-- Who may not alter the module, is told of it as of one that is not there.
CREATE USER ann WITHOUT LOGIN;
GRANT EXECUTE ON dbo.p TO ann;
EXECUTE AS USER = 'ann';
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'PROCEDURE', 'p', 'PARAMETER', '@first';
REVERT;
GO
-- The other types: table types and their columns, types under the database, partition functions and schemes, roles as users.
CREATE TYPE dbo.rows AS TABLE (a int, b int);
CREATE TYPE dbo.short FROM varchar(5);
CREATE PARTITION FUNCTION pf (int) AS RANGE FOR VALUES (10);
CREATE PARTITION SCHEME ps AS PARTITION pf ALL TO ([PRIMARY]);
CREATE ROLE readers;
CREATE XML SCHEMA COLLECTION dbo.shapes AS '<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"><xsd:element name="a"/></xsd:schema>';
GO
EXEC sp_addextendedproperty 'about', 'table type', 'SCHEMA', 'dbo', 'TABLE_TYPE', 'rows';
EXEC sp_addextendedproperty 'about', 'its column', 'SCHEMA', 'dbo', 'TABLE_TYPE', 'rows', 'COLUMN', 'b';
EXEC sp_addextendedproperty 'about', 'type', 'TYPE', 'short';
EXEC sp_addextendedproperty 'about', 'function', 'PARTITION FUNCTION', 'pf';
EXEC sp_addextendedproperty 'about', 'scheme', 'PARTITION SCHEME', 'ps';
EXEC sp_addextendedproperty 'about', 'role', 'USER', 'readers';
EXEC sp_addextendedproperty 'about', 'collection', 'SCHEMA', 'dbo', 'XML SCHEMA COLLECTION', 'shapes';
EXEC sp_addextendedproperty 'about', 'constraint', 'SCHEMA', 'dbo', 'TABLE', 't', 'CONSTRAINT', 'c';
SELECT class, class_desc, minor_id, value FROM sys.extended_properties WHERE name = 'about' ORDER BY class, minor_id;
SELECT objtype, objname, value FROM fn_listextendedproperty(NULL, 'PARTITION FUNCTION', NULL, NULL, NULL, NULL, NULL);
SELECT objtype, objname, value FROM fn_listextendedproperty(NULL, 'SCHEMA', 'dbo', 'TABLE_TYPE', 'rows', 'COLUMN', NULL);
EXEC sp_updateextendedproperty 'about', 'a scheme', 'PARTITION SCHEME', 'ps';
SELECT objtype, objname, value FROM fn_listextendedproperty(NULL, 'PARTITION SCHEME', 'PS', NULL, NULL, NULL, NULL);
DROP PARTITION SCHEME ps; DROP PARTITION FUNCTION pf; DROP TYPE dbo.rows, dbo.short; DROP ROLE readers; DROP XML SCHEMA COLLECTION dbo.shapes; DROP TABLE dbo.t;
SELECT COUNT(*) AS left_ones FROM sys.extended_properties;
GO
-- What there can be none of here is not there; what is no type of its level is a wrong parameter.
EXEC sp_addextendedproperty 'x', 1, 'ASSEMBLY', 'a';
GO
EXEC sp_addextendedproperty 'x', 1, 'MESSAGE TYPE', 'a';
GO
EXEC sp_addextendedproperty 'x', 1, 'PLAN GUIDE', 'a';
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'AGGREGATE', 'a';
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'QUEUE', 'a', 'EVENT NOTIFICATION', 'b';
GO
EXEC sp_addextendedproperty 'x', 1, 'PARTITION FUNCTION', 'pf', 'TABLE', 't';
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'TABLE_TYPE', 'none';
GO
EXEC sp_addextendedproperty 'x', 1, 'FILEGROUP', 'none';
GO
EXEC sp_addextendedproperty 'x', 1, 'ROLE', 'public';
GO
EXEC sp_addextendedproperty 'x', 1, 'SCHEMA', 'dbo', 'FILEGROUP', 'PRIMARY';
GO
EXEC sp_addextendedproperty 'x', 1, 'TABLE', 't';
GO
