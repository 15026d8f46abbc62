-- Variables stand for one cursor, and share its place.
CREATE TABLE t (id int)
INSERT t VALUES (1), (2), (3), (4)
GO
DECLARE @c cursor, @d cursor, @v int
SET @c = CURSOR LOCAL SCROLL FOR SELECT id FROM t ORDER BY id
OPEN @c
SET @d = @c
FETCH NEXT FROM @c INTO @v
FETCH NEXT FROM @d INTO @v
SELECT @v AS second
DEALLOCATE @c
FETCH NEXT FROM @d INTO @v
SELECT @v AS third
-- The first has none any more.
FETCH NEXT FROM @c
SELECT CURSOR_STATUS('variable', '@d') AS open_one
SET @d = @c
FETCH NEXT FROM @d
GO
DECLARE named CURSOR FOR SELECT id FROM t ORDER BY id
OPEN named
DECLARE @c cursor, @v int
SET @c = named
FETCH NEXT FROM named INTO @v
FETCH NEXT FROM @c INTO @v
SELECT @v AS second
DEALLOCATE named
FETCH NEXT FROM @c INTO @v
SELECT @v AS third
FETCH NEXT FROM named
GO
-- With the batch its variables have ended, and with them the cursor.
DECLARE named CURSOR FOR SELECT id FROM t
SELECT CURSOR_STATUS('global', 'named') AS closed_one
DECLARE @c cursor
SET @c = named
SET @c = CURSOR FOR SELECT id + 10 FROM t ORDER BY id
OPEN @c
FETCH NEXT FROM @c
SELECT CURSOR_STATUS('global', 'named') AS still_closed
SET @c = nobody
GO
DECLARE @c cursor, @n int
SET @c = @n
GO
DEALLOCATE named
GO
CREATE PROCEDURE give @out cursor VARYING OUTPUT AS
    DECLARE @own cursor
    SET @own = CURSOR FOR SELECT id FROM t ORDER BY id
    OPEN @own
    SET @out = @own
GO
DECLARE @got cursor
EXEC give @got OUTPUT
FETCH NEXT FROM @got
GO
