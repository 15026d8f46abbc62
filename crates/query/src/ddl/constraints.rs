//! Computed columns, CHECK and FOREIGN KEY constraints become part of a table's definition.
//!
//! They are added to a table that is there: right after it was made, within the same statement, or by ALTER TABLE, which
//! then looks at the rows that are there already. The table is locked with Sch-M to the end of the transaction; a foreign
//! key locks the table that it refers to as well, whose statements have to look at the referring rows from then on.

use super::Definer;
use super::table_definition::{Wanted, WantedCheck, WantedKey, Wishes};
use crate::access::Table;
use crate::bind::{self, Names, TableColumn};
use crate::expression::Fault;
use crate::security::Requirement;
use pikepole_engine::{
    Check, Computed, ForeignKey, IndexDefinition, IndexKind, Permission, RecordChange, ReferentialAction,
    StatisticsOrigin, TableDefinition, TriggerEvent, generated_name,
};
use pikepole_tsql::{self as tree, ObjectName, bracketed};
use pikepole_types::{Collated, Collation, Length, Mask, SqlError, SqlType, without_row_values};

/// The columns of a table as its own expressions see them.
pub(crate) fn table_columns(table: &Table) -> Vec<TableColumn> {
    TableColumn::all(&table.engine)
}

/// What becomes of the rows that are there when a constraint is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// The table is new.
    None,
    /// They must keep it.
    Checked,
    /// WITH NOCHECK: nobody looks, and the constraint is not trusted.
    NotChecked,
}

/// The first of some columns that is computed and not persisted.
fn not_persisted<'t>(table: &'t Table, columns: &[usize]) -> Option<&'t str> {
    let own = columns.iter().map(|column| &table.engine.columns[*column]);
    let mut computed = own.filter(|column| column.computed.as_ref().is_some_and(|computed| !computed.persisted));
    computed.next().map(|column| column.name.as_str())
}

fn action(action: tree::ReferentialAction) -> ReferentialAction {
    match action {
        tree::ReferentialAction::NoAction => ReferentialAction::NoAction,
        tree::ReferentialAction::Cascade => ReferentialAction::Cascade,
        tree::ReferentialAction::SetNull => ReferentialAction::SetNull,
        tree::ReferentialAction::SetDefault => ReferentialAction::SetDefault,
    }
}

/// The type of a computed column, whether it can be NULL, its collation, and what its values are. One that is not deterministic is
/// computed whenever it is read.
pub(crate) struct ComputedType {
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
    pub(crate) collation: Collation,
    pub(crate) traits: bind::Traits,
}

/// Whether the values of a computed column can be keys of indexes.
///
/// # Errors
/// 2729 and 2799.
fn check_keys<'i>(
    wanted: &super::table_definition::WantedComputed,
    traits: bind::Traits,
    table: &str,
    indexes: impl Iterator<Item = &'i IndexDefinition>,
) -> Result<(), Fault> {
    for index in indexes {
        if !traits.deterministic {
            return Err(Box::new(SqlError::column_not_deterministic(&wanted.name, "table", table)));
        }
        if !traits.precise && !wanted.persisted {
            let prefix = if index.kind == IndexKind::PrimaryKey { "PK" } else { "UQ" };
            let generated = || generated_name(prefix, table, "", 0);
            let shown = index.name.clone().unwrap_or_else(generated);
            return Err(Box::new(SqlError::column_imprecise(shown, table, &wanted.name)));
        }
    }
    Ok(())
}

