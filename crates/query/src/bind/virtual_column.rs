//! Virtual columns, which no table declares and `*` leaves out.
//!
//! ```text
//!   %%physloc%%   binary(8)      page, file and slot of the row, each with its lowest byte first
//!   %%lockres%%   nvarchar(32)   what the views of locks call the row
//! ```
//! Both are of the table's own row, through whichever index it is found: two scans of a table call a row the same. Tables
//! have them, and queries that stand for one table in a plan of the binder's own carry them as hidden columns; nothing
//! else has any.
//!
//! Few statements read them. So tables have no registers for them until a statement has been found to read one. It is
//! then bound again.

use std::cell::Cell;

use super::scope::{Column, ColumnAccess, Scope, Source, SourceColumn};
use super::{Binder, Names};
use crate::errors;
use crate::expression::Fault;
use crate::plan::RowPlace;
use pikepole_tsql as tree;
use pikepole_types::{Collated, Length, SqlError, SqlType};

/// A virtual column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VirtualColumn {
    PhysLoc,
    LockRes,
}

/// How many there are.
const COUNT: usize = 2;

impl VirtualColumn {
    pub(super) const ALL: [VirtualColumn; COUNT] = [VirtualColumn::PhysLoc, VirtualColumn::LockRes];

    /// The name, with the percent signs.
    pub(super) fn name(self) -> &'static str {
        match self {
            VirtualColumn::PhysLoc => "%%physloc%%",
            VirtualColumn::LockRes => "%%lockres%%",
        }
    }

    fn ty(self) -> SqlType {
        match self {
            VirtualColumn::PhysLoc => SqlType::Binary(8),
            VirtualColumn::LockRes => SqlType::NVarChar(Length::Limit(32)),
        }
    }

    /// # Errors
    /// 40517 for a name that SQL Server may have, or not: the error names it.
    fn named(name: &tree::Name) -> Result<VirtualColumn, Fault> {
        let found = VirtualColumn::ALL.into_iter().find(|known| name.is(known.name()));
        found.ok_or_else(|| errors::unsupported(&name.text))
    }
}

/// The virtual columns of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum VirtualColumns {
    /// It is no table.
    #[default]
    None,
    /// A table's, without registers.
    Unreserved,
    /// A table's, whose registers lie behind that of the row's locator, and which of them are read.
    Reserved([bool; COUNT]),
    /// Of a query that stands for a table: its columns from this one on.
    Carried(usize),
}

impl Source {
    /// The registers that a scan of this table leaves a row's place in.
    pub(crate) fn row_place(&self) -> Option<Box<RowPlace>> {
        let locator = self.registers.first + self.columns.len();
        let VirtualColumns::Reserved([physloc, lockres]) = self.virtual_columns else {
            return self.located.then(|| Box::new(RowPlace { locator, physloc: None, lockres: None }));
        };
        let slot = |at: usize, is_read: bool| is_read.then_some(locator + 1 + at);
        let is_read = self.located || physloc || lockres;
        is_read.then(|| Box::new(RowPlace { locator, physloc: slot(0, physloc), lockres: slot(1, lockres) }))
    }
}

/// Calls `bind` with a binder whose tables have no registers for virtual columns and, if it has met one, again with one
/// whose tables have.
pub(super) fn with_virtual_columns<T>(names: &Names<'_>, first_register: usize, bind: impl Fn(Binder<'_>) -> T) -> T {
    let wanted = Cell::new(false);
    let plain = Binder { virtual_wanted: Some(&wanted), ..Binder::new(names, first_register) };
    let bound = bind(plain);
    if wanted.get() { bind(Binder::new(names, first_register)) } else { bound }
}

