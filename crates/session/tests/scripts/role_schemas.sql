-- The schemas of the fixed roles, which a new database has and nothing needs.
CREATE DATABASE roles;
GO
USE roles;
SELECT name, schema_id, principal_id FROM sys.schemas ORDER BY schema_id;
SELECT SCHEMA_ID('db_owner') o, SCHEMA_NAME(16393) n;
GO
CREATE SCHEMA first;
GO
SELECT schema_id FROM sys.schemas WHERE name = 'first';
GO
CREATE SCHEMA db_datareader;
GO
CREATE TABLE db_owner.t (a int);
INSERT db_owner.t VALUES (1);
SELECT a FROM db_owner.t;
GO
DROP SCHEMA db_owner;
GO
DROP SCHEMA db_accessadmin;
SELECT SCHEMA_ID('db_accessadmin') gone;
GO
CREATE SCHEMA db_accessadmin AUTHORIZATION db_accessadmin;
GO
SELECT name, schema_id, principal_id FROM sys.schemas WHERE name IN ('db_accessadmin', 'first') ORDER BY name;
GO
DROP SCHEMA dbo;
GO
CREATE USER db_owner WITHOUT LOGIN;
GO
