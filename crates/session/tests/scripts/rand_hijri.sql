-- RAND(seed) starts the sequence that SQL Server's documentation shows; what follows continues it.
SELECT RAND(100), RAND(), RAND();
SELECT RAND(1), RAND(2), RAND(0);
SELECT RAND(-1) AS of_one, RAND(2147483562) AS last, RAND(2147483563) AS of_zero, RAND(-2147483648) AS of_zero;
SELECT RAND(7);
GO
SELECT RAND(), RAND();
GO
-- System messages: RAISERROR and FORMATMESSAGE put arguments into the texts that sys.messages has.
RAISERROR (15600, -1, -1, 'mysp');
GO
RAISERROR (14262, 16, 2, 'job', 'nightly');
GO
RAISERROR (12999, 16, 1);
GO
SELECT FORMATMESSAGE(15600, 'mysp') AS own, FORMATMESSAGE(14262, 'job') AS one_left, FORMATMESSAGE(102, 'x') AS too_low, FORMATMESSAGE(14999) AS none;
SELECT message_id, severity, text FROM sys.messages WHERE message_id IN (102, 14262, 15600) AND language_id = 1033;
GO
-- Styles 130 and 131: the Hijri calendar by the Kuwaiti algorithm, both ways, for every type with a date.
SELECT CONVERT(varchar(40), CAST('2006-12-30 13:38:02.747' AS datetime), 131) AS documented;
SELECT CONVERT(nvarchar(60), CAST('2006-12-30 13:38:02.747' AS datetime), 130) AS named;
SELECT CONVERT(nvarchar(40), CAST('2000-08-07' AS date), 131) AS d, CONVERT(nvarchar(60), CAST('2000-08-07 12:14:35.7270000' AS datetime2), 131) AS d2,
    CONVERT(nvarchar(60), CAST('2000-08-07 12:14:35.12 +02:00' AS datetimeoffset(2)), 131) AS o, CONVERT(nvarchar(60), CAST('2000-08-07 12:14' AS smalldatetime), 131) AS s;
SELECT CONVERT(datetime, ' 7/05/1421 12:14:35:727PM', 131) AS back, CONVERT(date, N'10 ذو الحجة 1427', 130) AS named_back,
    CONVERT(datetime2(3), CONVERT(nvarchar(60), CAST('1999-12-31 23:59:59.997' AS datetime2(3)), 130), 130) AS both_ways;
GO
SELECT CONVERT(date, '30/02/1427', 131);
GO
SELECT CONVERT(varchar(40), CAST('0622-07-17' AS date), 131);
GO
SELECT TRY_CONVERT(date, '1/13/1427', 131) AS none, TRY_CONVERT(varchar(40), CAST('0622-07-18' AS date), 131) AS first_day;
GO
