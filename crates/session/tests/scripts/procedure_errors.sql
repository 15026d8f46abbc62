-- System procedures refuse the name of an object in another database.
CREATE TABLE dbo.t (a int);
GO
EXEC sp_helptext 'msdb.dbo.t';
GO
EXEC sp_help 'msdb..t';
GO
EXEC sp_helpindex 'msdb.dbo.t';
GO
EXEC sp_helpconstraint 'msdb.dbo.t';
GO
EXEC sp_spaceused 'msdb.dbo.t';
GO
EXEC sp_recompile 'msdb.dbo.t';
GO
EXEC sp_depends 'msdb.dbo.t';
GO
EXEC sp_helptext 'none';
GO
-- Its own database may be named.
EXEC sp_recompile 'MASTER.dbo.t';
GO
-- sp_configure: a name that is none, one that is not unique, a value that is out of range.
EXEC sp_configure 'no such option';
GO
EXEC sp_configure 'no such option', 1;
GO
EXEC sp_configure 'max', 1;
GO
EXEC sp_configure 'max degree of parallelism', 40000;
GO
EXEC sp_configure 'max degree of parallelism', -1;
GO
EXEC sp_configure 'query wait', -2;
GO
EXEC sp_configure 'show advanced options', 2;
GO
EXEC sp_configure 'min memory per query (KB)', 511;
GO
EXEC sp_configure 'fill factor (%)', 101;
GO
