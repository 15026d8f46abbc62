-- Security policies: which rows are there for whom, and which changes of rows are refused. sp is the policy of most batches.
CREATE TABLE dbo.t (id int PRIMARY KEY, owner sysname NOT NULL, a int, b varchar(20))
INSERT dbo.t VALUES (1, 'u1', 10, 'x'), (2, 'u2', 20, 'y'), (3, 'dbo', 30, 'z'), (4, 'u1', 0, 'w')
CREATE TABLE dbo.o (id int PRIMARY KEY, tid int, note varchar(10))
INSERT dbo.o VALUES (1, 1, 'o1'), (2, 2, 'o2'), (3, 3, 'o3'), (4, 4, 'o4')
CREATE USER u1 WITHOUT LOGIN
CREATE USER u2 WITHOUT LOGIN
GRANT SELECT, INSERT, UPDATE, DELETE ON dbo.t TO u1
GRANT SELECT, INSERT, UPDATE, DELETE ON dbo.t TO u2
GRANT SELECT, INSERT, UPDATE, DELETE ON dbo.o TO u1
GRANT SELECT, INSERT, UPDATE, DELETE ON dbo.o TO u2
GO
CREATE FUNCTION dbo.fp(@o sysname) RETURNS TABLE WITH SCHEMABINDING AS RETURN SELECT 1 AS ok WHERE @o = USER_NAME()
GO
CREATE SECURITY POLICY dbo.sp ADD FILTER PREDICATE dbo.fp(owner) ON dbo.t
GO
-- Everybody reads what is theirs, dbo among them.
SELECT id FROM dbo.t
GO
EXECUTE AS USER = 'u1'
SELECT id FROM dbo.t ORDER BY id
SELECT COUNT(*) FROM dbo.t
SELECT id FROM dbo.t WHERE id = 2
SELECT t.id FROM dbo.t JOIN dbo.o ON o.tid = t.id ORDER BY t.id
SELECT o.id, t.id FROM dbo.o LEFT JOIN dbo.t ON o.tid = t.id ORDER BY o.id
SELECT o.id, t.id FROM dbo.t RIGHT JOIN dbo.o ON o.tid = t.id ORDER BY o.id
SELECT o.id, t.id FROM dbo.t FULL JOIN dbo.o ON o.tid = t.id ORDER BY o.id
SELECT t.id, o.id FROM dbo.t LEFT JOIN dbo.o ON o.tid = t.id AND o.id = 4 ORDER BY t.id
SELECT id FROM dbo.o WHERE tid IN (SELECT id FROM dbo.t) ORDER BY id
SELECT id FROM dbo.o WHERE NOT EXISTS (SELECT 1 FROM dbo.t WHERE t.id = o.tid) ORDER BY id
SELECT (SELECT COUNT(*) FROM dbo.t)
;WITH c AS (SELECT * FROM dbo.t) SELECT COUNT(*) FROM c
SELECT id FROM dbo.t UNION ALL SELECT id FROM dbo.t ORDER BY id
SELECT x.id FROM dbo.o CROSS APPLY (SELECT id FROM dbo.t WHERE t.id = o.tid) x ORDER BY x.id
SELECT o.id, x.id FROM dbo.o OUTER APPLY (SELECT id FROM dbo.t WHERE t.id = o.tid) x ORDER BY o.id
SELECT id FROM dbo.t WITH (NOLOCK) ORDER BY id
SELECT id FROM dbo.t WITH (INDEX(1)) WHERE id BETWEEN 1 AND 4 ORDER BY id
SELECT TOP 1 id FROM dbo.t ORDER BY id DESC
SELECT id FROM dbo.t ORDER BY id OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY
SELECT a.id, b.id FROM dbo.t AS a JOIN dbo.t AS b ON a.owner = b.owner ORDER BY 1, 2
EXEC ('SELECT COUNT(*) FROM dbo.t')
SELECT owner, COUNT(*) FROM dbo.t GROUP BY owner
SELECT id, ROW_NUMBER() OVER (ORDER BY id) FROM dbo.t
SELECT * INTO #kept FROM dbo.t
SELECT COUNT(*) FROM #kept
DECLARE @a int
SELECT @a = SUM(a) FROM dbo.t
SELECT @a
DECLARE c CURSOR LOCAL FOR SELECT id FROM dbo.t
DECLARE @id int
OPEN c
FETCH NEXT FROM c INTO @id
WHILE @@FETCH_STATUS = 0
BEGIN
    SELECT @id
    FETCH NEXT FROM c INTO @id
