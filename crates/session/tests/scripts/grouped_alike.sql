-- What GROUP BY groups by can be written in other ways above it: other case, other qualifiers, another name of a date part, CAST for CONVERT.
CREATE TABLE orders (id int PRIMARY KEY, ordered datetime2(0) NOT NULL, total decimal(9, 2) NOT NULL, note varchar(20) NULL);
CREATE TABLE lines (order_id int NOT NULL, ordered date NULL, amount int NOT NULL);
INSERT orders VALUES (1, '2024-01-05T10:00:00', 10, 'a'), (2, '2024-01-20T11:30:00', 20, 'A'), (3, '2025-03-01T09:15:00', 5.5, NULL);
INSERT lines VALUES (1, '2024-02-01', 1), (2, '2024-03-01', 2), (3, '2025-04-01', 3);
GO
SELECT YEAR(ordered) AS y, COUNT(*) AS n FROM orders AS o GROUP BY year(o.Ordered) ORDER BY Year(O.ordered) DESC;
SELECT DATEDIFF(mm, '2024-01-01', o.ordered) AS months, SUM(total) AS total FROM orders AS o GROUP BY DATEDIFF(MONTH, '2024-01-01', ordered) ORDER BY months;
SELECT CAST(ordered AS date) AS day, MAX(total) AS most FROM orders GROUP BY CONVERT(Date, Ordered) HAVING COUNT(*) = 1 ORDER BY CONVERT(date, orders.ordered);
SELECT CASE WHEN o.total > 6 THEN 'big' ELSE 'small' END AS size, COUNT(*) AS n FROM orders AS o GROUP BY case when Total > 6 then 'big' else 'small' end ORDER BY size;
SELECT COALESCE(o.note, '-') + '!' AS note, COUNT(*) AS n FROM orders AS o GROUP BY coalesce(NOTE, '-') ORDER BY 1;
SELECT YEAR(o.ordered) AS y, GROUPING(YEAR(o.ordered)) AS g, COUNT(*) AS n FROM orders AS o GROUP BY ROLLUP(year(ordered)) ORDER BY g, y;
SELECT DISTINCT YEAR(ordered) FROM orders AS o ORDER BY year(O.ordered) DESC;
GO
-- Columns of the same name of different tables are not the same.
SELECT YEAR(l.ordered) FROM orders AS o JOIN lines AS l ON l.order_id = o.id GROUP BY YEAR(o.ordered);
GO
SELECT YEAR(o.ordered) AS y, MONTH(l.ordered) AS m FROM orders AS o JOIN lines AS l ON l.order_id = o.id GROUP BY YEAR(o.ordered), MONTH(L.ORDERED) ORDER BY m;
GO
SELECT DISTINCT YEAR(o.ordered) FROM orders AS o JOIN lines AS l ON l.order_id = o.id ORDER BY YEAR(l.ordered);
GO
-- Texts are told apart by their case, as is a conversion by its style.
SELECT total + 1, CONVERT(varchar(10), ordered, 120) FROM orders GROUP BY total + 1, CONVERT(varchar(10), ordered, 112);
GO
-- In a subquery the outer query's groups are seen, and its own columns first.
SELECT YEAR(o.ordered) AS y, (SELECT SUM(l.amount) FROM lines AS l WHERE YEAR(l.ordered) = YEAR(O.Ordered)) AS amounts FROM orders AS o GROUP BY year(ordered) ORDER BY y;
GO
DROP TABLE orders, lines;
GO
