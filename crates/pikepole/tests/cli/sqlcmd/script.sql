CREATE TABLE #t (id int NOT NULL CONSTRAINT pk_t PRIMARY KEY, name varchar(10))
INSERT #t VALUES (1, 'one'), (2, NULL)
UPDATE #t SET name = 'x' WHERE id = 5
SELECT id, name FROM #t
SELECT COUNT(*) FROM #t
GO
USE tempdb
PRINT 'what PRINT says'
RAISERROR ('severity %d', 10, 3, 10)
RAISERROR ('severity %d', 5, 3, 5)
RAISERROR ('severity %d', 16, 3, 16)
GO
SELECT * FROM nowhere
GO
SELECT 1 / (2 - value) AS x FROM GENERATE_SERIES(1, 3)
PRINT 'after'
GO
CREATE PROCEDURE #p AS
BEGIN
    SET NOCOUNT ON
    SELECT 1 AS a
    SELECT 2 AS b
    PRINT 'between'
    INSERT #t VALUES (1, 'again')
    RETURN 3
END
GO
EXEC #p
GO
SELECT FROM t
GO 2
DROP TABLE #t
