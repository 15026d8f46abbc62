CREATE USER reader WITHOUT LOGIN;
GO
-- What CREATE SCHEMA holds is made with it, in an order in which it can be.
CREATE SCHEMA sales AUTHORIZATION dbo
    CREATE VIEW open_orders AS SELECT id, item FROM orders WHERE closed = 0
    CREATE TABLE orders (id int NOT NULL PRIMARY KEY, item int REFERENCES sales.items (id), closed bit NOT NULL DEFAULT 0)
    GRANT SELECT ON open_orders TO reader
    GRANT EXECUTE ON SCHEMA::sales TO reader;
GO
CREATE SCHEMA sales
    CREATE TABLE items (id int PRIMARY KEY, name varchar(20))
    CREATE VIEW open_orders AS SELECT id, item FROM orders WHERE closed = 0
    CREATE TABLE sales.orders (id int NOT NULL PRIMARY KEY, item int REFERENCES sales.items (id), closed bit NOT NULL DEFAULT 0)
    GRANT SELECT ON open_orders TO reader
    DENY INSERT ON SCHEMA::sales TO reader;
GO
SELECT s.name AS its_schema, o.name, o.type FROM sys.objects AS o JOIN sys.schemas AS s ON s.schema_id = o.schema_id WHERE s.name = 'sales' AND o.type IN ('U', 'V') ORDER BY o.name;
SELECT class_desc, permission_name, state_desc FROM sys.database_permissions WHERE grantee_principal_id = USER_ID('reader') AND class > 0 ORDER BY class;
SELECT definition FROM sys.sql_modules WHERE object_id = OBJECT_ID('sales.open_orders');
INSERT sales.items VALUES (1, 'x');
INSERT sales.orders (id, item) VALUES (1, 1);
SELECT * FROM sales.open_orders;
GO
-- Of what fails nothing is left.
CREATE SCHEMA broken
    CREATE TABLE one (a int)
    CREATE VIEW two AS SELECT nothing FROM one;
GO
SELECT SCHEMA_ID('broken') AS id, OBJECT_ID('broken.one') AS one;
GO
CREATE SCHEMA other CREATE TABLE dbo.elsewhere (a int);
GO
SELECT SCHEMA_ID('other') AS id;
GO
