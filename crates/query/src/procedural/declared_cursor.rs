//! Cursors: DECLARE, OPEN, FETCH, CLOSE, DEALLOCATE.
//!
//! OPEN reads all rows; FETCH moves among them. What is changed after OPEN shows in KEYSET and DYNAMIC cursors over one table. The
//! variables in the query have the values that they had when the cursor was declared. WHERE CURRENT OF changes the row of the
//! table that the cursor stands on, if nobody else has changed it since OPEN.

use std::ops::Range;
use std::sync::Arc;

use super::Machine;
use super::rules::{internal_names, show_values};
use super::statement::StatementState;
use crate::access::Stop;
use crate::bind::{self, CursorTable};
use crate::expression::{Expr, Fault};
use crate::output::{ColumnInfo, Done, DoneKind};
use crate::plan::{self, CurrentRow};
use crate::program::{CursorKind, CursorOperation, FetchTo, LateKind, Variable};
use pikepole_engine::{Locator, ReadHints, ReadMode, Residence, ScanRange, Table};
use pikepole_tsql::{CursorName, Statement, StatementKind};
use pikepole_types::{Collation, SqlError, SqlType, Target, Value};

/// One cursor.
pub(super) struct DeclaredCursor {
    name: Arc<str>,
    /// The nest level whose end is this cursor's; None for a global one.
    level: Option<i32>,
    /// Other variables and names that stand for it, each with the nest level that is its end.
    others: Vec<(Arc<str>, Option<i32>)>,
    scroll: bool,
    /// The columns that can be changed where it stands, all when empty; None: it is READ ONLY.
    updates: Option<Arc<[String]>>,
    /// Rows that are read again are locked for changes until the transaction ends.
    locks: bool,
    /// What it was declared to be.
    kind: CursorKind,
    query: Arc<Statement>,
    /// The declaring program's variables, with their values then.
    variables: Vec<(Variable, Value)>,
    pub(super) opened: Option<Opened>,
}

impl DeclaredCursor {
    /// What it is. A dynamic cursor whose rows must be sorted has the rows of its opening.
    pub(super) fn kind(&self) -> CursorKind {
        let table = self.opened.as_ref().and_then(|opened| opened.table.as_ref());
        let is_sorted = table.is_some_and(|table| table.below.is_sorted);
        if is_sorted && self.kind == CursorKind::Dynamic { CursorKind::Keyset } else { self.kind }
    }

    /// Whether its rows are shown as they are when they are fetched.
    fn shows_changes(&self) -> bool {
        matches!(self.kind, CursorKind::Keyset | CursorKind::Dynamic)
    }

    /// Whether it goes by a name of a nest level, or by a global one.
    fn answers_to(&self, name: &str, level: Option<i32>) -> bool {
        let is_it = |own: &str, own_level: Option<i32>| own_level == level && own.eq_ignore_ascii_case(name);
        is_it(&self.name, self.level) || self.others.iter().any(|(own, own_level)| is_it(own, *own_level))
    }

    /// Takes its names away that are not to be kept. False: none is left.
    fn keep_names(&mut self, kept: impl Fn(&str, Option<i32>) -> bool) -> bool {
        self.others.retain(|(name, level)| kept(name, *level));
        if kept(&self.name, self.level) {
            return true;
        }
        let next = self.others.pop();
        next.map(|(name, level)| (self.name, self.level) = (name, level)).is_some()
    }
}

/// An open cursor's rows.
pub(super) struct Opened {
    pub(super) columns: Vec<ColumnInfo>,
    pub(super) rows: Vec<Vec<Value>>,
    /// The row that was fetched last, counted from one; zero: before the first.
    pub(super) at: usize,
    /// The table whose rows they are, if they can be changed.
    pub(super) table: Option<OpenedTable>,
    /// The rows that a client's fetch buffer has, where they are since the query ran again.
    pub(super) buffer: Range<usize>,
}

/// The rows of a table that a cursor's rows are.
pub(super) struct OpenedTable {
    pub(super) below: CursorTable,
    pub(super) rows: Vec<OpenedRow>,
}

/// A row of the table as it was read.
pub(super) struct OpenedRow {
    pub(super) place: Vec<u8>,
    pub(super) digest: u64,
}

