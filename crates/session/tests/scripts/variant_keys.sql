-- sql_variant in keys: by families, then by values; equal numbers of different types are one key.
CREATE TABLE v (k sql_variant NOT NULL PRIMARY KEY, n int);
INSERT v VALUES (CAST('x' AS varchar(5)), 1);
INSERT v VALUES (N'y', 2);
INSERT v VALUES (3, 3);
INSERT v VALUES (CAST(2.5 AS decimal(9, 4)), 4);
INSERT v VALUES (CAST(-7 AS bigint), 5);
INSERT v VALUES (CAST(1e10 AS float), 6);
INSERT v VALUES (CAST('2024-01-02' AS date), 7);
INSERT v VALUES (0x01, 8);
INSERT v VALUES (CAST('0e984725-c51c-4bf4-9960-e1c80e27aba0' AS uniqueidentifier), 9);
SELECT k, n FROM v ORDER BY k;
SELECT n FROM v WHERE k = CAST(3 AS sql_variant);
SELECT n FROM v WHERE k > CAST(2 AS sql_variant) AND k < CAST(4 AS sql_variant) ORDER BY n;
SELECT n FROM v WHERE k = CAST(CAST('X' AS nvarchar(5)) AS sql_variant);
INSERT v VALUES (CAST(3.00 AS decimal(9, 2)), 10);
GO
UPDATE v SET k = CAST('z' AS varchar(5)) WHERE n = 3;
DELETE v WHERE k = CAST(N'y' AS sql_variant);
SELECT n FROM v ORDER BY k DESC;
GO
CREATE TABLE w (id int PRIMARY KEY, k sql_variant);
CREATE UNIQUE INDEX wk ON w (k);
INSERT w VALUES (1, 1);
INSERT w VALUES (2, NULL);
INSERT w VALUES (3, 'a');
INSERT w VALUES (4, CAST(1 AS tinyint));
GO
INSERT w VALUES (4, NULL);
GO
INSERT w VALUES (4, REPLICATE('a', 3000));
GO
SELECT id FROM w WHERE k = CAST(1 AS sql_variant);
DROP TABLE v, w;
GO
