//! Whether a filtered index has every row that a condition can hold for: each of its tests must follow from what the condition says of
//! that column by constants. Plans are shared, so what a variable's value would imply is no help.

use crate::access::{Index, Table};
use crate::expression::{Comparison, Expr, Integer, Predicate, Width};
use crate::plan::Registers;
use pikepole_engine::{FilterOp, Passes};
use pikepole_types::{Collation, SqlType, Value};

/// Whether all rows for which all of `conditions` hold are in the index.
pub(crate) fn has_rows_of(table: &Table, index: &Index, registers: Registers, conditions: &[Predicate]) -> bool {
    if index.not_null.is_empty() && index.tests.is_empty() {
        return true;
    }
    let mut said = Said { table, registers, passes: Vec::new(), not_null: Vec::new() };
    conditions.iter().for_each(|condition| said.note(condition));
    index.not_null.iter().all(|column| said.not_null.contains(column))
        && index.tests.iter().all(|test| {
            said.passes.iter().any(|(column, passes)| *column == test.column && test.passes.takes_all_of(passes))
        })
}

/// What conditions say of single columns.
struct Said<'t> {
    table: &'t Table,
    registers: Registers,
    passes: Vec<(usize, Passes)>,
    not_null: Vec<usize>,
}

impl Said<'_> {
    fn note(&mut self, condition: &Predicate) {
        match condition {
            Predicate::And(all) => all.iter().for_each(|condition| self.note(condition)),
            Predicate::Integers(op, operands) => {
                let [left, right] = operands.as_ref();
                self.integers(*op, left, right);
                self.integers(op.flipped(), right, left);
            }
            Predicate::Values(op, operands, collation) => {
                let [left, right] = operands.as_ref();
                self.values(*op, left, right, *collation);
                self.values(op.flipped(), right, left, *collation);
            }
            Predicate::InIntegers(operand, list, _) => {
                if let Integer::Slot(slot) = operand.as_ref()
                    && let Some(column) = self.column(*slot)
                {
                    self.not_null.push(column);
                    let bytes = list.iter().filter_map(|number| self.integer_bytes(column, *number));
                    let among = Passes::Among(bytes.collect());
                    self.passes.push((column, among));
                }
            }
            Predicate::InValues(operand, list, collation) => {
                if let Expr::Slot(slot) = operand.as_ref()
                    && let Some(column) = self.column(*slot)
                {
                    self.not_null.push(column);
                    let bytes = list.iter().map(|item| self.bytes(column, item, *collation));
                    if let Some(among) = bytes.collect() {
                        self.passes.push((column, Passes::Among(among)));
                    }
                }
            }
            Predicate::IsNull(operand) => {
                if let Expr::Slot(slot) = operand.as_ref()
                    && let Some(column) = self.column(*slot)
                {
                    self.passes.push((column, Passes::Null));
                }
            }
            Predicate::Not(inner) => {
                if let Predicate::IsNull(operand) = inner.as_ref() {
                    self.is_compared(operand);
                }
            }
            Predicate::Like { operands, .. } => self.is_compared(&operands[0]),
            Predicate::LikeConst(operand, _) => self.is_compared(operand),
            _ => {}
        }
    }

    /// The column that a slot holds, if it is one of the table's.
    fn column(&self, slot: usize) -> Option<usize> {
        slot.checked_sub(self.registers.first).filter(|column| *column < self.table.columns.len())
    }

    /// A condition that no NULL meets is about this operand.
    fn is_compared(&mut self, operand: &Expr) {
        if let Expr::Slot(slot) = operand
            && let Some(column) = self.column(*slot)
        {
            self.not_null.push(column);
        }
    }

    fn integers(&mut self, op: Comparison, operand: &Integer, other: &Integer) {
        let Integer::Slot(slot) = operand else { return };
        let Some(column) = self.column(*slot) else { return };
        self.not_null.push(column);
        if let Integer::Const(Some(number)) = other
            && let Some(bytes) = self.integer_bytes(column, *number)
        {
            self.passes.push((column, Passes::Compared(operator(op), bytes)));
        }
    }

    fn values(&mut self, op: Comparison, operand: &Expr, other: &Expr, collation: Collation) {
        let Expr::Slot(slot) = operand else { return };
        let Some(column) = self.column(*slot) else { return };
        self.not_null.push(column);
        if let Some(bytes) = self.bytes(column, other, collation) {
            self.passes.push((column, Passes::Compared(operator(op), bytes)));
        }
    }

    /// The bytes of an integer that the column's type has.
    fn integer_bytes(&self, column: usize, number: i64) -> Option<Vec<u8>> {
        let width = Width::of(&self.table.columns[column].ty).filter(|width| width.fits(number))?;
        self.table.engine.constant_bytes(column, &width.value(number))
    }

    /// The bytes of a constant that compares with the column as the bytes do.
    fn bytes(&self, column: usize, constant: &Expr, collation: Collation) -> Option<Vec<u8>> {
        let Expr::Const(value) = constant else { return None };
        let own = &self.table.engine.row_layout().columns()[column];
        match (value, &own.ty) {
            (Value::Str(_), ty) if !ty.is_string() || own.collation.comparing(ty) != collation => None,
            // Digits that the column has not would be rounded away.
            (Value::Decimal(number), SqlType::Decimal { scale, .. }) if number.scale() > *scale => None,
            _ => self.table.engine.constant_bytes(column, value),
        }
    }
}

fn operator(op: Comparison) -> FilterOp {
    match op {
        Comparison::Equal => FilterOp::Equal,
        Comparison::NotEqual => FilterOp::NotEqual,
        Comparison::Less => FilterOp::Less,
        Comparison::LessOrEqual => FilterOp::LessOrEqual,
        Comparison::Greater => FilterOp::Greater,
        Comparison::GreaterOrEqual => FilterOp::GreaterOrEqual,
    }
}
