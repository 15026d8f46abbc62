-- CURSOR VARYING OUTPUT: a procedure opens a cursor, and its caller reads it.
CREATE TABLE dbo.t (id int PRIMARY KEY, v varchar(10));
INSERT dbo.t VALUES (1, 'one'), (2, 'two'), (3, 'three');
GO
CREATE PROCEDURE dbo.open_rows @from int, @c CURSOR VARYING OUTPUT AS
BEGIN
    SET @c = CURSOR FORWARD_ONLY STATIC FOR SELECT id, v FROM dbo.t WHERE id >= @from ORDER BY id;
    OPEN @c;
END;
GO
CREATE PROCEDURE dbo.pass_on @rows CURSOR VARYING OUTPUT AS EXEC dbo.open_rows 2, @rows OUTPUT;
GO
CREATE PROCEDURE dbo.open_and_close @c CURSOR VARYING OUTPUT, @n int OUTPUT AS
BEGIN
    SET @c = CURSOR FOR SELECT id FROM dbo.t;
    OPEN @c;
    CLOSE @c;
    SET @n = 5;
END;
GO
DECLARE @rows CURSOR, @id int, @v varchar(10);
EXEC dbo.open_rows @from = 2, @c = @rows OUTPUT;
FETCH NEXT FROM @rows INTO @id, @v;
WHILE @@FETCH_STATUS = 0
BEGIN
    SELECT @id AS id, @v AS v;
    FETCH NEXT FROM @rows INTO @id, @v;
END;
CLOSE @rows;
DEALLOCATE @rows;
EXEC dbo.pass_on @rows OUTPUT;
FETCH NEXT FROM @rows;
SELECT CURSOR_STATUS('variable', '@rows') AS status;
GO
-- A cursor that is closed at the end does not come back.
DECLARE @rows CURSOR, @n int;
EXEC dbo.open_and_close @rows OUTPUT, @n OUTPUT;
SELECT @n AS n;
FETCH NEXT FROM @rows;
GO
DECLARE @rows CURSOR;
SET @rows = CURSOR FOR SELECT 1 AS one;
EXEC dbo.open_rows 1, @rows OUTPUT;
GO
DECLARE @x int;
EXEC dbo.open_rows 1, @x OUTPUT;
GO
DECLARE @rows CURSOR;
EXEC dbo.open_rows @rows OUTPUT, @rows OUTPUT;
GO
EXEC dbo.open_rows 1;
GO
CREATE PROCEDURE dbo.wrong @c CURSOR OUTPUT AS SELECT 1;
GO
CREATE PROCEDURE dbo.wrong @c CURSOR VARYING AS SELECT 1;
GO
CREATE PROCEDURE dbo.wrong @c int VARYING OUTPUT AS SELECT 1;
GO
