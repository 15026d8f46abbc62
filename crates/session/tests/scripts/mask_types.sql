-- Masks by type.
CREATE TABLE m (
    a char(6) MASKED WITH (FUNCTION = 'default()'),
    b nchar(3) MASKED WITH (FUNCTION = 'default()'),
    c varchar(1) MASKED WITH (FUNCTION = 'default()'),
    d varchar(5) MASKED WITH (FUNCTION = 'email()'),
    e char(8) MASKED WITH (FUNCTION = 'partial(1, "-", 1)'),
    f varchar(10) MASKED WITH (FUNCTION = 'partial(2, "*", 2)'),
    g varchar(5) MASKED WITH (FUNCTION = 'partial(0, "abcdefgh", 0)'),
    h varchar(max) MASKED WITH (FUNCTION = 'default()'),
    i xml MASKED WITH (FUNCTION = 'default()'),
    j sql_variant MASKED WITH (FUNCTION = 'default()'))
INSERT m VALUES ('abc', N'ab', 'a', 'abc', 'ab', 'abcd', 'q', 'long', '<a/>', 'ab')
INSERT m VALUES ('', N'', '', '', '', 'abcde', '', '', '<b/>', 7)
CREATE TABLE n (
    a bit MASKED WITH (FUNCTION = 'default()'),
    b tinyint MASKED WITH (FUNCTION = 'default()'),
    c bigint MASKED WITH (FUNCTION = 'default()'),
    d decimal(6, 2) MASKED WITH (FUNCTION = 'default()'),
    e money MASKED WITH (FUNCTION = 'default()'),
    f float MASKED WITH (FUNCTION = 'default()'),
    g binary(4) MASKED WITH (FUNCTION = 'default()'),
    h varbinary(max) MASKED WITH (FUNCTION = 'default()'),
    i uniqueidentifier MASKED WITH (FUNCTION = 'default()'))
INSERT n VALUES (1, 2, 3, 4.5, 5.5, 6.5, 0x01020304, 0xABCDEF, '12345678-1234-1234-1234-123456789012')
CREATE TABLE o (
    a date MASKED WITH (FUNCTION = 'default()'),
    b time(3) MASKED WITH (FUNCTION = 'default()'),
    c datetime2(2) MASKED WITH (FUNCTION = 'default()'),
    d datetimeoffset(1) MASKED WITH (FUNCTION = 'default()'),
    e smalldatetime MASKED WITH (FUNCTION = 'default()'),
    f datetime2(3) MASKED WITH (FUNCTION = 'datetime("Y")'),
    g datetime2(3) MASKED WITH (FUNCTION = 'datetime("D")'),
    h datetime2(3) MASKED WITH (FUNCTION = 'datetime("h")'),
    i datetime MASKED WITH (FUNCTION = 'datetime("m")'),
    j datetimeoffset(3) MASKED WITH (FUNCTION = 'datetime("s")'),
    k smalldatetime MASKED WITH (FUNCTION = 'datetime("D")'),
    l time MASKED WITH (FUNCTION = 'datetime("h")'))
DECLARE @now datetime2(3) = '2021-07-15 13:14:15.678'
INSERT o VALUES (@now, @now, @now, @now, @now, @now, @now, @now, @now, '2021-07-15 13:14:15.678 +05:30', @now, @now)
CREATE TABLE r (a int MASKED WITH (FUNCTION = 'random(5, 9)'), b decimal(6, 2) MASKED WITH (FUNCTION = 'random(1.5, 2.5)'))
INSERT r SELECT 100, 100 FROM GENERATE_SERIES(1, 50)
CREATE USER u WITHOUT LOGIN
GRANT SELECT TO u
GO
EXECUTE AS USER = 'u'
SELECT a, b, c, d, '[' + e + ']', e, f, g, h, i, j FROM m
SELECT * FROM n
SELECT * FROM o
SELECT a, b INTO #r FROM r
SELECT MIN(a), MAX(a), COUNT(DISTINCT a) FROM #r
SELECT CASE WHEN MIN(b) >= 1.5 AND MAX(b) <= 2.5 AND COUNT(DISTINCT b) > 5 THEN 'within' END FROM #r
SELECT TOP 1 a + 1 FROM r
REVERT
GO
-- What the catalog says of them.
CREATE TABLE canonical (
    a varchar(20) MASKED WITH (FUNCTION = N'PARTIAL( 01 , "a""b" , 0 )'),
    b decimal(6, 2) MASKED WITH (FUNCTION = 'random(1.555, 3)'),
    c money MASKED WITH (FUNCTION = 'random(1, 2.12345)'),
    d int SPARSE MASKED WITH (FUNCTION = 'Random( 01 , 003 )') NULL,
    e varchar(5) COLLATE Latin1_General_BIN MASKED WITH (FUNCTION = 'EMAIL()') NOT NULL,
    f int MASKED WITH (FUNCTION = 'default( )') IDENTITY PRIMARY KEY,
    g uniqueidentifier MASKED WITH (FUNCTION = 'default()') ROWGUIDCOL,
    h rowversion MASKED WITH (FUNCTION = 'default()'),
    i int)
