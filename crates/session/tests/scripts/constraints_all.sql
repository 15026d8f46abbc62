-- Enabling and disabling what is so already changes nothing, and is not logged.
CREATE TABLE parent (id int NOT NULL PRIMARY KEY);
CREATE TABLE bare (id int NOT NULL, a int);
CREATE TABLE child (id int NOT NULL, parent_id int NULL CONSTRAINT child_parent REFERENCES parent, a int CONSTRAINT child_a CHECK (a > 0));
GO
BEGIN TRAN;
ALTER TABLE bare NOCHECK CONSTRAINT ALL;
ALTER TABLE bare WITH CHECK CHECK CONSTRAINT ALL;
ALTER TABLE child WITH CHECK CHECK CONSTRAINT ALL;
SELECT ISNULL(SUM(database_transaction_log_record_count), 0) AS records FROM sys.dm_tran_database_transactions WHERE database_id = DB_ID();
ALTER TABLE child NOCHECK CONSTRAINT ALL;
SELECT IIF(SUM(database_transaction_log_record_count) > 0, 'logged', 'not logged') AS change FROM sys.dm_tran_database_transactions WHERE database_id = DB_ID();
INSERT child VALUES (1, 7, -1);
ALTER TABLE child CHECK CONSTRAINT ALL;
SELECT name, is_disabled, is_not_trusted FROM sys.foreign_keys UNION ALL SELECT name, is_disabled, is_not_trusted FROM sys.check_constraints ORDER BY name;
-- Enabled already, but what it has not looked at is looked at now.
ALTER TABLE child WITH CHECK CHECK CONSTRAINT child_parent;
GO
IF @@TRANCOUNT > 0 ROLLBACK;
SELECT name, is_disabled, is_not_trusted FROM sys.foreign_keys UNION ALL SELECT name, is_disabled, is_not_trusted FROM sys.check_constraints ORDER BY name;