/// The cursors of a session.
#[derive(Default)]
pub(crate) struct Cursors(pub(super) Vec<DeclaredCursor>);

impl Cursors {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn place(&self, name: &str, global_only: bool, level: i32) -> Option<usize> {
        let local = self.0.iter().position(|cursor| cursor.answers_to(name, Some(level)));
        let global = || self.0.iter().position(|cursor| cursor.answers_to(name, None));
        if global_only { global() } else { local.or_else(global) }
    }

    /// The global cursor of a name.
    pub(super) fn named_mut(&mut self, name: &str) -> Option<&mut DeclaredCursor> {
        let place = self.place(name, true, 0)?;
        self.0.get_mut(place)
    }

    /// Forgets the global cursor of a name.
    pub(super) fn remove(&mut self, name: &str) {
        if let Some(place) = self.place(name, true, 0) {
            self.0.remove(place);
        }
    }

    /// The global cursor of the first name has the other one, too, in place of what it was called beside that.
    ///
    /// # Errors
    /// 16915 for the name of another cursor.
    pub(super) fn give_name(&mut self, cursor: &str, name: &str) -> Result<(), SqlError> {
        let Some(place) = self.place(cursor, true, 0) else { return Ok(()) };
        if self.place(name, true, 0).is_some_and(|other| other != place) {
            return Err(SqlError::cursor_exists(name));
        }
        self.0[place].others = vec![(name.into(), None)];
        Ok(())
    }

    /// Closes all of them.
    pub(crate) fn close_all(&mut self) {
        self.0.iter_mut().for_each(|cursor| cursor.opened = None);
    }

    /// The calls of this nest level and below it have ended.
    pub(crate) fn end_scope(&mut self, level: i32) {
        self.0.retain_mut(|cursor| cursor.keep_names(|_, own| own.is_none_or(|own| own < level)));
    }

    /// A call ends at a nest level: an open cursor of its parameter is the caller's, under the name of the caller's variable.
    fn hand_over(&mut self, parameter: &str, variable: &str, level: i32) {
        let own = |cursor: &&mut DeclaredCursor| cursor.answers_to(parameter, Some(level));
        if let Some(cursor) = self.0.iter_mut().find(own).filter(|cursor| cursor.opened.is_some()) {
            cursor.others.push((variable.into(), Some(level - 1)));
        }
    }

    /// See [`crate::ExecutionContext::cursor_status`].
    pub(crate) fn status(&self, name: &str, global: bool, level: i32) -> i16 {
        let found = self.place(name, global, level).map(|place| &self.0[place]);
        let of_kind = |cursor: &&DeclaredCursor| cursor.answers_to(name, (!global).then_some(level));
        match found.filter(of_kind).map(|cursor| &cursor.opened) {
            None => -3,
            Some(None) => -1,
            Some(Some(opened)) => i16::from(!opened.rows.is_empty()),
        }
    }
}

/// A cursor as views show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorShown {
    /// Its name.
    pub name: String,
    /// What it is, in words: `TSQL | Keyset | Optimistic | Global (0)`.
    pub properties: String,
    /// Whether it is open.
    pub is_open: bool,
    /// What the last FETCH from it said; -9 before the first.
    pub fetch_status: i32,
}

impl DeclaredCursor {
    fn shown(&self) -> CursorShown {
        let kind = match self.kind() {
            CursorKind::Static | CursorKind::Unsaid => "Snapshot",
            CursorKind::Keyset => "Keyset",
            CursorKind::Dynamic => "Dynamic",
        };
        let concurrency = match (&self.updates, self.locks) {
            (None, _) => "Read Only",
            (Some(_), true) => "Scroll Locks",
            (Some(_), false) => "Optimistic",
        };
        let scope = if self.level.is_some() { "Local" } else { "Global" };
        let fetch_status = match &self.opened {
            Some(opened) if opened.at > opened.rows.len() => -1,
            Some(opened) if opened.at > 0 => 0,
            _ => -9,
        };
        CursorShown {
            name: self.name.to_string(),
            properties: format!("TSQL | {kind} | {concurrency} | {scope} (0)"),
            is_open: self.opened.is_some(),
            fetch_status,
        }
    }
}

