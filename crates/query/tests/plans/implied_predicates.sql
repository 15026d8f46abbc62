-- What an OR over two tables says of each of them; a constant for each of the columns that are equal to each other.
CREATE TABLE station (id int PRIMARY KEY, town varchar(20) NOT NULL);
CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL, kind int NOT NULL);
GO
SELECT reading.id FROM reading JOIN station ON station.id = reading.station
WHERE reading.station = 7 AND (reading.kind = 1 AND station.town = 'Oslo' OR reading.kind = 2 AND station.town = 'Bergen')
