-- The scan looks the values up that the subquery has, where they are few.
CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL);
CREATE TABLE wanted (id int PRIMARY KEY);
GO
SELECT station FROM reading WHERE id IN (SELECT id FROM wanted)
