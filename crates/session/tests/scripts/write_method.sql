-- UPDATE ... SET column.WRITE(value, offset, length).
CREATE TABLE t (k int PRIMARY KEY, a varchar(max), n nvarchar(max), b varbinary(max), short varchar(10));
INSERT t VALUES (1, 'abcdef', N'日本語テキスト', 0x010203040506, 'x'), (2, NULL, NULL, NULL, NULL);
GO
UPDATE t SET a.WRITE('XY', 1, 2), n.WRITE(N'-', 3, 0), b.WRITE(0xFF, 2, 3) WHERE k = 1;
SELECT a, n, b FROM t WHERE k = 1;
-- To the end, appended, cut.
UPDATE t SET a.WRITE('!', 4, NULL), n.WRITE(N'。', NULL, 5), b.WRITE(NULL, 1, 7) WHERE k = 1;
SELECT a, n, b FROM t WHERE k = 1;
UPDATE t SET a.WRITE(NULL, NULL, NULL) OUTPUT deleted.a, inserted.a WHERE k = 1;
UPDATE t SET a.WRITE('1234567', 0, 100) WHERE k = 1;
UPDATE x SET a.WRITE(s.part, 2, 1) FROM t AS x JOIN (VALUES (1, 'joined')) AS s (k, part) ON s.k = x.k;
SELECT a FROM t WHERE k = 1;
GO
-- A value of several pages.
UPDATE t SET a = REPLICATE(CAST('z' AS varchar(max)), 50000) WHERE k = 1;
UPDATE t SET a.WRITE('middle', 25000, 6) WHERE k = 1;
SELECT LEN(a) AS length, SUBSTRING(a, 24999, 10) AS middle FROM t WHERE k = 1;
UPDATE t SET a.WRITE('end', NULL, NULL) WHERE k = 1;
SELECT LEN(a) AS length, RIGHT(a, 4) AS tail FROM t WHERE k = 1;
GO
UPDATE t SET a.WRITE('x', 0, 1) WHERE k = 2;
GO
UPDATE t SET a.WRITE('x', 60000, 1) WHERE k = 1;
GO
UPDATE t SET a.WRITE('x', -1, 1) WHERE k = 1;
GO
UPDATE t SET a.WRITE('x', 0, -1) WHERE k = 1;
GO
UPDATE t SET short.WRITE('x', 0, 1) WHERE k = 1;
GO
UPDATE t SET nope.WRITE('x', 0, 1) WHERE k = 1;
GO
