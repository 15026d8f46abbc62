-- Subqueries that read the row outside: looked up in groups, or remembered by what they read. The results are those of rules switched off.
CREATE TABLE part (id int NOT NULL PRIMARY KEY, kind varchar(10) NULL, price int NOT NULL);
CREATE TABLE item (part int NULL, quantity int NULL, cost decimal(9, 2) NULL, big bigint NULL, kind varchar(10) NULL);
INSERT part VALUES (1, 'a', 10), (2, 'b', 20), (3, NULL, 30), (4, 'A', 40), (5, 'c', 50), (6, 'a', 60);
INSERT item VALUES (1, 5, 1.5, 1, 'a'), (1, 7, NULL, 2, 'A'), (2, NULL, NULL, NULL, 'b'), (NULL, 9, 9, 9, NULL), (4, 3, 2.25, 3, 'c');
GO
-- Nothing is found for 3, 5 and 6: counts are 0, all else is NULL.
SELECT id, (SELECT COUNT(*) FROM item WHERE item.part = part.id) AS rows,
    (SELECT COUNT(quantity) FROM item WHERE item.part = part.id) AS counted,
    (SELECT COUNT_BIG(DISTINCT kind) FROM item WHERE item.part = part.id) AS kinds,
    (SELECT SUM(quantity) FROM item WHERE item.part = part.id) AS total,
    (SELECT AVG(cost) FROM item WHERE item.part = part.id) AS average,
    (SELECT MIN(kind) FROM item WHERE item.part = part.id) AS first,
    (SELECT ISNULL(MAX(big), -1) + COUNT(*) FROM item WHERE item.part = part.id) AS largest
FROM part ORDER BY id;
SELECT id, (SELECT SUM(quantity) FROM item WHERE item.part = part.id HAVING COUNT(*) > 1) AS several FROM part ORDER BY id;
-- By a text, whose case does not count; by two columns; by none that a NULL equals.
SELECT id, (SELECT COUNT(*) FROM item WHERE item.kind = part.kind) AS rows FROM part ORDER BY id;
SELECT id, (SELECT COUNT(*) FROM item WHERE item.kind = part.kind AND item.part = part.id) AS rows FROM part ORDER BY id;
SELECT id FROM part WHERE price > (SELECT 4 * SUM(quantity) FROM item WHERE item.part = part.id) ORDER BY id;
SELECT id FROM part WHERE price IN (SELECT 10 + MAX(quantity) - 7 FROM item WHERE item.part = part.id) ORDER BY id;
UPDATE part SET price = price + (SELECT COUNT(*) FROM item WHERE item.part = part.id) OUTPUT inserted.id, inserted.price;
GO
-- A sum overflows only where it is asked for.
INSERT item VALUES (7, 2147483647, 1, 1, 'z'), (7, 1, 1, 1, 'z');
SELECT id, (SELECT SUM(quantity) FROM item WHERE item.part = part.id) AS total FROM part WHERE id < 3 ORDER BY id;
INSERT part VALUES (7, 'z', 70);
SELECT id, (SELECT AVG(quantity) FROM item WHERE item.part = part.id) AS average FROM part WHERE id > 5 ORDER BY id;
SELECT id, (SELECT SUM(quantity) FROM item WHERE item.part = part.id) AS total FROM part WHERE id > 5 ORDER BY id;
GO
-- Remembered by the values of the row outside.
CREATE TABLE visit (id int NOT NULL PRIMARY KEY, town int NULL, note varchar(20) NULL);
INSERT visit SELECT value, NULLIF(value % 5, 0), CASE WHEN value % 2 = 0 THEN 'even' ELSE 'odd' END FROM GENERATE_SERIES(1, 60);
GO
SELECT COUNT(*) FROM visit AS a WHERE EXISTS (SELECT 1 FROM visit AS b WHERE b.id > 57 AND b.town < a.town);
SELECT COUNT(*) FROM visit AS a WHERE a.note < ANY (SELECT b.note FROM visit AS b WHERE b.town > a.town);
SELECT COUNT(*) FROM visit AS a WHERE a.note NOT IN (SELECT b.note FROM visit AS b WHERE b.town > a.town + 2);
GO
-- Random numbers are made for each row, and so is what a variable changes that the statement itself assigns.
SELECT COUNT(DISTINCT number) AS numbers
FROM (SELECT (SELECT TOP (1) NEWID() FROM visit AS b WHERE b.town >= a.town) AS number FROM visit AS a WHERE a.town = 1) AS made;
DECLARE @seen int = 0;
SELECT @seen = @seen + (SELECT COUNT(*) FROM visit AS b WHERE b.town > a.town AND b.id > @seen) FROM visit AS a WHERE a.id < 20;
SELECT @seen AS seen;
GO
-- Values that hardly come again are given up; few values are not.
SELECT COUNT(*) AS rows, SUM(CAST(found AS bigint)) AS found
FROM (SELECT (SELECT TOP (1) b.id FROM visit AS b WHERE b.id > a.value % 50 ORDER BY b.id) AS found
    FROM GENERATE_SERIES(1, 40000) AS a) AS looked;
SELECT COUNT(*) AS rows, SUM(CAST(found AS bigint)) AS found
FROM (SELECT (SELECT TOP (1) b.id FROM visit AS b WHERE b.id > a.town * 10 ORDER BY b.id) AS found
    FROM GENERATE_SERIES(1, 700) AS many CROSS JOIN visit AS a) AS looked;
GO
