-- Views of in-memory tables: memory, changes, indexes, transactions.
CREATE DATABASE shop;
GO
USE shop;
GO
SELECT COUNT(*) AS tables FROM sys.dm_db_xtp_table_memory_stats;
SELECT COUNT(*) AS hash_indexes FROM sys.dm_db_xtp_hash_index_stats;
SELECT * FROM sys.dm_xtp_transaction_stats;
SELECT * FROM sys.dm_xtp_gc_stats;
SELECT * FROM sys.dm_xtp_system_memory_consumers;
SELECT type, name, pages_kb FROM sys.dm_os_memory_clerks WHERE type = 'MEMORYCLERK_XTP';
GO
CREATE TABLE dbo.item (
    id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 2048),
    kind int NOT NULL,
    price int NOT NULL,
    INDEX by_kind HASH (kind) WITH (BUCKET_COUNT = 2048),
    INDEX by_price NONCLUSTERED (price)
) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
CREATE TABLE dbo.secret (id int NOT NULL PRIMARY KEY NONCLUSTERED) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
CREATE TABLE dbo.disk (id int NOT NULL PRIMARY KEY);
GO
CREATE VIEW dbo.memory AS
SELECT OBJECT_NAME(object_id) AS name, memory_allocated_for_table_kb AS rows_got, memory_used_by_table_kb AS rows_used,
    memory_allocated_for_indexes_kb AS indexes_got, memory_used_by_indexes_kb AS indexes_used
FROM sys.dm_db_xtp_table_memory_stats;
GO
CREATE VIEW dbo.changes AS
SELECT OBJECT_NAME(object_id) AS name, row_insert_attempts AS inserts, row_update_attempts AS updates, row_delete_attempts AS deletes,
    write_conflicts AS conflicts, unique_constraint_violations AS violations, object_address
FROM sys.dm_db_xtp_object_stats;
GO
CREATE VIEW dbo.pages AS
SELECT i.name, s.leaf_pages AS leaves, s.internal_pages AS inners, s.page_split_count AS splits, s.page_split_retry_count AS retries,
    s.page_merge_count AS merges, s.delta_pages
FROM sys.dm_db_xtp_nonclustered_index_stats AS s JOIN sys.indexes AS i ON i.object_id = s.object_id AND i.index_id = s.index_id
WHERE s.object_id = OBJECT_ID('dbo.item');
GO
CREATE VIEW dbo.consumers AS
SELECT OBJECT_NAME(c.object_id) AS name, i.name AS index_name, c.memory_consumer_type AS type, c.memory_consumer_type_desc AS type_desc,
    c.memory_consumer_desc AS description, c.allocated_bytes, c.used_bytes, c.allocation_count AS allocations,
    IIF(c.object_id = c.xtp_object_id, 1, 0) AS same
FROM sys.dm_db_xtp_memory_consumers AS c LEFT JOIN sys.indexes AS i ON i.object_id = c.object_id AND i.index_id = c.index_id;
GO
-- Tables that are empty have their buckets and a page.
SELECT * FROM dbo.memory ORDER BY name;
SELECT * FROM dbo.consumers ORDER BY name, index_name;
SELECT * FROM dbo.changes ORDER BY name;
SELECT * FROM dbo.pages;
GO
INSERT dbo.item (id, kind, price) SELECT value, 7, value FROM GENERATE_SERIES(1, 1000);
INSERT dbo.secret VALUES (1), (2);
SELECT * FROM dbo.memory ORDER BY name;
SELECT * FROM dbo.consumers ORDER BY name, index_name;
SELECT * FROM dbo.pages;
GO
-- All rows of one kind are in one chain; those of different ids are in many.
SELECT total_bucket_count, empty_bucket_count, avg_chain_length, max_chain_length
FROM sys.dm_db_xtp_hash_index_stats AS s JOIN sys.indexes AS i ON i.object_id = s.object_id AND i.index_id = s.index_id
WHERE i.name = 'by_kind';
SELECT total_bucket_count, IIF(empty_bucket_count BETWEEN 1048 AND 1548, 'about as many', 'other') AS empty, avg_chain_length,
    IIF(max_chain_length BETWEEN 2 AND 20, 'a few', 'other') AS longest, IIF(xtp_object_id = OBJECT_ID('dbo.item'), 1, 0) AS same
FROM sys.dm_db_xtp_hash_index_stats WHERE index_id = (SELECT index_id FROM sys.hash_indexes WHERE is_primary_key = 1);
GO
-- Attempts are counted, whatever the end of the transaction is.
UPDATE dbo.item SET price = price + 1 WHERE id <= 10;
INSERT dbo.item (id, kind, price) VALUES (2001, 8, 1), (1, 8, 1);
DELETE dbo.item WHERE id = 1000;
BEGIN TRANSACTION;
DELETE dbo.item WITH (SNAPSHOT) WHERE id = 999;
SAVE TRANSACTION s;
UPDATE dbo.item WITH (SNAPSHOT) SET kind = 9 WHERE id = 998;
ROLLBACK TRANSACTION s;
SELECT t.session_id - @@SPID AS other, a.transaction_type AS type, t.begin_tsn, t.end_tsn, t.state, t.state_desc, t.result, t.result_desc
FROM sys.dm_db_xtp_transactions AS t JOIN sys.dm_tran_active_transactions AS a ON a.transaction_id = t.transaction_id;
ROLLBACK;
SELECT COUNT(*) AS open_transactions FROM sys.dm_db_xtp_transactions;
SELECT * FROM dbo.changes ORDER BY name;
SELECT total_aborts, system_aborts, user_aborts, validation_failures, dependencies_taken, dependencies_failed, savepoint_create,
    savepoint_rollbacks, log_bytes_written, log_IO_count, write_conflicts, unique_constraint_violations, scans_started
