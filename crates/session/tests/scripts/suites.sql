-- What the test suites of drivers and object mappers have asked for.

-- A loop over the tables, and one over the databases.
CREATE SCHEMA [a]]b]
GO
CREATE TABLE dbo.one (id int PRIMARY KEY);
CREATE TABLE [a]]b].two (id int REFERENCES dbo.one);
EXEC sp_MSforeachtable 'ALTER TABLE ? NOCHECK CONSTRAINT ALL';
INSERT [a]]b].two VALUES (7);
EXEC sp_msforeachtable @command1 = 'PRINT ''~ ?''', @replacechar = '~', @command2 = N'SELECT COUNT(*) AS n FROM ~',
    @whereand = ' AND o.name IN (''one'', ''two'') ORDER BY o.name DESC', @precommand = 'PRINT ''before''', @postcommand = 'PRINT ''behind''';
EXEC sp_MSforeachtable 'ALTER TABLE ? WITH CHECK CHECK CONSTRAINT ALL';
GO
EXEC master..sp_MSforeachdb N'USE [?]; IF DB_NAME() IN (''master'', ''tempdb'') PRINT DB_NAME()';
SELECT DB_NAME() AS here;
GO
EXEC sp_MSforeachtable;
EXEC tempdb..sp_MSforeachtable 'PRINT 1';
GO
-- A transaction that begins by itself in what is called is no mismatch: whoever switched that on ends it.
CREATE PROCEDURE dbo.fill AS INSERT dbo.one VALUES (1);
GO
CREATE PROCEDURE dbo.leave_open AS BEGIN TRANSACTION;
GO
SET IMPLICIT_TRANSACTIONS ON;
EXEC dbo.fill;
SELECT @@TRANCOUNT AS open_transactions;
ROLLBACK;
EXEC sp_executesql N'INSERT dbo.one VALUES (2)';
COMMIT;
EXEC ('CREATE VIEW dbo.ones AS SELECT id FROM dbo.one');
COMMIT;
SET IMPLICIT_TRANSACTIONS OFF;
SELECT id FROM dbo.ones;
EXEC dbo.leave_open;
ROLLBACK;
GO
-- Another length of a column that a key, an index or a constraint reads.
CREATE TABLE dbo.named (
    code varchar(10) NOT NULL CONSTRAINT pk_named PRIMARY KEY,
    name nvarchar(10) NULL CONSTRAINT uq_named UNIQUE CONSTRAINT ck_named CHECK (name <> N''),
    place varbinary(10) NULL,
    kind char(2) NULL CONSTRAINT ck_kind CHECK (kind <> ''));
CREATE INDEX ix_place ON dbo.named (place) INCLUDE (kind);
INSERT dbo.named VALUES ('a', N'bridge', 0x01, 'x');
ALTER TABLE dbo.named ALTER COLUMN name nvarchar(40);
ALTER TABLE dbo.named ALTER COLUMN place varbinary(20) NULL;
INSERT dbo.named VALUES ('b', REPLICATE(N'w', 40), 0x0102030405060708090A0B0C, 'y');
INSERT dbo.named VALUES ('c', REPLICATE(N'w', 40), 0x02, 'z');
GO
SELECT code FROM dbo.named WHERE name = REPLICATE(N'w', 40);
SELECT code FROM dbo.named WHERE place > 0x01 ORDER BY place;
ALTER TABLE dbo.named ALTER COLUMN name nvarchar(20);
GO
DELETE dbo.named WHERE code = 'b';
ALTER TABLE dbo.named ALTER COLUMN name nvarchar(20);
SELECT name, max_length FROM sys.columns WHERE object_id = OBJECT_ID('dbo.named') ORDER BY column_id;
GO
ALTER TABLE dbo.named ALTER COLUMN place varbinary(5);
GO
ALTER TABLE dbo.named ALTER COLUMN name nvarchar(max);
GO
ALTER TABLE dbo.named ALTER COLUMN code varchar(20) NOT NULL;
GO
ALTER TABLE dbo.named ALTER COLUMN kind char(4);
GO
-- Messages of the server raised by their numbers.
RAISERROR (15600, -1, -1, 'mysp');
RAISERROR (15600, 11, 3, 7);
RAISERROR (15600, 16, 1);
RAISERROR (50123, 16, 1);
RAISERROR (8134, 16, 1);
RAISERROR (50000, 16, 1);
GO
-- FOR behind OPTION.
WITH n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 200)
SELECT MAX(n) AS n FROM n OPTION (MAXRECURSION 200) FOR XML RAW;
GO
SELECT 1 AS a FOR JSON PATH OPTION (RECOMPILE) FOR XML RAW;
GO
-- SET NULL updates: what hangs on the row that it changes is not reached by a second way.
CREATE TABLE dbo.tag (id int PRIMARY KEY);
CREATE TABLE dbo.product (id int PRIMARY KEY, tag int NULL REFERENCES dbo.tag ON DELETE SET NULL);
CREATE TABLE dbo.product_tag (product int REFERENCES dbo.product ON DELETE CASCADE, tag int REFERENCES dbo.tag ON DELETE CASCADE,
    PRIMARY KEY (product, tag));
