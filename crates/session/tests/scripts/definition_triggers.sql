-- Triggers of definitions: they see what happened, in the transaction of the definition.
CREATE TABLE dbo.log (id int IDENTITY PRIMARY KEY, event nvarchar(60), [schema] sysname NULL, object sysname NULL, command nvarchar(max), doc xml);
GO
CREATE TRIGGER ddlDatabaseTriggerLog ON DATABASE FOR DDL_DATABASE_LEVEL_EVENTS AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @data xml = EVENTDATA();
    INSERT dbo.log (event, [schema], object, command, doc)
    VALUES (@data.value('(/EVENT_INSTANCE/EventType)[1]', 'sysname'), @data.value('(/EVENT_INSTANCE/SchemaName)[1]', 'sysname'),
        @data.value('(/EVENT_INSTANCE/ObjectName)[1]', 'sysname'), @data.value('(/EVENT_INSTANCE/TSQLCommand/CommandText)[1]', 'nvarchar(max)'), @data);
END;
GO
SELECT EVENTDATA() AS nothing;
CREATE TABLE dbo.t1 (a int NOT NULL, CONSTRAINT ck CHECK (a > 0));
ALTER TABLE dbo.t1 ADD b int;
CREATE INDEX ix ON dbo.t1 (b);
ALTER INDEX ix ON dbo.t1 REBUILD;
DROP INDEX ix ON dbo.t1;
CREATE TABLE #t (a int);
INSERT dbo.t1 VALUES (1, 2);
GO
CREATE VIEW dbo.v AS SELECT a FROM dbo.t1;
GO
CREATE OR ALTER VIEW dbo.v AS SELECT b FROM dbo.t1;
GO
CREATE PROCEDURE dbo.p AS SELECT 1 AS one;
GO
ALTER PROCEDURE dbo.p AS SELECT 2 AS two;
GO
CREATE FUNCTION dbo.f () RETURNS int AS BEGIN RETURN 1 END;
GO
CREATE TRIGGER dbo.tr ON dbo.t1 AFTER INSERT AS RETURN;
GO
CREATE SCHEMA app;
GO
CREATE TYPE app.number FROM int;
CREATE SEQUENCE app.s AS int;
ALTER SEQUENCE app.s RESTART WITH 5;
CREATE SYNONYM app.syn FOR dbo.t1;
ALTER SCHEMA app TRANSFER dbo.p;
DROP TABLE IF EXISTS dbo.nothing;
DROP SYNONYM app.syn;
DROP TRIGGER dbo.tr;
CREATE TABLE dbo.d1 (a int);
CREATE TABLE dbo.d2 (a int);
DROP TABLE dbo.d1, dbo.d2;
GO
CREATE TABLE dbo.t1 (a int);
GO
SELECT event, [schema], object, command FROM dbo.log ORDER BY id;
SELECT doc.value('(/EVENT_INSTANCE/TargetObjectName)[1]', 'sysname') AS target, doc.value('(/EVENT_INSTANCE/TargetObjectType)[1]', 'sysname') AS kind, event FROM dbo.log
WHERE event LIKE '%INDEX' OR event LIKE '%TRIGGER' ORDER BY id;
SELECT REPLACE(CAST(doc.query('for $e in /EVENT_INSTANCE/*[local-name(.) != "PostTime" and local-name(.) != "SPID"] return $e') AS nvarchar(max)), @@SERVERNAME, 'server') AS doc FROM dbo.log WHERE id = 1;
SELECT CASE WHEN doc.value('(/EVENT_INSTANCE/PostTime)[1]', 'datetime') > DATEADD(minute, -5, GETDATE()) THEN 'now' END AS posted, doc.value('(/EVENT_INSTANCE/SPID)[1]', 'int') - @@SPID AS spid FROM dbo.log WHERE id = 1;
GO
SELECT name, parent_class, parent_class_desc, parent_id, type, is_disabled FROM sys.triggers;
SELECT COUNT(*) AS objects FROM sys.objects WHERE name = 'ddlDatabaseTriggerLog';
SELECT COUNT(*) AS modules FROM sys.sql_modules m JOIN sys.triggers t ON t.object_id = m.object_id WHERE m.definition LIKE 'CREATE TRIGGER%';
SELECT e.type, e.type_desc, e.event_group_type, e.event_group_type_desc FROM sys.trigger_events e WHERE e.type < 30 ORDER BY e.type;
SELECT * FROM sys.trigger_event_types WHERE type IN (21, 10001, 10016, 10018) ORDER BY type;
GO
-- Switched off and on, changed and dropped.
DISABLE TRIGGER ddlDatabaseTriggerLog ON DATABASE;
TRUNCATE TABLE dbo.log;
CREATE TABLE dbo.unseen (a int);
SELECT is_disabled FROM sys.triggers;
ENABLE TRIGGER ALL ON DATABASE;
CREATE TABLE dbo.seen (a int);
GO
ALTER TRIGGER ddlDatabaseTriggerLog ON DATABASE FOR DDL_TRIGGER_EVENTS, CREATE_TABLE AS
    INSERT dbo.log (event, object) SELECT 'altered: ' + EVENTDATA().value('(/EVENT_INSTANCE/EventType)[1]', 'sysname'), EVENTDATA().value('(/EVENT_INSTANCE/ObjectName)[1]', 'sysname');
