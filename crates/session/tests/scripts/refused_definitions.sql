-- Definitions that contradict themselves or what is there.
CREATE TABLE t (b int CHECK (b > 0) CHECK (b < 10))
GO
CREATE TABLE t (b int UNIQUE UNIQUE)
GO
CREATE TABLE t (b int PRIMARY KEY UNIQUE)
GO
CREATE TABLE t (b int UNIQUE CHECK (b > 0) DEFAULT 1)
GO
CREATE TABLE parent (id int PRIMARY KEY)
CREATE TABLE child (id int IDENTITY PRIMARY KEY, p int)
GO
CREATE TRIGGER instead ON child INSTEAD OF DELETE AS RETURN
GO
ALTER TABLE child ADD CONSTRAINT fk FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE
GO
ALTER TABLE child ADD CONSTRAINT fk FOREIGN KEY (p) REFERENCES parent (id) ON UPDATE CASCADE
GO
ALTER TABLE child ALTER COLUMN id varchar(20)
GO
ALTER TABLE child ALTER COLUMN id bigint
GO
DROP SCHEMA dbo
GO
CREATE SCHEMA INFORMATION_SCHEMA
GO
CREATE TYPE dbo.bogus FROM not_a_type
GO
CREATE SYNONYM base FOR dbo.t
CREATE SYNONYM again FOR dbo.base
GO
SELECT * FROM again
GO
DROP TABLE base
GO
DROP TABLE IF EXISTS base
GO
TRUNCATE TABLE nowhere.t
GO
-- A system procedure that fails says so to its caller.
DECLARE @r int
EXEC @r = sp_getapplock @Resource = N'res', @LockMode = 'Bogus', @LockOwner = 'Session'
SELECT @r AS of_lock
EXEC @r = sp_releaseapplock @Resource = N'res', @LockOwner = 'Session'
SELECT @r AS of_release
EXEC @r = sp_rename 'nothing', 'other'
SELECT @r AS of_rename
EXEC @r = sp_getapplock @Resource = N'res', @LockMode = 'Exclusive', @LockOwner = 'Session'
SELECT @r AS granted
GO
DECLARE @r int
BEGIN TRY
    EXEC @r = sp_getapplock @Resource = N'res', @LockMode = 'Bogus', @LockOwner = 'Session'
END TRY
BEGIN CATCH
    SELECT @r AS not_set, ERROR_NUMBER() AS number
END CATCH
GO
CREATE TABLE twice (b int DEFAULT 1 DEFAULT 2);
GO
CREATE TABLE once (a int NULL);
GO
ALTER TABLE once ADD b int CONSTRAINT first DEFAULT 1 CONSTRAINT second DEFAULT 2;
GO
