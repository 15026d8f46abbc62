-- A row of at most 8,060 bytes as SQL Server counts them: a header, columns of fixed length, a bit for each column that may
-- be NULL, two bytes for each column of varying length. Values of more than 24 bytes lie elsewhere and leave 24 behind.
SET NOCOUNT ON;
CREATE TABLE dbo.tight (a char(8000) NOT NULL, b varchar(30) NULL, c varchar(30) NULL);
GO
-- 8000 + 7 + 2 + 4 + 46 = 8059.
INSERT dbo.tight VALUES ('a', REPLICATE('b', 23), REPLICATE('c', 23));
-- b goes elsewhere.
INSERT dbo.tight VALUES ('a', REPLICATE('b', 30), REPLICATE('c', 22));
-- A column of varying length that is NULL at the end takes nothing.
INSERT dbo.tight VALUES ('a', REPLICATE('b', 24), NULL);
GO
INSERT dbo.tight VALUES ('a', REPLICATE('b', 24), REPLICATE('c', 24));
GO
UPDATE dbo.tight SET c = REPLICATE('c', 30), b = REPLICATE('b', 30);
GO
SELECT LEN(b) AS b, LEN(c) AS c FROM dbo.tight;
GO
-- The same in a tree, in a table variable, in a temporary table, and by a load of many rows.
CREATE TABLE #tight (id int NOT NULL PRIMARY KEY, a char(7990) NOT NULL, b varchar(60) NULL, c nvarchar(12) NULL, d binary(6) NULL);
INSERT #tight VALUES (1, 'a', REPLICATE('b', 60), REPLICATE(N'c', 9), 0x01);
GO
INSERT #tight SELECT value, 'a', REPLICATE('b', 60), REPLICATE(N'c', 12), 0x01 FROM GENERATE_SERIES(2, 3);
GO
DECLARE @tight TABLE (a char(8000) NOT NULL, b varchar(30) NULL, c varchar(30) NULL);
INSERT @tight VALUES ('a', REPLICATE('b', 24), REPLICATE('c', 24));
GO
-- Not as in SQL Server: numbers of full length take more bytes than there, and 990 columns of 8 bytes are no row of 8,050.
DECLARE @columns nvarchar(max) = (SELECT STRING_AGG(CAST(CONCAT('c', value, ' bigint') AS nvarchar(max)), ',') FROM GENERATE_SERIES(1, 990));
DECLARE @values nvarchar(max) = (SELECT STRING_AGG(CAST('-9223372036854775807' AS nvarchar(max)), ',') FROM GENERATE_SERIES(1, 990));
EXEC (N'CREATE TABLE dbo.numbers (' + @columns + N'); INSERT dbo.numbers VALUES (' + @values + N'); SELECT c1, c990 FROM dbo.numbers');
GO
-- Many long values: each leaves 24 bytes behind.
DECLARE @columns nvarchar(max) = (SELECT STRING_AGG(CAST(CONCAT('c', value, ' varchar(100)') AS nvarchar(max)), ',') FROM GENERATE_SERIES(1, 400));
EXEC (N'CREATE TABLE dbo.texts (' + @columns + N')');
GO
DECLARE @values nvarchar(max) = (SELECT STRING_AGG(CAST('REPLICATE(''x'', 100)' AS nvarchar(max)), ',') FROM GENERATE_SERIES(1, 400));
EXEC (N'INSERT dbo.texts VALUES (' + @values + N')');
GO
