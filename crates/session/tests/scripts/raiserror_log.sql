-- RAISERROR WITH LOG writes into the server's log, and so asks for the permission to; a severity above 18 asks for WITH LOG.
CREATE LOGIN tracer WITH PASSWORD = 'Deep Water 7';
CREATE USER tracer FOR LOGIN tracer;
CREATE LOGIN plain WITH PASSWORD = 'Deep Water 7';
CREATE USER plain FOR LOGIN plain;
GRANT ALTER TRACE TO tracer;
GO
RAISERROR('severe', 19, 1);
GO
RAISERROR('severe', 19, 1) WITH LOG;
GO
RAISERROR('noted', 5, 1) WITH LOG;
GO
EXECUTE AS LOGIN = 'plain';
GO
RAISERROR('severe', 19, 1);
GO
RAISERROR('severe', 19, 1) WITH LOG;
GO
RAISERROR('noted', 5, 1) WITH LOG;
GO
RAISERROR('noted', 5, 1) WITH LOG, NOWAIT;
GO
RAISERROR('plain', 16, 1);
GO
BEGIN TRY RAISERROR('noted', 16, 1) WITH LOG END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS number, ERROR_MESSAGE() AS message END CATCH;
GO
REVERT;
EXECUTE AS LOGIN = 'tracer';
GO
RAISERROR('severe', 19, 1) WITH LOG;
GO
RAISERROR('noted', 5, 1) WITH LOG;
GO
REVERT;
GO
