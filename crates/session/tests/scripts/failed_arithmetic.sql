-- Without ARITHABORT and ANSI_WARNINGS arithmetic that fails is NULL, and a message says so.
SET ARITHABORT OFF;
SELECT 1 / 0 AS still_an_error;
GO
SET ANSI_WARNINGS OFF;
SELECT 1 / 0 AS quotient;
SELECT CAST(300 AS tinyint) AS small;
DECLARE @p tinyint = 10; SELECT @p = @p * 255; SELECT @p AS p;
SET @p = 256; SELECT @p AS p;
SELECT SQRT(-1) AS root, 1e308 * 10 AS large;
GO
CREATE TABLE #t (a int, b int NOT NULL);
INSERT #t VALUES (1 / 0, 1);
INSERT #t VALUES (2147483647, 2), (10, 0);
INSERT #t VALUES (1, 1 / 0);
GO
SELECT a, a + 1 AS more, 10 / b AS tenth FROM #t ORDER BY b;
SELECT a FROM #t WHERE 10 / b > 1 ORDER BY a;
UPDATE #t SET a = a * 10;
SELECT a, CASE WHEN 1 / b = 1 THEN 'one' ELSE 'other' END AS word, COALESCE(1 / b, -1) AS quotient FROM #t ORDER BY b;
IF 1 / 0 = 1 PRINT 'equal' ELSE PRINT 'unknown';
SET ARITHIGNORE ON;
SELECT 1 / 0 AS quotient;
SET ARITHIGNORE OFF;
GO
-- A procedure's own setting ends with it.
CREATE PROCEDURE #p AS SET ARITHABORT ON; SELECT 1 / 0 AS quotient;
GO
EXEC #p;
SELECT SESSIONPROPERTY('ARITHABORT') AS aborts, @@OPTIONS & 64 AS in_options;
SET ARITHABORT ON;
SELECT 1 / 0 AS quotient;
GO
SET ANSI_WARNINGS ON;
DROP TABLE #t;
GO
