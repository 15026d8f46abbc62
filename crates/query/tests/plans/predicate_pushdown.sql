-- Only the rows of one group are grouped.
CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL, celsius float NOT NULL);
GO
SELECT d.warmest FROM (SELECT station, MAX(celsius) AS warmest FROM reading GROUP BY station) AS d WHERE d.station = 5
