-- AT TIME ZONE with the names that Windows has.
DECLARE @local datetime2(0) = '2022-03-27T01:01:00'
SELECT @local AT TIME ZONE 'Central European Standard Time' AS before, DATEADD(hour, 1, @local) AT TIME ZONE N'central european standard time' AS left_out, DATEADD(hour, 2, @local) AT TIME ZONE 'Central European Standard Time' AS after
SELECT CAST('2022-10-30T02:30:00' AS datetime2(0)) AT TIME ZONE 'W. Europe Standard Time' AS twice, CAST('2022-10-30T03:30:00' AS datetime2(0)) AT TIME ZONE 'W. Europe Standard Time' AS after
SELECT CAST('2024-07-01T12:00:00 +00:00' AS datetimeoffset(0)) AT TIME ZONE 'Pacific Standard Time' AS summer, CAST('2024-01-01T12:00:00.123 +05:00' AS datetimeoffset(3)) AT TIME ZONE 'Pacific Standard Time' AS winter
SELECT CAST('2024-07-01T12:00:00' AS datetime) AT TIME ZONE 'UTC' AT TIME ZONE 'India Standard Time' AS india, CAST('2024-07-01T12:00:00' AS smalldatetime) AT TIME ZONE 'Nepal Standard Time' AS nepal
SELECT CAST('2090-07-01T12:00:00' AS datetime2(0)) AT TIME ZONE 'Eastern Standard Time' AS later, CAST('2090-01-01T12:00:00' AS datetime2(0)) AT TIME ZONE 'AUS Eastern Standard Time' AS south
SELECT CAST(NULL AS datetime2(0)) AT TIME ZONE 'UTC' AS nothing, CAST('2020-01-01' AS datetime2(0)) AT TIME ZONE NULL AS nowhere
GO
CREATE TABLE dbo.calls (at datetime2(0), zone nvarchar(60))
INSERT dbo.calls VALUES ('2024-06-01 08:00', N'Tokyo Standard Time'), ('2024-06-01 08:00', N'GMT Standard Time'), ('2024-06-01 08:00', N'Newfoundland Standard Time')
SELECT zone, at AT TIME ZONE zone AS there, at AT TIME ZONE zone AT TIME ZONE 'UTC' AS utc FROM dbo.calls ORDER BY utc
GO
SELECT CAST('2020-01-01' AS datetime2) AT TIME ZONE 'Europe/Paris' AS wrong
GO
SELECT '2020-01-01' AT TIME ZONE 'UTC' AS wrong
GO
SELECT COUNT(*) AS zones FROM sys.time_zone_info
SELECT * FROM sys.time_zone_info WHERE name IN ('UTC', 'India Standard Time', 'Tokyo Standard Time') ORDER BY name
GO