impl Binder<'_> {
    /// The virtual columns of a table in FROM.
    pub(super) fn virtual_columns(&self) -> VirtualColumns {
        if self.reserves_virtual() { VirtualColumns::Reserved([false; COUNT]) } else { VirtualColumns::Unreserved }
    }

    /// Tells if tables have registers for virtual columns: the statement is known to read one, or may do so.
    pub(super) fn reserves_virtual(&self) -> bool {
        self.virtual_wanted.is_none()
    }

    /// The number of registers that each table has for virtual columns.
    pub(super) fn virtual_registers(&self) -> usize {
        if self.reserves_virtual() { COUNT } else { 0 }
    }

    /// The items by which a query of the binder's own carries the virtual columns of the table that it stands for, behind
    /// its others.
    pub(super) fn carried_items(&self) -> Vec<tree::SelectItem> {
        let span = tree::Span::default();
        let item = |which: VirtualColumn| {
            let name = tree::Name { text: which.name().to_owned(), span };
            let column = tree::ColumnRef { is_virtual: true, ..tree::ColumnRef::new(None, name.clone()) };
            let expr = tree::Expr::new(tree::ExprKind::Column(column), span);
            tree::SelectItem::Expr { expr, alias: Some(name) }
        };
        let carried = if self.reserves_virtual() { &VirtualColumn::ALL[..] } else { &[] };
        carried.iter().copied().map(item).collect()
    }

    /// The columns of that query behind its others.
    pub(super) fn carried_columns(&self) -> Vec<SourceColumn> {
        let carried = if self.reserves_virtual() { &VirtualColumn::ALL[..] } else { &[] };
        carried.iter().map(|which| SourceColumn::new(which.name(), which.ty(), true)).collect()
    }

    /// Shows the virtual columns that the last source has behind its others: it is such a query.
    pub(super) fn carries_virtual(&mut self) {
        let reserves = self.reserves_virtual();
        let Some(source) = self.scope().sources.last_mut() else { return };
        source.virtual_columns = VirtualColumns::Unreserved;
        if reserves {
            let first = source.columns.len().saturating_sub(COUNT);
            source.columns[first..].iter_mut().for_each(|column| column.hidden = true);
            source.virtual_columns = VirtualColumns::Carried(first);
        }
    }

    /// Tells if a source in FROM is a table, and so has virtual columns.
    pub(super) fn is_table(&mut self, source: &tree::TableSource) -> Result<bool, Fault> {
        Ok(match source {
            tree::TableSource::Variable { .. } => true,
            tree::TableSource::Table(table) => {
                let is_common = table.name.schema.is_none() && self.common_table(&table.name.name).is_some();
                !is_common && self.transition(&table.name).is_none() && self.catalog().table(&table.name)?.is_some()
            }
            _ => false,
        })
    }

    /// Finds a virtual column, from the innermost scope outward.
    ///
    /// # Errors
    /// 207, 209, 4104; 40517 for one that there is not.
    pub(super) fn resolve_virtual(&mut self, column: &tree::ColumnRef) -> Result<Column, Fault> {
        let which = VirtualColumn::named(&column.name)?;
        for level in (0..self.scopes.len()).rev() {
            if let Some((place, _)) = find(&self.scopes[level], column)? {
                for inner in &mut self.scopes[level + 1..] {
                    inner.correlated = true;
                }
                self.reads_target |= level == 0 && place == 0;
                return self.virtual_of(level, place, which);
            }
            if self.scopes[level].barrier {
                break;
            }
        }
        Err(self.unbound(column))
    }

    fn virtual_of(&mut self, level: usize, place: usize, which: VirtualColumn) -> Result<Column, Fault> {
        let source = &mut self.scopes[level].sources[place];
        let first = source.registers.first;
        let at = which as usize;
        let slot = match &mut source.virtual_columns {
            VirtualColumns::Reserved(read) => {
                read[at] = true;
                first + source.columns.len() + 1 + at
            }
            VirtualColumns::Carried(column) => {
                source.used[*column + at] = true;
                first + *column + at
            }
            VirtualColumns::None | VirtualColumns::Unreserved => {
                if let Some(wanted) = self.virtual_wanted {
                    wanted.set(true);
                }
                return Err(Box::new(SqlError::invalid_column(which.name())));
            }
        };
        // Where a row is stored is nothing that its values tell.
        self.undetermined();
        self.slots_read.insert(slot);
        let source = &self.scopes[level].sources[place];
        Ok(Column {
            slot,
            ty: which.ty(),
            nullable: true,
            collated: Collated::Default,
            access: ColumnAccess::All,
            display: format!("{}.{}", source.written.as_ref().unwrap_or(&source.alias), which.name()),
            level,
            source: place,
            when_read: None,
        })
    }
}

/// The source of a scope that has a virtual column, and a number for the column behind those of the source.
///
/// # Errors
/// 209.
pub(super) fn find(scope: &Scope, column: &tree::ColumnRef) -> Result<Option<(usize, usize)>, Fault> {
    let Ok(which) = VirtualColumn::named(&column.name) else { return Ok(None) };
    let is_meant = |source: &Source| match &column.qualifier {
        Some(qualifier) => source.answers_to(qualifier),
        None => !source.hidden,
    };
    let has = |source: &Source| source.virtual_columns != VirtualColumns::None && is_meant(source);
    let mut found = scope.sources.iter().enumerate().filter(|(_, source)| has(source));
    let first = found.next().map(|(at, source)| (at, source.columns.len() + which as usize));
    match found.next() {
        None => Ok(first),
        Some(_) => Err(Box::new(SqlError::ambiguous_column(&column.name.text))),
    }
}
