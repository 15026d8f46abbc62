//! ALTER TABLE: columns and keys added, changed and dropped. ALTER INDEX.

use super::Definer;
use super::columnstore::WantedColumnstore;
use super::constraints::{ColumnChange, ComputedType, Existing};
use super::in_memory;
use super::index_filter::{FilterColumn, FilterOf};
use super::period::{check_added_to_versioned, check_altered_of_versioned, check_dropped_of_versioned};
use super::table_definition::{self, IGNORE_DUP_KEY, Wanted};
use super::versioning::{SYSTEM_VERSIONING, WantedVersioning};
use crate::access::Table;
use crate::bind::{self, ColumnDefaults, Names};
use crate::errors;
use crate::expression::{Env, Expr, Fault};
use crate::host::Host;
use crate::reading::Reading;
use crate::settings::NullDefault;
use pikepole_contention::sync::Mutex;
use pikepole_engine::{ColumnDefinition, LockEscalation, NewColumn};
use pikepole_tsql::{self as tree, ObjectName};
use pikepole_types::{CodePage, Mask, SqlError, SqlType, Target, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// Where a new row's column comes from.
enum ColumnMap {
    /// The old row's column, as it is.
    Copy(usize),
    /// The old row's column, converted.
    Convert { source: usize, from: SqlType, to: SqlType, page: CodePage, nullable: bool, name: String },
    /// A computed column's value: its registers are the old row.
    Compute(Expr),
    /// A rowversion or an identity value: the engine deals each row its number.
    Number,
    /// A DEFAULT that can be another one for each row: NEWID's.
    Each { value: Expr, functions: Mutex<pikepole_types::Context> },
    /// NEWSEQUENTIALID, which counts on from row to row.
    Sequential,
    /// The same value in every row.
    Fill { value: Value, allowed: bool, name: String },
}

/// DROP CONSTRAINT of a name that is none.
const NOT_A_CONSTRAINT: i32 = 3728;

impl Definer<'_> {
    /// ALTER TABLE.
    pub(crate) async fn alter_table(&mut self, alter: &tree::AlterTable) -> Result<(), Fault> {
        match &alter.action {
            tree::AlterTableAction::Add { elements, check } => {
                self.add_elements(&alter.table, elements, check.unwrap_or(true)).await?;
                let has_column = elements.iter().any(|element| matches!(element, tree::TableElement::Column(_)));
                if has_column { self.warn_of_rows(&alter.table) } else { Ok(()) }
            }
            tree::AlterTableAction::SetConstraints { check, enable, names } => {
                self.set_constraints(&alter.table, check.unwrap_or(false), *enable, names).await
            }
            tree::AlterTableAction::AlterColumn { column, .. } => self.alter_column(&alter.table, column).await,
            tree::AlterTableAction::AlterColumnProperty { column, add, property, .. } if property == "SPARSE" => {
                self.set_sparse(&alter.table, column, *add).await
            }
            tree::AlterTableAction::AlterColumnProperty { column, add, property, .. } if property == "HIDDEN" => {
                self.set_hidden(&alter.table, column, *add).await
            }
            tree::AlterTableAction::AlterColumnProperty { add, property, .. } => {
                let verb = if *add { "ADD" } else { "DROP" };
                Err(errors::unsupported(format!("ALTER COLUMN ... {verb} {property}")))
            }
            tree::AlterTableAction::AlterColumnMask { column, function } => {
                self.set_mask(&alter.table, column, function.as_deref()).await
            }
            tree::AlterTableAction::Drop(elements) => {
                for element in elements {
                    self.drop_element(&alter.table, element).await?;
                }
                Ok(())
            }
            // Rows lie as this engine lays them: there is nothing to rebuild, only what is said of it to be kept.
            tree::AlterTableAction::Rebuild { partition: None, options } => {
                self.altered(&alter.table)?;
                self.set_storage_of_rows(&alter.table, options).await
            }
            tree::AlterTableAction::Rebuild { .. } => Ok(()),
            tree::AlterTableAction::SetTriggers { enable, names } => {
                self.set_triggers_of_table(&alter.table, *enable, names).await
            }
            tree::AlterTableAction::Set(options) => self.set_table_options(&alter.table, options).await,
            tree::AlterTableAction::Switch { .. } => Err(errors::unsupported("ALTER TABLE ... SWITCH")),
        }
    }

    /// ALTER COLUMN ... ADD or DROP SPARSE.
    ///
    /// # Errors
    /// 1731 for a column that cannot be sparse; 4924 for one that is not there.
    async fn set_sparse(&mut self, name: &ObjectName, column: &tree::Name, sparse: bool) -> Result<(), Fault> {
        let table = self.altered(name)?;
        let missing = || SqlError::alter_column_unknown("ALTER TABLE ALTER COLUMN", &column.text, &table.name);
        let place = table.column(&column.text).ok_or_else(missing)?;
        if table.engine.versioning.is_some() {
            return Err(Box::new(SqlError::versioned_column_not_altered(&column.text, &table.display)));
        }
        let own = &table.engine.columns[place];
        let special = own.identity.is_some() || own.computed.is_some() || own.rowversion || own.default.is_some();
        if sparse && (special || !own.nullable || own.ty.is_text_or_image()) {
            return Err(Box::new(SqlError::column_not_sparse(&column.text, &table.name)));
        }
        let change = |record: &mut pikepole_engine::TableRecord, _: &mut dyn FnMut() -> i32| {
            record.columns[place].sparse = sparse;
            Ok(())
        };
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        Ok(())
    }

    /// ALTER TABLE ... SET (LOCK_ESCALATION = ...): kept for the views, since nothing here escalates.
    async fn set_table_options(&mut self, name: &ObjectName, options: &[tree::SettingOption]) -> Result<(), Fault> {
        let table = self.altered(name)?;
        for option in options {
            if option.name == SYSTEM_VERSIONING {
                match WantedVersioning::of(option)? {
                    Some(wanted) => self.start_versioning(name, &wanted).await?,
                    None => self.stop_versioning(&table).await?,
                }
                continue;
            }
            if option.name != "LOCK_ESCALATION" {
                return Err(errors::unsupported(format!("ALTER TABLE ... SET ({})", option.name)));
            }
            let word = match &option.value {
                Some(tree::SettingValue::Word(word)) => word.to_uppercase(),
                Some(value) => value.to_string(),
                None => String::new(),
            };
            let wanted = LockEscalation::ALL.into_iter().find(|known| known.name() == word);
            let wanted = wanted.ok_or_else(|| Box::new(SqlError::incorrect_syntax(word)))?;
            let change = |record: &mut pikepole_engine::TableRecord, _: &mut dyn FnMut() -> i32| {
                record.lock_escalation = wanted;
                Ok(())
            };
            let (database, tx) = self.context.engine();
            database.alter_definition(tx, &table.engine, &change).await?;
        }
        Ok(())
    }

    /// ALTER INDEX. What its options say this engine decides by itself, and its trees need no reorganizing.
    pub(super) async fn alter_index(&mut self, alter: &tree::AlterIndex) -> Result<(), Fault> {
        let missing = || Box::new(SqlError::object_not_found(alter.table.dotted()));
        let table = self.context.catalog().table(&alter.table)?.ok_or_else(missing)?;
        let name = alter.name.as_ref();
        if let Some(name) = name.filter(|name| !table.engine.indexes.iter().any(|index| name.is(&index.name))) {
            return Err(Box::new(SqlError::index_missing(&name.text)));
        }
        let named = table.engine.indexes.iter().find(|index| name.is_some_and(|name| name.is(&index.name)));
        if named.is_some_and(|index| index.hypothetical.is_some()) {
            return Err(errors::unsupported("ALTER INDEX of a hypothetical index"));
        }
        match alter.action {
            tree::AlterIndexAction::Reorganize => Ok(()),
            tree::AlterIndexAction::Set => {
                self.set_compression_delay(&table, alter).await?;
                self.set_ignores_duplicates(&table, alter).await.map(drop)
            }
            tree::AlterIndexAction::Disable => self.disable_indexes(&table, name).await,
            tree::AlterIndexAction::Rebuild => {
                let table = self.set_ignores_duplicates(&table, alter).await?;
                let table = self.set_storage_of_indexes(table, alter).await?;
                let activity = Arc::clone(&self.context.activity);
                let (database, tx) = self.context.engine();
                let rebuilt = database.rebuild_indexes(tx, &table, name.map(tree::Name::as_str));
                Ok(Reading::during(&activity, &table, rebuilt).await?)
            }
        }
    }

    /// What COMPRESSION_DELAY among the options of ALTER INDEX ... SET says of columnstores.
    async fn set_compression_delay(&mut self, table: &Table, alter: &tree::AlterIndex) -> Result<(), Fault> {
        let Some(delay) = super::columnstore::compression_delay(&alter.options)? else { return Ok(()) };
        let is_meant = |index: &pikepole_engine::Index| alter.name.as_ref().is_none_or(|name| name.is(&index.name));
        let change = |record: &mut pikepole_engine::TableRecord, _: &mut dyn FnMut() -> i32| {
            let meant = record.indexes.iter_mut().filter(|index| is_meant(index));
            meant.filter_map(|index| index.columnstore.as_mut()).for_each(|own| own.compression_delay = delay);
            Ok(())
        };
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        Ok(())
    }

    /// What IGNORE_DUP_KEY among the options of ALTER INDEX says; the table as it is then.
    async fn set_ignores_duplicates(
        &mut self,
        table: &Table,
        alter: &tree::AlterIndex,
    ) -> Result<Arc<pikepole_engine::Table>, Fault> {
        if !alter.options.iter().any(|option| option.name == IGNORE_DUP_KEY) {
            return Ok(Arc::clone(&table.engine));
        }
        let on = table_definition::is_on(&alter.options, IGNORE_DUP_KEY);
        let is_meant = |index: &pikepole_engine::Index| alter.name.as_ref().is_none_or(|name| name.is(&index.name));
        for index in table.engine.indexes.iter().filter(|index| is_meant(index)) {
            let name = &index.name;
            if index.constraint {
                return Err(Box::new(SqlError::constraint_ignores_duplicates(name)));
            }
            if on && !index.unique {
                return Err(Box::new(SqlError::nonunique_index_ignores_duplicates(name)));
            }
            if on && index.filter.is_some() {
                return Err(Box::new(SqlError::filtered_index_ignores_duplicates("alter", name, &table.name)));
            }
        }
        let change = |record: &mut pikepole_engine::TableRecord, _: &mut dyn FnMut() -> i32| {
            let meant = record.indexes.iter_mut().filter(|index| is_meant(index));
            meant.for_each(|index| index.ignores_duplicates = on);
            Ok(())
        };
        let (database, tx) = self.context.engine();
        Ok(database.alter_definition(tx, &table.engine, &change).await?)
    }

    /// ALTER INDEX ... DISABLE: what it holds goes, what it is stays.
    async fn disable_indexes(&mut self, table: &Table, name: Option<&tree::Name>) -> Result<(), Fault> {
        let is_meant = |index: &pikepole_engine::Index| name.is_none_or(|name| name.is(&index.name));
        let references: Vec<i32> = {
            let catalog = self.context.catalog();
            catalog.catalog.references_to(table.object_id).map(|(_, key)| key.index_id).collect()
        };
        for index in table.engine.indexes.iter().filter(|index| is_meant(index)) {
            if index.is_clustered() {
                return Err(errors::unsupported("ALTER INDEX ... DISABLE of a clustered index"));
            }
            if references.contains(&index.index_id) {
                return Err(errors::unsupported("ALTER INDEX ... DISABLE of a key that foreign keys refer to"));
            }
        }
        let change = |record: &mut pikepole_engine::TableRecord, _: &mut dyn FnMut() -> i32| {
            let meant = record.indexes.iter_mut().filter(|index| is_meant(index));
            meant.for_each(|index| index.set_disabled(true));
            Ok(())
        };
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        Ok(())
    }

    pub(super) fn altered(&self, name: &tree::ObjectName) -> Result<std::sync::Arc<Table>, Fault> {
        let missing = || SqlError::alter_table_not_found(name.dotted());
        self.table_itself(name, missing, || SqlError::altered_not_a_table(name.dotted()))
    }

    async fn add_elements(
        &mut self,
        name: &tree::ObjectName,
        elements: &[tree::TableElement],
        check_rows: bool,
    ) -> Result<(), Fault> {
        let table = self.altered(name)?;
        check_added_to_versioned(&table, elements)?;
        let is_masked = |element: &tree::TableElement| matches!(element, tree::TableElement::Column(column) if column.masked.is_some());
        if elements.iter().any(is_masked) {
            self.check_may_mask(&table)?;
        }
        let (mut columns, mut maps) = kept_columns(&table, None);
        let mut keys = Vec::new();
        let mut wishes = table_definition::Wishes::default();
        for element in elements {
            match element {
                tree::TableElement::Column(definition) => {
                    let definition = &*with_its_default(definition, elements);
                    table_definition::check_computed(definition)?;
                    let before = wishes.computed.len();
                    wishes.column(definition);
                    let (column, map) = match wishes.computed.get(before) {
                        Some(wanted) => self.new_computed(&table, wanted)?,
                        None => self.new_column(&table, definition, columns.len() + 1)?,
                    };
                    columns.push(column);
                    maps.push(map);
                    for constraint in &definition.constraints {
                        let own = Some(&definition.name);
                        keys.extend(wishes.constraint(&constraint.kind, constraint.name.as_ref(), own)?);
                    }
                }
                tree::TableElement::Constraint(constraint) => match &constraint.kind {
                    tree::ConstraintKind::Default { column, .. } if is_added(column, elements) => (),
                    tree::ConstraintKind::Default { expr, column, .. } => {
                        self.check_default(expr)?;
                        let name = constraint.name.as_ref().map(|name| name.text.clone());
                        let text = tree::stored_expression(expr);
                        set_default(&table, &mut columns, column, (name, text))?;
                    }
                    kind => {
                        keys.extend(wishes.constraint(kind, constraint.name.as_ref(), None)?);
                    }
                },
                tree::TableElement::Period(start, end) => wishes.take_period(start, end)?,
                tree::TableElement::Index(inline) if inline.kind == tree::IndexKind::Columnstore => {
                    wishes.columnstores.push(WantedColumnstore::inline(inline)?);
                }
                tree::TableElement::Index(inline) => keys.push(self.added_index(name, &table, inline)?),
            }
        }
        wishes.check_added_period(&table)?;
        let changes_columns = elements.iter().any(|element| match element {
            tree::TableElement::Column(_) => true,
            tree::TableElement::Constraint(constraint) => {
                matches!(constraint.kind, tree::ConstraintKind::Default { .. })
            }
            _ => false,
        });
        if changes_columns {
            self.change_columns(&table, &columns, &maps).await?;
            self.carry_columns(&table, None, &columns, &maps).await?;
        }
        if !table.engine.is_in_memory() {
            keys.iter().try_for_each(Wanted::check_on_disk)?;
        }
        self.add_keys(name, keys).await?;
        self.add_wishes(name, wishes, if check_rows { Existing::Checked } else { Existing::NotChecked }).await
    }

    /// A computed column: its values are computed for the rows that are there.
    fn new_computed(
        &self,
        table: &Table,
        wanted: &table_definition::WantedComputed,
    ) -> Result<(NewColumn, ColumnMap), Fault> {
        let columns = super::constraints::table_columns(table);
        let ComputedType { ty, nullable, collation, traits } =
            self.computed_type(wanted, &table.name, &columns, &[])?;
        let catalog = self.context.catalog();
        let names = Names::of(&catalog, &*self.host);
        let (typed, _) = bind::computed_column(&wanted.expr, &table.name, &columns, &names)?;
        let value = bind::assign_to(typed, &ty, collation, Some((&table.display, &wanted.name)))?;
        let (name, user_type) = (wanted.name.clone(), None);
        let definition = ColumnDefinition { name, ty, nullable, default: None, identity: None, user_type, collation };
        let column = NewColumn { definition, source: None, rowversion: false };
        if !traits.deterministic {
            return Ok((column, ColumnMap::Fill { allowed: true, value: Value::Null, name: wanted.name.clone() }));
        }
        Ok((column, ColumnMap::Compute(value)))
    }

    /// `ADD INDEX i (c)`
    fn added_index(&self, name: &tree::ObjectName, table: &Table, inline: &tree::InlineIndex) -> Result<Wanted, Fault> {
        let catalog = std::sync::Arc::clone(&self.context.catalog().catalog);
        let of = FilterOf {
            index: &inline.name.text,
            table: &name.dotted(),
            catalog: &catalog,
            column: &|name| FilterColumn::of(table, name),
        };
        table_definition::inline_index(inline, None, &of)
    }

    /// A column that a table gets.
    fn column_of(
        &self,
        table: &Table,
        definition: &tree::ColumnDefinition,
        position: usize,
    ) -> Result<ColumnDefinition, Fault> {
        let catalog = self.context.catalog();
        let of = if table.is_temporary() { ColumnDefaults::of_temporary } else { ColumnDefaults::of };
        let (defaults, options) = (of(catalog.collation()), self.context.settings.column_options());
        table_definition::column(definition, position, &table.name, &catalog.catalog, defaults, options)
    }

    fn new_column(
        &mut self,
        table: &Table,
        definition: &tree::ColumnDefinition,
        position: usize,
    ) -> Result<(NewColumn, ColumnMap), Fault> {
        let column = self.column_of(table, definition, position)?;
        if column.identity.is_some() {
            return Ok((NewColumn { definition: column, source: None, rowversion: false }, ColumnMap::Number));
        }
        if matches!(&definition.kind, tree::ColumnKind::Stored(ty) if ty.is_rowversion()) {
            return Ok((NewColumn { definition: column, source: None, rowversion: true }, ColumnMap::Number));
        }
        let mut value = Value::Null;
        if let Some(default) = &definition.default {
            self.check_default(&default.expr)?;
            let wanted = !column.nullable || default.with_values;
            if wanted && is_sequential(&default.expr) {
                if column.ty != SqlType::UniqueIdentifier {
                    return Err(Box::new(SqlError::sequential_id_outside_default()));
                }
                return Ok((NewColumn { definition: column, source: None, rowversion: false }, ColumnMap::Sequential));
            }
            if wanted {
                let (expr, changes) = self.default_expr(&default.expr, table, &column)?;
                if changes {
                    let functions = Mutex::new(self.functions.fork());
                    let column = NewColumn { definition: column, source: None, rowversion: false };
                    return Ok((column, ColumnMap::Each { value: expr, functions }));
                }
                value = expr.eval(&mut self.env())?;
            }
        }
        let map = ColumnMap::Fill { allowed: column.nullable || !value.is_null(), value, name: column.name.clone() };
        let column = NewColumn { definition: column, source: None, rowversion: false };
        Ok((column, map))
    }

    /// A default's value for the rows that are there, and whether it can be another one for each.
    fn default_expr(
        &mut self,
        expr: &tree::Expr,
        table: &Table,
        column: &ColumnDefinition,
    ) -> Result<(Expr, bool), Fault> {
        let catalog = self.context.catalog();
        let names = Names::of(&catalog, &*self.host);
        let mut binder = bind::Binder::new(&names, 0);
        let typed = binder.default_expr(expr)?;
        let changes = binder.reads_clock;
        let value = bind::assign_to(typed, &column.ty, column.collation, Some((&table.display, &column.name)))?;
        self.functions.now = crate::clock::now();
        Ok((value, changes))
    }

    async fn alter_column(
        &mut self,
        name: &tree::ObjectName,
        definition: &tree::ColumnDefinition,
    ) -> Result<(), Fault> {
        let table = self.altered(name)?;
        let Some(at) = table.column(&definition.name.text) else {
            return Err(Box::new(SqlError::alter_column_unknown(
                "ALTER TABLE ALTER COLUMN",
                &definition.name.text,
                &table.name,
            )));
        };
        let old = &table.columns[at];
        if old.computed || old.rowversion {
            let what = if old.computed { "COMPUTED" } else { "TIMESTAMP" };
            return Err(Box::new(SqlError::column_not_alterable(&old.name, what)));
        }
        check_altered_of_versioned(&table, at, definition)?;
        let nulls = self.context.settings.null_default;
        let wanted = self.column_of(&table, definition, at + 1)?;
        check_text_or_image(&old.name, &old.ty, &wanted.ty)?;
        if table.identity == Some(at) && !super::table_definition::counts(&wanted.ty) {
            return Err(Box::new(SqlError::identity_type_invalid(&old.name)));
        }
        let change = match old {
            old if wanted.collation != old.collation => ColumnChange::Recollate,
            old if wanted.ty != old.ty => ColumnChange::Retype(wanted.ty),
            _ => ColumnChange::Renull,
        };
        self.check_column_is_free(&table, at, change)?;
        let mask = definition.masked.as_deref().map(|text| Mask::parse(text, wanted.ty, &old.name)).transpose()?;
        let mask = mask.map(|mask| mask.to_string());
        let former = &table.engine.columns[at].mask;
        if mask.is_some() || former.is_some() {
            self.check_may_mask(&table)?;
        }
        if mask != *former {
            self.check_mask_is_free(&table, at)?;
        }
        let (mut columns, mut maps) = kept_columns(&table, None);
        let nullable = definition.nullable.unwrap_or(nulls == NullDefault::On);
        columns[at].definition.ty = wanted.ty;
        columns[at].definition.collation = wanted.collation;
        columns[at].definition.user_type = wanted.user_type;
        columns[at].definition.nullable = nullable;
        let (column, page) = (old.name.clone(), wanted.collation.code_page());
        maps[at] = ColumnMap::Convert { source: at, from: old.ty, to: wanted.ty, page, nullable, name: column };
        self.change_columns(&table, &columns, &maps).await?;
        self.carry_columns(&table, None, &columns, &maps).await?;
        if mask == *former {
            return Ok(());
        }
        // A mask that is not said again is gone.
        let altered = self.altered(name)?;
        self.put_masks(&altered, &[(old.name.clone(), mask)]).await
    }

    async fn drop_element(&mut self, name: &tree::ObjectName, element: &tree::DropElement) -> Result<(), Fault> {
        let table = self.altered(name)?;
        match element.kind {
            tree::DropElementKind::Constraint => {
                let indexes = &table.engine.indexes;
                let defaults = table.engine.columns.iter().filter_map(|c| c.default.as_ref());
                let conditions = table.engine.constraint_names();
                let exists = conditions.into_iter().any(|own| element.name.is(own))
                    || indexes.iter().any(|index| element.name.is(&index.name))
                    || defaults.into_iter().any(|default| element.name.is(&default.name));
                if element.if_exists && !exists {
                    return Ok(());
                }
                let dropped = self.drop_index_moving(name, &table, &element.name, (true, &element.options)).await;
                if let Err(error) = &dropped
                    && error.number == NOT_A_CONSTRAINT
                {
                    // Two errors say it: why, and what did not come of it.
                    self.output.error(&error.clone().at_line(self.line()));
                    return Err(Box::new(SqlError::constraint_not_dropped()));
                }
                dropped?;
                Ok(())
            }
            tree::DropElementKind::Column => {
                let Some(at) = table.column(&element.name.text) else {
                    if element.if_exists {
                        return Ok(());
                    }
                    return Err(Box::new(SqlError::alter_column_unknown(
                        "ALTER TABLE DROP COLUMN",
                        &element.name.text,
                        &table.name,
                    )));
                };
                let column = &table.columns[at];
                if table.columns.len() == 1 {
                    return Err(Box::new(SqlError::only_column(&column.name, &table.name)));
                }
                check_dropped_of_versioned(&table, at)?;
                self.check_column_is_free(&table, at, ColumnChange::Drop)?;
                let (columns, maps) = kept_columns(&table, Some(at));
                self.change_columns(&table, &columns, &maps).await?;
                self.carry_columns(&table, Some(at), &columns, &maps).await
            }
            tree::DropElementKind::Period => self.drop_period(&table).await,
            tree::DropElementKind::Index if table.engine.is_in_memory() => {
                self.drop_index_moving(name, &table, &element.name, (false, &element.options)).await?;
                Ok(())
            }
            tree::DropElementKind::Index => Err(errors::unsupported("This form of ALTER TABLE ... DROP")),
        }
    }

    /// What was done to the columns of a versioned table is done to those of its history; `dropped` is gone.
    async fn carry_columns(
        &mut self,
        table: &Table,
        dropped: Option<usize>,
        columns: &[NewColumn],
        maps: &[ColumnMap],
    ) -> Result<(), Fault> {
        let Some(history) = self.history_of(table)? else { return Ok(()) };
        if let Some(at) = dropped {
            self.check_column_is_free(&history, at, ColumnChange::Drop)?;
        }
        let of_history = |column: &NewColumn| {
            let own = column.source.and_then(|at| history.engine.columns[at].default.as_ref());
            let default = own.map(|default| (Some(default.name.clone()), default.text.clone()));
            NewColumn {
                definition: ColumnDefinition { default, identity: None, ..column.definition.clone() },
                ..*column
            }
        };
        let columns: Vec<NewColumn> = columns.iter().map(of_history).collect();
        self.change_columns(&history, &columns, maps).await
    }

    async fn change_columns(&mut self, table: &Table, columns: &[NewColumn], maps: &[ColumnMap]) -> Result<(), Fault> {
        let host: &dyn Host = &*self.host;
        let convert = |old: &[Value], new: &mut [Value]| {
            for (map, new) in maps.iter().zip(new) {
                map.apply(table, host, old, new)?;
            }
            Ok(())
        };
        if table.engine.is_in_memory() {
            let has_rowversion = columns.iter().any(|column| column.rowversion);
            in_memory::check_types(columns.iter().map(|column| &column.definition), has_rowversion)?;
        }
        let activity = Arc::clone(&self.context.activity);
        let (database, tx) = self.context.engine();
        let altered = database.alter_columns(tx, &table.engine, columns, &convert);
        Reading::during(&activity, &table.engine, altered).await?;
        Ok(())
    }
}

