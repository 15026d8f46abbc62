//! The columns of the first result set that a program would send, told without running it: those of its first SELECT, or of
//! the first SELECT of a procedure that it calls before.

use super::{
    CompileContext, Execute, ExecuteTarget, Instruction, LateKind, ProcedureIdentity, Program, compile_procedure,
};
use crate::output::ColumnInfo;
use crate::plan;
use pikepole_engine::DBO;
use pikepole_tsql as tree;
use pikepole_types::SqlError;
use std::collections::HashMap;

/// Calls within each other, as many as run within each other.
const LEVELS_MAX: usize = 32;

/// An object that a name stands for is not there.
const OBJECT_MISSING: i32 = 208;

/// The columns of the first rows; None: there are no rows, or only what runs before them can tell.
type FirstColumns = Result<Option<Vec<ColumnInfo>>, SqlError>;

/// The procedures that were looked at, by number and text, and whether they give rows.
type Seen = HashMap<(i32, String), bool>;

/// Rows that may be the first, and what gives them.
struct First {
    columns: Vec<ColumnInfo>,
    statement: String,
    procedure: Option<String>,
}

impl Program {
    /// The columns of the first rows that go to the client, whichever way the program takes.
    ///
    /// # Errors
    /// 11525 and 11526 for a statement that reads or changes a temporary table, which is not there before the text runs; 208 for any
    /// other table that is not there; 11513 and 11514 for a text that is made when it runs; 11509 to 11512 for ways whose first rows
    /// have other columns.
    pub(crate) fn first_columns(&self, context: &CompileContext<'_>) -> FirstColumns {
        let mut firsts = self.firsts(context, LEVELS_MAX, &mut Seen::new())?.into_iter();
        let Some(first) = firsts.next() else { return Ok(None) };
        let mut columns = first.columns.clone();
        for other in firsts {
            let is_same = |(a, b): (&ColumnInfo, &ColumnInfo)| a.ty.system_type_id() == b.ty.system_type_id();
            if columns.len() != other.columns.len() || !columns.iter().zip(&other.columns).all(is_same) {
                return Err(conflict(&first, &other));
            }
            for (column, other) in columns.iter_mut().zip(other.columns) {
                column.nullable |= other.nullable;
                if column.name != other.name {
                    column.name.clear();
                }
            }
        }
        Ok(Some(columns))
    }

    /// What may be the first rows: one for each way, in the order of the text.
    fn firsts(&self, context: &CompileContext<'_>, levels: usize, seen: &mut Seen) -> Result<Vec<First>, SqlError> {
        let mut is_reached = vec![false; self.instructions.len()];
        let (mut open, mut firsts) = (vec![0], Vec::new());
        while let Some(at) = open.pop() {
            let Some(instruction) = self.instructions.get(at).filter(|_| !is_reached[at]) else { continue };
            is_reached[at] = true;
            match instruction {
                _ if self.gives_rows(at, instruction, context, (levels, &mut *seen), &mut firsts)? => {}
                Instruction::Jump(to) | Instruction::Leave(to, _) => open.push(*to),
                Instruction::JumpUnless(_, to) => open.extend([*to, at + 1]),
                Instruction::Return(_) | Instruction::Throw(_) => {}
                _ => open.push(at + 1),
            }
        }
        Ok(firsts)
    }

    /// Whether an instruction gives rows, which become some of the first.
    fn gives_rows(
        &self,
        at: usize,
        instruction: &Instruction,
        context: &CompileContext<'_>,
        (levels, seen): (usize, &mut Seen),
        firsts: &mut Vec<First>,
    ) -> Result<bool, SqlError> {
        let is_captured = at > 0 && matches!(self.instructions[at - 1], Instruction::Capture);
        let columns = match instruction {
            Instruction::Statement(late) => match self.columns_of(*late) {
                None => self.check_is_known(*late)?,
                columns => columns,
            },
            // The rows of INSERT ... EXEC go to no client.
            Instruction::Execute(_) | Instruction::ExecuteText(_) if is_captured => None,
            Instruction::Promise(sets) => sets.first().cloned(),
            Instruction::ExecuteText(_) => return Err(self.dynamic_text(at)),
            Instruction::Execute(call) if levels > 0 => {
                return gives_rows_when_called(call, context, (levels - 1, seen), firsts);
            }
            _ => None,
        };
        let gives = columns.is_some();
        firsts.extend(columns.map(|columns| First {
            columns,
            statement: self.statement_at(at).trim_end_matches(is_end).to_owned(),
            procedure: self.procedure.as_ref().map(|procedure| procedure.name.to_string()),
        }));
        Ok(gives)
    }

