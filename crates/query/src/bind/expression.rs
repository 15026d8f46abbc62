//! Scalar expressions.

use super::Binder;
use super::collate::met;
use super::data_type::{TypePlace, sql_type};
use super::scope::{Clause, Column, ColumnAccess};
use super::typed::{Typed, WHOLE_DIGITS_MAX, convert_to};
use crate::errors;
use crate::expression::{
    Arithmetic, Case, Comparison, Convert, Expr, Fault, Integer, IntegerOp, Predicate, Short, Width,
};
use crate::plan::{Guard, Test};
use crate::state::Global;
use pikepole_tsql as tree;
use pikepole_types::{ArithmeticOp, CodePage, Collated, Collation, Length, SqlError, SqlType, Value, implicit_type};

/// The digits of the lowest int.
const LOWEST_INT: &str = "2147483648";

/// The branches of a CASE and its ELSE.
type BoundCase = (Vec<(Predicate, Typed)>, Option<Typed>);

/// Whether an expression was refused because a column of it is not grouped.
fn is_not_grouped(fault: &Fault) -> bool {
    matches!(fault.number, 8120 | 8121 | 8127)
}

impl Binder<'_> {
    /// Binds a scalar expression.
    ///
    /// # Errors
    /// Names, types, misplaced aggregates, and constructs not supported; with the expression's line.
    pub(crate) fn expr(&mut self, expr: &tree::Expr) -> Result<Typed, Fault> {
        if let Some(key) = self.grouping_value(expr)? {
            return Ok(key);
        }
        match self.deeper(|binder| binder.expr_kind(expr)) {
            Err(mut fault) => {
                if fault.line == 0 {
                    fault.line = expr.line();
                }
                Err(fault)
            }
            Ok(typed) => Ok(self.in_database(typed)),
        }
    }

    fn expr_kind(&mut self, expr: &tree::Expr) -> Result<Typed, Fault> {
        use tree::ExprKind;
        match &expr.kind {
            ExprKind::Literal(value) => Ok(self.kept_constant(self.literal(value)?)),
            ExprKind::Column(column) => match (self.column(column), &column.qualifier) {
                (Err(fault), Some(_)) => self.property(column)?.ok_or(fault),
                (found, _) => found,
            },
            ExprKind::Variable(name) => {
                if let Some(argument) = self.parameter(name)? {
                    return Ok(argument);
                }
                match (self.variable(&name.text), self.names.undeclared) {
                    (Ok((slot, ty)), _) => Ok(Typed::new(Expr::Slot(slot), ty, true)),
                    (Err(_), Some(undeclared)) => Ok(undeclared.variable(&name.text)),
                    (Err(fault), None) => Err(fault),
                }
            }
            ExprKind::Global(name) => self.global(&name.text),
            ExprKind::Unary(op, operand) => {
                // The lowest int is one, though there is none without its sign.
                if let (tree::UnaryOp::Minus, Some(tree::Literal::Decimal(digits))) = (op, operand.literal())
                    && digits == LOWEST_INT
                {
                    return Ok(Typed::constant(Value::Int(i32::MIN), SqlType::Int));
                }
                let operand = self.expr(operand)?;
                unary(*op, operand)
            }
            ExprKind::Chain(chain) => self.chain(chain),
            ExprKind::Function(call) => self.call(call),
            ExprKind::Method(call) => self.method(call),
            ExprKind::Static(call) => self.static_member(call),
            ExprKind::Niladic(niladic) => self.niladic(*niladic),
            ExprKind::Case(case) => self.case(case),
            ExprKind::Cast(cast) => {
                let ty = sql_type(&self.catalog().catalog, &cast.data_type, TypePlace::Conversion, 1)?;
                let input = self.expr(&cast.expr)?;
                if cast.parse {
                    self.undetermined();
                    return self.parse(cast, input, ty);
                }
                self.note_conversion(&input.ty, &ty, None);
                explicit(self.labelled(input), ty, None, cast.lenient)
            }
            ExprKind::Convert(convert) => {
                let ty = sql_type(&self.catalog().catalog, &convert.data_type, TypePlace::Conversion, 1)?;
                let input = self.expr(&convert.expr)?;
                let style = match &convert.style {
                    None => None,
                    Some(style) => Some(style_number(self.expr(style)?)?),
                };
                self.note_conversion(&input.ty, &ty, style.as_ref());
                explicit(self.labelled(input), ty, style, convert.lenient)
            }
            ExprKind::Trim(trim) => {
                let characters = self.expr(&trim.characters)?;
                let input = self.expr(&trim.expr)?;
                let name = match trim.side {
                    tree::TrimSide::Both => "TRIM",
                    tree::TrimSide::Leading => "LTRIM",
                    tree::TrimSide::Trailing => "RTRIM",
                };
                self.named_call(name, vec![input, characters])
            }
            ExprKind::Json(json) => self.make_json(json),
            ExprKind::Iif(iif) => {
                let condition = self.condition(&iif.condition)?;
                let guard = |holds| Guard { condition: condition.clone(), holds };
                let then = self.guarded(guard(true), |binder| binder.expr(&iif.then))?;
                let otherwise = self.guarded(guard(false), |binder| binder.expr(&iif.otherwise))?;
                cases(vec![(condition, then)], Some(otherwise))
            }
            ExprKind::Coalesce(choices) => self.coalesce(choices),
            ExprKind::NullIf(operands) => {
                let [left, right] = self.operands([&operands[0], &operands[1]])?;
                if left.ty == SqlType::Null && left.undeclared.is_none() {
                    return Err(Box::new(SqlError::nullif_of_null()));
                }
                let equal = self.compare(Comparison::Equal, left.clone(), right)?;
                let null = Typed::constant(Value::Null, left.ty);
                cases(vec![(equal, null)], Some(left))
            }
            ExprKind::Subquery(query) => self.scalar_subquery(query),
            ExprKind::Collate(inner, name) => self.collated(inner, name),
            ExprKind::AtTimeZone(operands) => self.at_time_zone(operands),
            ExprKind::NextValue(next) => self.next_value(next),
        }
    }

    fn column(&mut self, column: &tree::ColumnRef) -> Result<Typed, Fault> {
        let found = self.resolve(column)?;
        match found.access {
            ColumnAccess::All => {}
            ColumnAccess::Node => return Err(Box::new(SqlError::nodes_column_used(&column.name.text))),
            ColumnAccess::Withheld => return Err(Box::new(SqlError::text_in_transition_table())),
        }
        self.check_grouped(&found)?;
        if let Some(text) = &found.when_read {
            return self.computed_when_read(&found, text);
        }
        Ok(Typed::new(Expr::Slot(found.slot), found.ty, found.nullable).collated(found.collated))
    }

    /// A column of grouped rows can only be read in an aggregate's argument.
    pub(super) fn check_grouped(&self, column: &Column) -> Result<(), Fault> {
        let scope = &self.scopes[column.level];
        if scope.grouping.is_none() || scope.in_aggregate {
            return Ok(());
        }
        Err(Box::new(match scope.clause {
            Clause::Having => SqlError::having_column_not_grouped(&column.display),
            Clause::OrderBy => SqlError::order_by_column_not_grouped(&column.display),
            _ => SqlError::column_not_grouped(&column.display),
        }))
    }

    /// The value of a GROUP BY expression, when `expr` is one in a scope of groups.
    pub(super) fn grouping_value(&mut self, expr: &tree::Expr) -> Result<Option<Typed>, Fault> {
        if let tree::ExprKind::Column(column) = &expr.kind {
            // A column of an outer query that is grouped counts too; `t.c` and `c` are the same column.
            if !self.scopes.iter().any(|scope| scope.grouping.is_some()) {
                return Ok(None);
            }
            let found = match self.resolve(column) {
                Ok(found) => found,
                // A property of a column, perhaps.
                Err(fault) if column.qualifier.is_none() => return Err(fault),
                Err(_) => return self.key_in_scopes(expr),
            };
            let scope = &self.scopes[found.level];
            if scope.in_aggregate {
                return Ok(None);
            }
            let keys = scope.grouping.iter().flat_map(|grouping| &grouping.keys);
            for key in keys {
                let same_text = found.when_read.is_some() && key.tree == *expr;
                if key.is_column(found.slot) || same_text {
                    return Ok(Some(key.typed()));
                }
            }
            return Ok(None);
        }
        if matches!(expr.kind, tree::ExprKind::Literal(_) | tree::ExprKind::Variable(_)) {
            return Ok(None);
        }
        self.key_in_scopes(expr)
    }

    /// The value of a GROUP BY expression that this one is too, here or in an outer query.
    fn key_in_scopes(&mut self, expr: &tree::Expr) -> Result<Option<Typed>, Fault> {
        for level in (0..self.scopes.len()).rev() {
            if let Some(key) = self.key_at(level, expr)? {
                return Ok(self.scopes[level].grouping.as_ref().map(|grouping| grouping.keys[key].typed()));
            }
            if self.scopes[level].barrier {
                break;
            }
        }
        Ok(None)
    }

    /// The GROUP BY expression of a scope that this one is too: written alike, it reads the same columns here. In the scope itself
    /// the same words mean the same.
    pub(super) fn key_at(&mut self, level: usize, expr: &tree::Expr) -> Result<Option<usize>, Fault> {
        if level + 1 == self.scopes.len() {
            let written = self.scopes[level].keys_alike(expr).find(|(_, key)| key.tree == *expr);
            if let Some((place, _)) = written {
                return Ok(Some(place));
            }
        }
        let alike: Vec<(usize, Vec<usize>)> =
            self.scopes[level].keys_alike(expr).map(|(place, key)| (place, read_by(&key.expr))).collect();
        if alike.is_empty() {
            return Ok(None);
        }
        self.scopes[level].in_aggregate = true;
        let bound = self.expr(expr);
        self.scopes[level].in_aggregate = false;
        let read = read_by(&bound?.expr);
        Ok(alike.into_iter().find(|(_, by_key)| *by_key == read).map(|(place, _)| place))
    }

    fn global(&mut self, name: &str) -> Result<Typed, Fault> {
        self.undetermined();
        if let Some(global) = Global::variable(name) {
            return Ok(global_value(global));
        }
        match self.names.host.function(name) {
            Some(function) => Ok(Typed::new(Expr::Host(function.id, Box::new([])), function.result, true)),
            None => Err(Box::new(SqlError::variable_not_declared(name))),
        }
    }

    fn niladic(&mut self, niladic: tree::Niladic) -> Result<Typed, Fault> {
        let name = match niladic {
            tree::Niladic::CurrentTimestamp => "GETDATE",
            tree::Niladic::CurrentDate => {
                let now = self.named_call("GETDATE", Vec::new())?;
                return explicit(now, SqlType::Date, None, false);
            }
            tree::Niladic::CurrentUser | tree::Niladic::SessionUser | tree::Niladic::User => "USER_NAME",
            tree::Niladic::SystemUser => "SUSER_SNAME",
        };
        self.named_call(name, Vec::new())
    }

    /// A CASE. Each part is evaluated only where the conditions before it have not held, and a result where its own holds: a
    /// subquery in a branch that is not taken does not run, and its errors do not arise.
    fn case(&mut self, case: &tree::Case) -> Result<Typed, Fault> {
        let outer = self.guards.len();
        let bound = self.case_branches(case);
        self.guards.truncate(outer);
        let (branches, otherwise) = bound?;
        cases(branches, otherwise)
    }

    fn case_branches(&mut self, case: &tree::Case) -> Result<BoundCase, Fault> {
        let mut branches = Vec::new();
        match &case.branches {
            tree::CaseBranches::Simple { operand, branches: list } => {
                let chosen = self.expr(operand)?;
                for (value, result) in list {
                    let bound = self.expr(value)?;
                    let condition = self.compare(Comparison::Equal, chosen.clone(), bound)?;
                    branches.push(self.case_branch(condition, result)?);
                }
            }
            tree::CaseBranches::Searched(list) => {
                for (condition, result) in list {
                    let condition = self.condition(condition)?;
                    branches.push(self.case_branch(condition, result)?);
                }
            }
        }
        let otherwise = match &case.otherwise {
            None => None,
            Some(otherwise) => Some(self.expr(otherwise)?),
        };
        Ok((branches, otherwise))
    }

    /// A branch whose condition is bound; what is bound from now on stands behind it.
    fn case_branch(&mut self, condition: Predicate, result: &tree::Expr) -> Result<(Predicate, Typed), Fault> {
        let taken = Guard { condition: condition.clone(), holds: true };
        let result = self.guarded(taken, |binder| binder.expr(result))?;
        self.guards.push(Guard { condition: condition.clone(), holds: false });
        Ok((condition, result))
    }

    fn coalesce(&mut self, choices: &[tree::Expr]) -> Result<Typed, Fault> {
        let outer = self.guards.len();
        let bound = self.choices(choices);
        self.guards.truncate(outer);
        let (typed, ty) = bound?;
        if ty == SqlType::Null && typed.iter().all(|choice| choice.undeclared.is_none()) {
            return Err(Box::new(SqlError::coalesce_of_nulls()));
        }
        let nullable = typed.iter().all(|choice| choice.nullable);
        let ty = super::settled::type_of(ty, super::settled::chosen(&typed));
        let collated = met(&typed, "COALESCE")?;
        let mut values = Vec::with_capacity(typed.len());
        for choice in typed {
            values.push(convert_to(choice, &ty)?.expr);
        }
        Ok(Typed::new(Expr::Coalesce(values.into_boxed_slice()), ty, nullable).collated(collated))
    }

    /// The choices of COALESCE and their common type; each is evaluated only where all before it are NULL.
    fn choices(&mut self, choices: &[tree::Expr]) -> Result<(Vec<Typed>, SqlType), Fault> {
        let mut typed = Vec::with_capacity(choices.len());
        let mut ty = SqlType::Null;
        for choice in choices {
            let choice = match self.expr(choice) {
                // What stands behind a constant is never asked for, so that its columns need not be grouped.
                Err(fault) if super::settled::chosen(&typed).is_some() && is_not_grouped(&fault) => {
                    self.type_alone(choice).ok_or(fault)?
                }
                bound => bound?,
            };
            ty = implicit_type(&ty, &choice.ty)?;
            let condition = Predicate::IsNull(Box::new(choice.expr.clone()));
            self.guards.push(Guard { condition, holds: true });
            typed.push(choice);
        }
        Ok((typed, ty))
    }

    /// NULL of the type that an expression over the rows below the groups has; none for one with aggregates or subqueries.
    fn type_alone(&mut self, expr: &tree::Expr) -> Option<Typed> {
        let mark = self.pending.len();
        let grouping = self.scope().grouping.take();
        let bound = self.expr(expr);
        self.scope().grouping = grouping;
        let is_plain = self.pending.len() == mark;
        self.pending.truncate(mark);
        let bound = bound.ok().filter(|_| is_plain)?;
        Some(Typed::new(Expr::NULL, bound.ty, true).collated(bound.collated))
    }

    /// PARSE and TRY_PARSE.
    fn parse(&mut self, cast: &tree::Cast, input: Typed, ty: SqlType) -> Result<Typed, Fault> {
        let culture = match &cast.culture {
            None => Typed::constant(Value::Null, SqlType::Null),
            Some(culture) => self.expr(culture)?,
        };
        let function = if cast.lenient { &pikepole_types::TRY_PARSE } else { &pikepole_types::PARSE };
        let arguments = vec![input, culture, Typed::constant(Value::Null, ty)];
        super::function::built_in(function, arguments, self.collation())
    }

    fn at_time_zone(&mut self, operands: &[tree::Expr; 2]) -> Result<Typed, Fault> {
        let operands = vec![self.expr(&operands[0])?, self.expr(&operands[1])?];
        self.undetermined();
        super::function::built_in(&pikepole_types::AT_TIME_ZONE, operands, self.collation())
    }

    fn scalar_subquery(&mut self, query: &tree::Query) -> Result<Typed, Fault> {
        let (bound, dependence) = self.subquery(query)?;
        let [column] = bound.columns.as_slice() else {
            return Err(Box::new(SqlError::one_expression_in_subquery()));
        };
        let (ty, collated, user_type) = (column.ty, column.collated.of_column(), column.user_type);
        let value = bound.values.into_iter().next().unwrap_or(Expr::NULL);
        let slot = self.wait_for(bound.node, Test::Scalar(value), dependence);
        self.subquery_types.extend(user_type.map(|user_type| (slot, user_type)));
        Ok(Typed::new(Expr::Slot(slot), ty, true).collated(collated))
    }
}

