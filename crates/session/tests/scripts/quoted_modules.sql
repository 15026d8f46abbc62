-- Modules are read as they were written: with QUOTED_IDENTIFIER OFF, what double quotes hold is text.
CREATE TABLE dbo.words (id int PRIMARY KEY, word varchar(20));
INSERT dbo.words VALUES (1, 'one'), (2, 'two');
GO
SET QUOTED_IDENTIFIER OFF;
GO
CREATE PROCEDURE dbo.old_procedure AS SELECT "text" AS t, id FROM dbo.words WHERE word = "two";
GO
CREATE VIEW dbo.old_view AS SELECT id, "it's" AS said FROM dbo.words WHERE word <> "two";
GO
CREATE FUNCTION dbo.old_value (@w varchar(20)) RETURNS varchar(40) AS BEGIN DECLARE @r varchar(40) = "<"; SET @r += @w + ">"; RETURN @r; END;
GO
CREATE FUNCTION dbo.old_rows () RETURNS TABLE AS RETURN SELECT word + "!" AS loud FROM dbo.words;
GO
CREATE TRIGGER dbo.old_trigger ON dbo.words AFTER INSERT AS PRINT "fired";
GO
SET QUOTED_IDENTIFIER ON;
GO
EXEC dbo.old_procedure;
SELECT * FROM dbo.old_view;
SELECT dbo.old_value('x') AS value;
SELECT loud FROM dbo.old_rows() ORDER BY loud;
INSERT dbo.words VALUES (3, 'three');
UPDATE dbo.old_view SET id = 10 WHERE id = 1;
SELECT OBJECT_NAME(object_id) AS name, uses_quoted_identifier FROM sys.sql_modules ORDER BY name;
SELECT "id" FROM dbo.words ORDER BY "id";
GO
CREATE PROCEDURE dbo.new_procedure AS SELECT "id" FROM dbo.words WHERE "id" = 2;
GO
SET QUOTED_IDENTIFIER OFF;
GO
EXEC dbo.new_procedure;
SELECT "id" AS text;
GO
SET QUOTED_IDENTIFIER ON;
GO
ALTER PROCEDURE dbo.old_procedure AS SELECT "id" AS i FROM dbo.words WHERE "id" = 2;
GO
EXEC dbo.old_procedure;
SELECT name FROM sys.parameters WHERE object_id = OBJECT_ID('dbo.old_value') ORDER BY parameter_id;
GO
-- What OBJECTPROPERTY says of these settings.
SET ANSI_NULLS OFF;
GO
CREATE PROCEDURE dbo.of_old_nulls AS SELECT 1 AS one;
GO
SET ANSI_NULLS ON;
GO
SELECT name, OBJECTPROPERTY(object_id, 'ExecIsAnsiNullsOn') AS exec_nulls, OBJECTPROPERTY(object_id, 'ExecIsQuotedIdentOn') AS exec_quoted,
    OBJECTPROPERTY(object_id, 'IsAnsiNullsOn') AS nulls, OBJECTPROPERTY(object_id, 'IsQuotedIdentOn') AS quoted
FROM sys.objects WHERE type IN ('P', 'V', 'FN', 'IF', 'TR', 'U') ORDER BY name;
GO
