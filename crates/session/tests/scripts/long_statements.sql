-- Statements as programs write them: thousands of operators, values, conditions and queries in one text. None of them is walked by
-- recursion, so none is too deep.
CREATE TABLE t (a int, b decimal(9, 2), s varchar(10), d datetime);
INSERT t VALUES (1, 2.50, 'x', '2026-01-01');
GO
-- Constants, of each kind.
DECLARE @q nvarchar(max) = N'SELECT 1' + REPLICATE(CONVERT(nvarchar(max), N' + 1'), 599);
EXEC (@q);
SET @q = N'SELECT 1' + REPLICATE(CONVERT(nvarchar(max), N' + 1'), 9999);
EXEC (@q);
SET @q = N'SELECT LEN(''a''' + REPLICATE(CONVERT(nvarchar(max), N' + ''a'''), 9999) + N')';
EXEC (@q);
SET @q = N'SELECT LEN(CONVERT(varchar(max), ''a'')' + REPLICATE(CONVERT(nvarchar(max), N' + ''a'''), 9999) + N')';
EXEC (@q);
GO
-- Columns and variables, which are not known before the statement runs; mixed operators go from left to right.
DECLARE @q nvarchar(max) = N'SELECT a' + REPLICATE(CONVERT(nvarchar(max), N' + a - 1 + a'), 3333) + N' AS a FROM t';
EXEC (@q);
SET @q = N'SELECT b' + REPLICATE(CONVERT(nvarchar(max), N' + b'), 9999) + N' AS b FROM t';
EXEC (@q);
SET @q = N'SELECT LEN(s' + REPLICATE(CONVERT(nvarchar(max), N' + s'), 9999) + N'), LEN(s + CONVERT(varchar(max), s)' +
    REPLICATE(CONVERT(nvarchar(max), N' + s'), 9998) + N') FROM t';
EXEC (@q);
SET @q = N'SELECT d' + REPLICATE(CONVERT(nvarchar(max), N' + a'), 9999) + N' AS d FROM t';
EXEC (@q);
SET @q = N'SELECT a' + REPLICATE(CONVERT(nvarchar(max), N' * a'), 9999) + N', a' + REPLICATE(CONVERT(nvarchar(max), N' | 2 ^ a & 3'), 3333) + N' FROM t';
EXEC (@q);
SET @q = N'SELECT COUNT(*) FROM t WHERE a' + REPLICATE(CONVERT(nvarchar(max), N' + a'), 9999) + N' = 10000';
EXEC (@q);
-- A chain within a chain within a chain.
DECLARE @c nvarchar(max) = N'(a' + REPLICATE(CONVERT(nvarchar(max), N' + a'), 299) + N')';
SET @c = N'(' + @c + REPLICATE(N' - 2 * ' + @c, 99) + N')';
SET @q = N'SELECT a' + REPLICATE(CONVERT(nvarchar(max), N' + a'), 199) + N' + ' + @c + N' + a FROM t';
EXEC (@q);
GO
-- An error in the middle is an error, and its line is known.
DECLARE @q nvarchar(max) = N'SELECT a' + REPLICATE(CONVERT(nvarchar(max), N' + 2147483'), 9999) + N' FROM t';
EXEC (@q);
SET @q = N'SELECT a' + REPLICATE(CONVERT(nvarchar(max), N' + a'), 999) + N' + NULL + a AS n FROM t';
EXEC (@q);
SET @q = N'SELECT a' + REPLICATE(CONVERT(nvarchar(max), N' + a'), 999) + CONVERT(nvarchar(max), NCHAR(10)) + N' + nothing FROM t';
EXEC (@q);
GO
-- The beginning of a chain may be what is grouped by.
DECLARE @k nvarchar(max) = N'a' + REPLICATE(CONVERT(nvarchar(max), N' + a'), 299);
DECLARE @q nvarchar(max) = N'SELECT ' + @k + N' + COUNT(*) + 1 FROM t GROUP BY ' + @k;
EXEC (@q);
SET @q = N'SELECT ' + @k + N' + a FROM t GROUP BY ' + @k;
EXEC (@q);
GO
-- Conditions, lists and queries.
DECLARE @q nvarchar(max) = N'SELECT COUNT(*) FROM t WHERE a = 7' + REPLICATE(CONVERT(nvarchar(max), N' OR a = 2'), 9999) + N' OR a = 1';
EXEC (@q);
SET @q = N'SELECT COUNT(*) FROM t WHERE a <> 7' + REPLICATE(CONVERT(nvarchar(max), N' AND a <> 2'), 9999);
EXEC (@q);
SET @q = N'SELECT COUNT(*) FROM t WHERE a IN (9' + REPLICATE(CONVERT(nvarchar(max), N', 2'), 49998) + N', 1)';
EXEC (@q);
SET @q = N'SELECT COUNT(*) FROM t WHERE a IN (a + 1' + REPLICATE(CONVERT(nvarchar(max), N', a + 2'), 49998) + N', a)';
EXEC (@q);
SET @q = N'SELECT COUNT(*), SUM(x) FROM (SELECT 1 AS x' + REPLICATE(CONVERT(nvarchar(max), N' UNION ALL SELECT 1'), 4999) + N') AS u';
EXEC (@q);
SET @q = N'SELECT COUNT(*), SUM(x) FROM (SELECT a AS x FROM t' + REPLICATE(CONVERT(nvarchar(max), N' UNION ALL SELECT a FROM t'), 4999) + N') AS u';
EXEC (@q);
SET @q = N'SELECT COUNT(*) FROM (SELECT 1 AS x' + REPLICATE(CONVERT(nvarchar(max), N' UNION SELECT 1'), 1999) + N') AS u';
EXEC (@q);
SET @q = N'SELECT CASE a WHEN 0 THEN 0' + REPLICATE(CONVERT(nvarchar(max), N' WHEN 2 THEN 2'), 4999) + N' ELSE 3 END FROM t';
EXEC (@q);
SET @q = N'SELECT COALESCE(NULLIF(a, 1)' + REPLICATE(CONVERT(nvarchar(max), N', NULLIF(a, 1)'), 4999) + N', 4) FROM t';
EXEC (@q);
SET @q = N'SELECT LEN(CONCAT(s' + REPLICATE(CONVERT(nvarchar(max), N', s'), 252) + N')) FROM t';
EXEC (@q);
GO
-- What is stored is read again: a computed column, a CHECK constraint, a view, a function.
DECLARE @q nvarchar(max) = N'CREATE TABLE c (a int, b AS a' + REPLICATE(CONVERT(nvarchar(max), N' + a'), 999) +
    N', CHECK (a' + REPLICATE(CONVERT(nvarchar(max), N' + a'), 999) + N' > 0))';
EXEC (@q);
INSERT c VALUES (2);
INSERT c VALUES (-2);
SELECT a, b FROM c;
SET @q = N'CREATE VIEW v AS SELECT a' + REPLICATE(CONVERT(nvarchar(max), N' + a'), 999) + N' AS x FROM t';
EXEC (@q);
SELECT x FROM v WHERE x > 5;
SET @q = N'CREATE FUNCTION f (@a int) RETURNS int AS BEGIN RETURN @a' + REPLICATE(CONVERT(nvarchar(max), N' + @a'), 999) + N' END';
EXEC (@q);
SELECT dbo.f(3), dbo.f(a) FROM t;
GO