/// The value of a global the machine answers.
pub(crate) fn global_value(global: Global) -> Typed {
    let name_type = SqlType::NVarChar(Length::Limit(128));
    let (ty, nullable) = match global {
        Global::RowCountBig => (SqlType::BigInt, false),
        Global::TransactionState | Global::SessionId => (SqlType::SmallInt, false),
        Global::Identity | Global::ScopeIdentity => (SqlType::Decimal { precision: 38, scale: 0 }, true),
        Global::ErrorMessage => (SqlType::NVarChar(Length::Limit(4000)), true),
        Global::ErrorProcedure => (name_type, true),
        Global::EventData => (SqlType::Xml, true),
        Global::ErrorNumber | Global::ErrorLine | Global::ErrorSeverity | Global::ErrorState => (SqlType::Int, true),
        _ => (SqlType::Int, false),
    };
    let expr = match Width::of(&ty) {
        Some(width) => Expr::Integer(Box::new(Integer::Global(global)), width),
        None => Expr::Global(global),
    };
    Typed::new(expr, ty, nullable)
}

/// A constant as written.
pub(crate) fn literal(literal: &tree::Literal) -> Result<Typed, Fault> {
    use tree::Literal;
    let text_type = |value: &str, national: bool| {
        let units = if national { value.encode_utf16().count() } else { value.chars().count() };
        let maximum = if national { 4000 } else { 8000 };
        let length = match u16::try_from(units) {
            Ok(units) if units <= maximum => Length::Limit(units.max(1)),
            _ => Length::Max,
        };
        if national { SqlType::NVarChar(length) } else { SqlType::VarChar(length) }
    };
    Ok(match literal {
        Literal::Null => Typed::constant(Value::Null, SqlType::Null),
        Literal::Int(value) => Typed::constant(Value::Int(*value), SqlType::Int),
        Literal::Float(value) => Typed::constant(Value::Float(*value), SqlType::Float),
        Literal::Money(value) => Typed::constant(Value::Money(*value), SqlType::Money),
        Literal::String { value, national } => Typed::constant(Value::Str(value.clone()), text_type(value, *national)),
        Literal::Binary(bytes) => {
            let length = match u16::try_from(bytes.len()) {
                Ok(n) if n <= 8000 => Length::Limit(n.max(1)),
                _ => Length::Max,
            };
            Typed::constant(Value::Bin(bytes.clone()), SqlType::VarBinary(length))
        }
        Literal::Decimal(digits) => {
            let whole = digits.trim_start_matches('0');
            let scale = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
            let precision = whole.bytes().filter(u8::is_ascii_digit).count().max(scale).max(1);
            let ty = SqlType::Decimal {
                precision: u8::try_from(precision).unwrap_or(38).min(38),
                scale: u8::try_from(scale).unwrap_or(38).min(38),
            };
            let from = text_type(digits, false);
            let text = Value::Str(digits.clone());
            Typed::constant(pikepole_types::convert(&text, &from, &ty, None)?, ty)
        }
    })
}

