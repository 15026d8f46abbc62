//! Names of the system's types beside their first: `numeric` for `decimal`, `sysname` for `nvarchar(128)`.
//!
//! A column or parameter declared with one is of the first name's type in all that is computed. The catalog keeps the name, as it
//! keeps a user's name for a type, because clients compare it with what they asked for.

use crate::sql_type::{Length, SqlType};

/// A type's second name, and what the catalog says of it.
#[derive(Debug, PartialEq, Eq)]
pub struct SecondName {
    /// The name.
    pub name: &'static str,
    /// `user_type_id` of `sys.types`.
    pub user_type_id: i32,
    /// `system_type_id` of `sys.types`.
    pub system_type_id: u8,
    /// The type it stands for, as wide as it can be declared.
    pub ty: SqlType,
    /// Whether a column that says nothing about it may hold NULL.
    pub nullable: bool,
}

impl SecondName {
    /// All of them.
    pub const ALL: &[SecondName] = &[
        SecondName {
            name: "numeric",
            user_type_id: 108,
            system_type_id: 108,
            ty: SqlType::Decimal { precision: 38, scale: 38 },
            nullable: true,
        },
        SecondName {
            name: "sysname",
            user_type_id: 256,
            system_type_id: 231,
            ty: SqlType::NVarChar(Length::Limit(128)),
            nullable: false,
        },
    ];

    /// The one that is written so, in any case.
    pub fn by_name(name: &str) -> Option<&'static SecondName> {
        Self::ALL.iter().find(|second| second.name.eq_ignore_ascii_case(name))
    }

    /// The one with a `user_type_id`.
    pub fn by_id(user_type_id: i32) -> Option<&'static SecondName> {
        Self::ALL.iter().find(|second| second.user_type_id == user_type_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name_and_number_alone() {
        for second in SecondName::ALL {
            assert_eq!(SecondName::by_name(&second.name.to_uppercase()), Some(second));
            assert_eq!(SecondName::by_id(second.user_type_id), Some(second));
            assert_ne!(second.name, second.ty.name());
            assert_ne!(second.user_type_id, i32::from(second.ty.system_type_id()));
        }
        assert_eq!(SecondName::by_name("varchar"), None);
        assert_eq!(SecondName::by_id(257), None);
    }
}
