-- hierarchyid: places in a tree, where they come from, and their members.
DECLARE @h hierarchyid = '/1/2.5/'
SELECT @h AS h, @h.ToString() AS shown, @h.GetLevel() AS level, CAST(@h AS varchar(20)) AS narrow, CAST(@h AS nvarchar(20)) AS wide,
    CAST(@h AS varbinary(892)) AS bytes, DATALENGTH(@h) AS length
SELECT hierarchyid::GetRoot() AS root, hierarchyid::Parse('/3/').ToString() AS parsed, hierarchyid::GetRoot().ToString() AS root_shown,
    sys.hierarchyid::Parse('/3/1/').GetAncestor(1).ToString() AS above, hierarchyid::[Null] AS nothing, hierarchyid::Parse(NULL) AS of_null
SELECT CAST(0x58 AS hierarchyid).ToString() AS of_bytes, CONVERT(hierarchyid, N'/1/').ToString() AS of_text,
    TRY_CAST('/1' AS hierarchyid) AS none, TRY_CONVERT(hierarchyid, 0x59) AS none_either
SELECT @h.GetAncestor(0).ToString(), @h.GetAncestor(1).ToString(), @h.GetAncestor(2).ToString(), @h.GetAncestor(3)
SELECT @h.GetDescendant(NULL, NULL).ToString(), @h.GetDescendant('/1/2.5/1/', NULL).ToString(),
    @h.GetDescendant('/1/2.5/1/', '/1/2.5/2/').ToString(), @h.GetReparentedValue('/1/', '/9/9/').ToString(),
    @h.IsDescendantOf('/1/'), @h.IsDescendantOf('/2/'), @h.IsDescendantOf(NULL), @h.IsNull
SELECT (SELECT @h).GetLevel() AS of_query, CASE WHEN @h = '/1/2.5/' THEN 1 END AS same, CASE WHEN '/1/3/' > @h THEN 1 END AS behind
GO
-- A table in the order of its tree.
CREATE TABLE staff (node hierarchyid CONSTRAINT tree PRIMARY KEY CLUSTERED, level AS node.GetLevel(), name varchar(20) NOT NULL,
    CONSTRAINT shallow CHECK (node.GetLevel() < 4))