CREATE TYPE tt AS TABLE (a varchar(9) MASKED WITH (FUNCTION = 'email()'))
SELECT OBJECT_NAME(object_id), name, column_id, is_masked, masking_function FROM sys.masked_columns WHERE object_id = OBJECT_ID('canonical')
SELECT name, is_masked FROM sys.columns WHERE object_id = OBJECT_ID('canonical')
SELECT COLUMNPROPERTY(OBJECT_ID('canonical'), 'a', 'IsMasked'), COLUMNPROPERTY(OBJECT_ID('canonical'), 'i', 'IsMasked')
SELECT m.name, m.masking_function FROM sys.masked_columns m JOIN sys.table_types t ON t.type_table_object_id = m.object_id
GO
-- ALTER TABLE.
CREATE TABLE a (x varchar(10), y int MASKED WITH (FUNCTION = 'default()'), z varchar(10) MASKED WITH (FUNCTION = 'email()'), v varchar(10) MASKED WITH (FUNCTION = 'email()'))
ALTER TABLE a ALTER COLUMN x ADD MASKED WITH (FUNCTION = 'partial(1, "x", 0)')
ALTER TABLE a ALTER COLUMN y DROP MASKED
ALTER TABLE a ALTER COLUMN z ADD MASKED WITH (FUNCTION = 'default()')
ALTER TABLE a ADD w int MASKED WITH (FUNCTION = 'random(1, 2)') NULL
EXEC sp_rename 'a.x', 'xx', 'COLUMN'
ALTER TABLE a DROP COLUMN y
ALTER TABLE a ADD q int
SELECT name, masking_function FROM sys.masked_columns WHERE object_id = OBJECT_ID('a') ORDER BY column_id
-- A new type leaves no mask but the one that is said with it.
ALTER TABLE a ALTER COLUMN z varchar(10)
ALTER TABLE a ALTER COLUMN v varchar(20) MASKED WITH (FUNCTION = 'default()') NULL
SELECT name, masking_function FROM sys.masked_columns WHERE object_id = OBJECT_ID('a') ORDER BY column_id
BEGIN TRANSACTION
ALTER TABLE a ALTER COLUMN q ADD MASKED WITH (FUNCTION = 'default()')
ALTER TABLE a ALTER COLUMN v DROP MASKED
ROLLBACK
SELECT name, masking_function FROM sys.masked_columns WHERE object_id = OBJECT_ID('a') ORDER BY column_id
GO
ALTER TABLE a ALTER COLUMN q DROP MASKED
GO
ALTER TABLE a ALTER COLUMN nothing DROP MASKED
GO
ALTER TABLE a ALTER COLUMN q ADD MASKED WITH (FUNCTION = 'email()')
GO
CREATE TABLE ca (x varchar(10) MASKED WITH (FUNCTION = 'default()'), c AS x + '!')
GO
ALTER TABLE ca ALTER COLUMN c ADD MASKED WITH (FUNCTION = 'default()')
GO
ALTER TABLE ca ALTER COLUMN x DROP MASKED
GO
-- Former rows are masked as the table is.
CREATE TABLE s (id int PRIMARY KEY, x varchar(10) MASKED WITH (FUNCTION = 'default()'), y int, b datetime2 GENERATED ALWAYS AS ROW START, e datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (b, e)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.s_history))
INSERT s (id, x, y) VALUES (1, 'one', 1)
ALTER TABLE s ALTER COLUMN y ADD MASKED WITH (FUNCTION = 'default()')
UPDATE s SET x = 'two', y = 2
SELECT OBJECT_NAME(object_id), name FROM sys.masked_columns WHERE OBJECT_NAME(object_id) LIKE 's%' ORDER BY object_id, column_id
EXECUTE AS USER = 'u'
SELECT id, x, y FROM s FOR SYSTEM_TIME ALL
SELECT id, x, y FROM s_history
REVERT
SELECT id, x, y FROM s FOR SYSTEM_TIME ALL ORDER BY y
GO
-- No functions.
CREATE TABLE bad (a varchar(9) MASKED WITH (FUNCTION = 'foo()'))
GO
CREATE TABLE bad (a int MASKED WITH (FUNCTION = 'partial(1,"x",1)'))
GO
CREATE TABLE bad (a varchar(9) MASKED WITH (FUNCTION = 'default(1)'))
GO
CREATE TABLE bad (a int MASKED WITH (FUNCTION = 'random(10,1)'))
GO
CREATE TABLE bad (a varchar(9) MASKED WITH (FUNCTION = 'default'))
GO
CREATE TABLE bad (x int NOT NULL MASKED WITH (FUNCTION = 'default()'))
GO
CREATE TABLE bad (x int DEFAULT 1 MASKED WITH (FUNCTION = 'default()'))
GO
CREATE TABLE bad (x int IDENTITY MASKED WITH (FUNCTION = 'default()'))
GO
CREATE TABLE bad (x int PRIMARY KEY MASKED WITH (FUNCTION = 'default()'))
GO
CREATE TABLE bad (x int MASKED WITH (FUNCTION 'default()'))
GO
CREATE TABLE bad (x int MASKED (FUNCTION = 'default()'))
GO
SELECT OBJECT_ID('bad')
