//! Which collation an expression has, and how firmly: what decides when expressions of several collations meet.
//!
//! ```text
//!   Explicit    COLLATE says so                        gives way to nothing
//!   Conflict    two columns' collations met in `+`     gives way to COLLATE; compared with anything else it is an error
//!   Implicit    a column                               gives way to COLLATE
//!   Database    a constant, a variable                 gives way to all of these
//!   Default     what is no text                        gives way to all others
//! ```

use super::Collation;
use crate::error::SqlError;
use crate::sql_type::SqlType;

/// An expression's collation, by what gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Collated {
    /// Nothing does: it is no text, or one that the server makes.
    #[default]
    Default,
    /// The database: of a constant, of a variable.
    Database(Collation),
    /// A column.
    Implicit(Collation),
    /// COLLATE.
    Explicit(Collation),
    /// Two columns that have nothing in common.
    Conflict {
        /// The first one's.
        left: Collation,
        /// The other one's.
        right: Collation,
        /// What brought them together: "add", "CASE".
        operator: &'static str,
    },
}

impl Collated {
    /// What the values of a stored column of a type bring: those of texts its collation.
    pub fn of_stored(ty: &SqlType, collation: Collation) -> Collated {
        if ty.is_string() { Collated::Implicit(collation) } else { Collated::Default }
    }

    /// What two values together have, which `operator` makes one value of.
    ///
    /// # Errors
    /// 468 when COLLATE says different things.
    pub fn meet(self, other: Collated, operator: &'static str) -> Result<Collated, SqlError> {
        use Collated::{Conflict, Database, Default, Explicit, Implicit};
        Ok(match (self, other) {
            (Explicit(left), Explicit(right)) if left != right => {
                return Err(SqlError::collation_conflict(right.name(), left.name(), operator));
            }
            (Explicit(_), _) => self,
            (_, Explicit(_)) => other,
            (Conflict { .. }, _) => self,
            (_, Conflict { .. }) => other,
            (Implicit(left), Implicit(right)) if left != right => Conflict { left, right, operator },
            (Implicit(_), _) => self,
            (_, Implicit(_)) => other,
            (Database(_), _) => self,
            (_, Database(_)) => other,
            (Default, Default) => Default,
        })
    }

    /// The collation that `operation` works by.
    ///
    /// # Errors
    /// 446 when the value's parts do not agree.
    pub fn collation(self, operation: &str) -> Result<Collation, SqlError> {
        match self {
            Collated::Default => Ok(Collation::default()),
            Collated::Database(of) | Collated::Implicit(of) | Collated::Explicit(of) => Ok(of),
            Collated::Conflict { .. } => Err(SqlError::collation_unresolved(operation)),
        }
    }

    /// The collation by which two values are compared.
    ///
    /// # Errors
    /// 468 when the two do not agree, 446 when the parts of one do not.
    pub fn compared(self, other: Collated, operation: &'static str) -> Result<Collation, SqlError> {
        match (self, other, self.meet(other, operation)?) {
            (Collated::Implicit(left), Collated::Implicit(right), Collated::Conflict { .. }) => {
                Err(SqlError::collation_conflict(right.name(), left.name(), operation))
            }
            (_, _, met) => met.collation(operation),
        }
    }

    /// What the column of a view or derived table has that gives such values.
    #[must_use]
    pub fn of_column(self) -> Collated {
        match self {
            Collated::Explicit(collation) => Collated::Implicit(collation),
            other => other,
        }
    }

    /// The collation of a result that is shown or stored; the database's when nothing says.
    pub fn shown(self) -> Collation {
        match self {
            Collated::Database(of) | Collated::Implicit(of) | Collated::Explicit(of) => of,
            Collated::Default | Collated::Conflict { .. } => Collation::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Collated::{Conflict, Database, Default, Explicit, Implicit};
    use super::*;

    const CI: Collation = Collation::DEFAULT;
    const BIN: Collation = Collation::BINARY;

    #[test]
    fn the_firmer_one_stays() {
        let meet = |left: Collated, right| left.meet(right, "add").map_err(|error| error.number);
        assert_eq!(meet(Default, Default), Ok(Default));
        assert_eq!(meet(Default, Implicit(BIN)), Ok(Implicit(BIN)));
        assert_eq!(meet(Default, Database(BIN)), Ok(Database(BIN)));
        assert_eq!(meet(Database(BIN), Implicit(CI)), Ok(Implicit(CI)));
        assert_eq!(meet(Explicit(BIN), Implicit(CI)), Ok(Explicit(BIN)));
        let conflict = Conflict { left: CI, right: BIN, operator: "add" };
        assert_eq!(meet(Implicit(CI), Implicit(BIN)), Ok(conflict));
        assert_eq!(meet(conflict, Default), Ok(conflict));
        assert_eq!(meet(Explicit(CI), conflict), Ok(Explicit(CI)));
        assert_eq!(meet(Explicit(CI), Explicit(BIN)), Err(468));
    }

    #[test]
    fn a_comparison_needs_one_collation() {
        let compared = |left: Collated, right| left.compared(right, "equal to").map_err(|error| error.number);
        assert_eq!(compared(Default, Default), Ok(CI));
        assert_eq!(compared(Implicit(BIN), Default), Ok(BIN));
        assert_eq!(compared(Implicit(BIN), Explicit(CI)), Ok(CI));
        assert_eq!(compared(Implicit(BIN), Implicit(CI)), Err(468));
        let conflict = Conflict { left: CI, right: BIN, operator: "add" };
        assert_eq!(compared(conflict, Default), Err(446));
        assert_eq!(compared(conflict, Explicit(BIN)), Ok(BIN));
    }
}
