SELECT 1 + 2 * 3 - 4 / 5 % 6, (1 + 2) * 3, -(-1), - -1, +1, ~5, -a * b, a - (b - c), (a - b) - c, a / (b * c)
GO
SELECT a & b | c ^ d, a << 2, b >> 1, 'a' || 'b', 'a' + 'b'
GO
SELECT 1, 2147483647, 2147483648, 9223372036854775807, 12345678901234567890123456789012345678, 1.5, .5, 5., 0.000, 007, 1e5, 1.5E-3, .5e+2, $1.5, $-2, £3, $, 0x, 0xABC, 0xDEADBEEF
GO
SELECT 'it''s', N'it''s', '', N'', 'line
break', '日本語', NULL
GO
SELECT CASE WHEN a = 1 THEN 'one' WHEN a BETWEEN 2 AND 3 THEN 'few' ELSE 'many' END, CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 END FROM t
GO
SELECT CAST(a AS int), CAST('1' AS decimal(10, 2)), TRY_CAST(a AS datetime2(7)), CONVERT(varchar(10), a, 120), TRY_CONVERT(date, a), CONVERT(int, '5'), PARSE('1' AS money USING 'en-US'), TRY_PARSE('x' AS date)
GO
SELECT CAST(a AS double precision), CAST(a AS character varying(10)), CAST(a AS national char varying(5)), CAST(a AS nvarchar(max)), CAST(a AS xml(dbo.col)), CAST(a AS dbo.mytype), CAST(a AS char varying(3)), CAST(a AS national character(2)), CAST(a AS binary varying(4))
GO
SELECT IIF(a > b, a, b), COALESCE(a, b, 0), NULLIF(a, 0), ISNULL(a, ''), LEFT(a, 2), RIGHT(a, 2), CHOOSE(1, 'a', 'b')
GO
SELECT TRIM(a), TRIM('x' FROM a), TRIM(LEADING '0' FROM a), TRIM(TRAILING 'a' + 'b' FROM c), TRIM(BOTH 'q' FROM r), TRIM(both)
GO
SELECT JSON_OBJECT(), JSON_OBJECT('a':1, b + 'x':NULL), JSON_OBJECT('a':JSON_ARRAY(1, (SELECT 2)) ABSENT ON NULL), JSON_ARRAY(), JSON_ARRAY(a, NULL), JSON_ARRAY(a NULL ON NULL), JSON_ARRAY(NULL ON NULL), [JSON_ARRAY](1)
GO
SELECT dbo.f(1, DEFAULT), db.dbo.f(), [dbo].[g](a) AS b FROM t
GO
SELECT DATEADD(day, 1, a), DATEDIFF(second, a, b), DATEPART(dw, a), DATENAME(month, GETDATE())
GO
SELECT @@VERSION, @@SPID, @@ROWCOUNT, @@TRANCOUNT, @@IDENTITY, @@ERROR, @@SERVERNAME, @@FETCH_STATUS
GO
SELECT a COLLATE Latin1_General_BIN2, a AT TIME ZONE 'UTC' AT TIME ZONE @tz, (a + b) COLLATE database_default FROM t ORDER BY a COLLATE Latin1_General_CI_AS DESC
GO
SELECT (SELECT MAX(a) FROM t) + 1, (SELECT 1), ((SELECT 2)), ((SELECT 3) + 4), ((SELECT 1) UNION SELECT 2)
GO
SELECT NEXT VALUE FOR dbo.seq, NEXT VALUE FOR seq OVER (ORDER BY a) FROM t
GO
SELECT 1 WHERE a = 1 AND b <> 2 AND c != 3 AND d < 4 AND e <= 5 AND f > 6 AND g >= 7 AND h !< 8 AND i !> 9 AND j > = 10 AND k < > 11
GO
SELECT 1 FROM t WHERE a IS NULL AND b IS NOT NULL AND c IN (1, 2, 3) AND d NOT IN (SELECT x FROM u) AND e LIKE 'a%' AND f NOT LIKE '!%x' ESCAPE '!' AND g NOT BETWEEN 1 AND 2 AND h IS DISTINCT FROM 1 AND i IS NOT DISTINCT FROM NULL
GO
SELECT 1 FROM t WHERE a = ANY (SELECT 1) AND b > ALL (SELECT 2) AND c <= SOME (SELECT 3 UNION SELECT 4) AND EXISTS (SELECT * FROM u WHERE u.id = t.id) AND NOT EXISTS (SELECT 1 FROM v)
GO
SELECT 1 FROM t WHERE ((a)) = 1 AND (((b = 2))) AND (a + (b)) * 2 > (c) AND (SELECT 1) = (2) AND a IN ((SELECT 1)) AND b IN ((SELECT 1) UNION SELECT 2)
GO
SELECT 1 FROM t WHERE CONTAINS(a, 'x') AND CONTAINS((a, b), N'y') AND FREETEXT(*, 'z')
GO
SELECT 1 FROM t WHERE (a) BETWEEN (1) AND (2) AND NOT NOT a = 1 AND (a) IN (1) AND (a COLLATE x) = 'b' AND (a) COLLATE x LIKE 'c'
GO
SELECT [order], [group].[by], "select", [a]]b], "c""d", [from table].[where] FROM [my table]
GO
SELECT größe, _x, #x.a, a@b, a#b, a$b, 名前 FROM größen
GO
SELECT $identity, $rowguid, IDENTITYCOL FROM t
GO
SELECT a-1, a- -1, a+-b, a*-b, -a--comment
+ 1
GO
SELECT CHECKSUM(*), BINARY_CHECKSUM(a, b), COUNT_BIG(*), GROUPING(a), COUNT(ALL a) FROM t GROUP BY a
GO
SELECT CASE WHEN (CASE WHEN a = 1 THEN 1 ELSE 0 END) = 1 THEN (SELECT MAX(b) FROM t) ELSE NULLIF(COALESCE(a, b), IIF(c = d, 1, 2)) END
SELECT @g.STX, @g.STPointN(2).STX, (SELECT @g).STArea(), (@g).STSrid, geometry::Point(1, 2, 0).STAsText(), sys.hierarchyid::[Null], t.g.STArea(), t.g.STX FROM t
GO
SET @g.STSrid = 4326
GO
