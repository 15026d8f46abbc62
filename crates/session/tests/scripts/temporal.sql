-- System-versioned temporal tables. Moments differ from run to run: what is shown of them is only how they compare.
CREATE TABLE dbo.Customers (
    Id int NOT NULL PRIMARY KEY,
    Name nvarchar(30) NOT NULL,
    Vf datetime2 GENERATED ALWAYS AS ROW START HIDDEN NOT NULL,
    Vt datetime2 GENERATED ALWAYS AS ROW END HIDDEN NOT NULL,
    PERIOD FOR SYSTEM_TIME (Vf, Vt)
) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.CustomersHistory));
SELECT t.name, temporal_type, temporal_type_desc, OBJECT_NAME(history_table_id) AS history, history_retention_period AS period,
    history_retention_period_unit AS unit, history_retention_period_unit_desc AS unit_desc
FROM sys.tables t ORDER BY t.name;
SELECT name, period_type, period_type_desc, OBJECT_NAME(object_id) AS of_table, start_column_id, end_column_id FROM sys.periods;
SELECT OBJECT_NAME(object_id) AS of_table, name, generated_always_type, generated_always_type_desc, is_hidden, is_nullable
FROM sys.columns WHERE object_id IN (OBJECT_ID('dbo.Customers'), OBJECT_ID('dbo.CustomersHistory')) ORDER BY 1, column_id;
SELECT i.name, i.type_desc, i.is_unique, COL_NAME(c.object_id, c.column_id) AS key_column
FROM sys.indexes i JOIN sys.index_columns c ON c.object_id = i.object_id AND c.index_id = i.index_id
WHERE i.object_id = OBJECT_ID('dbo.CustomersHistory') ORDER BY c.key_ordinal;
SELECT OBJECTPROPERTY(OBJECT_ID('dbo.Customers'), 'TableTemporalType') AS own, OBJECTPROPERTY(OBJECT_ID('dbo.CustomersHistory'), 'TableTemporalType') AS history,
    COLUMNPROPERTY(OBJECT_ID('dbo.Customers'), 'Vf', 'GeneratedAlwaysType') AS vf, COLUMNPROPERTY(OBJECT_ID('dbo.Customers'), 'Vt', 'IsHidden') AS hidden,
    COLUMNPROPERTY(OBJECT_ID('dbo.Customers'), 'Name', 'GeneratedAlwaysType') AS name;
