CREATE SEQUENCE dbo.s START WITH 5 INCREMENT BY 3;
CREATE SEQUENCE dbo.plain;
CREATE SEQUENCE dbo.tiny AS tinyint MINVALUE 1 MAXVALUE 4 CYCLE CACHE 2;
CREATE SEQUENCE dbo.down AS smallint START WITH 3 INCREMENT BY -1 MINVALUE 1 NO CYCLE NO CACHE;
CREATE SEQUENCE dbo.wide AS decimal(38, 0) START WITH 99999999999999999999999999999999999997;
GO
SELECT NEXT VALUE FOR dbo.s AS a, NEXT VALUE FOR s AS again, NEXT VALUE FOR dbo.plain AS least;
SELECT NEXT VALUE FOR dbo.s AS a;
DECLARE @v int = NEXT VALUE FOR dbo.s;
SET @v += NEXT VALUE FOR dbo.s;
SELECT @v AS v;
DECLARE @w bigint;
SELECT @w = NEXT VALUE FOR dbo.s;
SELECT @w AS w;
GO
SELECT NEXT VALUE FOR dbo.tiny AS t FROM (VALUES (1), (2), (3), (4), (5), (6)) AS v (n);
GO
SELECT NEXT VALUE FOR dbo.down AS d FROM (VALUES (1), (2), (3)) AS v (n);
SELECT NEXT VALUE FOR dbo.down AS d;
GO
SELECT NEXT VALUE FOR dbo.wide AS w;
SELECT NEXT VALUE FOR dbo.wide AS w;
SELECT NEXT VALUE FOR dbo.wide AS w;
SELECT NEXT VALUE FOR dbo.wide AS w;
GO
-- In rows.
CREATE SEQUENCE dbo.ids AS int START WITH 100;
CREATE TABLE dbo.t (id int PRIMARY KEY DEFAULT (NEXT VALUE FOR dbo.ids), name varchar(10), other int NULL);
INSERT dbo.t (name) VALUES ('a'), ('b');
INSERT dbo.t (id, name) VALUES (NEXT VALUE FOR dbo.ids, 'c'), (NEXT VALUE FOR dbo.ids, 'd');
INSERT dbo.t (name) SELECT name + '2' FROM dbo.t WHERE name < 'c';
INSERT dbo.t DEFAULT VALUES;
INSERT dbo.t (id, name) SELECT NEXT VALUE FOR dbo.ids, v.name FROM (VALUES ('x'), ('y')) AS v (name);
INSERT dbo.t (id, name) OUTPUT inserted.id VALUES (DEFAULT, 'z');
SELECT * FROM dbo.t ORDER BY id;
UPDATE dbo.t SET other = NEXT VALUE FOR dbo.ids WHERE id < 103;
SELECT id, other FROM dbo.t WHERE other IS NOT NULL ORDER BY id;
MERGE dbo.t AS t USING (VALUES (100, 'm'), (999, 'n')) AS s (id, name) ON t.id = s.id
WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT (name) VALUES (s.name);
SELECT COUNT(*) AS merged FROM dbo.t WHERE name IN ('m', 'n') AND (id = 100 OR id > 110);
GO
-- In the order that OVER says.
ALTER SEQUENCE dbo.plain RESTART WITH 1;
SELECT v.n, NEXT VALUE FOR dbo.plain OVER (ORDER BY v.n DESC) AS number FROM (VALUES (10), (30), (20)) AS v (n) ORDER BY v.n;
GO
-- A rollback gives no number back.
ALTER SEQUENCE dbo.plain RESTART WITH 1;
BEGIN TRANSACTION;
SELECT NEXT VALUE FOR dbo.plain AS within;
ROLLBACK;
SELECT NEXT VALUE FOR dbo.plain AS after;
GO
-- Definitions are undone, with where the sequence stood.
BEGIN TRANSACTION;
ALTER SEQUENCE dbo.plain RESTART WITH 1000 INCREMENT BY 10;
SELECT NEXT VALUE FOR dbo.plain AS within;
SELECT NEXT VALUE FOR dbo.plain AS within;
CREATE SEQUENCE dbo.undone;
ROLLBACK;
SELECT NEXT VALUE FOR dbo.plain AS after;
SELECT NEXT VALUE FOR dbo.undone;
GO
ALTER SEQUENCE dbo.s INCREMENT BY 100 MAXVALUE 200;
SELECT NEXT VALUE FOR dbo.s AS a;
SELECT NEXT VALUE FOR dbo.s AS a;
ALTER SEQUENCE dbo.s CYCLE MINVALUE 7;
SELECT NEXT VALUE FOR dbo.s AS a;
ALTER SEQUENCE dbo.s RESTART;
SELECT NEXT VALUE FOR dbo.s AS a;
GO
-- What cannot be.
CREATE SEQUENCE dbo.s;
GO
CREATE SEQUENCE nowhere.x;
GO
CREATE SEQUENCE dbo.x INCREMENT BY 0;
GO
CREATE SEQUENCE dbo.x MINVALUE 5 MAXVALUE 5;
GO
CREATE SEQUENCE dbo.x MINVALUE 1 MAXVALUE 5 INCREMENT BY 9;
GO
CREATE SEQUENCE dbo.x START WITH 9 MAXVALUE 5;
GO
CREATE SEQUENCE dbo.x AS varchar(10);
GO
CREATE SEQUENCE dbo.x AS tinyint MAXVALUE 300;
GO
CREATE SEQUENCE dbo.x RESTART WITH 1;
GO
CREATE SEQUENCE dbo.x CACHE 0;
GO
CREATE SEQUENCE dbo.x START WITH 1 START WITH 2;
GO
ALTER SEQUENCE dbo.x RESTART;
GO
ALTER SEQUENCE dbo.s START WITH 1;
GO
ALTER SEQUENCE dbo.s AS int;
GO
ALTER SEQUENCE dbo.s MINVALUE 500 MAXVALUE 900;
GO
SELECT NEXT VALUE FOR dbo.none;
GO
SELECT NEXT VALUE FOR dbo.t;
GO
SELECT 1 FROM dbo.t WHERE id = NEXT VALUE FOR dbo.ids;
GO
SELECT (SELECT NEXT VALUE FOR dbo.ids);
GO
SELECT * FROM (SELECT NEXT VALUE FOR dbo.ids AS n) AS d;
GO
SELECT DISTINCT NEXT VALUE FOR dbo.ids FROM dbo.t;
GO
SELECT NEXT VALUE FOR dbo.ids FROM dbo.t ORDER BY id;
GO
SELECT TOP (1) NEXT VALUE FOR dbo.ids FROM dbo.t;
GO
SELECT CASE WHEN 1 = 1 THEN NEXT VALUE FOR dbo.ids END;
GO
CREATE VIEW dbo.w AS SELECT NEXT VALUE FOR dbo.ids AS n;
GO
UPDATE dbo.t SET other = NEXT VALUE FOR dbo.ids OVER (ORDER BY id);
GO
IF 1 = NEXT VALUE FOR dbo.ids PRINT 'x';
GO
DROP SEQUENCE dbo.ids;
GO
DROP SEQUENCE dbo.none;
GO
DROP SEQUENCE IF EXISTS dbo.none;
GO
-- Ranges.
DECLARE @first sql_variant;
EXEC sp_sequence_get_range @sequence_name = N'dbo.plain', @range_size = 1, @range_first_value = @first OUTPUT;
SELECT SQL_VARIANT_PROPERTY(@first, 'BaseType') AS type;
GO
ALTER SEQUENCE dbo.plain RESTART WITH 1;
DECLARE @first bigint, @last bigint, @cycles int, @increment bigint, @least bigint, @most bigint;
EXEC sp_sequence_get_range @sequence_name = N'dbo.plain', @range_size = 100, @range_first_value = @first OUTPUT, @range_last_value = @last OUTPUT,
    @range_cycle_count = @cycles OUTPUT, @sequence_increment = @increment OUTPUT, @sequence_min_value = @least OUTPUT, @sequence_max_value = @most OUTPUT;
