-- What refers to what, as the texts say it when somebody asks.
CREATE SCHEMA s;
GO
CREATE TYPE dbo.code FROM varchar(10);
CREATE TYPE dbo.list AS TABLE (id int);
CREATE SEQUENCE dbo.numbers AS int;
CREATE XML SCHEMA COLLECTION dbo.shapes AS N'<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"><xsd:element name="a"/></xsd:schema>';
CREATE PARTITION FUNCTION parts (int) AS RANGE LEFT FOR VALUES (10);
GO
CREATE FUNCTION dbo.twice (@x int) RETURNS int WITH SCHEMABINDING AS BEGIN RETURN @x * 2 END;
GO
CREATE TABLE s.t (a int DEFAULT (NEXT VALUE FOR dbo.numbers), b int CONSTRAINT ck_b CHECK (b > 0), c AS a + b, d AS dbo.twice(b),
    e int CONSTRAINT df_e DEFAULT (dbo.twice(4)), CONSTRAINT ck_ab CHECK (a < b));
CREATE TABLE dbo.u (x int, y int);
GO
CREATE VIEW dbo.v AS SELECT t.a, u.y FROM s.t AS t JOIN u ON u.x = t.b WHERE t.e > (SELECT MAX(x) FROM dbo.u);
GO
CREATE VIEW dbo.bound WITH SCHEMABINDING AS SELECT a, dbo.twice(b) AS b FROM s.t;
GO
CREATE VIEW dbo.everything AS SELECT * FROM dbo.v;
GO
CREATE FUNCTION dbo.rows_of (@id int) RETURNS TABLE AS RETURN SELECT v.a FROM dbo.v WHERE y = @id;
GO
CREATE PROCEDURE dbo.work @c dbo.code, @l dbo.list READONLY AS
    DECLARE @x xml (dbo.shapes);
    CREATE TABLE #own (q int);
    WITH common AS (SELECT x FROM dbo.u)
    INSERT s.t (a, b) SELECT x, $PARTITION.parts(x) FROM common;
    UPDATE z SET e = f.a + 1 FROM s.t AS z CROSS APPLY dbo.rows_of(z.a) AS f WHERE z.b = 1;
    DELETE FROM dbo.u WHERE x IN (SELECT id FROM @l);
    INSERT dbo.u VALUES (1, 2);
    SELECT q, name FROM #own CROSS JOIN sys.objects;
    EXEC other 1;
    EXEC dbo.other 2;
    EXEC elsewhere.dbo.p;
    EXEC elsewhere..p;
    EXEC sp_who;
    SELECT * FROM elsewhere.dbo.t1 JOIN far.elsewhere.dbo.t2 ON 1 = 1;
GO
CREATE PROCEDURE dbo.other @n int AS SELECT missing.a, dbo.nothing(1) FROM dbo.missing; SELECT x FROM u;
GO
CREATE TRIGGER s.tr ON s.t AFTER INSERT AS INSERT dbo.u (x) SELECT i.a FROM inserted AS i;
GO
CREATE TRIGGER watch ON DATABASE FOR CREATE_TABLE AS INSERT dbo.u (y) VALUES (1);
GO
SELECT COALESCE(OBJECT_NAME(d.referencing_id), t.name) name, d.referencing_minor_id minor, d.referencing_class_desc class, d.is_schema_bound_reference bound,
    d.referenced_class_desc, d.referenced_server_name server, d.referenced_database_name db, d.referenced_schema_name sch, d.referenced_entity_name entity,
    IIF(d.referenced_id IS NULL, 'no', 'yes') id, d.referenced_minor_id minor, d.is_caller_dependent caller, d.is_ambiguous ambiguous
