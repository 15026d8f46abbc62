-- Methods of xml: value, query, exist, nodes and modify.
DECLARE @x xml = '<Root><ProductDescription ProductID="1" ProductName="Road Bike"><Features><Warranty>1 year parts and labor</Warranty><Maintenance>3 year parts and labor extended maintenance is available</Maintenance></Features></ProductDescription></Root>'
SELECT @x.value('(/Root/ProductDescription/@ProductID)[1]', 'int') AS id,
    @x.query('/Root/ProductDescription/Features') AS features,
    @x.exist('/Root/ProductDescription[@ProductID=1]') AS found, @x.exist('/Root/None') AS missing
SELECT T.c.query('.') AS warranty, T.c.value('local-name(.)', 'varchar(20)') AS name, T.c.value('../../@ProductName', 'varchar(20)') AS of_product
FROM @x.nodes('/Root/ProductDescription/Features/*') AS T(c)
SET @x.modify('insert <Material>Aluminium</Material> as first into (/Root/ProductDescription/Features)[1]')
SET @x.modify('replace value of (/Root/ProductDescription/@ProductID)[1] with 2')
SET @x.modify('delete /Root/ProductDescription/Features/Maintenance')
SELECT @x AS changed
GO
CREATE TABLE shop (id int PRIMARY KEY, body xml)
INSERT shop VALUES (1, '<s><i p="1.5">a</i><i p="2">b</i></s>'), (2, '<s><i p="10">c</i></s>'), (3, '<s/>'), (4, NULL)
SELECT id, i.n.value('@p', 'decimal(9,2)') AS p, i.n.value('.', 'char(1)') AS t FROM shop CROSS APPLY body.nodes('/s/i') AS i(n) ORDER BY id, p
SELECT shop.id, i.n.value('text()[1]', 'varchar(5)') AS t FROM shop OUTER APPLY shop.body.nodes('/s/i') AS i(n) ORDER BY shop.id, t
SELECT id, body.value('sum(/s/i/@p)', 'float') AS total, body.value('count(/s/i)', 'int') AS items, body.exist('/s/i[@p > 5]') AS dear FROM shop ORDER BY id
SELECT id FROM shop WHERE body.exist('/s/i[@p = sql:column("id")]') = 1
DECLARE @n int = 2
SELECT id, body.value('(/s/i)[sql:variable("@n")]', 'varchar(5)') AS second FROM shop WHERE body.exist('/s/i[sql:variable("@n")]') = 1
SELECT id, body.query('for $i in /s/i where $i/@p > 1.8 order by $i/@p descending return <item id="{sql:column("shop.id")}">{ $i/text() }</item>') AS q FROM shop WHERE id < 3
SELECT id, (SELECT COUNT(*) FROM shop.body.nodes('/s/i') AS i(n)) AS n FROM shop ORDER BY id
SELECT x.c.value('@p', 'float') AS p, y.d.query('.') AS t FROM shop CROSS APPLY body.nodes('/s') AS s(e) CROSS APPLY e.nodes('i') AS x(c) CROSS APPLY c.nodes('text()') AS y(d) WHERE id = 1
UPDATE shop SET body.modify('insert <new n="{sql:column("id")}"/> into (/s)[1]') WHERE body IS NOT NULL
UPDATE shop SET body.modify('delete /s/i[@p < 2]'), id = id + 10 WHERE id = 1
SELECT * FROM shop ORDER BY id
UPDATE s SET body.modify('replace value of (/s/new/@n)[1] with sql:column("o.factor")') FROM shop s JOIN (VALUES (2, 7)) o(id, factor) ON o.id = s.id
SELECT body FROM shop WHERE id = 2
SELECT CAST('<a><b>1</b></a>' AS xml).query('/a/b').value('(/b)[1]', 'int') AS chained, (SELECT 5 AS v FOR XML PATH('r'), TYPE).value('(/r/v)[1]', 'int') AS of_query
SELECT c.value('.', 'int') AS v FROM (VALUES (CAST('<a>3</a><a>4</a>' AS xml))) v(x) CROSS APPLY x.nodes('/a') AS t(c) WHERE c.exist('.[. > 3]') = 1
GO
-- Splitting a text, the way it was done before STRING_SPLIT.
DECLARE @s varchar(50) = 'one,two,three'
SELECT n.c.value('.', 'varchar(10)') AS part FROM (SELECT CAST('<i>' + REPLACE(@s, ',', '</i><i>') + '</i>' AS xml)) t(x) CROSS APPLY x.nodes('/i') AS n(c)
SELECT STUFF((SELECT ',' + v FROM (VALUES ('a<b'), ('c')) t(v) FOR XML PATH(''), TYPE).value('.', 'varchar(max)'), 1, 1, '') AS joined
GO
-- Namespaces
DECLARE @x xml = '<p:a xmlns:p="urn:p"><p:b>1</p:b><c xmlns="urn:d">2</c></p:a>'
SELECT @x.value('declare namespace q="urn:p"; (/q:a/q:b)[1]', 'int') AS b, @x.value('declare default element namespace "urn:d"; (//c)[1]', 'int') AS c,
    @x.query('/*/*[1]') AS made_up, @x.value('(/*:a/*:c)[1]', 'int') AS of_any
