//! BULK INSERT: fields of a file become columns of a table; and files as values in FROM.

use std::sync::Arc;

use super::collate::{ColumnDefaults, column_collation};
use super::data_type::{TypePlace, sql_type};
use super::join::{JoinTree, Leaf};
use super::modify::bulk_lock;
use super::scope::SourceColumn;
use super::source::rename;
use super::{Binder, Scope};
use crate::access::{Column, Table};
use crate::bulk::{
    BulkFile, BulkOptions, FieldFormat, FieldTarget, FileTable, FileValue, FormatColumn, FormatFile, Host, Layout,
    ValueKind, native_field,
};
use crate::errors;
use crate::expression::{Expr, Fault};
use crate::plan::{FileSource, Node, Statement, VirtualSource};
use pikepole_engine::Permission;
use pikepole_tsql as tree;
use pikepole_types::{CodePage, Collated, SqlError};

/// Fields that a file may have.
const FIELDS_MAX: i32 = 1024;

impl Binder<'_> {
    /// OPENROWSET(BULK ..., SINGLE_BLOB) and its kin in FROM: one row of one column.
    pub(super) fn bulk_rowset(&mut self, rowset: &tree::BulkRowset) -> Result<JoinTree, Fault> {
        let Some(alias) = &rowset.alias else {
            return Err(Box::new(SqlError::bulk_rowset_without_name()));
        };
        let Some(kind) = rowset.options.iter().find_map(|option| ValueKind::of(&option.name)) else {
            return self.rows_of_file(rowset, alias);
        };
        if rowset.options.iter().any(|option| option.value.is_some())
            || rowset.options.len() > 1
            || !rowset.schema.is_empty()
        {
            return Err(errors::unsupported("SINGLE_BLOB, SINGLE_CLOB or SINGLE_NCLOB with other options"));
        }
        let mut columns = vec![SourceColumn::new("BulkColumn", kind.ty(), true)];
        rename(&mut columns, &rowset.columns, &alias.text)?;
        let file = FileValue { name: rowset.file.clone(), kind };
        let node = self.called(columns.len(), Vec::new(), |_| VirtualSource::File(file));
        self.add(alias.text.clone(), None, columns, Leaf::Rows(node))
    }

    /// OPENROWSET(BULK ...) of a file's rows: a format file, or WITH, says which columns they have.
    fn rows_of_file(&mut self, rowset: &tree::BulkRowset, alias: &tree::Name) -> Result<JoinTree, Fault> {
        const OF_TABLES: [&str; 7] = [
            "BATCHSIZE",
            "CHECK_CONSTRAINTS",
            "FIRE_TRIGGERS",
            "KEEPIDENTITY",
            "KEEPNULLS",
            "KILOBYTES_PER_BATCH",
            "TABLOCK",
        ];
        if let Some(option) = rowset.options.iter().find(|option| OF_TABLES.contains(&option.name.as_str())) {
            return Err(Box::new(SqlError::option_not_recognized(&option.name, "OPENROWSET")));
        }
        let mut options = BulkOptions::of(&rowset.options, "OPENROWSET")?;
        if options.error_file.is_some() {
            return Err(errors::unsupported("ERRORFILE of OPENROWSET"));
        }
        let (mut columns, targets, fields) = match options.format_file.clone() {
            Some(name) if rowset.schema.is_empty() => {
                let described = self.catalog().format_file(&name)?;
                options.set_described(Arc::clone(&described))?;
                let (columns, targets) = described_columns(&described);
                let targets = described_targets(&described, targets, &name)?;
                (columns, targets, described_fields(&described, &options))
            }
            None if options.format.csv.is_some() && !rowset.schema.is_empty() => {
                let (columns, targets) = self.listed_columns(&rowset.schema)?;
                (columns, targets, None)
            }
            _ => {
                return Err(errors::unsupported(
                    "OPENROWSET(BULK ...) without FORMATFILE, FORMAT = 'CSV' with a WITH clause, SINGLE_BLOB, SINGLE_CLOB or SINGLE_NCLOB",
                ));
            }
        };
        rename(&mut columns, &rowset.columns, &alias.text)?;
        if let Some(unknown) = rowset.order.iter().find(|key| columns.iter().all(|column| !key.name.is(&column.name))) {
            return Err(Box::new(SqlError::invalid_column(&unknown.name.text)));
        }
        let name = rowset.file.clone();
        let table = Arc::new(FileTable { name, options, targets, fields, columns: columns.len() });
        let node = self.called(columns.len(), Vec::new(), |_| VirtualSource::FileTable(table));
        self.add(alias.text.clone(), None, columns, Leaf::Rows(node))
    }

    /// The columns that WITH lists, and the fields of the file, of which some may be passed over.
    fn listed_columns(&self, schema: &[tree::BulkColumn]) -> Result<(Vec<SourceColumn>, Vec<FieldTarget>), Fault> {
        let mut columns = Vec::new();
        let mut targets: Vec<FieldTarget> = Vec::new();
        for (at, column) in schema.iter().enumerate() {
            let name = &column.definition.name.text;
            let Some(data_type) = column.definition.data_type() else {
                return Err(Box::new(SqlError::incorrect_syntax(name)));
            };
            let ty = sql_type(&self.catalog().catalog, data_type, TypePlace::Declaration, at + 1)?;
            let field = match column.field.as_ref().map(tree::Expr::literal) {
                None => at,
                Some(Some(tree::Literal::Int(field @ 1..=FIELDS_MAX))) => *field as usize - 1,
                Some(_) => return Err(Box::new(SqlError::incorrect_syntax(name))),
            };
            if targets.len() <= field {
                targets.resize_with(field + 1, || FieldTarget::passed(Host::Text(None)));
            }
            if targets[field].slot.is_some() {
                return Err(errors::unsupported("A field that is two columns of OPENROWSET(BULK ...)"));
            }
            let host = Host::Text(None);
            let collation = column_collation(&column.definition, &ty, ColumnDefaults::of(self.collation()))?;
            let (name, page) = (name.clone(), collation.code_page());
            targets[field] = FieldTarget { slot: Some(at), name, ty, page, required: false, host };
            let collated = Collated::of_stored(&ty, collation);
            let name = &column.definition.name.text;
            columns.push(SourceColumn { collated, ..SourceColumn::new(name.as_str(), ty, true) });
        }
        Ok((columns, targets))
    }

    /// The INSERT of a file's rows, and the file, which `make` makes. The file has a field for each column of the table, or those that a format
    /// file names; those of computed columns, of rowversions, of periods and, without KEEPIDENTITY, of the identity column are passed over.
    pub(crate) fn bulk_insert(
        mut self,
        statement: &tree::BulkInsert,
        options: &BulkOptions,
        make: impl FnOnce(Vec<FieldTarget>, Option<Arc<[FieldFormat]>>) -> BulkFile,
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
        let described = match &options.layout {
            Layout::Described(described) => Some(described),
            Layout::Text | Layout::Native { .. } => None,
        };
        for (place, column) in table.columns.iter().enumerate() {
            if described.is_some_and(|described| described.columns.iter().all(|column| column.place != place)) {
                continue;
            }
            let is_dealt = table.identity == Some(place) && !options.keeps_identity;
            let slot = registers.first + place;
            let takes = !column.computed && !column.rowversion && !column.generated && !is_dealt;
            let default = takes && !options.keeps_nulls && column.default.is_some();
            targets.push(FieldTarget {
                slot: takes.then_some(slot),
                name: column.name.clone(),
                ty: column.ty,
                page: column.collation.code_page(),
                required: !column.nullable && !default,
                host: Host::Text(None),
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
        let name = options.format_file.as_deref().unwrap_or_default();
        let (targets, fields) = match &options.layout {
            Layout::Text => (targets, None),
            Layout::Native { wide } => {
                let fields = native_fields(&table, *wide)?;
                (with_hosts(targets, &fields), Some(fields.into()))
            }
            Layout::Described(described) => {
                (described_targets(described, targets, name)?, described_fields(described, options))
            }
        };
        let file = Arc::new(make(targets, fields));
        let source = Node::File(FileSource { file: Arc::clone(&file), registers });
        let plan = self.insert_plan(source, table, vec![row], None)?;
        Ok((plan, file))
    }
}

/// The fields of a native file for a table.
fn native_fields(table: &Table, wide: bool) -> Result<Vec<FieldFormat>, Fault> {
    let field = |column: &Column| {
        let unknown = || errors::unsupported(format!("A native data file with a column of type {}", column.ty));
        native_field(&column.ty, column.collation.code_page(), column.nullable, wide).ok_or_else(unknown)
    };
    table.columns.iter().map(field).collect()
}

fn with_hosts(mut targets: Vec<FieldTarget>, fields: &[FieldFormat]) -> Vec<FieldTarget> {
    targets.iter_mut().zip(fields).for_each(|(target, field)| target.host = field.host);
    targets
}

/// What becomes of each field that a format file describes: `targets` are those of the columns that it names, in their order.
fn described_targets(described: &FormatFile, targets: Vec<FieldTarget>, file: &str) -> Result<Vec<FieldTarget>, Fault> {
    let mut fields: Vec<_> = described.fields.iter().map(|field| FieldTarget::passed(field.host)).collect();
    if let Some(stray) = described.columns.get(targets.len()) {
        return Err(Box::new(SqlError::format_place_invalid(stray.field + 1, file)));
    }
    for (column, target) in described.columns.iter().zip(targets) {
        fields[column.field] = FieldTarget { host: fields[column.field].host, ..target };
    }
    Ok(fields)
}

/// The fields, unless they are cut as those of CSV.
pub(super) fn described_fields(described: &FormatFile, options: &BulkOptions) -> Option<Arc<[FieldFormat]>> {
    options.format.csv.is_none().then(|| described.fields.as_slice().into())
}

/// The columns of a format file, in their order, and what becomes of the field of each.
fn described_columns(described: &FormatFile) -> (Vec<SourceColumn>, Vec<FieldTarget>) {
    let column = |(at, column): (usize, &FormatColumn)| {
        let (name, ty) = (column.name.clone(), column.ty);
        let target = FieldTarget {
            slot: Some(at),
            name: name.clone(),
            ty,
            page: CodePage::Western,
            required: !column.nullable,
            host: described.fields[column.field].host,
        };
        (SourceColumn::new(name, ty, column.nullable), target)
    };
    described.columns.iter().enumerate().map(column).unzip()
}
