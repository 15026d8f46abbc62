-- A date that is missing is 1900-01-01; parts that DATEDIFF does not count.
SELECT DATEDIFF(year, CAST('10:00' AS time), CAST('11:00' AS time)) AS y, DATEDIFF(day, CAST('10:00' AS time), CAST('1900-01-03' AS datetime2)) AS d,
    DATEDIFF(hour, CAST('10:00' AS time), CAST('12:30' AS time)) AS h
GO
SELECT DATEDIFF(iso_week, 0, 1)
GO
SELECT DATEDIFF_BIG(tzoffset, 0, 1)
GO
SELECT CAST(0xA7BC04A2 AS smalldatetime) AS bytes
GO
SELECT CAST(0xA7BC05A0 AS smalldatetime)
GO
-- Styles order what a text's digits do not; the younger types know when a text is in another.
SELECT CONVERT(date, '2003-04-05', 103) AS a, CONVERT(date, '2003.04.05', 104) AS b, CONVERT(date, '2003-04-05', 101) AS c,
    CONVERT(date, '20260513', 112) AS d, TRY_CONVERT(date, '05/13/2026', 112) AS e, CONVERT(date, '2026/05/13', 102) AS f
GO
SELECT CONVERT(date, '05/13/2026', 112)
GO
SELECT CONVERT(date, 'nope', 112)
GO
SELECT '[' + STR(99.99, 4, 1) + ']' AS a, '[' + STR(2.675, 5, 2) + ']' AS b, '[' + STR(0.45, 4, 1) + ']' AS c, '[' + STR(2.5, 1) + ']' AS d,
    '[' + STR(-2.5, 4) + ']' AS e, '[' + STR(-0.4, 2) + ']' AS f, '[' + STR(-CAST(0 AS float), 4) + ']' AS g, '[' + STR(-CAST(0 AS float), 1) + ']' AS h
SELECT '[' + STR(0.123456789012345678, 20, 16) + ']' AS a, '[' + STR(12345678901234567890.0, 25, 5) + ']' AS b,
    '[' + STR(1234567890123456.75e0, 25, 5) + ']' AS c, '[' + STR(1e308, 5) + ']' AS d, STR(1, 5, -1) AS e, '[' + STR(1.4, 5, NULL) + ']' AS f
SELECT '[' + STR(9.96, 3, 1) + ']' AS a, '[' + STR(9.5, 1) + ']' AS b, '[' + STR(123.45, 6, 1) + ']' AS c, '[' + STR(123.45, 2, 2) + ']' AS d,
    '[' + STR(0, 3) + ']' AS e, '[' + STR(0.05, 5, 1) + ']' AS f, '[' + STR(0.004, 5, 2) + ']' AS g, '[' + STR(999.999, 7, 2) + ']' AS h, STR(NULL) AS i
GO
SELECT SOUNDEX('Ashcraft') AS a, SOUNDEX('Burroughs') AS b, SOUNDEX('Schwartz') AS c, SOUNDEX('A-hc') AS d, SOUNDEX('Awwc') AS e, SOUNDEX('Smith') AS f
SELECT ISNUMERIC('\') AS a, ISNUMERIC('$.') AS b, ISNUMERIC('$') AS c, ISNUMERIC('+-') AS d, ISNUMERIC('') AS e, ISNUMERIC('1d10') AS f
SELECT CAST('1d2' AS float) AS a, CAST('1.5D-1' AS float) AS b, CAST(-CAST(0 AS float) AS varchar(10)) AS c, CAST(0e0 * -1 AS varchar(9)) AS d
GO
SELECT CAST('1e2d' AS float)
GO
SELECT CAST('d' AS float)
GO
-- The lowest int needs its sign.
SELECT SQL_VARIANT_PROPERTY(-2147483648, 'BaseType') AS lowest, -2147483648 - 1.5 AS beside
GO
SELECT -2147483648 - 1
GO
-- A row count in any order; a time to wait that is NULL.
SELECT g, COUNT(*) OVER (PARTITION BY g ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running,
    COUNT_BIG(*) OVER (PARTITION BY g RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS whole
FROM (VALUES (1), (1), (1), (2)) AS v(g) ORDER BY g, running
GO
SELECT SUM(g) OVER (ROWS UNBOUNDED PRECEDING) FROM (VALUES (1), (1)) AS v(g)
GO
DECLARE @t varchar(10)
WAITFOR DELAY @t
SELECT 'on' AS went
GO
-- ISNULL has the collation of its first argument.
CREATE TABLE #c (a varchar(10) COLLATE Latin1_General_CI_AS, b varchar(10) COLLATE Latin1_General_CS_AS)
INSERT #c VALUES (NULL, 'x'), ('y', 'z')
SELECT ISNULL(a, b) AS v FROM #c WHERE ISNULL(a, b) = 'X'
SELECT ISNULL(b, a) AS v FROM #c WHERE ISNULL(b, a) = 'X'
GO
