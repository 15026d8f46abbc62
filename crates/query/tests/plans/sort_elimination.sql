-- The clustered key has the order.
CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL);
GO
SELECT station FROM reading ORDER BY id DESC
