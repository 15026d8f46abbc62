-- System procedures that scripts and tools of old call.
CREATE LOGIN someone WITH PASSWORD = 'Long-enough-1';
CREATE DATABASE d;
GO
USE d;
CREATE USER someone FOR LOGIN someone;
CREATE USER lonely WITHOUT LOGIN WITH DEFAULT_SCHEMA = s;
GO
EXEC sp_addrole 'r1';
EXEC sp_addrole @rolename = 'r]2', @ownername = 'someone';
EXEC sp_addrolemember 'r1', 'someone';
EXEC sp_addrolemember 'r]2', 'someone';
EXEC sp_addrolemember 'r1', 'r]2';
EXEC sp_addrole 'r1';
GO
EXEC sp_addrole 'r3', 'nobody';
GO
SELECT name, type, USER_NAME(owning_principal_id) AS owner FROM sys.database_principals WHERE name LIKE 'r%' AND is_fixed_role = 0 ORDER BY name;
EXEC sp_helprole 'r1';
EXEC sp_helprole 'someone';
GO
CREATE TABLE #members (role sysname, member sysname, sid varbinary(85));
INSERT #members EXEC sp_helprolemember;
SELECT role, member FROM #members ORDER BY role, member;
TRUNCATE TABLE #members;
INSERT #members EXEC sp_helprolemember 'r1';
SELECT role, member FROM #members ORDER BY role, member;
TRUNCATE TABLE #members;
INSERT #members EXEC sp_helprolemember 'db_owner';
SELECT role, member FROM #members;
EXEC sp_helprolemember 'nothing';
GO
CREATE TABLE #users (name sysname, role sysname, login sysname NULL, base sysname NULL, spot sysname NULL, id smallint, sid varbinary(85) NULL);
INSERT #users EXEC sp_helpuser;
SELECT name, role, login, base, spot FROM #users ORDER BY name, role;
TRUNCATE TABLE #users;
INSERT #users EXEC sp_helpuser 'someone';
SELECT name, role, login FROM #users ORDER BY role;
TRUNCATE TABLE #users;
INSERT #users EXEC sp_helpuser 'r]2';
SELECT name, role FROM #users ORDER BY role;
EXEC sp_helpuser 'nothing';
GO
EXEC sp_droprolemember 'r1', 'r]2';
EXEC sp_droprolemember 'r]2', 'someone';
EXEC sp_droprole 'r]2';
EXEC sp_droprole 'r]2';
GO
CREATE TABLE #bases (name sysname, size nvarchar(13), owner sysname NULL, dbid smallint, created nvarchar(11), status nvarchar(600), level tinyint);
INSERT #bases EXEC sp_helpdb;
SELECT name, owner, dbid, status, level FROM #bases WHERE name IN ('d', 'master') AND size LIKE '%[0-9].[0-9][0-9] MB' ORDER BY name;
EXEC sp_helpdb 'nothing';
GO
CREATE TABLE t (a int);
GO
CREATE PROCEDURE p AS SELECT a FROM t;
GO
EXEC p;
EXEC sp_recompile 't';
EXEC sp_recompile 'dbo.p';
EXEC sp_recompile 'sys.objects';
EXEC sp_recompile 'nothing';
EXEC p;
GO
