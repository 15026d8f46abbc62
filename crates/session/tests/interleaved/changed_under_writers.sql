-- What a statement changes at READ COMMITTED is what its condition says of the newest committed rows: a row that
-- another transaction has changed and not ended is waited for where the condition holds for what it is or for what it
-- was, and is judged again then.

setup: CREATE DATABASE d
setup: USE d
    CREATE TABLE t (id int PRIMARY KEY, v int, note varchar(20))
    CREATE TABLE heap (id int, v int)
    CREATE TABLE keyed (id int PRIMARY KEY, v int, note varchar(20) NULL, INDEX iv (v))
    CREATE TABLE other (id int PRIMARY KEY, v int)
    CREATE TABLE long (id int PRIMARY KEY, v int, body varchar(max))
setup: USE d
    INSERT t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 1000, 'c')
    INSERT heap VALUES (1, 10), (2, 20), (3, 1000)
    INSERT keyed VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 1000, 'c')
    INSERT other VALUES (1, 100), (2, 200), (3, 300)
    INSERT long VALUES (1, 10, REPLICATE(CAST('a' AS varchar(max)), 20000)), (2, 20, 'b')

-- Row 1 becomes 20 and row 2 becomes 30: the one comes to the condition, the other leaves it.
== d: DELETE by a scan
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: DELETE t WHERE v = 20
T1: COMMIT
T2: SELECT id, v FROM t

== d: DELETE after a rollback
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: DELETE t WHERE v = 20
T1: ROLLBACK
T2: SELECT id, v FROM t

== d: UPDATE by a scan
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: UPDATE t SET note = 'hit' OUTPUT deleted.v, inserted.note WHERE v = 20
T1: COMMIT
T2: SELECT id, v, note FROM t

== d: a heap
T1: BEGIN TRAN UPDATE heap SET v = v + 10 WHERE id < 3
T2: DELETE heap WHERE v = 20
T3: UPDATE heap SET v = -1 WHERE v = 30
T1: COMMIT
T2: SELECT id, v FROM heap

-- A row that meets the condition neither as it is nor as it was is not waited for, nor is one outside the range of
-- keys.
== d: rows that are not waited for
T1: BEGIN TRAN UPDATE t SET v = 15 WHERE id = 1
T2: DELETE t WHERE v = 20
T2: UPDATE t SET v = 5 WHERE id > 2
T2: UPDATE keyed SET note = 'x' WHERE v = 20
T1: ROLLBACK
T2: SELECT id, v FROM t

-- Rows come to the range of an index and leave it while they are waited for.
== d: by an index
T1: BEGIN TRAN UPDATE keyed SET v = v + 10 WHERE id < 3
T2: DELETE keyed WHERE v = 20
T1: COMMIT
T2: SELECT id, v FROM keyed

== d: by an index, its own key changed
T1: BEGIN TRAN UPDATE keyed SET v = v + 10 WHERE id < 3
T2: UPDATE keyed SET v = v * 100 WHERE v BETWEEN 15 AND 25
T1: COMMIT
T2: SELECT id, v FROM keyed

== d: by an index, with a condition on another column
T1: BEGIN TRAN UPDATE keyed SET note = 'z' WHERE id = 2
T2: UPDATE keyed SET note = 'hit' WHERE v = 20 AND note = 'z'
T1: COMMIT
T2: SELECT id, v, note FROM keyed

== d: by an index, a row is deleted
T1: BEGIN TRAN DELETE keyed WHERE id = 2
T2: UPDATE keyed SET note = 'hit' WHERE v = 20
T1: COMMIT
T2: SELECT id, v, note FROM keyed

== d: by an index, a deleted row comes back
T1: BEGIN TRAN DELETE keyed WHERE id = 2
T2: UPDATE keyed SET note = 'hit' WHERE v = 20
T1: ROLLBACK
T2: SELECT id, v, note FROM keyed

-- A row that has been inserted and not committed is waited for, as its index entry is.
== d: inserted rows
T1: BEGIN TRAN INSERT t VALUES (4, 20, 'new') INSERT keyed VALUES (4, 20, 'new')
T2: DELETE t WHERE v = 20
T3: DELETE keyed WHERE v = 20
T1: COMMIT
T2: SELECT id, v FROM t
T3: SELECT id, v FROM keyed

== d: inserted rows that are taken back
T1: BEGIN TRAN INSERT t VALUES (4, 20, 'new') INSERT keyed VALUES (4, 20, 'new')
T2: DELETE t WHERE v = 20
T3: DELETE keyed WHERE v = 20
T1: ROLLBACK
T2: SELECT id, v FROM t
T3: SELECT id, v FROM keyed

-- A row that has come before the statement reached its place is seen, whenever the statement began.
== d: rows that come while it waits
T1: BEGIN TRAN UPDATE t SET v = 20 WHERE id = 1
T2: DELETE t WHERE v = 20
T3: INSERT t VALUES (5, 20, 'later') UPDATE t SET v = 20 WHERE id = 3
T1: COMMIT
T2: SELECT id, v FROM t

