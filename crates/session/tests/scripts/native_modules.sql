-- Natively compiled modules: the atomic block, its options, its transaction, errors that leave it.
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY NONCLUSTERED, v bigint NULL, s varchar(20) NULL) WITH (MEMORY_OPTIMIZED = ON)
GO
CREATE PROCEDURE dbo.put @id int, @v bigint = NULL
WITH NATIVE_COMPILATION, SCHEMABINDING, EXECUTE AS OWNER AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    INSERT INTO dbo.t (id, v, s) VALUES (@id, @v, 'first')
    INSERT INTO dbo.t (id, v, s) VALUES (@id + 1000, 100 / @v, 'second')
END
GO
EXEC dbo.put 1, 10
SELECT @@TRANCOUNT AS transactions
SELECT * FROM dbo.t ORDER BY id
GO
-- An error undoes all of the block and ends the call, not the batch.
EXEC dbo.put 2, 0
SELECT @@ERROR AS error, @@TRANCOUNT AS transactions
SELECT * FROM dbo.t ORDER BY id
GO
-- In a transaction it is a savepoint.
BEGIN TRANSACTION
INSERT INTO dbo.t WITH (SNAPSHOT) (id, s) VALUES (3, 'outside')
EXEC dbo.put 4, 0
SELECT @@TRANCOUNT AS transactions, XACT_STATE() AS state
EXEC dbo.put 5, 5
COMMIT
SELECT * FROM dbo.t ORDER BY id
GO
-- A caller's TRY catches it.
BEGIN TRY
    EXEC dbo.put 6, 0
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number, ERROR_PROCEDURE() AS [procedure], ERROR_LINE() AS line, @@TRANCOUNT AS transactions, XACT_STATE() AS state
END CATCH
GO
BEGIN TRANSACTION
BEGIN TRY
    EXEC dbo.put 6, 0
END TRY
BEGIN CATCH
    SELECT @@TRANCOUNT AS transactions, XACT_STATE() AS state
END CATCH
COMMIT
GO
-- XACT_ABORT is the caller's business.
SET XACT_ABORT ON
BEGIN TRANSACTION
EXEC dbo.put 7, 0
GO
SELECT @@TRANCOUNT AS transactions
SET XACT_ABORT OFF
GO
-- A duplicate key, caught in the block.
CREATE PROCEDURE dbo.put_or_add @id int, @v bigint, @was bit OUTPUT
WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english', DELAYED_DURABILITY = ON)
    SET @was = 0
    BEGIN TRY
        INSERT INTO dbo.t (id, v) VALUES (@id, @v)
    END TRY
    BEGIN CATCH
        SET @was = 1
        UPDATE dbo.t SET v = ISNULL(v, 0) + @v WHERE id = @id
        IF @@ROWCOUNT <> 1 THROW 50001, 'it has gone', 1
    END CATCH
    RETURN @id * 2
END
GO
DECLARE @was bit, @r int
EXEC @r = dbo.put_or_add 1, 7, @was OUTPUT
SELECT @r AS r, @was AS was
EXEC @r = dbo.put_or_add 77, 7, @was OUTPUT
SELECT @r AS r, @was AS was
SELECT * FROM dbo.t WHERE id IN (1, 77) ORDER BY id
GO
-- A block that calls another, and fails with it.
CREATE PROCEDURE dbo.twice @id int, @v bigint WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    INSERT INTO dbo.t (id) VALUES (@id)
    EXEC dbo.put 8, @v
    INSERT INTO dbo.t (id) VALUES (@id + 1)
END
GO
EXEC dbo.twice 200, 0
SELECT COUNT(*) AS rows FROM dbo.t WHERE id IN (200, 201, 8, 1008)
EXEC dbo.twice 200, 2
SELECT COUNT(*) AS rows FROM dbo.t WHERE id IN (200, 201, 8, 1008)
GO
-- The block's settings are its own; the caller's are as they were.
SET DATEFIRST 3
SET LANGUAGE Deutsch
SET NOCOUNT OFF
GO
CREATE PROCEDURE dbo.day_of @day date, @n int OUTPUT, @name nvarchar(30) OUTPUT WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english', DATEFIRST = 7)
    SET @n = DATEPART(weekday, @day)
    SET @name = DATENAME(weekday, @day)
