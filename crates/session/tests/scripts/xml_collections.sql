-- Collections of schemas of xml: definitions that are checked, kept and shown; columns, variables and parameters of them.
CREATE SCHEMA hr
GO
CREATE XML SCHEMA COLLECTION hr.resume AS N'<?xml version="1.0"?>
<xsd:schema targetNamespace="urn:resume" xmlns:xsd="http://www.w3.org/2001/XMLSchema"><xsd:element name="Resume"/></xsd:schema>
<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"/>'
CREATE XML SCHEMA COLLECTION plain AS '<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="a"/></schema>'
-- Names of types are others.
CREATE TYPE dbo.plain FROM int
SELECT s.name AS [schema], c.name FROM sys.xml_schema_collections c JOIN sys.schemas s ON s.schema_id = c.schema_id ORDER BY c.xml_collection_id
SELECT c.name, n.name AS space, n.xml_namespace_id FROM sys.xml_schema_namespaces n JOIN sys.xml_schema_collections c ON c.xml_collection_id = n.xml_collection_id ORDER BY 1, 3
SELECT name FROM sys.types WHERE is_user_defined = 1
GO
CREATE TABLE candidate (id int PRIMARY KEY, resume xml (hr.resume) NULL, other xml (CONTENT plain), document xml(DOCUMENT hr.resume))
INSERT candidate VALUES (1, '<Resume xmlns="urn:resume"><Name>Ada</Name></Resume>', '<a/>', NULL)
SELECT c.name, TYPE_NAME(c.user_type_id) AS type, x.name AS collection FROM sys.columns c
LEFT JOIN sys.xml_schema_collections x ON x.xml_collection_id = c.xml_collection_id
WHERE c.object_id = OBJECT_ID('candidate') ORDER BY column_id
SELECT resume.value('declare namespace r="urn:resume"; (/r:Resume/r:Name)[1]', 'varchar(10)') AS name FROM candidate
GO
CREATE PROCEDURE dbo.add_one @x xml (hr.resume) AS
DECLARE @y xml (plain) = '<a>1</a>'
INSERT candidate VALUES (2, @x, @y, CAST(@x AS xml (hr.resume)))
GO
EXEC dbo.add_one '<Resume xmlns="urn:resume"/>'
SELECT id, resume, other, document FROM candidate WHERE id = 2
GO
-- No XML, and no collection.
INSERT candidate (id, resume) VALUES (3, '<Resume>')
GO
CREATE TABLE bad (x xml (dbo.missing))
GO
DECLARE @x xml (nowhere.resume)
GO
CREATE XML SCHEMA COLLECTION hr.resume AS '<schema xmlns="http://www.w3.org/2001/XMLSchema"/>'
GO
CREATE XML SCHEMA COLLECTION none AS '<schema/>'
GO
CREATE XML SCHEMA COLLECTION none AS '<schema'
GO
CREATE XML SCHEMA COLLECTION none AS 1
GO
CREATE XML SCHEMA COLLECTION elsewhere.none AS '<schema xmlns="http://www.w3.org/2001/XMLSchema"/>'
GO
ALTER XML SCHEMA COLLECTION hr.resume ADD N'<?xml version="1.0"?><schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:more"/>'
SELECT name FROM sys.xml_schema_namespaces ORDER BY xml_collection_id, xml_namespace_id
GO
ALTER XML SCHEMA COLLECTION hr.missing ADD '<schema xmlns="http://www.w3.org/2001/XMLSchema"/>'
GO
-- Properties, and what it takes to drop it.
EXEC sp_addextendedproperty 'about', 'resumes', 'SCHEMA', 'hr', 'XML SCHEMA COLLECTION', 'resume'
SELECT class, class_desc, minor_id, name, value FROM sys.extended_properties
SELECT objtype, objname, value FROM fn_listextendedproperty(NULL, 'SCHEMA', 'hr', 'XML SCHEMA COLLECTION', NULL, NULL, NULL)
GO
DROP XML SCHEMA COLLECTION hr.resume
GO
DROP TABLE candidate
GO
DROP XML SCHEMA COLLECTION hr.resume
GO
DROP SCHEMA hr
GO
DROP PROCEDURE dbo.add_one
DROP XML SCHEMA COLLECTION hr.resume
DROP SCHEMA hr
SELECT COUNT(*) AS left_over FROM sys.extended_properties
GO
DROP XML SCHEMA COLLECTION dbo.missing
GO
-- Triggers of definitions are told of them, and have properties.
CREATE TRIGGER watch ON DATABASE FOR CREATE_XML_SCHEMA_COLLECTION, DROP_XML_SCHEMA_COLLECTION AS
SELECT EVENTDATA().value('(/EVENT_INSTANCE/EventType)[1]', 'sysname') AS event, EVENTDATA().value('(/EVENT_INSTANCE/ObjectType)[1]', 'sysname') AS kind
GO
CREATE XML SCHEMA COLLECTION second AS '<schema xmlns="http://www.w3.org/2001/XMLSchema"/>'
DROP XML SCHEMA COLLECTION second
EXEC sp_addextendedproperty 'about', 'watches', 'TRIGGER', 'watch'
SELECT class_desc, name, value FROM sys.extended_properties
SELECT objtype, objname, value FROM fn_listextendedproperty(NULL, 'TRIGGER', 'watch', NULL, NULL, NULL, NULL)
DROP TRIGGER watch ON DATABASE
SELECT COUNT(*) AS left_over FROM sys.extended_properties
GO
-- What is still refused says so by name.
SELECT * FROM CONTAINSTABLE(candidate, *, 'x') k
GO
CREATE XML INDEX i ON candidate (resume) USING XML INDEX p FOR PATH
GO
