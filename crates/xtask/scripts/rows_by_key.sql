-- Rows of in-memory tables, looked up and changed by their keys in natively compiled procedures.
ALTER DATABASE CURRENT SET DELAYED_DURABILITY = FORCED;
GO
CREATE TABLE dbo.hashed (id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 100000), v bigint NOT NULL, s varchar(20) NOT NULL)
WITH (MEMORY_OPTIMIZED = ON);
CREATE TABLE dbo.ordered (id int NOT NULL PRIMARY KEY NONCLUSTERED, v bigint NOT NULL, s varchar(20) NOT NULL, INDEX by_s (s))
WITH (MEMORY_OPTIMIZED = ON);
GO
INSERT dbo.hashed SELECT value, value, 'row' FROM GENERATE_SERIES(1, 100000);
INSERT dbo.ordered SELECT value, value, CONCAT('row ', value % 1000) FROM GENERATE_SERIES(1, 100000);
GO
CREATE PROCEDURE dbo.look_up @rows int, @from int WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @i int = 0, @k int = @from, @v bigint, @sum bigint = 0;
    WHILE @i < @rows
    BEGIN
        SET @k = (@k * 1103 + 12345) % 100000 + 1;
        SELECT @v = v FROM dbo.hashed WHERE id = @k;
        SET @sum += @v;
        SELECT @v = v FROM dbo.ordered WHERE id = @k;
        SET @sum += @v;
        SET @i += 1;
    END;
END;
GO
CREATE PROCEDURE dbo.change @rows int, @from int WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @i int = 0, @k int = @from;
    WHILE @i < @rows
    BEGIN
        SET @k = (@k * 1103 + 12345) % 100000 + 1;
        UPDATE dbo.hashed SET v = v + 1 WHERE id = @k;
        UPDATE dbo.ordered SET v = v + 1, s = 'other' WHERE id = @k;
        DELETE dbo.ordered WHERE id = @k + 200000;
        SET @i += 1;
    END;
END;
GO
DECLARE @turn int = 0;
WHILE @turn < 200
BEGIN
    EXEC dbo.look_up 1000, @turn;
    EXEC dbo.change 500, @turn;
    SET @turn += 1;
END;
GO
