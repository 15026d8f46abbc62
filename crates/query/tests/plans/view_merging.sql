-- Rows of the view are looked up by the key of the table below it.
CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL, celsius float NOT NULL);
CREATE TABLE alarm (id int PRIMARY KEY, reading int NOT NULL);
GO
CREATE VIEW warm AS SELECT id, station FROM reading WHERE celsius > 20;
GO
SELECT warm.station FROM alarm JOIN warm ON warm.id = alarm.reading WHERE alarm.id = 7
