//! Tables and table types WITH (MEMORY_OPTIMIZED = ON): they are like any others.
//!
//! What the option promises is speed; which rows there are is the same. So rows are in pages, logged and locked, and a hash index, which finds
//! equal keys and nothing else, is an ordered one. DURABILITY = SCHEMA_ONLY would say otherwise of the rows, and is refused.

use crate::errors;
use crate::expression::Fault;
use pikepole_tsql as tree;

/// The table as one that is not optimized for memory; None: it says nothing of it.
///
/// # Errors
/// DURABILITY = SCHEMA_ONLY is refused by name.
pub(super) fn as_any_table(create: &tree::CreateTable) -> Result<Option<tree::CreateTable>, Fault> {
    let is_on = |option: &tree::SettingOption| option.name == "MEMORY_OPTIMIZED" && option.on_off() == Some(true);
    if !create.options.iter().any(is_on) {
        return Ok(None);
    }
    let loses = |option: &tree::SettingOption| {
        option.name == "DURABILITY"
            && matches!(&option.value, Some(tree::SettingValue::Word(word)) if word == "SCHEMA_ONLY")
    };
    if create.options.iter().any(loses) {
        return Err(errors::unsupported("DURABILITY = SCHEMA_ONLY"));
    }
    let mut table = create.clone();
    for element in &mut table.elements {
        match element {
            tree::TableElement::Column(column) => {
                column.constraints.iter_mut().for_each(|constraint| order(&mut constraint.kind));
                column.indexes.iter_mut().for_each(|index| index.hash = false);
            }
            tree::TableElement::Constraint(constraint) => order(&mut constraint.kind),
            tree::TableElement::Index(index) => index.hash = false,
            tree::TableElement::Period(..) => {}
        }
    }
    Ok(Some(table))
}

fn order(constraint: &mut tree::ConstraintKind) {
    if let tree::ConstraintKind::Key(key) = constraint {
        key.hash = false;
    }
}
