-- What DEFAULT, CHECK, computed columns and filters are stored as: SQL Server's own text of them.
CREATE TABLE t (
    id int NOT NULL DEFAULT 0,
    name nvarchar(40) CONSTRAINT df_name DEFAULT N'new' CONSTRAINT ck_name CHECK (name NOT LIKE '%;%' AND LEN(name) BETWEEN 2 AND 40),
    kind varchar(10) NULL DEFAULT NULL CHECK (kind IN ('a', 'b', 'c') OR kind IS NULL),
    made datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
    score decimal(9, 2) DEFAULT -1.50,
    big bigint DEFAULT 9000000000,
    ratio float DEFAULT 1e-2,
    owner sysname DEFAULT SUSER_SNAME(),
    whole AS CAST(score * 2 + id AS int),
    label AS name + ' ' + kind + ISNULL(CONVERT(varchar(10), made, 112), '?'),
    state AS CASE WHEN id > 0 THEN 'old' ELSE 'new' END PERSISTED,
    since AS YEAR(made),
    CONSTRAINT ck_both CHECK (id > 0 AND kind IN ('a', 'b') OR score <> -1 AND NOT (id = 1 AND kind = 'x'))
);
ALTER TABLE t ADD extra uniqueidentifier NOT NULL CONSTRAINT df_extra DEFAULT NEWID(), CONSTRAINT ck_extra CHECK (extra <> '00000000-0000-0000-0000-000000000000');
CREATE INDEX ix_name ON t (name) WHERE name IS NOT NULL AND kind IS NOT NULL;
GO
SELECT COL_NAME(parent_object_id, parent_column_id) AS c, definition FROM sys.default_constraints ORDER BY parent_column_id;
SELECT definition, OBJECT_DEFINITION(object_id) AS same FROM sys.check_constraints ORDER BY object_id;
SELECT name, definition FROM sys.computed_columns ORDER BY column_id;
SELECT filter_definition FROM sys.indexes WHERE name = 'ix_name';
SELECT COLUMN_NAME, COLUMN_DEFAULT FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 't' AND COLUMN_DEFAULT IS NOT NULL ORDER BY ORDINAL_POSITION;
SELECT CHECK_CLAUSE FROM INFORMATION_SCHEMA.CHECK_CONSTRAINTS ORDER BY 1;
GO
-- What is shown makes the same definition again.
DECLARE @again nvarchar(4000) = 'CREATE TABLE u (id int, name nvarchar(40), kind varchar(10), score decimal(9, 2), CONSTRAINT again CHECK '
    + (SELECT definition FROM sys.check_constraints WHERE name = 'ck_both') + ')';
EXEC (@again);
SELECT COUNT(DISTINCT definition) AS one FROM sys.check_constraints WHERE name IN ('ck_both', 'again');
INSERT t (id, name, kind, score) VALUES (1, N'ab', 'b', 2), (5, N'cd', NULL, -2);
SELECT id, whole, state, big, ratio FROM t ORDER BY id;
INSERT t (id, name, kind) VALUES (1, N'x;y', 'b');
INSERT t (id, name, kind) VALUES (1, N'xy', 'd');
INSERT t (id, name, kind, score) VALUES (0, N'xy', 'c', -1);
GO
-- Without QUOTED_IDENTIFIER a text in double quotes is stored as the text that it is.
SET QUOTED_IDENTIFIER OFF;
GO
CREATE TABLE q (a varchar(10) DEFAULT "it's");
INSERT q DEFAULT VALUES;
SELECT a, (SELECT definition FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('q')) AS definition FROM q;
