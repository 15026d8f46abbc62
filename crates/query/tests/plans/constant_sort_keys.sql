-- A key that is the same in all rows puts them in no order.
CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL, celsius float NOT NULL);
GO
SELECT id FROM reading WHERE station = 5 ORDER BY station