CREATE UNIQUE INDEX by_level ON staff (level, node)
INSERT staff (node, name) VALUES ('/2/', 'Ben'), ('/1/2/', 'Eva'), ('/', 'Ada'), ('/1/', 'Cy'), ('/1/1/', 'Dan'), ('/-1/', 'Flo'), ('/1.1/', 'Gus')
SELECT node.ToString() AS place, level, name, staff.node.GetAncestor(1).ToString() AS above FROM staff ORDER BY node
SELECT name FROM staff WHERE node.IsDescendantOf('/1/') = 1 ORDER BY node DESC
SELECT name FROM staff WHERE node > '/1/' AND node < '/2/' ORDER BY node
SELECT name FROM staff WHERE node = CAST('/1/2/' AS hierarchyid)
SELECT below.name, above.name AS boss FROM staff below JOIN staff above ON below.node.GetAncestor(1) = above.node ORDER BY below.node
SELECT node.GetAncestor(1).ToString() AS above, COUNT(*) AS people FROM staff GROUP BY node.GetAncestor(1).ToString() ORDER BY people DESC, above
SELECT MAX(node).ToString() AS last, MIN(node).ToString() AS first, COUNT(DISTINCT node) AS nodes FROM staff
SELECT DISTINCT level FROM staff ORDER BY level
UPDATE staff SET node = node.GetReparentedValue('/1/', '/7/') WHERE node.IsDescendantOf('/1/') = 1 AND node <> '/1/'
SELECT node.ToString() AS place, name FROM staff ORDER BY node
GO
INSERT staff (node, name) VALUES ('/2/', 'Ben again')
GO
INSERT staff (node, name) VALUES ('/1/2/3/4/', 'too deep')
GO
DROP TABLE staff
GO
-- What is no place, by its number.
DECLARE @h hierarchyid = '/1/1'
GO
SELECT CAST(0x59 AS hierarchyid)
GO
SELECT hierarchyid::Parse('/1/').GetAncestor(-1)
GO
SELECT hierarchyid::Parse('/1/').GetDescendant('/2/', NULL)
GO
SELECT hierarchyid::Parse('/1/').GetDescendant('/1/3/', '/1/2/')
GO
SELECT hierarchyid::Parse('/1/').GetReparentedValue('/2/', '/3/')
GO
-- Members that there are not, and calls that they do not take.
SELECT hierarchyid::Parse('/1/').getlevel()
GO
SELECT hierarchyid::Parse('/1/').GetLevel
GO
SELECT hierarchyid::Parse('/1/').GetLevel(1)
GO
SELECT hierarchyid::Parse('/1/').GetAncestor(NULL)
GO
SELECT hierarchyid::Parse()
GO
SELECT hierarchyid::Nowhere()
GO
SELECT nowhere::GetRoot()
GO
SELECT hierarchyid::Parse('/1/').[Read](0x58)
GO
DECLARE @n int = 1
SELECT @n.ToString()
GO
DECLARE @h hierarchyid = '/1/'
SET @h.GetLevel()
GO
-- Conversions and operators that there are not.
SELECT CAST(1 AS hierarchyid)
GO
DECLARE @h hierarchyid = '/1/', @s varchar(10)
SET @s = @h
GO
DECLARE @h hierarchyid = '/1/'
SELECT @h + 1
GO
SELECT 1 WHERE 1 = CAST('/1/' AS hierarchyid)
GO
SELECT CAST(hierarchyid::Parse('/1/') AS binary(4))
GO
SELECT CAST(hierarchyid::Parse('/1/2/') AS varchar(3))
GO
SELECT CAST(CAST('/1/' AS hierarchyid) AS sql_variant)
GO
-- What the catalog says of the types.
SELECT name, system_type_id, user_type_id, max_length, is_user_defined, is_assembly_type, is_nullable FROM sys.types WHERE system_type_id = 240 ORDER BY user_type_id
SELECT name, assembly_id, assembly_class, is_binary_ordered, assembly_qualified_name FROM sys.assembly_types ORDER BY user_type_id
SELECT name, assembly_id, is_user_defined FROM sys.assemblies
SELECT TYPE_NAME(128), TYPE_ID('geography'), TYPE_NAME(129)
CREATE TABLE everything (h hierarchyid NOT NULL, g geometry, e geography)
SELECT c.name, c.system_type_id, c.user_type_id, c.max_length, t.name FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.user_type_id
    WHERE c.object_id = OBJECT_ID('everything') ORDER BY c.column_id
SELECT column_name, data_type, character_maximum_length FROM INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'everything' ORDER BY ordinal_position
EXEC sp_columns 'everything'
EXEC sp_describe_first_result_set N'SELECT h, g, e, g.STAsText() FROM everything'
DROP TABLE everything
GO
-- Procedures, functions and table types take and give them.
CREATE PROCEDURE below @of hierarchyid, @child hierarchyid OUTPUT AS SET @child = @of.GetDescendant(NULL, NULL)
GO
DECLARE @child hierarchyid
EXEC below '/4/', @child OUTPUT
SELECT @child.ToString()
GO
CREATE FUNCTION parent (@of hierarchyid) RETURNS hierarchyid AS BEGIN RETURN @of.GetAncestor(1) END
GO
SELECT dbo.parent('/4/5/').ToString()
GO
CREATE TYPE nodes AS TABLE (node hierarchyid PRIMARY KEY)
GO
DECLARE @nodes nodes
INSERT @nodes VALUES ('/2/'), ('/1/')
SELECT node.ToString() FROM @nodes ORDER BY node
SELECT node INTO #copy FROM @nodes
SELECT node.GetLevel() AS level FROM #copy
GO