/// A whole number as it is written has beside a decimal no more digits than it shows: `10.0 / 3` is a decimal(3, 1) by a decimal(1, 0).
pub(super) fn beside_decimal(written: &tree::Expr, typed: Typed, other: &SqlType) -> Result<Typed, Fault> {
    let literal = match &written.kind {
        tree::ExprKind::Unary(tree::UnaryOp::Minus | tree::UnaryOp::Plus, of) => &of.kind,
        kind => kind,
    };
    match (literal, other) {
        (tree::ExprKind::Literal(tree::Literal::Int(number)), SqlType::Decimal { .. }) if typed.ty == SqlType::Int => {
            let precision = number.unsigned_abs().checked_ilog10().unwrap_or(0) as u8 + 1;
            convert_to(typed, &SqlType::Decimal { precision, scale: 0 })
        }
        _ => Ok(typed),
    }
}

fn unary(op: tree::UnaryOp, operand: Typed) -> Result<Typed, Fault> {
    // There are no tinyints below zero.
    let operand = match (op, operand.ty) {
        (tree::UnaryOp::Minus, SqlType::TinyInt) => convert_to(operand, &SqlType::SmallInt)?,
        _ => operand,
    };
    let constant = operand.expr.is_const();
    let (ty, nullable) = (operand.ty, operand.nullable);
    if ty == SqlType::Null {
        return Ok(operand);
    }
    let expr = match (op, Width::of(&ty)) {
        (tree::UnaryOp::Plus, _) => operand.expr,
        (tree::UnaryOp::Minus, Some(width)) if width != Width::Bit => {
            let inner = Box::new(operand.integer());
            Expr::Integer(Box::new(Integer::Negate(inner, width)), width)
        }
        (tree::UnaryOp::BitNot, Some(width)) => {
            let inner = Box::new(operand.integer());
            Expr::Integer(Box::new(Integer::Complement(inner, width)), width)
        }
        (tree::UnaryOp::Minus, _) if ty.is_number() && ty != SqlType::Bit => Expr::Negate(Box::new(operand.expr)),
        (tree::UnaryOp::Minus, _) => {
            return Err(Box::new(SqlError::operand_type_invalid(ty.error_name(), "minus")));
        }
        (tree::UnaryOp::BitNot, None) => {
            return Err(Box::new(SqlError::operand_type_invalid(ty.error_name(), "'~'")));
        }
    };
    let typed = Typed::new(expr, ty, nullable);
    Ok(if constant { typed.folded() } else { typed })
}

