-- GRANT, DENY and REVOKE ALL: on each kind of object what the documentation lists for it, not all there is.
CREATE TABLE t (a int, b int);
CREATE USER u WITHOUT LOGIN;
CREATE USER w WITHOUT LOGIN;
GO
CREATE PROCEDURE p AS SELECT 1 AS one;
GO
CREATE FUNCTION f (@a int) RETURNS int AS BEGIN RETURN @a END;
GO
CREATE FUNCTION g (@a int) RETURNS TABLE AS RETURN SELECT @a AS a;
GO
CREATE VIEW v AS SELECT a FROM t;
GO
GRANT ALL ON t TO u;
GRANT ALL PRIVILEGES ON p TO u;
GRANT ALL ON f TO u WITH GRANT OPTION;
GRANT ALL ON g TO u;
GRANT ALL ON v TO u;
GRANT ALL TO u;
GRANT ALL ON t (a) TO w;
GO
SELECT OBJECT_NAME(major_id) AS object, permission_name, state_desc FROM sys.database_permissions WHERE grantee_principal_id = USER_ID('u') ORDER BY class, 1, 2;
SELECT minor_id, permission_name FROM sys.database_permissions WHERE grantee_principal_id = USER_ID('w') AND class = 1 ORDER BY 1, 2;
GO
EXECUTE AS USER = 'u';
SELECT HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT') AS s, HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'INSERT') AS i,
    HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'UPDATE') AS u, HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'DELETE') AS d,
    HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'REFERENCES') AS r, HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'ALTER') AS a,
    HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'ANY') AS [any], HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT', 'b', 'COLUMN') AS c,
    HAS_PERMS_BY_NAME('dbo.p', 'OBJECT', 'EXECUTE') AS e, HAS_PERMS_BY_NAME('dbo.f', 'OBJECT', 'EXECUTE') AS f,
    HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'CREATE TABLE') AS ct, HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'BACKUP LOG') AS bl,
    HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'ALTER') AS da;
REVERT;
GO
DENY ALL ON t TO u;
REVOKE ALL ON v TO u;
REVOKE ALL TO u;
GO
SELECT OBJECT_NAME(major_id) AS object, permission_name, state_desc FROM sys.database_permissions WHERE grantee_principal_id = USER_ID('u') AND class = 1 AND OBJECT_NAME(major_id) IN ('t', 'v') ORDER BY 1, 2;
EXECUTE AS USER = 'u';
SELECT HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT') AS s, HAS_PERMS_BY_NAME('dbo.v', 'OBJECT', 'SELECT') AS v, HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'CREATE TABLE') AS ct;
REVERT;
GO
GRANT ALL ON SCHEMA::dbo TO u;
GO
GRANT ALL ON nothing TO u;
GO
