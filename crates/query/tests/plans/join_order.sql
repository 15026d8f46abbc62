-- FROM names two tables first that only the third one joins.
CREATE TABLE part (p int PRIMARY KEY, name varchar(20) NOT NULL);
CREATE TABLE supplier (s int PRIMARY KEY, name varchar(20) NOT NULL);
CREATE TABLE item (i int PRIMARY KEY, p int NOT NULL, s int NOT NULL);
GO
SELECT part.p FROM part, supplier, item WHERE item.p = part.p AND item.s = supplier.s
