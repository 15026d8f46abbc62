-- Whole numbers of more digits than 64 bits hold: computed in 64 bits as long as these do, and exactly where they do not.
DECLARE @b bigint = 9223372036854775807, @i int = 7, @n bigint, @t tinyint, @bit bit, @null bigint;
SELECT @b + 10000000000000000000, @b * 100000000000 + @i, @i * 10000000000 + @b - @b, @null * 100000000000 + @b, @b * 10000000000 - @b * 10000000000;
SET @n = @i * 10000000000 + CAST(@i AS bigint);
SELECT @n;
SET @t = @i * 10000000000 + CAST(@i AS bigint) - 70000000000;
SET @bit = @i * 10000000000 + CAST(@i AS bigint);
SELECT @t, @bit;
SET @n = @null * 10000000000 + @b;
SELECT @n;
GO
DECLARE @b bigint = 9223372036854775807, @n bigint;
SET @n = @b * 10000000000 + @b - @b * 10000000000;
SELECT @n;
SET @n = @b * 10000000000 + @b;
GO
DECLARE @b bigint = 1, @n tinyint;
SET @n = @b * 10000000000 + @b;
GO
DECLARE @b bigint = 9223372036854775807, @d decimal(38,0);
SET @d = @b * 1000000000000000000 * 10000 + @b;
GO
DECLARE @b bigint = 9223372036854775807, @d decimal(38,0);
SELECT (@b + 10000000000) % 1000, (@b + 10000000000) / 10, @b + 10000000000 % 0;
GO
DECLARE @b bigint = 5;
SELECT 1 WHERE @b + 10000000000000000000 > @b * 10000000000;
SELECT v.x + 10000000000000000000 - 10000000000000000000 FROM (VALUES (@b), (NULL), (9223372036854775807)) v(x);
GO
