-- CONTEXT_INFO is 128 bytes, whatever it is set to, and the views of sessions show it.
SELECT CONTEXT_INFO() AS info;
SELECT context_info AS of_session FROM sys.dm_exec_sessions WHERE session_id = @@SPID;
SELECT DATALENGTH(context_info) AS bytes FROM sys.sysprocesses WHERE spid = @@SPID;
GO
SET CONTEXT_INFO 0x4869;
SELECT DATALENGTH(CONTEXT_INFO()) AS bytes, SUBSTRING(CONTEXT_INFO(), 1, 4) AS begins, CONVERT(varchar(5), CONTEXT_INFO()) AS text;
SELECT DATALENGTH(context_info) AS bytes, SUBSTRING(context_info, 1, 4) AS begins FROM sys.dm_exec_sessions WHERE session_id = @@SPID;
SELECT DATALENGTH(context_info) AS bytes, SUBSTRING(context_info, 1, 4) AS begins FROM sys.dm_exec_requests WHERE session_id = @@SPID;
SELECT DATALENGTH(context_info) AS bytes, SUBSTRING(context_info, 1, 4) AS begins FROM sys.sysprocesses WHERE spid = @@SPID;
GO
DECLARE @info varbinary(128) = CONVERT(varbinary(128), 'user 7');
SET CONTEXT_INFO @info;
SELECT CONVERT(varchar(6), CONTEXT_INFO()) AS info, DATALENGTH(CONTEXT_INFO()) AS bytes;
GO
