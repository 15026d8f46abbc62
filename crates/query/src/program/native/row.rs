//! Machine code that makes the keys and the bytes of the rows that an INSERT puts into an in-memory table.
//!
//! ```text
//!   INSERT INTO t (id, at, name, n) VALUES (@first + @i, GETDATE(), 'x', 1)
//!            variables, inputs ──► key: id, eight bytes     bytes: bitmap | id | at | 1 x 1
//! ```
//! Columns that change are expressions of integers over variables, the present time, and the identity column. A value that fails, or is NULL where
//! none may be, leaves to the machine, which evaluates the row as of any INSERT and raises the error.

use pikepole_engine::RowRecipe;
use pikepole_native::{Builder, Code, Form, INPUTS, KeyForm, NativeError, Word};
use pikepole_types::{KeyPiece, NumberForm, RestPiece, SqlType};

use super::{Lowering, PARTS_MAX, native_width, shape};
use crate::expression::{Expr, Width};
use crate::plan::{Clock, ColumnSource, Insert, RowCode};
use crate::program::Program;

/// Numbers in the keys and the bytes of a row that is compiled, and bytes of its constants: the generator takes its time for each, in which the
/// scheduler runs nothing else.
const NUMBERS_MAX: usize = 100;
const CONSTANT_BYTES_MAX: usize = 2_000;

/// Tells if a row has few pieces enough to be compiled.
fn is_short(recipe: &RowRecipe) -> bool {
    let of_keys = recipe.keys.iter().flatten().map(|piece| match piece {
        KeyPiece::Bytes(bytes) => (0, bytes.len()),
        KeyPiece::Number { .. } => (1, 0),
    });
    let of_rest = recipe.rest.iter().map(|piece| match piece {
        RestPiece::Bytes(bytes) => (0, bytes.len()),
        RestPiece::Number { .. } => (1, 0),
    });
    let (numbers, bytes) =
        of_keys.chain(of_rest).fold((0, 0), |(numbers, bytes), (number, more)| (numbers + number, bytes + more));
    numbers <= NUMBERS_MAX && bytes <= CONSTANT_BYTES_MAX
}

/// The code for the rows of a statement of a program; None: it has columns that are not compiled, or is long.
pub(crate) fn row_code_of(program: &Program, insert: &Insert) -> Option<RowCode> {
    let sources = insert.rows.first()?;
    let is_constant = |column: usize| matches!(sources[column], ColumnSource::Template);
    let recipe = insert.table.engine.row_recipe(&insert.template, is_constant).filter(is_short)?;
    let lowering = Lowering { program, builder: Builder::new(shape(), 1).ok()?, parts_left: PARTS_MAX };
    let mut row = RowLowering { lowering, clocks: Vec::new(), identity: None, inputs: 0 };
    row.lowering.builder.begin(0);
    let words = sources.iter().enumerate().map(|(column, source)| match source {
        ColumnSource::Template => Some(None),
        source => row.word(source, &insert.table.columns[column].ty).map(Some),
    });
    let words: Vec<Option<Word>> = words.collect::<Option<_>>()?;
    row.put(&recipe, &words)?;
    let RowLowering { lowering, clocks, identity, .. } = row;
    let code: Result<Code, NativeError> = lowering.builder.finish();
    Some(RowCode { code: code.ok()?, recipe, clocks: clocks.into(), identity })
}

struct RowLowering<'p> {
    lowering: Lowering<'p>,
    clocks: Vec<(usize, Clock)>,
    identity: Option<usize>,
    inputs: usize,
}

impl RowLowering<'_> {
    fn input(&mut self) -> Option<usize> {
        let own = self.inputs;
        self.inputs += 1;
        (own < INPUTS).then_some(own)
    }

    /// The number of a column's value; None: it is not compiled.
    fn word(&mut self, source: &ColumnSource, ty: &SqlType) -> Option<Word> {
        match (source, Width::of(ty)) {
            (ColumnSource::Value(expr), Some(width)) => {
                let word = self.lowering.value(expr, width)?;
                Some(self.lowering.builder.narrow(word, native_width(width)))
            }
            (ColumnSource::Value(Expr::Call(call)), None) => {
                let clock = Clock::of(call.function.name, ty)?;
                let input = self.input()?;
                self.clocks.push((input, clock));
                Some(self.lowering.builder.input(input))
            }
            (ColumnSource::Identity, Some(width)) => {
                let input = self.input()?;
                self.identity = Some(input);
                let word = self.lowering.builder.input(input);
                Some(self.lowering.builder.narrow(word, native_width(width)))
            }
            _ => None,
        }
    }

    /// Puts the pieces together.
    fn put(&mut self, recipe: &RowRecipe, words: &[Option<Word>]) -> Option<()> {
        let builder = &mut self.lowering.builder;
        let mut offset = 0;
        for piece in recipe.keys.iter().flatten() {
            match *piece {
                KeyPiece::Bytes(ref bytes) => {
                    builder.put_key_bytes(offset, bytes);
                    offset += bytes.len();
                }
                KeyPiece::Number { column, bytes, is_signed, descending } => {
                    builder.put_key_number(offset, words[column]?, KeyForm { bytes, is_signed, descending });
                    offset += bytes;
                }
            }
        }
        let mut end = builder.begin_row();
        for piece in &recipe.rest {
            end = match *piece {
                RestPiece::Bytes(ref bytes) => builder.put_bytes(end, bytes),
                RestPiece::Number { column, form, null_bit } => match null_bit {
                    Some(bit) => builder.put_nullable(end, words[column]?, native_form(form), bit),
                    None => builder.put_number(end, words[column]?, native_form(form)),
                },
            };
        }
        builder.end_row(end);
        Some(())
    }
}

fn native_form(form: NumberForm) -> Form {
    match form {
        NumberForm::Byte => Form::Byte,
        NumberForm::Varint => Form::Varint,
        NumberForm::Zigzag => Form::Zigzag,
    }
}
