-- What another project's tests found out by asking a server.
CREATE TABLE dbo.t (id int IDENTITY(5, 2), a int);
INSERT dbo.t (a) VALUES (1), (2);
BEGIN TRAN;
TRUNCATE TABLE dbo.t;
INSERT dbo.t (a) VALUES (9);
SELECT id FROM dbo.t;
ROLLBACK;
INSERT dbo.t (a) VALUES (3);
SELECT id FROM dbo.t ORDER BY id;
BEGIN TRAN;
SAVE TRAN s;
TRUNCATE TABLE dbo.t;
INSERT dbo.t (a) VALUES (9);
ROLLBACK TRAN s;
INSERT dbo.t (a) VALUES (4);
TRUNCATE TABLE dbo.t;
INSERT dbo.t (a) VALUES (5), (6);
COMMIT;
INSERT dbo.t (a) VALUES (7);
SELECT id, a FROM dbo.t ORDER BY id;
GO
-- XACT_ABORT: an error that ends no transaction by itself ends it then, and one that is caught dooms it.
SET XACT_ABORT ON;
BEGIN TRAN;
INSERT dbo.t (a) VALUES (100);
SELECT * FROM dbo.no_such;
GO
SELECT @@TRANCOUNT AS open_transactions, COUNT(*) AS rows FROM dbo.t WHERE a = 100;
GO
BEGIN TRAN;
BEGIN TRY
    RAISERROR('x', 16, 1);
END TRY
BEGIN CATCH
    SELECT XACT_STATE() AS state;
    SAVE TRAN s;