GO
-- Rows: inserted, changed and deleted.
INSERT dbo.Customers VALUES (1, N'a'), (2, N'b'), (3, N'c');
INSERT INTO dbo.Customers (Id, Name, Vf, Vt) VALUES (4, N'd', DEFAULT, DEFAULT);
SELECT * FROM dbo.Customers;
SELECT Id, CASE WHEN Vf > DATEADD(minute, -5, SYSUTCDATETIME()) AND Vf <= SYSUTCDATETIME() THEN 'now' END AS since, Vt FROM dbo.Customers;
UPDATE dbo.Customers SET Name = N'A' WHERE Id = 1;
DELETE dbo.Customers WHERE Id = 2;
UPDATE c SET Name = v.name FROM dbo.Customers c JOIN (VALUES (3, N'C')) v (id, name) ON v.id = c.Id;
MERGE dbo.Customers AS t USING (VALUES (4, N'D'), (5, N'e')) AS s (id, name) ON t.Id = s.id
WHEN MATCHED THEN UPDATE SET Name = s.name WHEN NOT MATCHED THEN INSERT (Id, Name) VALUES (s.id, s.name)
OUTPUT $action, inserted.*, deleted.Name;
SELECT * FROM dbo.Customers ORDER BY Id;
SELECT Id, Name, CASE WHEN Vf < Vt THEN 'passed' END AS period FROM dbo.CustomersHistory ORDER BY Id;
SELECT COUNT(*) AS joined FROM dbo.CustomersHistory h JOIN dbo.Customers c ON c.Id = h.Id AND c.Vf = h.Vt;
SELECT Id, Name FROM dbo.Customers FOR SYSTEM_TIME ALL ORDER BY Id, Vf;
GO
-- A transaction writes its own time, whichever of its statements writes.
BEGIN TRANSACTION;
UPDATE dbo.Customers SET Name = N'A1' WHERE Id = 1;
WAITFOR DELAY '00:00:00.02';
UPDATE dbo.Customers SET Name = N'A2' WHERE Id = 1;
INSERT dbo.Customers (Id, Name) VALUES (6, N'f');
COMMIT;
SELECT COUNT(DISTINCT Vf) AS moments FROM dbo.Customers WHERE Id IN (1, 6);
SELECT Name, CASE WHEN Vf = Vt THEN 'empty' ELSE 'passed' END AS period FROM dbo.CustomersHistory WHERE Id = 1 ORDER BY Vf, Vt;
-- What was seen by nobody is in the history, and at no time.
SELECT Name FROM dbo.Customers FOR SYSTEM_TIME ALL WHERE Id = 1 ORDER BY Vf;
BEGIN TRANSACTION;
DELETE dbo.Customers WHERE Id = 6;
ROLLBACK;
SELECT COUNT(*) AS kept FROM dbo.CustomersHistory WHERE Id = 6;
GO
-- Nobody gives a period its bounds.
INSERT dbo.Customers (Id, Name, Vf) VALUES (9, N'x', SYSUTCDATETIME());
GO
INSERT dbo.Customers (Id, Name, Vf) SELECT 9, N'x', SYSUTCDATETIME();
GO
UPDATE dbo.Customers SET Vf = SYSUTCDATETIME() WHERE Id = 1;
GO
UPDATE c SET Vt = DEFAULT FROM dbo.Customers c JOIN dbo.Customers d ON d.Id = c.Id;
GO
INSERT dbo.CustomersHistory VALUES (1, N'x', SYSUTCDATETIME(), SYSUTCDATETIME());
GO
DELETE dbo.CustomersHistory;
GO
UPDATE dbo.CustomersHistory SET Name = N'x';
GO
MERGE dbo.CustomersHistory AS t USING (VALUES (1)) AS s (id) ON t.Id = s.id WHEN MATCHED THEN DELETE;
GO
TRUNCATE TABLE dbo.Customers;
GO
TRUNCATE TABLE dbo.CustomersHistory;
GO
DROP TABLE dbo.Customers;
GO
DROP TABLE dbo.CustomersHistory;
GO
CREATE TRIGGER dbo.tr ON dbo.Customers INSTEAD OF INSERT AS RETURN;
GO
CREATE TRIGGER dbo.tr ON dbo.CustomersHistory AFTER INSERT AS RETURN;
GO
-- Times of the past: with versioning off, rows of the history are written by hand.
ALTER TABLE dbo.Customers SET (SYSTEM_VERSIONING = OFF);
GO
DELETE dbo.CustomersHistory;
DELETE dbo.Customers;
INSERT dbo.Customers (Id, Name) VALUES (1, N'a3');
INSERT dbo.CustomersHistory VALUES (1, N'a1', '2020-01-01', '2021-01-01'), (1, N'a2', '2021-01-01', '2022-01-01'), (9, N'z', '2020-01-01', '2020-01-01');
SELECT name, temporal_type FROM sys.tables ORDER BY name;
SELECT * FROM dbo.Customers;
ALTER TABLE dbo.Customers SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.CustomersHistory, DATA_CONSISTENCY_CHECK = ON));
GO
CREATE PROCEDURE dbo.at @at datetime2 AS SELECT Name FROM dbo.Customers FOR SYSTEM_TIME AS OF @at AS c WHERE c.Id = 1;
GO
EXEC dbo.at '2020-06-01';
EXEC dbo.at '2021-01-01';
EXEC dbo.at '2019-12-31';
EXEC dbo.at '9999-12-31';
SELECT STRING_AGG(Name, ',') WITHIN GROUP (ORDER BY Name) AS between_point FROM dbo.Customers FOR SYSTEM_TIME BETWEEN '2021-01-01' AND '2021-01-01';
SELECT STRING_AGG(Name, ',') WITHIN GROUP (ORDER BY Name) AS between_two FROM dbo.Customers FOR SYSTEM_TIME BETWEEN '2020-01-01' AND '2021-01-01';
SELECT STRING_AGG(Name, ',') WITHIN GROUP (ORDER BY Name) AS from_to FROM dbo.Customers FOR SYSTEM_TIME FROM '2020-01-01' TO '2021-01-01';
SELECT STRING_AGG(Name, ',') WITHIN GROUP (ORDER BY Name) AS from_point FROM dbo.Customers FOR SYSTEM_TIME FROM '2021-01-01' TO '2021-01-01';
SELECT STRING_AGG(Name, ',') WITHIN GROUP (ORDER BY Name) AS contained FROM dbo.Customers FOR SYSTEM_TIME CONTAINED IN ('2020-01-01', '2022-01-01');
SELECT STRING_AGG(Name, ',') WITHIN GROUP (ORDER BY Name) AS contained_later FROM dbo.Customers FOR SYSTEM_TIME CONTAINED IN ('2020-01-01 00:00:00.0000001', '2022-01-01');
SELECT STRING_AGG(Name, ',') WITHIN GROUP (ORDER BY Name) AS contained_all FROM dbo.Customers FOR SYSTEM_TIME CONTAINED IN ('2020-01-01', '9999-12-31 23:59:59.9999999');
SELECT COUNT(*) AS nobody FROM dbo.Customers FOR SYSTEM_TIME BETWEEN NULL AND NULL;
SELECT COUNT(*) AS zero FROM dbo.Customers FOR SYSTEM_TIME ALL WHERE Id = 9;
SELECT * FROM dbo.Customers FOR SYSTEM_TIME AS OF '2020-06-01 T10:00:00.7230011';
GO
-- Views, joins and subqueries of the past.
CREATE VIEW dbo.names AS SELECT c.Id, c.Name FROM dbo.Customers c;
GO
CREATE VIEW dbo.past AS SELECT Name FROM dbo.Customers FOR SYSTEM_TIME AS OF '2021-06-01';
GO
SELECT * FROM dbo.names;
SELECT * FROM dbo.names FOR SYSTEM_TIME AS OF '2020-06-01';
SELECT * FROM dbo.past;
SELECT a.Name, b.Name FROM dbo.Customers FOR SYSTEM_TIME AS OF '2020-06-01' a JOIN dbo.names FOR SYSTEM_TIME AS OF '2021-06-01' AS b ON a.Id = b.Id;
SELECT (SELECT Name FROM dbo.Customers FOR SYSTEM_TIME AS OF '2020-06-01' WHERE Id = c.Id) AS former, c.Name FROM dbo.Customers c;
UPDATE c SET Name = h.Name FROM dbo.Customers c JOIN dbo.Customers FOR SYSTEM_TIME AS OF '2020-06-01' h ON h.Id = c.Id;
SELECT Name FROM dbo.Customers;
WITH p AS (SELECT Name FROM dbo.Customers FOR SYSTEM_TIME ALL) SELECT COUNT(*) AS rows FROM p;
GO
SELECT * FROM dbo.Customers FOR SYSTEM_TIME AS OF SYSUTCDATETIME();
GO
SELECT * FROM dbo.Customers FOR SYSTEM_TIME garbage;
GO
SELECT * FROM dbo.Customers FOR SYSTEM_TIME BETWEEN 42 AND 99;
GO
SELECT * FROM dbo.Customers FOR SYSTEM_TIME CONTAINED IN ('nonsense', '2030-01-01');
GO
CREATE TABLE dbo.plain (id int PRIMARY KEY);
GO
SELECT * FROM dbo.plain FOR SYSTEM_TIME ALL;
GO
CREATE VIEW dbo.plainer AS SELECT id FROM dbo.plain;
GO
SELECT * FROM dbo.plainer FOR SYSTEM_TIME ALL;
GO
ALTER TABLE dbo.plain SET (SYSTEM_VERSIONING = OFF);
GO
ALTER TABLE dbo.CustomersHistory SET (SYSTEM_VERSIONING = OFF);
GO
ALTER TABLE dbo.plain SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h));
GO
-- A limit to the history.
ALTER TABLE dbo.Customers SET (SYSTEM_VERSIONING = ON);
GO
ALTER TABLE dbo.Customers SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.plain));
GO
ALTER TABLE dbo.Customers SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.nowhere));
GO
ALTER TABLE dbo.Customers SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.CustomersHistory, HISTORY_RETENTION_PERIOD = 10 DAYS));
SELECT history_retention_period, history_retention_period_unit, history_retention_period_unit_desc FROM sys.tables WHERE name = 'Customers';
SELECT COUNT(*) AS seen FROM dbo.Customers FOR SYSTEM_TIME BETWEEN '2020-01-01' AND '2022-01-01';
SELECT COUNT(*) AS kept FROM dbo.CustomersHistory WHERE Vt = '2022-01-01';
DROP INDEX ix_CustomersHistory ON dbo.CustomersHistory;
GO
ALTER TABLE dbo.Customers SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.CustomersHistory, HISTORY_RETENTION_PERIOD = 0 DAYS));
GO
ALTER TABLE dbo.Customers SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.CustomersHistory, HISTORY_RETENTION_PERIOD = 3 HOURS));
GO
ALTER TABLE dbo.Customers SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.CustomersHistory, HISTORY_RETENTION_PERIOD = INFINITE));
SELECT COUNT(*) AS seen FROM dbo.Customers FOR SYSTEM_TIME BETWEEN '2020-01-01' AND '2022-01-01';
GO
-- Columns come and go in both tables.
ALTER TABLE dbo.Customers ADD City varchar(20) NOT NULL CONSTRAINT df_city DEFAULT 'Oslo', Note int NULL;
ALTER TABLE dbo.Customers ALTER COLUMN Name nvarchar(60) NOT NULL;
GO
UPDATE dbo.Customers SET City = 'Bergen', Note = 7;
SELECT * FROM dbo.Customers FOR SYSTEM_TIME AS OF '2020-06-01';
SELECT TOP (1) Name, City, Note FROM dbo.CustomersHistory ORDER BY Vt DESC;
ALTER TABLE dbo.Customers DROP COLUMN Note;
SELECT name, max_length FROM sys.columns WHERE object_id = OBJECT_ID('dbo.CustomersHistory') ORDER BY column_id;
ALTER TABLE dbo.Customers ALTER COLUMN Vf DROP HIDDEN;
GO
SELECT CASE WHEN Vf IS NOT NULL THEN 1 END AS shown FROM (SELECT * FROM dbo.Customers) c;
ALTER TABLE dbo.Customers ALTER COLUMN Vf ADD HIDDEN;
GO
ALTER TABLE dbo.CustomersHistory ADD x int;
GO
ALTER TABLE dbo.CustomersHistory DROP COLUMN Name;
GO
ALTER TABLE dbo.CustomersHistory ALTER COLUMN Name nvarchar(90);
GO
ALTER TABLE dbo.CustomersHistory ADD CONSTRAINT ck CHECK (Id > 0);
GO
ALTER TABLE dbo.CustomersHistory ADD CONSTRAINT pk PRIMARY KEY (Id);
GO
ALTER TABLE dbo.Customers ADD n int IDENTITY;
GO
ALTER TABLE dbo.Customers ALTER COLUMN Vf datetime2(3) NOT NULL;
GO
ALTER TABLE dbo.Customers DROP COLUMN Vt;
GO
ALTER TABLE dbo.Customers DROP PERIOD FOR SYSTEM_TIME;
GO
DECLARE @pk sysname = (SELECT name FROM sys.key_constraints WHERE parent_object_id = OBJECT_ID('dbo.Customers'));
SET @pk = N'ALTER TABLE dbo.Customers DROP CONSTRAINT ' + @pk;
BEGIN TRY EXEC (@pk) END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS number, ERROR_MESSAGE() AS message END CATCH;
GO
-- A table becomes versioned, as frameworks make it.
CREATE TABLE dbo.Orders (Id int IDENTITY PRIMARY KEY, Total money NOT NULL, Twice AS Total * 2 PERSISTED, v rowversion);
INSERT dbo.Orders (Total) VALUES (1), (2);
ALTER TABLE dbo.Orders ADD PeriodEnd datetime2 NOT NULL DEFAULT '9999-12-31T23:59:59.9999999';
ALTER TABLE dbo.Orders ADD PeriodStart datetime2 NOT NULL DEFAULT '0001-01-01T00:00:00.0000000';
GO
ALTER TABLE dbo.Orders ADD PERIOD FOR SYSTEM_TIME (PeriodStart, PeriodEnd);
ALTER TABLE dbo.Orders ALTER COLUMN PeriodStart ADD HIDDEN;
ALTER TABLE dbo.Orders ALTER COLUMN PeriodEnd ADD HIDDEN;
DECLARE @historyTableSchema sysname = SCHEMA_NAME();
EXEC (N'ALTER TABLE [Orders] SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = [' + @historyTableSchema + '].[OrdersHistory]))');
GO
UPDATE dbo.Orders SET Total = 5 WHERE Id = 1;
SELECT Id, Total, Twice FROM dbo.Orders FOR SYSTEM_TIME AS OF '2000-01-01' ORDER BY Id;
SELECT Id, Total, Twice FROM dbo.Orders ORDER BY Id;
SELECT name, is_computed, is_identity, TYPE_NAME(system_type_id) AS type FROM sys.columns WHERE object_id = OBJECT_ID('dbo.OrdersHistory') ORDER BY column_id;
SET IDENTITY_INSERT dbo.Orders ON;
INSERT dbo.Orders (Id, Total) VALUES (50, 9);
SET IDENTITY_INSERT dbo.Orders OFF;
DELETE dbo.Orders WHERE Id = 50;
SELECT Id, Total FROM dbo.OrdersHistory WHERE Id = 50;
GO
-- Anonymous histories, and those of a name that is taken.
CREATE TABLE dbo.anonymous (Id int PRIMARY KEY, a datetime2(0) GENERATED ALWAYS AS ROW START, b datetime2(0) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (a, b)) WITH (SYSTEM_VERSIONING = ON);
SELECT CASE h.name WHEN CONCAT('MSSQL_TemporalHistoryFor_', t.object_id) THEN 'as it should be' ELSE h.name END AS name FROM sys.tables t JOIN sys.tables h ON h.object_id = t.history_table_id WHERE t.name = 'anonymous';
INSERT dbo.anonymous (Id) VALUES (1);
SELECT b FROM dbo.anonymous;
ALTER TABLE dbo.anonymous SET (SYSTEM_VERSIONING = OFF);
ALTER TABLE dbo.anonymous SET (SYSTEM_VERSIONING = ON);
SELECT LEN(h.name) - LEN(CONCAT('MSSQL_TemporalHistoryFor_', t.object_id)) AS more FROM sys.tables t JOIN sys.tables h ON h.object_id = t.history_table_id WHERE t.name = 'anonymous';
ALTER TABLE dbo.anonymous SET (SYSTEM_VERSIONING = OFF);
ALTER TABLE dbo.anonymous DROP PERIOD FOR SYSTEM_TIME;
UPDATE dbo.anonymous SET b = '2000-01-01';
SELECT b FROM dbo.anonymous;
GO
ALTER TABLE dbo.anonymous ADD PERIOD FOR SYSTEM_TIME (a, b);
GO
UPDATE dbo.anonymous SET a = '2222-01-01';
GO
ALTER TABLE dbo.anonymous DROP PERIOD FOR SYSTEM_TIME;
GO
ALTER TABLE dbo.anonymous ADD PERIOD FOR SYSTEM_TIME (a, b);
GO
ALTER TABLE dbo.anonymous ADD PERIOD FOR SYSTEM_TIME (a, nosuch);
GO
-- A transaction that is older than a row cannot change it.
ALTER TABLE dbo.anonymous ALTER COLUMN a datetime2 NOT NULL;
ALTER TABLE dbo.anonymous ALTER COLUMN b datetime2 NOT NULL;
UPDATE dbo.anonymous SET b = '9999-12-31 23:59:59.9999999';
GO
BEGIN TRANSACTION;
WAITFOR DELAY '00:00:00.05';
UPDATE dbo.anonymous SET a = SYSUTCDATETIME();
WAITFOR DELAY '00:00:00.05';
ALTER TABLE dbo.anonymous ADD PERIOD FOR SYSTEM_TIME (a, b);
ALTER TABLE dbo.anonymous SET (SYSTEM_VERSIONING = ON);
EXEC (N'DELETE dbo.anonymous');
ROLLBACK;
GO
-- Definitions that cannot be.
CREATE TABLE dbo.t (id int, Vf datetime2 GENERATED ALWAYS AS ROW START NOT NULL);
GO
CREATE TABLE dbo.t (id int, Vt datetime2 GENERATED ALWAYS AS ROW END NOT NULL, PERIOD FOR SYSTEM_TIME (Vf, Vt));
GO
CREATE TABLE dbo.t (id int, Vf datetime2 GENERATED ALWAYS AS ROW START NOT NULL, PERIOD FOR SYSTEM_TIME (Vf, Vt));
GO
CREATE TABLE dbo.t (id int, Vf datetime2 GENERATED ALWAYS AS ROW START, Vt datetime2 GENERATED ALWAYS AS ROW END, o int, PERIOD FOR SYSTEM_TIME (o, Vt));
GO
CREATE TABLE dbo.t (id int, Vf datetime2 GENERATED ALWAYS AS ROW START, Vt datetime2 GENERATED ALWAYS AS ROW END, o int, PERIOD FOR SYSTEM_TIME (Vf, o));
GO
CREATE TABLE dbo.t (id int, Vf datetime2 GENERATED ALWAYS AS ROW START NULL, Vt datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (Vf, Vt));
GO
CREATE TABLE dbo.t (id int, Vf datetime GENERATED ALWAYS AS ROW START, Vt datetime GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (Vf, Vt));
GO
CREATE TABLE dbo.t (id int, Vf datetime2(3) GENERATED ALWAYS AS ROW START, Vt datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (Vf, Vt));
GO
CREATE TABLE dbo.t (id int PRIMARY KEY) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h));
GO
CREATE TABLE dbo.t (id int, Vf datetime2 GENERATED ALWAYS AS ROW START, Vt datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (Vf, Vt)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h));
GO
CREATE TABLE dbo.t (id int PRIMARY KEY, Vf datetime2 GENERATED ALWAYS AS ROW START, Vt datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (Vf, Vt)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = h));
GO
DECLARE @t TABLE (id int, Vf datetime2 GENERATED ALWAYS AS ROW START, Vt datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (Vf, Vt));
GO
SELECT OBJECT_ID('dbo.t') AS nothing;
GO
-- Histories that are there are checked.
CREATE TABLE dbo.t (id int PRIMARY KEY, name varchar(9) NOT NULL, Vf datetime2 GENERATED ALWAYS AS ROW START, Vt datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (Vf, Vt));
CREATE TABLE dbo.h1 (id int NOT NULL, name varchar(9) NOT NULL, Vf datetime2 NOT NULL);
CREATE TABLE dbo.h2 (id int NOT NULL, nom varchar(9) NOT NULL, Vf datetime2 NOT NULL, Vt datetime2 NOT NULL);
CREATE TABLE dbo.h3 (id int NOT NULL, name varchar(8) NOT NULL, Vf datetime2 NOT NULL, Vt datetime2 NOT NULL);
CREATE TABLE dbo.h4 (id int NOT NULL, name varchar(9) COLLATE Latin1_General_BIN NOT NULL, Vf datetime2 NOT NULL, Vt datetime2 NOT NULL);
CREATE TABLE dbo.h5 (id int NOT NULL, name varchar(9) NULL, Vf datetime2 NOT NULL, Vt datetime2 NOT NULL);
CREATE TABLE dbo.h6 (id int NOT NULL, name varchar(9) NOT NULL, Vf datetime2 NULL, Vt datetime2 NOT NULL);
CREATE TABLE dbo.h7 (id int NOT NULL PRIMARY KEY, name varchar(9) NOT NULL, Vf datetime2 NOT NULL, Vt datetime2 NOT NULL);
CREATE TABLE dbo.h8 (id int NOT NULL CHECK (id > 0), name varchar(9) NOT NULL, Vf datetime2 NOT NULL, Vt datetime2 NOT NULL);
CREATE TABLE dbo.h9 (id int IDENTITY NOT NULL, name varchar(9) NOT NULL, Vf datetime2 NOT NULL, Vt datetime2 NOT NULL);
CREATE TABLE dbo.h10 (id int NOT NULL REFERENCES dbo.plain (id), name varchar(9) NOT NULL, Vf datetime2 NOT NULL, Vt datetime2 NOT NULL);
CREATE TABLE dbo.h (id int NOT NULL, name varchar(9) NOT NULL, Vf datetime2 NOT NULL, Vt datetime2 NOT NULL);
DECLARE @n int = 1, @text nvarchar(200);
WHILE @n <= 10 BEGIN
    SET @text = CONCAT(N'ALTER TABLE dbo.t SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h', @n, N'))');
    BEGIN TRY EXEC (@text) END TRY BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), N' ', ERROR_MESSAGE()) END CATCH;
    SET @n += 1;
