-- RETURNS NULL ON NULL INPUT: it is not called for a NULL.
CREATE FUNCTION dbo.strict (@a int, @b int) RETURNS int WITH RETURNS NULL ON NULL INPUT AS BEGIN RETURN ISNULL(@a, 100) + ISNULL(@b, 100) END
GO
CREATE FUNCTION dbo.strict_steps (@a int) RETURNS varchar(20) WITH RETURNS NULL ON NULL INPUT, SCHEMABINDING AS
BEGIN
    DECLARE @t varchar(20) = 'called'
    IF @a > 1 SET @t = 'called with more'
    RETURN @t
END
GO
CREATE FUNCTION dbo.lenient (@a int) RETURNS int WITH CALLED ON NULL INPUT AS BEGIN RETURN ISNULL(@a, 100) END
GO
CREATE FUNCTION dbo.nothing () RETURNS int WITH RETURNS NULL ON NULL INPUT AS BEGIN RETURN 7 END
GO
CREATE TABLE t (a int)
INSERT t VALUES (1), (NULL), (2)
SELECT a, dbo.strict(a, 1) AS one, dbo.strict(1, a) AS other, dbo.strict_steps(a) AS steps, dbo.lenient(a) AS lenient, dbo.nothing() AS nothing FROM t
SELECT OBJECT_NAME(object_id) AS name, null_on_null_input FROM sys.sql_modules ORDER BY name
GO
-- EXECUTE AS: the body runs as another user.
CREATE USER reader WITHOUT LOGIN
CREATE TABLE secret (v int)
INSERT secret VALUES (42)
GO
CREATE FUNCTION dbo.who () RETURNS sysname WITH EXECUTE AS 'reader' AS BEGIN RETURN USER_NAME() END
GO
CREATE FUNCTION dbo.mine () RETURNS sysname WITH EXECUTE AS OWNER AS BEGIN RETURN USER_NAME() END
GO
CREATE FUNCTION dbo.callers () RETURNS sysname WITH EXECUTE AS CALLER AS BEGIN RETURN USER_NAME() END
GO
CREATE FUNCTION dbo.rows () RETURNS @r TABLE (who sysname) WITH EXECUTE AS OWNER AS BEGIN INSERT @r VALUES (USER_NAME()) RETURN END
GO
GRANT EXECUTE ON dbo.who TO reader
GRANT EXECUTE ON dbo.mine TO reader
GRANT EXECUTE ON dbo.callers TO reader
GRANT SELECT ON dbo.rows TO reader
SELECT dbo.who() AS who, dbo.mine() AS mine, dbo.callers() AS callers, USER_NAME() AS again
GO
EXECUTE AS USER = 'reader'
SELECT dbo.who() AS who, dbo.mine() AS mine, dbo.callers() AS callers, USER_NAME() AS again
SELECT who FROM dbo.rows()
REVERT
GO
SELECT OBJECT_NAME(object_id) AS name, execute_as_principal_id FROM sys.sql_modules WHERE execute_as_principal_id IS NOT NULL ORDER BY name
GO
CREATE FUNCTION dbo.query () RETURNS TABLE WITH EXECUTE AS OWNER AS RETURN SELECT 1 AS a
GO