== d: nothing is lost
T1: BEGIN TRAN UPDATE t SET v = v + 1 WHERE id = 1
T2: UPDATE t SET v = v + 1 WHERE id = 1
T3: UPDATE t SET v += 1
T1: COMMIT
T1: SELECT id, v FROM t

== d: a key that is gone
T1: BEGIN TRAN DELETE t WHERE id = 2
T2: UPDATE t SET v = 0 WHERE id = 2
T1: COMMIT
T1: SELECT id, v FROM t

== d: UPDATE with a join
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: UPDATE t SET v = o.v FROM t JOIN other o ON o.id = t.id WHERE t.v = 20
T1: COMMIT
T2: SELECT id, v FROM t

== d: DELETE with a join
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: DELETE t FROM other o JOIN t ON o.id = t.id WHERE t.v = 20 AND o.v < 300
T1: COMMIT
T2: SELECT id, v FROM t

-- Other tables are read as they were when the statement began.
== d: what is joined is a snapshot
T1: BEGIN TRAN UPDATE other SET v = 0
T2: UPDATE t SET v = o.v FROM t JOIN other o ON o.id = t.id WHERE t.id = 1
T1: COMMIT
T2: SELECT id, v FROM t WHERE id = 1

== d: MERGE
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: MERGE t USING (VALUES (1, 5), (2, 6), (9, 7)) AS s (id, v) ON t.id = s.id
    WHEN MATCHED AND t.v = 20 THEN UPDATE SET v = s.v, note = 'hit'
    WHEN MATCHED THEN DELETE
    WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, 'new')
    OUTPUT $action, deleted.v, inserted.v;
T1: COMMIT
T2: SELECT id, v, note FROM t

== d: MERGE by what another changes
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: MERGE t USING (VALUES (20, 'twenty'), (40, 'forty')) AS s (v, note) ON t.v = s.v
    WHEN MATCHED THEN UPDATE SET note = s.note
    WHEN NOT MATCHED THEN INSERT VALUES (s.v, s.v, s.note);
T1: COMMIT
T2: SELECT id, v, note FROM t

== d: MERGE meets an inserted key
T1: BEGIN TRAN INSERT t VALUES (9, 9, 'first')
T2: MERGE t USING (VALUES (9)) AS s (id) ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET note = 'merged'
    WHEN NOT MATCHED THEN INSERT VALUES (s.id, 0, 'second');
T1: COMMIT
T2: SELECT id, v, note FROM t WHERE id = 9

== d: subqueries
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: DELETE t WHERE v = (SELECT MIN(v) / 5 FROM other)
T1: COMMIT
T2: SELECT id, v FROM t

== d: subqueries of the row
T1: BEGIN TRAN UPDATE t SET v = v + 180 WHERE id < 3
T2: DELETE t WHERE EXISTS (SELECT * FROM other o WHERE o.v = t.v)
T1: COMMIT
T2: SELECT id, v FROM t

== d: subqueries of the row on the same table
T1: BEGIN TRAN UPDATE t SET v = 2000 WHERE id = 1
T2: DELETE t WHERE v > (SELECT AVG(v) FROM t x WHERE x.id <> t.id)
T1: COMMIT
T2: SELECT id, v FROM t

== d: subqueries that rule rows out
T1: BEGIN TRAN UPDATE t SET v = 15 WHERE id = 1
T2: UPDATE t SET note = 'one' WHERE v = (SELECT MIN(v) / 5 FROM other)
T2: UPDATE t SET note = 'two' WHERE EXISTS (SELECT * FROM other o WHERE o.v = t.v / 5)
T2: UPDATE t SET note = 'three' WHERE id IN (SELECT id FROM other WHERE v > 250)
T2: DELETE t WHERE id = (SELECT MAX(id) - 1 FROM t) AND NOT EXISTS (SELECT * FROM other o WHERE o.v = t.v)
T1: ROLLBACK
T2: SELECT id, v, note FROM t

-- Of what row 2 is now, the subquery has several rows; of what it was, none.
== d: a subquery that cannot be computed
T1: BEGIN TRAN UPDATE t SET v = 0 WHERE id = 2
T2: DELETE t WHERE (SELECT o.v FROM other o WHERE o.v > t.v * 20) = 300
T1: ROLLBACK
T2: SELECT id, v FROM t

== d: IN a list of a subquery
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: UPDATE t SET note = 'hit' WHERE v IN (SELECT v / 10 FROM other)
T1: COMMIT
T2: SELECT id, v, note FROM t

== d: TOP
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: DELETE TOP (1) t OUTPUT deleted.id, deleted.v WHERE v >= 20
T1: COMMIT
T2: SELECT id, v FROM t

