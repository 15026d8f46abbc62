//! Scalar functions whose statements follow each other straight: in computed columns, where nothing is run, they become an expression as
//! those of one RETURN do.
//!
//! ```text
//!   DECLARE @t varchar(8)                       @t stands for      NULL
//!   SET @t = CONVERT(varchar(8), @Value)                           CONVERT(varchar(8), <argument>)
//!   SET @t = REPLICATE('0', 8 - LEN(@t)) + @t                      REPLICATE('0', 8 - LEN(CONVERT(...))) + CONVERT(...)
//!   RETURN @t                                   the call becomes that
//! ```
//! A variable stands for what it was last given, converted to its type. Each use repeats that, so a body counts what it would grow to, and
//! one that would grow beyond a limit is run instead; so is one with queries, conditions, loops or calls of users' functions.

use super::data_type::{TypePlace, is_system_type, sql_type};
use super::routine::{Given, statements_of};
use super::typed::Typed;
use super::{Binder, assign_to};
use crate::expression::{Expr, Fault};
use pikepole_tsql as tree;
use pikepole_types::Value;

/// The most constants, parameters and functions that a call may become.
const SIZE_MAX: usize = 64;

/// A variable that is declared or set, and to what.
pub(super) struct Step<'a> {
    name: &'a str,
    /// Where it is declared: of what type.
    declared: Option<&'a tree::DataType>,
    value: Option<&'a tree::Expr>,
}

/// A body without branches.
pub(super) struct Straight<'a> {
    pub(super) steps: Vec<Step<'a>>,
    pub(super) value: &'a tree::Expr,
}

/// What each variable and parameter has grown to.
struct Sizes<'a>(Vec<(&'a str, usize)>);

impl<'a> Straight<'a> {
    /// A function's body, if it is one of those.
    pub(super) fn of(function: &'a tree::CreateFunction) -> Option<Straight<'a>> {
        let tree::FunctionReturns::Scalar { body, .. } = &function.returns else { return None };
        let (last, statements) = statements_of(body).split_last()?;
        let tree::StatementKind::Return(Some(value)) = &last.kind else { return None };
        if statements.is_empty() {
            return Some(Straight { steps: Vec::new(), value });
        }
        let mut sizes = Sizes(function.parameters.iter().map(|own| (own.name.as_str(), 1)).collect());
        let mut steps = Vec::new();
        for statement in statements {
            match &statement.kind {
                tree::StatementKind::Declare(variables) => {
                    for variable in variables {
                        let tree::VariableKind::Value { data_type, initial } = &variable.kind else { return None };
                        let name = variable.name.as_str();
                        if !is_system_type(data_type) || sizes.of(name).is_some() {
                            return None;
                        }
                        let size = initial.as_ref().map_or(Some(1), |initial| sizes.grown(initial))?;
                        sizes.0.push((name, size));
                        steps.push(Step { name, declared: Some(data_type), value: initial.as_ref() });
                    }
                }
                tree::StatementKind::SetVariable(set) if set.op == tree::AssignOp::Set => {
                    let tree::SetValue::Expr(value) = &set.value else { return None };
                    let size = sizes.grown(value)?;
                    let own = sizes.0.iter_mut().find(|(name, _)| set.variable.is(name))?;
                    own.1 = size;
                    steps.push(Step { name: own.0, declared: None, value: Some(value) });
                }
                _ => return None,
            }
        }
        sizes.grown(value)?;
        Some(Straight { steps, value })
    }
}

impl Sizes<'_> {
    fn of(&self, variable: &str) -> Option<usize> {
        self.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(variable)).map(|(_, size)| *size)
    }

    /// What an expression grows to; None: too much, or it is more than operators and functions of the system's.
    fn grown(&self, expr: &tree::Expr) -> Option<usize> {
        use tree::ExprKind;
        let all = |many: Vec<&tree::Expr>| many.into_iter().try_fold(1, |sum: usize, one| Some(sum + self.grown(one)?));
        let size = match &expr.kind {
            // A name without a table is a part of a date.
            ExprKind::Literal(_) | ExprKind::Column(tree::ColumnRef { qualifier: None, .. }) => 1,
            ExprKind::Variable(name) => self.of(&name.text)?,
            ExprKind::Unary(_, of) | ExprKind::Collate(of, _) => self.grown(of)?,
            ExprKind::Chain(chain) => all(chain.operands().collect())?,
            ExprKind::Cast(cast) if !cast.parse => self.grown(&cast.expr)?,
            ExprKind::Convert(convert) => {
                all([Some(&convert.expr), convert.style.as_ref()].into_iter().flatten().collect())?
            }
            ExprKind::Coalesce(many) => all(many.iter().collect())?,
            ExprKind::NullIf(two) => all(two.iter().collect())?,
            ExprKind::Function(call) => {
                let is_plain = call.name.schema.is_none() && !call.star && !call.distinct;
                if !is_plain || call.over.is_some() || !call.within_group.is_empty() {
                    return None;
                }
                all(call.arguments.iter().map(tree::FunctionArgument::expr).collect::<Option<_>>()?)?
            }
            _ => return None,
        };
        (size <= SIZE_MAX).then_some(size)
    }
}

impl Binder<'_> {
    /// The value of a body whose parameters stand for something already.
    pub(super) fn straight(&mut self, body: &Straight<'_>) -> Result<Typed, Fault> {
        for step in &body.steps {
            let ty = match (step.declared, self.stood_for(step.name)) {
                (Some(written), _) => sql_type(&self.catalog().catalog, written, TypePlace::Declaration, 1)?,
                (None, Some(Given::Value(before))) => before.ty,
                (None, _) => continue,
            };
            let given = match step.value {
                Some(value) => {
                    let typed = self.expr(value)?;
                    let nullable = typed.nullable;
                    Typed::new(assign_to(typed, &ty, self.collation(), None)?, ty, nullable)
                }
                None => Typed::new(Expr::Const(Value::Null), ty, true),
            };
            self.give(step.name, Given::Value(given));
        }
        self.expr(body.value)
    }
}
