-- INSERT of the rows that a changing statement in its FROM gives.
CREATE TABLE dbo.stock (id int NOT NULL PRIMARY KEY, amount int NOT NULL, name varchar(20) NULL);
CREATE TABLE dbo.history (n int IDENTITY, id int, before int NULL, after int NULL, what nvarchar(10) NULL, told varchar(30) NULL DEFAULT 'default');
INSERT dbo.stock VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, NULL), (4, 40, 'four');
GO
INSERT INTO dbo.history (id, before, after)
SELECT d.id, d.was, d.now FROM (UPDATE dbo.stock SET amount += 1 OUTPUT inserted.id, deleted.amount, inserted.amount WHERE id < 4) AS d (id, was, now) WHERE d.was > 10;
SELECT @@ROWCOUNT AS inserted;
SELECT id, amount FROM dbo.stock ORDER BY id;
SELECT * FROM dbo.history ORDER BY n;
GO
INSERT dbo.history (id, told) SELECT id * 10, UPPER(name) + '!' FROM (DELETE FROM dbo.stock OUTPUT deleted.* WHERE id IN (1, 4)) AS gone WHERE name <> 'four';
SELECT * FROM dbo.history WHERE n > 2 ORDER BY n;
GO
INSERT dbo.history (id, before, after, what)
SELECT id, was, now, what FROM (
    MERGE dbo.stock AS t USING (VALUES (2, 200), (7, 700)) AS s (id, amount) ON s.id = t.id
    WHEN MATCHED THEN UPDATE SET amount = s.amount
    WHEN NOT MATCHED THEN INSERT (id, amount) VALUES (s.id, s.amount)
    WHEN NOT MATCHED BY SOURCE THEN DELETE
    OUTPUT $action, ISNULL(inserted.id, deleted.id), deleted.amount, inserted.amount
) AS m (what, id, was, now) WHERE what IN ('UPDATE', 'DELETE');
SELECT id, amount FROM dbo.stock ORDER BY id;
SELECT id, before, after, what FROM dbo.history WHERE what IS NOT NULL ORDER BY id;
GO
DECLARE @kept TABLE (id int, amount int);
INSERT @kept SELECT * FROM (INSERT dbo.stock (id, amount) OUTPUT inserted.id, inserted.amount VALUES (8, 80), (9, 90)) AS i WHERE i.amount > @@TRANCOUNT + 85;
SELECT * FROM @kept;
GO
-- What fails undoes both.
CREATE TABLE dbo.narrow (id int NOT NULL PRIMARY KEY);
INSERT dbo.narrow VALUES (9);
GO
INSERT dbo.narrow SELECT id FROM (DELETE dbo.stock OUTPUT deleted.id WHERE id > 7) AS d;
GO
SELECT id FROM dbo.stock ORDER BY id;
BEGIN TRANSACTION;
INSERT dbo.narrow SELECT id FROM (DELETE dbo.stock OUTPUT deleted.id WHERE id = 8) AS d;
ROLLBACK;
SELECT id FROM dbo.stock ORDER BY id;
SELECT id FROM dbo.narrow;
GO
-- In a procedure.
CREATE PROCEDURE dbo.archive @most int AS
INSERT dbo.history (id, before) SELECT d.id, d.amount FROM (DELETE TOP (@most) dbo.stock OUTPUT deleted.id, deleted.amount) AS d WHERE d.amount < 750;
GO
EXEC dbo.archive @most = 2;
SELECT COUNT(*) AS left_over FROM dbo.stock;
GO
-- What it cannot have.
INSERT dbo.history (id) SELECT id FROM (DELETE dbo.stock) AS d;
GO
INSERT dbo.history (id) SELECT id FROM (DELETE dbo.stock OUTPUT deleted.id INTO dbo.narrow) AS d;
GO
INSERT dbo.history (id) SELECT DISTINCT id FROM (DELETE dbo.stock OUTPUT deleted.id) AS d;
GO
INSERT dbo.history (id) SELECT TOP (1) id FROM (DELETE dbo.stock OUTPUT deleted.id) AS d;
GO
INSERT dbo.history (id) SELECT id FROM (DELETE dbo.stock OUTPUT deleted.id) AS d GROUP BY id;
GO
INSERT dbo.history (id) SELECT id FROM (DELETE dbo.stock OUTPUT deleted.id) AS d ORDER BY id;
GO
INSERT dbo.history (id) SELECT id FROM (DELETE dbo.stock OUTPUT deleted.id) AS d WHERE id IN (SELECT id FROM dbo.narrow);
GO
INSERT dbo.history (id) SELECT COUNT(*) FROM (DELETE dbo.stock OUTPUT deleted.id) AS d;
GO
INSERT dbo.history (id) SELECT nothing FROM (DELETE dbo.stock OUTPUT deleted.id) AS d;
GO
INSERT dbo.history (id) SELECT a FROM (DELETE dbo.stock OUTPUT deleted.id) AS d (a, b);
GO
SELECT id FROM (DELETE dbo.stock OUTPUT deleted.id) AS d;
GO
CREATE TABLE dbo.child (id int REFERENCES dbo.stock (id));
GO
INSERT dbo.child SELECT id FROM (DELETE dbo.narrow OUTPUT deleted.id) AS d;
GO
CREATE TABLE dbo.watched (id int);
GO
CREATE TRIGGER dbo.watch ON dbo.watched AFTER INSERT AS PRINT 'fired';
GO
INSERT dbo.watched SELECT id FROM (DELETE dbo.narrow OUTPUT deleted.id) AS d;
GO