/// Binds `left op right`, both bound.
pub(crate) fn binary_value(op: tree::BinaryOp, left: Typed, right: Typed) -> Result<Typed, Fault> {
    use tree::BinaryOp;
    let op = match op {
        BinaryOp::Add | BinaryOp::Concat => ArithmeticOp::Add,
        BinaryOp::Subtract => ArithmeticOp::Subtract,
        BinaryOp::Multiply => ArithmeticOp::Multiply,
        BinaryOp::Divide => ArithmeticOp::Divide,
        BinaryOp::Modulo => ArithmeticOp::Modulo,
        BinaryOp::BitAnd => ArithmeticOp::BitAnd,
        BinaryOp::BitOr => ArithmeticOp::BitOr,
        BinaryOp::BitXor => ArithmeticOp::BitXor,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
            let function = if op == BinaryOp::ShiftLeft { "LEFT_SHIFT" } else { "RIGHT_SHIFT" };
            let function = pikepole_types::lookup(function).ok_or_else(|| errors::unsupported("Bit shifting"))?;
            return super::function::built_in(function, vec![left, right], Collation::default());
        }
    };
    arithmetic(op, left, right)
}

fn arithmetic(op: ArithmeticOp, left: Typed, right: Typed) -> Result<Typed, Fault> {
    left.want(&right.ty);
    right.want(&left.ty);
    let nullable = left.nullable || right.nullable;
    let constant = left.expr.is_const() && right.expr.is_const();
    let is_null = |typed: &Typed| matches!(typed.expr, Expr::Const(Value::Null));
    let joins_null = op == ArithmeticOp::Add && (is_null(&left) || is_null(&right));
    let ty = pikepole_types::operator_type(op, &left.ty, &right.ty)?;
    let collated = if ty.is_string() { met([&left, &right], "add")? } else { Collated::Default };
    let widths = (Width::of(&left.ty), Width::of(&right.ty), Width::of(&ty));
    let short = short_arithmetic(op, &left, &right, &ty);
    let expr = if let Some(whole) = whole_arithmetic(op, &left, &right, &ty) {
        whole
    } else if let (Some(_), Some(_), Some(width)) = widths {
        Expr::Integer(
            Box::new(Integer::Binary {
                op: integer_op(op),
                width,
                operands: Box::new([left.integer(), right.integer()]),
            }),
            width,
        )
    } else {
        let lengths = left.ty.declared_length().zip(right.ty.declared_length());
        let (left, right) = operands(left, right)?;
        let exact = Expr::Arithmetic(Box::new(Arithmetic { op, operands: [left, right] }));
        let exact = match lengths {
            Some((left, right)) => {
                let length = left.limit().saturating_add(right.limit());
                cut_off(exact, length, ty, collated.shown().code_page())
            }
            None => exact,
        };
        match short {
            Some((integer, precision)) => Expr::Short(Box::new(Short { integer, precision, exact })),
            None => exact,
        }
    };
    let typed = Typed::new(expr, ty, nullable).collated(collated);
    // What a text and NULL become is a question of CONCAT_NULL_YIELDS_NULL when the statement runs.
    Ok(if constant && !(joins_null && ty.is_string()) { typed.folded() } else { typed })
}