    fn statement_at(&self, at: usize) -> &str {
        let text = self.source.as_ref().map_or("", |source| &source.text);
        self.spans.get(at).and_then(|span| text.get(span.range())).unwrap_or_default()
    }

    /// # Errors
    /// 11525 and 11526 for a statement that is not bound, because it names a temporary table; 208 for another table.
    fn check_is_known(&self, late: usize) -> FirstColumns {
        let late = &self.late[late];
        let is_bound = late.plan.lock().unwrap_or_else(|e| e.into_inner()).is_some();
        if is_bound || matches!(late.kind, LateKind::Into(_)) {
            return Ok(None);
        }
        if !tree::names_temporary(&late.text) {
            let missing = late.missing.as_ref().filter(|missing| missing.number == OBJECT_MISSING);
            return missing.map_or(Ok(None), |missing| Err((**missing).clone()));
        }
        let statement = late.text.trim_end_matches(is_end);
        Err(match &self.procedure {
            None => SqlError::temporary_table_in_metadata(statement),
            Some(procedure) => SqlError::temporary_table_in_metadata_of_procedure(statement, &procedure.name),
        })
    }

    fn dynamic_text(&self, at: usize) -> SqlError {
        let statement = self.statement_at(at);
        match &self.procedure {
            None => SqlError::dynamic_text_in_metadata(statement),
            Some(procedure) => SqlError::dynamic_text_in_metadata_of_procedure(statement, &procedure.name),
        }
    }

    fn columns_of(&self, late: usize) -> Option<Vec<ColumnInfo>> {
        let plan = self.late[late].plan.lock().unwrap_or_else(|e| e.into_inner()).clone()?;
        match &plan.action {
            plan::Action::Select { columns, .. } => Some(columns.clone()),
            action => action.output().map(|output| output.columns.clone()).filter(|columns| !columns.is_empty()),
        }
    }
}

/// What may stand behind a statement.
fn is_end(c: char) -> bool {
    c == ';' || c.is_whitespace()
}

fn conflict(first: &First, other: &First) -> SqlError {
    let (one, two) = (&first.statement, &other.statement);
    match (&first.procedure, &other.procedure) {
        (None, None) => SqlError::conflict_in_metadata(one, two),
        (None, Some(of_two)) => SqlError::conflict_with_procedure_in_metadata(one, two, of_two),
        (Some(of_one), None) => SqlError::conflict_of_procedure_in_metadata(one, of_one, two),
        (Some(of_one), Some(of_two)) => SqlError::conflict_of_procedures_in_metadata(one, of_one, two, of_two),
    }
}

/// Whether the procedure that is called by its name gives rows: not if it is the server's, is not known or cannot be compiled. Each is
/// looked at once, by all its callers, itself included.
fn gives_rows_when_called(
    call: &Execute,
    context: &CompileContext<'_>,
    (levels, seen): (usize, &mut Seen),
    firsts: &mut Vec<First>,
) -> Result<bool, SqlError> {
    let ExecuteTarget::Named(name) = &call.target else { return Ok(false) };
    let Ok(Some(place)) = context.catalog.place(name) else { return Ok(false) };
    let Some(found) = place.view.catalog.procedure(&place.schema, &place.name).cloned() else { return Ok(false) };
    let key = (found.object_id, found.text.to_string());
    if let Some(gives) = seen.get(&key) {
        return Ok(*gives);
    }
    seen.insert(key.clone(), false);
    let owner = place.view.catalog.schema_by_id(found.schema_id).map_or(DBO, |schema| schema.owner);
    let context =
        CompileContext { catalog: place.view.of_module(&found), undeclared: None, undetermined: None, ..*context };
    let Ok(program) = compile_procedure(&found.text, ProcedureIdentity::of(&found, owner), &context) else {
        return Ok(false);
    };
    let own = program.firsts(&context, levels, seen)?;
    let gives = !own.is_empty();
    seen.insert(key, gives);
    firsts.extend(own);
    Ok(gives)
}
