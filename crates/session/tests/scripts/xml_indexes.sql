-- Indexes of xml are definitions: they are kept, shown and dropped, and change no answer.
CREATE TABLE dbo.doc (id int NOT NULL CONSTRAINT pk_doc PRIMARY KEY, body xml NULL, other xml NULL, name nvarchar(20) NULL, twice AS id * 2);
INSERT dbo.doc (id, body) VALUES (1, '<a><b>one</b></a>'), (2, '<a><b>two</b></a>');
CREATE PRIMARY XML INDEX px_body ON dbo.doc (body) WITH (PAD_INDEX = OFF);
CREATE XML INDEX ix_path ON dbo.doc (body) USING XML INDEX px_body FOR PATH;
CREATE XML INDEX ix_property ON dbo.doc (body) USING XML INDEX px_body FOR PROPERTY;
CREATE XML INDEX ix_value ON dbo.doc (body) USING XML INDEX px_body FOR VALUE;
CREATE PRIMARY XML INDEX px_other ON dbo.doc (other);
CREATE INDEX by_name ON dbo.doc (name);
SELECT index_id, name, type, type_desc, is_unique, is_disabled FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.doc') ORDER BY index_id;
SELECT name, using_xml_index_id, secondary_type, secondary_type_desc, xml_index_type, xml_index_type_description, path_id FROM sys.xml_indexes ORDER BY index_id;
SELECT index_id, COL_NAME(object_id, column_id) AS name, index_column_id, key_ordinal, is_included_column FROM sys.index_columns WHERE object_id = OBJECT_ID('dbo.doc') ORDER BY index_id;
SELECT name FROM sys.stats WHERE object_id = OBJECT_ID('dbo.doc') ORDER BY stats_id;
EXEC sp_helpindex 'dbo.doc';
SELECT id FROM dbo.doc WHERE body.exist('/a/b[. = "two"]') = 1;
ALTER INDEX px_body ON dbo.doc DISABLE;
SELECT name, is_disabled FROM sys.xml_indexes ORDER BY index_id;
ALTER INDEX ALL ON dbo.doc REBUILD;
SELECT name, is_disabled FROM sys.xml_indexes ORDER BY index_id;
GO
-- What there cannot be.
CREATE PRIMARY XML INDEX again ON dbo.doc (body);
GO
CREATE PRIMARY XML INDEX px_other ON dbo.doc (name);
GO
CREATE PRIMARY XML INDEX of_nothing ON dbo.doc (nothing);
GO
CREATE XML INDEX alone ON dbo.doc (body);
GO
CREATE XML INDEX of_another ON dbo.doc (body) USING XML INDEX px_other FOR PATH;
GO
CREATE XML INDEX px_body ON dbo.doc (body) USING XML INDEX px_body FOR PATH;
GO
CREATE XML INDEX px_body ON dbo.doc (body) USING XML INDEX px_body FOR PATH WITH (DROP_EXISTING = ON);
GO
CREATE PRIMARY INDEX no_such ON dbo.doc (name);
GO
CREATE UNIQUE XML INDEX no_such ON dbo.doc (body) USING XML INDEX px_body FOR PATH;
GO
CREATE CLUSTERED XML INDEX no_such ON dbo.doc (body) USING XML INDEX px_body FOR PATH;
GO
CREATE PRIMARY XML INDEX no_such ON dbo.doc (body) WHERE body IS NOT NULL;
GO
CREATE PRIMARY XML INDEX nowhere ON dbo.nowhere (body);
GO
CREATE TABLE dbo.heap (id int NOT NULL PRIMARY KEY NONCLUSTERED, body xml);
CREATE PRIMARY XML INDEX px ON dbo.heap (body);
GO
CREATE VIEW dbo.docs AS SELECT body FROM dbo.doc;
GO
CREATE PRIMARY XML INDEX px ON dbo.docs (body);
GO
ALTER TABLE dbo.doc DROP CONSTRAINT pk_doc;
GO
ALTER TABLE dbo.doc DROP COLUMN body;
GO
-- A primary one takes those that belong to it with it.
DROP INDEX ix_path ON dbo.doc;
CREATE XML INDEX ix_path ON dbo.doc (body) USING XML INDEX px_body FOR PATH;
DROP INDEX px_body ON dbo.doc;
SELECT name FROM sys.xml_indexes ORDER BY index_id;
DROP INDEX IF EXISTS px_other ON dbo.doc;
ALTER TABLE dbo.doc DROP CONSTRAINT pk_doc;
DROP VIEW dbo.docs;
DROP TABLE dbo.doc, dbo.heap;