/// Joined strings or binaries of `length` units at most, cut off where their type holds fewer.
fn cut_off(joined: Expr, length: usize, ty: SqlType, page: CodePage) -> Expr {
    use pikepole_types::Length::{Limit, Max};
    let from = match ty {
        SqlType::VarChar(Limit(most)) if length > usize::from(most) => SqlType::VarChar(Max),
        SqlType::NVarChar(Limit(most)) if length > usize::from(most) => SqlType::NVarChar(Max),
        SqlType::VarBinary(Limit(most)) if length > usize::from(most) => SqlType::VarBinary(Max),
        _ => return joined,
    };
    Expr::Convert(Box::new(Convert { input: joined, from, to: ty, style: None, lenient: false, page }))
}

/// Arithmetic of whole numbers whose type is a decimal: in 64 bits, when no result can have more digits than those hold.
fn whole_arithmetic(op: ArithmeticOp, left: &Typed, right: &Typed, ty: &SqlType) -> Option<Expr> {
    let SqlType::Decimal { precision: precision @ 0..=WHOLE_DIGITS_MAX, scale: 0 } = *ty else {
        return None;
    };
    let integer = integer_arithmetic(op, left.whole()?, right.whole()?)?;
    Some(Expr::Whole(Box::new(integer), precision))
}

