-- The result depends on a column that has few values.
CREATE TABLE item (part int NOT NULL, quantity int NOT NULL)
INSERT item SELECT value % 50, value FROM GENERATE_SERIES(1, 500)
GO
SELECT quantity FROM item AS a WHERE EXISTS (SELECT 1 FROM item AS b WHERE b.part < a.part AND b.quantity > a.part + 100)
