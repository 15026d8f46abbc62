-- Every row of a query is in its document, also when the query runs for many quanta: an operator that stops keeps the rows that it
-- has taken ("FOR Clause" and "FOR JSON": the clause is about all rows of the result).
CREATE TABLE dbo.n (i int NOT NULL);
INSERT dbo.n SELECT value FROM GENERATE_SERIES(1, 3000);
GO
SELECT LEN((SELECT ',' FROM dbo.n FOR XML PATH(''))) AS xml_rows;
DECLARE @j nvarchar(max) = (SELECT i FROM dbo.n FOR JSON PATH);
SELECT COUNT(*) AS json_rows, SUM(CAST(JSON_VALUE(value, '$.i') AS int)) AS total FROM OPENJSON(@j);
GO 3
-- Short documents, many times.
DECLARE @k int = 0, @wrong int = 0, @x nvarchar(max);
WHILE @k < 500
BEGIN
  SET @x = (SELECT TOP (30) ',' + CAST(i AS varchar(9)) FROM dbo.n FOR XML PATH(''));
  IF LEN(@x) - LEN(REPLACE(@x, ',', '')) <> 30 SET @wrong += 1;
  SET @k += 1;
END;
SELECT @wrong AS wrong_documents;
GO
-- DISTINCT aggregates, rowversions and identity values are dealt and counted once, whatever stops in between.
CREATE TABLE dbo.v (id int IDENTITY, s int, v rowversion);
INSERT dbo.v (s) SELECT i FROM dbo.n WHERE i <= 300;
MERGE dbo.v AS t USING (SELECT i FROM dbo.n WHERE i BETWEEN 200 AND 400) AS n ON t.s = n.i
WHEN MATCHED THEN UPDATE SET s = t.s WHEN NOT MATCHED THEN INSERT (s) VALUES (n.i);
SELECT COUNT(*) AS rows, MAX(id) AS last_id, COUNT(DISTINCT v) AS versions,
  CAST(MAX(v) AS bigint) - CAST(MIN(v) AS bigint) AS dealt FROM dbo.v;
GO
-- Rows that are read under locks, over filters that pass rows over.
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
BEGIN TRAN;
SELECT COUNT(*) AS rows, SUM(i) AS total FROM dbo.n WHERE i % 3 = 0 AND i <= 900;
SELECT COUNT(*) AS rows FROM dbo.n WITH (UPDLOCK, READCOMMITTED) WHERE i % 7 = 0 AND i < 400;
UPDATE dbo.v SET s = s + 1 FROM dbo.v WITH (UPDLOCK, HOLDLOCK) WHERE id <= 20;
SELECT SUM(s) AS total FROM dbo.v WITH (REPEATABLEREAD) WHERE s < 100;
ROLLBACK;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
GO
