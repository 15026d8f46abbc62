-- PIVOT and UNPIVOT.
CREATE TABLE sale (year int, quarter char(2), shop varchar(10), amount money)
INSERT sale VALUES (2023, 'Q1', 'north', 10), (2023, 'Q2', 'north', 20), (2023, 'Q1', 'south', 5), (2024, 'Q1', 'north', 7), (2024, 'Q3', 'south', 9), (2024, 'Q3', 'south', 1), (2024, 'Q4', NULL, NULL)
GO
SELECT * FROM sale PIVOT (SUM(amount) FOR quarter IN (Q1, Q2, [Q3], [Q4])) AS p ORDER BY year, shop
SELECT p.year, p.Q1, ISNULL(p.Q2, 0) AS second FROM (SELECT year, quarter, amount FROM sale) AS s PIVOT (SUM(s.amount) FOR s.quarter IN (Q1, Q2)) p WHERE p.Q1 > 7 ORDER BY 1 DESC
SELECT * FROM (SELECT year, shop FROM sale) s PIVOT (COUNT(shop) FOR year IN ([2023], [2024], [2025])) AS p
SELECT 'both' AS which, * FROM (SELECT s.year, s.shop, x.n FROM sale s JOIN (VALUES ('north', 1), ('south', 2)) AS x (shop, n) ON x.shop = s.shop) q PIVOT (MAX(n) FOR shop IN (north, south)) p ORDER BY year
GO
WITH totals AS (SELECT year, shop, amount FROM sale WHERE shop IS NOT NULL)
SELECT a.year, a.north, b.n FROM totals PIVOT (AVG(amount) FOR shop IN (north, south)) a JOIN (VALUES (2023, 1), (2024, 2)) b (year, n) ON a.year = b.year ORDER BY a.year
GO
CREATE TABLE wide (id int, jan int, feb int, mar int, [odd ]]name] int)
INSERT wide VALUES (1, 10, 20, NULL, 5), (2, NULL, NULL, NULL, NULL), (3, 1, 2, 3, 4)
SELECT * FROM wide UNPIVOT (amount FOR month IN (jan, feb, mar)) AS u ORDER BY id, amount
SELECT u.month, SUM(u.amount) AS total FROM wide UNPIVOT (amount FOR month IN (jan, feb, mar, [odd ]]name])) u GROUP BY u.month ORDER BY total
SELECT id, jan, feb FROM (SELECT id, jan, feb FROM wide) w UNPIVOT (amount FOR month IN (jan, feb)) u PIVOT (SUM(amount) FOR month IN (jan, feb)) p ORDER BY id
GO
CREATE VIEW turned AS SELECT * FROM (SELECT year, quarter, amount FROM sale) s PIVOT (SUM(amount) FOR quarter IN (Q1, Q2)) p
GO
SELECT year, Q2 FROM turned ORDER BY year
UPDATE w SET jan = 0 FROM wide w JOIN turned t ON t.Q1 = 7 WHERE w.id = 3
SELECT jan FROM wide WHERE id = 3
GO
-- Refused.
SELECT * FROM sale PIVOT (SUM(amount) FOR nothing IN (a)) p
GO
SELECT * FROM sale PIVOT (SUM(amount) FOR quarter IN (shop)) p
GO
SELECT * FROM sale PIVOT (SUM(amount) FOR year IN (abc)) p
GO
SELECT * FROM sale PIVOT (SUM(amount) FOR quarter IN (Q1, Q1)) p
GO
SELECT * FROM sale PIVOT (COUNT(*) FOR quarter IN (Q1)) p
GO
SELECT amount FROM sale PIVOT (SUM(amount) FOR quarter IN (Q1)) p
GO
SELECT * FROM sale
  UNPIVOT (v FOR n IN (shop, amount)) u
GO
SELECT * FROM wide UNPIVOT (id FOR n IN (jan, feb)) u
SELECT * FROM wide UNPIVOT (v FOR n IN (jan, jan)) u
GO
DELETE p FROM sale PIVOT (SUM(amount) FOR quarter IN (Q1)) p
DROP VIEW turned
DROP TABLE sale, wide
