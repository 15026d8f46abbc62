-- What the test suites of drivers and object mappers have asked for.

-- A loop over the tables, and one over the databases.
CREATE SCHEMA [a]]b]
GO
CREATE TABLE dbo.one (id int PRIMARY KEY);
CREATE TABLE [a]]b].two (id int REFERENCES dbo.one);
EXEC sp_MSforeachtable 'ALTER TABLE ? NOCHECK CONSTRAINT ALL';
INSERT [a]]b].two VALUES (7);
EXEC sp_msforeachtable @command1 = 'PRINT ''~ ?''', @replacechar = '~', @command2 = N'SELECT COUNT(*) AS n FROM ~',
    @whereand = ' AND o.name IN (''one'', ''two'') ORDER BY o.name DESC', @precommand = 'PRINT ''before''', @postcommand = 'PRINT ''behind''';
EXEC sp_MSforeachtable 'ALTER TABLE ? WITH CHECK CHECK CONSTRAINT ALL';
GO
EXEC master..sp_MSforeachdb N'USE [?]; IF DB_NAME() IN (''master'', ''tempdb'') PRINT DB_NAME()';
SELECT DB_NAME() AS here;
GO
EXEC sp_MSforeachtable;
EXEC tempdb..sp_MSforeachtable 'PRINT 1';
GO
-- A transaction that begins by itself in what is called is no mismatch: whoever switched that on ends it.
CREATE PROCEDURE dbo.fill AS INSERT dbo.one VALUES (1);
GO
CREATE PROCEDURE dbo.leave_open AS BEGIN TRANSACTION;
GO
SET IMPLICIT_TRANSACTIONS ON;
EXEC dbo.fill;
SELECT @@TRANCOUNT AS open_transactions;
ROLLBACK;
EXEC sp_executesql N'INSERT dbo.one VALUES (2)';
COMMIT;
EXEC ('CREATE VIEW dbo.ones AS SELECT id FROM dbo.one');
COMMIT;
SET IMPLICIT_TRANSACTIONS OFF;
SELECT id FROM dbo.ones;
EXEC dbo.leave_open;
ROLLBACK;
GO
-- Another length of a column that a key, an index or a constraint reads.
CREATE TABLE dbo.named (
    code varchar(10) NOT NULL CONSTRAINT pk_named PRIMARY KEY,
    name nvarchar(10) NULL CONSTRAINT uq_named UNIQUE CONSTRAINT ck_named CHECK (name <> N''),
    place varbinary(10) NULL,
    kind char(2) NULL CONSTRAINT ck_kind CHECK (kind <> ''));
CREATE INDEX ix_place ON dbo.named (place) INCLUDE (kind);
INSERT dbo.named VALUES ('a', N'bridge', 0x01, 'x');
ALTER TABLE dbo.named ALTER COLUMN name nvarchar(40);
ALTER TABLE dbo.named ALTER COLUMN place varbinary(20) NULL;
INSERT dbo.named VALUES ('b', REPLICATE(N'w', 40), 0x0102030405060708090A0B0C, 'y');
INSERT dbo.named VALUES ('c', REPLICATE(N'w', 40), 0x02, 'z');
GO
SELECT code FROM dbo.named WHERE name = REPLICATE(N'w', 40);
SELECT code FROM dbo.named WHERE place > 0x01 ORDER BY place;
ALTER TABLE dbo.named ALTER COLUMN name nvarchar(20);
GO
DELETE dbo.named WHERE code = 'b';
ALTER TABLE dbo.named ALTER COLUMN name nvarchar(20);
SELECT name, max_length FROM sys.columns WHERE object_id = OBJECT_ID('dbo.named') ORDER BY column_id;
GO
ALTER TABLE dbo.named ALTER COLUMN place varbinary(5);
GO
ALTER TABLE dbo.named ALTER COLUMN name nvarchar(max);
GO
ALTER TABLE dbo.named ALTER COLUMN code varchar(20) NOT NULL;
GO
ALTER TABLE dbo.named ALTER COLUMN kind char(4);
GO
-- Messages of the server raised by their numbers.
RAISERROR (15600, -1, -1, 'mysp');
RAISERROR (15600, 11, 3, 7);
RAISERROR (15600, 16, 1);
RAISERROR (50123, 16, 1);
RAISERROR (8134, 16, 1);
RAISERROR (50000, 16, 1);
GO
-- FOR behind OPTION.
WITH n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 200)
SELECT MAX(n) AS n FROM n OPTION (MAXRECURSION 200) FOR XML RAW;
GO
SELECT 1 AS a FOR JSON PATH OPTION (RECOMPILE) FOR XML RAW;
GO
-- SET NULL updates: what hangs on the row that it changes is not reached by a second way.
CREATE TABLE dbo.tag (id int PRIMARY KEY);
CREATE TABLE dbo.product (id int PRIMARY KEY, tag int NULL REFERENCES dbo.tag ON DELETE SET NULL);
CREATE TABLE dbo.product_tag (product int REFERENCES dbo.product ON DELETE CASCADE, tag int REFERENCES dbo.tag ON DELETE CASCADE,
    PRIMARY KEY (product, tag));
INSERT dbo.tag VALUES (1), (2);
INSERT dbo.product VALUES (10, 1), (20, 2);
INSERT dbo.product_tag VALUES (10, 1), (10, 2), (20, 1);
DELETE dbo.tag WHERE id = 1;
SELECT id, tag FROM dbo.product ORDER BY id;
SELECT product, tag FROM dbo.product_tag ORDER BY product;
CREATE TABLE dbo.twice (a int REFERENCES dbo.tag ON DELETE SET NULL, b int REFERENCES dbo.tag ON DELETE SET NULL);
GO
CREATE TABLE dbo.chain (id int PRIMARY KEY, product int REFERENCES dbo.product ON DELETE CASCADE ON UPDATE CASCADE, tag int REFERENCES dbo.tag ON DELETE CASCADE);
GO
-- Two errors say that nothing was dropped; indexes are listed by name.
ALTER TABLE dbo.product DROP CONSTRAINT nobody;
CREATE INDEX b_tag ON dbo.product (tag);
CREATE UNIQUE INDEX A_id ON dbo.product (id);
EXEC sp_helpindex 'dbo.product';
GO
