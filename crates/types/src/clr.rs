//! The system's CLR types: what they are called, and how texts and binaries become values of theirs.
//!
//! A value of one is a [`Value::Bin`] that holds the type's own serialized form ([`crate::hierarchy`], [`crate::spatial`]). It is looked at
//! where it comes to be, by [`from_value`]: whoever has a value of the type may rely on its form.

use crate::code_page::CodePage;
use crate::error::SqlError;
use crate::hierarchy::Path;
use crate::spatial::{Instance, System};
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

/// A type whose values SQL Server keeps as objects of its assembly `Microsoft.SqlServer.Types`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ClrType {
    /// `hierarchyid`: a place in a tree.
    HierarchyId,
    /// `geometry`: shapes in the plane.
    Geometry,
    /// `geography`: shapes on the earth.
    Geography,
}

/// The assembly that has the types.
pub const CLR_ASSEMBLY: &str = "Microsoft.SqlServer.Types";
/// The assembly with its version, as it is told to clients.
pub const CLR_ASSEMBLY_FULL: &str =
    "Microsoft.SqlServer.Types, Version=11.0.0.0, Culture=neutral, PublicKeyToken=89845dcd8080cc91";
/// Bytes of a `hierarchyid` at most.
pub const HIERARCHY_BYTES_MAX: usize = 892;

impl ClrType {
    /// All of them, by their numbers.
    pub const ALL: [ClrType; 3] = [ClrType::HierarchyId, ClrType::Geometry, ClrType::Geography];

    /// The name in T-SQL.
    pub fn name(self) -> &'static str {
        match self {
            ClrType::HierarchyId => "hierarchyid",
            ClrType::Geometry => "geometry",
            ClrType::Geography => "geography",
        }
    }

    /// The type of a name, in any case.
    pub fn by_name(name: &str) -> Option<ClrType> {
        ClrType::ALL.into_iter().find(|ty| ty.name().eq_ignore_ascii_case(name))
    }

    /// `user_type_id` of `sys.types`.
    pub fn user_type_id(self) -> i32 {
        match self {
            ClrType::HierarchyId => 128,
            ClrType::Geometry => 129,
            ClrType::Geography => 130,
        }
    }

    /// The class with its namespace.
    pub fn class(self) -> &'static str {
        match self {
            ClrType::HierarchyId => "Microsoft.SqlServer.Types.SqlHierarchyId",
            ClrType::Geometry => "Microsoft.SqlServer.Types.SqlGeometry",
            ClrType::Geography => "Microsoft.SqlServer.Types.SqlGeography",
        }
    }

    /// The class and its assembly.
    pub fn qualified_name(self) -> String {
        format!("{}, {CLR_ASSEMBLY_FULL}", self.class())
    }

    /// Whether values are compared, by their bytes.
    pub fn is_comparable(self) -> bool {
        self == ClrType::HierarchyId
    }

    /// The coordinates of a spatial type.
    pub fn system(self) -> Option<System> {
        match self {
            ClrType::HierarchyId => None,
            ClrType::Geometry => Some(System::Plane),
            ClrType::Geography => Some(System::Earth),
        }
    }
}

/// A text or a binary as a value of `to`.
///
/// # Errors
/// 6522 for what is none, 529 for values of other types.
pub(crate) fn from_value(value: &Value, from: &SqlType, to: ClrType, out: &mut Value) -> Result<(), SqlError> {
    match value {
        Value::Bin(bytes) if *from == SqlType::Clr(to) => out.binary_buffer().extend_from_slice(bytes),
        Value::Bin(bytes) => {
            match to.system() {
                None => drop(Path::read(bytes)?),
                Some(system) => drop(Instance::read(bytes, system)?),
            }
            out.binary_buffer().extend_from_slice(bytes);
        }
        Value::Str(text) => match to.system() {
            None => *out = Path::parse(text.trim_end_matches(' '))?.to_value()?,
            Some(system) => *out = Instance::parse(text, system, system.default_srid())?.to_value(),
        },
        _ => return Err(SqlError::explicit_conversion_not_allowed(from.error_name(), to.name())),
    }
    Ok(())
}

/// A value of `from` as a text: as `ToString` says it, whole or not at all.
///
/// # Errors
/// 8152 for a text that is too long.
pub(crate) fn to_text(bytes: &[u8], from: ClrType, to: &SqlType, out: &mut Value) -> Result<(), SqlError> {
    let text = shown(bytes, from)?;
    let limit = to.declared_length().map_or(usize::MAX, Length::limit);
    let page = CodePage::Western.of(to);
    if page.units(&text) > limit {
        return Err(SqlError::truncated());
    }
    *out = Value::Str(text);
    if let (SqlType::Char(_) | SqlType::NChar(_), Value::Str(text)) = (to, out) {
        crate::convert::pad(to, page, text);
    }
    Ok(())
}

/// Refuses binary types that the bytes of a value do not fill, or that they outgrow.
///
/// # Errors
/// 6207 and 8152.
pub(crate) fn check_room(bytes: &[u8], from: ClrType, to: &SqlType) -> Result<(), SqlError> {
    let limit = to.declared_length().map_or(usize::MAX, Length::limit);
    match to {
        SqlType::Binary(_) if bytes.len() < limit => Err(SqlError::clr_value_would_be_padded(from.name())),
        _ if bytes.len() > limit => Err(SqlError::truncated()),
        _ => Ok(()),
    }
}

/// A value as `ToString` says it.
///
/// # Errors
/// 6522 for bytes that are no value of the type.
pub fn shown(bytes: &[u8], ty: ClrType) -> Result<String, SqlError> {
    match ty.system() {
        None => Path::read(bytes).map(|path| path.to_string()),
        Some(system) => Instance::read(bytes, system).map(|instance| instance.to_text(true)),
    }
}
