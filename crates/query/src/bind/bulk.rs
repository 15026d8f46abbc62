//! BULK INSERT: fields of a file become columns of a table; and files as values in FROM.

use std::sync::Arc;

use super::join::{JoinTree, Leaf};
use super::modify::bulk_lock;
use super::scope::SourceColumn;
use super::source::rename;
use super::{Binder, Scope};
use crate::bulk::{BulkFile, BulkOptions, FieldTarget, FileValue, ValueKind};
use crate::errors;
use crate::expression::{Expr, Fault};
use crate::plan::{FileSource, Node, Statement, VirtualSource};
use pikepole_engine::Permission;
use pikepole_tsql as tree;
use pikepole_types::SqlError;

impl Binder<'_> {
    /// OPENROWSET(BULK ..., SINGLE_BLOB) and its kin in FROM: one row of one column.
    pub(super) fn bulk_rowset(&mut self, rowset: &tree::BulkRowset) -> Result<JoinTree, Fault> {
        let Some(alias) = &rowset.alias else {
            return Err(Box::new(SqlError::bulk_rowset_without_name()));
        };
        let kind = match rowset.options.as_slice() {
            [option] if option.value.is_none() => ValueKind::of(&option.name),
            _ => None,
        };
        let Some(kind) = kind else {
            return Err(errors::unsupported(
                "OPENROWSET(BULK ...) without SINGLE_BLOB, SINGLE_CLOB or SINGLE_NCLOB, or with other options",
            ));
        };
        let mut columns = vec![SourceColumn::new("BulkColumn", kind.ty(), true)];
        rename(&mut columns, &rowset.columns, &alias.text)?;
        let file = FileValue { name: rowset.file.clone(), kind };
        let node = self.called(columns.len(), Vec::new(), |_| VirtualSource::File(file));
        self.add(alias.text.clone(), None, columns, Leaf::Rows(node))
    }

    /// The INSERT of a file's rows, and the file, which `make` makes. The file has a field for each column of the table; those of computed
    /// columns, of rowversions and, without KEEPIDENTITY, of the identity column are passed over.
    pub(crate) fn bulk_insert(
        mut self,
        statement: &tree::BulkInsert,
        options: &BulkOptions,
        make: impl FnOnce(Vec<FieldTarget>) -> BulkFile,
    ) -> Result<(Arc<Statement>, Arc<BulkFile>), Fault> {
        let table = self.target_table(&statement.table)?;
        self.require(Permission::Insert, &statement.table)?;
        self.scopes.push(Scope::default());
        if let Some(unknown) = statement.order.iter().find(|column| table.column(&column.name.text).is_none()) {
            return Err(Box::new(SqlError::invalid_column(&unknown.name.text)));
        }
        self.table_lock = options.locks_table.then(|| bulk_lock(&table));
        self.fills = options.batch_rows == u64::MAX;
        self.passes_constraints = !options.checks_constraints;
        self.passes_triggers = !options.fires_triggers;
        let registers = self.registers(table.columns.len());
        let (mut targets, mut given, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (place, column) in table.columns.iter().enumerate() {
            let is_dealt = table.identity == Some(place) && !options.keeps_identity;
            let slot = registers.first + place;
            let takes = !column.computed && !column.rowversion && !is_dealt;
            let default = takes && !options.keeps_nulls && column.default.is_some();
            targets.push(FieldTarget {
                slot: takes.then_some(slot),
                name: column.name.clone(),
                ty: column.ty,
                required: !column.nullable && !default,
            });
            if takes {
                given.push(place);
                let mut value = Expr::Slot(slot);
                if default {
                    value = Expr::Coalesce(Box::new([value, self.default_value(&table, place)?]));
                }
                values.push(Some(value));
            }
        }
        let row = self.complete(&table, &given, values)?;
        let file = Arc::new(make(targets));
        let source = Node::File(FileSource { file: Arc::clone(&file), registers });
        let plan = self.insert_plan(source, table, vec![row], None)?;
        Ok((plan, file))
    }
}
