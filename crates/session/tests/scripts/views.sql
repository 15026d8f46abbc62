-- Changes through views of one table.
CREATE TABLE dbo.book (id int IDENTITY PRIMARY KEY, title varchar(20) NOT NULL, price int NOT NULL DEFAULT 5, sold bit NOT NULL DEFAULT 0);
GO
CREATE VIEW dbo.cheap AS SELECT id, title AS name, price, price * 2 AS twice FROM dbo.book WHERE price < 10;
GO
INSERT dbo.cheap (name, price) VALUES ('one', 1), ('two', 20);
INSERT dbo.cheap (name) SELECT 'three';
UPDATE dbo.cheap SET price = 12 WHERE name = 'one';
UPDATE dbo.cheap SET name = 'drei' WHERE id = 3;
SELECT id, title, price FROM dbo.book ORDER BY id;
DELETE dbo.cheap;
SELECT id, title, price FROM dbo.book ORDER BY id;
GO
INSERT dbo.cheap (name, twice) VALUES ('x', 2);
GO
INSERT dbo.cheap (nothing) VALUES ('x');
GO
INSERT dbo.cheap VALUES ('x', 1, 2);
GO
CREATE VIEW dbo.plain AS SELECT id, title, price FROM dbo.book;
GO
INSERT dbo.plain VALUES ('plain', 3);
INSERT dbo.plain (title) OUTPUT inserted.id VALUES ('told');
INSERT dbo.plain DEFAULT VALUES;
GO
CREATE TABLE dbo.author (id int PRIMARY KEY, book int, name varchar(20));
GO
CREATE VIEW dbo.written AS SELECT b.id, b.title, a.name, a.id AS author FROM dbo.book b JOIN dbo.author a ON a.book = b.id;
GO
INSERT dbo.written (author, name) VALUES (1, 'Ann');
SELECT id, book, name FROM dbo.author;
GO
INSERT dbo.written (title, name) VALUES ('both', 'Bob');
GO
CREATE VIEW dbo.counted AS SELECT price, COUNT(*) AS books FROM dbo.book GROUP BY price;
GO
INSERT dbo.counted (price) VALUES (1);
GO
-- WITH CHECK OPTION.
CREATE VIEW dbo.checked AS SELECT b.id, b.title, b.price FROM dbo.book AS b WHERE b.price < 10 AND b.title <> 'no' WITH CHECK OPTION;
GO
INSERT dbo.checked (title, price) VALUES ('good', 9);
INSERT dbo.checked (title, price) VALUES ('dear', 10);
INSERT dbo.checked (title, price) SELECT title, 1 FROM (VALUES ('fine'), ('no')) AS v (title);
UPDATE dbo.checked SET price = 11 WHERE title = 'good';
UPDATE dbo.checked SET price = 8 WHERE title = 'good';
MERGE dbo.checked AS t USING (VALUES ('good', 100)) AS s (title, price) ON t.title = s.title WHEN MATCHED THEN UPDATE SET price = s.price;
DELETE dbo.checked WHERE title = 'plain';
SELECT title, price FROM dbo.book ORDER BY id;
GO
CREATE VIEW dbo.not_checked AS SELECT id FROM dbo.book WHERE id IN (SELECT book FROM dbo.author) WITH CHECK OPTION;
GO
CREATE TRIGGER dbo.of_checked ON dbo.checked INSTEAD OF INSERT AS PRINT 'no';
GO
-- INSTEAD OF triggers of views, which need not be of one table.
CREATE TRIGGER dbo.write_both ON dbo.written INSTEAD OF INSERT AS
SET NOCOUNT ON;
SELECT id, title, name, author FROM inserted;
INSERT dbo.book (title) SELECT title FROM inserted;
INSERT dbo.author (id, name, book) SELECT i.author, i.name, b.id FROM inserted i JOIN dbo.book b ON b.title = i.title;
GO
INSERT dbo.written (title, name, author) VALUES ('first', 'Cy', 2), ('second', 'Di', 3);
SELECT @@ROWCOUNT AS counted;
INSERT dbo.written (author, title) SELECT 4, 'third';
SELECT title, name, author FROM dbo.written ORDER BY author;
GO
CREATE TRIGGER dbo.change_both ON dbo.written INSTEAD OF UPDATE, DELETE AS
SET NOCOUNT ON;
SELECT d.name AS old_name, i.name AS new_name, IIF(UPDATE(name), 1, 0) AS of_name, IIF(UPDATE(title), 1, 0) AS of_title
FROM deleted d LEFT JOIN inserted i ON i.author = d.author ORDER BY d.author;
UPDATE a SET name = i.name FROM dbo.author a JOIN inserted i ON i.author = a.id;
GO
UPDATE dbo.written SET name = UPPER(name) + '!' WHERE author < 4;
UPDATE dbo.written SET name = 'of ' + title WHERE title = 'third';
DELETE TOP (1) FROM dbo.written WHERE author = 2;
SELECT title, name, author FROM dbo.written ORDER BY author;
GO
UPDATE w SET name = 'of ' + b.title FROM dbo.written AS w JOIN dbo.book b ON b.id = w.id WHERE b.title = 'third';
GO
DELETE w FROM dbo.written AS w JOIN dbo.book b ON b.id = w.id;
GO
INSERT dbo.written (title, nothing) VALUES ('x', 'y');
GO
INSERT dbo.written (title) OUTPUT inserted.title VALUES ('x');
GO
CREATE TRIGGER dbo.after_view ON dbo.written AFTER INSERT AS PRINT 'no';
GO
-- The trigger of a view changes what is below it.
CREATE TRIGGER dbo.trim ON dbo.plain INSTEAD OF INSERT AS INSERT dbo.plain (title) SELECT TRIM(title) FROM inserted;
GO
INSERT dbo.plain (title) VALUES ('  trimmed ');
SELECT title FROM dbo.book WHERE title LIKE '%trim%';
DROP VIEW dbo.plain;
SELECT COUNT(*) AS orphans FROM sys.triggers WHERE name = 'trim';
GO
