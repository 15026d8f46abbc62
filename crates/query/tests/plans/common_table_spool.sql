-- Both names read all groups: they are made once. A name of which a key leaves little is cheaper for itself.
CREATE TABLE sale (day int NOT NULL, part int NOT NULL, price int NOT NULL)
INSERT sale SELECT value / 100, value % 7, value FROM GENERATE_SERIES(1, 2000)
GO
WITH daily AS (SELECT day, part, SUM(price) AS total FROM sale GROUP BY day, part)
SELECT a.day, a.part, a.total, b.total FROM daily AS a JOIN daily AS b ON b.day = a.day + 1 AND b.part = a.part WHERE a.total > 5
