-- So many rows are looked up that a hash table of all is cheaper.
CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL);
CREATE TABLE station (id int PRIMARY KEY, town varchar(20) NOT NULL);
GO
SELECT reading.id, town FROM reading JOIN station ON station.id = reading.station
