-- No key serves the equality.
CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL);
CREATE TABLE alarm (id int PRIMARY KEY, station int NOT NULL);
GO
SELECT reading.id, alarm.id FROM reading JOIN alarm ON alarm.station = reading.station