impl ColumnMap {
    fn apply(&self, table: &Table, host: &dyn Host, old: &[Value], new: &mut Value) -> Result<(), SqlError> {
        match self {
            ColumnMap::Copy(source) => new.clone_from(&old[*source]),
            ColumnMap::Convert { source, from, to, page, nullable, name } => {
                let value = &old[*source];
                if value.is_null() && !nullable {
                    return Err(SqlError::null_not_allowed(name, &table.display, "UPDATE"));
                }
                let target = Target::Column { table: &table.display, column: name };
                pikepole_types::assign_in(*page, value, from, to, target, new)?;
            }
            ColumnMap::Compute(expr) => {
                let state = crate::state::SessionState::new(0);
                let mut functions = pikepole_types::Context::new(crate::clock::epoch(), 0);
                let mut env = Env { slots: old, state: &state, functions: &mut functions, host: None };
                *new = expr.eval(&mut env).map_err(|fault| *fault)?;
            }
            ColumnMap::Each { value, functions } => {
                // A panic elsewhere leaves random numbers random.
                let mut functions = functions.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let state = crate::state::SessionState::new(0);
                let mut env = Env { slots: &[], state: &state, functions: &mut functions, host: None };
                *new = value.eval(&mut env).map_err(|fault| *fault)?;
            }
            ColumnMap::Number => (),
            ColumnMap::Sequential => *new = Value::Guid(host.sequential_guid()),
            ColumnMap::Fill { value, allowed, name } => {
                if !allowed {
                    return Err(SqlError::column_cannot_be_added(name, &table.name));
                }
                new.clone_from(value);
            }
        }
        Ok(())
    }
}

