CREATE DATABASE other
GO
CREATE TABLE dbo.t (id int IDENTITY(10, 5) PRIMARY KEY, v int)
CREATE TABLE other.dbo.u (id int IDENTITY PRIMARY KEY)
CREATE TABLE ##g (id int IDENTITY CONSTRAINT pk_g PRIMARY KEY, v int)
GO
CREATE SYNONYM dbo.s FOR other.dbo.u
CREATE SYNONYM dbo.tables FOR sys.tables
GO
SELECT name, type, type_desc, base_object_name FROM sys.synonyms ORDER BY name
SELECT name, type FROM sys.objects WHERE type = 'SN' ORDER BY name
SELECT name FROM dbo.tables
GO
SELECT OBJECT_NAME(OBJECT_ID('s')), OBJECT_NAME(OBJECT_ID('other.dbo.u'), DB_ID('other')), OBJECT_ID('s', 'U'), DB_NAME(DB_ID('other'))
SELECT CASE WHEN OBJECT_ID('tempdb..##g') > 0 THEN 'there' END, OBJECT_ID('tempdb..##none'), OBJECT_ID('##g')
SELECT name, type FROM tempdb.sys.tables
SELECT o.name, o.type FROM tempdb.sys.objects AS o WHERE parent_object_id = OBJECT_ID('tempdb..##g')
SELECT c.name, c.is_identity FROM tempdb.sys.columns AS c WHERE c.object_id = OBJECT_ID('tempdb..##g') ORDER BY c.column_id
SELECT TABLE_NAME FROM tempdb.INFORMATION_SCHEMA.TABLES
SELECT name FROM other.sys.tables
GO
SELECT * FROM msdb.dbo.x
GO
SELECT * FROM master..nothing
GO
SELECT COUNT(*) FROM master..sysobjects WHERE name = 's'
GO
INSERT dbo.t (v) VALUES (1), (2)
DBCC CHECKIDENT ('dbo.t')
DBCC CHECKIDENT (t, NORESEED)
DBCC CHECKIDENT ('t', RESEED, 100)
INSERT dbo.t (v) VALUES (3)
SELECT id FROM dbo.t ORDER BY id
GO
DBCC CHECKIDENT ('other.dbo.u', RESEED, 7) WITH NO_INFOMSGS
INSERT other..u DEFAULT VALUES
INSERT s DEFAULT VALUES
SELECT id FROM s
DBCC CHECKIDENT ('other..u', RESEED, 1)
DBCC CHECKIDENT ('other..u', RESEED)
INSERT s DEFAULT VALUES
SELECT MAX(id) FROM s
GO
INSERT ##g (v) VALUES (1)
DBCC CHECKIDENT ('##g', RESEED, 50)
INSERT ##g (v) VALUES (1)
SELECT id FROM ##g
CREATE TABLE #l (id int IDENTITY) INSERT #l DEFAULT VALUES
DBCC CHECKIDENT ('#l', RESEED, -3)
INSERT #l DEFAULT VALUES
SELECT id FROM #l
GO
CREATE TABLE #n (id int IDENTITY)
DBCC CHECKIDENT ('#n', RESEED, 4)
DBCC CHECKIDENT ('#n', RESEED, 6)
INSERT #n DEFAULT VALUES
DBCC CHECKIDENT ('#n', RESEED, 8)
INSERT #n DEFAULT VALUES
SELECT id FROM #n
GO
DBCC CHECKIDENT ('nothing')
GO
CREATE TABLE plain (a int)
DBCC CHECKIDENT ('plain')
GO
DBCC CHECKIDENT ('t', 'SOMETHING')
GO
USE tempdb
CREATE TABLE ##h (a int)
INSERT ##h VALUES (1)
SELECT name FROM sys.tables ORDER BY name
USE master
SELECT a FROM ##h
DROP TABLE ##h
GO
DROP SYNONYM s, dbo.tables
GO
SELECT * FROM dbo.s
GO
-- System procedures work in the database that their name says.
CREATE DATABASE described
GO
EXEC described.sys.sp_addextendedproperty 'owner', 'nobody'
EXEC described..sp_addextendedproperty 'owner', 'nobody'
SELECT name, value, DB_NAME() AS current_database FROM described.sys.extended_properties
SELECT COUNT(*) AS here FROM sys.extended_properties
EXEC nowhere.sys.sp_dropextendedproperty 'owner'
GO
EXEC described.dbo.sp_dropextendedproperty 'owner'
SELECT COUNT(*) AS there FROM described.sys.extended_properties
GO
DROP DATABASE described
GO
