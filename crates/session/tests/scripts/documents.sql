CREATE TABLE dbo.customer (id int PRIMARY KEY, name nvarchar(40) NOT NULL, city varchar(20) NULL, since date NULL);
CREATE TABLE dbo.ordered (id int PRIMARY KEY, customer int NOT NULL, amount decimal(9, 2), paid bit, at datetime2(3), note nvarchar(40));
INSERT dbo.customer VALUES (1, N'Ärger & Söhne', 'Köln', '2020-02-29'), (2, N'<b>"x"</b>', NULL, NULL), (3, N'a/b\c', '', '1999-12-31');
INSERT dbo.ordered VALUES (10, 1, 12.50, 1, '2021-03-04T05:06:07.089', N'tab	here'), (11, 1, 0.05, 0, '2021-03-04', NULL), (12, 3, NULL, NULL, NULL, N'');
GO
-- FOR JSON PATH
SELECT id, name, city FROM dbo.customer ORDER BY id FOR JSON PATH;
SELECT id, city AS [where.city], since AS [where.since], name FROM dbo.customer ORDER BY id FOR JSON PATH, ROOT('customers');
SELECT id, city AS [where.city] FROM dbo.customer ORDER BY id DESC FOR JSON PATH, INCLUDE_NULL_VALUES, WITHOUT_ARRAY_WRAPPER;
SELECT * FROM dbo.ordered ORDER BY id FOR JSON PATH;
SELECT 1.5e0 AS f, CAST(2.25 AS real) AS r, CAST(1234.5 AS money) AS m, 0x4142 AS b, CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier) AS g,
    CAST('10:11:12.5' AS time(3)) AS t, CAST('2020-01-01T00:00:00+02:00' AS datetimeoffset(0)) AS o, CAST('2020-01-01T10:11:12.123' AS datetime) AS d FOR JSON PATH, WITHOUT_ARRAY_WRAPPER;
SELECT c.id, (SELECT o.id, o.amount FROM dbo.ordered AS o WHERE o.customer = c.id ORDER BY o.id FOR JSON PATH) AS orders, JSON_QUERY('[1, 2]') AS list, '[1]' AS text
FROM dbo.customer AS c ORDER BY c.id FOR JSON PATH;
SELECT id FROM dbo.customer WHERE id > 5 FOR JSON PATH;
SELECT id FROM dbo.customer WHERE id > 5 FOR JSON PATH, ROOT;
DECLARE @j nvarchar(max) = (SELECT id FROM dbo.customer WHERE id > 5 FOR JSON PATH);
SELECT ISNULL(@j, 'none') AS none;
SET @j = (SELECT TOP (2) id FROM dbo.customer ORDER BY id DESC FOR JSON AUTO);
SELECT @j AS j;
SELECT city, COUNT(*) AS n FROM dbo.customer GROUP BY city ORDER BY city FOR JSON PATH, INCLUDE_NULL_VALUES;
GO
-- FOR JSON AUTO
SELECT id, name FROM dbo.customer ORDER BY id FOR JSON AUTO;
SELECT c.id, c.name, o.id AS number, o.amount FROM dbo.customer AS c LEFT JOIN dbo.ordered AS o ON o.customer = c.id ORDER BY c.id, o.id FOR JSON AUTO;
GO
SELECT 1 FOR JSON PATH;
GO
SELECT 1 AS a FOR JSON AUTO;
GO
SELECT 1 AS [a.b], 2 AS [a.b.c] FOR JSON PATH;
GO
SELECT 1 AS [a.b], 2 AS c, 3 AS [a.d] FOR JSON PATH;
GO
SELECT 1 AS a FOR JSON PATH, ROOT, WITHOUT_ARRAY_WRAPPER;
GO
SELECT 1 AS a FOR JSON RAW;
GO
-- FOR XML
SELECT id, name, city FROM dbo.customer ORDER BY id FOR XML RAW;
SELECT id, name, city FROM dbo.customer ORDER BY id FOR XML RAW('customer'), ELEMENTS, ROOT('all');
SELECT id, city FROM dbo.customer ORDER BY id FOR XML RAW, ELEMENTS XSINIL;
SELECT id AS [@id], name, city AS [address/city], since AS [address/since], 'x' AS [address/text()] FROM dbo.customer ORDER BY id FOR XML PATH('customer'), ROOT('customers');
SELECT STUFF((SELECT ', ' + name FROM dbo.customer ORDER BY id FOR XML PATH('')), 1, 2, '') AS list;
SELECT id AS [data()] FROM dbo.customer ORDER BY id FOR XML PATH('');
SELECT c.id, o.id AS number, o.amount FROM dbo.customer AS c JOIN dbo.ordered AS o ON o.customer = c.id ORDER BY c.id, o.id FOR XML AUTO;
SELECT c.id, o.id AS number FROM dbo.customer AS c JOIN dbo.ordered AS o ON o.customer = c.id ORDER BY c.id, o.id FOR XML AUTO, ELEMENTS, ROOT;
SELECT id AS [@id], (SELECT o.id AS [@number] FROM dbo.ordered AS o WHERE o.customer = c.id ORDER BY o.id FOR XML PATH('order'), TYPE) AS orders
FROM dbo.customer AS c ORDER BY id FOR XML PATH('customer');
SELECT CAST(1 AS bit) AS b, 0x4142 AS bin, CAST('2020-01-01T10:00:00' AS datetime) AS d, 1.5e0 AS f, N'a' + NCHAR(13) + NCHAR(1) AS t FOR XML PATH;
SELECT id FROM dbo.customer WHERE id > 5 FOR XML PATH;
SELECT id FROM dbo.customer WHERE id > 5 FOR XML PATH, ROOT('none');
GO
SELECT 1 FOR XML RAW;
GO
SELECT 1 AS a, 2 AS [@b] FOR XML PATH;
GO
SELECT 1 AS a FOR XML RAW('');
GO
SELECT 1 AS a FOR XML EXPLICIT;
GO
-- OPENJSON
SELECT * FROM OPENJSON(N'{"a":1,"b":"x\u00e4","c":null,"d":true,"e":[1, 2],"f":{"g":1.5}}');
SELECT [key], value FROM OPENJSON('[10,"b",{"c":1}]');
SELECT * FROM OPENJSON('{"a":{"b":[1,2,3]}}', '$.a.b');
SELECT * FROM OPENJSON('{"a":1}', '$.b');
SELECT * FROM OPENJSON(NULL);
SELECT * FROM OPENJSON('[{"id":1,"name":"one","inner":{"x":1.25,"list":[1]}},{"id":2,"when":"2020-02-03"}]')
WITH (id int, name nvarchar(10), x decimal(5, 2) '$.inner.x', list nvarchar(max) '$.inner.list' AS JSON, [when] date) AS j;
SELECT v FROM OPENJSON('[3,1,2]') WITH (v int '$') ORDER BY v;
SELECT SUM(CAST(value AS int)) AS total FROM OPENJSON('{"l":[1,2,3]}', 'strict $.l');
SELECT c.id, j.value FROM dbo.customer AS c CROSS APPLY OPENJSON(CONCAT('["', c.id, '",', c.id * 2, ']')) AS j ORDER BY c.id, j.[key];
DECLARE @doc nvarchar(max) = '{"ids":[1,3]}';
SELECT id FROM dbo.customer WHERE id IN (SELECT value FROM OPENJSON(@doc, '$.ids')) ORDER BY id;
SELECT * FROM OPENJSON('{"a":1}') WITH (a int, b int) AS j;
GO
SELECT * FROM OPENJSON('{"a":1', '$');
GO
SELECT * FROM OPENJSON('{"a":1}', 'strict $.b');
GO
SELECT * FROM OPENJSON('{"a":1}', 'strict $.a');
GO
SELECT * FROM OPENJSON('[{"a":1}]') WITH (b int 'strict $.b') AS j;
GO
SELECT * FROM OPENJSON('[{"a":1}]') WITH (a varchar(10) AS JSON) AS j;
GO
SELECT * FROM OPENJSON('[{"a":"x"}]') WITH (a int) AS j;
GO
SELECT * FROM OPENJSON(1);
GO
-- JSON_MODIFY and JSON_PATH_EXISTS
SELECT JSON_MODIFY(' {"a" : 1}  ', '$.a', 2) AS replaced, JSON_MODIFY('{}', '$.a', 'x/"y"') AS inserted, JSON_MODIFY('{ "a" : 1 }', '$.b', CAST(1 AS bit)) AS added,
    JSON_MODIFY('{"a":1, "b":2}', '$.a', NULL) AS first_gone, JSON_MODIFY('{"a":1, "b":2}', '$.b', NULL) AS last_gone, JSON_MODIFY('{"a":1}', 'strict $.a', NULL) AS made_null;