impl Definer<'_> {
    /// Gives the computed columns of a table that is to be made their types.
    /// `shown` is the table's name as the statement writes it.
    ///
    /// # Errors
    /// 2729 and 2799 for keys of values that are not deterministic or not precise, 1711; as of [`Definer::computed_type`].
    pub(crate) fn type_computed(
        &self,
        definition: &mut TableDefinition,
        shown: &str,
        wishes: &Wishes,
    ) -> Result<(), Fault> {
        let known: Vec<TableColumn> = definition
            .columns
            .iter()
            .filter(|column| column.ty != SqlType::Null)
            .map(|column| TableColumn {
                name: column.name.clone(),
                ty: column.ty,
                nullable: column.nullable,
                collated: Collated::of_stored(&column.ty, column.collation),
            })
            .collect();
        for wanted in &wishes.computed {
            let ComputedType { ty, nullable, collation, traits } =
                self.computed_type(wanted, &definition.name, &known, &wishes.computed)?;
            let in_key = |index: &IndexDefinition| index.columns.iter().any(|(name, _)| *name == wanted.name);
            check_keys(wanted, traits, shown, definition.indexes.iter().filter(|index| in_key(index)))?;
            let in_primary = |index: &IndexDefinition| index.kind == IndexKind::PrimaryKey && in_key(index);
            if (nullable || !wanted.persisted) && definition.indexes.iter().any(in_primary) {
                return Err(Box::new(SqlError::primary_key_on_computed(&wanted.name, &definition.name)));
            }
            for column in definition.columns.iter_mut().filter(|column| column.name == wanted.name) {
                (column.ty, column.nullable, column.collation) = (ty, nullable, collation);
            }
        }
        Ok(())
    }

    /// The type of a computed column.
    ///
    /// # Errors
    /// What is wrong with its expression; 4936 for a persisted one that is not deterministic.
    pub(crate) fn computed_type(
        &self,
        wanted: &super::table_definition::WantedComputed,
        table: &str,
        columns: &[TableColumn],
        computed: &[super::table_definition::WantedComputed],
    ) -> Result<ComputedType, Fault> {
        let catalog = self.context.catalog();
        let names = Names::of(&catalog, &*self.host);
        let (typed, traits) = bind::computed_column(&wanted.expr, table, columns, &names).map_err(|fault| {
            let column = fault.message.split('\'').nth(1).unwrap_or_default().to_owned();
            let other = computed.iter().any(|other| other.name.eq_ignore_ascii_case(&column));
            if fault.number == 207 && other { Box::new(SqlError::computed_of_computed(column, table)) } else { fault }
        })?;
        if traits.calls_methods {
            let statement = if computed.is_empty() { "ALTER TABLE" } else { "CREATE TABLE" };
            let error = if table.starts_with('@') {
                SqlError::xml_method_in_variable(&wanted.name, table, statement)
            } else {
                SqlError::xml_method_in_computed(&wanted.name, table, statement)
            };
            return Err(Box::new(error));
        }
        let when_read = !traits.deterministic;
        if when_read && wanted.persisted {
            return Err(Box::new(SqlError::computed_not_persistable(&wanted.name, table)));
        }
        let ty = if typed.ty == SqlType::Null { SqlType::Int } else { typed.ty };
        let collation = bind::in_column(typed.collated, "CREATE TABLE", 1)?;
        let nullable =
            when_read || !wanted.not_null && (typed.nullable || !bind::is_certain_of(&wanted.expr, &typed.ty));
        Ok(ComputedType { ty, nullable, collation, traits })
    }

    /// Adds what a definition wants beside columns and keys.
    pub(crate) async fn add_wishes(
        &mut self,
        name: &ObjectName,
        wishes: Wishes,
        existing: Existing,
    ) -> Result<(), Fault> {
        if !wishes.computed.is_empty() || wishes.rowversion.is_some() || !wishes.sparse.is_empty() {
            let table = self.table_of(name)?;
            let columns = table_columns(&table);
            let mut when_read = Vec::new();
            for wanted in &wishes.computed {
                if !self.computed_type(wanted, &table.name, &columns, &wishes.computed)?.traits.deterministic {
                    when_read.push(&wanted.name);
                }
            }
            let (database, tx) = self.context.engine();
            let change = |record: &mut pikepole_engine::TableRecord, _: &mut dyn FnMut() -> i32| {
                for column in &mut record.columns {
                    if let Some(wanted) = wishes.computed.iter().find(|wanted| wanted.name == column.name) {
                        let when_read = when_read.contains(&&wanted.name);
                        let (text, persisted) = (wanted.text.clone(), wanted.persisted);
                        column.computed = Some(Computed { text, persisted, when_read });
                    }
                    column.rowversion |= wishes.rowversion.as_ref() == Some(&column.name);
                    column.sparse |= wishes.sparse.contains(&column.name);
                }
                Ok(())
            };
            database.alter_definition(tx, &table.engine, &change).await?;
        }
        if !wishes.masked.is_empty() {
            let table = self.table_of(name)?;
            let mut masks = Vec::with_capacity(wishes.masked.len());
            for (name, text) in wishes.masked {
                let column = table.column(&name).map(|place| &table.columns[place]);
                let ty = column.map_or(SqlType::Null, |column| column.ty);
                let mask = Mask::parse(&text, ty, &name)?;
                masks.push((name, Some(mask.to_string())));
            }
            self.put_masks(&table, &masks).await?;
        }
        if let Some(period) = &wishes.period {
            self.add_period(name, period, &wishes.generated).await?;
        }
        for wanted in &wishes.columnstores {
            self.create_columnstore(name, wanted).await?;
        }
        for check in &wishes.checks {
            self.add_check(name, check, existing).await?;
        }
        for key in &wishes.foreign_keys {
            self.add_foreign_key(name, key, existing).await?;
        }
        Ok(())
    }

    /// Two errors tell of a constraint that is not made: why, and what did not come of it.
    fn no_constraint(&mut self, why: SqlError) -> Fault {
        self.tell_why(why);
        Box::new(SqlError::constraint_not_created())
    }

    /// Tells the first of two errors, which does not pass the handling of errors.
    pub(super) fn tell_why(&mut self, why: SqlError) {
        let why = if self.hides_rows { without_row_values(why) } else { why };
        self.output.error(&why.at_line(self.line()));
    }

    fn table_of(&self, name: &ObjectName) -> Result<std::sync::Arc<Table>, Fault> {
        let missing = || Box::new(SqlError::invalid_object(name.dotted()));
        self.context.catalog().table(name)?.ok_or_else(missing)
    }

    async fn add_check(&mut self, name: &ObjectName, wanted: &WantedCheck, existing: Existing) -> Result<(), Fault> {
        let table = self.table_of(name)?;
        let text = pikepole_tsql::stored_condition(&wanted.condition);
        let read = {
            let catalog = self.context.catalog();
            let (names, columns) = (Names::of(&catalog, &*self.host), table_columns(&table));
            bind::table_condition(&wanted.condition, &table.name, &columns, &names)?;
            bind::reads_columns(&text, true, &columns, &names)?
        };
        if let Some(column) = not_persisted(&table, &read) {
            let error = SqlError::computed_not_persisted(column, &table.name, "CHECK CONSTRAINT");
            return Err(self.no_constraint(error));
        }
        let declared = wanted.column.as_ref().and_then(|column| table.column(column));
        if let Some(own) = declared
            && read.iter().any(|column| *column != own)
        {
            let own = &table.columns[own].name;
            return Err(self.no_constraint(SqlError::column_check_names_another(own, &table.name)));
        }
        // Wherever it is declared, a constraint that reads one column is that column's.
        let column = if let [only] = read[..] { Some(only) } else { declared };
        let change = |record: &mut pikepole_engine::TableRecord, new_id: &mut dyn FnMut() -> i32| {
            let object_id = new_id();
            let behind = column.map_or("", |column| record.columns[column].name.as_str());
            let generated = || generated_name("CK", &record.name, behind, object_id);
            let name = wanted.name.clone().unwrap_or_else(generated);
            let system_named = wanted.name.is_none();
            let (text, not_trusted) = (text.clone(), existing == Existing::NotChecked);
            record.checks.push(Check { name, object_id, text, column, disabled: false, not_trusted, system_named });
            Ok(())
        };
        let (database, tx) = self.context.engine();
        let altered = database.alter_definition(tx, &table.engine, &change).await?;
        let Some(check) = altered.checks.last() else { return Ok(()) };
        if existing == Existing::Checked {
            return self.check_rows_against(name, &check.name.clone()).await;
        }
        Ok(())
    }

    /// Looks whether the rows of a table keep a CHECK constraint.
    async fn check_rows_against(&mut self, name: &ObjectName, constraint: &str) -> Result<(), Fault> {
        let table = self.table_of(name)?;
        let Some(check) = table.engine.checks.iter().find(|check| check.name == constraint) else { return Ok(()) };
        let broken = format!("EXISTS (SELECT 1 FROM {} WHERE NOT {})", table.quoted_name(), check.text);
        if !self.holds(&broken).await? {
            return Ok(());
        }
        let read = {
            let catalog = self.context.catalog();
            let names = Names::of(&catalog, &*self.host);
            bind::reads_columns(&check.text, true, &table_columns(&table), &names)?
        };
        let column = match read.as_slice() {
            [column] => format!(", column '{}'", table.columns[*column].name),
            _ => String::new(),
        };
        let database = self.context.database().name();
        let full = table.qualified_name();
        Err(Box::new(SqlError::constraint_conflict("ALTER TABLE", "CHECK", constraint, database, full, column)))
    }

    async fn add_foreign_key(
        &mut self,
        name: &ObjectName,
        wanted: &WantedKey,
        existing: Existing,
    ) -> Result<(), Fault> {
        let table = self.table_of(name)?;
        let shown = wanted.name.clone().unwrap_or_else(|| {
            let column = wanted.key.columns.first().map_or("", tree::Name::as_str);
            generated_name("FK", &table.name, column, 0)
        });
        if table.is_temporary() || name.is_global_temporary() {
            self.output.message(&SqlError::temporary_foreign_key(&shown).at_line(self.line()));
            return Ok(());
        }
        let (target, key) = match self.foreign_key(&table, wanted, &shown) {
            Ok(found) => found,
            Err(fault) => return Err(self.no_constraint(*fault)),
        };
        if target.object_id != table.object_id {
            self.require_references(&wanted.key.table, &target, &key)?;
        }
        let change = |record: &mut pikepole_engine::TableRecord, new_id: &mut dyn FnMut() -> i32| {
            let object_id = new_id();
            let column = record.columns[key.columns[0]].name.clone();
            let generated = || generated_name("FK", &record.name, &column, object_id);
            let name = wanted.name.clone().unwrap_or_else(generated);
            let not_trusted = existing == Existing::NotChecked;
            record.foreign_keys.push(ForeignKey { name, object_id, not_trusted, ..key.clone() });
            Ok(())
        };
        let (database, tx) = self.context.engine();
        let altered = database.alter_definition(tx, &table.engine, &change).await?;
        let made = altered.foreign_keys.last().map(|key| key.name.clone()).unwrap_or_default();
        if target.object_id != table.object_id {
            // Its statements are compiled anew: they have one more rule to keep.
            database.alter_definition(tx, &target.engine, &|_, _| Ok(())).await?;
        }
        if existing == Existing::Checked {
            return self.check_rows_refer(name, &made).await;
        }
        Ok(())
    }

    /// Whoever refers to columns must have REFERENCES on them.
    fn require_references(&mut self, name: &ObjectName, target: &Table, key: &ForeignKey) -> Result<(), Fault> {
        let need = Requirement::of(&self.context.catalog(), name, Permission::References)?;
        let Some(mut need) = need else { return Ok(()) };
        let columns = key.referenced_columns(&target.engine);
        columns.into_iter().for_each(|place| need.add_column_at(place, &target.columns[place].name));
        self.context.require(&need)
    }

    /// What a FOREIGN KEY comes to: the table referred to, and the key without its name.
    fn foreign_key(
        &self,
        table: &Table,
        wanted: &WantedKey,
        shown: &str,
    ) -> Result<(std::sync::Arc<Table>, ForeignKey), Fault> {
        let key = &wanted.key;
        let catalog = self.context.catalog();
        let missing = || SqlError::foreign_key_table_unknown(shown, key.table.dotted());
        let target = catalog.table(&key.table)?.ok_or_else(missing)?;
        let mut columns = Vec::new();
        for name in &key.columns {
            let unknown = || SqlError::foreign_key_own_column_unknown(shown, &name.text, &table.name);
            columns.push(table.column(&name.text).ok_or_else(unknown)?);
        }
        let mut referenced = Vec::new();
        for name in &key.referenced {
            let unknown = || SqlError::foreign_key_column_unknown(shown, &name.text, &target.name);
            referenced.push(target.column(&name.text).ok_or_else(unknown)?);
        }
        if referenced.is_empty() {
            let primary = target.engine.indexes.iter().find(|index| index.primary_key);
            let none = || SqlError::foreign_key_needs_primary_key(shown, key.table.dotted());
            referenced = primary.ok_or_else(none)?.columns.iter().map(|key| key.column).collect();
        }
        if referenced.len() != columns.len() {
            return Err(Box::new(SqlError::foreign_key_counts_differ(&table.name)));
        }
        let index = target.engine.live_indexes().find(|index| {
            index.unique
                && index.filter.is_none()
                && index.columns.len() == referenced.len()
                && index.columns.iter().all(|key| referenced.contains(&key.column))
        });
        let none = || SqlError::foreign_key_needs_key(key.table.dotted(), shown);
        let index = index.ok_or_else(none)?;
        if table.engine.is_in_memory() != target.engine.is_in_memory() {
            return Err(Box::new(SqlError::foreign_key_into_memory()));
        }
        if target.engine.is_in_memory() && !index.primary_key {
            return Err(Box::new(SqlError::foreign_key_needs_primary_in_memory(&target.name, shown)));
        }
        let index_id = index.index_id;
        for (own, other) in columns.iter().zip(&referenced) {
            let (own, other) = (&table.columns[*own], &target.columns[*other]);
            if !same_type(&own.ty, &other.ty) {
                let referenced = format!("{}.{}", target.qualified_name(), other.name);
                let referencing = format!("{}.{}", table.name, own.name);
                return Err(Box::new(SqlError::foreign_key_types_differ(referenced, referencing, shown)));
            }
            if own.ty.is_string() && own.collation != other.collation {
                let referenced = format!("{}.{}", target.qualified_name(), other.name);
                let referencing = format!("{}.{}", table.name, own.name);
                return Err(Box::new(SqlError::foreign_key_collations_differ(referenced, referencing, shown)));
            }
        }
        let actions = [key.on_delete, key.on_update];
        let set_null = actions.contains(&tree::ReferentialAction::SetNull);
        if set_null && columns.iter().any(|column| !table.columns[*column].nullable) {
            return Err(Box::new(SqlError::foreign_key_set_null(shown)));
        }
        if let Some(column) = not_persisted(table, &columns) {
            let kind = "FOREIGN KEY CONSTRAINT";
            return Err(Box::new(SqlError::computed_not_persisted(column, &table.name, kind)));
        }
        if target.engine.is_history() || table.engine.is_history() {
            return Err(Box::new(SqlError::history_takes_no_foreign_key(shown)));
        }
        let cascades = actions.iter().any(|action| *action != tree::ReferentialAction::NoAction);
        if cascades && reaches_twice(&catalog.catalog, table.object_id, target.object_id, actions.map(action)) {
            return Err(Box::new(SqlError::foreign_key_cycles(shown, &table.name)));
        }
        check_instead_of(&catalog.catalog, table, shown, actions)?;
        let key = ForeignKey {
            name: String::new(),
            object_id: 0,
            columns,
            referenced: target.object_id,
            referenced_when_made: referenced,
            index_id,
            on_delete: action(key.on_delete),
            on_update: action(key.on_update),
            disabled: false,
            not_trusted: false,
            system_named: wanted.name.is_none(),
        };
        Ok((target, key))
    }

    /// Looks whether the rows of a table refer to rows that are there.
    async fn check_rows_refer(&mut self, name: &ObjectName, constraint: &str) -> Result<(), Fault> {
        let table = self.table_of(name)?;
        let Some(key) = table.engine.foreign_keys.iter().find(|key| key.name == constraint) else { return Ok(()) };
        let catalog = self.context.catalog();
        let Some(target) = catalog.catalog.table_by_id(key.referenced).cloned() else { return Ok(()) };
        let referenced = key.referenced_columns(&target);
        let pairs = key.columns.iter().zip(&referenced);
        let own = |column: usize| bracketed(&table.columns[column].name);
        let not_null: Vec<String> =
            key.columns.iter().map(|column| format!("c.{} IS NOT NULL", own(*column))).collect();
        let equal: Vec<String> = pairs
            .map(|(column, other)| format!("p.{} = c.{}", bracketed(&target.columns[*other].name), own(*column)))
            .collect();
        let broken = format!(
            "EXISTS (SELECT 1 FROM {} AS c WHERE {} AND NOT EXISTS (SELECT 1 FROM {}.{} AS p WHERE {}))",
            table.quoted_name(),
            not_null.join(" AND "),
            bracketed(&target.schema),
            bracketed(&target.name),
            equal.join(" AND ")
        );
        if !self.holds(&broken).await? {
            return Ok(());
        }
        let same = key.referenced == table.object_id;
        let kind = if same { "FOREIGN KEY SAME TABLE" } else { "FOREIGN KEY" };
        let column = match referenced.as_slice() {
            [column] => format!(", column '{}'", target.columns[*column].name),
            _ => String::new(),
        };
        let (database, full) = (self.context.database().name(), target.full_name());
        Err(Box::new(SqlError::constraint_conflict("ALTER TABLE", kind, constraint, database, full, column)))
    }

    /// ALTER TABLE ... CHECK CONSTRAINT, NOCHECK CONSTRAINT.
    pub(crate) async fn set_constraints(
        &mut self,
        name: &ObjectName,
        check: bool,
        enable: bool,
        wanted: &[tree::Name],
    ) -> Result<(), Fault> {
        let table = self.altered(name)?;
        let is_wanted = |own: &str| wanted.is_empty() || wanted.iter().any(|name| name.is(own));
        let checks = table.engine.checks.iter().map(|check| check.name.clone());
        let keys = table.engine.foreign_keys.iter().map(|key| key.name.clone());
        let names: Vec<String> = checks.chain(keys).filter(|own| is_wanted(own)).collect();
        if let Some(unknown) = wanted.iter().find(|name| names.iter().all(|own| !name.is(own))) {
            self.output.error(&SqlError::constraint_unknown(&unknown.text).at_line(self.line()));
            return Err(Box::new(SqlError::new(
                4916,
                16,
                0,
                "Could not enable or disable the constraint. See previous errors.",
            )));
        }
        let trusted = enable && check;
        let change = |record: &mut pikepole_engine::TableRecord, _: &mut dyn FnMut() -> i32| {
            for check in record.checks.iter_mut().filter(|check| names.contains(&check.name)) {
                (check.disabled, check.not_trusted) = (!enable, !trusted);
            }
            for key in record.foreign_keys.iter_mut().filter(|key| names.contains(&key.name)) {
                (key.disabled, key.not_trusted) = (!enable, !trusted);
            }
            Ok(())
        };
        let states = (table.engine.checks.iter().map(|check| (&check.name, check.disabled, check.not_trusted)))
            .chain(table.engine.foreign_keys.iter().map(|key| (&key.name, key.disabled, key.not_trusted)));
        let mut named = states.filter(|(own, ..)| names.contains(own));
        // Who disables the constraints of all tables, as object-relational mappers do around loads, finds most of them without any: there a
        // definition would be logged anew each time.
        if named.any(|(_, disabled, not_trusted)| (disabled, not_trusted) != (!enable, !trusted)) {
            self.change_constraints(&table, &change).await?;
        }
        if trusted {
            for constraint in &names {
                self.check_rows_against(name, constraint).await?;
                self.check_rows_refer(name, constraint).await?;
            }
        }
        Ok(())
    }

    /// Changes the definition of a table, and begins another version of those that its foreign keys refer to.
    async fn change_constraints(&mut self, table: &Table, change: RecordChange<'_>) -> Result<(), Fault> {
        let targets: Vec<i32> = table.engine.foreign_keys.iter().map(|key| key.referenced).collect();
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, change).await?;
        for target in targets.into_iter().filter(|target| *target != table.object_id) {
            let found = database.catalog(tx).table_by_id(target).cloned();
            if let Some(target) = found {
                database.alter_definition(tx, &target, &|_, _| Ok(())).await?;
            }
        }
        Ok(())
    }

    /// Whether the columns of a new index have values that it can keep.
    ///
    /// # Errors
    /// As [`bind::check_key_column`]; 2729 for a column under INCLUDE as well.
    pub(crate) fn check_index_columns(
        &self,
        table: &Table,
        shown: &str,
        definition: &IndexDefinition,
    ) -> Result<(), Fault> {
        let index = definition.name.as_deref().unwrap_or_default();
        for place in definition.columns.iter().filter_map(|(name, _)| table.column(name)) {
            bind::check_key_column(&table.engine, place, (index, shown), self.context, &*self.host)?;
        }
        let included = definition.extras.included.iter().filter_map(|name| table.column(name));
        match included.map(|at| &table.columns[at]).find(|column| column.when_read.is_some()) {
            Some(column) => Err(Box::new(SqlError::column_not_deterministic(&column.name, "table", shown))),
            None => Ok(()),
        }
    }

    /// Warnings of indexes of a table that are not among those before: some values would be too long for their keys.
    pub(crate) fn warn_of_keys(&mut self, name: &ObjectName, before: &[pikepole_engine::Index]) -> Result<(), Fault> {
        let table = self.table_of(name)?;
        let is_new = |index: &&pikepole_engine::Index| !before.iter().any(|old| old.name == index.name);
        for index in table.engine.indexes.iter().filter(is_new) {
            if let Some(warning) = pikepole_engine::key_warning(&table.engine, index) {
                self.output.message(&warning.at_line(self.line()));
            }
        }
        Ok(())
    }

    /// The warning of a table some of whose rows would be too long.
    pub(crate) fn warn_of_rows(&mut self, name: &ObjectName) -> Result<(), Fault> {
        if let Some(warning) = pikepole_engine::row_warning(&self.table_of(name)?.engine) {
            self.output.message(&warning.at_line(self.line()));
        }
        Ok(())
    }

    /// The keys and rules that ALTER TABLE ADD CONSTRAINT adds.
    pub(crate) async fn add_keys(&mut self, name: &ObjectName, keys: Vec<Wanted>) -> Result<(), Fault> {
        for mut key in keys {
            let table = self.table_of(name)?;
            let (degree, on) = (key.degree, key.on.clone());
            key.place(&self.filegroups_of(name))?;
            self.check_index_columns(&table, &name.dotted(), &key.definition)?;
            let is_primary = key.definition.kind == IndexKind::PrimaryKey;
            if is_primary && table.engine.indexes.iter().any(|index| index.primary_key) {
                return Err(Box::new(SqlError::primary_key_exists(&table.name)));
            }
            let is_heap = table.engine.is_in_memory();
            let definition =
                key.for_table(is_heap || table.engine.indexes.iter().any(pikepole_engine::Index::is_clustered));
            self.build_index(&table.engine, definition, degree).await?;
            self.warn_of_keys(name, &table.engine.indexes)?;
            let before = &table.engine.indexes;
            let built = self.table_of(name)?;
            let built = built.engine.indexes.iter().find(|own| !before.iter().any(|old| old.name == own.name));
            if let Some(index) = built.map(|index| index.name.clone()) {
                self.partition_index(name, &index, on.as_ref()).await?;
            }
        }
        Ok(())
    }

    /// What stands in the way of dropping or altering a column: 5074 for each, and then 4922. What is bound to the schema always does. Another length of a `varchar` or its
    /// like stands in nobody's way but a primary key's and a foreign key's, a shorter one in that of an index, too.
    pub(crate) fn check_column_is_free(&mut self, table: &Table, at: usize, change: ColumnChange) -> Result<(), Fault> {
        let columns = table_columns(table);
        let (resized, lengthened) = change.of_length(&table.columns[at].ty);
        let mut found: Vec<(&str, String)> = Vec::new();
        let bound = self.host.bound_references(table.object_id, self.context).into_iter();
        let bound = bound.filter(|bound| bound.columns.contains(&at));
        found.extend(bound.map(|bound| ("object", bound.name)));
        if change != ColumnChange::Renull {
            let catalog = self.context.catalog();
            let names = Names::of(&catalog, &*self.host);
            for check in table.engine.checks.iter().filter(|_| !resized) {
                if bind::reads_columns(&check.text, true, &columns, &names)?.contains(&at) {
                    found.push(("object", check.name.clone()));
                }
            }
            for column in &table.engine.columns {
                if let Some(computed) = &column.computed
                    && bind::reads_columns(&computed.text, false, &columns, &names)?.contains(&at)
                {
                    found.push(("column", column.name.clone()));
                }
            }
            let own = table.engine.foreign_keys.iter().filter(|key| key.columns.contains(&at));
            found.extend(own.map(|key| ("object", key.name.clone())));
            let others = catalog.catalog.references_to(table.object_id);
            let others = others.filter(|(_, key)| key.referenced_columns(&table.engine).contains(&at));
            found.extend(others.map(|(_, key)| ("object", key.name.clone())));
            for index in &table.engine.indexes {
                if !index.primary_key && (lengthened || index.constraint && resized) {
                    continue;
                }
                let in_key = index.columns.iter().any(|key| key.column == at);
                if in_key || index.included.contains(&at) || index.is_filtered_by(at) {
                    found.push((if index.constraint { "object" } else { "index" }, index.name.clone()));
                }
            }
            let statistics = catalog.catalog.statistics_of(table.object_id).filter(|_| !lengthened);
            let statistics = statistics.iter().flat_map(|own| &own.entries);
            let made = statistics.filter(|own| own.origin == StatisticsOrigin::User && own.columns.contains(&at));
            found.extend(made.map(|own| ("statistics", own.name.clone())));
            if change.leaves_type(&table.columns[at].ty)
                && let Some(default) = &table.engine.columns[at].default
            {
                found.push(("object", default.name.clone()));
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        let column = &table.columns[at].name;
        let line = self.line();
        for (kind, name) in found {
            self.output.error(&SqlError::object_depends_on_column(kind, name, column).at_line(line));
        }
        Err(Box::new(SqlError::column_is_in_use(change.statement(), column)))
    }
}

/// What ALTER TABLE does to a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnChange {
    Drop,
    Retype(SqlType),
    Recollate,
    /// At most its nullability changes.
    Renull,
}

