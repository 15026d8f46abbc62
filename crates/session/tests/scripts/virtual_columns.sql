-- Virtual columns: %%physloc%% tells where a row is stored, %%lockres%% what the views of locks call it. Tables have them, `*` leaves them out.
-- Numbers of pages depend on what was made before: what is shown are their relations.
CREATE DATABASE places;
GO
USE places;
CREATE TABLE dbo.h (k int NOT NULL, v varchar(10) NULL);
INSERT dbo.h VALUES (1, 'a'), (1, 'b'), (2, 'c'), (3, 'd'), (3, 'e'), (3, 'f');
CREATE TABLE dbo.c (id int NOT NULL CONSTRAINT pk_c PRIMARY KEY, k int NOT NULL, pad char(3000) NOT NULL DEFAULT '');
CREATE INDEX ix_k ON dbo.c (k);
INSERT dbo.c (id, k) VALUES (1, 30), (2, 20), (3, 10), (4, 20);
GO
-- A heap: the rid. Page in four bytes, file in two, slot in two, each with its lowest byte first; the type is binary(8).
SELECT slot = CAST(SUBSTRING(%%physloc%%, 8, 1) + SUBSTRING(%%physloc%%, 7, 1) AS int), [file] = SUBSTRING(%%physloc%%, 5, 2),
    length = DATALENGTH(%%physloc%%), v FROM dbo.h ORDER BY v;
SELECT v, c.file_id, c.slot_id, is_page = IIF(c.page_id > 0, 1, 0) FROM dbo.h CROSS APPLY sys.fn_PhysLocCracker(%%physloc%%) AS c
    ORDER BY c.page_id, c.slot_id;
SELECT COUNT(*) AS alike FROM dbo.h AS t CROSS APPLY sys.fn_PhysLocCracker(t.%%physloc%%) AS c
    WHERE sys.fn_PhysLocFormatter(t.%%physloc%%) = CONCAT('(', c.file_id, ':', c.page_id, ':', c.slot_id, ')');
SELECT sys.fn_PhysLocFormatter(0x9A01000001000300) AS formatted, sys.fn_PhysLocFormatter(0x9A0100000100) AS shorter,
    sys.fn_PhysLocFormatter(NULL) AS of_null, sys.fn_PhysLocFormatter(0xE900000001008100) AS high_slot;
SELECT * FROM sys.fn_PhysLocCracker(0x9A01000001000300);
SELECT * FROM sys.fn_PhysLocCracker(NULL);
GO
-- A column without a name, which a table made of it needs.
SELECT TOP (1) %%lockres%% FROM dbo.h WHERE 1 = 0;
SELECT %%physloc%% INTO dbo.unnamed FROM dbo.h;
GO
SELECT %%physloc%% AS place, %%LockRes%% AS lock, k INTO dbo.named FROM dbo.h;
SELECT c.name, TYPE_NAME(c.system_type_id) AS type, c.max_length FROM sys.columns AS c WHERE c.object_id = OBJECT_ID('dbo.named')
    ORDER BY c.column_id;
SELECT COUNT(*) AS same FROM dbo.named AS n JOIN dbo.h AS t ON t.%%physloc%% = n.place AND t.%%lockres%%=n.lock AND t.k = n.k;
SELECT COUNT(*) AS by_place FROM dbo.h WHERE %%physloc%%=(SELECT MAX(place) FROM dbo.named);
SELECT COUNT(*) AS by_variable FROM dbo.h WHERE %%physloc%% IN (SELECT place FROM dbo.named WHERE k = 3);
GO
-- The common use: of rows that are alike, one stays.
BEGIN TRAN;
DELETE t FROM dbo.h AS t WHERE %%physloc%% NOT IN (SELECT MIN(%%physloc%%) FROM dbo.h GROUP BY k);
SELECT @@ROWCOUNT AS deleted;
SELECT k, v FROM dbo.h ORDER BY k;
ROLLBACK;
BEGIN TRAN;
DELETE FROM dbo.h WHERE %%physloc%% <> (SELECT MAX(i.%%physloc%%) FROM dbo.h AS i WHERE i.k = h.k);
SELECT k, v FROM dbo.h ORDER BY k;
ROLLBACK;
BEGIN TRAN;
WITH twice AS (SELECT %%physloc%% AS place, ROW_NUMBER() OVER (PARTITION BY k ORDER BY %%physloc%% DESC) AS n FROM dbo.h)
    DELETE dbo.h WHERE %%physloc%% IN (SELECT place FROM twice WHERE n > 1);
