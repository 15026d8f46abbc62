-- ALTER DATABASE ... MODIFY NAME, sp_renamedb and sp_rename of a database.
CREATE DATABASE shop;
GO
USE shop;
CREATE TABLE dbo.t (id int IDENTITY PRIMARY KEY, v varchar(10));
INSERT dbo.t (v) VALUES ('one'), ('two');
GO
USE master;
ALTER DATABASE shop MODIFY NAME = [store house];
SELECT name, DB_ID(name) - DB_ID('store house') AS id FROM sys.databases WHERE name IN ('shop', 'store house');
SELECT * FROM [store house].dbo.t;
SELECT DB_ID('shop') AS id;
GO
-- The session's own database.
USE [store house];
ALTER DATABASE CURRENT MODIFY NAME = Shop;
SELECT DB_NAME() AS name;
INSERT dbo.t (v) VALUES ('three');
SELECT COUNT(*) AS n FROM dbo.t;
ALTER DATABASE Shop MODIFY NAME = SHOP;
SELECT DB_NAME() AS name, v FROM dbo.t WHERE id = 3;
GO
-- The old name is free.
USE master;
EXEC sp_renamedb 'shop', 'store';
CREATE DATABASE shop;
CREATE TABLE shop.dbo.t (id int);
SELECT COUNT(*) AS n FROM store.dbo.t;
SELECT COUNT(*) AS n FROM shop.dbo.t;
EXEC sp_rename N'store', N'[depot]', N'DATABASE';
SELECT name FROM sys.databases WHERE database_id > 4 ORDER BY name;
GO
EXEC sp_renamedb 'depot', 'shop';
GO
EXEC sp_renamedb 'nothing', 'something';
GO
EXEC sp_renamedb 'master', 'main';
GO
BEGIN TRANSACTION;
EXEC sp_renamedb 'depot', 'store';
ROLLBACK;
GO
ALTER DATABASE depot MODIFY NAME = Shop;
GO
ALTER DATABASE depot MODIFY NAME = tempdb;
GO
ALTER DATABASE msdb MODIFY NAME = other;
GO
ALTER DATABASE nothing MODIFY NAME = something;
GO
ALTER DATABASE CURRENT MODIFY NAME = something;
GO
BEGIN TRANSACTION;
ALTER DATABASE depot MODIFY NAME = store;
GO
IF @@TRANCOUNT > 0 ROLLBACK;
ALTER DATABASE depot SET SINGLE_USER WITH ROLLBACK IMMEDIATE;
ALTER DATABASE depot MODIFY NAME = store;
ALTER DATABASE store SET MULTI_USER;
SELECT name, user_access_desc FROM sys.databases WHERE database_id > 4 ORDER BY name;
DROP DATABASE store, shop;
GO
