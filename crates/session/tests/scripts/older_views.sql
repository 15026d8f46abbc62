-- The views of older versions that the younger ones took the places of, by all the names that scripts give them.
CREATE TABLE dbo.parent (id int NOT NULL CONSTRAINT pk_parent PRIMARY KEY, code varchar(10) NOT NULL CONSTRAINT uq_parent UNIQUE);
CREATE TABLE dbo.child (id int IDENTITY CONSTRAINT pk_child PRIMARY KEY, parent int NULL CONSTRAINT fk_child REFERENCES dbo.parent (id),
    amount numeric(9, 2) CONSTRAINT df_child DEFAULT 1 CONSTRAINT ck_child CHECK (amount > 0));
GO
CREATE VIEW dbo.both_of AS SELECT c.id FROM dbo.child AS c JOIN dbo.parent AS p ON p.id = c.parent;
GO
CREATE TYPE dbo.money_of FROM numeric(9, 2) NOT NULL;
GO
SELECT name, xtype, xusertype, length, xprec, xscale, allownulls, usertype, variable FROM systypes WHERE name IN ('int', 'numeric', 'sysname', 'money_of', 'nvarchar') ORDER BY name;
SELECT OBJECT_NAME(k.id) AS [table], i.name, k.colid, k.keyno FROM dbo.sysindexkeys AS k JOIN sysindexes AS i ON i.id = k.id AND i.indid = k.indid
WHERE k.id IN (OBJECT_ID('dbo.parent'), OBJECT_ID('dbo.child')) ORDER BY i.name;
SELECT OBJECT_NAME(constid) AS name, OBJECT_NAME(fkeyid) AS child, OBJECT_NAME(rkeyid) AS parent, fkey, rkey, keyno FROM sys.sysforeignkeys;
SELECT OBJECT_NAME(constid) AS name, OBJECT_NAME(fkeyid) AS child, OBJECT_NAME(rkeyid) AS parent, keycnt, fkey1, rkey1, fkey2, rkey16 FROM sysreferences;
SELECT OBJECT_NAME(constid) AS name, OBJECT_NAME(id) AS [table], colid, status & 15 AS kind FROM sysconstraints WHERE OBJECTPROPERTY(id, 'IsMSShipped') = 0 ORDER BY 1;
GO
CREATE USER reader WITHOUT LOGIN;
ALTER ROLE db_datareader ADD MEMBER reader;
GRANT SELECT ON dbo.parent TO reader;
DENY UPDATE ON dbo.parent TO reader;
GO
SELECT USER_NAME(memberuid) AS member, USER_NAME(groupuid) AS role FROM sysmembers WHERE memberuid = USER_ID('reader');
SELECT OBJECT_NAME(id) AS name, USER_NAME(uid) AS grantee, action, protecttype FROM sysprotects WHERE uid = USER_ID('reader') AND id > 0 ORDER BY action;
SELECT DISTINCT OBJECT_NAME(id) AS name FROM syspermissions WHERE grantee = USER_ID('reader') AND id > 0;
GO
SELECT fileid, groupid, name FROM sysfiles ORDER BY fileid;
SELECT DISTINCT name FROM master..sysaltfiles WHERE dbid = DB_ID('master') ORDER BY name;
SELECT groupid, groupname FROM sysfilegroups;
SELECT error, severity, msglangid FROM master..sysmessages WHERE error = 208 AND msglangid = 1033;
SELECT COUNT(*) AS counters FROM master.dbo.sysperfinfo WHERE counter_name = 'Batch Requests/sec';
SELECT c.config, c.value, v.value AS now, LEN(c.comment) / 1000 AS comment FROM sysconfigures AS c JOIN master..syscurconfigs AS v ON v.config = c.config WHERE c.config = 1539;
SELECT type, id, name FROM master.dbo.syscharsets ORDER BY type;
SELECT srvid, srvproduct, rpc, dataaccess FROM master..sysservers WHERE srvid = 0;
BEGIN TRANSACTION;
UPDATE dbo.parent SET code = 'x';
SELECT COUNT(*) AS locked FROM master..syslockinfo WHERE req_spid = @@SPID AND rsc_type = 5 AND rsc_objid = OBJECT_ID('dbo.parent') AND req_status = 1;
ROLLBACK;
GO
DROP VIEW dbo.both_of;
DROP TABLE dbo.child, dbo.parent;
DROP TYPE dbo.money_of;
DROP USER reader;
GO
