-- WHERE drops the rows that the left join would add.
CREATE TABLE station (id int PRIMARY KEY, town varchar(20) NOT NULL);
CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL);
GO
SELECT reading.id FROM reading LEFT JOIN station ON station.id = reading.station WHERE station.town = 'Oslo'