impl ColumnChange {
    fn statement(self) -> &'static str {
        match self {
            ColumnChange::Drop => "ALTER TABLE DROP COLUMN",
            ColumnChange::Retype(_) | ColumnChange::Recollate | ColumnChange::Renull => "ALTER TABLE ALTER COLUMN",
        }
    }

    /// Whether the column is dropped or becomes of another type, not just of another length, precision or scale.
    fn leaves_type(self, old: &SqlType) -> bool {
        match self {
            ColumnChange::Drop => true,
            ColumnChange::Retype(new) => new.name() != old.name(),
            ColumnChange::Recollate | ColumnChange::Renull => false,
        }
    }

    /// Whether nothing but the length of a type of variable length changes, and whether it gets no shorter. A `(max)` is another
    /// type: no key has it.
    fn of_length(self, old: &SqlType) -> (bool, bool) {
        let ColumnChange::Retype(new) = self else { return (false, false) };
        match (old, &new) {
            (SqlType::VarChar(Length::Limit(old)), SqlType::VarChar(Length::Limit(new)))
            | (SqlType::NVarChar(Length::Limit(old)), SqlType::NVarChar(Length::Limit(new)))
            | (SqlType::VarBinary(Length::Limit(old)), SqlType::VarBinary(Length::Limit(new))) => (true, new >= old),
            _ => (false, false),
        }
    }
}