SELECT JSON_MODIFY('[1,2,3]', '$[1]', NULL) AS hole, JSON_MODIFY('[1,2,3]', '$[3]', 4) AS beyond, JSON_MODIFY('[1]', 'append $', 2) AS appended, JSON_MODIFY('{"a":[]}', 'append $.a', 'x') AS in_empty,
    JSON_MODIFY('{}', 'append $.a', 1) AS new_array, JSON_MODIFY('{"a":1}', 'append lax $.a', 1) AS no_array, JSON_MODIFY('{}', '$.x.y', 1) AS nowhere;
SELECT JSON_MODIFY('{}', '$.a', JSON_QUERY('[1, 2]')) AS raw, JSON_MODIFY('{}', '$.a', '[1, 2]') AS text, JSON_MODIFY(JSON_MODIFY('{}', '$.a', 1), '$.b', 2) AS twice, JSON_MODIFY(NULL, '$.a', 1) AS nothing;
SELECT JSON_PATH_EXISTS('{"a":[1]}', '$.a[0]') AS yes, JSON_PATH_EXISTS('{"a":[1]}', '$.b') AS no, JSON_PATH_EXISTS('x', '$.b') AS broken, JSON_PATH_EXISTS(NULL, '$') AS unknown;
GO
SELECT JSON_MODIFY('{}', 'strict $.a', 1);
GO
SELECT JSON_MODIFY('{"a":1}', 'append strict $.a', 1);
GO
SELECT JSON_MODIFY('{}', '$', 1);
GO
SELECT JSON_MODIFY('{"a":', '$.a', 1);
GO
SELECT JSON_MODIFY('{}', '$.a');
GO
-- Where documents do not belong.
SELECT id INTO dbo.copy FROM dbo.customer FOR JSON PATH;
GO
INSERT dbo.customer (id, name) SELECT 9, 'x' FOR XML RAW;
GO
DECLARE @id int;
SELECT @id = id FROM dbo.customer FOR XML PATH;
GO
SELECT id FROM dbo.customer FOR BROWSE;
GO
-- Set operations.
SELECT 1 AS a UNION ALL SELECT 2 ORDER BY a DESC FOR JSON PATH;
SELECT 'x' AS a UNION ALL SELECT 'y' ORDER BY a FOR XML RAW;
GO
SELECT 1 AS a UNION SELECT 2 FOR JSON AUTO;
GO
SELECT j.doc FROM (SELECT id FROM dbo.customer ORDER BY id FOR JSON PATH) AS j (doc);
GO
