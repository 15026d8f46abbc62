-- READ COMMITTED under locks: READ_COMMITTED_SNAPSHOT OFF, and READCOMMITTEDLOCK where it is ON. A reader waits for
-- each row that it comes to and that another transaction has changed, reads what is newest, and keeps no row locked.

setup: CREATE DATABASE locking CREATE DATABASE versions
    ALTER DATABASE locking SET READ_COMMITTED_SNAPSHOT OFF
setup: CREATE TABLE locking.dbo.t (id int PRIMARY KEY, v int, note varchar(10), INDEX iv (v))
    CREATE TABLE versions.dbo.t (id int PRIMARY KEY, v int, note varchar(10), INDEX iv (v))
    CREATE TABLE locking.dbo.heap (id int, v int)
    CREATE TABLE versions.dbo.other (id int PRIMARY KEY, v int)
    INSERT locking.dbo.t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')
setup: INSERT locking.dbo.heap VALUES (1, 10), (2, 20), (3, 30)
setup: INSERT versions.dbo.t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')
setup: INSERT versions.dbo.other VALUES (1, 10)

== locking: what the views say
T1: SELECT name, is_read_committed_snapshot_on, snapshot_isolation_state_desc FROM sys.databases
    WHERE name IN ('locking', 'versions', 'master') ORDER BY name
T1: DBCC USEROPTIONS
T2: USE versions DBCC USEROPTIONS

== locking: changed, inserted and deleted rows are waited for
T1: BEGIN TRAN UPDATE t SET note = 'x' WHERE id = 2
T2: SELECT * FROM t
T3: SELECT note FROM t WHERE id = 2
T4: SELECT note FROM t WHERE id <> 2
T1: COMMIT
T1: BEGIN TRAN DELETE t WHERE id = 1 INSERT t VALUES (4, 40, 'd')
T2: SELECT id FROM t WHERE id >= 4
T3: SELECT id FROM t WHERE id = 1
T4: SELECT id FROM t WHERE id BETWEEN 2 AND 3
T1: ROLLBACK

== locking: a heap, and counts
T1: BEGIN TRAN UPDATE heap SET v = 0 WHERE id = 3
T2: SELECT id FROM heap WHERE v = 10
T3: SELECT COUNT(*) FROM heap
T4: SELECT TOP (2) id FROM heap
T1: COMMIT

-- What the entries of an index say needs no look at the rows.
== locking: by an index
T1: BEGIN TRAN UPDATE t SET note = 'x' WHERE id = 2 UPDATE t SET v = 11 WHERE id = 1
T2: SELECT id, v FROM t WHERE v = 20
T2: SELECT note FROM t WHERE v = 20
T3: SELECT id, v FROM t WHERE v < 15
T4: SELECT note FROM t WHERE v = 30
T1: COMMIT

-- It reads rows one after the other, each as it is then.
== locking: no row stays locked
T1: BEGIN TRAN SELECT * FROM t WHERE id = 1
T2: UPDATE t SET v = 11 WHERE id = 1
T1: SELECT * FROM t WHERE id = 1
T1: COMMIT

== locking: rows that come while a reader waits
T1: BEGIN TRAN UPDATE t SET note = 'x' WHERE id = 2
T2: SELECT id, v FROM t
T3: INSERT t VALUES (0, 0, 'early'), (5, 50, 'late') DELETE t WHERE id = 3
T1: COMMIT

== locking: rows and tables that are only locked
T1: BEGIN TRAN SELECT id FROM t WITH (UPDLOCK) WHERE id = 1
T2: SELECT id FROM t WHERE id = 1
T1: SELECT id FROM t WITH (XLOCK) WHERE id = 1
T2: SELECT id FROM t WHERE id = 1
T3: SELECT id FROM t WITH (NOLOCK) WHERE id = 1
T1: COMMIT
T1: BEGIN TRAN SELECT COUNT(*) FROM t WITH (TABLOCKX)
T2: SELECT id FROM t WHERE id = 1
T3: SELECT id FROM t WITH (NOLOCK) WHERE id = 1
T1: COMMIT

== locking: a reader keeps no session from the table
T1: BEGIN TRAN SELECT COUNT(*) FROM t
T2: BEGIN TRAN SELECT COUNT(*) FROM t WITH (TABLOCKX) ROLLBACK
T2: ALTER TABLE t ADD more int
T1: COMMIT

