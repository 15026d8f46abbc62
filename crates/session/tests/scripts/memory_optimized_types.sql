-- Variables of memory-optimized table types: their rows are versions in memory, and what is done to them is as with other variables.
CREATE TYPE dbo.plain AS TABLE (id int NOT NULL PRIMARY KEY, name nvarchar(20) NULL, score decimal(9, 2) NOT NULL DEFAULT 1.5, INDEX by_name (name));
CREATE TYPE dbo.hashed AS TABLE (id int NOT NULL, name nvarchar(20) NULL, score decimal(9, 2) NOT NULL DEFAULT 1.5, INDEX by_id UNIQUE HASH (id) WITH (BUCKET_COUNT = 8), INDEX by_name (name)) WITH (MEMORY_OPTIMIZED = ON);
CREATE TYPE dbo.keyed AS TABLE (id int NOT NULL PRIMARY KEY NONCLUSTERED, name nvarchar(20) NULL, score decimal(9, 2) NOT NULL DEFAULT 1.5, CHECK (id < 1000)) WITH (MEMORY_OPTIMIZED = ON);
CREATE TYPE dbo.dealt AS TABLE (id int IDENTITY(10, 5) NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 16), note varchar(max) NULL, INDEX by_id (id DESC)) WITH (MEMORY_OPTIMIZED = ON);
CREATE TYPE dbo.on_disk AS TABLE (id int NOT NULL PRIMARY KEY) WITH (MEMORY_OPTIMIZED = OFF);
GO
SELECT name, is_memory_optimized FROM sys.table_types ORDER BY name;
GO
-- What such types do not have.
CREATE TYPE dbo.bare AS TABLE (id int NOT NULL) WITH (MEMORY_OPTIMIZED = ON);
GO
CREATE TYPE dbo.clusters AS TABLE (id int NOT NULL PRIMARY KEY CLUSTERED) WITH (MEMORY_OPTIMIZED = ON);
GO
CREATE TYPE dbo.unbounded AS TABLE (id int NOT NULL, INDEX h HASH (id)) WITH (MEMORY_OPTIMIZED = ON);
GO
CREATE TYPE dbo.of_xml AS TABLE (id int NOT NULL PRIMARY KEY NONCLUSTERED, doc xml) WITH (MEMORY_OPTIMIZED = ON);
GO
CREATE TYPE dbo.hash_on_disk AS TABLE (id int NOT NULL, INDEX h HASH (id) WITH (BUCKET_COUNT = 8));
GO
CREATE TYPE dbo.named AS TABLE (id int NOT NULL PRIMARY KEY NONCLUSTERED) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
GO
-- A statement that fails leaves the variable as it was; a rollback does not undo what others did.
DECLARE @h dbo.hashed;
INSERT @h (id, name) VALUES (1, N'one'), (2, N'two'), (3, NULL);
INSERT @h (id, name) VALUES (4, N'four'), (2, N'again');
SELECT COUNT(*) AS three FROM @h;
BEGIN TRAN;
UPDATE @h SET score += id WHERE id > 1;
INSERT @h (id, name, score) SELECT id + 10, name, score * 2 FROM @h;
DELETE @h WHERE id = 11;
ROLLBACK;
SELECT * FROM @h ORDER BY id;
UPDATE @h SET id = id + 1;
UPDATE @h SET id = 14 - id WHERE id < 10;
SELECT id, name FROM @h ORDER BY id DESC;
SELECT name FROM @h WHERE id = 10;
SELECT id FROM @h WHERE name = N'two' ORDER BY id;
DELETE @h;
SELECT COUNT(*) AS none FROM @h;
GO
DECLARE @k dbo.keyed, @d dbo.dealt, @h dbo.hashed;
INSERT @k (id) VALUES (999), (1000);
INSERT @k (id) OUTPUT inserted.id, inserted.score VALUES (5), (7);
INSERT @d (note) OUTPUT inserted.id INTO @h (id) SELECT REPLICATE(CAST('x' AS varchar(max)), 10000) FROM @k;
INSERT @k (id) SELECT id FROM @h;
SELECT id FROM @k ORDER BY id;
SELECT id, LEN(note) AS length FROM @d ORDER BY id;
SELECT SCOPE_IDENTITY() AS dealt;
UPDATE k SET name = s.name FROM @k AS k JOIN (VALUES (5, N'five'), (6, N'six')) AS s (id, name) ON k.id = s.id;
DELETE k OUTPUT deleted.id FROM @k AS k JOIN @d AS d ON d.id = k.id AND d.id > 10;
SELECT k.id, k.name, d.id AS dealt FROM @k AS k LEFT JOIN @d AS d ON d.id = k.id * 2 ORDER BY k.id;
INSERT @k (id, name) EXEC ('SELECT 50, N''fifty'' UNION ALL SELECT 51, NULL');
SELECT id, name FROM @k WHERE id >= 50 ORDER BY id;
DECLARE @id int, @sum int = 0;
DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT id FROM @k ORDER BY id;
OPEN c;
FETCH c INTO @id;
WHILE @@FETCH_STATUS = 0 BEGIN SET @sum += @id; FETCH c INTO @id; END;
SELECT @sum AS total;
GO
-- A batch in a loop, and what each turn leaves.
DECLARE @n int = 0;
DECLARE @k dbo.keyed;
WHILE @n < 5 BEGIN
    INSERT @k (id) VALUES (@n);
    IF @n % 2 = 0 DELETE @k WHERE id = @n;
    SET @n += 1;
