-- The rows of one table are tested before they are joined.
CREATE TABLE station (id int PRIMARY KEY, town varchar(20) NOT NULL);
CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL);
CREATE TABLE wanted (id int PRIMARY KEY);
GO
SELECT station.town FROM reading JOIN station ON station.id = reading.station WHERE reading.id IN (SELECT id FROM wanted)
