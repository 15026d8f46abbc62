-- Blanks at the end of a name do not count where it is looked up, as in comparisons of texts.
CREATE DATABASE [far ];
GO
SELECT name FROM sys.databases WHERE name = 'far';
SELECT CASE WHEN DB_ID('far ') = DB_ID('far') THEN 'same' ELSE 'other' END AS db, DB_NAME(DB_ID(N'far  ')) AS name, DATABASEPROPERTYEX('far ', 'Recovery') AS recovery,
    DATABASEPROPERTYEX('far', 'Recovery ') AS property, HAS_DBACCESS('far ') AS access_;
GO
ALTER DATABASE [far ] SET RECOVERY SIMPLE;
ALTER DATABASE far SET MULTI_USER;
GO
USE [far ];
SELECT DB_NAME() AS name;
USE [master ];
SELECT DB_NAME() AS name;
GO
CREATE SCHEMA s;
GO
CREATE TABLE s.t (a int NOT NULL CONSTRAINT t_pk PRIMARY KEY, b int NULL CONSTRAINT b_default DEFAULT 1);
CREATE INDEX t_b ON s.t (b);
GO
INSERT [s ].[t ] ([a ]) VALUES (1);
SELECT [t ].[a ], t.[b ] FROM [s ].[t ];
SELECT x.a FROM s.t AS [x ];
SELECT [x ].a FROM s.t AS x;
UPDATE [s ].t SET [b ] = 2 WHERE [a ] = 1;
SELECT b FROM s.t WITH (INDEX ([t_b ])) ORDER BY [b ];
CREATE INDEX [t_a ] ON s.t (a);
GO
CREATE INDEX t_a ON s.t (a);
GO
CREATE TABLE s.[t ] (a int);
GO
CREATE TABLE s.twice (a int, [a ] int);
GO
ALTER TABLE s.[t ] ADD [c ] int;
ALTER TABLE s.t DROP COLUMN c;
ALTER INDEX [t_b ] ON s.t REBUILD;
DROP INDEX [t_a ] ON s.t;
GO
SELECT SCHEMA_ID('s ') - SCHEMA_ID('s') AS schema_id, OBJECT_ID('s.t ') - OBJECT_ID('s.t') AS object_id, OBJECT_ID('[s ].[t ]') - OBJECT_ID('s.t') AS quoted,
    OBJECT_ID('s .t', 'U ') - OBJECT_ID('s.t') AS inner_, COL_LENGTH('s.t ', 'a ') AS col_length, USER_ID('dbo ') AS user_id_, DATABASE_PRINCIPAL_ID('dbo ') AS principal_id,
    SUSER_ID('sa ') AS suser_id, TYPE_ID('int ') AS type_id, IS_MEMBER('db_owner ') AS is_member, IS_SRVROLEMEMBER('sysadmin ') AS is_srvrolemember, FILE_ID('master ') - FILE_ID('master') AS file_id,
    FILEGROUP_ID('PRIMARY ') AS filegroup_id, INDEXPROPERTY(OBJECT_ID('s.t'), 't_b ', 'IsUnique ') AS indexproperty, COLUMNPROPERTY(OBJECT_ID('s.t'), 'a ', 'AllowsNull ') AS columnproperty,
    OBJECTPROPERTY(OBJECT_ID('s.t'), 'IsTable ') AS objectproperty, OBJECTPROPERTYEX(OBJECT_ID('s.t'), 'BaseType ') AS objectpropertyex, TYPEPROPERTY('int ', 'Precision ') AS typeproperty,
    SERVERPROPERTY('EngineEdition ') AS serverproperty, INDEX_COL('s.t ', 1, 1) AS index_col, CONNECTIONPROPERTY('net_transport ') AS connectionproperty,
    SESSIONPROPERTY('ANSI_NULLS ') AS sessionproperty, COLLATIONPROPERTY('Latin1_General_CI_AS ', 'CodePage ') AS collationproperty, SESSION_CONTEXT(N'none ') AS context_,
    HAS_PERMS_BY_NAME('s.t ', 'OBJECT ', 'SELECT ') AS has_perms, LOGINPROPERTY('sa ', 'IsLocked ') AS loginproperty, FULLTEXTSERVICEPROPERTY('IsFullTextInstalled ') AS fulltext;
GO
CREATE TYPE s.number FROM int;
CREATE SEQUENCE s.numbers AS int START WITH 1;
CREATE SYNONYM s.other FOR s.t;
GO
CREATE PROCEDURE s.p @x int AS SELECT @x AS x;
GO
CREATE FUNCTION s.f (@x s.[number ]) RETURNS int AS BEGIN RETURN @x END;
GO
EXEC [s ].[p ] 1;
EXEC ('EXEC [s ].[p ] 2');
DECLARE @name sysname = N's.p '; EXEC @name 3;
SELECT [s ].[f ](4) AS f, NEXT VALUE FOR [s ].[numbers ] AS n;
SELECT a FROM s.[other ];
DECLARE @v [s ].[number ] = 5; SELECT @v AS v;
EXEC sp_helptext 's.f ';
EXEC sp_rename 's.p ', 'q ', 'OBJECT ';
EXEC s.q 6;
DROP PROCEDURE s.[q ];
GO
CREATE LOGIN [someone ] WITH PASSWORD = 'aB1!aB1!';
CREATE USER [person ] FOR LOGIN [someone ];
CREATE ROLE [readers ];
ALTER ROLE [readers ] ADD MEMBER [person ];
GRANT SELECT ON [s ].[t ] TO [person ];
EXECUTE AS USER = 'person ';
SELECT USER_NAME() AS name, a FROM s.t;
REVERT;
ALTER ROLE readers DROP MEMBER person;
DROP ROLE readers;
DROP USER [person ];
DROP LOGIN [someone ];
GO
EXEC sp_addtype 'word ', 'varchar(10) ';
EXEC sp_droptype 'word ';
EXEC sp_droptype 'none ';
GO
DECLARE [rows ] CURSOR FOR SELECT a FROM s.t;
OPEN rows; FETCH [rows ]; CLOSE [rows ]; DEALLOCATE rows;
BEGIN TRAN [one ]; SAVE TRAN [two ]; ROLLBACK TRAN two; COMMIT TRAN one;
WITH [w ] AS (SELECT 1 AS [a ]) SELECT a FROM w;
SELECT [d ].a FROM (SELECT 1 AS a) AS d;
DROP TABLE [s ].[t ];
DROP DATABASE [far ];
GO
-- The names of results are kept as they are written.
SELECT 1 AS [a ], 2 AS ' b ' INTO dbo.kept;
SELECT name + '|' AS name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.kept') ORDER BY column_id;
SELECT 1 AS [x ] FOR JSON PATH;
GO
