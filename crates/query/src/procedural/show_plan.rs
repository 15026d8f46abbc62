//! Plans in the place of results: a batch under SET SHOWPLAN_TEXT, SHOWPLAN_ALL or SHOWPLAN_XML, and the plans that SET STATISTICS
//! PROFILE and XML send behind each statement.
//!
//! Under SHOWPLAN nothing runs but the declarations of table variables, which statements are bound to. Each statement is shown
//! once, in the order of the text, whatever branch it is in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Machine;
use crate::executor::Counted;
use crate::executor::Profile;
use crate::expression::Fault;
use crate::host::Host;
use crate::output::{ColumnInfo, Done, DoneKind};
use crate::plan::{Action, Statement};
use crate::program::{Instruction, Late, LateKind, Program, Variable};
use crate::settings::ShowPlan;
use crate::show::{self, Shown, ShownStatement, Statistics};
use pikepole_machine::clock;
use pikepole_scheduler::{self as scheduler, CpuReading};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, Value};

impl Machine<'_> {
    /// Shows what the program would do.
    pub(super) async fn show_plans(&mut self, format: ShowPlan) -> Result<i32, SqlError> {
        let result = match self.shown_statements().await {
            Ok(statements) => {
                self.send_plans(format, &statements);
                Ok(0)
            }
            Err(fault) => {
                let mut error = *fault;
                error.line = self.line();
                self.context.state.last_error = error.number;
                self.output.error(&error);
                Err(error)
            }
        };
        self.finish().await;
        result
    }

    async fn shown_statements(&mut self) -> Result<Vec<ShownStatement>, Fault> {
        self.context.require_show_plan()?;
        let program = Arc::clone(&self.frame.program);
        let mut statements = Vec::new();
        for (at, instruction) in program.instructions.iter().enumerate() {
            self.frame.pc = at;
            match instruction {
                Instruction::DeclareTables(tables) => self.declare_tables(tables).await?,
                Instruction::Statement(index) => statements.push(self.shown_statement(&program, *index)?),
                _ => {}
            }
        }
        Ok(statements)
    }

    fn shown_statement(&mut self, program: &Program, index: usize) -> Result<ShownStatement, Fault> {
        let late = &program.late[index];
        let (plan, made) = match &late.kind {
            LateKind::Into(into) => {
                // The table that it fills is made when it runs: here the rows are shown that go there.
                let query = tree::StatementKind::Select(Box::new(into.query.clone()));
                let query = tree::Statement { kind: query, span: into.target.name.span };
                (self.bind_kind(&LateKind::Statement(Arc::new(query)), &[])?, Some(into.target.dotted()))
            }
            kind => (self.bind_kind(kind, &[])?, None),
        };
        self.context.check(&plan.requirements, self.procedure_owner())?;
        let mut shown = show::operators(&plan, &program.variables, &*self.host, None, self.context.degree(plan.degree));
        if let Some(table) = made {
            shown = shown.into_table(&table);
        }
        Ok(late.shown(index, &plan, (shown, &program.variables), None))
    }

    fn send_plans(&mut self, format: ShowPlan, statements: &[ShownStatement]) {
        match format {
            ShowPlan::Xml => {
                if !statements.is_empty() {
                    self.send_set(&show::xml_columns(), vec![vec![Value::Str(show::document(statements))]]);
                }
            }
            ShowPlan::All => {
                for statement in statements {
                    let rows = show::rows(statement, Statistics::Without);
                    self.send_set(&show::columns(Statistics::Without), rows);
                }
            }
            ShowPlan::Text => {
                for statement in statements {
                    let (text, lines) = show::text_rows(statement);
                    self.send_set(&show::text_columns(), text);
                    self.send_set(&show::text_columns(), lines);
                }
            }
        }
    }

    fn send_set(&mut self, columns: &[ColumnInfo], rows: Vec<Vec<Value>>) {
        self.output.columns(columns);
        rows.iter().for_each(|row| self.output.row(row));
        self.output.done(Done { rows: Some(rows.len() as u64), kind: DoneKind::Select });
    }

    /// Sends the plan of a statement that has ended, with what its operators did.
    pub(super) fn send_profile(&mut self, plan: &Statement, index: usize, profile: &Profile, rows: u64) {
        let program = Arc::clone(&self.frame.program);
        let Some(late) = program.late.get(index).filter(|_| self.captures.is_empty() && self.context.functions == 0)
        else {
            return;
        };
        let mut shown = show::operators(plan, &program.variables, &*self.host, Some(profile), 0);
        if !matches!(plan.action, Action::Select { .. } | Action::Assign { .. }) {
            shown.counted = Some(Counted { rows, openings: 1, time_us: None });
        }
        let statement = late.shown(index, plan, (shown, &program.variables), Some(rows));
        if self.context.settings.statistics_profile {
            self.send_set(&show::columns(Statistics::With), show::rows(&statement, Statistics::With));
        }
        if self.context.settings.statistics_xml {
            self.send_set(&show::xml_columns(), vec![vec![Value::Str(show::document(&[statement]))]]);
        }
    }

    /// SET STATISTICS TIME: tells how long a statement took.
    pub(super) fn send_times(&mut self, began: Began) {
        let (elapsed_ms, cpu_ms) = began.passed_ms();
        let text =
            format!("\n SQL Server Execution Times:\n   CPU time = {cpu_ms} ms,  elapsed time = {elapsed_ms} ms.");
        let mut message = SqlError::new(3612, 10, 1, text);
        message.line = self.line();
        self.output.message(&message);
    }
}

