CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL, INDEX by_station (station));
GO
SELECT id FROM reading WHERE station = 5 AND id > 100
