-- sp_addmessage, sp_altermessage, sp_dropmessage; RAISERROR and FORMATMESSAGE of the numbers that were added.
EXEC sp_addmessage 50001, 16, N'Row %d of %s is not there.';
EXEC sp_addmessage @msgnum = 50002, @severity = 10, @msgtext = N'Only told.', @lang = 'us_english', @with_log = 'TRUE';
EXEC sp_addmessage 50001, 16, N'Zeile %1! in %2! fehlt.', 'German';
SELECT message_id, language_id, severity, is_event_logged, text FROM sys.messages WHERE message_id > 50000 ORDER BY message_id, language_id;
GO
RAISERROR (50001, 16, 3, 7, 'orders');
GO
RAISERROR (50001, -1, 1, 8, 'lines');
GO
RAISERROR (50002, -1, 1);
RAISERROR (50001, 9, 1, 9, 'told');
SELECT FORMATMESSAGE(50001, 1, 'x') AS text, FORMATMESSAGE(50009, 1) AS none, FORMATMESSAGE(CAST(NULL AS int)) AS nothing;
BEGIN TRY
    RAISERROR (50001, 16, 1, 2, N'caught');
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number, ERROR_SEVERITY() AS severity, ERROR_MESSAGE() AS message;
END CATCH
GO
-- A session of another language reads its own version, or else that of us_english.
SET LANGUAGE German;
RAISERROR (50001, 9, 1, 7, 'orders');
RAISERROR (50002, 9, 1);
SELECT FORMATMESSAGE(50001, 1, 'x') AS text;
SET LANGUAGE us_english;
GO
-- What is there is replaced on demand only; the severity of us_english is that of all.
EXEC sp_addmessage 50001, 16, N'Again.';
GO
EXEC sp_addmessage 50001, 11, N'Row %d of %s is gone.', @replace = 'replace';
EXEC sp_addmessage 50001, 16, N'Rangée %1! de %2!', 'French';
GO
EXEC sp_altermessage 50001, 'WITH_LOG', 'true';
SELECT language_id, severity, is_event_logged, text FROM sys.messages WHERE message_id = 50001 ORDER BY language_id;
GO
-- Refusals.
EXEC sp_addmessage 50000, 16, N'x';
GO
EXEC sp_addmessage 50010, 26, N'x';
GO
EXEC sp_addmessage 50010, 16, N'x', 'Klingon';
GO
EXEC sp_addmessage 50010, 16, N'x', 'French';
GO
EXEC sp_addmessage 50010, 16, N'x', @with_log = 'maybe';
GO
EXEC sp_addmessage 50010, 16, N'x', @replace = 'yes';
GO
EXEC sp_altermessage 50010, 'WITH_LOG', 'true';
GO
EXEC sp_dropmessage 50000;
GO
EXEC sp_dropmessage 50010;
GO
EXEC sp_dropmessage 50001, 'French';
GO
EXEC sp_dropmessage 50001;
GO
EXEC sp_dropmessage 50001, 'German';
EXEC sp_dropmessage 50001;
EXEC sp_dropmessage 50002, 'all';
SELECT COUNT(*) AS left_over FROM sys.messages WHERE message_id > 50000;
RAISERROR (50001, 16, 1);
GO
-- In another database than master they are the server's all the same; within a transaction of it they are not changed.
CREATE DATABASE d;
GO
USE d;
EXEC sp_addmessage 50003, 16, N'From d.';
RAISERROR (50003, 10, 1);
BEGIN TRAN;
EXEC sp_addmessage 50004, 16, N'Not here.';
GO
IF @@TRANCOUNT > 0 ROLLBACK;
USE master;
BEGIN TRAN;
EXEC sp_addmessage 50004, 10, N'Undone.';
RAISERROR (50004, 10, 1);
ROLLBACK;
SELECT message_id FROM sys.messages WHERE message_id > 50000;
GO
