-- Names of constraints that were given none: 30 characters, of which the names of table and column share fourteen.
CREATE TABLE t (abcdefghijklmno int DEFAULT 1, x int CHECK (x > 0), y int, CHECK (y > 0), CHECK (x > y));
CREATE TABLE tt123456 (col1234567890 int DEFAULT 2 UNIQUE, a int DEFAULT 3);
CREATE TABLE abcdefghijklmnopqrst (a int NOT NULL PRIMARY KEY, x int CHECK (x > 0), abcdefghijkl int REFERENCES abcdefghijklmnopqrst, CHECK (a > x));
SELECT OBJECT_NAME(parent_object_id) AS of_table, type, LEFT(name, LEN(name) - CASE type WHEN 'PK' THEN 16 WHEN 'UQ' THEN 16 ELSE 8 END) AS begins, LEN(name) AS length
FROM sys.objects WHERE type IN ('D', 'C', 'PK', 'UQ', 'F') AND parent_object_id IN (OBJECT_ID('t'), OBJECT_ID('tt123456'), OBJECT_ID('abcdefghijklmnopqrst')) ORDER BY 1, 3;
SELECT COUNT(*) AS named_by_the_system FROM sys.default_constraints WHERE is_system_named = 1;
GO
