-- What a trigger sees.
CREATE TABLE dbo.account (id int PRIMARY KEY, owner varchar(20) NOT NULL, balance int NOT NULL DEFAULT 0, doubled AS balance * 2);
CREATE TABLE dbo.journal (n int IDENTITY PRIMARY KEY, what varchar(10), id int, before int, after int, count_at_entry int);
GO
CREATE TRIGGER dbo.watch ON dbo.account AFTER INSERT, UPDATE, DELETE AS
DECLARE @rows int = @@ROWCOUNT;
SET NOCOUNT ON;
INSERT dbo.journal (what, id, before, after, count_at_entry)
SELECT CASE WHEN d.id IS NULL THEN 'insert' WHEN i.id IS NULL THEN 'delete' ELSE 'update' END,
       COALESCE(i.id, d.id), d.doubled, i.doubled, @rows
FROM inserted i FULL JOIN deleted d ON i.id = d.id;
IF @rows = 0 PRINT 'no rows';
GO
INSERT dbo.account (id, owner, balance) VALUES (1, 'Ann', 10), (2, 'Bob', 20);
INSERT dbo.account (id, owner) SELECT 3, 'Eve';
UPDATE dbo.account SET balance += 1 WHERE id < 3;
UPDATE dbo.account SET balance = 0 WHERE id = 99;
DELETE dbo.account WHERE id = 3;
SELECT what, id, before, after, count_at_entry FROM dbo.journal ORDER BY n;
SELECT @@TRANCOUNT AS open_transactions, @@ROWCOUNT AS counted;
GO
-- Identity values of a trigger are its own.
CREATE TABLE dbo.numbered (id int IDENTITY(100, 1), x int);
GO
CREATE TRIGGER dbo.numbers ON dbo.numbered FOR INSERT AS INSERT dbo.journal (what) SELECT 'number' FROM inserted;
GO
SET NOCOUNT ON;
INSERT dbo.numbered VALUES (1);
SELECT SCOPE_IDENTITY() AS own, @@IDENTITY AS last;
SET NOCOUNT OFF;
GO
-- UPDATE(column) and COLUMNS_UPDATED().
CREATE TABLE dbo.wide (a int, b int, c int);
GO
CREATE TRIGGER dbo.which ON dbo.wide AFTER INSERT, UPDATE, DELETE AS
SET NOCOUNT ON;
SELECT CASE WHEN UPDATE(a) THEN 'a' ELSE '-' END + CASE WHEN UPDATE(b) THEN 'b' ELSE '-' END AS changed,
       COLUMNS_UPDATED() AS bits, TRIGGER_NESTLEVEL() AS depth, @@NESTLEVEL AS nested, @@TRANCOUNT AS open_transactions,
       @@OPTIONS & 16384 AS xact_abort, OBJECT_NAME(@@PROCID) AS name;
