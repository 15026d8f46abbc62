//! Expressions and conditions as the texts of plans have them.

use std::collections::HashMap;
use std::fmt::Write;

use crate::access::Table;
use crate::expression::{Case, Comparison, Expr, Integer, IntegerOp, Predicate};
use crate::host::Host;
use crate::plan::{Action, Aggregate, Node, Scan, SortKey, Statement};
use crate::program::Variable;
use pikepole_clr::Form;
use pikepole_tsql::bracketed;
use pikepole_types::{ArithmeticOp, SqlType, Value, write_text};

/// What the slots of a statement are called: variables and columns by their names, all others `[Expr1005]`.
pub(super) struct SlotNames<'a> {
    names: HashMap<usize, String>,
    host: &'a dyn Host,
}

/// The number of the first slot that has no name of its own, as people are used to it.
const FIRST_EXPRESSION: usize = 1000;

impl<'a> SlotNames<'a> {
    pub(super) fn new(plan: &Statement, variables: &[Variable], host: &'a dyn Host) -> SlotNames<'a> {
        let mut names = HashMap::new();
        let named = variables.iter().enumerate().filter(|(_, variable)| !variable.name.is_empty());
        for (slot, variable) in named {
            names.insert(slot, format!("[{}]", variable.name));
        }
        match &plan.action {
            Action::Update(update) => {
                name_columns(&update.changed.table, None, update.changed.registers.first, &mut names);
            }
            Action::Delete(delete) => {
                name_columns(&delete.changed.table, None, delete.changed.registers.first, &mut names);
            }
            Action::Change(change) => name_columns(&change.table, None, change.registers.first, &mut names),
            Action::Select { .. } | Action::Assign { .. } | Action::Insert(_) | Action::Instead(_) => {}
        }
        // What FROM calls a table is nearer to the reader than its own name.
        plan.source.visit_nodes(&mut |node| {
            if let Node::Scan(scan) = node {
                name_columns(&scan.table, scan.alias.as_deref(), scan.registers.first, &mut names);
                name_place(scan, &mut names);
            }
        });
        SlotNames { names, host }
    }

    pub(super) fn slot(&self, slot: usize) -> String {
        self.names.get(&slot).cloned().unwrap_or_else(|| format!("[Expr{}]", FIRST_EXPRESSION + slot))
    }

    pub(super) fn text(&self, expr: &Expr) -> String {
        let mut out = String::new();
        self.expr(expr, &mut out);
        out
    }

    /// Several expressions, with commas between them.
    pub(super) fn list(&self, exprs: &[Expr]) -> String {
        let texts: Vec<String> = exprs.iter().map(|expr| self.text(expr)).collect();
        texts.join(", ")
    }

    pub(super) fn condition(&self, predicate: &Predicate) -> String {
        let mut out = String::new();
        self.predicate(predicate, &mut out);
        out
    }

    pub(super) fn count(&self, count: &Integer) -> String {
        let mut out = String::new();
        self.integer(count, &mut out);
        out
    }

    /// `[x] ASC, [y] DESC`
    pub(super) fn keys(&self, keys: &[SortKey]) -> String {
        let way = |key: &SortKey| if key.descending { "DESC" } else { "ASC" };
        let texts: Vec<String> = keys.iter().map(|key| format!("{} {}", self.text(&key.expr), way(key))).collect();
        texts.join(", ")
    }

    pub(super) fn aggregate(&self, aggregate: &Aggregate) -> String {
        let distinct = if aggregate.distinct { "DISTINCT " } else { "" };
        let input = aggregate.input.as_ref().map_or_else(|| "*".to_owned(), |input| self.text(input));
        let separator = aggregate.separator.as_ref().map(|separator| format!(",{}", self.text(separator)));
        format!("{}({distinct}{input}{})", aggregate.function.name(), separator.unwrap_or_default())
    }

    fn expr(&self, expr: &Expr, out: &mut String) {
        match expr {
            Expr::Const(value) => constant(value, out),
            Expr::Slot(slot) => out.push_str(&self.slot(*slot)),
            Expr::Integer(integer, _) | Expr::Whole(integer, _) => self.integer(integer, out),
            Expr::Short(short) => self.expr(&short.exact, out),
            Expr::Global(global) => out.push_str(global.name()),
            Expr::Arithmetic(arithmetic) => {
                let [left, right] = &arithmetic.operands;
                self.expr(left, out);
                out.push_str(operator(arithmetic.op));
                self.expr(right, out);
            }
            Expr::Chain(chain) => chain.trees().for_each(|tree| self.expr(tree, out)),
            // What stands before it is its text.
            Expr::Carried => {}
            Expr::Negate(input) => {
                out.push('-');
                self.expr(input, out);
            }
            Expr::Complement(input) => {
                out.push('~');
                self.expr(input, out);
            }
            Expr::Convert(convert) => {
                let style = convert.style.as_ref().map_or_else(|| "0".to_owned(), |style| self.text(style));
                let verb = if convert.lenient { "TRY_CONVERT" } else { "CONVERT" };
                self.conversion(verb, &convert.to, &convert.input, &style, out);
            }
            Expr::Assign(assign) if assign.from == assign.to => self.expr(&assign.input, out),
            Expr::Assign(assign) => self.conversion("CONVERT_IMPLICIT", &assign.to, &assign.input, "0", out),
            Expr::Call(call) => self.call(&call.function.name.to_lowercase(), &call.arguments, out),
            Expr::Host(id, arguments) => {
                self.call(self.host.function_name(*id).unwrap_or("function"), arguments, out);
            }
            Expr::Case(case) => self.case(case, out),
            Expr::Coalesce(choices) => self.call("coalesce", choices, out),
            Expr::Truth(predicate) => self.predicate(predicate, out),
            Expr::Xml(method) => {
                self.expr(&method.receiver, out);
                out.push('.');
                self.call(method.method.name(), &method.inputs, out);
            }
            Expr::Masked(masked) if masked.mask.is_none() => self.expr(&masked.input, out),
            Expr::Masked(masked) => self.call("DataMask", std::slice::from_ref(&masked.input), out),
            Expr::Clr(call) => {
                match &call.receiver {
                    None => out.push_str(&format!("{}::", call.ty.name())),
                    Some(receiver) => {
                        self.expr(receiver, out);
                        out.push('.');
                    }
                }
                match call.method.form {
                    Form::Property | Form::StaticProperty => out.push_str(call.method.name),
                    _ => self.call(call.method.name, &call.arguments, out),
                }
            }
        }
    }

    fn conversion(&self, verb: &str, to: &SqlType, input: &Expr, style: &str, out: &mut String) {
        // Writing to a String cannot fail, here and below.
        let _ = write!(out, "{verb}({to},{},{style})", self.text(input));
    }

    fn call(&self, name: &str, arguments: &[Expr], out: &mut String) {
        let texts: Vec<String> = arguments.iter().map(|argument| self.text(argument)).collect();
        let _ = write!(out, "{name}({})", texts.join(","));
    }

    fn case(&self, case: &Case, out: &mut String) {
        out.push_str("CASE");
        for (condition, value) in &case.branches {
            let _ = write!(out, " WHEN {} THEN {}", self.condition(condition), self.text(value));
        }
        let _ = write!(out, " ELSE {} END", self.text(&case.otherwise));
    }

    fn integer(&self, integer: &Integer, out: &mut String) {
        match integer {
            Integer::Const(None) => out.push_str("NULL"),
            Integer::Const(Some(value)) => {
                let _ = write!(out, "({value})");
            }
            Integer::Slot(slot) => out.push_str(&self.slot(*slot)),
            Integer::Global(global) => out.push_str(global.name()),
            Integer::Binary { op, operands, .. } => {
                let [left, right] = &**operands;
                self.integer(left, out);
                out.push_str(integer_operator(*op));
                self.integer(right, out);
            }
            Integer::Negate(input, _) => {
                out.push('-');
                self.integer(input, out);
            }
            Integer::Complement(input, _) => {
                out.push('~');
                self.integer(input, out);
            }
            Integer::Narrow(input, _, to) => {
                let _ = write!(out, "CONVERT_IMPLICIT({},{},0)", to.sql_type(), self.count(input));
            }
            Integer::Short(both) => self.expr(&both.1, out),
            Integer::Other(other) => self.expr(other, out),
        }
    }

    fn predicate(&self, predicate: &Predicate, out: &mut String) {
        match predicate {
            Predicate::Const(Some(true)) => out.push_str("(1)=(1)"),
            Predicate::Const(Some(false)) => out.push_str("(1)=(0)"),
            Predicate::Const(None) => out.push_str("NULL"),
            Predicate::Integers(op, operands) => {
                let [left, right] = &**operands;
                let _ = write!(out, "{}{}{}", self.count(left), comparison(*op), self.count(right));
            }
            Predicate::Values(op, operands, _) => {
                let [left, right] = &**operands;
                let _ = write!(out, "{}{}{}", self.text(left), comparison(*op), self.text(right));
            }
            Predicate::And(all) => self.joined(all, " AND ", out),
            Predicate::Or(any) => self.joined(any, " OR ", out),
            Predicate::Not(inner) => {
                let _ = write!(out, "NOT ({})", self.condition(inner));
            }
            Predicate::IsNull(input) => {
                let _ = write!(out, "{} IS NULL", self.text(input));
            }
            Predicate::InIntegers(input, list, has_null) => {
                let mut values: Vec<String> = list.iter().map(|value| format!("({value})")).collect();
                if *has_null {
                    values.push("NULL".to_owned());
                }
                let _ = write!(out, "{} IN ({})", self.count(input), values.join(","));
            }
            Predicate::InValues(input, list, _) => {
                let _ = write!(out, "{} IN ({})", self.text(input), self.list(list));
            }
            Predicate::Like { operands, escape, .. } => {
                let [text, pattern] = &**operands;
                let _ = write!(out, "{} like {}", self.text(text), self.text(pattern));
                if let Some(escape) = escape {
                    let _ = write!(out, " escape {}", self.text(escape));
                }
            }
            Predicate::LikeConst(input, pattern) => {
                let _ = write!(out, "{} like {}", self.text(input), quoted(&pattern.to_string()));
            }
            Predicate::Slot(slot) => out.push_str(&self.slot(*slot)),
        }
    }

    fn joined(&self, predicates: &[Predicate], word: &str, out: &mut String) {
        for (place, predicate) in predicates.iter().enumerate() {
            if place > 0 {
                out.push_str(word);
            }
            match predicate {
                Predicate::Or(_) | Predicate::And(_) => {
                    let _ = write!(out, "({})", self.condition(predicate));
                }
                _ => self.predicate(predicate, out),
            }
        }
    }
}

/// Database, schema and name of a table; a table variable has its name alone.
pub(super) fn table_parts(table: &Table) -> [String; 3] {
    if table.name.starts_with('@') {
        return [String::new(), String::new(), bracketed(&table.name)];
    }
    let database = if table.is_temporary() { pikepole_engine::TEMPDB } else { &table.database };
    [bracketed(database), bracketed(table.engine.schema()), bracketed(&table.name)]
}

/// `[database].[schema].[table].[column]`, behind an alias that alone.
/// The name of a table in a plan.
fn table_name(table: &Table, alias: Option<&str>) -> String {
    match alias {
        Some(alias) => bracketed(alias),
        None => table_parts(table).into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("."),
    }
}

/// The virtual columns of a table.
fn name_place(scan: &Scan, names: &mut HashMap<usize, String>) {
    let Some(place) = &scan.place else { return };
    let columns = [(place.physloc, "%%physloc%%"), (place.lockres, "%%lockres%%")];
    for (slot, name) in columns.into_iter().filter_map(|(slot, name)| Some((slot?, name))) {
        names.insert(slot, format!("{}.{}", table_name(&scan.table, scan.alias.as_deref()), bracketed(name)));
    }
}

fn name_columns(table: &Table, alias: Option<&str>, first: usize, names: &mut HashMap<usize, String>) {
    let table_name = table_name(table, alias);
    for (place, column) in table.columns.iter().enumerate() {
        names.insert(first + place, format!("{table_name}.{}", bracketed(&column.name)));
    }
}

/// A constant as it stands in expressions.
pub(super) fn constant_text(value: &Value) -> String {
    let mut text = String::new();
    constant(value, &mut text);
    text
}

fn constant(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("NULL"),
        Value::Str(text) => out.push_str(&quoted(text.as_str())),
        Value::Bit(_)
        | Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Decimal(_)
        | Value::Money(_)
        | Value::SmallMoney(_)
        | Value::Float(_)
        | Value::Real(_) => {
            out.push('(');
            write_text(value, &SqlType::Null, out);
            out.push(')');
        }
        Value::Bin(_) => write_text(value, &SqlType::Null, out),
        _ => {
            let mut text = String::new();
            write_text(value, &SqlType::Null, &mut text);
            out.push_str(&quoted(&text));
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

pub(super) fn comparison(op: Comparison) -> &'static str {
    match op {
        Comparison::Equal => "=",
        Comparison::NotEqual => "<>",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

fn operator(op: ArithmeticOp) -> &'static str {
    match op {
        ArithmeticOp::Add => "+",
        ArithmeticOp::Subtract => "-",
        ArithmeticOp::Multiply => "*",
        ArithmeticOp::Divide => "/",
        ArithmeticOp::Modulo => "%",
        ArithmeticOp::BitAnd => "&",
        ArithmeticOp::BitOr => "|",
        ArithmeticOp::BitXor => "^",
    }
}

fn integer_operator(op: IntegerOp) -> &'static str {
    match op {
        IntegerOp::Add => "+",
        IntegerOp::Subtract => "-",
        IntegerOp::Multiply => "*",
        IntegerOp::Divide => "/",
        IntegerOp::Modulo => "%",
        IntegerOp::And => "&",
        IntegerOp::Or => "|",
        IntegerOp::Xor => "^",
    }
}
