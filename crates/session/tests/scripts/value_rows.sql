-- Values below each other in VALUES have one type, in INSERT as in FROM.
CREATE TABLE texts (id int IDENTITY, c varchar(30))
INSERT texts VALUES (3.1415), (-32)
INSERT texts VALUES (''), (-378.4), (CAST('2024-05-06' AS datetime))
INSERT texts VALUES (DEFAULT), (NULL), (1), (2.50)
INSERT texts VALUES ('a'), ('longer'), (N'wide')
SELECT id, c FROM texts ORDER BY id
GO
CREATE TABLE narrow (c nchar(2), n int)
INSERT narrow VALUES (10, 1), (N'ab', 2)
GO
SELECT COUNT(*) AS rows FROM narrow
INSERT narrow VALUES (N'10', 1), (N'ab', '2')
SELECT c, n FROM narrow
INSERT narrow (n) VALUES (CAST('2024-05-06' AS date)), (1)
GO
DECLARE @a tinyint = 3, @b float = 0.5
INSERT texts VALUES (@a), (@b)
SELECT c FROM texts WHERE id > 12
EXEC sp_describe_undeclared_parameters N'INSERT narrow VALUES (@P1, @P2), (N''x'', @P3)'
GO
-- One row alone keeps what it is.
INSERT texts VALUES (-32)
SELECT c FROM texts WHERE c = '-32'
GO
-- A document that another query reads is NULL without rows; alone it is no row.
SELECT v.a, d.x FROM (VALUES (1), (2)) AS v (a) CROSS APPLY (SELECT 'n,' FROM (VALUES (1)) AS w (b) WHERE w.b = v.a FOR XML PATH('')) AS d (x)
SELECT COUNT(*) AS rows, COUNT(j) AS documents FROM (SELECT 1 AS a WHERE 1 = 0 FOR JSON PATH) AS d (j)
SELECT 1 AS a WHERE 1 = 0 FOR XML PATH('')
SELECT 1 AS a WHERE 1 = 0 FOR JSON PATH;
WITH none AS (SELECT 1 AS a WHERE 1 = 0) SELECT a FROM none FOR XML PATH('');
SELECT 1 AS a WHERE 1 = 0 UNION ALL SELECT 2 WHERE 1 = 0 FOR XML PATH('')
GO
CREATE VIEW documents AS SELECT (SELECT c FROM texts WHERE id < 0 FOR JSON PATH) AS j
GO
SELECT j FROM documents
GO
-- @@IDENTITY is that of the last INSERT, SCOPE_IDENTITY() of the last one that had any.
CREATE TABLE plain (x int)
INSERT texts VALUES ('last')
INSERT plain VALUES (1)
SELECT @@IDENTITY AS last, CASE WHEN SCOPE_IDENTITY() > 0 THEN 'there' END AS of_the_scope
GO
EXEC sp_tables '', '', '%'
EXEC sp_tables '', '', '', '''%'''
GO
CREATE TYPE pairs AS TABLE (a int NOT NULL, b varchar(10))
GO
EXEC sys.sp_table_type_columns_100 N'pairs', N'%', NULL, NULL, @ODBCVer = 3, @fUsePattern = 1
SELECT CONVERT(binary(5), COLLATIONPROPERTY('SQL_Latin1_General_CP1_CI_AS', 'tdscollation')) AS bytes
GO
CREATE TABLE keyed (id int CONSTRAINT pk_keyed PRIMARY KEY, b int CONSTRAINT uq_keyed UNIQUE)
SELECT OBJECTPROPERTY(OBJECT_ID('pk_keyed'), 'CnstIsClustKey') AS pk, OBJECTPROPERTY(OBJECT_ID('uq_keyed'), 'CnstIsClustKey') AS uq, OBJECTPROPERTY(OBJECT_ID('keyed'), 'CnstIsClustKey') AS t
GO
