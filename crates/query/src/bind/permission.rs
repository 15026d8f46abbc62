//! What a plan needs permission for: noted while names are resolved.

use std::rc::Rc;

use super::Binder;
use crate::access::CatalogView;
use crate::expression::Fault;
use crate::plan::Registers;
use crate::security::{Requirement, column_number};
use pikepole_engine::Permission;
use pikepole_tsql::{self as tree, ObjectName};

/// The columns of a source whose reading needs permission, by the slots that they are read from.
pub(crate) struct Watched {
    registers: Registers,
    /// The requirements that they belong to.
    needs: Vec<usize>,
    names: Vec<String>,
}

/// What a statement was noted to need on the target whose rows FROM finds.
#[derive(Default)]
pub(super) struct TargetNeeds {
    /// The object's owner.
    pub(super) owner: Option<i32>,
    /// The requirements for reading it, and for changing columns of it.
    pub(super) reads: Vec<usize>,
    updates: Vec<usize>,
}

impl Binder<'_> {
    /// Notes that the statement needs a permission on the object of a name, unless the view around it has the same owner. The
    /// object's owner.
    pub(crate) fn require(&mut self, permission: Permission, name: &ObjectName) -> Result<Option<i32>, Fault> {
        Ok(self.note(permission, name, None)?.0)
    }

    /// The same of columns, by their places.
    pub(crate) fn require_columns<'n>(
        &mut self,
        permission: Permission,
        name: &ObjectName,
        columns: impl Iterator<Item = (usize, &'n str)>,
    ) -> Result<Option<i32>, Fault> {
        let columns = columns.map(|(place, name)| (column_number(place), name.to_owned())).collect();
        Ok(self.note(permission, name, Some(columns))?.0)
    }

    /// Notes that the statement reads an object, of which it is to be watched which columns: its owner, and the requirements that
    /// [`Binder::watch`] is for.
    pub(crate) fn require_read(&mut self, name: &ObjectName) -> Result<(Option<i32>, Vec<usize>), Fault> {
        self.note(Permission::Select, name, Some(Vec::new()))
    }

    fn note(
        &mut self,
        permission: Permission,
        name: &ObjectName,
        columns: Option<Vec<(i32, String)>>,
    ) -> Result<(Option<i32>, Vec<usize>), Fault> {
        let Some(mut requirement) = Requirement::of(self.catalog(), name, permission)? else {
            return Ok((None, Vec::new()));
        };
        let mut owner = requirement.owner;
        let mut noted = Vec::new();
        requirement.columns.clone_from(&columns);
        requirement.named_by_statement = self.view_owner.is_none();
        // No chain of owners leads from one database into another.
        let is_chained = self.view_owner == Some(owner) && requirement.database == self.catalog().database.id();
        if !is_chained {
            noted.push(self.put_requirement(requirement));
        }
        if let Some(mut behind) = Requirement::behind(self.catalog(), name, permission)? {
            owner = behind.owner;
            behind.columns = columns;
            behind.named_by_statement = false;
            noted.push(self.put_requirement(behind));
        }
        Ok((Some(owner), noted))
    }

    /// Adds a requirement, or its columns to the same one on others.
    fn put_requirement(&mut self, new: Requirement) -> usize {
        let found = self.requirements.iter().position(|old| {
            let columns = old.columns.as_ref().and(new.columns.clone());
            old.columns.is_some() == new.columns.is_some() && Requirement { columns, ..old.clone() } == new
        });
        match found {
            None => {
                self.requirements.push(new);
                self.requirements.len() - 1
            }
            Some(at) => {
                new.columns.into_iter().flatten().for_each(|column| self.requirements[at].add_column(column));
                at
            }
        }
    }

    /// Notes which columns are in the registers of a source: those that are read from there are what the requirements are about.
    pub(crate) fn watch(&mut self, registers: Registers, needs: Vec<usize>, names: Vec<String>) {
        if !needs.is_empty() {
            self.watched.push(Watched { registers, needs, names });
        }
    }

    /// Adds the columns that were read to the requirements that they belong to.
    pub(super) fn settle_requirements(&mut self) {
        for Watched { registers, needs, names } in std::mem::take(&mut self.watched) {
            let slots = registers.range().zip(names).enumerate();
            for (place, (_, name)) in slots.filter(|(_, (slot, _))| self.slots_read.contains(slot)) {
                let column = (column_number(place), name);
                needs.iter().for_each(|need| self.requirements[*need].add_column(column.clone()));
            }
        }
    }

    /// Notes what UPDATE and DELETE need: to change the target, and to read it when an expression does. FROM may name the
    /// table that the target is an alias of. The requirements for reading it.
    pub(crate) fn require_changed(
        &mut self,
        permission: Permission,
        target: &tree::Target,
        from: &[tree::TableSource],
        columns: Option<Vec<(usize, &str)>>,
    ) -> Result<Vec<usize>, Fault> {
        let name = match (target, from) {
            (_, [tree::TableSource::Table(table)]) => &table.name,
            (tree::Target::Table { name, .. }, _) => name,
            _ => return Ok(Vec::new()),
        };
        match columns {
            Some(columns) => self.require_columns(permission, name, columns.into_iter())?,
            None => self.require(permission, name)?,
        };
        if !self.reads_target {
            return Ok(Vec::new());
        }
        let (_, reads) = self.require_read(name)?;
        let source = &self.scope().sources[0];
        let (registers, names) = (source.registers, source.names());
        self.watch(registers, reads.clone(), names);
        Ok(reads)
    }

    /// Notes what a statement needs on a table whose rows FROM finds.
    pub(super) fn require_target(&mut self, name: &ObjectName) -> Result<TargetNeeds, Fault> {
        let mut needs = TargetNeeds::default();
        for permission in self.target_permissions.clone() {
            let columns = permission.is_of_columns().then(Vec::new);
            let (owner, noted) = self.note(permission, name, columns)?;
            needs.owner = owner;
            match permission {
                Permission::Select => needs.reads = noted,
                Permission::Update => needs.updates = noted,
                _ => {}
            }
        }
        Ok(needs)
    }

    /// The columns of a target have become known: those that are read in these registers, and those that SET names, are what it is
    /// about.
    pub(super) fn columns_of_target(&mut self, needs: &TargetNeeds, registers: Registers, names: Vec<String>) {
        for (place, name) in names.iter().enumerate() {
            if self.target_wanted.iter().any(|wanted| wanted.eq_ignore_ascii_case(name)) {
                let column = (column_number(place), name.clone());
                needs.updates.iter().for_each(|need| self.requirements[*need].add_column(column.clone()));
            }
        }
        self.watch(registers, needs.reads.clone(), names);
    }

    /// Binds what a view is made of.
    pub(crate) fn in_view_of<T>(
        &mut self,
        owner: Option<i32>,
        bind: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let outer = std::mem::replace(&mut self.view_owner, owner);
        let namespaces = std::mem::take(&mut self.namespaces);
        let bound = bind(self);
        self.view_owner = outer;
        self.namespaces = namespaces;
        bound
    }

    /// Binds what stands in a definition of the database of `catalog`.
    pub(crate) fn in_catalog<T>(
        &mut self,
        catalog: CatalogView,
        bind: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let outer = self.inner_catalog.replace(Rc::new(catalog));
        // What is asked of the outer text is not asked of the inner.
        let schema_bound = self.schema_bound.take();
        let bound = bind(self);
        self.schema_bound = schema_bound;
        self.inner_catalog = outer;
        bound
    }
}