END
GO
DECLARE @n int, @name nvarchar(30)
EXEC dbo.day_of '20240301', @n OUTPUT, @name OUTPUT
SELECT @n AS n, @name AS name, DATEPART(weekday, CONVERT(date, '20240301')) AS own, DATENAME(weekday, CONVERT(date, '20240301')) AS own_name
SET LANGUAGE us_english
GO
-- A parameter that takes no NULL.
CREATE PROCEDURE dbo.needs @n int NOT NULL, @m int = NULL WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    RETURN @n
END
GO
DECLARE @r int
EXEC @r = dbo.needs 5
SELECT @r AS r, @@TRANCOUNT AS transactions
EXEC @r = dbo.needs NULL
SELECT @@TRANCOUNT AS transactions
GO
-- Names of modules and what is bound.
SELECT OBJECT_NAME(object_id) AS name, uses_native_compilation, is_schema_bound FROM sys.sql_modules ORDER BY name
DROP TABLE dbo.t
GO
ALTER TABLE dbo.t DROP COLUMN s
GO
-- Refused.
CREATE PROCEDURE dbo.wrong WITH NATIVE_COMPILATION, SCHEMABINDING AS SELECT 1
GO
CREATE PROCEDURE dbo.wrong WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (LANGUAGE = N'us_english') RETURN 1 END
GO
CREATE PROCEDURE dbo.wrong WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT) RETURN 1 END
GO
CREATE PROCEDURE dbo.wrong WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = READ COMMITTED, LANGUAGE = N'us_english') RETURN 1 END
GO
CREATE PROCEDURE dbo.wrong WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'klingon') RETURN 1 END
GO
CREATE PROCEDURE dbo.wrong AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english') RETURN 1 END
GO
CREATE PROCEDURE dbo.wrong WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    BEGIN TRANSACTION
    COMMIT
    SET NOCOUNT ON
    CREATE TABLE dbo.u (a int)
    WAITFOR DELAY '00:00:01'
    EXEC ('SELECT 1')
    USE master
END
GO
CREATE PROCEDURE dbo.wrong WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    SELECT * FROM dbo.t
    SELECT id FROM t
END
GO
CREATE PROCEDURE dbo.wrong WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    SELECT id FROM dbo.missing
END
GO
CREATE PROCEDURE dbo.ordinary AS RETURN 3
GO
CREATE PROCEDURE dbo.calls_ordinary WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    EXEC dbo.ordinary
END
GO
EXEC dbo.calls_ordinary
GO
SET TRANSACTION ISOLATION LEVEL SNAPSHOT
EXEC dbo.put 300, 1
GO
SET TRANSACTION ISOLATION LEVEL READ COMMITTED
GO
-- Functions and triggers.
CREATE FUNCTION dbo.sum_to (@n int) RETURNS bigint WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @i int = 1, @sum bigint = 0
    WHILE @i <= @n
    BEGIN
        SET @sum += @i
        SET @i += 1
    END
    RETURN @sum
END
GO
SELECT dbo.sum_to(10) AS ten, dbo.sum_to(NULL) AS none
BEGIN TRANSACTION
SELECT dbo.sum_to(100) AS hundred
COMMIT
GO
CREATE TABLE dbo.seen (n int IDENTITY PRIMARY KEY NONCLUSTERED, id int NOT NULL) WITH (MEMORY_OPTIMIZED = ON)
GO
CREATE TRIGGER dbo.t_seen ON dbo.t WITH NATIVE_COMPILATION, SCHEMABINDING AFTER INSERT AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    INSERT INTO dbo.seen (id) SELECT id FROM inserted
END
GO
INSERT INTO dbo.t (id) VALUES (500)
EXEC dbo.put 501, 1
EXEC dbo.put 502, 0
SELECT id FROM dbo.seen ORDER BY id
GO
-- An error in a trigger undoes the statement that has fired it, and all of its transaction.
CREATE TRIGGER dbo.t_checked ON dbo.t WITH NATIVE_COMPILATION, SCHEMABINDING AFTER UPDATE AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    INSERT INTO dbo.t (id, v) SELECT id, v FROM inserted
END
GO
UPDATE dbo.t SET v = -1 WHERE id = 500
GO
SELECT v, @@TRANCOUNT AS transactions FROM dbo.t WHERE id = 500
GO
BEGIN TRANSACTION
BEGIN TRY
    UPDATE dbo.t WITH (SNAPSHOT) SET v = -1 WHERE id = 500
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number, XACT_STATE() AS state
    ROLLBACK
