-- Values are never longer than their types.
SELECT CAST(N'😀' AS varchar(1)) AS one, CAST(N'😀' AS varchar(2)) AS two, CAST(N'a😀' AS char(2)) AS cut
SELECT PARSENAME(REPLICATE('n', 129), 1) AS long, LEN(PARSENAME(REPLICATE('n', 128), 1)) AS name
SELECT TRANSLATE('a|b', '|', N'Ω') AS foreign_letter, TRANSLATE(N'a|b', '|', N'Ω') AS letter
GO
SELECT TRANSLATE('a|b', '|', N'😀') AS pair
GO
SELECT CONCAT_WS('--', 'a', 'b', 'c', 'd') AS joined
SELECT DATALENGTH(REPLICATE('x', 8000) + 'y') AS narrow, DATALENGTH(REPLICATE(N'x', 4000) + N'y') AS wide, DATALENGTH(CAST(REPLICATE('x', 8000) AS varchar(max)) + 'y') AS long
SELECT LEN(REPLACE(REPLICATE('x', 8000), N'', N'y')) AS replaced, SWITCHOFFSET(CAST('20240101 00:00:00.003' AS datetime), '+01:00') AS switched
SELECT LEN(FORMAT(1, CAST(REPLICATE('0', 8000) AS nvarchar(max)))) AS formatted
GO
