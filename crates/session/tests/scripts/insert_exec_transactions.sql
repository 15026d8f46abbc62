-- INSERT ... EXEC and what it calls are one transaction, which nothing within it can end.
CREATE TABLE taken (a int NULL);
CREATE TABLE noted (a int NULL);
GO
INSERT taken EXEC ('SELECT @@TRANCOUNT');
SELECT a AS transactions_within FROM taken;
SELECT @@TRANCOUNT AS transactions_behind;
DELETE taken;
GO
BEGIN TRANSACTION;
INSERT taken EXEC ('SELECT @@TRANCOUNT');
SELECT a AS transactions_within FROM taken;
SELECT @@TRANCOUNT AS transactions_behind;
ROLLBACK;
GO
CREATE PROCEDURE gives_up AS
INSERT noted VALUES (1);
SELECT 1;
ROLLBACK;
GO
INSERT taken EXEC gives_up;
PRINT 'not reached';
GO
SELECT @@TRANCOUNT AS transactions, (SELECT COUNT(*) FROM taken) AS taken, (SELECT COUNT(*) FROM noted) AS noted;
GO
BEGIN TRANSACTION;
INSERT noted VALUES (2);
INSERT taken EXEC gives_up;
PRINT 'not reached';
GO
SELECT @@TRANCOUNT AS transactions, (SELECT COUNT(*) FROM taken) AS taken, (SELECT COUNT(*) FROM noted) AS noted;
GO
BEGIN TRY
INSERT taken EXEC gives_up;
END TRY
BEGIN CATCH
SELECT ERROR_NUMBER() AS number, ERROR_STATE() AS state, ERROR_PROCEDURE() AS module, XACT_STATE() AS state_of_transaction;
END CATCH;
SELECT @@TRANCOUNT AS transactions;
GO
-- The procedure's own handler cannot roll back either: its error takes the place of the first.
CREATE PROCEDURE handles AS
BEGIN TRY
BEGIN TRANSACTION;
INSERT noted VALUES (3);
RAISERROR ('first', 16, 1);
COMMIT;
END TRY
BEGIN CATCH
IF @@TRANCOUNT > 0 ROLLBACK;
SELECT 0;
END CATCH;
GO
INSERT taken EXEC handles;
PRINT 'not reached';
GO
SELECT @@TRANCOUNT AS transactions, (SELECT COUNT(*) FROM noted) AS noted;
GO
-- A transaction of its own it may commit, and go back to a savepoint of it.
CREATE PROCEDURE keeps AS
BEGIN TRANSACTION;
INSERT noted VALUES (4);
SAVE TRANSACTION here;
INSERT noted VALUES (5);
ROLLBACK TRANSACTION here;
COMMIT;
SELECT a FROM noted;
GO
INSERT taken EXEC keeps;
SELECT a FROM taken;
SELECT @@TRANCOUNT AS transactions;
DELETE taken;
DELETE noted;
GO
CREATE PROCEDURE commits AS
SELECT 1;
COMMIT;
GO
INSERT taken EXEC commits;
PRINT 'not reached';
GO
BEGIN TRANSACTION;
INSERT taken EXEC commits;
PRINT 'not reached';
GO
SELECT @@TRANCOUNT AS transactions, (SELECT COUNT(*) FROM taken) AS taken;
GO
-- What the procedure has written goes with the INSERT that fails.
CREATE TABLE narrow (a int NOT NULL CHECK (a < 5));
GO
CREATE PROCEDURE gives_nine AS
INSERT noted VALUES (9);
SELECT 9;
GO
INSERT narrow EXEC gives_nine;
PRINT 'goes on';
SELECT @@TRANCOUNT AS transactions, (SELECT COUNT(*) FROM noted) AS noted;
GO
-- A trigger of the target fires in the same transaction.
CREATE TRIGGER of_taken ON taken FOR INSERT AS
INSERT noted SELECT a FROM inserted;
GO
INSERT taken EXEC ('SELECT 7');
SELECT a FROM noted;
SELECT @@TRANCOUNT AS transactions;
GO
INSERT taken EXEC ('SELECT 8; SELECT * FROM not_there');
PRINT 'goes on';
SELECT @@TRANCOUNT AS transactions;
SELECT a FROM taken;
GO
SET IMPLICIT_TRANSACTIONS ON;
INSERT taken EXEC ('SELECT 10');
SELECT @@TRANCOUNT AS transactions;
ROLLBACK;
SET IMPLICIT_TRANSACTIONS OFF;
SELECT a FROM taken;
GO
-- A procedure of another database may change that: there the INSERT is a transaction of its own.
CREATE DATABASE other;
GO
USE other;
GO
CREATE TABLE log (a int NULL);
GO
CREATE PROCEDURE logs AS
INSERT log VALUES (1);
SELECT @@TRANCOUNT;
GO
USE master;
GO
DISABLE TRIGGER of_taken ON taken;
DELETE taken;
INSERT taken EXEC other.dbo.logs;
SELECT (SELECT COUNT(*) FROM taken) AS taken, (SELECT COUNT(*) FROM other.dbo.log) AS logged, @@TRANCOUNT AS transactions;
GO
CREATE TABLE long_values (a int NULL, b varchar(max) NULL);
SELECT name, lob_data_space_id FROM sys.tables WHERE name IN ('long_values', 'taken') ORDER BY name;
GO