GO
CREATE TRIGGER other ON DATABASE FOR DROP_TABLE AS PRINT 'dropped, at level ' + CAST(TRIGGER_NESTLEVEL() AS varchar(9)) + ', ' + CAST(@@TRANCOUNT AS varchar(9));
GO
DROP TABLE dbo.unseen;
SELECT @@TRANCOUNT AS transactions;
DROP TRIGGER ddlDatabaseTriggerLog ON DATABASE;
DROP TRIGGER IF EXISTS ddlDatabaseTriggerLog ON DATABASE;
SELECT event, object FROM dbo.log ORDER BY id;
SELECT name FROM sys.triggers;
GO
DROP TRIGGER other ON DATABASE;
GO
-- ROLLBACK and errors undo the definition.
CREATE TRIGGER safety ON DATABASE FOR DROP_TABLE, ALTER_TABLE AS
    PRINT 'You must disable Trigger "safety" to drop or alter tables!';
    ROLLBACK;
GO
DROP TABLE dbo.seen;
PRINT 'not reached';
GO
SELECT OBJECT_NAME(OBJECT_ID('dbo.seen')) AS still, @@TRANCOUNT AS transactions;
GO
BEGIN TRANSACTION;
CREATE TABLE dbo.inner_one (a int);
ALTER TABLE dbo.seen ADD b int;
GO
SELECT OBJECT_ID('dbo.inner_one') AS gone, COL_LENGTH('dbo.seen', 'b') AS gone_too, @@TRANCOUNT AS transactions;
GO
ALTER TRIGGER safety ON DATABASE FOR DROP_TABLE AS THROW 51000, 'vetoed', 1;
GO
DROP TABLE dbo.seen;
GO
BEGIN TRY DROP TABLE dbo.seen END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS number, ERROR_PROCEDURE() AS [procedure], XACT_STATE() AS state; IF XACT_STATE() <> 0 ROLLBACK END CATCH;
SELECT OBJECT_NAME(OBJECT_ID('dbo.seen')) AS still;
GO
DROP TRIGGER safety ON DATABASE;
DROP TABLE dbo.seen;
GO
-- Triggers fire triggers, but none itself; and rows of the statement go to the client.
CREATE TRIGGER of_tables ON DATABASE FOR CREATE_TABLE AS
    EXEC ('CREATE TABLE dbo.nested' + '_' + 'one (z int)'); EXEC ('CREATE VIEW dbo.nested_view AS SELECT 1 AS one');
GO
CREATE TRIGGER of_views ON DATABASE WITH EXECUTE AS 'dbo' FOR CREATE_VIEW AS SELECT TRIGGER_NESTLEVEL() AS level, USER_NAME() AS [user];
GO
CREATE TABLE dbo.seed (a int);
SELECT name FROM sys.tables WHERE name LIKE 'nested%' OR name = 'seed' ORDER BY name;
DROP TRIGGER of_tables, of_views ON DATABASE;
GO
-- What cannot be.
CREATE TRIGGER tg ON DATABASE FOR NOTHING_SUCH AS RETURN;
GO
CREATE TRIGGER tg ON DATABASE FOR CREATE_LOGIN AS RETURN;
GO
CREATE TRIGGER dbo.tg ON DATABASE FOR CREATE_TABLE AS RETURN;
GO
CREATE TRIGGER tg ON DATABASE FOR CREATE_TABLE AS SELECT * FROM inserted;
GO
CREATE TRIGGER tg ON DATABASE FOR CREATE_TABLE AS RETURN;
GO
CREATE TRIGGER tg ON DATABASE FOR CREATE_TABLE AS RETURN;
GO
DROP TRIGGER tg;
GO
DROP TRIGGER tg ON DATABASE;
DROP TRIGGER tg ON DATABASE;
GO
DISABLE TRIGGER tg ON DATABASE;
GO
ALTER TRIGGER tg ON DATABASE FOR CREATE_TABLE AS RETURN;
GO
CREATE TRIGGER tg ON ALL SERVER FOR CREATE_DATABASE AS RETURN;
GO
-- SELECT ... INTO makes a table, which is watched.
CREATE TABLE into_log (event nvarchar(max) NULL);
GO
CREATE TRIGGER watches_into ON DATABASE FOR CREATE_TABLE AS
INSERT into_log SELECT CONCAT(EVENTDATA().value('(/EVENT_INSTANCE/ObjectName)[1]', 'nvarchar(128)'), ': ',
    EVENTDATA().value('(/EVENT_INSTANCE/TSQLCommand/CommandText)[1]', 'nvarchar(max)'));
GO
SELECT 1 AS a INTO made_by_select;
SELECT 2 AS a INTO #made_by_select;
SELECT * FROM made_by_select;
SELECT * FROM into_log;
SELECT @@TRANCOUNT AS transactions;
GO
ALTER TRIGGER watches_into ON DATABASE FOR CREATE_TABLE AS ROLLBACK;
GO
SELECT 1 AS a INTO not_made;
PRINT 'not reached';
GO
SELECT OBJECT_ID('not_made') AS made, @@TRANCOUNT AS transactions;
DROP TRIGGER watches_into ON DATABASE;
SELECT 1 AS a INTO not_made;
GO
