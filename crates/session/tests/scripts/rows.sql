-- Tables of every type, rows in and out.
CREATE TABLE dbo.kinds (
    id int NOT NULL PRIMARY KEY,
    a bit NULL, b tinyint NULL, c smallint NULL, d bigint NULL,
    e float NULL, f real NULL, g decimal(10, 2) NULL, h money NULL,
    i char(5) NULL, j varchar(20) NULL, k nchar(5) NULL, l nvarchar(20) NULL,
    m date NULL, n datetime NULL, o datetime2(3) NULL,
    p uniqueidentifier NULL, q binary(4) NULL, r varbinary(10) NULL
);
INSERT dbo.kinds VALUES
    (1, 1, 255, -32768, 9223372036854775807, 1.5, 2.5, 123.456, 12.34567, 'ab', 'text', N'cd', N'täxt',
     '2024-02-29', '2024-02-29 12:34:56.789', '2024-02-29 12:34:56.789',
     '6F9619FF-8B86-D011-B42D-00C04FC964FF', 0x0102, 0x010203);
INSERT INTO dbo.kinds (id) VALUES (2), (3);
SELECT * FROM dbo.kinds WHERE id < 3 ORDER BY id;
SELECT a, b, c, d FROM dbo.kinds WHERE id = 1;
GO
CREATE TABLE numbers (id int IDENTITY(10, 5) PRIMARY KEY, grp varchar(10) NOT NULL DEFAULT 'none', v int NULL);
INSERT numbers (grp, v) VALUES ('a', 1), ('a', 2), ('b', 3), ('b', NULL), ('B', 4);
INSERT numbers (v) VALUES (5);
SELECT SCOPE_IDENTITY() AS scope_identity, @@IDENTITY AS [identity], @@ROWCOUNT AS rows;
SELECT * FROM numbers;
SELECT grp, COUNT(*) AS n, COUNT(v) AS v, SUM(v) AS s, MIN(v) AS lo, MAX(v) AS hi, AVG(v) AS mean
FROM numbers GROUP BY grp ORDER BY grp;
SELECT TOP (2) id, total = v * 2 FROM numbers WHERE v IS NOT NULL ORDER BY v DESC;
GO
UPDATE numbers SET v = v + 100 WHERE grp = 'A';
SELECT @@ROWCOUNT AS updated;
UPDATE numbers SET v += 1, grp = UPPER(grp) WHERE id BETWEEN 10 AND 20;
DELETE FROM numbers WHERE v IS NULL;
DELETE numbers WHERE id = 999;
SELECT * FROM numbers ORDER BY id DESC;
TRUNCATE TABLE numbers;
SELECT COUNT(*) FROM numbers;
INSERT numbers (v) VALUES (1);
SELECT id FROM numbers;
SET IDENTITY_INSERT numbers ON;
INSERT numbers (id, v) VALUES (1000, 2);
SET IDENTITY_INSERT numbers OFF;
INSERT numbers (v) VALUES (3);
SELECT id, v FROM numbers ORDER BY id;
DROP TABLE numbers;
DROP TABLE IF EXISTS numbers;
GO
CREATE VIEW dbo.small AS SELECT id, j AS name FROM dbo.kinds WHERE id <= 2;
GO
SELECT * FROM dbo.small ORDER BY id;
SELECT name FROM small WHERE id = 1;
GO
CREATE SCHEMA extra;
GO
CREATE TABLE extra.heap (a int, b varchar(10));
INSERT extra.heap VALUES (1, 'one'), (2, 'two'), (1, 'uno');
SELECT a, b FROM extra.heap h WHERE h.a = 1 ORDER BY b;
SELECT DISTINCT a FROM extra.heap ORDER BY a;
DELETE FROM extra.heap WHERE a = 1;
SELECT * FROM extra.heap;
GO
