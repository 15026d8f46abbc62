-- The type of CONCAT and CONCAT_WS: the sum of what the arguments have as texts. SQL Server converts an int to
-- varchar(12), a bigint to varchar(24), a float to varchar(32); NULLs alone are varchar(1).
SELECT CONCAT(1, 2) AS two_ints, CONCAT(CAST(1 AS tinyint), CAST(2 AS smallint), CAST(3 AS bigint)) AS integers, CONCAT(CAST(1 AS bit), '') AS bit_,
    CONCAT(CAST(1 AS float), 'x') AS float_, CONCAT(1.5, N'x') AS decimal_, CONCAT(NULL, NULL) AS nulls, CONCAT('abc', NULL) AS with_null,
    CONCAT(CAST('a' AS varchar(10)), CAST('b' AS char(5))) AS texts, CONCAT(CAST('a' AS varchar(7000)), CAST('b' AS varchar(7000))) AS long_,
    CONCAT(CAST('a' AS varchar(max)), 1) AS max_, CONCAT(CAST(0x41 AS uniqueidentifier), N'') AS guid, CONCAT_WS(', ', 1, 2, 3) AS ws, CONCAT_WS(',', NULL, NULL) AS ws_nulls,
    CONCAT(CAST('2024-01-02' AS date), '') AS date_
INTO dbo.concatenated;
SELECT c.name, TYPE_NAME(c.system_type_id) AS type, c.max_length FROM sys.columns AS c WHERE c.object_id = OBJECT_ID('dbo.concatenated') ORDER BY c.column_id;
SELECT two_ints, integers, float_, decimal_, nulls, with_null, ws FROM dbo.concatenated;
GO
-- What is longest has a place.
SELECT CONCAT(CAST(-2147483648 AS int), '|') AS i, CONCAT(CAST(-9223372036854775808 AS bigint), '|') AS b, CONCAT(CAST(-1.7976931348623157E308 AS float), '|') AS f,
    CONCAT(CAST(-99999999999999999999999999999999999999 AS decimal(38)), '|') AS d, CONCAT(CAST(-922337203685477.5808 AS money), '|') AS m,
    CONCAT(SYSDATETIMEOFFSET(), '') AS o INTO dbo.longest;
SELECT i, b, f, d, m, LEN(o) AS o FROM dbo.longest;
GO
-- @@DBTS is varbinary(8).
SELECT @@DBTS AS stamp INTO dbo.stamps;
SELECT TYPE_NAME(system_type_id) AS type, max_length FROM sys.columns WHERE object_id = OBJECT_ID('dbo.stamps');
EXEC sp_describe_first_result_set N'SELECT @@DBTS AS stamp';
GO
