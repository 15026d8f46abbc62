//! Tables, declared once for both servers.

use pikepole_client::Length;
use pikepole_embedded::SqlType;

/// The language of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Pikepole.
    Tsql,
    /// PostgreSQL.
    Postgres,
}

/// `int`.
pub const INT: SqlType = SqlType::Int;
/// `bigint`.
pub const BIGINT: SqlType = SqlType::BigInt;
/// `smallint`.
pub const SMALLINT: SqlType = SqlType::SmallInt;
/// `tinyint`, which PostgreSQL has as `smallint`.
pub const TINYINT: SqlType = SqlType::TinyInt;
/// `float`.
pub const FLOAT: SqlType = SqlType::Float;
/// `datetime`, which PostgreSQL has as `timestamp`.
pub const DATETIME: SqlType = SqlType::DateTime;

/// `varchar(bytes)`.
pub const fn varchar(bytes: u16) -> SqlType {
    SqlType::VarChar(Length::Limit(bytes))
}

/// `char(bytes)`.
pub const fn char(bytes: u16) -> SqlType {
    SqlType::Char(bytes)
}

/// `decimal(precision, scale)`.
pub const fn decimal(precision: u8, scale: u8) -> SqlType {
    SqlType::Decimal { precision, scale }
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: SqlType,
    /// NULL may be in it.
    pub nullable: bool,
}

/// A column without NULL.
pub const fn column(name: &'static str, ty: SqlType) -> Column {
    Column { name, ty, nullable: false }
}

/// A column in which NULL may be.
pub const fn nullable(name: &'static str, ty: SqlType) -> Column {
    Column { name, ty, nullable: true }
}

/// A table.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
    /// Its other constraints, as both languages have them.
    pub constraints: &'static [&'static str],
    /// Its indexes: a name, and the columns.
    pub indexes: &'static [(&'static str, &'static str)],
}

impl Table {
    /// The statement that makes it.
    pub fn create(&self, dialect: Dialect) -> String {
        let columns = self.columns.iter().map(|column| {
            let null = if column.nullable { "NULL" } else { "NOT NULL" };
            format!("{} {} {null}", column.name, type_name(&column.ty, dialect))
        });
        let constraints = self.constraints.iter().map(ToString::to_string);
        let parts: Vec<String> = columns.chain(constraints).collect();
        format!("CREATE TABLE {} ({})", self.name, parts.join(", "))
    }

    /// The statements that make its indexes.
    pub fn create_indexes(&self) -> Vec<String> {
        let create = |(name, columns): &(&str, &str)| format!("CREATE INDEX {name} ON {} ({columns})", self.name);
        self.indexes.iter().map(create).collect()
    }

    /// The names of its columns.
    pub fn column_names(&self) -> String {
        self.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
    }
}

/// The name of a type.
fn type_name(ty: &SqlType, dialect: Dialect) -> String {
    match (dialect, ty) {
        (Dialect::Postgres, SqlType::TinyInt) => "smallint".to_string(),
        (Dialect::Postgres, SqlType::DateTime) => "timestamp".to_string(),
        _ => ty.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] =
        &[column("a", TINYINT), nullable("b", DATETIME), column("c", decimal(4, 2)), column("d", FLOAT)];

    #[test]
    fn a_table_is_made_in_both_languages() {
        let table =
            Table { name: "t", columns: COLUMNS, constraints: &["PRIMARY KEY (a)"], indexes: &[("t_b", "b, c")] };
        assert_eq!(
            table.create(Dialect::Tsql),
            "CREATE TABLE t (a tinyint NOT NULL, b datetime NULL, c decimal(4,2) NOT NULL, d float NOT NULL, PRIMARY KEY (a))"
        );
        assert_eq!(
            table.create(Dialect::Postgres),
            "CREATE TABLE t (a smallint NOT NULL, b timestamp NULL, c decimal(4,2) NOT NULL, d float NOT NULL, PRIMARY KEY (a))"
        );
        assert_eq!(table.create_indexes(), ["CREATE INDEX t_b ON t (b, c)"]);
        assert_eq!(table.column_names(), "a, b, c, d");
    }
}
