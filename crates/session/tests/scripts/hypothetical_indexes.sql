-- WITH (STATISTICS_ONLY = n) makes an index without entries, for advisers that ask what it would be good for. It is shown and dropped
-- like others; no row is looked up or refused by it.
CREATE TABLE t (a int NOT NULL PRIMARY KEY, b int, c varchar(10));
INSERT t VALUES (1, 1, 'x'), (2, 1, 'x');
GO
CREATE INDEX h ON t(b) WITH (STATISTICS_ONLY = -1);
CREATE UNIQUE INDEX u ON t(c DESC, b) INCLUDE (a) WITH (STATISTICS_ONLY = 0);
CREATE CLUSTERED INDEX k ON t(b) WITH (STATISTICS_ONLY = -1);
CREATE INDEX f ON t(b) WHERE b > 5 WITH (STATISTICS_ONLY = -1);
GO
SELECT name, index_id, type_desc, is_unique, is_hypothetical, is_disabled, filter_definition FROM sys.indexes WHERE object_id = OBJECT_ID('t') ORDER BY index_id;
SELECT index_id, column_id, key_ordinal, is_descending_key, is_included_column FROM sys.index_columns WHERE object_id = OBJECT_ID('t') AND index_id > 1 ORDER BY 1, index_column_id;
SELECT INDEXPROPERTY(OBJECT_ID('t'), 'h', 'IsHypothetical') AS h, INDEXPROPERTY(OBJECT_ID('t'), 'k', 'IsClustered') AS k, INDEXPROPERTY(OBJECT_ID('t'), 'u', 'IsUnique') AS u;
SELECT index_id FROM sys.partitions WHERE object_id = OBJECT_ID('t');
GO
-- Two rows are alike to the unique one, and stay so.
INSERT t VALUES (3, 1, 'x');
UPDATE t SET b = 1;
SELECT COUNT(*) AS n FROM t WHERE b = 1 AND c = 'x';
GO
SET SHOWPLAN_TEXT ON;
GO
SELECT c FROM t WHERE b = 1;
GO
SET SHOWPLAN_TEXT OFF;
GO
CREATE INDEX h ON t(b) WITH (STATISTICS_ONLY = -1);
GO
CREATE INDEX x ON t(nothing) WITH (STATISTICS_ONLY = -1);
GO
CREATE INDEX x ON missing(a) WITH (STATISTICS_ONLY = -1);
GO
ALTER INDEX h ON t REBUILD;
GO
ALTER INDEX ALL ON t REBUILD;
ALTER TABLE t DROP COLUMN b;
GO
-- A hint cannot name it.
SELECT * FROM t WITH (INDEX(h)) WHERE b = 1;
GO
EXEC sp_helpindex 't';
DROP INDEX h ON t;
DROP INDEX u ON t, k ON t, f ON t;
SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('t');
DBCC CHECKTABLE('t') WITH NO_INFOMSGS;
GO