/// The same where a result may have more digits than 64 bits hold, and hardly ever has. What it gives is no answer where it
/// fails; and it must have no effects, since the whole expression is evaluated then.
fn short_arithmetic(op: ArithmeticOp, left: &Typed, right: &Typed, ty: &SqlType) -> Option<(Integer, u8)> {
    let SqlType::Decimal { precision, scale: 0 } = *ty else {
        return None;
    };
    if precision <= WHOLE_DIGITS_MAX {
        return None;
    }
    let integer = integer_arithmetic(op, left.short()?, right.short()?)?;
    integer.is_portable().then_some((integer, precision))
}

/// The operators that give whole numbers for whole numbers of decimal types.
fn integer_arithmetic(op: ArithmeticOp, left: Integer, right: Integer) -> Option<Integer> {
    let exact =
        matches!(op, ArithmeticOp::Add | ArithmeticOp::Subtract | ArithmeticOp::Multiply | ArithmeticOp::Modulo);
    let operands = Box::new([left, right]);
    exact.then(|| Integer::Binary { op: integer_op(op), width: Width::Big, operands })
}

/// Brings operands of different types to types the operator works on: a string becomes the other side's type, a number the
/// wider one's; dates and intervals stay as they are.
fn operands(left: Typed, right: Typed) -> Result<(Expr, Expr), Fault> {
    let date = left.ty.is_date_or_time() || right.ty.is_date_or_time();
    let joined = left.ty.is_string() && right.ty.is_string() || left.ty.is_binary() && right.ty.is_binary();
    let decimals = left.ty.as_decimal().is_some() && right.ty.as_decimal().is_some();
    if joined || (date && !left.ty.is_string() && !right.ty.is_string()) {
        return Ok((left.expr, right.expr));
    }
    let common = implicit_type(&left.ty, &right.ty)?;
    if decimals && matches!(common, SqlType::Decimal { .. }) {
        // Each keeps its own precision and scale: the result's are computed from them.
        return Ok((own_decimal(left)?, own_decimal(right)?));
    }
    Ok((convert_to(left, &common)?.expr, convert_to(right, &common)?.expr))
}

