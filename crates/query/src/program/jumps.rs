//! GOTO: labels, and the TRY and CATCH blocks that none leads into.

use super::Instruction;
use super::compile::Compiler;
use crate::expression::Fault;
use pikepole_tsql as tree;
use pikepole_types::SqlError;

/// Where a GOTO leads.
struct Label {
    name: String,
    target: usize,
    catch_depth: usize,
    /// The blocks that it is in, outermost first.
    guarded: Vec<usize>,
}

/// A GOTO whose target is known when all is compiled.
struct Goto {
    instruction: usize,
    name: tree::Name,
    guarded: Vec<usize>,
}

/// The labels and GOTOs of what is being compiled.
#[derive(Default)]
pub(super) struct Jumps {
    labels: Vec<Label>,
    gotos: Vec<Goto>,
    /// The TRY and CATCH blocks around what is compiled, by number, and how many there were.
    guarded: Vec<usize>,
    guarded_count: usize,
}

impl Jumps {
    pub(super) fn goto(&mut self, instruction: usize, name: &tree::Name) {
        self.gotos.push(Goto { instruction, name: name.clone(), guarded: self.guarded.clone() });
    }
}

impl Compiler<'_> {
    pub(super) fn label(&mut self, name: &tree::Name) -> Result<(), Fault> {
        if self.jumps.labels.iter().any(|label| name.is(&label.name)) {
            return Err(Box::new(SqlError::label_declared_twice(&name.text)));
        }
        let (target, catch_depth) = (self.here(), self.catch_depth);
        let guarded = self.jumps.guarded.clone();
        self.jumps.labels.push(Label { name: name.text.clone(), target, catch_depth, guarded });
        Ok(())
    }

    /// The statements of a TRY or CATCH block, into which no GOTO leads.
    pub(super) fn guarded_statements(&mut self, statements: &[tree::Statement]) {
        self.jumps.guarded.push(self.jumps.guarded_count);
        self.jumps.guarded_count += 1;
        self.statements(statements);
        self.jumps.guarded.pop();
    }

    /// Gives every GOTO its target.
    pub(super) fn resolve_gotos(&mut self) {
        for goto in std::mem::take(&mut self.jumps.gotos) {
            let name = &goto.name;
            let error = match self.jumps.labels.iter().find(|label| name.is(&label.name)) {
                Some(label) if goto.guarded.starts_with(&label.guarded) => {
                    self.instructions[goto.instruction] = Instruction::Leave(label.target, label.catch_depth);
                    continue;
                }
                Some(_) => SqlError::goto_into_guarded(),
                None => SqlError::label_unknown(&name.text),
            };
            self.errors.push(error.at_line(name.span.line));
        }
    }
}
