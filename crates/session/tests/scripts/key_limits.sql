-- Keys of 900 and 1,700 bytes as SQL Server counts them, by the bytes of the values: what is within them has a place in
-- the tree, whatever its bytes and characters become there; what is longer is error 1946, with the length of the values.
SET NOCOUNT ON;
CREATE TABLE dbo.plain (id int NOT NULL CONSTRAINT plain_pk PRIMARY KEY NONCLUSTERED, a varchar(1700) NULL, b nvarchar(850) NULL, c varbinary(850) NULL);
CREATE INDEX plain_a ON dbo.plain (a);
CREATE INDEX plain_b ON dbo.plain (b);
CREATE UNIQUE INDEX plain_c ON dbo.plain (c, id);
CREATE INDEX plain_ba ON dbo.plain (a DESC) WHERE a > '';
CREATE UNIQUE INDEX plain_ab ON dbo.plain (a DESC, id);
GO
INSERT dbo.plain (id, a) VALUES (1, REPLICATE('x', 1695) + 'a'), (2, REPLICATE('x', 1695) + 'b');
INSERT dbo.plain (id, b) VALUES (3, REPLICATE(N'x', 849) + N'a'), (4, REPLICATE(N'é', 849) + N'b');
INSERT dbo.plain (id, c) VALUES (5, CAST(REPLICATE(0x00, 849) AS varbinary(849)) + 0x01), (6, CAST(REPLICATE(0x00, 849) AS varbinary(849)) + 0x02);
GO
-- 1,704 bytes.
INSERT dbo.plain (id, a) VALUES (7, REPLICATE('x', 1700));
GO
DROP INDEX plain_ab ON dbo.plain;
INSERT dbo.plain (id, a) VALUES (8, REPLICATE('x', 1700));
GO
SELECT id FROM dbo.plain WITH (INDEX (plain_a)) WHERE a = REPLICATE('x', 1695) + 'b';
SELECT id FROM dbo.plain WITH (INDEX (plain_ba)) WHERE a >= REPLICATE('x', 1695) + 'b' ORDER BY a;
SELECT id FROM dbo.plain WITH (INDEX (plain_b)) WHERE b >= REPLICATE(N'x', 849);
SELECT id FROM dbo.plain WITH (INDEX (plain_c)) WHERE c > CAST(REPLICATE(0x00, 849) AS varbinary(849)) ORDER BY c DESC;
GO
-- Clustered keys, with bytes 0, ideographs, upper and lower case.
CREATE TABLE dbo.kept (k varbinary(900) NOT NULL PRIMARY KEY, n int);
CREATE TABLE dbo.ideographs (k nvarchar(450) NOT NULL PRIMARY KEY, n int);
CREATE TABLE dbo.cased (k nvarchar(450) COLLATE Latin1_General_100_CS_AS NOT NULL PRIMARY KEY, n int);
CREATE TABLE dbo.spaced (k varchar(900) COLLATE SQL_Latin1_General_CP1_CS_AS NOT NULL PRIMARY KEY, n int);
GO
INSERT dbo.kept VALUES (CAST(REPLICATE(0x00, 899) AS varbinary(899)) + 0x01, 1);
INSERT dbo.ideographs VALUES (REPLICATE(N'語', 450), 2);
INSERT dbo.cased VALUES (REPLICATE(N'X', 450), 3), (REPLICATE(N'x', 450), 4);
INSERT dbo.spaced VALUES (REPLICATE('X', 900), 5), (REPLICATE('x', 900), 6);
GO
SELECT n FROM dbo.kept WHERE k = CAST(REPLICATE(0x00, 899) AS varbinary(899)) + 0x01;
SELECT n FROM dbo.ideographs WHERE k = REPLICATE(N'語', 450);
SELECT n FROM dbo.cased WHERE k = REPLICATE(N'x', 450);
SELECT n FROM dbo.spaced WHERE k = REPLICATE('X', 900);
GO
-- Many keys that differ at their end alone: inner pages hold whole keys.
CREATE TABLE dbo.many (a varchar(1700) NOT NULL CONSTRAINT many_pk PRIMARY KEY NONCLUSTERED);
GO
INSERT dbo.many SELECT REPLICATE('y', 1696) + RIGHT(CONCAT('0000', CASE WHEN value % 2 = 0 THEN value ELSE 120 - value END), 4) FROM GENERATE_SERIES(1, 59);
GO
SELECT COUNT(*) AS many FROM dbo.many WITH (INDEX (many_pk));
SELECT COUNT(*) AS above FROM dbo.many WITH (INDEX (many_pk)) WHERE a >= REPLICATE('y', 1696) + '0090';
DBCC CHECKTABLE ('dbo.many') WITH NO_INFOMSGS;
GO
-- What may become too long is made with a warning, and refused when it comes.
CREATE TABLE dbo.longer (id int NOT NULL, a varchar(2000) NULL, b nvarchar(600) NULL);
CREATE CLUSTERED INDEX longer_b ON dbo.longer (b);
CREATE INDEX longer_a ON dbo.longer (a);
GO
INSERT dbo.longer VALUES (1, REPLICATE('x', 1700), REPLICATE(N'x', 200));
GO
-- Not as in SQL Server: the entry of an index that is not unique ends with the clustered key, and both are too long together.
INSERT dbo.longer VALUES (1, REPLICATE('x', 1700), REPLICATE(N'x', 450));
GO
INSERT dbo.longer VALUES (2, REPLICATE('x', 1701), N'x');
GO
INSERT dbo.longer SELECT value, 'x', REPLICATE(N'x', 449 + value) FROM GENERATE_SERIES(1, 2);
GO
UPDATE dbo.longer SET a = a + 'y';
GO
UPDATE dbo.longer SET b = b + N'y';
GO
MERGE dbo.longer AS t USING (VALUES (1)) AS s (id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = REPLICATE('z', 1800);
GO
SELECT id, DATALENGTH(a) AS a, DATALENGTH(b) AS b FROM dbo.longer;
GO
-- Rows that are there already.
CREATE TABLE dbo.there (id int NOT NULL, a varchar(1000) NULL);
INSERT dbo.there VALUES (1, REPLICATE('x', 901));
GO
CREATE CLUSTERED INDEX there_a ON dbo.there (a);
GO
CREATE INDEX there_a ON dbo.there (a, id);
SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.there') ORDER BY index_id;
GO
ALTER TABLE dbo.there ADD CONSTRAINT there_pk PRIMARY KEY (id);
ALTER TABLE dbo.there ALTER COLUMN a varchar(1700);
GO
UPDATE dbo.there SET a = REPLICATE('x', 1697);
GO
-- sql_variant counts what its value has.
CREATE TABLE dbo.variants (v sql_variant NOT NULL PRIMARY KEY);
GO
INSERT dbo.variants VALUES (CAST(REPLICATE('x', 800) AS varchar(8000)));
GO
