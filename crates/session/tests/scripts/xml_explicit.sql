-- FOR XML EXPLICIT: rows say which elements they are.
CREATE TABLE dbo.rowset (place int PRIMARY KEY, tag int, parent int, p int, c varchar(10), g int);
INSERT dbo.rowset VALUES (1, 1, NULL, 1, NULL, NULL), (2, 2, 1, NULL, 'a<b', NULL), (3, 3, 2, NULL, NULL, 7), (4, 2, 1, NULL, NULL, NULL), (5, 1, 0, 2, NULL, NULL);
GO
SELECT tag AS Tag, parent AS Parent, p AS [p!1!id], c AS [c!2!name!element], g AS [g!3] FROM dbo.rowset ORDER BY place FOR XML EXPLICIT;
SELECT tag AS Tag, parent AS Parent, p AS [p!1!id], c AS [c!2!name!elementxsinil], g AS [g!3!n] FROM dbo.rowset ORDER BY place FOR XML EXPLICIT, ROOT('all');
SELECT 1 AS tag, NULL AS parent, 'x' AS [e!1!a!element], 'y"' AS [e!1!b], NULL AS [e!1!n], 'z' AS [e!1], NULL AS [f!2!v!elementxsinil], 5 AS [f!2!w!hide]
UNION ALL SELECT 2, 1, NULL, NULL, NULL, NULL, NULL, 9 FOR XML EXPLICIT;
SELECT 1 AS Tag, NULL AS Parent, 'a]]>b' AS [e!1!!cdata], 'q<' AS [e!1!k!cdata], '<i/>' AS [e!1!x!xml], '<j/>' AS [e!1!!XML], CAST('<k/>' AS xml) AS [e!1!m], 3 AS [e!1!o!id] FOR XML EXPLICIT;
SELECT 1 AS Tag, NULL AS Parent, 0x0102 AS [e!1!a] FOR XML EXPLICIT, BINARY BASE64;
SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a] WHERE 1 = 0 FOR XML EXPLICIT;
SELECT (SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT, TYPE).value('(/e/@a)[1]', 'int') AS a;
GO
-- What is wrong with the columns.
SELECT 1 AS Tag, NULL AS Parent FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Up, 1 AS [e!1!a] FOR XML EXPLICIT;
GO
SELECT CAST(1 AS bigint) AS Tag, NULL AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, 'x' AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, 1 AS plain FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!0!a] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a], 2 AS [E!1!b] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a!what] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a!element!xml] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a!id!idref] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a!id!hide] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a!hide!hide] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, '<a/>' AS [e!1!!xmltext] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, 0x01 AS [e!1!a] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT, ELEMENTS;
GO
SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT('x');
GO
-- What is wrong with the rows.
SELECT 0 AS Tag, NULL AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, -1 AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT;
GO
SELECT 2 AS Tag, NULL AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, 5 AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, 1 AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT;
GO
SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a], 2 AS [f!2!b] UNION ALL SELECT 2, 1, 1, 1 UNION ALL SELECT 1, 2, 1, 1 FOR XML EXPLICIT;
GO
