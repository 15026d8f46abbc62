-- A commit that a promise about rows in memory breaks leaves nothing behind, in whichever database or table of the session.

setup: CREATE DATABASE shop
setup: CREATE DATABASE other
setup: CREATE TABLE shop.dbo.t (id int NOT NULL PRIMARY KEY NONCLUSTERED, v int NOT NULL)
    WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY)
setup: CREATE TABLE other.dbo.disk (id int NOT NULL PRIMARY KEY)
setup: INSERT shop.dbo.t VALUES (1, 10), (2, 20)

== shop: a temporary table
T1: CREATE TABLE #kept (id int NOT NULL)
T1: BEGIN TRAN INSERT #kept VALUES (1) SELECT v FROM t WITH (REPEATABLEREAD) WHERE id = 1
T2: UPDATE t SET v = 11 WHERE id = 1
T1: COMMIT
T1: SELECT @@TRANCOUNT, (SELECT COUNT(*) FROM #kept)

== shop: another database
T1: BEGIN TRAN INSERT other.dbo.disk VALUES (1) SELECT v FROM t WITH (REPEATABLEREAD) WHERE id = 1
T2: UPDATE t SET v = 11 WHERE id = 1
T1: COMMIT
T1: SELECT @@TRANCOUNT, (SELECT COUNT(*) FROM other.dbo.disk)

== shop: a handler that takes its time
T1: BEGIN TRAN UPDATE t WITH (SNAPSHOT) SET v = 22 WHERE id = 2 SELECT v FROM t WITH (REPEATABLEREAD) WHERE id = 1
T2: UPDATE t SET v = 11 WHERE id = 1
T1: BEGIN TRY COMMIT END TRY BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE() WAITFOR DELAY '00:00:00.2' ROLLBACK END CATCH
T2: SELECT id, v FROM t ORDER BY id
