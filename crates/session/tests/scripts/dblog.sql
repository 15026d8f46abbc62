-- The records of the log. Positions differ between machines, so that only what follows from the statements is shown.
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY CLUSTERED, name varchar(10) NOT NULL, CONSTRAINT u UNIQUE (name));
CREATE TABLE dbo.h (a int NOT NULL);
GO
CREATE TABLE dbo.mark (lsn nvarchar(23) NOT NULL);
INSERT dbo.mark SELECT MAX([Current LSN]) FROM fn_dblog(NULL, NULL);
GO
INSERT dbo.h VALUES (7);
BEGIN TRANSACTION;
INSERT dbo.t VALUES (1, 'one'), (2, 'two');
UPDATE dbo.t SET name = 'deux' WHERE id = 2;
DELETE dbo.t WHERE id = 1;
COMMIT;
BEGIN TRANSACTION;
INSERT dbo.h VALUES (8);
ROLLBACK;
CHECKPOINT;
GO
DECLARE @from nvarchar(25) = (SELECT lsn FROM dbo.mark);
SELECT Operation, Context, CASE WHEN AllocUnitName LIKE 'dbo.t.PK%' THEN 'dbo.t.PK' ELSE AllocUnitName END AS unit, [Slot ID], [Flag Bits],
    CASE WHEN [Previous LSN] IS NULL THEN 'first' ELSE 'later' END AS place, [Begin Time], [Transaction Name]
FROM fn_dblog(@from, NULL)
WHERE Operation NOT LIKE '%STRUCTURE' AND (AllocUnitName IS NULL OR (AllocUnitName NOT LIKE '%mark%' AND AllocUnitName NOT LIKE 'sys.%'));
-- A previous LSN is that of a record of the same transaction.
SELECT COUNT(*) AS wrong FROM fn_dblog(NULL, NULL) a JOIN fn_dblog(NULL, NULL) b ON a.[Previous LSN] = b.[Current LSN]
WHERE a.[Transaction ID] <> b.[Transaction ID] OR a.[Current LSN] <= b.[Current LSN];
SELECT COUNT(*) AS ends FROM fn_dblog(@from, NULL) WHERE Operation IN ('LOP_COMMIT_XACT', 'LOP_ABORT_XACT') AND Operation = 'LOP_ABORT_XACT';
SELECT COUNT(DISTINCT [Page ID]) AS pages, MIN([Page ID]) AS one FROM fn_dblog(@from, NULL) WHERE AllocUnitName = 'dbo.h';
SELECT COUNT(*) AS rows_of_one_record FROM fn_dblog(@from, @from);
SELECT COUNT(*) AS in_hexadecimal FROM sys.fn_dblog('0x' + @from, '0x' + @from);
SELECT SUM([Log Record Length]) - COUNT(*) - SUM(DATALENGTH([Log Record])) AS length_bytes_above_one FROM fn_dblog(@from, NULL) WHERE [Log Record Length] < 100;
SELECT COUNT(*) AS commits_without_time FROM fn_dblog(NULL, NULL) WHERE Operation = 'LOP_COMMIT_XACT' AND [End Time] IS NULL;
SELECT COUNT(*) AS checkpoints_without_time FROM fn_dblog(NULL, NULL) WHERE Operation = 'LOP_BEGIN_CKPT' AND [Checkpoint Begin] IS NULL;
GO
SELECT COUNT(*) FROM fn_dblog('here', NULL);
GO
SELECT COUNT(*) FROM fn_dblog(NULL);
GO
