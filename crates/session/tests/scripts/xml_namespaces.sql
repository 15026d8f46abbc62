-- What prefixes stand for, in documents and in queries of xml.
CREATE TABLE part (id int NOT NULL PRIMARY KEY, name nvarchar(20) NULL, colour varchar(9) NULL);
INSERT INTO part VALUES (316, N'Blade', NULL), (317, N'Crankarm', 'Black');
GO
WITH XMLNAMESPACES ('uri1' AS n1, 'uri2' AS n2, DEFAULT 'uri2')
SELECT id, name, colour FROM part FOR XML RAW ('n1:part'), ROOT ('n2:root'), ELEMENTS
GO
WITH XMLNAMESPACES ('u&"v"' AS p) SELECT id AS 'p:id', name AS 'p:name' FROM part FOR XML RAW ('p:part'), ELEMENTS
GO
WITH XMLNAMESPACES (DEFAULT 'd', 'u' AS p) SELECT id, colour FROM part FOR XML AUTO, ELEMENTS XSINIL
GO
WITH XMLNAMESPACES ('u' AS p) SELECT id AS '@p:id', name AS 'p:a/p:b', colour AS 'p:a/c' FROM part FOR XML PATH ('p:row')
GO
-- Without an element for the row, its own are the outermost; text has none.
WITH XMLNAMESPACES ('u' AS p) SELECT id, name AS 'a/b', colour FROM part FOR XML PATH (''), ELEMENTS XSINIL
GO
WITH XMLNAMESPACES ('u' AS p) SELECT 'text' FOR XML PATH ('')
GO
-- A document within another declares its own again; JSON has none.
WITH XMLNAMESPACES ('u' AS p), first (id) AS (SELECT MIN(id) FROM part)
SELECT id, (SELECT name FROM part WHERE part.id = first.id FOR XML PATH ('p:inner'), TYPE) FROM first FOR XML PATH ('outer')
GO
WITH XMLNAMESPACES ('u' AS p) SELECT id FROM part FOR JSON PATH
GO
-- Queries of xml know them, whatever the statement; a view does not know those of the statement that reads it.
DECLARE @x xml = '<a xmlns="u"><b i="1"/><b i="2"/></a>';
WITH XMLNAMESPACES (DEFAULT 'u') SELECT @x.value('(/a/b/@i)[2]', 'int') AS a, @x.value('count(/a/*)', 'int') AS b;
WITH XMLNAMESPACES ('u' AS p) SELECT n.c.value('@i', 'int') AS i FROM @x.nodes('/p:a/p:b') AS n (c);
SELECT @x.value('count(/a/*)', 'int') AS without;
WITH XMLNAMESPACES ('u' AS p), found (i) AS (SELECT n.c.value('@i', 'int') FROM @x.nodes('/p:a/p:b') AS n (c))
UPDATE part SET name = CONVERT(nvarchar(9), i) FROM part JOIN found ON part.id = 315 + i;
WITH XMLNAMESPACES ('u' AS p) INSERT INTO part (id) SELECT n.c.value('@i', 'int') FROM @x.nodes('/p:a/p:b') AS n (c);
WITH XMLNAMESPACES ('u' AS p) DELETE part WHERE id = @x.value('count(/p:a)', 'int');
WITH XMLNAMESPACES ('u' AS p) SELECT @x.query('<p:c>{count(/p:a/*)}</p:c>') AS made;
SELECT * FROM part
GO
CREATE VIEW parts AS WITH XMLNAMESPACES ('inner' AS p) SELECT (SELECT id AS 'p:id' FROM part FOR XML PATH (''), TYPE) AS x
GO
CREATE VIEW plain AS SELECT (SELECT id FROM part FOR XML PATH (''), TYPE) AS x
GO
CREATE FUNCTION inner_parts () RETURNS TABLE AS RETURN WITH XMLNAMESPACES (DEFAULT 'function') SELECT (SELECT MAX(id) AS id FROM part FOR XML PATH (''), TYPE) AS x
GO
WITH XMLNAMESPACES (DEFAULT 'outer') SELECT parts.x AS a, plain.x AS b, f.x AS c FROM parts, plain, inner_parts() AS f FOR XML PATH
GO
EXEC sp_helptext 'parts'
GO
-- What cannot be declared.
WITH XMLNAMESPACES ('u' AS xmlns) SELECT 1 AS a
GO
WITH XMLNAMESPACES ('u' AS [p q]) SELECT 1 AS a
GO
WITH XMLNAMESPACES ('u' AS xml) SELECT 1 AS a
GO
WITH XMLNAMESPACES ('http://www.w3.org/XML/1998/namespace' AS p) SELECT 1 AS a
GO
WITH XMLNAMESPACES ('http://www.w3.org/XML/1998/namespace' AS xml) SELECT 1 AS [@xml:lang] FOR XML PATH
GO
WITH XMLNAMESPACES ('' AS p) SELECT 1 AS a
GO
WITH XMLNAMESPACES ('u' AS p, 'v' AS p) SELECT 1 AS a
GO
WITH XMLNAMESPACES (DEFAULT 'u', DEFAULT 'v') SELECT 1 AS a
GO
WITH XMLNAMESPACES ('u' AS xsi) SELECT 1 AS a FOR XML RAW, ELEMENTS XSINIL
GO
WITH XMLNAMESPACES ('u' AS p) SELECT 1 AS a FOR XML RAW, XMLSCHEMA
GO
WITH XMLNAMESPACES ('u' AS p) SELECT 1 AS Tag, NULL AS Parent, 1 AS [a!1!b] FOR XML EXPLICIT
GO
WITH c AS (SELECT 1 AS a), XMLNAMESPACES ('u' AS p) SELECT * FROM c
GO
WITH XMLNAMESPACES AS (SELECT 1 AS a) SELECT * FROM XMLNAMESPACES
GO
WITH [XMLNAMESPACES] AS (SELECT 1 AS a) SELECT * FROM [XMLNAMESPACES]
GO
DECLARE @u varchar(9) = 'u'; WITH XMLNAMESPACES (@u AS p) SELECT 1 AS a
GO
-- Names that PATH, rows and roots cannot have.
SELECT 1 AS [p:a] FOR XML PATH
GO
SELECT 1 AS [a/p:b] FOR XML PATH
GO
SELECT 1 AS a FOR XML PATH ('p:r')
GO
SELECT 1 AS a FOR XML RAW, ROOT ('p:r')
GO
SELECT 1 AS [xmlns] FOR XML PATH
GO
SELECT 1 AS [a b] FOR XML PATH
GO
SELECT 1 AS [x/y z] FOR XML PATH
GO
SELECT 1 AS [@] FOR XML PATH
GO
SELECT 1 AS a FOR XML PATH ('a/b')
GO
SELECT 1 AS a FOR XML RAW ('1a')
GO
SELECT 1 AS a FOR XML PATH, ROOT ('')
GO
SELECT 1 AS a FOR XML PATH, ROOT ('r t')
GO
SELECT 1 AS [/a] FOR XML PATH
GO
SELECT 1 AS [a//b] FOR XML PATH
GO
SELECT 1 AS [@a] FOR XML PATH ('')
GO
SELECT 1 AS a FOR XML AUTO
GO
-- Elsewhere they are encoded.
SELECT 1 AS [a b], 2 AS [1a], 3 AS [a_x0020_b], 4 AS [_x], 5 AS [x_], 6 AS [a-b.c], 7 AS [é], 8 AS [:a], 9 AS [p:a], 10 AS [a😀b] FOR XML RAW
GO
SELECT [a b].id FROM part AS [a b] WHERE id = 316 FOR XML AUTO
GO
-- Comments, instructions, and elements that share a name.
SELECT 'say <this>' AS [comment()], 'do = "1"' AS [processing-instruction(go)], NULL AS [processing-instruction(no)], 'n' AS [a/comment()], '' AS [processing-instruction(p)] FOR XML PATH
GO
SELECT 'a' AS x, 'b' AS x, 1 AS [x/y], 2 AS [z/y], 3 AS [z], CAST('<m/>' AS xml) AS z FOR XML PATH ('')
GO
SELECT 'a -- b' AS [comment()] FOR XML PATH
GO
SELECT 'a-' AS [comment()] FOR XML PATH
GO
SELECT CAST('<a/>' AS xml) AS [comment()] FOR XML PATH
GO
SELECT 1 AS [processing-instruction()] FOR XML PATH
GO
SELECT 1 AS [processing-instruction(xml)] FOR XML PATH
GO
SELECT 1 AS [processing-instruction(1a)] FOR XML PATH
GO
SELECT 1 AS a, 2 AS [comment()], 3 AS [@b] FOR XML PATH
GO
SELECT (SELECT 'SELECT 1 < 2' AS [processing-instruction(query)] FOR XML PATH (''), TYPE) AS text
GO
