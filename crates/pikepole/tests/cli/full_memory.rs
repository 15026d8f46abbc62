//! In-memory tables that fill the server's memory.

use crate::tool::Folder;

/// Inserts rows until there is no memory for more, deletes each second one, and inserts again.
const SCRIPT: &str = "
SET NOCOUNT ON;
CREATE TABLE dbo.filled (id int NOT NULL PRIMARY KEY NONCLUSTERED, filler char(900) NOT NULL)
WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
CREATE TABLE dbo.counts (first int NOT NULL, again int NOT NULL);
GO
CREATE PROCEDURE dbo.fill @rows int OUTPUT AS
BEGIN
    SET @rows = 0;
    DECLARE @first int = (SELECT ISNULL(MAX(id), 0) FROM dbo.filled);
    BEGIN TRY
        WHILE @rows < 2000000
        BEGIN
            INSERT dbo.filled SELECT @first + @rows + value, REPLICATE('x', 900) FROM GENERATE_SERIES(1, 500);
            SET @rows += 500;
        END;
    END TRY
    BEGIN CATCH
        IF ERROR_NUMBER() <> 41805 THROW;
    END CATCH;
END;
GO
DECLARE @first int, @again int;
EXEC dbo.fill @first OUTPUT;
WHILE EXISTS (SELECT * FROM dbo.filled WHERE id % 2 = 1) DELETE TOP (2000) dbo.filled WHERE id % 2 = 1;
EXEC dbo.fill @again OUTPUT;
INSERT dbo.counts VALUES (@first, @again);
GO
";

#[test]
fn rows_that_are_deleted_make_room_for_as_many() {
    let folder = Folder::new("full_memory");
    folder.write("fill.sql", SCRIPT);
    let limit = "max server memory (MB)=160";
    let done = folder.run(["sql", "--stop-on-error", "-d", "data", "--policy", limit, "-i", "fill.sql"]);
    assert_eq!((done.status, done.err.as_str()), (0, ""), "{}", done.out);
    let [first, again] = ["first", "again"].map(|name| folder.number(&format!("SELECT {name} FROM dbo.counts")));
    assert!((10_000..2_000_000).contains(&first), "{first} rows fill the memory");
    assert!(again > first / 3, "{again} rows come in place of half of {first}");
}
