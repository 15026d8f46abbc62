//! Cursors: DECLARE, OPEN, FETCH, CLOSE, DEALLOCATE.
//!
//! OPEN reads all rows; FETCH moves among them. What others change after OPEN does not show, as in a STATIC cursor. The
//! variables in the query have the values that they had when the cursor was declared.

use std::sync::Arc;

use super::Machine;
use super::rules::{internal_names, show_values};
use crate::bind;
use crate::expression::{Expr, Fault};
use crate::output::{ColumnInfo, Done, DoneKind};
use crate::program::{CursorOperation, FetchTo, LateKind, Variable};
use pikepole_tsql::{CursorName, Statement};
use pikepole_types::{SqlError, SqlType, Target, Value};

/// One cursor.
struct DeclaredCursor {
    name: Arc<str>,
    /// The nest level whose end is this cursor's; None for a global one.
    level: Option<i32>,
    scroll: bool,
    query: Arc<Statement>,
    /// The declaring program's variables, with their values then.
    variables: Vec<(Variable, Value)>,
    opened: Option<Opened>,
}

/// An open cursor's rows.
struct Opened {
    columns: Vec<ColumnInfo>,
    rows: Vec<Vec<Value>>,
    /// The row that was fetched last, counted from one; zero: before the first.
    at: usize,
}

/// The cursors of a session.
#[derive(Default)]
pub(crate) struct Cursors(Vec<DeclaredCursor>);

impl Cursors {
    fn place(&self, name: &str, global_only: bool, level: i32) -> Option<usize> {
        let named = |cursor: &DeclaredCursor| cursor.name.eq_ignore_ascii_case(name);
        let local = self.0.iter().position(|cursor| cursor.level == Some(level) && named(cursor));
        let global = || self.0.iter().position(|cursor| cursor.level.is_none() && named(cursor));
        if global_only { global() } else { local.or_else(global) }
    }

    /// Closes all of them.
    pub(crate) fn close_all(&mut self) {
        self.0.iter_mut().for_each(|cursor| cursor.opened = None);
    }

    /// The calls of this nest level and below it have ended.
    pub(crate) fn end_scope(&mut self, level: i32) {
        self.0.retain(|cursor| cursor.level.is_none_or(|own| own < level));
    }

    /// See [`crate::ExecutionContext::cursor_status`].
    pub(crate) fn status(&self, name: &str, global: bool, level: i32) -> i16 {
        let found = self.place(name, global, level).map(|place| &self.0[place]);
        match found.filter(|cursor| global == cursor.level.is_none()).map(|cursor| &cursor.opened) {
            None => -3,
            Some(None) => -1,
            Some(Some(opened)) => i16::from(!opened.rows.is_empty()),
        }
    }
}