GO
-- What is refused, by number.
DECLARE @x xml = '<a><b>1</b></a>'; SELECT @x.value('/a/b', 'int')
GO
DECLARE @x xml = '<a/>'; SELECT @x.value('(/a)[1]', 'xml')
GO
DECLARE @x xml = '<a/>', @q varchar(10) = '/a'; SELECT @x.query(@q)
GO
DECLARE @x xml = '<a/>'; SELECT @x.value('(/a)[1]')
GO
DECLARE @x xml = '<a/>'; SELECT @x.nope('/a')
GO
DECLARE @x xml = '<a/>'; SELECT @x.modify('delete /a')
GO
DECLARE @x xml = '<a/>'; SET @x.query('/a')
GO
DECLARE @x int = 1; SELECT @x.query('/a')
GO
DECLARE @x xml; SET @x.modify('delete /a')
GO
DECLARE @x xml = '<a/>'; SELECT @x.query('sql:variable("@y")')
GO
DECLARE @x xml = '<a/>'; SELECT @x.query('/a/following::b')
GO
DECLARE @x xml = '<a/>'; SELECT @x.query('/a[')
GO
DECLARE @x xml = '<a/>'; SELECT c FROM @x.nodes('/a') AS t(c)
GO
DECLARE @x xml = '<a/>'; SELECT * FROM @x.nodes('/a') AS t(c)
GO
DECLARE @x xml = '<a/>'; SELECT 1 FROM @x.nodes('/a')
GO
SELECT body.value('/s/i', 'int') FROM shop
GO
CREATE TABLE checked (x xml, CHECK (x.exist('/a') = 1))
GO
DECLARE @x xml = '<a>x</a>'; SELECT @x.value('(/a)[1]', 'int')
GO
DROP TABLE shop
GO
-- Binaries, written in hexadecimal digits or in base 64.
DECLARE @x xml = '<a h="00ff7F">AP9/</a>', @h varchar(10) = '0aB1';
SELECT @x.value('xs:hexBinary((/a/@h)[1])', 'varbinary(9)') AS a, @x.value('xs:base64Binary((/a)[1])', 'varbinary(9)') AS b,
    CAST('' AS xml).value('xs:hexBinary(sql:variable("@h"))', 'varbinary(max)') AS c, CAST('' AS xml).value('xs:hexBinary(substring(sql:variable("@h"), 0))', 'binary(3)') AS d,
    @x.value('xs:hexBinary((/a/@h)[1])', 'varchar(9)') AS e, @x.value('xs:base64Binary(xs:hexBinary((/a/@h)[1]))', 'varchar(9)') AS f,
    @x.value('xs:hexBinary(xs:base64Binary((/a)[1]))', 'varchar(9)') AS g, @x.value('xs:hexBinary((/a)[1])', 'varbinary(9)') AS h, @x.value('(/a)[1] cast as xs:hexBinary?', 'varbinary(9)') AS i;
GO
GO
-- Characters that XML has not: neither in a query nor in what it makes of values from SQL; a value may have them.
DECLARE @call varchar(99) = 'DECLARE @x xml = ''<a/>''; SELECT @x.query(''<!--' + CHAR(1) + '-->'')'; EXEC (@call)
GO
DECLARE @x xml = '<a>b</a>', @bell varchar(9) = 'b' + CHAR(7);
SELECT @x.exist('/a[. = sql:variable("@bell")]') AS a, LEN(@x.value('sql:variable("@bell")', 'varchar(9)')) AS b;
SELECT @x.query('<c d="{sql:variable("@bell")}"/>')
GO
DECLARE @x xml = '<a>b</a>', @bell varchar(9) = 'b' + CHAR(7); SELECT @x.query('<c>{sql:variable("@bell")}</c>')
GO
DECLARE @x xml = '<a>b</a>', @bell varchar(9) = 'b' + CHAR(7); SELECT @x.query('sql:variable("@bell")')
GO
DECLARE @x xml = '<a>b</a>', @bell varchar(9) = 'b' + CHAR(7); SET @x.modify('replace value of (/a/text())[1] with sql:variable("@bell")')
