-- KEYSET and DYNAMIC cursors show their rows as they are when they are fetched.
CREATE TABLE t (id int NOT NULL PRIMARY KEY, name varchar(20) NULL, kind int NOT NULL DEFAULT 1);
INSERT t (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
GO
DECLARE c CURSOR KEYSET FOR SELECT id, name FROM t WHERE kind = 1;
OPEN c;
SELECT @@CURSOR_ROWS AS rows;
FETCH NEXT FROM c;
UPDATE t SET name = 'B' WHERE id = 2;
DELETE t WHERE id = 3;
UPDATE t SET kind = 2 WHERE id = 4;
INSERT t (id, name) VALUES (9, 'i');
FETCH NEXT FROM c;
SELECT @@FETCH_STATUS AS status;
DECLARE @id int = 77, @name varchar(20) = 'kept';
FETCH NEXT FROM c INTO @id, @name;
SELECT @@FETCH_STATUS AS status, @id AS id, @name AS name;
FETCH NEXT FROM c INTO @id, @name;
SELECT @@FETCH_STATUS AS status, @id AS id, @name AS name;
FETCH NEXT FROM c INTO @id, @name;
SELECT @@FETCH_STATUS AS status, @id AS id;
FETCH ABSOLUTE 3 FROM c;
SELECT @@FETCH_STATUS AS status;
FETCH PRIOR FROM c;
UPDATE t SET name = 'through' WHERE CURRENT OF c;
FETCH FIRST FROM c;
FETCH NEXT FROM c;
UPDATE t SET id = 20 WHERE id = 2;
FETCH FIRST FROM c;
FETCH NEXT FROM c;
SELECT @@FETCH_STATUS AS status;
CLOSE c;
DEALLOCATE c;
SELECT id, name, kind FROM t ORDER BY id;
GO
DECLARE c CURSOR DYNAMIC FOR SELECT id, name FROM t WHERE kind = 1;
OPEN c;
SELECT @@CURSOR_ROWS AS rows;
FETCH NEXT FROM c;
DELETE t WHERE id = 9;
UPDATE t SET name = 'changed' WHERE id = 20;
FETCH NEXT FROM c;
FETCH NEXT FROM c;
SELECT @@FETCH_STATUS AS status;
FETCH PRIOR FROM c;
UPDATE t SET kind = 5 WHERE id = 1;
FETCH FIRST FROM c;
FETCH LAST FROM c;
FETCH RELATIVE 0 FROM c;
FETCH ABSOLUTE 1 FROM c;
CLOSE c;
DEALLOCATE c;
GO
-- Those whose kind is not said are what they were at OPEN, and go forward alone.
DECLARE c CURSOR FOR SELECT id, name FROM t ORDER BY id;
OPEN c;
UPDATE t SET name = 'later' WHERE id = 1;
FETCH NEXT FROM c;
FETCH ABSOLUTE 2 FROM c;
GO
FETCH PRIOR FROM c;
GO
CLOSE c;
DEALLOCATE c;
GO
DECLARE c CURSOR KEYSET READ_ONLY FOR SELECT COUNT(name), SUM(kind) FROM t;
OPEN c;
DELETE t;
FETCH NEXT FROM c;
CLOSE c;
DEALLOCATE c;
GO
-- The warning comes when the rows are found.
INSERT t (id, name) VALUES (1, NULL);
DECLARE c CURSOR FOR SELECT COUNT(name) FROM t;
OPEN c;
FETCH NEXT FROM c;
CLOSE c;
DEALLOCATE c;
GO
