-- ANSI_NULLS OFF: NULL and variables are compared with NULL; columns with each other are not.
CREATE TABLE dbo.n (id int NOT NULL PRIMARY KEY, a int NULL, b int NULL);
INSERT dbo.n VALUES (1, NULL, NULL), (2, 5, 5), (3, 6, NULL);
GO
SET ANSI_NULLS OFF;
GO
DECLARE @v int, @w int = 5;
SELECT id FROM dbo.n WHERE a = NULL;
SELECT id FROM dbo.n WHERE a <> NULL;
SELECT id FROM dbo.n WHERE a = @v;
SELECT id FROM dbo.n WHERE a <> @v;
SELECT id FROM dbo.n WHERE a = @w;
SELECT id FROM dbo.n WHERE a <> @w;
SELECT id FROM dbo.n WHERE NOT (a = @v);
SELECT id FROM dbo.n WHERE a = b;
SELECT id FROM dbo.n WHERE a > @v;
SELECT id FROM dbo.n WHERE a IN (NULL, 6);
SELECT id FROM dbo.n WHERE a NOT IN (@v, 6);
SELECT id FROM dbo.n WHERE id = @v;
SELECT id FROM dbo.n WHERE id <> @v;
IF @v = NULL PRINT 'equal' ELSE PRINT 'not';
IF NULL = NULL PRINT 'equal' ELSE PRINT 'not';
IF 1 <> NULL PRINT 'different' ELSE PRINT 'not';
SELECT CASE WHEN @v = @w THEN 1 ELSE 0 END AS v_and_w, SESSIONPROPERTY('ANSI_NULLS') AS setting, @@OPTIONS & 32 AS bits;
SELECT ansi_nulls FROM sys.dm_exec_sessions WHERE session_id = @@SPID;
GO
-- Modules keep what was set when they were made.
CREATE PROCEDURE dbo.old AS BEGIN SELECT id FROM dbo.n WHERE a = NULL; SET ANSI_NULLS ON; SELECT id FROM dbo.n WHERE a = NULL; END;
GO
CREATE VIEW dbo.old_view AS SELECT id FROM dbo.n WHERE a = NULL;
GO
CREATE FUNCTION dbo.old_rows (@a int) RETURNS TABLE AS RETURN SELECT id FROM dbo.n WHERE a = @a;
GO
CREATE FUNCTION dbo.old_count (@a int) RETURNS int AS BEGIN DECLARE @n int; SELECT @n = COUNT(*) FROM dbo.n WHERE a = @a; RETURN @n; END;
GO
SET ANSI_NULLS ON;
GO
CREATE PROCEDURE dbo.new AS SELECT id FROM dbo.n WHERE a = NULL;
GO
EXEC dbo.old;
EXEC dbo.new;
SELECT id FROM dbo.old_view;
SELECT id FROM dbo.old_rows(NULL);
SELECT dbo.old_count(NULL) AS n;
SELECT id FROM dbo.n WHERE a = NULL;
SELECT OBJECT_NAME(object_id) AS name, uses_ansi_nulls FROM sys.sql_modules ORDER BY name;
GO
SET ANSI_NULLS OFF;
EXEC dbo.new;
SELECT id FROM dbo.n WHERE a = NULL;
SET ANSI_NULLS ON;
SELECT id FROM dbo.n WHERE a = NULL;
GO
ALTER PROCEDURE dbo.old AS SELECT id FROM dbo.n WHERE a = NULL;
GO
EXEC dbo.old;
SELECT uses_ansi_nulls FROM sys.sql_modules WHERE object_id = OBJECT_ID('dbo.old');
GO
-- CONCAT_NULL_YIELDS_NULL OFF: NULL adds nothing to a text.
SET CONCAT_NULL_YIELDS_NULL OFF;
DECLARE @t varchar(10), @u varchar(10) = 'u';
SELECT @u + @t AS u, 'a' + NULL AS a, NULL + N'b' AS b, @u + 'x' + @t AS ux, 1 + NULL AS number;
SET @u += @t;
SELECT @u AS u, SESSIONPROPERTY('CONCAT_NULL_YIELDS_NULL') AS setting, @@OPTIONS & 4096 AS bits;
SELECT CAST(a AS varchar(5)) + '!' AS told FROM dbo.n ORDER BY id;
SET CONCAT_NULL_YIELDS_NULL ON;
SELECT CAST(a AS varchar(5)) + '!' AS told, 'a' + NULL AS a FROM dbo.n ORDER BY id;
GO
