-- FILLFACTOR, PAD_INDEX and DATA_COMPRESSION are kept and shown.
CREATE TABLE t (id int NOT NULL CONSTRAINT pk PRIMARY KEY WITH (FILLFACTOR = 80, PAD_INDEX = ON), a int CONSTRAINT uq UNIQUE WITH FILLFACTOR = 60, b int, INDEX inline (b) WITH (FILLFACTOR = 50))
    WITH (DATA_COMPRESSION = PAGE);
CREATE INDEX ix ON t (a) WITH (FILLFACTOR = 70);
CREATE INDEX ix_row ON t (b) WITH (DATA_COMPRESSION = ROW, PAD_INDEX = OFF);
CREATE INDEX old ON t (b) WITH FILLFACTOR = 90, PAD_INDEX;
CREATE TABLE heap (a int) WITH (DATA_COMPRESSION = ROW);
CREATE TABLE plain (a int);
GO
CREATE VIEW shown AS SELECT OBJECT_NAME(i.object_id) of_table, i.name, i.fill_factor, i.is_padded, p.data_compression, p.data_compression_desc
    FROM sys.indexes i JOIN sys.partitions p ON p.object_id = i.object_id AND p.index_id = i.index_id WHERE i.object_id > 100;
GO
SELECT * FROM shown ORDER BY of_table, name;
GO
ALTER INDEX ix ON t REBUILD WITH (FILLFACTOR = 75, PAD_INDEX = ON);
ALTER INDEX ix_row ON t REBUILD WITH (DATA_COMPRESSION = NONE);
ALTER INDEX pk ON t REBUILD;
ALTER INDEX old ON t REBUILD PARTITION = 1 WITH (DATA_COMPRESSION = PAGE);
ALTER TABLE heap REBUILD WITH (DATA_COMPRESSION = PAGE);
SELECT * FROM shown ORDER BY of_table, name;
GO
-- A clustered index lies as its heap did, and leaves that to the heap when it goes.
CREATE CLUSTERED INDEX cl ON heap (a);
SELECT name, data_compression_desc FROM shown WHERE of_table = 'heap';
ALTER TABLE heap REBUILD WITH (DATA_COMPRESSION = ROW, FILLFACTOR = 40);
SELECT name, fill_factor, data_compression_desc FROM shown WHERE of_table = 'heap';
DROP INDEX cl ON heap;
SELECT name, fill_factor, data_compression_desc FROM shown WHERE of_table = 'heap';
GO
ALTER INDEX ALL ON t REBUILD WITH (FILLFACTOR = 33);
SELECT name, fill_factor FROM sys.indexes WHERE object_id = OBJECT_ID('t') ORDER BY name;
GO
-- Columnstores are compressed in their own way.
CREATE TABLE c (a int);
CREATE CLUSTERED COLUMNSTORE INDEX cci ON c;
SELECT data_compression, data_compression_desc FROM sys.partitions WHERE object_id = OBJECT_ID('c');
GO
CREATE INDEX bad ON t (b) WITH (FILLFACTOR = 101);
GO
ALTER INDEX ix ON t REBUILD WITH (FILLFACTOR = 0);
GO
-- An option of other times leaves them as they are.
ALTER TABLE t DROP COLUMN b;
GO
DROP INDEX inline ON t;
DROP INDEX ix_row ON t;
DROP INDEX old ON t;
ALTER TABLE t DROP COLUMN b;
SELECT name, fill_factor, is_padded, data_compression_desc FROM shown WHERE of_table = 't' ORDER BY name;
