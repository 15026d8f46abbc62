-- A sort under TOP keeps the first rows alone: they are those that a sort of all rows gives first, in its order.
CREATE TABLE dbo.heap_of (id int NOT NULL PRIMARY KEY, k int NULL, t varchar(20) NOT NULL);
INSERT dbo.heap_of SELECT value, CASE WHEN value % 97 = 0 THEN NULL ELSE value * 7919 % 331 END, CONCAT('row ', value * 31 % 1009) FROM GENERATE_SERIES(1, 5000);
CREATE TABLE dbo.differs (n int NOT NULL, what varchar(20) NOT NULL, id int NOT NULL);
DECLARE @n int = 1;
WHILE @n < 6000
BEGIN
    WITH few AS (SELECT TOP (@n) id, k, t FROM dbo.heap_of ORDER BY k DESC, t, id),
        all_of AS (SELECT id, ROW_NUMBER() OVER (ORDER BY k DESC, t, id) AS place FROM dbo.heap_of)
    INSERT dbo.differs SELECT @n, 'first', COALESCE(few.id, own.id)
    FROM few FULL JOIN (SELECT id FROM all_of WHERE place <= @n) AS own ON own.id = few.id WHERE few.id IS NULL OR own.id IS NULL;
    WITH few AS (SELECT id, k, t FROM dbo.heap_of ORDER BY t DESC, id OFFSET 10 ROWS FETCH NEXT (@n) ROWS ONLY),
        all_of AS (SELECT id, ROW_NUMBER() OVER (ORDER BY t DESC, id) AS place FROM dbo.heap_of)
    INSERT dbo.differs SELECT @n, 'page', COALESCE(few.id, own.id)
    FROM few FULL JOIN (SELECT id FROM all_of WHERE place BETWEEN 11 AND @n + 10) AS own ON own.id = few.id WHERE few.id IS NULL OR own.id IS NULL;
    SET @n = @n * 2 + 1;
END;
SELECT COUNT(*) AS differences FROM dbo.differs;
SELECT TOP 5 id, k FROM dbo.heap_of ORDER BY k;
SELECT TOP 5 id, k FROM dbo.heap_of ORDER BY k DESC, id DESC;
SELECT TOP 0 id FROM dbo.heap_of ORDER BY k;
-- As often as it is asked, and each time anew.
SELECT f.value, x.id, x.k FROM (VALUES (3), (1), (2)) AS f (value) CROSS APPLY (SELECT TOP (f.value) id, k FROM dbo.heap_of WHERE k % 3 = f.value % 3 ORDER BY k DESC, id) AS x ORDER BY f.value, x.id;
DROP TABLE dbo.heap_of, dbo.differs;
