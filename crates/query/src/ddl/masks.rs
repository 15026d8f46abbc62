//! Masks of columns: how columns get and lose them.

use super::Definer;
use super::constraints::table_columns;
use crate::access::Table;
use crate::bind::{self, Names};
use crate::context::ExecutionContext;
use crate::expression::Fault;
use pikepole_engine::{Permission, Securable, TableRecord};
use pikepole_tsql::{self as tree, ObjectName, StatementKind};
use pikepole_types::{Mask, SqlError};

/// What ALTER TABLE says of a mask without ALTER ANY MASK.
const NOT_ALLOWED: u8 = 5;

impl Definer<'_> {
    /// ALTER COLUMN ... ADD MASKED, which replaces a mask that is there, or DROP MASKED.
    ///
    /// # Errors
    /// 4924 for a column that is not there, 4928 for a computed one, 16002 to 16006 for what is no function of its type, 16007 where there
    /// is no mask to drop; as of [`Definer::check_mask_is_free`] and [`Definer::check_may_mask`].
    pub(super) async fn set_mask(
        &mut self,
        name: &ObjectName,
        column: &tree::Name,
        function: Option<&str>,
    ) -> Result<(), Fault> {
        let table = self.altered(name)?;
        self.check_may_mask(&table)?;
        let missing = || SqlError::alter_column_unknown("ALTER TABLE ALTER COLUMN", &column.text, &table.name);
        let place = table.column(&column.text).ok_or_else(missing)?;
        let own = &table.engine.columns[place];
        if own.computed.is_some() {
            return Err(Box::new(SqlError::column_not_alterable(&own.name, "COMPUTED")));
        }
        if table.engine.is_history() {
            return Err(Box::new(SqlError::versioned_column_not_altered(&own.name, &table.display)));
        }
        if function.is_none() && own.mask.is_none() {
            return Err(Box::new(SqlError::mask_missing(&own.name)));
        }
        let mask = function.map(|text| Mask::parse(text, own.ty, &own.name)).transpose()?;
        self.check_mask_is_free(&table, place)?;
        let masks = [(own.name.clone(), mask.map(|mask| mask.to_string()))];
        self.put_masks(&table, &masks).await
    }

    /// Gives columns of a table, and of its history, their masks.
    pub(super) async fn put_masks(&mut self, table: &Table, masks: &[(String, Option<String>)]) -> Result<(), Fault> {
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            for column in &mut record.columns {
                if let Some((_, mask)) = masks.iter().find(|(name, _)| *name == column.name) {
                    column.mask.clone_from(mask);
                }
            }
            Ok(())
        };
        let history = self.history_of(table)?;
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        if let Some(history) = history {
            database.alter_definition(tx, &history.engine, &change).await?;
        }
        Ok(())
    }

    /// Masks of tables that are there are for who has ALTER ANY MASK as well as ALTER on the table.
    ///
    /// # Errors
    /// 15247.
    pub(super) fn check_may_mask(&self, table: &Table) -> Result<(), Fault> {
        if table.is_temporary() || self.context.token().has(Permission::AlterAnyMask, Securable::Database) {
            return Ok(());
        }
        Err(Box::new(SqlError { state: NOT_ALLOWED, ..SqlError::no_permission() }))
    }

    /// The mask of a column that others are computed of stays as it is.
    ///
    /// # Errors
    /// 5074 for each of them, and then 4922.
    pub(super) fn check_mask_is_free(&mut self, table: &Table, place: usize) -> Result<(), Fault> {
        let columns = table_columns(table);
        let mut reading = Vec::new();
        {
            let catalog = self.context.catalog();
            let names = Names::of(&catalog, &*self.host);
            for column in &table.engine.columns {
                if let Some(computed) = &column.computed
                    && bind::reads_columns(&computed.text, false, &columns, &names)?.contains(&place)
                {
                    reading.push(column.name.clone());
                }
            }
        }
        let (name, line) = (&table.columns[place].name, self.line());
        for column in &reading {
            self.output.error(&SqlError::object_depends_on_column("column", column, name).at_line(line));
        }
        if reading.is_empty() {
            return Ok(());
        }
        Err(Box::new(SqlError::column_is_in_use("ALTER TABLE ALTER COLUMN", name)))
    }
}

/// Whether a definition reads the rows of a table some of whose values the session may not see.
pub(crate) fn hides_rows_of(context: &ExecutionContext, kind: &StatementKind) -> bool {
    let name = match kind {
        StatementKind::AlterTable(alter) => &alter.table,
        StatementKind::CreateIndex(create) => &create.table,
        _ => return false,
    };
    let table = context.catalog().table(name).ok().flatten();
    let has_masks = table.is_some_and(|table| !table.is_temporary() && table.engine.has_masks());
    has_masks && !context.token().has(Permission::Unmask, Securable::Database)
}
