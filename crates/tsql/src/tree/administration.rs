//! Statements about the server: DBCC, configuration, backups, principals and permissions.

use super::{Expr, Name, ObjectName, SettingOption, SettingValue};

/// `DBCC name [(arguments)] [WITH options]`
#[derive(Debug, Clone, PartialEq)]
pub struct Dbcc {
    /// The command in upper case.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<DbccArgument>,
    /// `WITH`: options in upper case.
    pub options: Vec<SettingOption>,
}

/// An argument of DBCC.
#[derive(Debug, Clone, PartialEq)]
pub enum DbccArgument {
    /// A number, text or variable.
    Expr(Expr),
    /// A word or name: `LOGSPACE`, `CLEAR`, `dbo.t`.
    Name(ObjectName),
}

impl DbccArgument {
    /// The word, number or text as plain text; none for a variable or an expression.
    pub fn text(&self) -> Option<String> {
        use super::{ExprKind, Literal};
        match self {
            DbccArgument::Name(name) => Some(name.dotted()),
            DbccArgument::Expr(expr) => match &expr.kind {
                ExprKind::Literal(Literal::Int(value)) => Some(value.to_string()),
                ExprKind::Literal(Literal::String { value, .. }) => Some(value.clone()),
                ExprKind::Unary(super::UnaryOp::Minus, inner) => match inner.literal() {
                    Some(Literal::Int(value)) => Some(format!("-{value}")),
                    _ => None,
                },
                _ => None,
            },
        }
    }
}

/// `ALTER SERVER CONFIGURATION SET ...`
#[derive(Debug, Clone, PartialEq)]
pub enum ServerConfiguration {
    /// `PROCESS AFFINITY CPU = ...`: ranges of CPUs, both ends included; empty for AUTO.
    AffinityCpu(Vec<(u32, u32)>),
    /// `PROCESS AFFINITY NUMANODE = ...`: ranges of nodes, both ends included.
    AffinityNumaNode(Vec<(u32, u32)>),
    /// `SOFTNUMA ON | OFF`
    SoftNuma(bool),
    /// `PIKEPOLE name = value`: a policy of this engine.
    Pikepole {
        /// The policy's name as written.
        name: Name,
        /// Its value.
        value: SettingValue,
    },
    /// Any other: `DIAGNOSTICS LOG ON`, `BUFFER POOL EXTENSION OFF`, `MEMORY_OPTIMIZED TEMPDB_METADATA = ON`.
    Other {
        /// The words before the value in upper case, joined by one blank.
        name: String,
        /// The value.
        value: Option<SettingValue>,
    },
}

/// `KILL`
#[derive(Debug, Clone, PartialEq)]
pub struct Kill {
    /// The session, or the text of a unit of work.
    pub target: Expr,
    /// `WITH STATUSONLY`
    pub status_only: bool,
}

/// `BACKUP ...` and `RESTORE ...`
#[derive(Debug, Clone, PartialEq)]
pub struct Backup {
    /// What, in upper case: `DATABASE`, `LOG`, `HEADERONLY`, `FILELISTONLY`, `VERIFYONLY`, `LABELONLY`.
    pub kind: String,
    /// The database, or a variable with its name; none for RESTORE HEADERONLY and its like.
    pub database: Option<Name>,
    /// `FILE = ...`, `FILEGROUP = ...` and its like behind the database.
    pub parts: Vec<SettingOption>,
    /// `TO` or `FROM`: devices such as `DISK = 'f'`, or names of logical devices.
    pub devices: Vec<SettingOption>,
    /// `WITH ...`
    pub options: Vec<SettingOption>,
}

/// `GRANT`, `DENY`, `REVOKE`
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    /// Which of the three.
    pub action: PermissionAction,
    /// `REVOKE GRANT OPTION FOR`
    pub grant_option_for: bool,
    /// The permissions: words in upper case joined by one blank, and the columns in parentheses.
    pub permissions: Vec<(String, Vec<Name>)>,
    /// `ON [class::]object`
    pub on: Option<Securable>,
    /// `TO` or `FROM`
    pub principals: Vec<Name>,
    /// `WITH GRANT OPTION`
    pub with_grant_option: bool,
    /// `CASCADE`
    pub cascade: bool,
    /// `AS grantor`
    pub grantor: Option<Name>,
}

/// The three permission statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionAction {
    /// `GRANT`
    Grant,
    /// `DENY`
    Deny,
    /// `REVOKE`
    Revoke,
}

/// What a permission is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Securable {
    /// The class before `::` in upper case: `OBJECT`, `SCHEMA`, `DATABASE`.
    pub class: Option<String>,
    /// The object.
    pub name: ObjectName,
    /// Its columns.
    pub columns: Vec<Name>,
}

/// `CREATE` or `ALTER` of a principal.
#[derive(Debug, Clone, PartialEq)]
pub struct Principal {
    /// True for `ALTER`.
    pub alter: bool,
    /// What it is, in upper case: `LOGIN`, `USER`, `ROLE`, `SERVER ROLE`, `APPLICATION ROLE`.
    pub kind: String,
    /// Its name.
    pub name: Name,
    /// Clauses of words and a name: `FOR LOGIN x`, `FROM WINDOWS`, `WITHOUT LOGIN`, `AUTHORIZATION x`, `ADD MEMBER x`,
    /// `DROP MEMBER x`, `ENABLE`, `DISABLE`.
    pub clauses: Vec<(String, Option<Name>)>,
    /// `WITH ...`
    pub options: Vec<SettingOption>,
}
