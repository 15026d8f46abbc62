-- What OUTPUT says comes in the order of the source, whatever is written first; rows whose key is NULL lead.
CREATE TABLE pet (id int IDENTITY PRIMARY KEY, name varchar(10) NOT NULL UNIQUE);
CREATE TABLE told (number int IDENTITY, action varchar(10), id int);
INSERT pet (name) VALUES ('a'), ('b'), ('c');
GO
MERGE pet USING (VALUES ('new', 9), ('b2', 2), ('newer', NULL), ('gone', 1), ('c2', 3)) AS given (name, id) ON pet.id = given.id
WHEN MATCHED AND given.name = 'gone' THEN DELETE
WHEN MATCHED THEN UPDATE SET name = given.name
WHEN NOT MATCHED THEN INSERT (name) VALUES (given.name)
OUTPUT $action, inserted.id INTO told (action, id)
OUTPUT $action AS action, inserted.id, deleted.id AS was, given.name;
SELECT action, id FROM told ORDER BY number;
SELECT id, name FROM pet ORDER BY id;
GO
