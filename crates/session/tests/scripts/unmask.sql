-- UNMASK: who sees masked columns, by what was granted.
CREATE TABLE t (id int, s varchar(20) MASKED WITH (FUNCTION = 'default()'), e varchar(40) MASKED WITH (FUNCTION = 'email()'))
INSERT t VALUES (1, 'hello', 'john@x.com')
CREATE USER u WITHOUT LOGIN
CREATE ROLE r
ALTER ROLE r ADD MEMBER u
GRANT SELECT ON t TO u
GO
CREATE PROCEDURE look AS
EXECUTE AS USER = 'u'
SELECT s, e, s + '' AS s2, s + e AS both, HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'UNMASK') AS d, HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'UNMASK') AS o, HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'UNMASK', 's', 'COLUMN') AS c FROM t
REVERT
GO
EXEC look
GRANT UNMASK TO u
EXEC look
-- A column goes before what was said of all.
DENY UNMASK ON t (e) TO u
EXEC look
REVOKE UNMASK ON t (e) TO u
REVOKE UNMASK TO u
EXEC look
GRANT UNMASK ON SCHEMA::dbo TO u
EXEC look
REVOKE UNMASK ON SCHEMA::dbo TO u
GRANT UNMASK ON t TO u
EXEC look
REVOKE UNMASK ON t TO u
GRANT UNMASK ON t (s) TO u
EXEC look
REVOKE UNMASK ON t (s) TO u
GRANT UNMASK TO r
EXEC look
DENY UNMASK TO u
EXEC look
REVOKE UNMASK TO u
REVOKE UNMASK TO r
GRANT CONTROL ON t TO u
EXEC look
REVOKE CONTROL ON t TO u
ALTER ROLE db_owner ADD MEMBER u
EXEC look
ALTER ROLE db_owner DROP MEMBER u
EXEC look
GO
GRANT UNMASK ON t (e) TO u WITH GRANT OPTION
SELECT class_desc, OBJECT_NAME(major_id) AS object, minor_id, type, permission_name, state FROM sys.database_permissions WHERE permission_name = 'UNMASK'
EXECUTE AS USER = 'u'
SELECT subentity_name, permission_name FROM sys.fn_my_permissions('dbo.t', 'OBJECT') WHERE permission_name = 'UNMASK'
REVERT
REVOKE UNMASK ON t (e) TO u CASCADE
GO
CREATE VIEW v AS SELECT s FROM t
GO
GRANT UNMASK ON v TO u
GO
GRANT UNMASK ON look TO u
GO
-- Who changes masks of a table that is there.
GRANT ALTER ON t TO u
EXECUTE AS USER = 'u'
ALTER TABLE t ALTER COLUMN s DROP MASKED
REVERT
GO
EXECUTE AS USER = 'u'
ALTER TABLE t ALTER COLUMN id ADD MASKED WITH (FUNCTION = 'default()')
REVERT
GO
EXECUTE AS USER = 'u'
ALTER TABLE t ALTER COLUMN s varchar(20)
REVERT
GO
REVERT
GRANT ALTER ANY MASK TO u
EXECUTE AS USER = 'u'
SELECT s, e FROM t
ALTER TABLE t ALTER COLUMN s DROP MASKED
SELECT s, e FROM t
REVERT
GO
-- Triggers are told what who fires them may see.
CREATE TABLE audit (what varchar(10), s varchar(20), e varchar(40))
GO
CREATE TRIGGER tr ON t AFTER UPDATE AS INSERT audit SELECT 'old', s, e FROM deleted UNION ALL SELECT 'new', s, e FROM inserted
GO
GRANT UPDATE ON t TO u
UPDATE t SET s = 'again'
EXECUTE AS USER = 'u'
UPDATE t SET s = 'more'
REVERT
SELECT * FROM audit
GO