END;
GO
INSERT dbo.h VALUES (1, 'a', '2021-01-01', '2020-01-01');
ALTER TABLE dbo.t SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h));
GO
UPDATE dbo.h SET Vt = '2222-01-01';
ALTER TABLE dbo.t SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h));
GO
UPDATE dbo.h SET Vt = '2022-01-01';
INSERT dbo.h VALUES (1, 'b', '2021-06-01', '2023-01-01');
ALTER TABLE dbo.t SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h));
GO
ALTER TABLE dbo.t SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h, DATA_CONSISTENCY_CHECK = OFF, HISTORY_RETENTION_PERIOD = 1 YEAR));
GO
ALTER TABLE dbo.t SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h, DATA_CONSISTENCY_CHECK = OFF));
GO
SELECT type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.h');
SELECT COUNT(*) AS overlapping FROM dbo.t FOR SYSTEM_TIME AS OF '2021-07-01';
GO
-- Rows that follow a foreign key, and triggers, are as in other tables.
CREATE TABLE dbo.parent (id int PRIMARY KEY);
CREATE TABLE dbo.child (id int PRIMARY KEY, parent int REFERENCES dbo.parent (id) ON DELETE CASCADE, a datetime2 GENERATED ALWAYS AS ROW START HIDDEN, b datetime2 GENERATED ALWAYS AS ROW END HIDDEN, PERIOD FOR SYSTEM_TIME (a, b)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.childHistory));
INSERT dbo.parent VALUES (1), (2);
INSERT dbo.child VALUES (10, 1), (11, 1), (12, 2);
GO
CREATE TRIGGER dbo.child_changed ON dbo.child AFTER UPDATE AS SELECT * FROM inserted ORDER BY id;
GO
DELETE dbo.parent WHERE id = 1;
SELECT id, parent FROM dbo.childHistory ORDER BY id;
UPDATE dbo.child SET id = id + 100;
SELECT id, parent FROM dbo.childHistory ORDER BY id;
SELECT * FROM dbo.child;
GO
-- Names that change take the history along.
EXEC sp_rename 'dbo.child.parent', 'mother', 'COLUMN';
GO
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.childHistory') ORDER BY column_id;
SELECT id, mother FROM dbo.child FOR SYSTEM_TIME ALL ORDER BY id;
GO