fn own_decimal(typed: Typed) -> Result<Expr, Fault> {
    match typed.ty.as_decimal() {
        Some((precision, scale)) if !matches!(typed.ty, SqlType::Decimal { .. }) => {
            Ok(convert_to(typed, &SqlType::Decimal { precision, scale })?.expr)
        }
        _ => Ok(typed.expr),
    }
}

fn integer_op(op: ArithmeticOp) -> IntegerOp {
    match op {
        ArithmeticOp::Add => IntegerOp::Add,
        ArithmeticOp::Subtract => IntegerOp::Subtract,
        ArithmeticOp::Multiply => IntegerOp::Multiply,
        ArithmeticOp::Divide => IntegerOp::Divide,
        ArithmeticOp::Modulo => IntegerOp::Modulo,
        ArithmeticOp::BitAnd => IntegerOp::And,
        ArithmeticOp::BitOr => IntegerOp::Or,
        ArithmeticOp::BitXor => IntegerOp::Xor,
    }
}

/// The style of CONVERT: a number, not a text of one.
fn style_number(style: Typed) -> Result<Typed, Fault> {
    if style.ty.is_string() {
        return Err(Box::new(SqlError::argument_type_invalid(style.ty.error_name(), 3, "convert")));
    }
    convert_to(style, &SqlType::Int)
}

