SET NOCOUNT ON
SELECT CAST(1 AS bit) AS a, CAST(255 AS tinyint) AS b, CAST(-3 AS smallint) AS c, -2147483648 AS d, CAST(1 AS bigint) AS e
SELECT CAST(-0.5 AS decimal(5, 2)) AS a, CAST(1.5 AS decimal(38, 10)) AS b, CAST(0.1 AS real) AS c, CAST(0.1 AS float) AS d, CAST(1e300 AS float) AS e
SELECT CAST(0.5 AS money) AS a, CAST(-214748.3648 AS smallmoney) AS b, NULL AS c, CAST(NULL AS float) AS d
SELECT CAST('2020-01-02' AS date) AS a, CAST('12:34:56.1234567' AS time) AS b, CAST('12:34:56' AS time(0)) AS c
SELECT CAST('2020-01-02 03:04:05.123' AS datetime) AS a, CAST('2020-01-02 03:04' AS smalldatetime) AS b
SELECT CAST('2020-01-02 03:04:05.1234567' AS datetime2) AS a, CAST('2020-01-02 03:04:05.123 +13:59' AS datetimeoffset(3)) AS b
SELECT CAST('a' AS char(7)) AS a, CAST('b ' AS varchar(9)) AS b, CAST(N'ü😀' AS nchar(4)) AS c, CAST(N'two' AS nvarchar(8)) AS d, CAST(NULL AS varchar(3)) AS e
SELECT CAST(0x01 AS binary(3)) AS a, CAST(0x01FF AS varbinary(8)) AS b, CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier) AS c
SELECT CAST('max' AS varchar(max)) AS a, CAST(N'<a>b</a>' AS xml) AS b
SELECT 1 AS a_long_name_of_a_column, 2, 'three'
SELECT CAST(7 AS sql_variant) AS a
SELECT 'none' AS a WHERE 1 = 0
