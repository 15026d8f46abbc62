-- No key finds the rows that are summed up.
CREATE TABLE part (id int NOT NULL PRIMARY KEY, price int NOT NULL)
CREATE TABLE item (part int NOT NULL, quantity int NOT NULL)
INSERT part SELECT value, value % 7 FROM GENERATE_SERIES(1, 50)
INSERT item SELECT value % 50, value FROM GENERATE_SERIES(1, 500)
GO
SELECT id FROM part WHERE price < (SELECT 0.2 * SUM(quantity) FROM item WHERE item.part = part.id)