END
REVERT
GO
-- An error of a row that is not there does not tell of it.
EXECUTE AS USER = 'u2'
SELECT id FROM dbo.t WHERE id = 4 AND 1 / a = 1
SELECT COUNT(*) FROM dbo.t WHERE 1 / a >= 0
SELECT o.id FROM dbo.o JOIN dbo.t ON t.id = o.tid AND 1 / t.a >= 0
REVERT
GO
EXECUTE AS USER = 'u1'
SELECT id FROM dbo.t WHERE 1 / a = 0
REVERT
GO
-- A view and a procedure read as who calls them, a procedure that acts for its owner as that.
CREATE VIEW dbo.v AS SELECT id, owner, a FROM dbo.t
GO
CREATE PROCEDURE dbo.p AS SELECT id FROM dbo.t ORDER BY id
GO
CREATE PROCEDURE dbo.po WITH EXECUTE AS OWNER AS SELECT id FROM dbo.t ORDER BY id
GO
GRANT SELECT, UPDATE, INSERT ON dbo.v TO u1
GRANT EXECUTE ON dbo.p TO u1
GRANT EXECUTE ON dbo.po TO u1
GO
EXECUTE AS USER = 'u1'
SELECT id FROM dbo.v ORDER BY id
EXEC dbo.p
EXEC dbo.po
REVERT
EXEC dbo.p
GO
-- What is not there is not changed. Its key is taken all the same.
BEGIN TRANSACTION
EXECUTE AS USER = 'u1'
UPDATE dbo.t SET a = 99 WHERE id = 2
UPDATE dbo.v SET a = 98 WHERE id IN (1, 2)
UPDATE x SET a = a + 1 FROM dbo.t AS x JOIN dbo.o ON o.tid = x.id
UPDATE x SET a = a + 1 FROM dbo.o LEFT JOIN dbo.t AS x ON o.tid = x.id
UPDATE dbo.t SET a = a + 1 OUTPUT inserted.id, deleted.a, inserted.a
INSERT dbo.t VALUES (2, 'u1', 1, 'q')
DELETE dbo.t
REVERT
ALTER SECURITY POLICY dbo.sp WITH (STATE = OFF)
SELECT * FROM dbo.t
ROLLBACK
SELECT id FROM dbo.t
GO
BEGIN TRANSACTION
EXECUTE AS USER = 'u2'
MERGE dbo.t AS tg USING (VALUES (1), (2)) s(id) ON tg.id = s.id WHEN MATCHED THEN UPDATE SET a = 77 OUTPUT $action, inserted.id;
MERGE dbo.t AS tg USING (VALUES (1)) s(id) ON tg.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE OUTPUT $action, deleted.id;
MERGE dbo.o AS tg USING dbo.t AS s ON tg.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE;
MERGE dbo.t AS tg USING (VALUES (1), (50)) s(id) ON tg.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'u2', 1, 'm');
REVERT
ROLLBACK
GO
-- A row may be changed so that it is not there any more.
BEGIN TRANSACTION
EXECUTE AS USER = 'u1'
UPDATE dbo.t SET owner = 'u2' WHERE id = 1
INSERT dbo.t VALUES (7, 'u2', 7, 'n')
SELECT id FROM dbo.t
REVERT
ROLLBACK
GO
-- A predicate reads its own table as it is; rows of a function's table count once.
ALTER SECURITY POLICY dbo.sp WITH (STATE = OFF)
GO
CREATE FUNCTION dbo.fr(@id int) RETURNS TABLE WITH SCHEMABINDING AS RETURN SELECT 1 AS ok FROM dbo.t WHERE t.id = @id AND t.owner = USER_NAME()
GO
CREATE TABLE dbo.acl (u sysname, o sysname)
INSERT dbo.acl VALUES ('u2', 'u1'), ('u2', 'u2'), ('u2', 'u2')
GO
CREATE FUNCTION dbo.fl(@o sysname) RETURNS TABLE WITH SCHEMABINDING AS RETURN
    SELECT 1 AS ok FROM dbo.acl WHERE acl.u = USER_NAME() AND acl.o = @o UNION ALL SELECT 1 WHERE @o = CAST(SESSION_CONTEXT(N'o') AS sysname)
