-- Figures of in-memory tables that take two sessions: conflicts, reads that do not hold, transactions that are open.

setup: CREATE DATABASE shop
setup: CREATE TABLE shop.dbo.t (id int NOT NULL PRIMARY KEY NONCLUSTERED, v int NOT NULL)
    WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY)
setup: INSERT shop.dbo.t VALUES (1, 10), (2, 20), (3, 30)

== shop: a change that meets another transaction's
T1: BEGIN TRAN UPDATE t WITH (SNAPSHOT) SET v = 11 WHERE id = 1
T2: UPDATE t SET v = 12 WHERE id = 1
T2: BEGIN TRAN UPDATE t WITH (SNAPSHOT) SET v = 21 WHERE id = 2 DELETE t WITH (SNAPSHOT) WHERE id = 1
T2: SELECT @@TRANCOUNT
T1: COMMIT
T3: SELECT row_update_attempts, row_delete_attempts, write_conflicts, unique_constraint_violations FROM sys.dm_db_xtp_object_stats
T3: SELECT total_aborts, system_aborts, user_aborts, validation_failures, write_conflicts FROM sys.dm_xtp_transaction_stats

== shop: two that insert one key
T1: BEGIN TRAN INSERT t WITH (SNAPSHOT) VALUES (4, 40)
T2: INSERT t VALUES (4, 41)
T1: ROLLBACK
T3: SELECT row_insert_attempts, write_conflicts, unique_constraint_violations FROM sys.dm_db_xtp_object_stats
T3: SELECT total_aborts, system_aborts, user_aborts FROM sys.dm_xtp_transaction_stats

== shop: what was read has changed, and a row has come
T1: BEGIN TRAN SELECT v FROM t WITH (REPEATABLEREAD) WHERE id = 1 UPDATE t WITH (SNAPSHOT) SET v = 31 WHERE id = 3
T2: UPDATE t SET v = 13 WHERE id = 1
T1: COMMIT
T1: BEGIN TRAN SELECT COUNT(*) FROM t WITH (SERIALIZABLE)
T2: INSERT t VALUES (5, 50)
T1: COMMIT
T3: SELECT total_aborts, system_aborts, user_aborts, validation_failures, write_conflicts FROM sys.dm_xtp_transaction_stats

== shop: transactions that are open
T1: BEGIN TRAN UPDATE t WITH (SNAPSHOT) SET v = 11 WHERE id = 1
T2: UPDATE t SET v = 22 WHERE id = 2
T2: BEGIN TRAN SELECT v FROM t WITH (SNAPSHOT) WHERE id = 1
T3: SELECT ROW_NUMBER() OVER (ORDER BY x.session_id) AS number, x.begin_tsn - MIN(x.begin_tsn) OVER () AS later, x.state_desc,
    x.result_desc, IIF(s.transaction_id = x.transaction_id, 1, 0) AS joins
    FROM sys.dm_db_xtp_transactions AS x JOIN sys.dm_tran_session_transactions AS s ON s.session_id = x.session_id
T1: COMMIT
T2: COMMIT
T3: SELECT COUNT(*) FROM sys.dm_db_xtp_transactions