/// CAST and CONVERT.
pub(super) fn explicit(input: Typed, to: SqlType, style: Option<Typed>, lenient: bool) -> Result<Typed, Fault> {
    use pikepole_types::{Conversion, conversion};
    input.want(&to);
    if input.ty == SqlType::Null {
        return Ok(Typed::constant(Value::Null, to));
    }
    if conversion(&input.ty, &to) == Conversion::None {
        let (from, to) = (input.ty.error_name(), to.error_name());
        return Err(Box::new(SqlError::explicit_conversion_not_allowed(from, to)));
    }
    let style_constant = style.as_ref().is_none_or(|style| style.expr.is_const());
    let constant = input.expr.is_const() && style_constant && !super::typed::reads_session(&input.expr, &to);
    if input.ty == to && style.is_none() {
        return Ok(input);
    }
    if !lenient && let (Some(_), Some(_)) = (Width::of(&input.ty), Width::of(&to)) {
        return convert_to(input, &to);
    }
    let (nullable, collated, page) = (input.nullable || lenient, input.collated, input.page());
    let expr = Expr::Convert(Box::new(Convert {
        input: input.expr,
        from: input.ty,
        to,
        style: style.map(|style| style.expr),
        lenient,
        page,
    }));
    let typed = Typed::new(expr, to, nullable).collated(collated);
    Ok(if constant { typed.folded() } else { typed })
}

/// CASE over bound branches.
pub(super) fn cases(branches: Vec<(Predicate, Typed)>, otherwise: Option<Typed>) -> Result<Typed, Fault> {
    let mut ty = SqlType::Null;
    for (_, value) in &branches {
        ty = implicit_type(&ty, &value.ty)?;
    }
    if let Some(otherwise) = &otherwise {
        ty = implicit_type(&ty, &otherwise.ty)?;
    }
    if ty == SqlType::Null {
        return Err(Box::new(SqlError::case_is_all_null()));
    }
    let ty = super::settled::type_of(ty, super::settled::taken(&branches, otherwise.as_ref()));
    let collated = met(branches.iter().map(|(_, value)| value).chain(&otherwise), "CASE")?;
    let mut nullable = otherwise.as_ref().is_none_or(|otherwise| otherwise.nullable);
    let mut bound = Vec::with_capacity(branches.len());
    for (condition, value) in branches {
        nullable |= value.nullable;
        bound.push((condition, convert_to(value, &ty)?.expr));
    }
    let otherwise = match otherwise {
        None => Expr::NULL,
        Some(otherwise) => convert_to(otherwise, &ty)?.expr,
    };
    let expr = Expr::Case(Box::new(Case { branches: bound, otherwise }));
    Ok(Typed::new(expr, ty, nullable).collated(collated))
}

/// The slots that an expression reads, in its order.
pub(super) fn read_by(expr: &Expr) -> Vec<usize> {
    let mut read = Vec::new();
    expr.visit_slots(&mut |slot| read.push(slot));
    read
}