SELECT k, v FROM dbo.h ORDER BY k;
ROLLBACK;
-- Rows are changed through common tables and views that read it, too.
BEGIN TRAN;
WITH twice AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY %%physloc%%) AS n FROM dbo.h) DELETE FROM twice WHERE n > 1;
SELECT k, v FROM dbo.h ORDER BY k;
ROLLBACK;
BEGIN TRAN;
WITH placed AS (SELECT v, %%physloc%% AS place FROM dbo.h) UPDATE placed SET v = 'last' WHERE place = (SELECT MAX(%%physloc%%) FROM dbo.h);
SELECT v FROM dbo.h WHERE %%physloc%% = (SELECT MAX(place) FROM dbo.named);
ROLLBACK;
BEGIN TRAN;
DELETE a FROM dbo.h AS a JOIN dbo.h AS b ON a.k = b.k AND a.%%physloc%% > b.%%physloc%%;
SELECT k, v FROM dbo.h ORDER BY k;
ROLLBACK;
BEGIN TRAN;
DELETE TOP (1) FROM dbo.h OUTPUT deleted.v WHERE %%lockres%% = (SELECT MAX(lock) FROM dbo.named WHERE k = 2);
ROLLBACK;
SELECT COUNT(*) AS n FROM dbo.h AS o CROSS APPLY (SELECT TOP (1) i.v FROM dbo.h AS i WHERE i.%%physloc%% > o.%%physloc%% ORDER BY i.%%physloc%%) AS next_one;
SELECT k, MIN(sys.fn_PhysLocFormatter(%%physloc%%)) AS first_one, MAX(%%physloc%%) AS last_one INTO #ends FROM dbo.h GROUP BY k HAVING COUNT(%%physloc%%) > 1;
SELECT e.k, h.v FROM #ends AS e JOIN dbo.h ON h.%%physloc%% = e.last_one ORDER BY e.k;
DROP TABLE #ends;
GO
-- UPDATE reads it of the row that it changes, also where the rows are found before the first one is changed.
ALTER TABLE dbo.h ADD place binary(8) NULL, lock nvarchar(32) NULL;
GO
UPDATE dbo.h SET place = %%physloc%%, lock = %%lockres%%;
SELECT COUNT(*) AS right_ones FROM dbo.h WHERE place = %%physloc%% AND lock = %%lockres%%;
UPDATE t SET place = 0x, v = t.v FROM dbo.h AS t WHERE t.%%physloc%% = (SELECT MAX(%%physloc%%) FROM dbo.h WHERE k = t.k);
SELECT k, COUNT(*) AS changed FROM dbo.h WHERE place <> %%physloc%% GROUP BY k ORDER BY k;
UPDATE TOP (2) h SET place = h.%%physloc%% FROM dbo.h AS h WHERE place <> %%physloc%%;
SELECT COUNT(*) AS left_ones FROM dbo.h WHERE place <> %%physloc%%;
MERGE dbo.h AS t USING (SELECT %%physloc%% AS place, v FROM dbo.h WHERE k = 3) AS s ON t.%%physloc%% = s.place
    WHEN MATCHED THEN UPDATE SET v = s.v + '!', place = t.%%physloc%%
    WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = sys.fn_PhysLocFormatter(0x0100000001000200);
