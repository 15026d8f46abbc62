-- What WAITFOR takes: a time that is written is looked at before the batch runs, one in a variable where it is.
PRINT 'not reached';
WAITFOR DELAY '2020-01-01 00:00:00';
GO
DECLARE @t varchar(20) = '00:00:00.001'; WAITFOR DELAY @t; PRINT 'waited';
GO
DECLARE @t varchar(20) = 'soon'; WAITFOR DELAY @t;
PRINT 'went on';
GO
DECLARE @t varchar(max) = '00:00:00.001'; WAITFOR DELAY @t;
GO
-- A number is one of seconds.
DECLARE @s int = 0, @n smallint; WAITFOR DELAY @s; WAITFOR DELAY @n; PRINT 'waited';
GO
DECLARE @d datetime = '1900-01-01 00:00:00.003'; WAITFOR DELAY @d; PRINT 'waited';
GO
BEGIN TRY DECLARE @b bit = 1; WAITFOR DELAY @b END TRY
BEGIN CATCH SELECT ERROR_NUMBER() AS number, ERROR_STATE() AS state, ERROR_MESSAGE() AS message END CATCH;
GO
DECLARE @t time = '00:00:00.001'; WAITFOR DELAY @t;
GO
DECLARE @t time; WAITFOR DELAY @t; PRINT 'nothing to wait for';
GO
