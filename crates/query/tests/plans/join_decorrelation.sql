-- No index finds the sales of a customer: those of a year are joined once.
CREATE TABLE customer (id int NOT NULL PRIMARY KEY, name varchar(20) NOT NULL)
CREATE TABLE sale (customer int NOT NULL, day int NOT NULL, store int NOT NULL)
CREATE TABLE day (id int NOT NULL PRIMARY KEY, year int NOT NULL)
INSERT customer SELECT value, CONCAT('c', value) FROM GENERATE_SERIES(1, 50)
INSERT day SELECT value, 2000 + value / 365 FROM GENERATE_SERIES(1, 1000)
INSERT sale SELECT value % 40, value % 1000, value % 3 FROM GENERATE_SERIES(1, 500)
GO
SELECT name FROM customer c
WHERE EXISTS (SELECT * FROM sale s, day d WHERE s.day = d.id AND d.year = 2001 AND s.customer = c.id)
    OR NOT EXISTS (SELECT * FROM sale s, day d WHERE s.day = d.id AND d.year = 2000 AND s.customer = c.id AND s.store <> c.id)