SELECT v, COUNT(*) AS n FROM dbo.h WHERE place = %%physloc%% OR k < 3 GROUP BY v ORDER BY v;
GO
-- A clustered table: page and slot of the leaf, in the order of the key. Whichever index a row is found through, the place is that of the row.
SELECT id, n = DENSE_RANK() OVER (ORDER BY SUBSTRING(%%physloc%%, 1, 4)), slot = CAST(SUBSTRING(%%physloc%%, 7, 1) AS int) FROM dbo.c ORDER BY id;
SELECT COUNT(*) AS same FROM dbo.c AS a WITH (INDEX(ix_k)) JOIN dbo.c AS b WITH (INDEX(pk_c)) ON a.id = b.id
    AND a.%%physloc%% = b.%%physloc%% AND a.%%lockres%% = b.%%lockres%%;
SELECT COUNT(*) AS found FROM dbo.c AS a WITH (INDEX(ix_k)) WHERE a.k = 20 AND a.%%physloc%% = (SELECT MAX(%%physloc%%) FROM dbo.c WHERE id = a.id);
-- A row before it takes a slot: the others' are those of the time of the read.
INSERT dbo.c (id, k) VALUES (0, 5);
SELECT id, slot = CAST(SUBSTRING(%%physloc%%, 7, 1) AS int) FROM dbo.c WHERE id < 2 ORDER BY id;
GO
-- %%lockres%% is what sys.dm_tran_locks shows for the row.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
BEGIN TRAN;
SELECT id FROM dbo.c WHERE id = 3;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SELECT v FROM dbo.h WITH (UPDLOCK) WHERE k = 2;
SELECT c.id FROM dbo.c AS c JOIN sys.dm_tran_locks AS l ON l.resource_description = c.%%lockres%%
    WHERE l.resource_type = 'KEY' AND l.request_session_id = @@SPID;
SELECT h.k FROM dbo.h WITH (NOLOCK) JOIN sys.dm_tran_locks AS l ON l.resource_description = %%lockres%% WHERE l.resource_type = 'KEY';
DECLARE @lock nvarchar(32) = (SELECT %%lockres%% FROM dbo.c WHERE id = 4);
SELECT id, COUNT(*) OVER () AS n FROM dbo.c WHERE %%lockres%% = @lock;
SELECT COUNT(*) AS shaped FROM dbo.c WHERE %%lockres%% LIKE '([0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f])';
COMMIT;
SELECT COUNT(DISTINCT %%lockres%%) AS locks, COUNT(DISTINCT %%physloc%%) AS places FROM dbo.c;
GO
-- A clustered key that repeats: each row has its own lock.
CREATE TABLE dbo.repeated (k int NOT NULL, v int NOT NULL);
CREATE CLUSTERED INDEX cx ON dbo.repeated (k);
INSERT dbo.repeated VALUES (1, 1), (1, 2), (1, 3);
SELECT COUNT(DISTINCT %%lockres%%) AS locks, COUNT(DISTINCT %%physloc%%) AS places FROM dbo.repeated;
BEGIN TRAN;
SELECT v FROM dbo.repeated WITH (XLOCK) WHERE k = 1 AND v = 2;
SELECT v FROM dbo.repeated WITH (READUNCOMMITTED) JOIN sys.dm_tran_locks ON resource_description = %%lockres%% WHERE request_session_id = @@SPID;
COMMIT;
GO
-- Rows that a join adds have none. Views, derived tables and common tables have those that they show as columns of theirs.
SELECT a.id, b.id, IIF(b.%%physloc%% IS NULL, 'none', 'some') AS place, IIF(b.%%lockres%% IS NULL, 'none', 'some') AS lock
    FROM dbo.c AS a LEFT JOIN dbo.c AS b ON b.id = a.id + 1 ORDER BY a.id;