FROM sys.sql_expression_dependencies d LEFT JOIN sys.triggers t ON t.object_id = d.referencing_id
WHERE OBJECT_NAME(d.referencing_id) IS NULL OR OBJECT_NAME(d.referencing_id) NOT LIKE 'DF[_][_]%'
ORDER BY name, d.referencing_minor_id, d.referenced_class_desc, entity, sch, server, db, d.referenced_minor_id;
SELECT COUNT(*) of_unnamed_default FROM sys.sql_expression_dependencies WHERE OBJECT_NAME(referencing_id) LIKE 'DF[_][_]%' AND referenced_id = OBJECT_ID('dbo.numbers');
GO
SELECT referenced_schema_name sch, referenced_entity_name entity, referenced_minor_name col, referenced_minor_id, referenced_class_desc, is_caller_dependent caller,
    is_selected sel, is_updated upd, is_select_all, is_all_columns_found found, is_insert_all, is_incomplete
FROM sys.dm_sql_referenced_entities('dbo.work', 'OBJECT') ORDER BY entity, sch, referenced_database_name, referenced_minor_id;
SELECT referenced_schema_name sch, referenced_entity_name entity, referenced_minor_name col, is_select_all, is_all_columns_found found FROM sys.dm_sql_referenced_entities('dbo.other', 'OBJECT') ORDER BY entity, col;
SELECT referenced_entity_name entity, referenced_minor_name col, is_select_all FROM sys.dm_sql_referenced_entities('dbo.everything', 'OBJECT') ORDER BY col;
SELECT referencing_minor_id, referenced_entity_name entity, referenced_minor_name col FROM sys.dm_sql_referenced_entities('s.t', 'OBJECT') ORDER BY 1, 2, 3;
SELECT referenced_entity_name entity, referenced_minor_name col FROM sys.dm_sql_referenced_entities('watch', 'DATABASE_DDL_TRIGGER') ORDER BY col;
SELECT COUNT(*) n FROM sys.dm_sql_referenced_entities('work', 'OBJECT');
SELECT COUNT(*) n FROM sys.dm_sql_referenced_entities('dbo.nothing', 'OBJECT');
GO
SELECT referencing_schema_name sch, referencing_entity_name entity, referencing_class, referencing_class_desc, is_caller_dependent FROM sys.dm_sql_referencing_entities('s.t', 'OBJECT') ORDER BY 2;
SELECT referencing_entity_name entity, referencing_class_desc, is_caller_dependent FROM sys.dm_sql_referencing_entities('dbo.u', 'OBJECT') ORDER BY 1;
SELECT referencing_entity_name entity, is_caller_dependent FROM sys.dm_sql_referencing_entities('dbo.other', 'OBJECT');
SELECT referencing_entity_name entity FROM sys.dm_sql_referencing_entities('dbo.code', 'TYPE');
SELECT referencing_entity_name entity FROM sys.dm_sql_referencing_entities('dbo.shapes', 'XML_SCHEMA_COLLECTION');
SELECT referencing_entity_name entity FROM sys.dm_sql_referencing_entities('parts', 'PARTITION_FUNCTION');
GO
SELECT class, class_desc, OBJECT_NAME(referenced_major_id) referenced, referenced_minor_id, is_selected, is_updated, is_select_all
FROM sys.sql_dependencies WHERE object_id = OBJECT_ID('dbo.work') AND class < 2 ORDER BY referenced, referenced_minor_id;
SELECT OBJECT_NAME(depid) dep, depnumber, deptype, selall, resultobj, readobj FROM sysdepends WHERE id = OBJECT_ID('dbo.v') ORDER BY dep, depnumber;
GO
EXEC sp_depends 'dbo.v';
EXEC sp_depends 's.tr';
EXEC sp_depends 'dbo.everything';
CREATE TABLE lonely (a int);
EXEC sp_depends 'lonely';
GO
EXEC sp_depends 'nothing';
GO
EXEC sp_depends 'other.dbo.v';
GO
-- What is made later is found later.
CREATE TABLE dbo.missing (a int);
SELECT referenced_entity_name entity, IIF(referenced_id IS NULL, 'no', 'yes') id FROM sys.sql_expression_dependencies WHERE referencing_id = OBJECT_ID('dbo.other') ORDER BY 1;