== locking: hints
T1: BEGIN TRAN UPDATE t SET note = 'x' WHERE id = 2
T2: SELECT id, note FROM t WITH (NOLOCK)
T2: SELECT id, note FROM t WITH (READPAST)
T2: SELECT id, note FROM t WITH (NOWAIT)
T2: SET LOCK_TIMEOUT 0 SELECT id, note FROM t WITH (READCOMMITTED) WHERE id = 2
T2: SET LOCK_TIMEOUT -1 SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED SELECT id, note FROM t
T2: SELECT id, note FROM t WITH (READCOMMITTED)
T1: ROLLBACK

== locking: deadlocks of readers
T1: BEGIN TRAN UPDATE t SET v = 11 WHERE id = 1
T2: BEGIN TRAN UPDATE t SET v = 22 WHERE id = 2
T1: SELECT v FROM t WHERE id = 2
T2: SELECT v FROM t WHERE id = 1
T1: COMMIT

== locking: SNAPSHOT reads versions all the same
T1: BEGIN TRAN UPDATE t SET note = 'x' WHERE id = 2
T2: SET TRANSACTION ISOLATION LEVEL SNAPSHOT SELECT note FROM t WHERE id = 2
T2: SELECT note FROM t WITH (READCOMMITTEDLOCK) WHERE id = 2
T1: COMMIT

== locking: changes find what is newest
T1: BEGIN TRAN UPDATE t SET v = v + 10
T2: DELETE t WHERE v = 20
T3: UPDATE heap SET v = (SELECT SUM(v) FROM t) WHERE id = 1
T1: COMMIT
T1: SELECT id, v FROM t SELECT id, v FROM heap

== versions: READCOMMITTEDLOCK
T1: BEGIN TRAN UPDATE t SET note = 'x' WHERE id = 2
T2: SELECT id, note FROM t
T2: SELECT id, note FROM t WITH (READCOMMITTED)
T2: SELECT id, note FROM t WITH (READCOMMITTEDLOCK)
T3: SELECT a.note, b.note FROM t a JOIN t b WITH (READCOMMITTEDLOCK) ON a.id = b.id WHERE a.id = 2
T1: COMMIT

== versions: a statement in two databases reads each as its option says
T1: BEGIN TRAN UPDATE locking.dbo.t SET note = 'x' WHERE id = 2 COMMIT
T1: BEGIN TRAN UPDATE versions.dbo.t SET note = 'x' WHERE id = 2
T2: SELECT v.note FROM versions.dbo.t v JOIN locking.dbo.t l ON l.id = v.id WHERE v.id = 2
T1: ROLLBACK
T1: BEGIN TRAN UPDATE locking.dbo.t SET note = 'y' WHERE id = 2
T2: SELECT v.note, l.note FROM versions.dbo.t v JOIN locking.dbo.t l ON l.id = v.id WHERE v.id = 2
T1: COMMIT

-- The option is one of the statements that begin when it is set; a running one goes on as it began.
== versions: the option changes while sessions work
T1: BEGIN TRAN UPDATE t SET note = 'x' WHERE id = 2
T2: SELECT note FROM t WHERE id = 2
T3: ALTER DATABASE versions SET READ_COMMITTED_SNAPSHOT OFF
T2: SELECT note FROM t WHERE id = 2
T3: ALTER DATABASE versions SET READ_COMMITTED_SNAPSHOT ON
T4: SELECT note FROM t WHERE id = 2
T1: COMMIT

== versions: the option and those who use the database
T1: BEGIN TRAN UPDATE t SET note = 'x' WHERE id = 2
T2: USE master ALTER DATABASE versions SET READ_COMMITTED_SNAPSHOT OFF WITH NO_WAIT
T2: SELECT is_read_committed_snapshot_on FROM sys.databases WHERE name = 'versions'
T2: ALTER DATABASE versions SET READ_COMMITTED_SNAPSHOT ON WITH NO_WAIT
T2: ALTER DATABASE versions SET READ_COMMITTED_SNAPSHOT OFF
T3: SELECT id, note FROM versions.dbo.t WHERE id = 2
T1: COMMIT
