-- A row that gets another key through a KEYSET cursor is missing in its place, and at the end with the new key.
CREATE TABLE t (id int NOT NULL PRIMARY KEY, name varchar(20) NULL);
INSERT t VALUES (1, 'a'), (2, 'b'), (4, 'd');
GO
DECLARE c CURSOR KEYSET FOR SELECT id, name FROM t;
OPEN c;
FETCH NEXT FROM c;
UPDATE t SET id = 3 WHERE CURRENT OF c;
FETCH FIRST FROM c;
SELECT @@FETCH_STATUS AS status;
FETCH LAST FROM c;
UPDATE t SET name = 'through' WHERE CURRENT OF c;
FETCH RELATIVE 0 FROM c;
FETCH NEXT FROM c;
SELECT @@FETCH_STATUS AS status;
CLOSE c;
DEALLOCATE c;
SELECT id, name FROM t;
GO
-- Rows that come to a DYNAMIC cursor are among its rows, and so are those that move.
DECLARE c CURSOR DYNAMIC FOR SELECT id, name FROM t ORDER BY id;
OPEN c;
SELECT @@CURSOR_ROWS AS rows;
FETCH LAST FROM c;
INSERT t VALUES (0, 'z'), (5, 'e'), (7, 'g');
FETCH NEXT FROM c;
DELETE t WHERE id = 7;
INSERT t VALUES (8, 'h');
FETCH NEXT FROM c;
FETCH NEXT FROM c;
SELECT @@FETCH_STATUS AS status;
INSERT t VALUES (9, 'i');
FETCH NEXT FROM c;
SELECT @@FETCH_STATUS AS status;
FETCH PRIOR FROM c;
FETCH FIRST FROM c;
UPDATE t SET id = 6 WHERE CURRENT OF c;
FETCH NEXT FROM c;
FETCH FIRST FROM c;
INSERT t VALUES (-1, 'y');
FETCH PRIOR FROM c;
FETCH PRIOR FROM c;
SELECT @@FETCH_STATUS AS status;
CLOSE c;
DEALLOCATE c;
SELECT id, name FROM t;
GO
-- One whose rows no index has in their order has those of OPEN.
DECLARE c CURSOR DYNAMIC FOR SELECT id, name FROM t ORDER BY name;
OPEN c;
SELECT @@CURSOR_ROWS AS rows;
INSERT t VALUES (20, 'zz');
FETCH LAST FROM c;
FETCH ABSOLUTE 2 FROM c;
CLOSE c;
DEALLOCATE c;
GO
