-- What SET QUOTED_IDENTIFIER says holds in its own batch from where it stands, whether it is carried out or not.
SELECT 1 AS "one"; SET QUOTED_IDENTIFIER OFF; SELECT "a text" AS t, 'it' + "'s" AS s;
GO
SELECT "still" AS t;
IF 1 = 0 SET QUOTED_IDENTIFIER ON
SELECT 2 AS "two";
GO
SET ANSI_NULLS, QUOTED_IDENTIFIER ON; SELECT 3 AS "three";
GO
SET ANSI_DEFAULTS ON; SELECT 4 AS "four";
GO
-- In a module it says nothing.
CREATE PROCEDURE dbo.reads AS SET QUOTED_IDENTIFIER OFF; SELECT "v"."n" FROM (SELECT 5 AS n) AS v;
GO
EXEC dbo.reads;
DROP PROCEDURE dbo.reads;
GO
-- WAITFOR takes hours with zeros before them.
WAITFOR DELAY '000:00:00.001';
WAITFOR DELAY '00:00:00.001';
PRINT 'waited';
GO
WAITFOR DELAY '100:00:00';
GO