END CATCH
SELECT v, @@TRANCOUNT AS transactions FROM dbo.t WHERE id = 500
GO
-- An error in a function is one of the statement that calls it.
CREATE FUNCTION dbo.part_of (@n int) RETURNS int WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    RETURN 100 / @n
END
GO
SELECT dbo.part_of(4) AS part
SELECT dbo.part_of(0) AS part
SELECT @@TRANCOUNT AS transactions, DATENAME(weekday, CONVERT(date, '20240301')) AS day
GO
-- What a block has inserted is found by its key at once, in the first turn of a loop and in later ones.
CREATE TABLE dbo.own (id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 8), v bigint NULL) WITH (MEMORY_OPTIMIZED = ON)
GO
CREATE PROCEDURE dbo.reads_own @found int OUTPUT, @missing int OUTPUT, @sum bigint OUTPUT WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @i int = 2000, @v bigint
    SELECT @found = 0, @missing = 0, @sum = 0
    WHILE @i < 2005
    BEGIN
        INSERT INTO dbo.own (id, v) VALUES (@i, @i * 2)
        SELECT @v = v FROM dbo.own WHERE id = @i
        SET @found += @@ROWCOUNT
        SET @sum += @v
        SELECT @v = v FROM dbo.own WHERE id = @i + 1
        IF @@ROWCOUNT = 0 SET @missing += 1
        UPDATE dbo.own SET v = -@i WHERE id = @i
        SELECT @v = v FROM dbo.own WHERE id = @i
        SET @sum += @v
        SET @i += 1
    END
END
GO
DECLARE @found int, @missing int, @sum bigint
EXEC dbo.reads_own @found OUTPUT, @missing OUTPUT, @sum OUTPUT
SELECT @found AS found, @missing AS missing, @sum AS sum
GO
-- Options that are said twice, or of no value that they have, and a view.
CREATE VIEW dbo.v WITH NATIVE_COMPILATION, SCHEMABINDING AS SELECT 1 AS a
GO
CREATE PROCEDURE dbo.twice WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, TRANSACTION ISOLATION LEVEL = SERIALIZABLE, LANGUAGE = N'us_english') RETURN 1 END
GO
CREATE PROCEDURE dbo.odd WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english', DELAYED_DURABILITY = MAYBE) RETURN 1 END
GO
-- Calls, and all runs of statements, are counted when somebody asks.
CREATE TABLE dbo.counted (id int NOT NULL PRIMARY KEY NONCLUSTERED, v int NULL) WITH (MEMORY_OPTIMIZED = ON)
GO
CREATE PROCEDURE dbo.count_me WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @i int = 0
    WHILE @i < 5 BEGIN UPDATE dbo.counted SET v = @i WHERE id = 1 SET @i += 1 END
END
GO
CREATE VIEW dbo.counts AS
SELECT (SELECT SUM(execution_count) FROM sys.dm_exec_procedure_stats WHERE object_id = OBJECT_ID('dbo.count_me')) AS calls,
    (SELECT SUM(s.execution_count) FROM sys.dm_exec_query_stats AS s CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t
     WHERE t.objectid = OBJECT_ID('dbo.count_me')) AS statements
GO
EXEC dbo.count_me
SELECT * FROM dbo.counts
DECLARE @before bit
EXEC sys.sp_xtp_control_proc_exec_stats @new_collection_value = 1, @old_collection_value = @before OUTPUT
SELECT @before AS before
EXEC dbo.count_me
EXEC dbo.count_me
SELECT * FROM dbo.counts
EXEC sys.sp_xtp_control_query_exec_stats @new_collection_value = 1, @old_collection_value = @before OUTPUT
SELECT @before AS before
EXEC dbo.count_me
SELECT * FROM dbo.counts
EXEC sys.sp_xtp_control_query_exec_stats @new_collection_value = 1, @database_id = 5
EXEC sys.sp_xtp_control_query_exec_stats 0
EXEC sys.sp_xtp_control_proc_exec_stats 0
EXEC sys.sp_xtp_control_proc_exec_stats @old_collection_value = @before OUTPUT
SELECT @before AS before
GO
-- Functions in statements about one row.
CREATE TABLE dbo.sevens (id int NOT NULL PRIMARY KEY NONCLUSTERED, v int NULL) WITH (MEMORY_OPTIMIZED = ON)
GO
CREATE FUNCTION dbo.next_seven (@x int) RETURNS int WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @r int = @x
    WHILE @r < 100 SET @r += 7
    RETURN @r
END
GO
CREATE PROCEDURE dbo.use_sevens WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @i int = 0, @v int, @sum int = 0
    WHILE @i < 5
    BEGIN
        INSERT dbo.sevens (id, v) VALUES (@i, dbo.next_seven(@i))
        UPDATE dbo.sevens SET v = dbo.next_seven(v - 50) + id WHERE id = @i
        SELECT @v = dbo.next_seven(v) FROM dbo.sevens WHERE id = @i
        SET @sum += @v
        SELECT @v = v FROM dbo.sevens WHERE id = dbo.next_seven(@i)
        DELETE dbo.sevens WHERE id = @i AND dbo.next_seven(v) > 107
        SET @i += 1
    END
    SELECT @sum AS sum, @v AS last
END
GO
EXEC dbo.use_sevens
SELECT * FROM dbo.sevens ORDER BY id
GO
