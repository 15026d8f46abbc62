-- Values below each other in VALUES have one type, in INSERT as in FROM.
CREATE TABLE texts (id int IDENTITY, c varchar(30))
INSERT texts VALUES (3.1415), (-32)
INSERT texts VALUES (''), (-378.4), (CAST('2024-05-06' AS datetime))
INSERT texts VALUES (DEFAULT), (NULL), (1), (2.50)
INSERT texts VALUES ('a'), ('longer'), (N'wide')
SELECT id, c FROM texts ORDER BY id
GO
CREATE TABLE narrow (c nchar(2), n int)
INSERT narrow VALUES (10, 1), (N'ab', 2)
GO
SELECT COUNT(*) AS rows FROM narrow
INSERT narrow VALUES (N'10', 1), (N'ab', '2')
SELECT c, n FROM narrow
INSERT narrow (n) VALUES (CAST('2024-05-06' AS date)), (1)
GO
DECLARE @a tinyint = 3, @b float = 0.5
INSERT texts VALUES (@a), (@b)
SELECT c FROM texts WHERE id > 12
EXEC sp_describe_undeclared_parameters N'INSERT narrow VALUES (@P1, @P2), (N''x'', @P3)'
GO
-- One row alone keeps what it is.
INSERT texts VALUES (-32)
SELECT c FROM texts WHERE c = '-32'
GO
