//! The progress of a statement that reads large tables whole, for the views: by the pages that its scans have gone through of those that they
//! have to, and by the rows of its operators where they are counted. A query does, and a definition that copies a table's rows.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use crate::activity::Activity;
use crate::executor::{Counted, Profile};
use crate::host::Host;
use crate::plan::Statement;
use crate::program::Program;
use crate::show::{self, Shown};
use pikepole_engine::{ReadMeter, Table};

/// A statement that runs.
#[derive(Clone)]
pub struct Reading {
    /// None: a definition.
    plan: Option<Arc<Statement>>,
    /// The large tables that it reads whole, once for each time that it does.
    drivers: Vec<Arc<Table>>,
    meter: ReadMeter,
    profile: Option<Arc<Profile>>,
}

/// An operator of a plan that runs.
#[derive(Debug, Clone)]
pub struct RunningOperator {
    /// The name that plans have for it.
    pub physical: &'static str,
    /// Its place in the plan, counted from 1 from the top down.
    pub node: i32,
    /// Rows given, and how often it was opened; none where they are not counted.
    pub counted: Option<(u64, u64)>,
    /// Time within it and what is below it, in microseconds.
    pub time_us: u64,
    /// Rows that are expected; none where nothing is known of a table below.
    pub expected: Option<f64>,
    /// The name of the database, the table and the index that it reads.
    pub read: Option<(String, i32, i32)>,
    /// Pages of that table that the statement has looked up, and those of them that it read from disk; of all its operators together.
    pub pages: [u64; 2],
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reading").finish_non_exhaustive()
    }
}

impl Reading {
    pub(crate) fn new(plan: &Arc<Statement>, meter: &ReadMeter, profile: Option<&Arc<Profile>>) -> Reading {
        let (plan, drivers) = (Arc::clone(plan), plan.drivers.clone());
        Reading { plan: Some(plan), drivers, meter: meter.clone(), profile: profile.cloned() }
    }

    /// Awaits a definition that copies the rows of `table`, and lets the views see how far it is.
    pub(crate) async fn during<F: Future>(activity: &Activity, table: &Arc<Table>, definition: F) -> F::Output {
        let meter = ReadMeter::default();
        let _ends = Ends { activity, before: activity.reading() };
        let drivers = vec![Arc::clone(table)];
        activity.reads(Some(Reading { plan: None, drivers, meter: meter.clone(), profile: None }));
        meter.awaiting(definition).await
    }

    /// Percent of the pages that scans are to go through. What comes after the last of them, as a sort, is not counted.
    pub fn percent(&self) -> f32 {
        // A table that is scanned twice has twice its pages to be read.
        let mut tables: HashMap<*const Table, (u64, u64)> = HashMap::new();
        for table in &self.drivers {
            let passed = || table.reads(&self.meter).map_or(0, |reads| reads.rows.passed);
            let (_, whole) = tables.entry(Arc::as_ptr(table)).or_insert_with(|| (passed(), 0));
            *whole += table.pages_guessed();
        }
        let whole: u64 = tables.values().map(|(_, whole)| whole).sum();
        let done: u64 = tables.values().map(|(passed, whole)| passed.min(whole)).sum();
        done as f32 * 100.0 / whole.max(1) as f32
    }

    /// The operators of its plan, from the top down; `program` is the text that it stands in. A definition has none.
    pub fn operators(&self, program: &Program, host: &dyn Host) -> Vec<RunningOperator> {
        let mut operators = Vec::new();
        if let Some(plan) = &self.plan {
            self.add(&show::operators(plan, &program.variables, host, self.profile.as_deref(), 0), &mut operators);
        }
        operators
    }

    fn add(&self, shown: &Shown, operators: &mut Vec<RunningOperator>) {
        let reads = shown.object.as_ref().and_then(|object| object.engine.reads(&self.meter));
        let pages = reads.map_or([0; 2], |reads| [reads.rows.logical, reads.rows.physical]);
        let counted = shown.counted.map(|Counted { rows, openings, .. }| (rows, openings));
        operators.push(RunningOperator {
            physical: shown.physical,
            node: operators.len() as i32 + 1,
            counted,
            time_us: shown.counted.and_then(|counted| counted.time_us).unwrap_or(0),
            expected: shown.estimate.map(|size| size.rows),
            read: shown.object.as_ref().map(|own| (own.database.clone(), own.engine.object_id, own.index_id)),
            pages,
        });
        shown.inputs.iter().for_each(|input| self.add(input, operators));
    }
}

/// The session's reading before a definition, which may be a trigger's. It comes back when the definition ends or is dropped.
struct Ends<'a> {
    activity: &'a Activity,
    before: Option<Reading>,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.activity.reads(self.before.take());
    }
}
