-- Partition functions and schemes are definitions: which partition a row is in, and how many there are in each.
CREATE DATABASE cut;
GO
USE cut;
ALTER DATABASE cut ADD FILEGROUP fg1;
ALTER DATABASE cut ADD FILEGROUP fg2;
ALTER DATABASE cut ADD FILEGROUP fg3;
GO
CREATE PARTITION FUNCTION pf (int) AS RANGE LEFT FOR VALUES (1, 100, 1000);
CREATE PARTITION FUNCTION pfr (datetime2(0)) AS RANGE RIGHT FOR VALUES ('2021-01-01', '2020-01-01');
CREATE PARTITION SCHEME ps AS PARTITION pf ALL TO ([PRIMARY]);
CREATE PARTITION SCHEME psr AS PARTITION pfr TO ([PRIMARY], fg1, fg2, fg3);
GO
SELECT v, $PARTITION.pf(v) AS part FROM (VALUES (NULL), (-5), (1), (2), (100), (101), (1000), (1001)) t (v) ORDER BY v;
SELECT v, $partition.pfr(v) AS part FROM (VALUES ('2019-05-05'), ('2020-01-01'), ('2020-12-31 23:59:59'), ('2021-01-01')) t (v);
SELECT name, type, type_desc, fanout, boundary_value_on_right FROM sys.partition_functions ORDER BY name;
SELECT f.name, r.boundary_id, r.value, SQL_VARIANT_PROPERTY(r.value, 'BaseType') AS type FROM sys.partition_range_values r JOIN sys.partition_functions f ON f.function_id = r.function_id ORDER BY f.name, r.boundary_id;
SELECT f.name, p.parameter_id, TYPE_NAME(p.system_type_id) AS type, p.scale FROM sys.partition_parameters p JOIN sys.partition_functions f ON f.function_id = p.function_id ORDER BY f.name;
SELECT s.name, f.name AS func, s.type_desc FROM sys.partition_schemes s JOIN sys.partition_functions f ON f.function_id = s.function_id ORDER BY s.name;
SELECT s.name, COUNT(*) AS destinations FROM sys.destination_data_spaces d JOIN sys.partition_schemes s ON s.data_space_id = d.partition_scheme_id GROUP BY s.name ORDER BY s.name;
SELECT name, type FROM sys.data_spaces ORDER BY name;
GO
CREATE TABLE dbo.t (id int NOT NULL, v varchar(9), CONSTRAINT pk_t PRIMARY KEY CLUSTERED (id)) ON ps (id);
CREATE INDEX ix_aligned ON dbo.t (v);
CREATE INDEX ix_elsewhere ON dbo.t (v, id) ON [PRIMARY];
INSERT dbo.t VALUES (0, 'a'), (1, 'b'), (50, 'c'), (500, 'd'), (501, 'e'), (5000, 'f');
SELECT i.name, d.name AS space FROM sys.indexes i JOIN sys.data_spaces d ON d.data_space_id = i.data_space_id WHERE i.object_id = OBJECT_ID('dbo.t') ORDER BY i.index_id;
SELECT i.name, p.partition_number, p.rows FROM sys.partitions p JOIN sys.indexes i ON i.object_id = p.object_id AND i.index_id = p.index_id WHERE p.object_id = OBJECT_ID('dbo.t') ORDER BY p.index_id, p.partition_number;
SELECT partition_number, row_count FROM sys.dm_db_partition_stats WHERE object_id = OBJECT_ID('dbo.t') AND index_id = 1 ORDER BY partition_number;
SELECT COUNT(*) AS partitions, COUNT(DISTINCT partition_id) AS ids FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.t');
SELECT c.name FROM sys.index_columns ic JOIN sys.columns c ON c.object_id = ic.object_id AND c.column_id = ic.column_id WHERE ic.object_id = OBJECT_ID('dbo.t') AND ic.index_id = 1 AND ic.partition_ordinal = 1;
SELECT $PARTITION.pf(id) AS part, COUNT(*) AS rows, MIN(id) AS first FROM dbo.t GROUP BY $PARTITION.pf(id) ORDER BY part;
SELECT id FROM dbo.t WHERE $PARTITION.pf(id) = 3 ORDER BY id;
GO
-- Boundaries come and go.
ALTER PARTITION FUNCTION pf () SPLIT RANGE (10);
SELECT p.partition_number, p.rows FROM sys.partitions p WHERE p.object_id = OBJECT_ID('dbo.t') AND p.index_id = 1 ORDER BY p.partition_number;
ALTER PARTITION FUNCTION pf () MERGE RANGE (100);
SELECT p.partition_number, p.rows FROM sys.partitions p WHERE p.object_id = OBJECT_ID('dbo.t') AND p.index_id = 1 ORDER BY p.partition_number;
SELECT r.value FROM sys.partition_range_values r JOIN sys.partition_functions f ON f.function_id = r.function_id WHERE f.name = 'pf' ORDER BY r.boundary_id;
ALTER PARTITION FUNCTION pf () SPLIT RANGE (20);
GO
ALTER PARTITION SCHEME ps NEXT USED [PRIMARY];
ALTER PARTITION FUNCTION pf () SPLIT RANGE (20);
ALTER PARTITION SCHEME ps NEXT USED fg1;
ALTER PARTITION FUNCTION pf () SPLIT RANGE (20);
GO
ALTER PARTITION FUNCTION pf () MERGE RANGE (21);
GO
-- Heaps, clustered indexes and keys on a scheme.
CREATE TABLE dbo.h (at datetime2(0) NOT NULL, v int) ON psr (at);
INSERT dbo.h VALUES ('2019-01-01', 1), ('2020-06-01', 2), ('2020-07-01', 3), ('2022-01-01', 4);
SELECT index_id, partition_number, rows FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.h') ORDER BY partition_number;
CREATE CLUSTERED INDEX ix ON dbo.h (at);
SELECT index_id, partition_number, rows FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.h') ORDER BY partition_number;
DROP INDEX ix ON dbo.h;
SELECT index_id, COUNT(*) AS partitions FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.h') GROUP BY index_id;
CREATE CLUSTERED INDEX ix ON dbo.h (at) ON [PRIMARY];
SELECT index_id, COUNT(*) AS partitions FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.h') GROUP BY index_id;
CREATE TABLE dbo.k (a int NOT NULL, b int NOT NULL, CONSTRAINT pk_k PRIMARY KEY CLUSTERED (b, a) ON ps (a));
SELECT COUNT(*) AS partitions FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.k');
ALTER TABLE dbo.k ADD c int;
SELECT COUNT(*) AS partitions FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.k');
GO
-- Keys that ALTER TABLE adds.
CREATE TABLE dbo.added (id int NOT NULL, v int NOT NULL) ON ps (id);
INSERT dbo.added VALUES (1, 1), (15, 2);
ALTER TABLE dbo.added ADD CONSTRAINT pk_added PRIMARY KEY CLUSTERED (id, v) ON ps (id);
ALTER TABLE dbo.added ADD CONSTRAINT u_added UNIQUE (v, id);
SELECT i.name, s.name AS scheme, p.partition_number, p.rows
FROM sys.indexes AS i
JOIN sys.data_spaces AS s ON s.data_space_id = i.data_space_id
JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
WHERE i.object_id = OBJECT_ID('dbo.added')
ORDER BY i.index_id, p.partition_number;
GO
ALTER TABLE dbo.added ADD CONSTRAINT u_bad UNIQUE (v);
GO
SELECT COUNT(*) AS keys FROM sys.key_constraints WHERE parent_object_id = OBJECT_ID('dbo.added');
DROP TABLE dbo.added;
GO
CREATE TABLE dbo.added (id int NOT NULL CONSTRAINT pk_added PRIMARY KEY CLUSTERED ON ps (id), v int);
SELECT COUNT(*) AS partitions FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.added');
DROP TABLE dbo.added;
GO
-- A boundary is a value, not a query.
ALTER PARTITION FUNCTION pf () SPLIT RANGE ((SELECT 1));
GO
ALTER PARTITION FUNCTION pf () SPLIT RANGE (COUNT(*));
GO
ALTER PARTITION FUNCTION pf () SPLIT RANGE (ROW_NUMBER() OVER (ORDER BY @@SPID));
GO
CREATE PARTITION FUNCTION by_query (int) AS RANGE LEFT FOR VALUES (1, (SELECT MAX(v) FROM dbo.t));
GO
CREATE PARTITION FUNCTION by_column (int) AS RANGE LEFT FOR VALUES (1, v);
GO
-- What cannot be.
CREATE PARTITION FUNCTION pf (int) AS RANGE FOR VALUES (1);
GO
CREATE PARTITION FUNCTION pf2 (int) AS RANGE FOR VALUES (1, 2, 1);
GO
CREATE PARTITION FUNCTION pf2 (int) AS RANGE FOR VALUES ('x');
GO
CREATE PARTITION FUNCTION pf2 (varchar(max)) AS RANGE FOR VALUES ('x');
GO
CREATE PARTITION SCHEME ps2 AS PARTITION nothing ALL TO ([PRIMARY]);
GO
CREATE PARTITION SCHEME ps2 AS PARTITION pf TO ([PRIMARY], [PRIMARY]);
GO
CREATE TABLE dbo.bad (id int) ON nothing (id);
GO
CREATE TABLE dbo.bad (id bigint) ON ps (id);
GO
CREATE TABLE dbo.bad (id int, k int CONSTRAINT pk_bad PRIMARY KEY) ON ps (id);
GO
CREATE UNIQUE INDEX u ON dbo.t (v);
GO
ALTER TABLE dbo.h DROP COLUMN at;
GO
DROP PARTITION FUNCTION pf;
GO
DROP PARTITION SCHEME ps;
GO
DROP PARTITION SCHEME nothing;
GO
SELECT $PARTITION.nothing(1);
GO
ALTER TABLE dbo.t SWITCH PARTITION 1 TO dbo.h;
GO
TRUNCATE TABLE dbo.t WITH (PARTITIONS (1));
GO
DROP TABLE dbo.t, dbo.h, dbo.k;
DROP PARTITION SCHEME ps;
DROP PARTITION SCHEME psr;
DROP PARTITION FUNCTION pf;
DROP PARTITION FUNCTION pfr;
SELECT COUNT(*) AS functions FROM sys.partition_functions;
GO