== d: a common table expression, in an order
T1: BEGIN TRAN UPDATE t SET v = 0 WHERE id = 2
T2: WITH first AS (SELECT TOP (1) id, v, note FROM t WHERE v >= 20 ORDER BY id) UPDATE first SET note = 'first'
T1: COMMIT
T2: SELECT id, v, note FROM t

== d: a view
T1: EXEC ('CREATE VIEW w AS SELECT id, v, note FROM t WHERE v < 100 WITH CHECK OPTION')
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: UPDATE w SET note = 'hit' WHERE v = 20
T1: COMMIT
T2: SELECT id, v, note FROM t

== d: a cursor
T2: DECLARE c CURSOR LOCAL DYNAMIC FOR SELECT id, v FROM t WHERE v = 20 FOR UPDATE OPEN c
    FETCH NEXT FROM c
    WAITFOR DELAY '00:00:02'
    UPDATE t SET note = 'hit' WHERE CURRENT OF c
T1: UPDATE t SET v = 30 WHERE id = 2
T3: SELECT 1
T1: SELECT id, v, note FROM t

-- A row that refers to a key is not committed yet when the key goes.
== d: rows that follow a key
T1: CREATE TABLE parent (id int PRIMARY KEY)
    CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE)
    INSERT parent VALUES (1), (2)
    INSERT child VALUES (1, 1), (2, 2)
T1: BEGIN TRAN INSERT child VALUES (3, 1) UPDATE child SET parent = 1 WHERE id = 2
T2: DELETE parent WHERE id = 1
T1: COMMIT
T2: SELECT * FROM parent SELECT * FROM child

== d: history
T1: CREATE TABLE h (id int PRIMARY KEY, v int, b datetime2 GENERATED ALWAYS AS ROW START HIDDEN,
        e datetime2 GENERATED ALWAYS AS ROW END HIDDEN, PERIOD FOR SYSTEM_TIME (b, e))
        WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h_history))
    INSERT h VALUES (1, 10), (2, 20)
T1: BEGIN TRAN UPDATE h SET v = v + 10
T2: UPDATE h SET v = 99 WHERE v = 20
T1: COMMIT
T2: SELECT id, v FROM h SELECT id, v FROM h_history ORDER BY id, v

== d: triggers
T1: CREATE TABLE told (id int, was int, is_now int)
T1: CREATE TRIGGER tr ON t AFTER UPDATE AS
    INSERT told SELECT d.id, d.v, i.v FROM deleted d JOIN inserted i ON i.id = d.id
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: UPDATE t SET v = 99 WHERE v = 20
T1: COMMIT
T2: SELECT * FROM told ORDER BY id, was

-- A condition that fails for what a row is now says nothing yet: the row may not stay so.
== d: a condition that cannot be computed
T1: BEGIN TRAN UPDATE t SET v = 0 WHERE id = 1
T2: DELETE t WHERE 100 / v = 5
T1: ROLLBACK
T2: SELECT id, v FROM t

== d: long values
T1: BEGIN TRAN UPDATE long SET body = REPLICATE(CAST('z' AS varchar(max)), 30000), v = 20 WHERE id = 1
T2: UPDATE long SET v = 7 WHERE LEN(body) = 20000
T3: UPDATE long SET v = 8 WHERE LEN(body) = 30000
T1: COMMIT
T2: SELECT id, v, LEN(body) FROM long

-- A row that another has only locked is not waited for until it is to be changed.
== d: rows that were read with UPDLOCK
T1: BEGIN TRAN SELECT v FROM t WITH (UPDLOCK) WHERE id = 2
T2: UPDATE t SET v = 11 WHERE v = 10
T2: UPDATE t SET v = 21 WHERE v = 20
T1: UPDATE t SET v = 25 WHERE id = 2 COMMIT
T2: SELECT id, v FROM t

== d: NOWAIT and LOCK_TIMEOUT
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id = 1
T2: DELETE t WITH (NOWAIT) WHERE v = 20
T2: SET LOCK_TIMEOUT 0 DELETE t WHERE v = 10
T2: DELETE t WHERE id = 3
T1: ROLLBACK
T2: SELECT id, v FROM t

== d: READ UNCOMMITTED changes what is committed
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED DELETE t WHERE v = 20
T1: COMMIT
T2: SELECT id, v FROM t

== d: SNAPSHOT refuses
T1: BEGIN TRAN UPDATE t SET v = v + 10 WHERE id < 3
T2: SET TRANSACTION ISOLATION LEVEL SNAPSHOT DELETE t WHERE v = 20
T1: COMMIT
T2: SELECT id, v FROM t

== master: a table of another database
T1: BEGIN TRAN UPDATE d.dbo.t SET v = v + 10 WHERE id < 3
T2: DELETE d.dbo.t WHERE v = 20
T1: COMMIT
T2: SELECT id, v FROM d.dbo.t