FROM sys.dm_xtp_transaction_stats;
SELECT IIF(total_count > read_only_count + total_aborts, 1, 0) AS commits FROM sys.dm_xtp_transaction_stats;
GO
-- A key that changes is a row that goes and another that comes.
UPDATE dbo.secret SET id = 3 WHERE id = 2;
SELECT * FROM dbo.changes WHERE name = 'secret';
GO
SELECT i.name, s.scans_started, s.rows_returned FROM sys.dm_db_xtp_index_stats AS s
JOIN sys.indexes AS i ON i.object_id = s.object_id AND i.index_id = s.index_id WHERE i.name = 'by_price';
SELECT COUNT(*) AS rows FROM dbo.item WHERE price BETWEEN 500 AND 510;
SELECT COUNT(*) AS rows FROM dbo.item WHERE price BETWEEN 500 AND 510;
SELECT i.name, s.scans_started, s.rows_returned FROM sys.dm_db_xtp_index_stats AS s
JOIN sys.indexes AS i ON i.object_id = s.object_id AND i.index_id = s.index_id WHERE i.name = 'by_price';
GO
-- Rows that are freed of versions, by transactions and beside them.
UPDATE dbo.item SET price = -price;
UPDATE dbo.item SET price = -price;
SELECT IIF(rows_examined > 0, 1, 0) AS freed, IIF(rows_examined = parallel_assist_count + idle_worker_count, 1, 0) AS by_both,
    IIF(rows_no_sweep_needed = rows_examined, 1, 0) AS all_of_them, sweep_scans_started FROM sys.dm_xtp_gc_stats;
SELECT memory_consumer_type_desc, memory_consumer_desc, IIF(used_bytes <= allocated_bytes, 1, 0) AS fits FROM sys.dm_xtp_system_memory_consumers;
SELECT REPLACE(name, DB_ID(), 'N') AS name, IIF(pages_kb > 0 OR name = 'Default', 1, 0) AS has_some FROM sys.dm_os_memory_clerks
WHERE type = 'MEMORYCLERK_XTP' ORDER BY name;
SELECT c.pages_kb - (SELECT SUM(allocated_bytes) / 1024 FROM sys.dm_db_xtp_memory_consumers) AS difference
FROM sys.dm_os_memory_clerks AS c WHERE c.name = CONCAT('DB_ID_', DB_ID());
GO
-- Views of another database; a principal without permissions sees the tables that it may read.
USE master;
SELECT COUNT(*) AS rows FROM shop.sys.dm_db_xtp_hash_index_stats;
SELECT COUNT(*) AS rows FROM shop.sys.dm_db_xtp_object_stats;
SELECT COUNT(*) AS rows FROM sys.dm_db_xtp_object_stats;
USE shop;
GO
CREATE USER reader WITHOUT LOGIN;
GRANT SELECT ON dbo.item TO reader;
GO
EXECUTE AS USER = 'reader';
SELECT OBJECT_NAME(object_id) AS name FROM sys.dm_db_xtp_table_memory_stats;
SELECT COUNT(*) AS rows FROM sys.dm_db_xtp_memory_consumers;
GO
SELECT COUNT(*) FROM sys.dm_db_xtp_object_stats;
GO
SELECT COUNT(*) FROM sys.dm_db_xtp_hash_index_stats;
GO
SELECT COUNT(*) FROM sys.dm_xtp_gc_stats;
GO
REVERT;
GRANT VIEW DATABASE STATE TO reader;
EXECUTE AS USER = 'reader';
SELECT COUNT(*) AS rows FROM sys.dm_db_xtp_table_memory_stats;
REVERT;
GO
-- Empty pages leave an index; what is dropped leaves the views.
DELETE dbo.item;
DROP TABLE dbo.secret;
SELECT * FROM dbo.changes;
DROP TABLE dbo.item;
SELECT COUNT(*) AS rows FROM sys.dm_db_xtp_memory_consumers;
SELECT name FROM sys.dm_os_memory_clerks WHERE type = 'MEMORYCLERK_XTP';
GO
-- A durable table has a file of rows once there is a checkpoint.
CREATE TABLE dbo.kept (id int NOT NULL PRIMARY KEY NONCLUSTERED, v int) WITH (MEMORY_OPTIMIZED = ON)
INSERT dbo.kept VALUES (1, 1), (2, 2)
SELECT COUNT(*) AS files FROM sys.dm_db_xtp_checkpoint_files
SELECT checkpoints_closed, IIF(log_bytes_since_last_close > 0, 1, 0) AS is_behind, time_since_last_close_in_ms FROM sys.dm_db_xtp_checkpoint_stats
SELECT log_IO_count, IIF(log_bytes_written > 0, 1, 0) AS is_logged FROM sys.dm_xtp_transaction_stats
CHECKPOINT
SELECT relative_file_path, file_type_desc, state_desc, logical_row_count FROM sys.dm_db_xtp_checkpoint_files
SELECT checkpoints_closed, log_bytes_since_last_close, IIF(bytes_serialized > 0, 1, 0) AS has_written FROM sys.dm_db_xtp_checkpoint_stats
DROP TABLE dbo.kept