impl Shown {
    /// Rows that go into a table that is to be made.
    fn into_table(self, table: &str) -> Shown {
        let (estimate, executions) = (self.estimate, self.executions);
        Shown {
            physical: "Table Insert",
            logical: "Insert",
            clauses: vec![("OBJECT", table.to_owned())],
            estimate,
            executions,
            inputs: vec![self],
            ..Shown::default()
        }
    }
}

impl Late {
    /// The statement with its plan, as it is shown, of a program with these variables.
    fn shown(
        &self,
        index: usize,
        plan: &Statement,
        (shown, variables): (Shown, &[Variable]),
        rows: Option<u64>,
    ) -> ShownStatement {
        let number = i32::try_from(index + 1).unwrap_or(i32::MAX);
        let kind = show::kind(&self.kind, plan);
        let parameters = show::parameters(plan, variables);
        ShownStatement { text: self.text.to_string(), number, kind, plan: shown, rows, parameters }
    }
}

impl Program {
    /// The plans of its statements as SHOWPLAN_XML shows them, as far as they have run or been bound; of the one statement that stands at
    /// `place`, as [`crate::Running::statement`] tells it, or of all; with so many workers where they say nothing of it. None while there
    /// is none.
    pub fn plan_document(&self, place: Option<i32>, host: &dyn Host, degree: usize) -> Option<String> {
        let wanted = |at: usize| place.is_none_or(|place| self.place_of(at).is_some_and(|(start, _)| start == place));
        let statements: Vec<ShownStatement> = (self.instructions.iter().enumerate())
            .filter(|(at, _)| wanted(*at))
            .filter_map(|(_, instruction)| {
                let Instruction::Statement(index) = instruction else { return None };
                let late = &self.late[*index];
                let plan = late.plan.lock().unwrap_or_else(|e| e.into_inner()).clone()?;
                let degree = plan.degree.filter(|own| *own > 0).map_or(degree, usize::from);
                let shown = show::operators(&plan, &self.variables, host, None, degree);
                Some(late.shown(*index, &plan, (shown, &self.variables), None))
            })
            .collect();
        (!statements.is_empty()).then(|| show::document(&statements))
    }

    /// Whether it is the one statement that runs under SHOWPLAN too: the one that ends it.
    pub(super) fn sets_show_plan(&self) -> bool {
        self.instructions.iter().any(|instruction| match instruction {
            Instruction::Host(statement) => match &statement.kind {
                tree::StatementKind::SetOption(option) => option.names.iter().any(|name| ShowPlan::of(name).is_some()),
                _ => false,
            },
            _ => false,
        })
    }
}

/// When something began, by the clock and by its task's use of the processor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Began {
    at: Instant,
    cpu: CpuReading,
}

impl Began {
    pub(crate) fn now() -> Began {
        Began { at: Instant::now(), cpu: scheduler::meter(clock::ticks()) }
    }

    /// Milliseconds since then, and the CPU time of the task, which uses one CPU at most, and of its workers.
    fn passed_ms(self) -> (u128, u128) {
        let cpu = scheduler::meter(clock::ticks());
        let elapsed = self.at.elapsed();
        let us = |ticks: u64| Duration::from_micros(clock::ticks_to_us(ticks));
        let own = us(cpu.own.saturating_sub(self.cpu.own)).min(elapsed);
        let workers = us(cpu.workers.saturating_sub(self.cpu.workers));
        (elapsed.as_millis(), (own + workers).as_millis())
    }
}
