-- Security ids of principals: a login's own, or one of the authority that numbers the principals of databases.
CREATE LOGIN reader WITH PASSWORD = 'Strong_pass1';
CREATE USER reader FOR LOGIN reader;
CREATE USER nobody WITHOUT LOGIN;
CREATE ROLE clerks;
GO
SELECT name, type, DATALENGTH(type) AS bytes, default_schema_name, CASE WHEN name IN ('reader', 'clerks', 'nobody') THEN NULL ELSE sid END AS sid, DATALENGTH(sid) AS sid_bytes
FROM sys.database_principals ORDER BY principal_id;
SELECT name, SUBSTRING(sid, 1, 12) AS begins FROM sys.database_principals WHERE name IN ('clerks', 'nobody') ORDER BY name;
SELECT d.name FROM sys.database_principals AS d JOIN sys.server_principals AS s ON s.sid = d.sid ORDER BY d.name;
SELECT name, type, DATALENGTH(type) AS bytes, CASE WHEN name = 'reader' THEN NULL ELSE sid END AS sid FROM sys.server_principals WHERE principal_id < 300 ORDER BY principal_id;
SELECT name, sid FROM sys.sysusers WHERE name IN ('guest', 'sys', 'db_datareader') ORDER BY name;
SELECT DATALENGTH(type) AS bytes, type, DATALENGTH(state) AS state_bytes, state FROM sys.database_permissions WHERE grantee_principal_id = USER_ID('reader');
GO
