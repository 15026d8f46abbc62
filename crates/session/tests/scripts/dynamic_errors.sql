-- An error of severity below 20 in a text that EXEC or sp_executesql runs ends that text; the batch that called it goes on, unless
-- the error ends batches anyhow (a conversion) or XACT_ABORT is ON.
CREATE TABLE dbo.t (a int);
GO
EXEC ('PRINT ''not reached'' SELECT b FROM dbo.t');
PRINT CONCAT('after 207: ', @@ERROR);
GO
EXEC ('SELECT a FROM dbo.none; PRINT ''not reached''');
PRINT CONCAT('after 208: ', @@ERROR);
GO
EXEC ('SELECT FROM');
PRINT CONCAT('after a syntax error: ', @@ERROR);
GO
EXEC sp_executesql N'SELECT b FROM dbo.t';
PRINT CONCAT('after sp_executesql: ', @@ERROR);
GO
DECLARE @status int = -7;
EXEC @status = sp_executesql N'SELECT b FROM dbo.t';
PRINT CONCAT('status ', @status);
GO
EXEC ('EXEC (''SELECT b FROM dbo.t''); PRINT ''the outer text goes on''');
PRINT 'after two texts';
GO
EXEC ('DECLARE @x int = @undeclared; PRINT ''not reached''');
PRINT CONCAT('after 137: ', @@ERROR);
GO
CREATE PROCEDURE dbo.p AS EXEC ('SELECT b FROM dbo.t'); PRINT 'the procedure goes on'; SELECT a FROM dbo.none; PRINT 'not reached';
GO
EXEC dbo.p;
PRINT CONCAT('after the procedure: ', @@ERROR);
GO
INSERT dbo.t EXEC ('SELECT b FROM dbo.t');
PRINT CONCAT('after INSERT EXEC: ', @@ERROR);
GO
-- Its transaction stays as it is.
BEGIN TRAN;
INSERT dbo.t VALUES (1);
EXEC ('SELECT b FROM dbo.t');
PRINT CONCAT('transactions ', @@TRANCOUNT, ', state ', XACT_STATE());
COMMIT;
SELECT COUNT(*) AS rows FROM dbo.t;
GO
-- What ends batches ends all.
EXEC ('SELECT CAST(''x'' AS int)');
PRINT 'not reached';
GO
EXEC ('RAISERROR (''raised'', 16, 1); PRINT ''the text goes on''');
PRINT CONCAT('after RAISERROR: ', @@ERROR);
GO
EXEC ('THROW 50001, ''thrown'', 1');
PRINT 'not reached';
GO
SET XACT_ABORT ON;
BEGIN TRAN;
INSERT dbo.t VALUES (2);
EXEC ('SELECT a FROM dbo.none');
PRINT 'not reached';
GO
SELECT @@TRANCOUNT AS transactions, COUNT(*) AS rows FROM dbo.t;
SET XACT_ABORT OFF;
GO
-- TRY around it catches it, of any kind.
BEGIN TRY EXEC ('SELECT b FROM dbo.t'); END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS number, ERROR_LINE() AS line; END CATCH;
BEGIN TRY EXEC ('SELECT FROM'); END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS number, ERROR_LINE() AS line; END CATCH;
GO
