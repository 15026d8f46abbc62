-- No row is looked for where none can be.
CREATE TABLE reading (id int PRIMARY KEY, station int NOT NULL);
GO
SELECT id FROM reading WHERE station > 3 AND 1 = 0
