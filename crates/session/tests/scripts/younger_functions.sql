-- DATE_BUCKET.
DECLARE @d datetime2(0) = '2020-04-15 21:22:11'
SELECT DATE_BUCKET(week, 1, @d) AS week, DATE_BUCKET(day, 1, @d) AS day, DATE_BUCKET(month, 1, @d) AS month, DATE_BUCKET(quarter, 1, @d) AS quarter, DATE_BUCKET(year, 1, @d) AS year
SELECT DATE_BUCKET(hour, 5, @d) AS hours, DATE_BUCKET(minute, 15, @d) AS minutes, DATE_BUCKET(second, 60, @d) AS seconds, DATE_BUCKET(month, 5, @d) AS months
DECLARE @origin datetime2(0) = '2020-01-31 12:00'
SELECT DATE_BUCKET(month, 1, @d, @origin) AS months, DATE_BUCKET(day, 7, @d, @origin) AS days, DATE_BUCKET(week, 1, CAST('2020-01-30' AS datetime2(0)), @origin) AS before
SELECT DATE_BUCKET(day, 10, CAST('2020-04-15' AS date)) AS date, DATE_BUCKET(minute, 30, CAST('10:40' AS time(0))) AS time, DATE_BUCKET(hour, 6, CAST('2020-04-15 10:40 +02:00' AS datetimeoffset(0))) AS far
SELECT DATE_BUCKET(day, 1, CAST(NULL AS date)) AS nothing
GO
SELECT DATE_BUCKET(day, 0, GETDATE()) AS wrong
GO
SELECT DATE_BUCKET(hour, 1, CAST('2020-04-15' AS date)) AS wrong
GO
SELECT DATE_BUCKET(nanosecond, 1, GETDATE()) AS wrong
GO
-- JSON_OBJECT, JSON_ARRAY, ISJSON with a type.
SELECT JSON_OBJECT() AS empty, JSON_OBJECT('a':1, 'b':NULL, 'c':'x"/y') AS plain, JSON_OBJECT('a':1, 'b':NULL ABSENT ON NULL) AS absent
SELECT JSON_ARRAY() AS empty, JSON_ARRAY(1, NULL, 'x', CAST(1 AS bit), CAST('2020-01-02' AS date), 1.50) AS plain, JSON_ARRAY(1, NULL NULL ON NULL) AS with_null
SELECT JSON_OBJECT('list':JSON_ARRAY(1, JSON_OBJECT('in':2)), 'query':JSON_QUERY('{"x":[1]}'), 'text':'[1]') AS nested
SELECT JSON_OBJECT('name':name, 'id':object_id * 0) AS rows FROM sys.objects WHERE name = 'none' UNION ALL SELECT JSON_ARRAY(COUNT(*), MAX(n)) FROM (VALUES (1), (2)) AS v (n)
SELECT JSON_ARRAY(1, 2) AS inner_list FOR JSON PATH
SELECT ISJSON('{}') AS a, ISJSON('1') AS b, ISJSON('1', VALUE) AS c, ISJSON('"x"', SCALAR) AS d, ISJSON('true', SCALAR) AS e, ISJSON('true', VALUE) AS f, ISJSON('[1]', ARRAY) AS g, ISJSON('[1]', OBJECT) AS h, ISJSON('x', VALUE) AS i, ISJSON(NULL, ARRAY) AS j
GO
SELECT ISJSON('{}', THING) AS wrong
GO
SELECT JSON_OBJECT(NULL:1) AS wrong
GO
CREATE TABLE dbo.j (a int, b AS JSON_OBJECT('a':a), c nvarchar(max) CONSTRAINT df_j DEFAULT JSON_ARRAY(1, 2 NULL ON NULL))
INSERT dbo.j (a) VALUES (5)
SELECT b, c FROM dbo.j
SELECT definition FROM sys.computed_columns UNION ALL SELECT definition FROM sys.default_constraints
GO
-- COMPRESS and DECOMPRESS.
SELECT CAST(DECOMPRESS(COMPRESS('hello')) AS varchar(10)) AS narrow, CAST(DECOMPRESS(COMPRESS(N'grün')) AS nvarchar(10)) AS wide, DECOMPRESS(COMPRESS(0x0102)) AS bytes, COMPRESS(NULL) AS nothing
SELECT SUBSTRING(COMPRESS('x'), 1, 3) AS head, CASE WHEN DATALENGTH(COMPRESS(REPLICATE(CAST('ab' AS varchar(max)), 50000))) < 1000 THEN 'small' ELSE 'large' END AS size
SELECT CAST(DECOMPRESS(0x1F8B080000000000020333340000E1255DA102000000) AS varchar(10)) AS made_elsewhere
GO
SELECT DECOMPRESS(0x00) AS wrong
GO
SELECT COMPRESS(1) AS wrong
GO
-- FORMATMESSAGE.
SELECT FORMATMESSAGE('%s has %d of %5.2s|', 'it', 3, 'abc') AS text, FORMATMESSAGE('%x %%', 255) AS hex, FORMATMESSAGE('none %s') AS missing, FORMATMESSAGE(60000, 1) AS unknown, FORMATMESSAGE(CAST(NULL AS varchar(10))) AS nothing
GO
SELECT FORMATMESSAGE('%d', 'x') AS wrong
GO
-- PARSE and TRY_PARSE: as people of a culture write.
SELECT PARSE('1,234' AS int) AS n, PARSE(' -1,234.50 ' AS decimal(9, 2)) AS d, PARSE('$12.5' AS money) AS m, PARSE('(3)' AS money) AS owed, PARSE('1.5e3' AS float) AS f, PARSE('12.00' AS int) AS whole
SELECT PARSE('1.234,50' AS decimal(9, 2) USING 'de-DE') AS german, PARSE(N'345,98€' AS money USING 'fr-FR') AS french, PARSE(N'£5' AS money USING 'en-gb') AS british
SELECT PARSE('Monday, 13 December 2010' AS datetime2(0) USING 'en-US') AS named, PARSE('13/12/2010' AS date USING 'en-GB') AS day_first, PARSE(N'3 März 2020' AS date USING 'de-DE') AS german, PARSE('10:30 PM' AS time(0)) AS time
SELECT TRY_PARSE('x' AS int) AS n, TRY_PARSE('13/12/2010' AS date USING 'en-US') AS d, TRY_PARSE('1,5' AS decimal(5, 1) USING 'es-ES') AS es, TRY_PARSE('$1' AS int) AS sign, TRY_PARSE('300' AS tinyint) AS large, PARSE(CAST(NULL AS varchar(5)) AS int) AS nothing
SET LANGUAGE Deutsch
SELECT PARSE('1,5' AS decimal(5, 1)) AS own, PARSE('4 Mai 2020' AS date) AS day
SET LANGUAGE us_english
GO
SELECT PARSE('x' AS int) AS wrong
GO
SELECT PARSE('1' AS int USING 'xx-YY') AS wrong
GO
SELECT PARSE('1' AS varchar(5)) AS wrong
GO
-- GENERATE_SERIES of decimals.
DECLARE @from decimal(3, 1) = 0.0, @to decimal(3, 1) = 1.0, @by decimal(3, 1) = 0.3
SELECT value FROM GENERATE_SERIES(@from, @to, @by)
SELECT value FROM GENERATE_SERIES(@to, @from, -@by) AS s
SELECT COUNT(*) AS n, MIN(value) AS first, MAX(value) AS last, SQL_VARIANT_PROPERTY(MAX(CAST(value AS sql_variant)), 'Scale') AS scale FROM GENERATE_SERIES(1.5, 4.2)
SELECT value FROM GENERATE_SERIES(4.2, 2.1)
SELECT t.n, s.value FROM (VALUES (1.5), (2.5)) AS t (n) CROSS APPLY GENERATE_SERIES(1.5, t.n) AS s
SELECT COUNT(*) AS none FROM GENERATE_SERIES(@from, CAST(NULL AS decimal(3, 1)))
GO
SELECT value FROM GENERATE_SERIES(1.5, 2.5, 0.0)
GO
SELECT value FROM GENERATE_SERIES(1.5, 2)
GO