INSERT dbo.tag VALUES (1), (2);
INSERT dbo.product VALUES (10, 1), (20, 2);
INSERT dbo.product_tag VALUES (10, 1), (10, 2), (20, 1);
DELETE dbo.tag WHERE id = 1;
SELECT id, tag FROM dbo.product ORDER BY id;
SELECT product, tag FROM dbo.product_tag ORDER BY product;
CREATE TABLE dbo.twice (a int REFERENCES dbo.tag ON DELETE SET NULL, b int REFERENCES dbo.tag ON DELETE SET NULL);
GO
CREATE TABLE dbo.chain (id int PRIMARY KEY, product int REFERENCES dbo.product ON DELETE CASCADE ON UPDATE CASCADE, tag int REFERENCES dbo.tag ON DELETE CASCADE);
GO
-- Two errors say that nothing was dropped; indexes are listed by name.
ALTER TABLE dbo.product DROP CONSTRAINT nobody;
CREATE INDEX b_tag ON dbo.product (tag);
CREATE UNIQUE INDEX A_id ON dbo.product (id);
EXEC sp_helpindex 'dbo.product';
GO
-- Chains of set operations, however long; their operators take turns from the left to the right.
DECLARE @many nvarchar(max) = N'SELECT 1 AS a' + REPLICATE(CAST(N' UNION ALL SELECT 2' AS nvarchar(max)), 3000);
EXEC (N'SELECT COUNT(*) AS n, SUM(a) AS s FROM (' + @many + N') AS t');
EXEC (N'SELECT COUNT(*) AS n FROM (' + @many + N' UNION SELECT 3) AS t');
SELECT 1 AS a UNION ALL SELECT 1 UNION SELECT 2 UNION ALL SELECT 2 EXCEPT SELECT 1 UNION ALL SELECT 5 ORDER BY a;
SELECT 1 AS a UNION ALL SELECT 1 UNION ALL (SELECT 2 UNION SELECT 2) INTERSECT SELECT 2;
GO
DECLARE @turns nvarchar(max) = N'SELECT 1 AS a' + REPLICATE(CAST(N' UNION SELECT 2 EXCEPT SELECT 3' AS nvarchar(max)), 200);
EXEC (@turns);
GO
WITH n (n) AS (SELECT 1 UNION SELECT 2 UNION ALL SELECT n + 2 FROM n WHERE n < 4 UNION ALL SELECT n + 10 FROM n WHERE n < 2)
SELECT n FROM n ORDER BY n;
GO
WITH n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 3 UNION ALL SELECT 7)
SELECT n FROM n;
GO
WITH n (n) AS (SELECT n FROM n UNION ALL SELECT 7) SELECT n FROM n;
GO
WITH n (n) AS (SELECT 1 UNION SELECT n + 1 FROM n WHERE n < 3) SELECT n FROM n;
GO
-- Values without a limit are cut to TEXTSIZE, in bytes; those with one, and what statements keep, are not.
CREATE TABLE dbo.long_text (id int, b varchar(max), n nvarchar(max), x varbinary(max), s varchar(20), t text);
SET TEXTSIZE 5;
INSERT dbo.long_text OUTPUT inserted.b, inserted.s
VALUES (1, 'abcdefgh', N'abcdefgh', 0x010203040506, 'abcdefgh', 'abcdefgh');
SELECT b, n, x, s, t, LEN(b) AS whole, @@TEXTSIZE AS size FROM dbo.long_text;
DECLARE c CURSOR FOR SELECT n FROM dbo.long_text;
OPEN c;
FETCH c;
CLOSE c;
DEALLOCATE c;
DECLARE @t TABLE (b varchar(max));
INSERT @t SELECT b FROM dbo.long_text;
SET TEXTSIZE -1;
SELECT b FROM @t UNION ALL SELECT N'😀😀';
SET TEXTSIZE 6;
SELECT CAST(N'😀😀' AS nvarchar(max)) AS pairs, CAST('é€' AS varchar(max)) AS bytes;
SET TEXTSIZE 2147483647;
GO
-- Keys that name no column.
CREATE TABLE dbo.no_key (a int, PRIMARY KEY (nothing));
GO
CREATE TABLE dbo.no_key (a int, CONSTRAINT uq UNIQUE (a, a));
GO
ALTER TABLE dbo.product ADD CONSTRAINT uq_nothing UNIQUE (nothing);
GO
CREATE INDEX ix_nothing ON dbo.product (nothing);
GO
-- Who may be in a database.
CREATE DATABASE shop;
GO
ALTER DATABASE shop SET SINGLE_USER WITH ROLLBACK IMMEDIATE;
SELECT user_access, user_access_desc, DATABASEPROPERTYEX('shop', 'UserAccess') AS property FROM sys.databases WHERE name = 'shop';
USE shop;
ALTER DATABASE CURRENT SET RESTRICTED_USER WITH ROLLBACK AFTER 2 SECONDS;
SELECT user_access FROM sys.databases WHERE name = 'shop';
ALTER DATABASE shop SET MULTI_USER;
USE master;
ALTER DATABASE shop SET SINGLE_USER WITH NO_WAIT;
DROP DATABASE shop;
GO
ALTER DATABASE master SET SINGLE_USER;
GO
ALTER DATABASE tempdb SET RESTRICTED_USER WITH ROLLBACK IMMEDIATE;
GO
-- Views, procedures, functions, triggers and synonyms get other names; their texts stay as they were written.
CREATE VIEW dbo.all_tags AS SELECT id FROM dbo.tag;
GO
CREATE PROCEDURE dbo.count_tags AS SELECT COUNT(*) AS n FROM dbo.tag;
GO
CREATE TRIGGER dbo.watch_tags ON dbo.tag AFTER INSERT AS PRINT 'watched';
GO
EXEC sp_rename 'dbo.all_tags', 'every_tag';
EXEC sp_rename 'count_tags', 'number of tags', 'OBJECT';
EXEC sp_rename 'dbo.watch_tags', 'seen';
SELECT id FROM dbo.every_tag;
EXEC dbo.[number of tags];
INSERT dbo.tag VALUES (3);
SELECT name, type, OBJECT_NAME(parent_object_id) AS parent FROM sys.objects WHERE name IN ('every_tag', 'number of tags', 'seen') ORDER BY name;
SELECT id FROM dbo.all_tags;
GO
EXEC sp_rename 'dbo.every_tag', 'product';
GO
EXEC sp_rename 'dbo.every_tag', 'EVERY_TAG';
EXEC sp_refreshview 'dbo.every_tag';
EXEC sp_refreshsqlmodule 'dbo.number of tags';
EXEC sp_refreshview 'dbo.nobody';
GO
EXEC sp_refreshview 'dbo.tag';
GO
BEGIN TRANSACTION;
EXEC sp_rename 'dbo.EVERY_TAG', 'gone';
ROLLBACK;
SELECT name FROM sys.views;
GO
EXEC sp_help 'int';
GO
-- What drivers ask about keys and routines.
CREATE FUNCTION dbo.twice_of (@n int) RETURNS int AS BEGIN RETURN @n * 2 END;
GO
EXEC sp_stored_procedures '%o%', 'dbo';
EXEC sp_fkeys NULL, '', NULL, 'product_tag', '', NULL;
EXEC sp_pkeys 'tag', '';
GO
-- Where the type of a table-valued parameter is.
CREATE TYPE dbo.numbers AS TABLE (n int);
GO
CREATE PROCEDURE dbo.takes_numbers @n dbo.numbers READONLY, @m int AS SELECT 1 AS one;
GO
EXEC sp_sproc_columns_100 'takes_numbers', NULL, NULL, NULL, 3;
GO
-- Qualifiers of the catalog procedures; users as scripts of old know them; times with more digits than there are.
EXEC sp_fkeys @pktable_name = 'tag', @pktable_qualifier = 'elsewhere';
EXEC sp_pkeys 'tag', NULL, '';
EXEC sp_stored_procedures 'nothing', NULL, 'master';
SELECT name, uid, gid, islogin, issqlrole FROM sysusers WHERE uid IN (0, 1, 2, 16384) ORDER BY uid;
SELECT CAST('2018-01-02T11:22:33.1234567+12:34' AS datetimeoffset) AS a, CAST('23:59:59.9999999' AS time) AS b;
SELECT CAST('12:00:00.1234567890' AS time);
GO
-- Which columns a CHECK constraint reads, which tools compare by the table that they are in.
CREATE TABLE dbo.checked (a int CONSTRAINT ck_a CHECK (a > 0), b int, c int CONSTRAINT ck_none CHECK (1 = 1), CONSTRAINT ck_both CHECK (a < b OR b IS NULL));
SELECT CONSTRAINT_NAME, COLUMN_NAME FROM INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE WHERE TABLE_NAME = 'checked' ORDER BY 1, 2;
SELECT CONSTRAINT_NAME FROM INFORMATION_SCHEMA.CONSTRAINT_TABLE_USAGE WHERE TABLE_NAME = 'checked' ORDER BY 1;
DROP TABLE dbo.checked;
GO
-- What CONCAT gives is never NULL, and neither is a column of it.
CREATE TABLE dbo.full_names (first nvarchar(20) NOT NULL, last nvarchar(20) NULL, both AS CONCAT(first, ' ', last), sum AS first + ' ' + last);
SELECT name, is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('dbo.full_names') ORDER BY column_id;
SELECT CONCAT_WS(' ', first, last) AS both, first + last AS sum INTO dbo.kept_names FROM dbo.full_names;
SELECT name, is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('dbo.kept_names') ORDER BY column_id;
DROP TABLE dbo.kept_names;
DROP TABLE dbo.full_names;
GO
-- Clients set all that they know of in one batch, the language behind the order of dates and the first day.
SET DATEFIRST 3;
SET DATEFORMAT dmy;
SET LANGUAGE us_english;
SELECT @@DATEFIRST AS first_day, CAST('13/02/2020' AS datetime) AS day;
SET LANGUAGE Deutsch;
SET LANGUAGE us_english;
SELECT @@DATEFIRST AS first_day;
GO
-- A key of a table type fails as that of a table does.
CREATE TYPE dbo.of_no_key AS TABLE (id int, PRIMARY KEY (code));
GO
-- Where the values of a result's columns come from, which says what loads and updatable result sets may write.
CREATE TABLE dbo.sources (id int IDENTITY, a int NULL, twice AS a * 2, v rowversion);
GO
CREATE VIEW dbo.shown_sources AS SELECT id, a AS b, a + 1 AS c FROM dbo.sources;
GO
EXEC sp_describe_first_result_set N'SELECT s.*, s.a + 1 AS more FROM dbo.sources AS s';
EXEC sp_describe_first_result_set N'SELECT id, b, c FROM (SELECT TOP 1 * FROM dbo.shown_sources) AS d';
EXEC sp_describe_first_result_set N'SELECT id FROM dbo.sources UNION ALL SELECT a FROM dbo.sources';
SELECT name, is_identity FROM sys.columns WHERE object_id = OBJECT_ID('dbo.shown_sources') ORDER BY column_id;
DROP VIEW dbo.shown_sources;
DROP TABLE dbo.sources;
GO
-- A text that is no XML ends the batch and its transaction, as other conversions that fail do.
BEGIN TRANSACTION;
SELECT CAST('<a>' AS xml) AS x;
SELECT 1 AS not_reached;
GO
SELECT @@TRANCOUNT AS open_transactions;
BEGIN TRY
    BEGIN TRANSACTION;
    DECLARE @x xml = '<a></b>';
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number, XACT_STATE() AS state;
    ROLLBACK;