SELECT a.id, IIF(b.%%physloc%% = (SELECT %%physloc%% FROM dbo.c WHERE id = b.id), 'same', 'other') AS place
    FROM dbo.c AS a LEFT JOIN dbo.c AS b ON b.id = a.id + 1 AND EXISTS (SELECT 1 FROM dbo.h WHERE h.k = b.id) ORDER BY a.id;
SELECT COUNT(*) AS n FROM (SELECT %%physloc%% AS [%%physloc%%], %%lockres%% AS l, id FROM dbo.c) AS d
    JOIN dbo.c ON c.%%physloc%% = d.[%%physloc%%] AND d.l = c.%%lockres%%;
GO
CREATE VIEW dbo.w AS SELECT id, %%physloc%% AS place, sys.fn_PhysLocFormatter(%%physloc%%) AS shown FROM dbo.c;
GO
SELECT COUNT(*) AS n FROM dbo.w JOIN dbo.c ON c.id = w.id AND place = %%physloc%% AND sys.fn_PhysLocFormatter(c.%%physloc%%) = shown;
SELECT c.name, TYPE_NAME(c.system_type_id) AS type FROM sys.columns AS c WHERE c.object_id = OBJECT_ID('dbo.w') AND c.name = 'place';
GO
CREATE FUNCTION dbo.placed (@id int) RETURNS TABLE AS RETURN SELECT %%physloc%% AS place, %%lockres%% AS lock FROM dbo.c WHERE id = @id;
GO
CREATE FUNCTION dbo.lock_of (@id int) RETURNS nvarchar(32) AS BEGIN RETURN (SELECT %%lockres%% FROM dbo.c WHERE id = @id) END;
GO
CREATE PROCEDURE dbo.show_place @id int AS
    DECLARE @place binary(8); SELECT @place = %%physloc%% FROM dbo.c WHERE id = @id;
    SELECT COUNT(*) AS n FROM dbo.c WHERE %%physloc%% = @place;