SELECT @first AS first, @last AS last, @cycles AS cycles, @increment AS increment, @least AS least, @most AS most;
SELECT NEXT VALUE FOR dbo.plain AS next;
ALTER SEQUENCE dbo.tiny RESTART WITH 3;
EXEC sp_sequence_get_range N'dbo.tiny', 7, @first OUTPUT, @last OUTPUT, @cycles OUTPUT;
SELECT @first AS first, @last AS last, @cycles AS cycles;
EXEC sp_sequence_get_range N'dbo.down', 2, @first OUTPUT;
EXEC sp_sequence_get_range N'dbo.none', 2, @first OUTPUT;
GO
SELECT name, type, type_desc, start_value, increment, minimum_value, maximum_value, is_cycling, is_cached, cache_size, TYPE_NAME(user_type_id) AS type_name, precision, current_value, is_exhausted
FROM sys.sequences WHERE name <> 'wide' ORDER BY name;
SELECT SEQUENCE_SCHEMA, SEQUENCE_NAME, DATA_TYPE, START_VALUE, CYCLE_OPTION FROM INFORMATION_SCHEMA.SEQUENCES ORDER BY SEQUENCE_NAME;
SELECT name, type_desc FROM sys.objects WHERE type = 'SO' ORDER BY name;
DROP TABLE dbo.t;
DROP SEQUENCE dbo.ids, dbo.s, dbo.plain, dbo.tiny, dbo.down, dbo.wide;
SELECT COUNT(*) AS left_over FROM sys.sequences;
GO
-- Another name: the numbers go on. One that a default takes numbers of keeps its name, and so does one whose new name is taken.
CREATE SEQUENCE dbo.orders_seq START WITH 5 CACHE 10;
SELECT NEXT VALUE FOR dbo.orders_seq AS five;
EXEC sp_rename 'dbo.orders_seq', 'orders_sequence';
SELECT NEXT VALUE FOR dbo.orders_sequence AS six;
SELECT name, current_value FROM sys.sequences;
CREATE TABLE dbo.orders (id int DEFAULT NEXT VALUE FOR dbo.orders_sequence);
EXEC sp_rename 'orders_sequence', 'orders';
EXEC sp_rename 'orders_sequence', 'again', 'OBJECT';
DROP TABLE dbo.orders;
BEGIN TRAN;
EXEC sp_rename 'orders_sequence', 'undone', 'OBJECT';
ROLLBACK;
SELECT NEXT VALUE FOR dbo.orders_sequence AS beyond;
GO
SELECT NEXT VALUE FOR dbo.orders_seq;
GO
DROP SEQUENCE dbo.orders_sequence;
GO
