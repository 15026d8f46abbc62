//! Definitions: CREATE, ALTER, DROP and TRUNCATE become calls of the engine.
//!
//! ```text
//!   Machine ──► Definer::define ──► permissions, names, types: what the text means is checked first
//!      ▲                        └─► engine: the catalog's records, under the catalog's lock
//!      └── the triggers that watch it, which the machine runs before the definition ends
//! ```
//! A [`Definer`] is what definitions know of the session that runs them. It knows no program and no frame: DDL triggers
//! are the machine's, and so are questions about rows ([`Definer::holds`]).

mod alter_database;
mod alter_table;
mod bound;
mod columnstore;
mod constraints;
mod database_files;
mod define;
mod define_policy;
mod define_schema;
mod define_trigger;
mod definition_event;
mod definition_trigger;
mod elsewhere;
mod filegroup;
mod in_memory;
mod index_filter;
mod masks;
mod object_kinds;
mod owner;
mod partition;
mod period;
mod permission;
mod sequence;
mod storage_options;
mod table_definition;
mod temporary;
mod temporary_procedure;
mod user_access;
mod user_type;
mod versioning;
mod xml_index;

pub(crate) use constraints::table_columns;
pub use define::declared_names;
pub(crate) use define::definition_kind;
pub(crate) use definition_event::Happening;
pub(crate) use definition_trigger::Watched;
pub(crate) use masks::hides_rows_of;
pub use sequence::names_sequence;
pub(crate) use temporary::of_elements;
pub(crate) use temporary_procedure::TemporaryProcedures;

use crate::context::ExecutionContext;
use crate::executor::parallel::WORKERS_MAX;
use crate::expression::{Env, Fault};
use crate::host::{Host, HostFuture};
use crate::output::Output;
use crate::program::Variable;
use crate::reading::Reading;
use pikepole_engine::{IndexDefinition, Table};
use pikepole_types::{Context, Value};
use std::sync::Arc;

/// Says whether a condition over tables holds.
pub(crate) type Holds = for<'a> fn(
    &'a mut ExecutionContext,
    &'a mut dyn Host,
    &'a mut dyn Output,
    &'a str,
) -> HostFuture<'a, Result<bool, Fault>>;

/// A session that runs a definition.
pub(crate) struct Definer<'a> {
    pub(crate) context: &'a mut ExecutionContext,
    pub(crate) host: &'a mut dyn Host,
    pub(crate) output: &'a mut dyn Output,
    pub(crate) functions: &'a mut Context,
    /// The variables that the text of the definition may name, and their values, in the same places.
    pub(crate) variables: &'a [Variable],
    pub(crate) slots: &'a [Value],
    /// The line of the definition.
    pub(crate) line: u32,
    /// True when it reads rows of which the session may not see all values.
    pub(crate) hides_rows: bool,
    /// The machine's answer to conditions over rows.
    pub(crate) ask: Holds,
}

impl Definer<'_> {
    /// The line of the definition.
    fn line(&self) -> u32 {
        self.line
    }

    /// Makes an index of a table, by workers where its rows are many.
    ///
    /// # Errors
    /// As of [`Database::create_index`](pikepole_engine::Database::create_index).
    async fn build_index(
        &mut self,
        table: &Arc<Table>,
        definition: IndexDefinition,
        degree: Option<u16>,
    ) -> Result<(), Fault> {
        let workers = self.context.degree(degree).min(WORKERS_MAX);
        let schedulers: Vec<usize> = (0..workers).map(|worker| self.context.scheduler_of(worker)).collect();
        let (activity, database) = (Arc::clone(&self.context.activity), Arc::clone(self.context.database()));
        let made = database.create_index(self.context.engine().1, table, definition, &schedulers);
        Ok(Reading::during(&activity, table, made).await.map(drop)?)
    }

    /// The expressions' view.
    fn env(&mut self) -> Env<'_> {
        Env {
            slots: self.slots,
            state: &self.context.state,
            functions: self.functions,
            host: Some((self.host, self.context)),
        }
    }

    /// The truth of a condition over tables.
    async fn holds(&mut self, condition: &str) -> Result<bool, Fault> {
        (self.ask)(self.context, self.host, self.output, condition).await
    }
}