/// Whether values of the two types compare as those of one type do.
fn same_type(own: &SqlType, other: &SqlType) -> bool {
    match (own, other) {
        (SqlType::VarChar(_) | SqlType::Char(_), SqlType::VarChar(_) | SqlType::Char(_))
        | (SqlType::NVarChar(_) | SqlType::NChar(_), SqlType::NVarChar(_) | SqlType::NChar(_)) => {
            own.name() == other.name()
        }
        _ => own == other,
    }
}

/// Rows that a trigger stands in for cannot follow those that they refer to.
///
/// # Errors
/// 1787.
fn check_instead_of(
    catalog: &pikepole_engine::Catalog,
    table: &Table,
    key: &str,
    [on_delete, on_update]: [tree::ReferentialAction; 2],
) -> Result<(), Fault> {
    let follows = |action| action != tree::ReferentialAction::NoAction;
    let stood_in = |event| {
        let mut triggers = catalog.triggers_of(table.object_id).filter(|trigger| trigger.instead_of);
        triggers.any(|trigger| trigger.events.contains(&event))
    };
    let refused =
        follows(on_delete) && stood_in(TriggerEvent::Delete) || follows(on_update) && stood_in(TriggerEvent::Update);
    if refused { Err(Box::new(SqlError::cascade_with_instead_of(key, &table.name))) } else { Ok(()) }
}