impl Machine<'_> {
    pub(crate) async fn cursor_operation(&mut self, operation: &CursorOperation) -> Result<(), Fault> {
        match operation {
            CursorOperation::Declare { name, local, scroll, replaces, query } => {
                self.declare_cursor(name, *local, *scroll, *replaces, query)?;
            }
            CursorOperation::Open(name) => self.open_cursor(name).await?,
            CursorOperation::Fetch { cursor, direction, into } => return self.fetch(cursor, direction, into),
            CursorOperation::Close(name) => {
                let place = self.cursor_place(name)?;
                if self.context.cursors.0[place].opened.take().is_none() {
                    return Err(Box::new(SqlError::cursor_not_open()));
                }
            }
            CursorOperation::Deallocate(name) => {
                let place = self.cursor_place(name)?;
                self.context.cursors.0.remove(place);
            }
        }
        self.context.state.row_count = 0;
        Ok(())
    }

    fn cursor_place(&self, name: &CursorName) -> Result<usize, Fault> {
        let text = name.name.text.as_str();
        let place = self.context.cursors.place(text, name.global, self.context.state.nest_level);
        place.ok_or_else(|| {
            Box::new(if text.starts_with('@') {
                SqlError::cursor_variable_empty(text)
            } else {
                SqlError::cursor_unknown(text)
            })
        })
    }

    fn declare_cursor(
        &mut self,
        name: &Arc<str>,
        local: bool,
        scroll: bool,
        replaces: bool,
        query: &Arc<Statement>,
    ) -> Result<(), Fault> {
        let level = self.context.state.nest_level;
        let level = local.then_some(level);
        let same = |cursor: &DeclaredCursor| cursor.level == level && cursor.name.eq_ignore_ascii_case(name);
        if replaces {
            self.context.cursors.0.retain(|cursor| !same(cursor));
        } else if self.context.cursors.0.iter().any(same) {
            return Err(Box::new(SqlError::cursor_exists(name)));
        }
        let variables = self.frame.program.variables.iter().cloned().zip(self.frame.slots.iter().cloned()).collect();
        let cursor =
            DeclaredCursor { name: Arc::clone(name), level, scroll, query: Arc::clone(query), variables, opened: None };
        self.context.cursors.0.push(cursor);
        Ok(())
    }

    async fn open_cursor(&mut self, name: &CursorName) -> Result<(), Fault> {
        let place = self.cursor_place(name)?;
        let cursor = &self.context.cursors.0[place];
        if cursor.opened.is_some() {
            return Err(Box::new(SqlError::cursor_already_open()));
        }
        let base = self.frame.slots.len();
        let (variables, values): (Vec<Variable>, Vec<Value>) = cursor.variables.iter().cloned().unzip();
        let variables = internal_names(base, variables);
        let kind = LateKind::Statement(Arc::clone(&cursor.query));
        let plan = {
            let catalog = self.context.catalog();
            let trigger = self.frame.program.trigger.as_deref();
            let (host, variables) = (&*self.host, variables.as_slice());
            let names = bind::Names { catalog: &catalog, host, variables, identity_insert: None, trigger };
            bind::bind(&kind, &names, variables.len())?
        };
        let owner = self.procedure_owner();
        self.context.refresh_security()?;
        self.context.check(&plan.requirements, owner)?;
        show_values(&mut self.frame.slots, base, values, plan.slots);
        self.context.take_parts(&plan.others)?;
        self.context.begin_statement(false)?;
        let read = self.select_rows(&plan).await;
        self.frame.slots.truncate(base);
        let (columns, rows) = read?;
        self.context.end_definition().await?;
        self.context.state.cursor_rows = i32::try_from(rows.len()).unwrap_or(i32::MAX);
        // Reading the rows has run other statements of nobody's: the cursor is where it was.
        if let Some(cursor) = self.context.cursors.0.get_mut(place) {
            cursor.opened = Some(Opened { columns, rows, at: 0 });
        }
        Ok(())
    }

    fn fetch(&mut self, name: &CursorName, to: &FetchTo, into: &[(usize, SqlType)]) -> Result<(), Fault> {
        let place = self.cursor_place(name)?;
        let count = match to {
            FetchTo::Absolute(expr) | FetchTo::Relative(expr) => self.fetch_count(expr)?,
            _ => 0,
        };
        let cursor = &mut self.context.cursors.0[place];
        if !cursor.scroll && !matches!(to, FetchTo::Next) {
            return Err(Box::new(SqlError::fetch_needs_scroll("fetch", fetch_word(to))));
        }
        let Some(opened) = &mut cursor.opened else {
            return Err(Box::new(SqlError::cursor_not_open()));
        };
        if !into.is_empty() && into.len() != opened.columns.len() {
            return Err(Box::new(SqlError::cursor_variables_differ()));
        }
        let last = opened.rows.len() as i64;
        let at = opened.at as i64;
        let wanted = match to {
            FetchTo::Next => at + 1,
            FetchTo::Prior => at - 1,
            FetchTo::First => 1,
            FetchTo::Last => last,
            FetchTo::Absolute(_) if count < 0 => last + 1 + count,
            FetchTo::Absolute(_) => count,
            FetchTo::Relative(_) => at.saturating_add(count),
        };
        let wanted = wanted.clamp(0, last + 1);
        opened.at = wanted as usize;
        let row = opened.at.checked_sub(1).and_then(|index| opened.rows.get(index)).cloned();
        let columns = opened.columns.clone();
        self.context.state.fetch_status = if row.is_some() { 0 } else { -1 };
        self.context.state.row_count = i64::from(row.is_some());
        if into.is_empty() {
            match self.captures.last_mut() {
                None => {
                    self.output.columns(&columns);
                    row.iter().for_each(|row| self.output.row(row));
                }
                Some(capture) => {
                    if capture.columns.is_empty() {
                        capture.columns = columns;
                    }
                    capture.rows.extend(row.clone());
                }
            }
            self.done(Done { rows: Some(u64::from(row.is_some())), kind: DoneKind::Select });
            return Ok(());
        }
        let Some(row) = row else { return Ok(()) };
        for ((value, column), (slot, ty)) in row.iter().zip(&columns).zip(into) {
            pikepole_types::assign(value, &column.ty, ty, Target::Variable, &mut self.frame.slots[*slot])?;
        }
        Ok(())
    }

    fn fetch_count(&mut self, expr: &Expr) -> Result<i64, Fault> {
        Ok(self.integer_value(expr)?.unwrap_or(0))
    }
}

/// What error 16911 calls a direction.
fn fetch_word(to: &FetchTo) -> &'static str {
    match to {
        FetchTo::Next => "next",
        FetchTo::Prior => "prior",
        FetchTo::First => "first",
        FetchTo::Last => "last",
        FetchTo::Absolute(_) => "absolute",
        FetchTo::Relative(_) => "relative",
    }
}