END CATCH
GO
-- A subquery in the condition of an outer join is asked for the rows of its right side.
CREATE TABLE dbo.l (a int); CREATE TABLE dbo.r (a int, b int); CREATE TABLE dbo.allowed (b int);
INSERT dbo.l VALUES (1), (2), (3);
INSERT dbo.r VALUES (1, 10), (1, 11), (2, 12);
INSERT dbo.allowed VALUES (10), (13);
GO
SELECT l.a, r.b FROM dbo.l AS l LEFT JOIN dbo.r AS r ON r.a = l.a AND r.b IN (SELECT b FROM dbo.allowed) ORDER BY l.a, r.b;
SELECT l.a, dbo.r.b FROM dbo.l LEFT JOIN dbo.r ON l.a = (SELECT TOP (1) x.a FROM dbo.r AS x WHERE x.b > dbo.r.b) ORDER BY l.a, r.b;
SELECT l.a, r.b, x.b FROM dbo.l LEFT JOIN (dbo.r JOIN dbo.allowed AS x ON x.b = r.b AND EXISTS (SELECT 1 FROM dbo.l WHERE a = r.a)) ON r.a = l.a ORDER BY l.a;
UPDATE l SET a = l.a + 10 FROM dbo.l LEFT JOIN dbo.r AS r ON r.a = l.a AND NOT EXISTS (SELECT 1 FROM dbo.allowed WHERE b = r.b) WHERE r.b IS NULL;
SELECT a FROM dbo.l ORDER BY a;
GO
SELECT l.a FROM dbo.l RIGHT JOIN dbo.r AS r ON r.b IN (SELECT b FROM dbo.allowed);
GO
-- Parts of a set operation with an order of their own.
SELECT b FROM ((SELECT TOP 1 b FROM dbo.r ORDER BY b DESC) UNION ALL (SELECT TOP (1) b FROM dbo.allowed ORDER BY b)) AS u ORDER BY b;
SELECT * FROM ((SELECT TOP 1 MAX(b), a, a FROM dbo.r GROUP BY a ORDER BY 1) UNION ALL SELECT 1, 2, 3) AS u (x, y, z) ORDER BY 1;
SELECT * FROM ((SELECT TOP 2 b FROM dbo.r ORDER BY b DESC) EXCEPT (SELECT TOP 1 b FROM dbo.r ORDER BY b DESC)) AS u;
GO
-- Not those of a statement's own query.
(SELECT TOP 2 b FROM dbo.r ORDER BY b DESC) EXCEPT (SELECT TOP 1 b FROM dbo.r ORDER BY b DESC);
GO
SELECT b FROM dbo.r WHERE b IN (SELECT x.b FROM ((SELECT TOP 1 b FROM dbo.r ORDER BY b) UNION ALL (SELECT TOP 1 b FROM dbo.r ORDER BY b DESC)) AS x) UNION (SELECT TOP 1 1 FROM dbo.r) ORDER BY b;
GO
(SELECT b FROM dbo.r ORDER BY b) UNION (SELECT b FROM dbo.allowed);
GO
DROP TABLE dbo.l, dbo.r, dbo.allowed;
GO
-- A CHECK constraint that reads one column is that column's, also behind the columns.
CREATE TABLE dbo.checked (a int, b int, CONSTRAINT ck_a CHECK (a > 0), CONSTRAINT ck_both CHECK (a < b));
SELECT name, parent_column_id FROM sys.check_constraints WHERE parent_object_id = OBJECT_ID('dbo.checked') ORDER BY name;
DROP TABLE dbo.checked;
GO
-- tempdb has the temporary tables of sessions by names that carry their numbers.
CREATE TABLE #mine (a int PRIMARY KEY);
SELECT LEFT(name, 9) AS name, LEN(name) AS length FROM tempdb.sys.tables WHERE name LIKE '#mine[_][_][_]%';
SELECT LEFT(TABLE_NAME, 9) AS name, LEN(TABLE_NAME) AS length FROM tempdb.INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME LIKE '#mine[_]%';
DROP TABLE #mine;
GO
-- A constraint of the table may stand behind a column, or another one, without a comma.
CREATE TABLE dbo.linked (id int NOT NULL CONSTRAINT pk_linked PRIMARY KEY (id), up int NULL CONSTRAINT fk_up FOREIGN KEY (up) REFERENCES dbo.linked (id), c int,);
ALTER TABLE dbo.linked ADD other int NULL CONSTRAINT fk_other FOREIGN KEY (other) REFERENCES dbo.linked (id) CONSTRAINT ck_other CHECK (other > 0), d int;
SELECT name, type FROM sys.objects WHERE parent_object_id = OBJECT_ID('dbo.linked') ORDER BY name;
DROP TABLE dbo.linked;
GO
-- Bytes that nobody can foretell, other ones in each row.
SELECT DATALENGTH(CRYPT_GEN_RANDOM(3)) AS three, DATALENGTH(CRYPT_GEN_RANDOM(8000, 0x01)) AS most, CRYPT_GEN_RANDOM(0) AS none, CRYPT_GEN_RANDOM(8001) AS too_many, CRYPT_GEN_RANDOM(NULL) AS unknown;
SELECT COUNT(DISTINCT CRYPT_GEN_RANDOM(16)) AS different FROM (VALUES (1), (2), (3)) AS v (a);
GO
USE tempdb;
DBCC USEROPTIONS;
USE master;
GO