GO
SELECT COUNT(*) AS n FROM dbo.c CROSS APPLY dbo.placed(id) AS p WHERE p.place = c.%%physloc%% AND p.lock = dbo.lock_of(c.id);
EXEC dbo.show_place 3;
EXEC sp_executesql N'SELECT COUNT(*) AS n FROM dbo.c WHERE %%lockres%% = dbo.lock_of(@id)', N'@id int', 2;
GO
-- Groups, orders, windows, sets, aggregates.
SELECT COUNT(*) AS groups FROM (SELECT %%physloc%% AS p, COUNT(*) AS n FROM dbo.c GROUP BY %%physloc%%) AS g;
SELECT id FROM dbo.c ORDER BY %%physloc%% DESC, %%lockres%%;
SELECT id, LAG(id) OVER (ORDER BY c.%%physloc%%) AS before FROM dbo.c ORDER BY id;
SELECT COUNT(*) AS n FROM (SELECT %%lockres%% AS l FROM dbo.c INTERSECT SELECT t.%%lockres%% FROM dbo.c AS t WITH (INDEX(ix_k))) AS s;
SELECT k, (SELECT COUNT(*) FROM dbo.c AS i WHERE i.%%physloc%% < MIN(o.%%physloc%%)) AS before FROM dbo.c AS o GROUP BY k ORDER BY k;
SELECT DISTINCT TOP (2) LEN(%%lockres%%) AS length FROM dbo.c ORDER BY LEN(%%lockres%%);
GO
SELECT id, %%physloc%% FROM dbo.c GROUP BY id;
GO
-- Temporary tables and table variables; partitioned tables; samples; another database.
CREATE TABLE #t (a int); INSERT #t VALUES (1), (2), (2);
DELETE #t WHERE %%physloc%% NOT IN (SELECT MAX(%%physloc%%) FROM #t GROUP BY a);
SELECT a, CAST(SUBSTRING(%%physloc%%, 7, 1) AS int) AS slot FROM #t ORDER BY a;
DECLARE @t TABLE (a int PRIMARY KEY); INSERT @t VALUES (7), (8);
SELECT a, CAST(SUBSTRING(%%physloc%%, 7, 1) AS int) AS slot FROM @t ORDER BY a;
UPDATE @t SET a = a + CAST(SUBSTRING(%%physloc%%, 7, 1) AS int); SELECT a FROM @t ORDER BY a;
DELETE v FROM @t AS v WHERE v.%%lockres%% = (SELECT %%lockres%% FROM @t WHERE a = 7); SELECT a FROM @t;
SELECT COUNT(*) AS n FROM dbo.c AS s TABLESAMPLE (100 PERCENT) JOIN dbo.c ON c.%%physloc%% = s.%%physloc%%;
SELECT COLUMNS = COUNT(*) FROM sys.dm_exec_describe_first_result_set(N'SELECT * FROM dbo.c AS s TABLESAMPLE (100 PERCENT) WHERE %%physloc%% IS NOT NULL', NULL, 0);
GO
CREATE PARTITION FUNCTION f (int) AS RANGE FOR VALUES (10, 20);
CREATE PARTITION SCHEME s AS PARTITION f ALL TO ([PRIMARY]);
CREATE TABLE dbo.parted (k int NOT NULL, v int NOT NULL) ON s (k);
INSERT dbo.parted VALUES (5, 1), (5, 2), (15, 3), (15, 4), (25, 5);
DELETE dbo.parted WHERE %%physloc%% NOT IN (SELECT MIN(%%physloc%%) FROM dbo.parted GROUP BY k);
SELECT k, v FROM dbo.parted ORDER BY k;
GO
USE master;
SELECT COUNT(*) AS elsewhere FROM places.dbo.h WHERE places.dbo.h.%%physloc%% IN (SELECT i.%%physloc%% FROM places.dbo.h AS i WHERE i.%%lockres%% = h.%%lockres%%);
USE places;
GO
-- A table with a history, and one whose rows a policy filters.
CREATE TABLE dbo.timed (id int PRIMARY KEY, v int, f datetime2 GENERATED ALWAYS AS ROW START, u datetime2 GENERATED ALWAYS AS ROW END,
    PERIOD FOR SYSTEM_TIME (f, u)) WITH (SYSTEM_VERSIONING = ON);
INSERT dbo.timed (id, v) VALUES (1, 1), (2, 2);
SELECT a.id FROM dbo.timed FOR SYSTEM_TIME ALL AS a JOIN dbo.timed AS b ON a.%%physloc%% = b.%%physloc%% ORDER BY a.id;
ALTER TABLE dbo.timed SET (SYSTEM_VERSIONING = OFF);
GO
CREATE FUNCTION dbo.even (@id int) RETURNS TABLE WITH SCHEMABINDING AS RETURN SELECT 1 AS one WHERE @id % 2 = 0;
GO
CREATE SECURITY POLICY p ADD FILTER PREDICATE dbo.even(id) ON dbo.c;
GO
SELECT id, slot = CAST(SUBSTRING(%%physloc%%, 7, 1) AS int) FROM dbo.c ORDER BY id;
SELECT h.k, c.id, IIF(c.%%physloc%% IS NULL, 'none', 'some') AS place FROM dbo.h LEFT JOIN dbo.c ON c.id = h.k ORDER BY h.k;
DROP SECURITY POLICY p;
GO
-- Cursors read it as other columns.
DECLARE @place binary(8), @id int, @n int = 0;
DECLARE row_by_row CURSOR LOCAL FOR SELECT id, %%physloc%% FROM dbo.c ORDER BY id;
OPEN row_by_row;
FETCH NEXT FROM row_by_row INTO @id, @place;
WHILE @@FETCH_STATUS = 0
BEGIN
    SELECT @n += COUNT(*) FROM dbo.c WHERE id = @id AND %%physloc%% = @place;
    FETCH NEXT FROM row_by_row INTO @id, @place;
