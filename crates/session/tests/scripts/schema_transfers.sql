-- ALTER SCHEMA ... TRANSFER of sequences and types.
CREATE SCHEMA here;
GO
CREATE SCHEMA there;
GO
CREATE SEQUENCE here.numbers START WITH 5;
CREATE SEQUENCE here.bound;
CREATE SEQUENCE there.taken;
CREATE SEQUENCE here.taken;
CREATE TYPE here.phone FROM varchar(20) NOT NULL;
CREATE TYPE here.list AS TABLE (n int NOT NULL PRIMARY KEY);
CREATE TYPE there.second FROM int;
CREATE TYPE here.second FROM int;
CREATE TABLE people (id int NOT NULL DEFAULT (NEXT VALUE FOR here.bound), number here.phone);
SELECT NEXT VALUE FOR here.numbers AS first;
GO
ALTER SCHEMA there TRANSFER here.numbers;
SELECT NEXT VALUE FOR there.numbers AS second;
SELECT SCHEMA_NAME(schema_id) AS in_schema, name FROM sys.sequences ORDER BY 1, 2;
GO
SELECT NEXT VALUE FOR here.numbers;
GO
ALTER SCHEMA there TRANSFER here.bound;
GO
ALTER SCHEMA there TRANSFER OBJECT::here.taken;
GO
ALTER SCHEMA there TRANSFER TYPE::here.phone;
ALTER SCHEMA there TRANSFER TYPE::here.list;
SELECT SCHEMA_NAME(schema_id) AS in_schema, name FROM sys.types WHERE is_user_defined = 1 ORDER BY 1, 2;
SELECT t.name AS of_type, SCHEMA_NAME(t.schema_id) AS in_schema FROM sys.columns AS c JOIN sys.types AS t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('people') AND c.name = 'number';
GO
DECLARE @list there.list;
INSERT @list VALUES (1);
SELECT * FROM @list;
GO
ALTER SCHEMA there TRANSFER TYPE::here.second;
GO
ALTER SCHEMA there TRANSFER TYPE::here.nothing;
GO
ALTER SCHEMA nowhere TRANSFER TYPE::here.second;
GO
ALTER SCHEMA nowhere TRANSFER here.bound;
GO
BEGIN TRANSACTION;
ALTER SCHEMA here TRANSFER there.numbers;
ALTER SCHEMA here TRANSFER TYPE::there.phone;
ROLLBACK;
SELECT NEXT VALUE FOR there.numbers AS third;
SELECT SCHEMA_NAME(schema_id) AS in_schema FROM sys.types WHERE name = 'phone';
GO
