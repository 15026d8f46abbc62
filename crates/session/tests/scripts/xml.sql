-- The type xml: what is stored, where it converts to and from, and where it may not stand.
DECLARE @x xml = '<?xml version="1.0"?><r a=''1''>  <b></b>  <c>x &amp; y</c></r>'
SELECT @x AS x, CAST(@x AS varchar(100)) AS narrow, CONVERT(nvarchar(max), @x) AS wide, DATALENGTH(CAST('<a/>' AS xml)) AS bytes
SELECT CONVERT(xml, ' <a> <b/> </a> ', 1) AS kept, CONVERT(xml, ' <a> <b/> </a> ') AS dropped
SELECT CAST('one<a/>two' AS xml) AS fragment, CAST('' AS xml) AS nothing, CAST(NULL AS xml) AS absent
SELECT CAST(0xFFFE3C0061002F003E00 AS xml) AS units, CAST(CAST('<a>é</a>' AS xml) AS varbinary(max)) AS bytes
SELECT TRY_CAST('<a>' AS xml) AS none, TRY_CONVERT(xml, '<a/>') AS fine
GO
-- What is no XML, by number and place.
SELECT CAST('<a><b></a>' AS xml)
GO
SELECT CAST(N'<?xml version="1.0" encoding="utf-8"?><a/>' AS xml)
GO
SELECT CAST('<?xml version="1.0" encoding="utf-16"?><a/>' AS xml)
GO
SELECT CAST('<!DOCTYPE a><a/>' AS xml)
GO
SELECT CAST(REPLICATE(CAST('<a>' AS varchar(max)), 129) AS xml)
GO
DECLARE @x xml = '<a b="1" b="2"/>'
GO
SELECT CONVERT(xml, '<a/>', 7)
GO
SELECT CAST(CAST('<abc/>' AS xml) AS varchar(3))
GO
-- Conversions that there are not.
SELECT CAST(1 AS xml)
GO
SELECT CAST(CAST('<a/>' AS xml) AS int)
GO
DECLARE @s varchar(100) = CAST('<a/>' AS xml)
GO
DECLARE @x xml = 1
GO
DECLARE @v sql_variant = CAST('<a/>' AS xml)
GO
-- Columns.
CREATE TABLE documents (id int PRIMARY KEY, body xml NOT NULL DEFAULT '<empty/>', note xml)
INSERT documents (id, body) VALUES (1, '<a n="1"/>'), (2, N'<b>two</b>')
INSERT documents (id) VALUES (3)
INSERT documents SELECT 4, '<c>' + REPLICATE(CAST('0123456789' AS varchar(max)), 2000) + '</c>', NULL
UPDATE documents SET note = '<note/>' WHERE id = 2
SELECT id, LEFT(CAST(body AS varchar(max)), 20) AS body, DATALENGTH(body) AS bytes, note FROM documents ORDER BY id
SELECT COUNT(note) AS notes, COUNT(*) AS rows FROM documents
SELECT id FROM documents WHERE note IS NOT NULL
SELECT id, ISNULL(note, '<none/>') AS a, COALESCE(note, body) AS b, CASE WHEN id = 1 THEN body END AS c FROM documents WHERE id < 4
INSERT documents (id, body) VALUES (5, '<a>')
GO
INSERT documents (id, body) VALUES (6, NULL)
SELECT COUNT(*) AS rows FROM documents
GO
SELECT name, system_type_id, user_type_id, max_length, is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('documents')
SELECT name, system_type_id, max_length, precision, collation_name FROM sys.types WHERE name = 'xml'
SELECT COLUMN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'documents'
EXEC sp_describe_first_result_set N'SELECT body FROM documents'
GO
-- Not to be compared, ordered, grouped or indexed.
SELECT 1 FROM documents WHERE body = note
GO
SELECT 1 FROM documents WHERE body = '<a/>'
GO
SELECT id FROM documents ORDER BY body
GO
SELECT COUNT(*) FROM documents GROUP BY body
GO
SELECT DISTINCT body FROM documents
GO
SELECT body FROM documents UNION SELECT note FROM documents
GO
SELECT MAX(body) FROM documents
GO
SELECT COUNT(DISTINCT body) FROM documents
GO
SELECT LEN(body) FROM documents
GO
SELECT 1 FROM documents WHERE body LIKE '%a%'
GO
SELECT body + 'a' FROM documents
GO
CREATE INDEX by_body ON documents (body)
GO
CREATE TABLE keyed (x xml PRIMARY KEY)
GO
CREATE TABLE typed (x xml(collection))
GO
SELECT body FROM documents WHERE id = 1 UNION ALL SELECT note FROM documents WHERE id = 2
GO
-- Variables, parameters, results, tables of sessions and types.
CREATE PROCEDURE echo @in xml, @out xml OUTPUT AS SET @out = @in; SELECT @in AS seen
GO
DECLARE @o xml
EXEC echo '<p  q="1" ></p>', @o OUTPUT
SELECT @o AS out
EXEC echo '<p>', @o OUTPUT
GO
CREATE FUNCTION wrapped (@x xml) RETURNS xml AS BEGIN RETURN CAST('<w>' + CAST(@x AS nvarchar(max)) + '</w>' AS xml) END
GO
SELECT dbo.wrapped('<a/>') AS w
GO
CREATE TYPE list AS TABLE (x xml)
GO
DECLARE @t list
INSERT @t VALUES ('<a/>')
SELECT x FROM @t
CREATE TABLE #t (x xml)
INSERT #t SELECT x FROM @t
SELECT x FROM #t
SELECT x INTO copy FROM #t
SELECT x FROM copy
GO
CREATE VIEW shown AS SELECT id, body FROM documents
GO
SELECT body FROM shown WHERE id = 2
EXEC sp_executesql N'SELECT @x AS x', N'@x xml', N'<a><b/></a>'
GO
-- FOR XML
CREATE TABLE orders (id int, customer varchar(10)); CREATE TABLE lines (id int, number int, what varchar(10))
INSERT orders VALUES (1, 'a & b'), (2, NULL); INSERT lines VALUES (1, 1, 'x<y'), (1, 2, 'z')
SELECT id AS [@id], customer, (SELECT number AS [@n], what AS [text()] FROM lines WHERE lines.id = orders.id FOR XML PATH('line'), TYPE) AS lines
FROM orders ORDER BY id FOR XML PATH('order'), ROOT('orders')
SELECT id, (SELECT what FROM lines WHERE lines.id = orders.id FOR XML PATH(''), TYPE) FROM orders WHERE id = 1 FOR XML PATH, TYPE
DECLARE @x xml = (SELECT id, customer FROM orders FOR XML AUTO, TYPE)
SELECT @x AS x
SELECT id FROM orders WHERE id > 5 FOR XML RAW, TYPE
SELECT body, note FROM documents WHERE id = 2 FOR XML RAW
SELECT (SELECT what FROM lines FOR XML PATH('w')) AS escaped FOR XML PATH
GO
SELECT CAST('<a/>' AS xml) AS [@x] FOR XML PATH
GO
SELECT CAST('<a/>' AS xml) AS [text()] FOR XML PATH
GO
DROP VIEW shown; DROP TABLE documents, copy, orders, lines; DROP FUNCTION wrapped; DROP PROCEDURE echo; DROP TYPE list
GO
