//! Plans as rows, one for each operator, with the tree drawn in front.

use super::{Shown, ShownStatement};
use crate::output::ColumnInfo;
use pikepole_types::{Length, SqlType, Value};

const TEXT: SqlType = SqlType::NVarChar(Length::Max);
const NAME: SqlType = SqlType::NVarChar(Length::Limit(60));

/// Whether rows have in front what operators did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statistics {
    /// SHOWPLAN_ALL
    Without,
    /// STATISTICS PROFILE
    With,
}

/// The columns of SHOWPLAN_TEXT.
pub(crate) fn text_columns() -> Vec<ColumnInfo> {
    vec![ColumnInfo::new("StmtText", TEXT, true)]
}

/// The columns of SHOWPLAN_ALL and STATISTICS PROFILE.
pub(crate) fn columns(statistics: Statistics) -> Vec<ColumnInfo> {
    let counted: &[(&str, SqlType)] = match statistics {
        Statistics::With => &[("Rows", SqlType::BigInt), ("Executes", SqlType::BigInt)],
        Statistics::Without => &[],
    };
    let planned = [
        ("StmtText", TEXT),
        ("StmtId", SqlType::Int),
        ("NodeId", SqlType::Int),
        ("Parent", SqlType::Int),
        ("PhysicalOp", NAME),
        ("LogicalOp", NAME),
        ("Argument", TEXT),
        ("DefinedValues", TEXT),
        ("EstimateRows", SqlType::Float),
        ("EstimateIO", SqlType::Float),
        ("EstimateCPU", SqlType::Float),
        ("AvgRowSize", SqlType::Int),
        ("TotalSubtreeCost", SqlType::Float),
        ("OutputList", TEXT),
        ("Warnings", TEXT),
        ("Type", NAME),
        ("Parallel", SqlType::Bit),
        ("EstimateExecutions", SqlType::Float),
    ];
    counted.iter().chain(&planned).map(|(name, ty)| ColumnInfo::new(*name, *ty, true)).collect()
}

/// The statement's text alone, and then the lines of its tree.
pub(crate) fn text_rows(statement: &ShownStatement) -> (Vec<Vec<Value>>, Vec<Vec<Value>>) {
    let mut lines = Vec::new();
    draw(&statement.plan, &mut |line| lines.push(vec![Value::Str(line)]));
    (vec![vec![Value::Str(statement.text.clone())]], lines)
}

/// The statement's row and those of its operators.
pub(crate) fn rows(statement: &ShownStatement, statistics: Statistics) -> Vec<Vec<Value>> {
    let rows = vec![statement_row(statement, statistics)];
    let mut lines = Vec::new();
    draw(&statement.plan, &mut |line| lines.push(line));
    let mut made = Numbered { statement: statement.number, statistics, lines: lines.into_iter(), last: 1, rows };
    made.operator(&statement.plan, 1);
    made.rows
}

/// The rows of operators while they are made.
struct Numbered {
    statement: i32,
    statistics: Statistics,
    /// What is drawn of the operators to come.
    lines: std::vec::IntoIter<String>,
    /// The number of the last operator.
    last: i32,
    rows: Vec<Vec<Value>>,
}

fn statement_row(statement: &ShownStatement, statistics: Statistics) -> Vec<Value> {
    let mut row = Vec::new();
    if statistics == Statistics::With {
        row.push(statement.rows.map_or(Value::Null, count));
        row.push(Value::BigInt(1));
    }
    let estimate = statement.plan.estimate;
    row.extend([
        Value::Str(statement.text.clone()),
        Value::Int(statement.number),
        Value::Int(1),
        Value::Int(0),
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Null,
        estimate.map_or(Value::Null, |size| Value::Float(size.rows)),
        Value::Null,
        Value::Null,
        Value::Null,
        estimate.map_or(Value::Null, |size| Value::Float(size.total())),
        Value::Null,
        Value::Null,
        Value::Str(statement.kind.to_owned()),
        Value::Bit(false),
        Value::Null,
    ]);
    row
}

impl Numbered {
    fn operator(&mut self, shown: &Shown, parent: i32) {
        self.last += 1;
        let node = self.last;
        let mut row = Vec::new();
        if self.statistics == Statistics::With {
            row.push(shown.counted.map_or(Value::Null, |counted| count(counted.rows)));
            row.push(shown.counted.map_or(Value::Null, |counted| count(counted.openings)));
        }
        let text = |text: String| if text.is_empty() { Value::Null } else { Value::Str(text) };
        let number = |number: Option<f64>| number.map_or(Value::Null, Value::Float);
        row.extend([
            Value::Str(self.lines.next().unwrap_or_default()),
            Value::Int(self.statement),
            Value::Int(node),
            Value::Int(parent),
            Value::Str(shown.physical.to_owned()),
            Value::Str(shown.logical.to_owned()),
            text(shown.argument()),
            text(shown.defined_text()),
            number(shown.estimate.map(|size| size.rows)),
            Value::Null,
            Value::Null,
            Value::Null,
            number(shown.estimate.map(|size| size.total())),
            text(shown.output.join(", ")),
            Value::Null,
            Value::Str("PLAN_ROW".to_owned()),
            if shown.may_share && !shown.parallel { Value::Null } else { Value::Bit(shown.parallel) },
            number(shown.executions),
        ]);
        self.rows.push(row);
        for input in &shown.inputs {
            self.operator(input, node);
        }
    }
}

fn count(count: u64) -> Value {
    Value::BigInt(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Gives the lines of a tree, each operator behind `|--`; a line runs down to the siblings below.
fn draw(shown: &Shown, line: &mut dyn FnMut(String)) {
    line(format!("  |--{}", operator_text(shown)));
    draw_inputs(shown, "     ", line);
}

fn draw_inputs(shown: &Shown, before: &str, line: &mut dyn FnMut(String)) {
    for (place, input) in shown.inputs.iter().enumerate() {
        line(format!("{before}  |--{}", operator_text(input)));
        let side = if place + 1 < shown.inputs.len() { "  |  " } else { "     " };
        draw_inputs(input, &format!("{before}{side}"), line);
    }
}

/// `Hash Match(Inner Join, HASH:(...))`
fn operator_text(shown: &Shown) -> String {
    // What these are for is told with them; all others say it by what they are.
    let purpose =
        matches!(shown.physical, "Nested Loops" | "Hash Match" | "Parallelism").then(|| shown.logical.to_owned());
    let argument = Some(shown.argument()).filter(|argument| !argument.is_empty());
    let inner: Vec<String> = purpose.into_iter().chain(argument).collect();
    if inner.is_empty() { shown.physical.to_owned() } else { format!("{}({})", shown.physical, inner.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(physical: &'static str, inputs: Vec<Shown>) -> Shown {
        Shown { physical, logical: physical, inputs, ..Shown::default() }
    }

    #[test]
    fn lines_run_down_to_the_siblings_below() {
        let left = shown("Sort", vec![shown("Filter", vec![shown("Constant Scan", Vec::new())])]);
        let tree = shown("Concatenation", vec![left, shown("Top", vec![shown("Constant Scan", Vec::new())])]);
        let mut lines = Vec::new();
        draw(&tree, &mut |line| lines.push(line));
        let expected = [
            "  |--Concatenation",
            "       |--Sort",
            "       |    |--Filter",
            "       |         |--Constant Scan",
            "       |--Top",
            "            |--Constant Scan",
        ];
        assert_eq!(lines, expected);
    }
}