/// Whether a new key of `table` to `target` with these actions closes a circle of cascades, or makes a second way from some table
/// to another. What follows a DELETE is told from what follows an UPDATE: SET NULL and SET DEFAULT update, and so go on only to
/// keys that say something ON UPDATE.
fn reaches_twice(catalog: &pikepole_engine::Catalog, table: i32, target: i32, new: [ReferentialAction; 2]) -> bool {
    let cascades = |from: i32, deletes: bool| -> Vec<(i32, bool)> {
        let follows = |[on_delete, on_update]: [ReferentialAction; 2]| {
            let action = if deletes { on_delete } else { on_update };
            (action != ReferentialAction::NoAction).then_some(deletes && action == ReferentialAction::Cascade)
        };
        let keys = catalog.references_to(from).map(|(table, key)| (table.object_id, [key.on_delete, key.on_update]));
        let keys = keys.chain((from == target).then_some((table, new)));
        keys.filter_map(|(table, actions)| Some((table, follows(actions)?))).collect()
    };
    // Every table from which the new cascade can be reached is one that `target` hangs on: a walk from each.
    let starts: Vec<i32> = catalog.tables().map(|table| table.object_id).collect();
    starts.into_iter().flat_map(|start| [(start, true), (start, false)]).any(|start| {
        let (mut seen, mut next) = (vec![start.0], vec![start]);
        while let Some((from, deletes)) = next.pop() {
            for reached in cascades(from, deletes) {
                if seen.contains(&reached.0) {
                    return true;
                }
                seen.push(reached.0);
                next.push(reached);
            }
        }
        false
    })
}
