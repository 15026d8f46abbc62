//! What `\d` and its like ask of the database. They run in the user's session: it sees its temporary tables, and what it has not
//! committed.

/// Tables and views.
pub const TABLES: &str = "\
SET NOCOUNT ON;
SELECT SCHEMA_NAME(o.schema_id) AS [schema], o.name, CASE o.type WHEN 'U' THEN 'table' ELSE 'view' END AS kind,
    (SELECT SUM(p.rows) FROM sys.partitions AS p WHERE p.object_id = o.object_id AND p.index_id < 2) AS rows
FROM sys.objects AS o WHERE o.type IN ('U', 'V') ORDER BY 1, 2;";

/// Databases.
pub const DATABASES: &str = "\
SET NOCOUNT ON;
SELECT name, state_desc AS state, recovery_model_desc AS recovery, collation_name AS collation FROM sys.databases ORDER BY name;";

const COLUMNS: &str = "\
SELECT c.name AS [column], TYPE_NAME(c.user_type_id) + CASE
        WHEN TYPE_NAME(c.system_type_id) IN ('varchar', 'char', 'varbinary', 'binary')
            THEN CONCAT('(', IIF(c.max_length = -1, 'max', CONCAT(c.max_length, '')), ')')
        WHEN TYPE_NAME(c.system_type_id) IN ('nvarchar', 'nchar')
            THEN CONCAT('(', IIF(c.max_length = -1, 'max', CONCAT(c.max_length / 2, '')), ')')
        WHEN TYPE_NAME(c.system_type_id) IN ('decimal', 'numeric') THEN CONCAT('(', c.precision, ', ', c.scale, ')')
        WHEN TYPE_NAME(c.system_type_id) IN ('datetime2', 'time', 'datetimeoffset') THEN CONCAT('(', c.scale, ')')
        ELSE '' END AS type,
    IIF(c.is_nullable = 1, 'NULL', 'NOT NULL') AS nullable,
    CASE WHEN c.is_identity = 1 THEN 'identity' WHEN c.is_computed = 1 THEN 'computed' ELSE '' END AS note
FROM {0}sys.columns AS c WHERE c.object_id = @id ORDER BY c.column_id;";

const INDEXES: &str = "\
SELECT i.name AS [index], CONCAT(LOWER(i.type_desc), IIF(i.is_primary_key = 1, ', primary key', IIF(i.is_unique = 1, ', unique', '')))
        AS kind,
    (SELECT STRING_AGG(COL_NAME(k.object_id, k.column_id), ', ') WITHIN GROUP (ORDER BY k.key_ordinal) FROM sys.index_columns AS k
     WHERE k.object_id = i.object_id AND k.index_id = i.index_id AND k.is_included_column = 0) AS columns
FROM sys.indexes AS i WHERE i.object_id = @id AND i.index_id > 0 ORDER BY i.index_id;";

const PARAMETERS: &str = "\
SELECT p.name AS parameter, TYPE_NAME(p.user_type_id) AS type, IIF(p.is_output = 1, 'output', '') AS note
FROM sys.parameters AS p WHERE p.object_id = @id ORDER BY p.parameter_id;";

/// Columns and indexes of a table, parameters of a procedure.
pub fn describe(name: &str) -> String {
    let quoted = name.replace('\'', "''");
    // Temporary tables are tempdb's; their indexes are not asked for there.
    let (place, is_temporary) = match name.trim_start_matches('[').starts_with('#') {
        true => ("tempdb.", true),
        false => ("", false),
    };
    let id = if is_temporary { format!("tempdb..{quoted}") } else { quoted.clone() };
    let columns = COLUMNS.replace("{0}", place);
    let rest = if is_temporary {
        String::new()
    } else {
        format!(
            "IF EXISTS (SELECT * FROM sys.indexes WHERE object_id = @id AND index_id > 0) BEGIN {INDEXES} END;
             IF EXISTS (SELECT * FROM sys.parameters WHERE object_id = @id) BEGIN {PARAMETERS} END;"
        )
    };
    format!(
        "SET NOCOUNT ON; DECLARE @id int = OBJECT_ID(N'{id}');
         IF @id IS NULL BEGIN PRINT N'There is no {quoted} in ' + DB_NAME() + N'.'; RETURN; END;
         IF EXISTS (SELECT * FROM {place}sys.columns WHERE object_id = @id) BEGIN {columns} END;
         {rest}"
    )
}