IF UPDATE(c) PRINT 'c';
GO
INSERT dbo.wide (a) VALUES (1);
UPDATE dbo.wide SET b = 1, c = 2;
DELETE dbo.wide;
SELECT TRIGGER_NESTLEVEL() AS depth, @@OPTIONS & 16384 AS xact_abort;
GO
CREATE TRIGGER dbo.bad ON dbo.wide AFTER UPDATE AS IF UPDATE(nothing) PRINT 'never';
GO
CREATE TRIGGER dbo.bad ON dbo.account AFTER UPDATE AS IF UPDATE(doubled) PRINT 'never';
GO
IF UPDATE(a) PRINT 'outside';
GO
SELECT * FROM inserted;
GO
-- Errors in a trigger take the transaction along; RAISERROR does not.
CREATE TABLE dbo.strict (x int);
GO
CREATE TRIGGER dbo.judge ON dbo.strict AFTER INSERT AS
IF EXISTS (SELECT * FROM inserted WHERE x = 0) ROLLBACK;
IF EXISTS (SELECT * FROM inserted WHERE x = 1) SELECT 1 / 0 AS never;
IF EXISTS (SELECT * FROM inserted WHERE x = 2) RAISERROR('told', 16, 1);
IF EXISTS (SELECT * FROM inserted WHERE x = 3) THROW 50003, 'thrown', 1;
IF EXISTS (SELECT * FROM inserted WHERE x = 4)
BEGIN TRY SELECT 1 / 0 AS never; END TRY BEGIN CATCH PRINT CONCAT('in the trigger: ', XACT_STATE()); END CATCH;
IF EXISTS (SELECT * FROM inserted WHERE x = 5) SELECT * FROM dbo.not_there;
IF EXISTS (SELECT * FROM inserted WHERE x = 6) COMMIT;
IF EXISTS (SELECT * FROM inserted WHERE x = 7) BEGIN ROLLBACK; BEGIN TRANSACTION; END;
IF EXISTS (SELECT * FROM inserted WHERE x = 8) BEGIN TRANSACTION;
PRINT 'end of the trigger';
GO
INSERT dbo.strict VALUES (0);
PRINT 'not reached';
GO
INSERT dbo.strict VALUES (1);
PRINT 'not reached';
GO
INSERT dbo.strict VALUES (2);
PRINT 'reached';
GO
INSERT dbo.strict VALUES (3);
PRINT 'not reached';
GO
INSERT dbo.strict VALUES (4);
PRINT 'not reached';
GO
INSERT dbo.strict VALUES (5);
PRINT 'not reached';
GO
INSERT dbo.strict VALUES (6);
PRINT 'not reached';
GO
SELECT x, @@TRANCOUNT AS open_transactions FROM dbo.strict;
GO
BEGIN TRANSACTION;
INSERT dbo.strict VALUES (100);
INSERT dbo.strict VALUES (1);
GO
SELECT x, @@TRANCOUNT AS open_transactions FROM dbo.strict;
GO
INSERT dbo.strict VALUES (7);
SELECT x, @@TRANCOUNT AS open_transactions FROM dbo.strict;
INSERT dbo.strict VALUES (8);
SELECT x, @@TRANCOUNT AS open_transactions FROM dbo.strict;
ROLLBACK;
GO
-- In TRY blocks.
DECLARE @x int = 0;
WHILE @x < 7
BEGIN
  BEGIN TRY
    INSERT dbo.strict VALUES (@x);
    PRINT 'done';
  END TRY
  BEGIN CATCH
    PRINT CONCAT(@x, ': ', ERROR_NUMBER(), ' ', ERROR_PROCEDURE(), ' ', @@TRANCOUNT, ' ', XACT_STATE(), ' ', @@NESTLEVEL, ' ', TRIGGER_NESTLEVEL());
  END CATCH;
  SET @x += 1;
END;
BEGIN TRANSACTION;
BEGIN TRY
  INSERT dbo.strict VALUES (1);
END TRY
BEGIN CATCH
  PRINT CONCAT(ERROR_NUMBER(), ' ', @@TRANCOUNT, ' ', XACT_STATE());
  ROLLBACK;