END;
SELECT STRING_AGG(CAST(id AS varchar(10)), ',') WITHIN GROUP (ORDER BY id) AS odd FROM @k;
GO
-- Parameters.
CREATE PROCEDURE dbo.total @rows dbo.keyed READONLY, @level int AS
BEGIN
    DECLARE @inner dbo.keyed;
    INSERT @inner SELECT id + 100, name, score FROM @rows WHERE id + 100 < 1000;
    IF @level > 0 AND EXISTS (SELECT * FROM @inner)
    BEGIN
        SET @level -= 1;
        EXEC dbo.total @inner, @level;
    END;
    SELECT COUNT(*) AS rows, SUM(id) AS ids FROM @rows;
END;
GO
CREATE PROCEDURE dbo.change @rows dbo.keyed READONLY AS DELETE @rows;
GO
CREATE FUNCTION dbo.sum_of (@rows dbo.keyed READONLY) RETURNS int AS BEGIN RETURN (SELECT SUM(id) FROM @rows); END;
GO
DECLARE @k dbo.keyed;
INSERT @k (id) VALUES (1), (2), (3);
EXEC dbo.total @k, 2;
SELECT COUNT(*) AS kept FROM @k;
SELECT dbo.sum_of(@k) AS total;
EXEC dbo.total DEFAULT, 1;
GO
-- Natively compiled modules have variables of such types.
CREATE TABLE dbo.place (id int NOT NULL PRIMARY KEY NONCLUSTERED, name nvarchar(20) NULL) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
GO
CREATE PROCEDURE dbo.put @rows dbo.keyed READONLY WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @own dbo.keyed;
    INSERT @own (id, name) SELECT id + 1, name FROM @rows;
    INSERT dbo.place (id, name) SELECT id, name FROM @own;
    DELETE dbo.place WHERE id = 1;
END;
GO
DECLARE @k dbo.keyed;
INSERT @k (id, name) VALUES (0, N'zero'), (1, N'one');
EXEC dbo.put @k;
BEGIN TRY
    EXEC dbo.put @k;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number;
END CATCH;
SELECT id, name FROM dbo.place ORDER BY id;
SELECT COUNT(*) AS two FROM @k;
GO
-- The rows of variables leave no trace in the database.
DECLARE @k dbo.keyed;
INSERT @k (id) SELECT value FROM GENERATE_SERIES(1, 500);
SELECT COUNT(*) AS rows FROM @k AS a JOIN @k AS b ON b.id = a.id + 1;
GO
SELECT COUNT(*) AS tables FROM sys.tables WHERE is_memory_optimized = 1;
DROP TYPE dbo.keyed;
GO
DROP PROCEDURE dbo.total, dbo.put;
DROP FUNCTION dbo.sum_of;
DROP TYPE dbo.keyed;
DROP TYPE dbo.hashed;
SELECT name FROM sys.table_types ORDER BY name;
GO