impl Cursors {
    /// The cursors that the session has declared, in the order of their declarations.
    pub(crate) fn shown(&self) -> Vec<CursorShown> {
        self.0.iter().map(DeclaredCursor::shown).collect()
    }
}

impl Machine<'_> {
    pub(crate) async fn cursor_operation(&mut self, operation: &CursorOperation) -> Result<(), Fault> {
        match operation {
            CursorOperation::Declare { name, local, scroll, replaces, updates, locks, kind, query } => {
                let level = local.then_some(self.context.state.nest_level);
                let variables = self.frame.program.variables.iter().cloned();
                let cursor = DeclaredCursor {
                    name: Arc::clone(name),
                    level,
                    others: Vec::new(),
                    scroll: *scroll,
                    updates: updates.clone(),
                    locks: *locks,
                    kind: *kind,
                    query: Arc::clone(query),
                    variables: variables.zip(self.frame.slots.iter().cloned()).collect(),
                    opened: None,
                };
                self.declare_cursor(cursor, *replaces)?;
            }
            CursorOperation::Open(name) => self.open_cursor(name).await?,
            CursorOperation::Fetch { cursor, direction, into } => return self.fetch(cursor, direction, into).await,
            CursorOperation::Again { cursor, rows } => {
                let again = self.read_again(cursor, rows.clone()).await?;
                let place = self.cursor_place(cursor)?;
                if let Some(opened) = &mut self.context.cursors.0[place].opened {
                    opened.rows = again;
                }
            }
            CursorOperation::Refill { cursor, buffer } => {
                let place = self.cursor_place(cursor)?;
                let buffer = self.refill(place, buffer.clone()).await?;
                if let Some(opened) = &mut self.context.cursors.0[place].opened {
                    opened.buffer = buffer;
                }
            }
            CursorOperation::Close(name) => {
                let place = self.cursor_place(name)?;
                if self.context.cursors.0[place].opened.take().is_none() {
                    return Err(Box::new(SqlError::cursor_not_open()));
                }
            }
            CursorOperation::Deallocate(name) => {
                let place = self.cursor_place(name)?;
                self.release_cursor(place, &name.name.text, name.global);
            }
            CursorOperation::Share { variable, of } => self.share_cursor(variable, of)?,
        }
        self.context.state.row_count = 0;
        Ok(())
    }

    /// A name does not stand for the cursor at a place any more; a cursor without a name is gone.
    fn release_cursor(&mut self, place: usize, name: &str, global: bool) {
        let cursor = &mut self.context.cursors.0[place];
        let level =
            Some(self.context.state.nest_level).filter(|level| !global && cursor.answers_to(name, Some(*level)));
        if !cursor.keep_names(|own, own_level| own_level != level || !own.eq_ignore_ascii_case(name)) {
            self.context.cursors.0.remove(place);
        }
    }

    /// A variable stands for the cursor of a name from now on, and no more for the one before; for none where the other has none.
    fn share_cursor(&mut self, variable: &Arc<str>, of: &CursorName) -> Result<(), Fault> {
        let level = self.context.state.nest_level;
        let found = match self.cursor_place(of) {
            Err(_) if of.name.text.starts_with('@') => None,
            found => Some(found?),
        };
        if let Some(former) = self.context.cursors.place(variable, false, level) {
            if found == Some(former) {
                return Ok(());
            }
            self.release_cursor(former, variable, false);
        }
        if found.is_some() {
            let place = self.cursor_place(of)?;
            self.context.cursors.0[place].others.push((Arc::clone(variable), Some(level)));
        }
        Ok(())
    }

    /// # Errors
    /// 16951 for a cursor variable that has a cursor already.
    pub(super) fn check_no_cursor(&self, variable: &str) -> Result<(), Fault> {
        match self.context.cursors.place(variable, false, self.context.state.nest_level) {
            Some(_) => Err(Box::new(SqlError::cursor_argument_allocated(variable))),
            None => Ok(()),
        }
    }

    /// The running call ends: its parameters' cursors are its caller's.
    pub(super) fn return_cursors(&mut self, cursors: &[(String, String)]) {
        for (parameter, variable) in cursors {
            self.context.cursors.hand_over(parameter, variable, self.context.state.nest_level);
        }
    }

    pub(super) fn cursor_place(&self, name: &CursorName) -> Result<usize, Fault> {
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

    fn declare_cursor(&mut self, cursor: DeclaredCursor, replaces: bool) -> Result<(), Fault> {
        let (name, level) = (&cursor.name, cursor.level);
        if replaces {
            let other = |own: &str, own_level: Option<i32>| own_level != level || !own.eq_ignore_ascii_case(name);
            self.context.cursors.0.retain_mut(|cursor| cursor.keep_names(other));
        } else if self.context.cursors.0.iter().any(|other| other.answers_to(name, level)) {
            return Err(Box::new(SqlError::cursor_exists(&cursor.name)));
        }
        self.context.cursors.0.push(cursor);
        Ok(())
    }

    async fn open_cursor(&mut self, name: &CursorName) -> Result<(), Fault> {
        let place = self.cursor_place(name)?;
        if self.context.cursors.0[place].opened.is_some() {
            return Err(Box::new(SqlError::cursor_already_open()));
        }
        let opened = self.read_cursor(place).await?;
        let (rows, is_of_table) = (i32::try_from(opened.rows.len()).unwrap_or(i32::MAX), opened.table.is_some());
        self.context.state.cursor_rows = rows;
        // Reading the rows has run other statements of nobody's: the cursor is where it was.
        if let Some(cursor) = self.context.cursors.0.get_mut(place) {
            cursor.opened = Some(opened);
            // How many rows a dynamic cursor will show is not known.
            if is_of_table && cursor.kind() == CursorKind::Dynamic {
                self.context.state.cursor_rows = -1;
            }
        }
        Ok(())
    }

    /// Reads the rows of a cursor's query.
    pub(super) async fn read_cursor(&mut self, place: usize) -> Result<Opened, Fault> {
        let cursor = &self.context.cursors.0[place];
        let base = self.frame.slots.len();
        let (variables, values): (Vec<Variable>, Vec<Value>) = cursor.variables.iter().cloned().unzip();
        let variables = internal_names(base, variables);
        let kind = LateKind::Statement(Arc::clone(&cursor.query));
        let is_of_table = cursor.updates.is_some() || cursor.shows_changes();
        let (plan, below) = {
            let catalog = self.context.catalog();
            let trigger = self.frame.program.trigger.as_deref();
            let (host, variables) = (&*self.host, variables.as_slice());
            let names = bind::Names { variables, trigger, ..bind::Names::of(&catalog, host) };
            let query = match &cursor.query.kind {
                StatementKind::Select(query) if is_of_table => Some(query),
                _ => None,
            };
            match query.and_then(|query| bind::cursor_rows(query, &names, variables.len())) {
                Some((plan, below)) => (plan, Some(below)),
                None => (bind::bind(&kind, &names, variables.len())?, None),
            }
        };
        self.begin_cursor_rows(&plan)?;
        show_values(&mut self.frame.slots, base, values, plan.slots);
        let mut state = StatementState::default();
        let read = self.select_rows_in(&plan, &mut state).await;
        self.frame.slots.truncate(base);
        let (mut columns, mut rows) = read?;
        self.tell_eliminated(&state);
        let table = below.map(|below| taken_off(below, &mut columns, &mut rows));
        self.context.end_definition().await?;
        Ok(Opened { columns, rows, at: 0, table, buffer: 0..0 })
    }

    /// What a statement that reads a cursor's rows begins with.
    fn begin_cursor_rows(&mut self, plan: &plan::Statement) -> Result<(), Fault> {
        let owner = self.procedure_owner();
        self.context.refresh_security()?;
        self.context.check(&plan.requirements, owner)?;
        self.context.take_parts(&plan.others)?;
        self.context.begin_statement(false)
    }

    /// Reads rows of a cursor again, each as it is now; one that is gone has no values.
    async fn read_again(&mut self, name: &CursorName, rows: Range<usize>) -> Result<Vec<Vec<Value>>, Fault> {
        let place = self.cursor_place(name)?;
        let cursor = &self.context.cursors.0[place];
        let StatementKind::Select(query) = &cursor.query.kind else { return Ok(Vec::new()) };
        let checks = cursor.kind() == CursorKind::Dynamic;
        let base = self.frame.slots.len();
        let (variables, values): (Vec<Variable>, Vec<Value>) = cursor.variables.iter().cloned().unzip();
        let variables = internal_names(base, variables);
        let plan = {
            let catalog = self.context.catalog();
            let names = bind::Names { variables: &variables, ..bind::Names::of(&catalog, &*self.host) };
            bind::cursor_row_again(query, &names, variables.len(), name, checks)?
        };
        self.begin_cursor_rows(&plan)?;
        show_values(&mut self.frame.slots, base, values, plan.slots);
        let mut again = Vec::with_capacity(rows.len());
        let mut read = Ok(());
        for row in rows {
            let opened = self.context.cursors.0.get_mut(place).and_then(|cursor| cursor.opened.as_mut());
            opened.ok_or_else(SqlError::cursor_not_open)?.at = row + 1;
            match self.select_rows(&plan).await {
                Ok((_, mut rows)) => again.push(rows.pop().unwrap_or_default()),
                Err(fault) => {
                    read = Err(fault);
                    break;
                }
            }
        }
        self.frame.slots.truncate(base);
        read?;
        self.context.end_definition().await?;
        Ok(again)
    }

    /// The row that a cursor stands on, as it shows it; without values: it is gone. None: it stands on no row. A dynamic cursor goes on
    /// from one that is gone, backward or forward.
    pub(super) async fn shown_row(
        &mut self,
        name: &CursorName,
        place: usize,
        backward: bool,
    ) -> Result<Option<Vec<Value>>, Fault> {
        loop {
            // Reading a row again has run other statements of nobody's: the cursor is where it was.
            let Some(cursor) = self.context.cursors.0.get_mut(place) else { return Ok(None) };
            let (again, kind) = (cursor.shows_changes(), cursor.kind());
            let Some(opened) = &mut cursor.opened else { return Ok(None) };
            let Some(index) = opened.at.checked_sub(1).filter(|index| *index < opened.rows.len()) else {
                return Ok(None);
            };
            if !again || opened.table.is_none() {
                return Ok(Some(opened.rows[index].clone()));
            }
            let row = self.read_again(name, index..index + 1).await?.pop().unwrap_or_default();
            if !row.is_empty() || kind != CursorKind::Dynamic {
                return Ok(Some(row));
            }
            if let Some(opened) = self.context.cursors.0.get_mut(place).and_then(|cursor| cursor.opened.as_mut()) {
                opened.at = if backward { index } else { index + 2 };
            }
        }
    }

    async fn fetch(&mut self, name: &CursorName, to: &FetchTo, into: &[(usize, SqlType)]) -> Result<(), Fault> {
        let place = self.cursor_place(name)?;
        let count = match to {
            FetchTo::Absolute(expr) | FetchTo::Relative(expr) => self.fetch_count(expr)?,
            _ => 0,
        };
        let cursor = &mut self.context.cursors.0[place];
        let kind = cursor.kind();
        let is_dynamic = kind == CursorKind::Dynamic || kind == CursorKind::Unsaid && !cursor.scroll;
        if is_dynamic && matches!(to, FetchTo::Absolute(_)) {
            return Err(Box::new(SqlError::fetch_of_dynamic_cursor("Absolute")));
        }
        if !cursor.scroll && !matches!(to, FetchTo::Next) {
            return Err(Box::new(SqlError::fetch_needs_scroll("fetch", fetch_word(to))));
        }
        let Some(opened) = &mut cursor.opened else {
            return Err(Box::new(SqlError::cursor_not_open()));
        };
        if !into.is_empty() && into.len() != opened.columns.len() {
            return Err(Box::new(SqlError::cursor_variables_differ()));
        }
        let columns = opened.columns.clone();
        let row = self.fetched_row(name, place, to, count).await?;
        self.context.state.fetch_status = match &row {
            None => -1,
            Some(row) if row.is_empty() => -2,
            Some(_) => 0,
        };
        let mut row = row.filter(|row| !row.is_empty());
        self.context.state.row_count = i64::from(row.is_some());
        if into.is_empty() {
            match self.captures.last_mut() {
                None => {
                    self.send_columns(&columns)?;
                    if let Some(row) = &mut row {
                        self.send_row(row, &columns)?;
                    }
                }
                Some(capture) => {
                    capture.begin_result(&columns);
                    row.clone().into_iter().for_each(|row| capture.push(row));
                }
            }
            self.done(Done { rows: Some(u64::from(row.is_some())), kind: DoneKind::Select });
            return Ok(());
        }
        let Some(row) = row else { return Ok(()) };
        self.functions.code_page = self.context.database().code_page();
        for ((value, column), (slot, ty)) in row.iter().zip(&columns).zip(into) {
            self.functions.assign(value, &column.ty, ty, Target::Variable, &mut self.frame.slots[*slot])?;
        }
        Ok(())
    }

    /// A table of another database, as `##t` is one of tempdb, is read in the transaction's part there.
    fn take_part_of(&mut self, table: &Table) -> Result<(), Fault> {
        match table.residence() {
            Residence::Other(id) => self.context.take_parts(&[(id, 0)]),
            _ => Ok(()),
        }
    }

    /// The row that a cursor stands on, as it is now: its columns and its place.
    ///
    /// # Errors
    /// 16916, 16917, 16929 and their kin for a cursor that does not stand on such a row; 16934 for a row that somebody else
    /// has changed since the cursor was opened, 16947 for one that is gone.
    pub(super) async fn current_row(&mut self, current: &CurrentRow) -> Result<Vec<Value>, Fault> {
        let place = self.cursor_place(&current.cursor)?;
        let cursor = &self.context.cursors.0[place];
        let opened = cursor.opened.as_ref().ok_or_else(SqlError::cursor_not_open)?;
        let (Some(updates), Some(below)) = (&cursor.updates, &opened.table) else {
            return Err(Box::new(SqlError::cursor_read_only()));
        };
        below.check_table(&current.table)?;
        let may_set = |column: &String| updates.iter().any(|name| name.eq_ignore_ascii_case(column));
        if !updates.is_empty() && !current.sets.iter().all(may_set) {
            return Err(Box::new(SqlError::cursor_column_not_listed()));
        }
        let row = opened.at.checked_sub(1).and_then(|at| below.rows.get(at));
        let OpenedRow { place, digest } = row.ok_or_else(SqlError::cursor_has_no_row)?;
        let (place, digest) = (place.clone(), *digest);
        let (locator, mut writer) = (Locator::from_bytes(place.clone()), current.table.writer());
        let mut row = vec![Value::Null; current.table.columns.len()];
        self.context.begin_statement(true)?;
        self.take_part_of(&current.table)?;
        loop {
            let (database, tx) = self.context.engine();
            match database.try_read_current(tx, &current.table, &mut writer, &locator, &mut row).map_err(Stop::from) {
                Ok(true) => break,
                Ok(false) => return Err(Box::new(SqlError::no_rows_changed())),
                Err(Stop::Blocked(need)) => self.context.satisfy(need).await?,
                Err(Stop::Error(fault)) => return Err(fault),
                Err(_) => return Err(crate::errors::definition_changed()),
            }
        }
        if digest_of(&current.table, &row) != digest {
            return Err(Box::new(SqlError::cursor_row_changed()));
        }
        self.push_place(current, &locator, &mut row).await?;
        Ok(row)
    }

    /// The row that a cursor stands on, as the statement sees it, or no row when it is gone. From now on that is what the row was
    /// when it was read.
    pub(super) async fn current_row_again(&mut self, current: &CurrentRow) -> Result<Vec<Vec<Value>>, Fault> {
        let place = self.cursor_place(&current.cursor)?;
        let cursor = &self.context.cursors.0[place];
        let opened = cursor.opened.as_ref().ok_or_else(SqlError::cursor_not_open)?;
        let Some(below) = &opened.table else { return Err(Box::new(SqlError::cursor_read_only())) };
        let mode = if cursor.locks { ReadMode::Update } else { ReadMode::Shared };
        below.check_table(&current.table)?;
        let at = opened.at.checked_sub(1).ok_or_else(SqlError::cursor_has_no_row)?;
        let row = below.rows.get(at).ok_or_else(SqlError::cursor_has_no_row)?;
        let locator = Locator::from_bytes(row.place.clone());
        let wanted: Vec<usize> = (0..current.table.columns.len()).collect();
        let hints = ReadHints { mode, ..ReadHints::default() };
        let mut scan = current.table.scan(ScanRange::all(), &wanted).with_hints(hints);
        let mut row = vec![Value::Null; wanted.len()];
        self.take_part_of(&current.table)?;
        loop {
            let (database, tx) = self.context.engine();
            match database.try_get_at(tx, &current.table, &mut scan, &locator, &mut row).map_err(Stop::from) {
                Ok(true) => break,
                Ok(false) => return Ok(Vec::new()),
                Err(Stop::Blocked(need)) => self.context.satisfy(need).await?,
                Err(Stop::Error(fault)) => return Err(fault),
                Err(_) => return Err(crate::errors::definition_changed()),
            }
        }
        let digest = digest_of(&current.table, &row);
        self.push_place(current, &locator, &mut row).await?;
        let opened = self.context.cursors.0[place].opened.as_mut();
        if let Some(known) = opened.and_then(|opened| opened.table.as_mut()?.rows.get_mut(at)) {
            known.digest = digest;
        }
        Ok(vec![row])
    }

    /// Puts the locator of a row behind its columns, and what virtual columns say of it.
    async fn push_place(&mut self, current: &CurrentRow, locator: &Locator, row: &mut Vec<Value>) -> Result<(), Fault> {
        row.push(Value::Bin(locator.as_bytes().to_vec()));
        if !current.is_placed {
            return Ok(());
        }
        let place = loop {
            let (database, tx) = self.context.engine();
            match database.try_row_place(tx, &current.table, locator).map_err(Stop::from) {
                Ok(place) => break place,
                Err(Stop::Blocked(need)) => self.context.satisfy(need).await?,
                Err(Stop::Error(fault)) => return Err(fault),
                Err(_) => return Err(crate::errors::definition_changed()),
            }
        };
        row.push(place.map_or(Value::Null, |place| Value::Bin(place.to_bytes().to_vec())));
        row.push(Value::Str(locator.lock_description()));
        Ok(())
    }

    fn fetch_count(&mut self, expr: &Expr) -> Result<i64, Fault> {
        Ok(self.integer_value(expr)?.unwrap_or(0))
    }
}