END CATCH;
SELECT COUNT(*) AS rows_left FROM dbo.strict;
GO
-- Recursion and nesting.
CREATE TABLE dbo.steps (n int);
GO
CREATE TRIGGER dbo.step ON dbo.steps AFTER INSERT AS
SET NOCOUNT ON;
IF (SELECT MAX(n) FROM inserted) < 3 INSERT dbo.steps SELECT n + 1 FROM inserted;
GO
INSERT dbo.steps VALUES (1);
SELECT n FROM dbo.steps ORDER BY n;
GO
DELETE dbo.steps;
ALTER DATABASE CURRENT SET RECURSIVE_TRIGGERS ON;
SELECT is_recursive_triggers_on FROM sys.databases WHERE name = DB_NAME();
GO
INSERT dbo.steps VALUES (1);
SELECT n FROM dbo.steps ORDER BY n;
GO
ALTER DATABASE CURRENT SET RECURSIVE_TRIGGERS OFF;
GO
CREATE TABLE dbo.ping (n int);
CREATE TABLE dbo.pong (n int);
GO
CREATE TRIGGER dbo.to_pong ON dbo.ping AFTER INSERT AS INSERT dbo.pong SELECT n + 1 FROM inserted;
GO
CREATE TRIGGER dbo.to_ping ON dbo.pong AFTER INSERT AS INSERT dbo.ping SELECT n + 1 FROM inserted;
GO
INSERT dbo.ping VALUES (1);
GO
SELECT COUNT(*) AS left_over FROM dbo.ping;
GO
DROP TRIGGER dbo.to_ping;
INSERT dbo.ping VALUES (1);
SELECT n FROM dbo.pong;
GO
-- MERGE, OUTPUT, INSERT ... EXEC, joined changes, TRUNCATE.
CREATE TABLE dbo.target (id int PRIMARY KEY, x int);
INSERT dbo.target VALUES (1, 1), (2, 2);
GO
CREATE TRIGGER dbo.of_insert ON dbo.target AFTER INSERT AS
SELECT 'insert' AS event, @@ROWCOUNT AS counted, (SELECT COUNT(*) FROM inserted) AS inserted, (SELECT COUNT(*) FROM deleted) AS deleted;
GO
CREATE TRIGGER dbo.of_change ON dbo.target AFTER UPDATE, DELETE AS
SELECT 'change' AS event, @@ROWCOUNT AS counted, (SELECT COUNT(*) FROM inserted) AS inserted, (SELECT COUNT(*) FROM deleted) AS deleted;
GO
MERGE dbo.target AS t USING (VALUES (2, 20), (3, 30), (4, 40)) AS s (id, x) ON t.id = s.id
WHEN MATCHED THEN UPDATE SET x = s.x
WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.x)
WHEN NOT MATCHED BY SOURCE THEN DELETE;
GO
INSERT dbo.target OUTPUT inserted.id VALUES (5, 5);
GO
DECLARE @told table (id int);
INSERT dbo.target OUTPUT inserted.id INTO @told VALUES (5, 5);
SELECT id FROM @told;
GO
INSERT dbo.journal (id) OUTPUT inserted.id INTO dbo.target (id) VALUES (1);
GO
INSERT dbo.target EXEC ('SELECT 6, 6 UNION ALL SELECT 7, 7');
UPDATE t SET x = 0 FROM dbo.target t JOIN (VALUES (6), (7)) AS s (id) ON s.id = t.id;
SELECT id, x FROM dbo.target ORDER BY id;
TRUNCATE TABLE dbo.target;
GO
-- Triggers that are off, dropped, altered, shown.
DISABLE TRIGGER dbo.of_insert ON dbo.target;
GO
INSERT dbo.target OUTPUT inserted.id VALUES (1, 1);
ENABLE TRIGGER ALL ON dbo.target;
INSERT dbo.target VALUES (2, 2);
ALTER TABLE dbo.target DISABLE TRIGGER ALL;
INSERT dbo.target VALUES (3, 3);
ALTER TABLE dbo.target ENABLE TRIGGER of_insert, of_change;
ALTER TABLE dbo.target DISABLE TRIGGER nothing;
GO
DISABLE TRIGGER nothing ON dbo.target;
GO
ALTER TRIGGER dbo.of_insert ON dbo.target AFTER INSERT AS PRINT 'altered';
GO
INSERT dbo.target VALUES (4, 4);
GO
CREATE TRIGGER dbo.of_insert ON dbo.target AFTER INSERT AS PRINT 'again';
GO
ALTER TRIGGER dbo.of_insert ON dbo.account AFTER INSERT AS PRINT 'elsewhere';
GO
ALTER TRIGGER dbo.nothing ON dbo.target AFTER INSERT AS PRINT 'nothing';
GO
CREATE OR ALTER TRIGGER of_insert ON dbo.target INSTEAD OF INSERT AS PRINT 'instead';
GO
SELECT t.name, OBJECT_NAME(t.parent_id) AS parent, t.type, t.type_desc, t.is_disabled, t.is_instead_of_trigger, e.type_desc AS event
FROM sys.triggers t JOIN sys.trigger_events e ON e.object_id = t.object_id WHERE t.parent_id = OBJECT_ID('dbo.target') ORDER BY t.name, e.type;
SELECT name, type, type_desc, OBJECT_NAME(parent_object_id) AS parent FROM sys.objects WHERE type = 'TR' ORDER BY name;
SELECT OBJECT_DEFINITION(OBJECT_ID('dbo.of_insert')) AS definition, OBJECT_ID('dbo.of_insert', 'TR') - OBJECT_ID('dbo.of_insert') AS same;
EXEC sp_helptext 'dbo.of_insert';
SELECT OBJECTPROPERTY(OBJECT_ID('dbo.target'), 'TableHasInsertTrigger') AS has_insert, OBJECTPROPERTY(OBJECT_ID('dbo.target'), 'TableHasUpdateTrigger') AS has_update,
       OBJECTPROPERTY(OBJECT_ID('dbo.of_insert'), 'ExecIsTriggerDisabled') AS is_off, OBJECTPROPERTY(OBJECT_ID('dbo.of_insert'), 'ExecIsInsteadOfTrigger') AS instead,
       OBJECTPROPERTY(OBJECT_ID('dbo.of_insert'), 'IsTrigger') AS is_trigger, OBJECTPROPERTY(OBJECT_ID('dbo.target'), 'ExecIsTriggerDisabled') AS of_table;
