-- ALTER AUTHORIZATION ON DATABASE finds a login that the same session, or the same batch, has just made: logins are looked up as they are
-- now, not as they were when the session began.
CREATE DATABASE shop;
CREATE LOGIN ann WITH PASSWORD = 'Strong_pass1';
ALTER AUTHORIZATION ON DATABASE::shop TO ann;
SELECT SUSER_SNAME(owner_sid) AS owner FROM sys.databases WHERE name = 'shop';
GO
CREATE LOGIN bob WITH PASSWORD = 'Strong_pass1';
GO
ALTER AUTHORIZATION ON DATABASE::shop TO bob;
SELECT SUSER_SNAME(owner_sid) AS owner FROM sys.databases WHERE name = 'shop';
ALTER AUTHORIZATION ON DATABASE::shop TO nobody_at_all;
GO
