-- What tools that write objects down as scripts ask for before they look further.
-- Numbers from master's table of values, as scripts make series of them.
SELECT COUNT(*) AS numbers, MIN(number) AS least, MAX(number) AS greatest FROM master..spt_values WHERE type = 'P';
SELECT TOP (3) number, low, high FROM master.dbo.spt_values WHERE type = N'P' AND number >= 7 ORDER BY number;
SELECT DATEADD(day, number, '20240227') AS day FROM master.dbo.spt_values WHERE type = 'P' AND number < 3 ORDER BY number;
SELECT CONVERT(float, low / 1024.) AS page_kb FROM master.dbo.spt_values WHERE number = 1 AND type = 'E';
SELECT name FROM master..spt_values WHERE type = 'L' AND number IN (4, 6) ORDER BY number;
-- It is in no list of the database's views.
SELECT COUNT(*) AS listed FROM sys.all_objects WHERE name = 'spt_values';
GO
SELECT FULLTEXTSERVICEPROPERTY('IsFullTextInstalled') AS installed, FULLTEXTSERVICEPROPERTY('LoadOSResources') AS unknown;
SELECT sys.fn_varbintohexstr(0x00FFA1) AS s, master.dbo.fn_varbintohexstr(NULL) AS n, master.sys.fn_varbintohexstr(0x) AS e;
SELECT sys.fn_varbintohexsubstring(0, 0x0102030405, 2, 3) AS part, sys.fn_varbintohexsubstring(1, 0x0102030405, 4, 0) AS rest,
       sys.fn_varbintohexsubstring(1, 0x0102, 5, 1) AS outside, master.dbo.fn_varbintohexsubstring(0, 0x0102, 0, 1) AS zero;
GO
SELECT dbo.fn_varbintohexstr(0x01);
GO
SELECT name, endpoint_id, protocol_desc, type_desc, state_desc, is_admin_endpoint FROM sys.endpoints;
SELECT name, minimum, value_in_use FROM sys.configurations WHERE configuration_id IN (1534, 16390, 1562) ORDER BY configuration_id;
EXEC sp_configure 'xp_cmdshell', 0;
EXEC sp_configure 'clr enabled', 1;
GO
CREATE TYPE dbo.pairs AS TABLE (a int NOT NULL PRIMARY KEY, b AS a + 1);
SELECT c.name, COLUMNPROPERTY(c.object_id, c.name, 'IsComputed') AS computed
FROM sys.table_types t JOIN sys.columns c ON c.object_id = t.type_table_object_id WHERE t.name = 'pairs' ORDER BY c.column_id;
GO
CREATE TABLE dbo.shown (id int IDENTITY(5, 2) CONSTRAINT pk_shown PRIMARY KEY, name varchar(20));
GO
CREATE VIEW dbo.showing AS SELECT id, name FROM dbo.shown;
GO
SELECT OBJECT_NAME(object_id) AS object, name, seed_value, increment_value, last_value FROM sys.identity_columns
WHERE OBJECT_NAME(object_id) LIKE 'show%' ORDER BY object;
INSERT dbo.shown (name) VALUES ('a'), ('b');
SELECT last_value FROM sys.identity_columns WHERE object_id = OBJECT_ID('dbo.shown');
GO
DBCC SHOW_STATISTICS ('dbo.shown', pk_shown);
DBCC SHOW_STATISTICS ('dbo.shown', 'pk_shown') WITH DENSITY_VECTOR, NO_INFOMSGS;
DBCC SHOW_STATISTICS ('dbo.shown', 'pk_shown') WITH STATS_STREAM;
GO
DBCC SHOW_STATISTICS ('dbo.shown', 'nothing');
GO
DBCC SHOW_STATISTICS ('dbo.nothing', 'pk_shown');
GO
DBCC SHOW_STATISTICS ('dbo.shown', 'pk_shown') WITH JOIN;
GO
SELECT type_desc, total_page_count - allocated_extent_page_count - unallocated_extent_page_count AS rest
FROM sys.dm_db_file_space_usage u JOIN sys.database_files f ON f.file_id = u.file_id WHERE u.database_id = DB_ID();
GO
CREATE TABLE dbo.named (a int NOT NULL DEFAULT 1, b int CONSTRAINT df_b DEFAULT 2, PRIMARY KEY (a), CONSTRAINT uq_b UNIQUE (b));
SELECT type, is_system_named FROM sys.key_constraints WHERE parent_object_id = OBJECT_ID('dbo.named') ORDER BY type;
SELECT parent_column_id, is_system_named FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('dbo.named') ORDER BY parent_column_id;
SELECT msdb.dbo.fn_syspolicy_is_automation_enabled() AS automated, SID_BINARY(N'') AS sid;
GO
CREATE XML SCHEMA COLLECTION dbo.shapes AS N'<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:a"><xsd:element name="x"/></xsd:schema>';
GO
SELECT XML_SCHEMA_NAMESPACE(N'dbo', N'shapes') AS schemas, XML_SCHEMA_NAMESPACE(N'dbo', N'nothing') AS nothing;
SELECT XML_SCHEMA_NAMESPACE(N'dbo', N'shapes', N'urn:a');
GO
-- An index of all columns has no key.
CREATE TABLE dbo.columnar (a varchar(3), b int, INDEX cci CLUSTERED COLUMNSTORE);
DBCC SHOW_STATISTICS ('dbo.columnar', 'cci') WITH HISTOGRAM, NO_INFOMSGS;