GO
CREATE FUNCTION dbo.fa(@o sysname) RETURNS TABLE WITH SCHEMABINDING AS RETURN
    SELECT 1 AS ok WHERE IS_MEMBER('db_owner') <> 0 AND 1 = 0 OR EXISTS (SELECT 1 FROM dbo.acl WHERE acl.u = USER_NAME() AND acl.o = @o)
        OR @o + '!' = (SELECT MAX(acl.o) + '!' FROM dbo.acl WHERE acl.u = USER_NAME() AND acl.o = @o)
GO
CREATE SECURITY POLICY dbo.sr ADD FILTER PREDICATE dbo.fr(id) ON dbo.t
GO
EXECUTE AS USER = 'u1'
SELECT id FROM dbo.t ORDER BY id
SELECT o.id, t.id FROM dbo.o LEFT JOIN dbo.t ON o.tid = t.id ORDER BY o.id
SELECT id FROM dbo.t WHERE 1 / a = 0 AND id = 1
REVERT
DROP SECURITY POLICY dbo.sr
GO
CREATE SECURITY POLICY dbo.sl ADD FILTER PREDICATE dbo.fl(owner) ON dbo.t
GO
EXECUTE AS USER = 'u2'
SELECT id FROM dbo.t ORDER BY id
SELECT COUNT(*) FROM dbo.t
UPDATE dbo.t SET a = a
REVERT
EXEC sp_set_session_context N'o', N'dbo'
SELECT id FROM dbo.t ORDER BY id
EXEC sp_set_session_context N'o', NULL
SELECT id FROM dbo.t ORDER BY id
ALTER SECURITY POLICY dbo.sl ALTER FILTER PREDICATE dbo.fa(owner) ON dbo.t
EXECUTE AS USER = 'u2'
SELECT id FROM dbo.t ORDER BY id
SELECT id FROM dbo.t WHERE id > 1 AND 1 / a >= 0 ORDER BY id
SELECT o.id, t.id FROM dbo.o JOIN dbo.t ON o.tid = t.id ORDER BY o.id
BEGIN TRANSACTION
DELETE dbo.t
ROLLBACK
REVERT
DROP SECURITY POLICY dbo.sl
GO
-- Block predicates look at rows as they were and as they become.
CREATE SECURITY POLICY dbo.sb ADD BLOCK PREDICATE dbo.fp(owner) ON dbo.t AFTER INSERT
GO
EXECUTE AS USER = 'u1'
BEGIN TRANSACTION
INSERT dbo.t VALUES (10, 'u2', 1, 'n')
INSERT dbo.t VALUES (10, 'u1', 1, 'n'), (11, 'u2', 1, 'n')
INSERT dbo.t VALUES (10, 'u1', 1, 'n')
INSERT dbo.t SELECT 12, owner, 1, 'n' FROM dbo.t WHERE id = 2
MERGE dbo.t AS tg USING (VALUES (12)) s(id) ON tg.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'u2', 0, 'm');
INSERT dbo.v VALUES (11, 'u2', 1)
UPDATE dbo.t SET owner = 'u2' WHERE id = 1
REVERT
INSERT dbo.t VALUES (13, 'u1', 1, 'n')
ROLLBACK
GO
ALTER SECURITY POLICY dbo.sb DROP BLOCK PREDICATE ON dbo.t AFTER INSERT, ADD BLOCK PREDICATE dbo.fp(owner) ON dbo.t AFTER UPDATE
GO
EXECUTE AS USER = 'u1'
BEGIN TRANSACTION
UPDATE dbo.t SET owner = 'u2' WHERE id = 1
UPDATE dbo.t SET a = 0 WHERE id = 2
UPDATE dbo.t SET owner = 'u1' WHERE id = 2
UPDATE x SET owner = 'u2' FROM dbo.t AS x JOIN dbo.o ON o.tid = x.id WHERE o.id = 1
DELETE dbo.t WHERE id = 3
REVERT
ROLLBACK
GO
ALTER SECURITY POLICY dbo.sb ADD BLOCK PREDICATE dbo.fp(owner) ON dbo.t BEFORE UPDATE, ADD BLOCK PREDICATE dbo.fl(owner) ON dbo.t BEFORE DELETE
GO
EXECUTE AS USER = 'u1'
BEGIN TRANSACTION
UPDATE dbo.t SET owner = 'u1' WHERE id = 2
UPDATE dbo.t SET owner = owner WHERE id = 1
MERGE dbo.t AS tg USING (VALUES (2)) s(id) ON tg.id = s.id WHEN MATCHED THEN UPDATE SET owner = 'u1';
DELETE dbo.t WHERE id = 2
DELETE x FROM dbo.t AS x JOIN dbo.o ON o.tid = x.id WHERE o.id = 2
EXEC sp_set_session_context N'o', N'u2'
DELETE dbo.t WHERE id = 2
EXEC sp_set_session_context N'o', NULL
REVERT
ROLLBACK
GO
-- All of it; and nothing while the policy is off.
DROP SECURITY POLICY dbo.sb
CREATE SECURITY POLICY dbo.sb ADD BLOCK PREDICATE dbo.fl(owner) ON dbo.t, ADD FILTER PREDICATE dbo.fp(owner) ON dbo.t WITH (STATE = OFF)
GO
BEGIN TRANSACTION
INSERT dbo.t VALUES (10, 'u2', 1, 'n')
DELETE dbo.t
ROLLBACK
ALTER SECURITY POLICY dbo.sb WITH (STATE = ON)
INSERT dbo.t VALUES (10, 'u2', 1, 'n')
DELETE dbo.t
UPDATE dbo.t SET a = 1
GO
-- Rows that follow a foreign key pass all of it.
CREATE TABLE dbo.parent (id int PRIMARY KEY)
CREATE TABLE dbo.child (id int PRIMARY KEY, pid int REFERENCES dbo.parent ON DELETE CASCADE ON UPDATE CASCADE, owner sysname)
INSERT dbo.parent VALUES (1), (2)
INSERT dbo.child VALUES (1, 1, 'u2'), (2, 2, 'u2')
GO
CREATE SECURITY POLICY dbo.sc ADD BLOCK PREDICATE dbo.fp(owner) ON dbo.child, ADD FILTER PREDICATE dbo.fp(owner) ON dbo.child, ADD FILTER PREDICATE dbo.fp('x') ON dbo.parent
GO
INSERT dbo.child VALUES (3, 2, 'dbo')
INSERT dbo.child VALUES (4, 3, 'dbo')
ALTER TABLE dbo.child ADD CONSTRAINT ck CHECK (owner <> 'u2')
ALTER SECURITY POLICY dbo.sc DROP FILTER PREDICATE ON dbo.parent
DELETE dbo.parent WHERE id = 1
UPDATE dbo.parent SET id = 5
ALTER SECURITY POLICY dbo.sc WITH (STATE = OFF)
SELECT * FROM dbo.child
DROP SECURITY POLICY dbo.sc
GO
-- Triggers see what is changed.
CREATE TRIGGER dbo.tr ON dbo.o AFTER INSERT AS SELECT COUNT(*) FROM inserted
GO
CREATE SECURITY POLICY dbo.so ADD FILTER PREDICATE dbo.fp(note) ON dbo.o
INSERT dbo.o VALUES (9, 9, 'x')
SELECT COUNT(*) FROM dbo.o
DROP SECURITY POLICY dbo.so
DROP TRIGGER dbo.tr
GO
-- The views.
CREATE SECURITY POLICY dbo.sv ADD FILTER PREDICATE dbo.fp(upper(note)) ON dbo.o, ADD BLOCK PREDICATE dbo.fp(note + '') ON dbo.o AFTER INSERT WITH (STATE = OFF) NOT FOR REPLICATION
ALTER SECURITY POLICY dbo.sv ADD BLOCK PREDICATE [dbo].fp ( cast(id AS sysname) ) ON dbo.o BEFORE DELETE, DROP BLOCK PREDICATE ON dbo.o AFTER INSERT
SELECT name, parent_object_id, type, type_desc, is_ms_shipped, is_enabled, is_not_for_replication, uses_database_collation, is_schema_bound FROM sys.security_policies ORDER BY name
SELECT OBJECT_NAME(object_id) p, security_predicate_id, OBJECT_NAME(target_object_id) t, predicate_definition, predicate_type, predicate_type_desc, operation, operation_desc FROM sys.security_predicates ORDER BY 1, 2
SELECT name, type, type_desc FROM sys.objects WHERE type = 'SP' ORDER BY name
SELECT OBJECT_NAME(OBJECT_ID('dbo.sv', 'SP')), OBJECT_ID('dbo.sv', 'U'), OBJECTPROPERTYEX(OBJECT_ID('dbo.sv'), 'BaseType')
SELECT referenced_schema_name, referenced_entity_name, referenced_minor_id, is_schema_bound_reference FROM sys.sql_expression_dependencies WHERE referencing_id = OBJECT_ID('dbo.sp') ORDER BY 2, 3
DROP SECURITY POLICY dbo.sv
GO
-- What is bound stays.
DROP FUNCTION dbo.fp
DROP TABLE dbo.t
ALTER TABLE dbo.t ALTER COLUMN owner nvarchar(200)
ALTER TABLE dbo.t DROP COLUMN owner
ALTER TABLE dbo.t ADD extra int
ALTER TABLE dbo.t DROP COLUMN extra
DROP TABLE dbo.sp
EXEC sp_rename 'dbo.t', 't2'
GO
ALTER FUNCTION dbo.fp(@o sysname) RETURNS TABLE WITH SCHEMABINDING AS RETURN SELECT 1 AS ok
GO
-- Errors of definitions.
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.nofn(owner) ON dbo.t
GO
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.fp(owner) ON dbo.nope
GO
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.fp(nocol) ON dbo.o
GO
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.fp(note, id) ON dbo.o
GO
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.fp(note) ON dbo.o, ADD FILTER PREDICATE dbo.fp(note) ON dbo.o
GO
CREATE SECURITY POLICY dbo.x ADD BLOCK PREDICATE dbo.fp(note) ON dbo.o, ADD BLOCK PREDICATE dbo.fp(note) ON dbo.o AFTER INSERT
GO
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE fp(note) ON dbo.o
GO
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.fp(owner) ON #t
GO
DECLARE @v sysname = 'u1'; CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.fp(@v) ON dbo.o
GO
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.fp((SELECT 'a')) ON dbo.o
GO
CREATE SECURITY POLICY nosch.x ADD FILTER PREDICATE dbo.fp(note) ON dbo.o
GO
CREATE SECURITY POLICY other.dbo.x
GO
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.fp(id) ON dbo.v
GO
ALTER SECURITY POLICY dbo.nope WITH (STATE = OFF)
GO
ALTER SECURITY POLICY dbo.t WITH (STATE = OFF)
GO
ALTER SECURITY POLICY dbo.sp DROP FILTER PREDICATE ON dbo.o
GO
ALTER SECURITY POLICY dbo.sp ADD FILTER PREDICATE dbo.fp(owner) ON dbo.t
GO
ALTER SECURITY POLICY dbo.sp DROP FILTER PREDICATE ON dbo.t, ADD FILTER PREDICATE dbo.fp(owner) ON dbo.t
GO
ALTER SECURITY POLICY dbo.sp WITH (SCHEMABINDING = OFF)
GO
CREATE SECURITY POLICY dbo.sp
GO
ALTER SECURITY POLICY dbo.sp WITH (STATE = ON)
GO
DROP SECURITY POLICY dbo.nope
DROP SECURITY POLICY IF EXISTS dbo.nope
GO
CREATE FUNCTION dbo.fu(@o sysname) RETURNS TABLE AS RETURN SELECT 1 AS ok WHERE @o = USER_NAME()
GO
CREATE SECURITY POLICY dbo.su ADD FILTER PREDICATE dbo.fu(note) ON dbo.o
GO
-- Without SCHEMABINDING, whoever reads the table must be able to read the function, and that can go.
CREATE SECURITY POLICY dbo.su ADD FILTER PREDICATE dbo.fu(note) ON dbo.o WITH (SCHEMABINDING = OFF)
GO
EXECUTE AS USER = 'u1'
SELECT id FROM dbo.o
REVERT
GO
GRANT SELECT ON dbo.fu TO u1
EXECUTE AS USER = 'u1'
SELECT id FROM dbo.o
REVERT
GO
ALTER FUNCTION dbo.fu(@o sysname) RETURNS TABLE AS RETURN SELECT 1 AS ok WHERE @o = 'o1'
GO
EXECUTE AS USER = 'u1'
SELECT id FROM dbo.o
REVERT
GO
DROP FUNCTION dbo.fu
GO
SELECT id FROM dbo.o
GO
DROP SECURITY POLICY dbo.su
GO
-- Who makes policies needs a permission, and to read the function.
EXECUTE AS USER = 'u1'
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.fp(note) ON dbo.o
GO
ALTER SECURITY POLICY dbo.sp WITH (STATE = OFF)
GO
DROP SECURITY POLICY dbo.sp
GO
REVERT
GRANT ALTER ANY SECURITY POLICY TO u1
GRANT ALTER ON SCHEMA::dbo TO u1
EXECUTE AS USER = 'u1'
GO
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.fp(note) ON dbo.o
GO
REVERT
GRANT SELECT ON dbo.fp TO u1
EXECUTE AS USER = 'u1'
GO
CREATE SECURITY POLICY dbo.x ADD FILTER PREDICATE dbo.fp(note) ON dbo.o
GO
DROP SECURITY POLICY dbo.x
REVERT
GO
-- Who may read some columns needs no permission on those that the predicate reads.
REVOKE SELECT ON dbo.t FROM u2
GRANT SELECT ON dbo.t (id) TO u2
ALTER SECURITY POLICY dbo.sb WITH (STATE = OFF)
ALTER SECURITY POLICY dbo.sp WITH (STATE = ON)
EXECUTE AS USER = 'u2'
SELECT id FROM dbo.t
SELECT o.id, t.id FROM dbo.o LEFT JOIN dbo.t ON o.tid = t.id WHERE o.id < 3
SELECT owner FROM dbo.t
REVERT
GO
-- A key is searched by the condition of a function without FROM.
SET SHOWPLAN_TEXT ON
GO
SELECT id FROM dbo.t WHERE id = 3
GO
SET SHOWPLAN_TEXT OFF
GO
-- A policy is part of its transaction.
BEGIN TRANSACTION
ALTER SECURITY POLICY dbo.sp WITH (STATE = OFF)
DROP SECURITY POLICY dbo.sp
SELECT COUNT(*) FROM dbo.t
ROLLBACK
SELECT COUNT(*) FROM dbo.t
GO
-- Of a table with a history, each has its own.
CREATE TABLE dbo.h (id int PRIMARY KEY, owner sysname, s datetime2 GENERATED ALWAYS AS ROW START, e datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (s, e)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.hh))
INSERT dbo.h (id, owner) VALUES (1, 'dbo'), (2, 'u2')
DELETE dbo.h WHERE id = 2
GO
CREATE SECURITY POLICY dbo.sh ADD FILTER PREDICATE dbo.fp(owner) ON dbo.h, ADD BLOCK PREDICATE dbo.fp(owner) ON dbo.hh
GO
CREATE SECURITY POLICY dbo.sh ADD FILTER PREDICATE dbo.fp(owner) ON dbo.h
GO
EXECUTE AS USER = 'dbo'
SELECT id FROM dbo.h FOR SYSTEM_TIME ALL ORDER BY id
ALTER SECURITY POLICY dbo.sh ADD FILTER PREDICATE dbo.fp(owner) ON dbo.hh
SELECT id FROM dbo.h FOR SYSTEM_TIME ALL ORDER BY id
REVERT
GO
-- A predicate that reads the table which is changed.
DROP SECURITY POLICY dbo.sp
CREATE SECURITY POLICY dbo.sr ADD FILTER PREDICATE dbo.fr(id) ON dbo.t, ADD BLOCK PREDICATE dbo.fr(id) ON dbo.t BEFORE UPDATE
GO
EXECUTE AS USER = 'u1'
BEGIN TRANSACTION
UPDATE dbo.t SET a = a + 10
UPDATE dbo.t SET a = a + 10 FROM dbo.t WHERE id IN (1, 2)
UPDATE TOP (1) dbo.t SET a = 0
DELETE TOP (1) FROM dbo.t WHERE a > 0
SELECT id FROM dbo.t
ROLLBACK
DECLARE c CURSOR LOCAL FOR SELECT id, a FROM dbo.t FOR UPDATE OF a
OPEN c
FETCH NEXT FROM c
BEGIN TRANSACTION
UPDATE dbo.t SET a = 55 WHERE CURRENT OF c
SELECT id, a FROM dbo.t
ROLLBACK
REVERT
GO
-- Tenants.
CREATE TABLE dbo.q (id int IDENTITY PRIMARY KEY, tenant int, up int, s varchar(10))
CREATE INDEX i ON dbo.q (tenant)
GO
CREATE FUNCTION dbo.ft(@t int) RETURNS TABLE WITH SCHEMABINDING AS RETURN SELECT 1 AS ok WHERE @t = CAST(SESSION_CONTEXT(N'tenant') AS int)
GO
CREATE SECURITY POLICY dbo.sq ADD FILTER PREDICATE dbo.ft(tenant) ON dbo.q, ADD BLOCK PREDICATE dbo.ft(tenant) ON dbo.q
GO
INSERT dbo.q (tenant) VALUES (1)
EXEC sp_set_session_context N'tenant', 1
INSERT dbo.q (tenant, up, s) VALUES (1, NULL, 'a'), (1, 2, 'b'), (1, 3, 'c')
EXEC sp_set_session_context N'tenant', 2
INSERT dbo.q (tenant, up, s) VALUES (2, 2, 'd')
INSERT dbo.q (tenant, s) SELECT tenant, s FROM dbo.q
SELECT tenant, s FROM dbo.q
EXEC sp_set_session_context N'tenant', 1
;WITH c AS (SELECT id, up FROM dbo.q WHERE up IS NULL UNION ALL SELECT q.id, q.up FROM dbo.q JOIN c ON q.up = c.id) SELECT id FROM c
SELECT COUNT(*) FROM dbo.q TABLESAMPLE (100 PERCENT)
UPDATE dbo.q SET tenant = 2 WHERE s = 'a'
GO
SET SHOWPLAN_TEXT ON
GO
SELECT * FROM dbo.q
SELECT * FROM dbo.o LEFT JOIN dbo.q ON q.id = o.id
SELECT * FROM dbo.t WHERE id = 3
GO
SET SHOWPLAN_TEXT OFF
GO
-- From another database, and as an object.
CREATE DATABASE other
GO
USE other
GO
SELECT tenant, s FROM master.dbo.q ORDER BY id
SELECT o.id, q.s FROM master.dbo.o LEFT JOIN master.dbo.q ON q.id = o.id ORDER BY o.id
DELETE master.dbo.q WHERE s = 'd'
INSERT master.dbo.q (tenant) VALUES (7)
GO
USE master
GO
CREATE SCHEMA z
GO
ALTER SCHEMA z TRANSFER dbo.sq
EXEC sp_help 'z.sq'
SELECT SCHEMA_NAME(schema_id), name FROM sys.security_policies ORDER BY name
DROP SECURITY POLICY z.sq
SELECT COUNT(*) FROM dbo.q
GO
-- A cursor finds no row that is not there any more.
ALTER SECURITY POLICY dbo.sr WITH (STATE = OFF)
CREATE SECURITY POLICY dbo.sp ADD FILTER PREDICATE dbo.fp(owner) ON dbo.t
DECLARE c CURSOR KEYSET FOR SELECT id, owner FROM dbo.t FOR UPDATE
OPEN c
FETCH NEXT FROM c
BEGIN TRANSACTION
UPDATE dbo.t SET owner = 'u2' WHERE id = 3
UPDATE dbo.t SET a = 1 WHERE CURRENT OF c
FETCH FIRST FROM c
SELECT @@FETCH_STATUS
ROLLBACK
CLOSE c
DEALLOCATE c
GO