impl OpenedTable {
    /// # Errors
    /// 16933 for a table that is not the cursor's, 16943 for one that has been altered since.
    pub(super) fn check_table(&self, table: &Table) -> Result<(), Fault> {
        let own = &self.below.table.engine;
        if own.object_id != table.object_id || own.residence() != table.residence() {
            return Err(Box::new(SqlError::cursor_of_another_table()));
        }
        if own.version() != table.version() {
            return Err(Box::new(SqlError::cursor_table_changed()));
        }
        Ok(())
    }
}

/// Takes from a cursor's rows what they have for changing the table below, behind their own columns.
fn taken_off(below: CursorTable, columns: &mut Vec<ColumnInfo>, rows: &mut [Vec<Value>]) -> OpenedTable {
    let visible = below.columns.len();
    columns.truncate(visible);
    let taken = rows.iter_mut().map(|row| {
        let mut hidden = row.split_off(visible);
        let place = match hidden.pop() {
            Some(Value::Bin(place)) => place,
            _ => Vec::new(),
        };
        OpenedRow { place, digest: digest_of_values(hidden.iter()) }
    });
    let rows = taken.collect();
    OpenedTable { below, rows }
}

/// A number that tells whether a row has changed, for all columns without long values.
pub(super) fn digest_of(table: &Table, row: &[Value]) -> u64 {
    let watched = table.columns.iter().zip(row).filter(|(column, _)| bind::is_watched(&column.ty));
    digest_of_values(watched.map(|(_, value)| value))
}

fn digest_of_values<'v>(values: impl Iterator<Item = &'v Value>) -> u64 {
    values.fold(0, |digest: u64, value| {
        digest.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ pikepole_types::hash(value, Collation::BINARY)
    })
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