GO
DROP TRIGGER dbo.of_change, dbo.of_insert;
DROP TRIGGER IF EXISTS dbo.of_change;
DROP TRIGGER dbo.of_change;
GO
DROP TABLE dbo.pong, dbo.ping;
SELECT COUNT(*) AS orphans FROM sys.triggers WHERE OBJECT_NAME(parent_id) IS NULL OR name = 'to_pong';
GO
-- INSTEAD OF.
CREATE TABLE dbo.asked (id int IDENTITY PRIMARY KEY, name varchar(10) NOT NULL CHECK (name <> ''), twice AS name + name);
GO
CREATE TRIGGER dbo.decide ON dbo.asked INSTEAD OF INSERT AS
SELECT id, name, twice FROM inserted;
INSERT dbo.asked (name) SELECT UPPER(name) FROM inserted WHERE name > '';
GO
INSERT dbo.asked (name) VALUES ('a'), (NULL), ('');
SELECT @@ROWCOUNT AS counted;
SELECT id, name FROM dbo.asked;
GO
CREATE TRIGGER dbo.keep ON dbo.asked INSTEAD OF UPDATE, DELETE AS
SELECT i.name AS new_name, d.name AS old_name FROM deleted d LEFT JOIN inserted i ON i.id = d.id;
GO
UPDATE dbo.asked SET name = 'b';
DELETE dbo.asked;
MERGE dbo.asked AS t USING (VALUES (1), (2)) AS s (id) ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (name) VALUES ('new');
SELECT id, name FROM dbo.asked;
GO
CREATE TRIGGER dbo.decide_again ON dbo.asked INSTEAD OF INSERT AS PRINT 'two';
GO
DISABLE TRIGGER dbo.decide ON dbo.asked;
MERGE dbo.asked AS t USING (VALUES (1), (2)) AS s (id) ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (name) VALUES ('new');
GO
-- Cascades fire the triggers of the tables that follow.
CREATE TABLE dbo.parent (id int PRIMARY KEY);
CREATE TABLE dbo.child (id int PRIMARY KEY, parent int REFERENCES dbo.parent (id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE dbo.grandchild (id int PRIMARY KEY, child int REFERENCES dbo.child (id) ON DELETE CASCADE);
INSERT dbo.parent VALUES (1), (2), (3);
INSERT dbo.child VALUES (10, 1), (11, 1), (20, 2);
INSERT dbo.grandchild VALUES (100, 10), (200, 20);
GO
CREATE TRIGGER dbo.of_parent ON dbo.parent AFTER DELETE AS SELECT 'parent' AS of_table, COUNT(*) AS gone FROM deleted;
GO
CREATE TRIGGER dbo.of_child ON dbo.child AFTER DELETE, UPDATE AS
SELECT 'child' AS of_table, COUNT(*) AS gone, (SELECT SUM(parent) FROM inserted) AS parents, IIF(UPDATE(parent), 1, 0) AS of_column FROM deleted;
GO
CREATE TRIGGER dbo.of_grandchild ON dbo.grandchild AFTER DELETE AS SELECT 'grandchild' AS of_table, COUNT(*) AS gone FROM deleted;
GO
UPDATE dbo.parent SET id = 30 WHERE id = 1;
DELETE dbo.parent WHERE id IN (2, 30);
DELETE dbo.parent WHERE id = 3;
SELECT (SELECT COUNT(*) FROM dbo.child) AS children, (SELECT COUNT(*) FROM dbo.grandchild) AS grandchildren;
GO
CREATE TRIGGER dbo.not_there ON dbo.child INSTEAD OF DELETE AS PRINT 'no';
GO
-- What cannot be.
CREATE TRIGGER dbo.t ON dbo.missing AFTER INSERT AS PRINT 'no';
GO
CREATE TRIGGER dbo.t ON dbo.parent AFTER INSERT, INSERT AS PRINT 'no';
GO
CREATE TRIGGER dbo.t ON dbo.parent AFTER CREATE_TABLE AS PRINT 'no';
GO
CREATE TRIGGER dbo.t ON DATABASE FOR CREATE_TABLE AS PRINT 'no';
GO
CREATE TRIGGER t ON ALL SERVER FOR LOGON AS PRINT 'no';
GO
CREATE TRIGGER dbo.t ON dbo.parent AFTER INSERT AS RETURN 1;
GO
CREATE TRIGGER dbo.t ON dbo.parent AFTER INSERT AS UPDATE inserted SET id = 1;
GO
CREATE TRIGGER sys.t ON dbo.parent AFTER INSERT AS PRINT 'no';
GO
CREATE TRIGGER dbo.parent ON dbo.parent AFTER INSERT AS PRINT 'no';
GO
CREATE TABLE #own (x int);
GO
CREATE TRIGGER t ON #own AFTER INSERT AS PRINT 'no';
GO
-- A column that is added is seen.
CREATE TABLE dbo.grows (a int);
GO
CREATE TRIGGER dbo.seen ON dbo.grows AFTER INSERT AS SELECT * FROM inserted;
GO
INSERT dbo.grows VALUES (1);
ALTER TABLE dbo.grows ADD b int;
GO
INSERT dbo.grows VALUES (2, 3);
GO
-- Cursors, procedures and functions in triggers.
CREATE PROCEDURE dbo.told @n int AS PRINT CONCAT('told of ', @n, ' at ', @@NESTLEVEL, ', ', TRIGGER_NESTLEVEL(OBJECT_ID('dbo.seen')));
GO
ALTER TRIGGER dbo.seen ON dbo.grows AFTER INSERT AS
SET NOCOUNT ON;
DECLARE each CURSOR LOCAL FOR SELECT a FROM inserted ORDER BY a;
DECLARE @a int;
OPEN each;
FETCH NEXT FROM each INTO @a;
WHILE @@FETCH_STATUS = 0
BEGIN
  EXEC dbo.told @a;
  FETCH NEXT FROM each INTO @a;
END;
WITH both AS (SELECT a FROM inserted) SELECT TOP (1) a FROM both WHERE a IN (SELECT a FROM inserted) ORDER BY a;
GO
INSERT dbo.grows (a) VALUES (7), (8);
GO