END;
SELECT @n AS fetched;
GO
DECLARE keyed CURSOR KEYSET FOR SELECT id, IIF(%%physloc%% IS NULL, 0, 1) AS placed FROM dbo.c WHERE %%physloc%% > 0x;
OPEN keyed; FETCH NEXT FROM keyed; FETCH LAST FROM keyed; CLOSE keyed; DEALLOCATE keyed;
DECLARE moving CURSOR DYNAMIC FOR SELECT id, IIF(%%lockres%% IS NULL, 0, 1) AS locked FROM dbo.c FOR UPDATE;
OPEN moving; FETCH NEXT FROM moving; UPDATE dbo.c SET k = k + 1 WHERE CURRENT OF moving; FETCH NEXT FROM moving; CLOSE moving; DEALLOCATE moving;
DECLARE of_heap CURSOR DYNAMIC FOR SELECT k, IIF(%%physloc%% IS NULL, 0, 1) AS placed FROM dbo.h FOR UPDATE;
OPEN of_heap; FETCH NEXT FROM of_heap; UPDATE dbo.h SET place = %%physloc%%, lock = %%lockres%% WHERE CURRENT OF of_heap;
SELECT COUNT(*) AS placed FROM dbo.h WHERE place = %%physloc%% AND lock = %%lockres%% AND v = '(1:1:2)';
FETCH NEXT FROM of_heap; DELETE dbo.h WHERE CURRENT OF of_heap; CLOSE of_heap; DEALLOCATE of_heap;
GO
-- Plans call it by its name; what reads it is not deterministic.
SET SHOWPLAN_TEXT ON;
GO
SELECT id FROM dbo.c WHERE %%physloc%% = 0x01 AND c.%%lockres%% <> N'x';
GO
SET SHOWPLAN_TEXT OFF;
GO
SELECT OBJECTPROPERTY(OBJECT_ID('dbo.lock_of'), 'IsDeterministic') AS of_function;
GO
-- What has none, and what there is not.
SELECT %%physloc%% FROM (SELECT 1 AS a) AS d;
GO
SELECT %%lockres%% FROM (VALUES (1)) AS d (a);
GO
SELECT %%physloc%% FROM dbo.w;
GO
SELECT w.%%physloc%% FROM dbo.w;
GO
SELECT x.%%physloc%% FROM dbo.c;
GO
SELECT %%physloc%%;
GO
SELECT %%physloc%% FROM dbo.c JOIN dbo.h ON c.id = h.k;
GO
SELECT %%physloc%% FROM sys.objects;
GO
WITH t AS (SELECT id FROM dbo.c) SELECT %%physloc%% FROM t;
GO
INSERT dbo.h (k) OUTPUT inserted.%%physloc%% VALUES (9);
GO
INSERT dbo.h (k, place) VALUES (9, %%physloc%%);
GO
SELECT [%%physloc%%] FROM dbo.c;
GO
SELECT %%rowdump%% FROM dbo.c;
GO
SELECT c.%%bmk%% FROM dbo.c;
GO
SELECT %%physloc FROM dbo.c;
GO
SELECT % %physloc%% FROM dbo.c;
GO
CREATE TABLE dbo.checked (a int CHECK (%%physloc%% IS NOT NULL));
GO
CREATE TABLE dbo.computed (a int, b AS %%physloc%%);
GO
UPDATE dbo.c SET %%physloc%% = 0x;
GO
-- A column may be called so.
CREATE TABLE dbo.called ([%%physloc%%] int);
INSERT dbo.called ([%%physloc%%]) VALUES (5);
SELECT [%%physloc%%], DATALENGTH(%%physloc%%) AS length FROM dbo.called;
GO
SELECT 7%%%physloc%% FROM dbo.called;
GO
SELECT 7%2%2 AS rest, 7 % id AS rests FROM dbo.c WHERE id = 4;
GO
