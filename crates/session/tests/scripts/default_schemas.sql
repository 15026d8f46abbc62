-- Default schemas of users, schemas of views, and the order of triggers.
CREATE DATABASE shop;
GO
USE shop;
GO
CREATE SCHEMA app;
GO
CREATE USER ann WITHOUT LOGIN WITH DEFAULT_SCHEMA = app;
CREATE USER bob WITHOUT LOGIN;
ALTER ROLE db_owner ADD MEMBER ann;
ALTER ROLE db_owner ADD MEMBER bob;
CREATE TABLE dbo.t (place varchar(10));
CREATE TABLE dbo.other (n int);
CREATE TABLE app.t (place varchar(10));
INSERT dbo.t VALUES ('dbo');
INSERT app.t VALUES ('app');
SELECT SCHEMA_NAME() AS mine;
SELECT name, default_schema_name FROM sys.database_principals WHERE name IN ('ann', 'bob') ORDER BY name;
GO
EXECUTE AS USER = 'ann';
GO
SELECT SCHEMA_NAME() AS mine;
SELECT place FROM t;
SELECT COUNT(*) AS of_dbo FROM other;
GO
REVERT;
GO
SELECT place FROM t;
GO
EXECUTE AS USER = 'ann';
GO
CREATE TABLE made (n int);
INSERT made VALUES (7);
GO
CREATE PROCEDURE shows AS SELECT place FROM t;
GO
CREATE VIEW seen AS SELECT place FROM t;
GO
EXEC shows;
UPDATE t SET place = 'changed';
DROP TABLE made;
GO
REVERT;
GO
SELECT SCHEMA_NAME(schema_id) AS in_schema, name FROM sys.objects WHERE name IN ('shows', 'seen', 'made') ORDER BY name;
SELECT place FROM app.seen;
SELECT place FROM dbo.t;
GO
ALTER USER bob WITH DEFAULT_SCHEMA = app;
GO
EXECUTE AS USER = 'bob';
GO
SELECT place FROM t;
GO
REVERT;
GO
CREATE TRIGGER dbo.a ON dbo.other AFTER INSERT AS PRINT 'a';
GO
CREATE TRIGGER dbo.b ON dbo.other AFTER INSERT, UPDATE AS PRINT 'b';
GO
CREATE TRIGGER dbo.c ON dbo.other AFTER INSERT AS PRINT 'c';
GO
INSERT dbo.other VALUES (1);
EXEC sp_settriggerorder @triggername = 'dbo.c', @order = 'First', @stmttype = 'INSERT';
EXEC sp_settriggerorder 'dbo.a', 'last', 'insert';
INSERT dbo.other VALUES (2);
SELECT OBJECT_NAME(object_id) AS name, type_desc, is_first, is_last FROM sys.trigger_events ORDER BY 1, 2;
GO
EXEC sp_settriggerorder 'dbo.b', 'first', 'INSERT';
GO
EXEC sp_settriggerorder 'dbo.c', 'none', 'INSERT';
EXEC sp_settriggerorder 'dbo.b', 'first', 'INSERT';
INSERT dbo.other VALUES (3);
GO
EXEC sp_settriggerorder 'dbo.a', 'first', 'UPDATE';
GO
EXEC sp_settriggerorder 'dbo.nothing', 'first', 'INSERT';
GO
EXEC sp_settriggerorder 'dbo.a', 'second', 'INSERT';
GO
ALTER TRIGGER dbo.b ON dbo.other AFTER INSERT AS PRINT 'b again';
GO
SELECT OBJECT_NAME(object_id) AS name, is_first, is_last FROM sys.trigger_events ORDER BY 1;
GO