/// A column with the default that a constraint of the same statement gives it, as if it were written behind the column.
fn with_its_default<'a>(
    definition: &'a tree::ColumnDefinition,
    elements: &[tree::TableElement],
) -> Cow<'a, tree::ColumnDefinition> {
    let default = elements.iter().find_map(|element| match element {
        tree::TableElement::Constraint(tree::TableConstraint {
            name,
            kind: tree::ConstraintKind::Default { expr, column, with_values },
        }) if column.is(&definition.name.text) => {
            Some(tree::DefaultConstraint { name: name.clone(), expr: expr.clone(), with_values: *with_values })
        }
        _ => None,
    });
    match default {
        Some(default) if definition.default.is_none() => {
            Cow::Owned(tree::ColumnDefinition { default: Some(default), ..definition.clone() })
        }
        _ => Cow::Borrowed(definition),
    }
}

/// Whether a statement adds this column, and says no default behind it.
/// `text`, `ntext` and `image` become the types without a limit that have come in their place, and xml; texts and bytes become one of them.
fn check_text_or_image(column: &str, old: &SqlType, new: &SqlType) -> Result<(), Fault> {
    let becomes = *new == SqlType::Xml || new.is_max() && new.is_string();
    let becomes = if *old == SqlType::Image { *new == old.without_text_or_image() } else { becomes };
    let is_alike = if *new == SqlType::Image { old.is_binary() } else { old.is_string() };
    if new.is_text_or_image() && !is_alike {
        return Err(Box::new(SqlError::column_not_altered_to(column, new.name())));
    }
    if old.is_text_or_image() && new != old && (new.is_text_or_image() || !becomes) {
        return Err(Box::new(SqlError::column_not_alterable(column, old.name())));
    }
    Ok(())
}