END CATCH;
GO
IF @@TRANCOUNT > 0 ROLLBACK;
SET XACT_ABORT OFF;
RAISERROR('serious', 19, 1) WITH LOG; SELECT 'goes on' AS after_19;
GO
RAISERROR('big=%I64d %.3d [%*.*d] [% d]', 10, 300, 5000000000, -4, 8, 5, 42, 3);
DECLARE @big bigint = 5000000000; RAISERROR('big=%I64d', 10, 1, @big);
DECLARE @none varchar(9);
BEGIN TRY RAISERROR(@none, 16, 300); END TRY BEGIN CATCH SELECT '[' + ERROR_MESSAGE() + ']' AS message, ERROR_STATE() AS state; END CATCH;
BEGIN TRY THROW 50001, 'x', 300; END TRY BEGIN CATCH SELECT ERROR_STATE() AS state; END CATCH;
SELECT FORMATMESSAGE('val=[%s]', 42) AS wrong, FORMATMESSAGE('val=[%I64d]', CAST(9999999999 AS bigint)) AS big, FORMATMESSAGE('[%.3d]', 5) AS padded;
GO
DECLARE @d datetime = '2024-01-01'; RAISERROR('%s', 10, 1, @d);
GO
THROW 50000, 'x', -1;
GO
SELECT CAST(0x0102 AS binary(2)) + CAST(0x03 AS binary(1)) AS joined, LEN(0x4142202020) AS length, LEN(0x20) AS nothing;
SELECT CAST(CAST(CAST('2024-03-15' AS date) AS sql_variant) AS nvarchar(60)) AS d, CAST(CAST(CAST('13:45' AS time(3)) AS sql_variant) AS varchar(60)) AS t;
SELECT ISNUMERIC('-') + ISNUMERIC('.') + ISNUMERIC(',') + ISNUMERIC('$') + ISNUMERIC('1d10') AS five, ISNUMERIC('') + ISNUMERIC('e') + ISNUMERIC('--') + ISNUMERIC('x') AS none;
SELECT SQL_VARIANT_PROPERTY(ABS(CAST(1 AS bit)), 'BaseType') AS of_a_bit;
SELECT 1 AS matches WHERE 'a' LIKE '[^]' AND '^' LIKE '[^]' AND NOT '' LIKE '[^]';
GO
SELECT CAST(CAST(123 AS bigint) AS varchar(2)), CAST(123 AS varchar(2));
GO
SELECT ATN2(0, 0);
GO
MERGE dbo.t USING (VALUES (5, 1), (5, 2)) AS s (id, v) ON t.id = s.id WHEN MATCHED THEN DELETE;
SELECT COUNT(*) AS left_of_three FROM dbo.t;
GO
ALTER TABLE dbo.t WITH NOCHECK ADD CONSTRAINT ck CHECK (a > 100);
ALTER TABLE dbo.t ADD CONSTRAINT ck_trusted CHECK (a > 0);
SELECT name, is_not_trusted FROM sys.check_constraints WHERE parent_object_id = OBJECT_ID('dbo.t') ORDER BY name;
GO
CREATE TRIGGER dbo.tr ON dbo.t AFTER DELETE, UPDATE AS SELECT DATALENGTH(COLUMNS_UPDATED()) AS bytes;
GO
DELETE dbo.t WHERE a = 6;
UPDATE dbo.t SET a = 101;
GO
-- Queries in parentheses, and as arguments of functions in FROM.
SELECT a FROM dbo.t WHERE a IN ((SELECT a FROM dbo.t UNION SELECT 1)) AND a NOT IN (((SELECT 2 UNION ALL SELECT 3)));
SELECT value FROM OPENJSON((SELECT '[1,2]'));
SELECT s.value, t.a FROM dbo.t CROSS APPLY STRING_SPLIT((SELECT CONCAT(t.a, ',x')), ',') AS s;
SELECT j.k FROM OPENJSON((SELECT '{"k":7}')) WITH (k int) AS j;
SELECT value FROM GENERATE_SERIES((SELECT 1), (SELECT COUNT(*) + 1 FROM dbo.t));
GO
CREATE FUNCTION dbo.twice (@x int) RETURNS TABLE AS RETURN (SELECT @x * 2 AS x);
GO
SELECT * FROM dbo.twice((SELECT MAX(a) FROM dbo.t)) AS f (doubled);
DROP FUNCTION dbo.twice;
DROP TABLE dbo.t;
GO
-- Results of different types for one INSERT ... EXEC.
CREATE TABLE dbo.two (a int, b varchar(20));
INSERT dbo.two EXEC ('SELECT 1, ''x''; SELECT ''5'', CAST(''2024-01-31'' AS date); SELECT 7.9, N''long enough''');
SELECT * FROM dbo.two;
INSERT dbo.two EXEC ('SELECT 1, ''x''; SELECT ''y'', 2');
GO
SELECT COUNT(*) AS rows FROM dbo.two;
DROP TABLE dbo.two;
GO
-- A table variable keeps its rules when a write of it fails.
DECLARE @t TABLE (a int CHECK (a > 0), c AS a * 2, INDEX i (a));
BEGIN TRY INSERT @t (a) VALUES (-1); END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS error; END CATCH;
BEGIN TRY INSERT @t (a) VALUES (-6); END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS error; END CATCH;
INSERT @t (a) VALUES (3);
SELECT * FROM @t;
GO
-- A sign binds weaker than * / %, and a whole number beside a decimal has the digits it shows.
SELECT 100/-10/2 AS a, 7/-2*3 AS b, -100.0/-100.0*10.0 AS c, 100/+10/2 AS d, (100/-10)/2 AS e, -7%3 AS f, 2*-3+1 AS g, ~1*-2 AS h, 10 - -2 * 3 AS i;
SELECT 10.0/3 AS a, 10.0*3 AS b, 1.5%2 AS c, 1.25 + 100 AS d, 10.0/-3 AS e;
DECLARE @three int = 3, @tiny tinyint = 5;
SELECT 10.0/@three AS a, 10/-@tiny AS b, SQL_VARIANT_PROPERTY(-@tiny, 'BaseType') AS c;
GO
CREATE TABLE dbo.c (a int, x AS (100/-a)/2, y AS 100/-a/2, CHECK (-a * 2 < 10));
INSERT dbo.c VALUES (10);
SELECT x, y FROM dbo.c;
SELECT definition FROM sys.computed_columns WHERE object_id = OBJECT_ID('dbo.c') ORDER BY name;
DROP TABLE dbo.c;
GO
SELECT s, LAG(s, 1, 'longer') OVER (ORDER BY s) AS l, LEAD(s, 1, N'zz') OVER (ORDER BY s) AS n FROM (VALUES ('a'), ('b')) v (s);
GO
-- A rowversion column has its place among values without a list, and an identity column has none.
CREATE TABLE dbo.rv (a int, v rowversion, b int);
INSERT dbo.rv VALUES (1, DEFAULT, 2), (3, DEFAULT, 4);
SELECT a, b FROM dbo.rv;
GO
INSERT dbo.rv VALUES (1, 2);
GO
INSERT dbo.rv VALUES (1, 0x1, 2);
GO
CREATE TABLE dbo.own (id int IDENTITY, a int, b int);
GO
INSERT dbo.own VALUES (1, 2, 3);
GO
INSERT dbo.own SELECT 1, 2, 3;
GO
INSERT dbo.own VALUES (1);
GO
SET IDENTITY_INSERT dbo.own ON;
CREATE TABLE dbo.other (id int IDENTITY);
SET IDENTITY_INSERT dbo.other ON;
SELECT 'not reached';
GO
SET IDENTITY_INSERT dbo.own OFF;
SELECT name FROM sys.default_constraints WHERE 1 = 0;
DROP TABLE dbo.rv, dbo.own, dbo.other;
GO
-- NOEXEC within a batch and across batches.
SELECT 1 AS runs; SET NOEXEC ON; SELECT 2 AS does_not; SET NOEXEC OFF; SELECT 3 AS runs_again; SET NOEXEC ON;
GO
SELECT 4 AS does_not;
GO
SELECT 5 AS does_not; SET NOEXEC OFF; SELECT 6 AS runs;
GO
BEGIN TRAN;
DECLARE @m int = 13; SELECT DATEFROMPARTS(2024, @m, 1);
GO
SELECT @@TRANCOUNT AS open_transactions;
GO
