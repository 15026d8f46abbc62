-- Zeros behind the bytes that a column has room for are left out; other bytes are too many.
CREATE TABLE #b (f binary(1), v varbinary(2));
DECLARE @p binary(8) = 0x64;
INSERT #b VALUES (@p, @p);
UPDATE #b SET v = 0x010200;
SELECT f, v, DATALENGTH(v) AS bytes FROM #b;
GO
INSERT #b (f) VALUES (0x0102);
GO
DECLARE @v varbinary(8) = 0x0000000001;
INSERT #b (v) VALUES (@v);
GO
DROP TABLE #b;
GO