fn is_added(column: &tree::Name, elements: &[tree::TableElement]) -> bool {
    elements.iter().any(|element| match element {
        tree::TableElement::Column(definition) => definition.default.is_none() && column.is(&definition.name.text),
        _ => false,
    })
}

/// Whether a default is NEWSEQUENTIALID and nothing else.
fn is_sequential(expr: &tree::Expr) -> bool {
    matches!(&expr.kind, tree::ExprKind::Function(call) if call.name.name.is("NEWSEQUENTIALID") && call.arguments.is_empty())
}

/// The table's columns as they are, without the dropped one.
fn kept_columns(table: &Table, dropped: Option<usize>) -> (Vec<NewColumn>, Vec<ColumnMap>) {
    let kept = table.engine.columns.iter().enumerate();
    kept.filter(|(at, _)| Some(*at) != dropped)
        .map(|(at, column)| {
            let default = column.default.as_ref();
            let definition = ColumnDefinition {
                name: column.name.clone(),
                ty: column.ty,
                nullable: column.nullable,
                default: default.map(|default| (Some(default.name.clone()), default.text.clone())),
                identity: column.identity,
                user_type: column.user_type,
                collation: column.collation,
            };
            let column = NewColumn { definition, source: Some(at), rowversion: false };
            (column, ColumnMap::Copy(at))
        })
        .unzip()
}

fn set_default(
    table: &Table,
    columns: &mut [NewColumn],
    name: &tree::Name,
    default: (Option<String>, String),
) -> Result<(), Fault> {
    let column = columns.iter_mut().find(|column| name.is(&column.definition.name));
    let Some(column) = column else {
        return Err(Box::new(SqlError::default_column_invalid(&name.text, &table.name)));
    };
    if column.definition.default.is_some() {
        return Err(Box::new(SqlError::default_exists()));
    }
    if column.definition.identity.is_some() {
        return Err(Box::new(SqlError::default_on_identity(&table.name, &name.text)));
    }
    column.definition.default = Some(default);
    Ok(())
}
