//! Conditions: three-valued logic, `None` standing for UNKNOWN.

use std::cmp::Ordering;

use super::integer::{Integer, integer_of};
use super::{Env, Expr, Fault, InList};
use pikepole_types::{Collation, LikePattern, SqlError, Value};

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// True when an ordering satisfies the operator.
    #[inline]
    pub fn holds(self, ordering: Ordering) -> bool {
        match self {
            Comparison::Equal => ordering.is_eq(),
            Comparison::NotEqual => ordering.is_ne(),
            Comparison::Less => ordering.is_lt(),
            Comparison::LessOrEqual => ordering.is_le(),
            Comparison::Greater => ordering.is_gt(),
            Comparison::GreaterOrEqual => ordering.is_ge(),
        }
    }

    /// The operator that holds where this one does not.
    pub fn negated(self) -> Comparison {
        match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::GreaterOrEqual,
            Comparison::LessOrEqual => Comparison::Greater,
            Comparison::Greater => Comparison::LessOrEqual,
            Comparison::GreaterOrEqual => Comparison::Less,
        }
    }

    /// The operator with its operands exchanged.
    pub fn flipped(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }
}

/// A condition.
#[derive(Debug, Clone)]
pub enum Predicate {
    /// A constant truth value.
    Const(Option<bool>),
    /// Two integers compared.
    Integers(Comparison, Box<[Integer; 2]>),
    /// Two values of one type compared.
    Values(Comparison, Box<[Expr; 2]>, Collation),
    /// All must hold.
    And(Vec<Predicate>),
    /// One must hold.
    Or(Vec<Predicate>),
    /// The opposite.
    Not(Box<Predicate>),
    /// `x IS NULL`
    IsNull(Box<Expr>),
    /// `x IN (..)` over integers known while compiling, sorted; the flag says that the list holds a NULL.
    InIntegers(Box<Integer>, Vec<i64>, bool),
    /// `x IN (..)` over values of one type.
    InValues(Box<Expr>, InList, Collation),
    /// `x LIKE pattern ESCAPE e`
    Like {
        /// The text, the pattern and the escape character.
        operands: Box<[Expr; 2]>,
        /// The escape character's expression.
        escape: Option<Box<Expr>>,
        /// How characters compare.
        collation: Collation,
    },
    /// `x LIKE pattern` with a constant pattern, compiled.
    LikeConst(Box<Expr>, Box<LikePattern>),
    /// A slot that holds the truth value of a subquery test, as a bit or NULL.
    Slot(usize),
}

impl Predicate {
    /// The outcome for all rows of a comparison of constants, as `1 = 1` is: UNKNOWN does not hold. None for all other conditions.
    pub(crate) fn constant(&self) -> Option<bool> {
        match self {
            Predicate::Const(truth) => Some(*truth == Some(true)),
            Predicate::Integers(op, sides) => match sides.as_ref() {
                [Integer::Const(left), Integer::Const(right)] => {
                    Some(left.zip(*right).is_some_and(|(left, right)| op.holds(left.cmp(&right))))
                }
                _ => None,
            },
            Predicate::Values(op, sides, collation) => match sides.as_ref() {
                [Expr::Const(left), Expr::Const(right)] => {
                    let is_known = !left.is_null() && !right.is_null();
                    Some(is_known && op.holds(pikepole_types::order(left, right, *collation)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Evaluates; `None` is UNKNOWN.
    ///
    /// # Errors
    /// What the operands report.
    pub fn eval(&self, env: &mut Env<'_>) -> Result<Option<bool>, Fault> {
        match self {
            Predicate::Const(truth) => Ok(*truth),
            Predicate::Integers(op, operands) => {
                let left = operands[0].value(env)?;
                let right = operands[1].value(env)?;
                Ok(match (left, right) {
                    (Some(left), Some(right)) => Some(op.holds(left.cmp(&right))),
                    _ => None,
                })
            }
            Predicate::Values(op, operands, collation) => {
                let ordering = compare(&operands[0], &operands[1], *collation, env)?;
                Ok(ordering.map(|ordering| op.holds(ordering)))
            }
            Predicate::And(all) => fold(all, env, false),
            Predicate::Or(any) => fold(any, env, true),
            Predicate::Not(inner) => Ok(inner.eval(env)?.map(|truth| !truth)),
            Predicate::IsNull(expr) => {
                let mut scratch = Value::Null;
                Ok(Some(matches!(expr.eval_ref(env, &mut scratch)?, Value::Null)))
            }
            Predicate::InIntegers(expr, list, has_null) => Ok(match expr.value(env)? {
                None => None,
                Some(value) if list.binary_search(&value).is_ok() => Some(true),
                Some(_) if *has_null => None,
                Some(_) => Some(false),
            }),
            Predicate::InValues(expr, list, collation) => in_values(expr, list, *collation, env),
            Predicate::Like { operands, escape, collation } => like(operands, escape.as_deref(), *collation, env),
            Predicate::LikeConst(text, pattern) => {
                let mut scratch = Value::Null;
                let text = text.eval_ref(env, &mut scratch)?;
                Ok(text.as_str().map(|text| pattern.matches(text)))
            }
            Predicate::Slot(slot) => Ok(integer_of(&env.slots[*slot]).map(|value| value != 0)),
        }
    }

    /// True when the condition holds; UNKNOWN counts as false.
    ///
    /// # Errors
    /// As [`Predicate::eval`].
    #[inline]
    pub fn holds(&self, env: &mut Env<'_>) -> Result<bool, Fault> {
        Ok(self.eval(env)? == Some(true))
    }
}

/// AND (`decisive` false) or OR (`decisive` true): the first decisive truth ends it, UNKNOWN spoils the rest.
fn fold(parts: &[Predicate], env: &mut Env<'_>, decisive: bool) -> Result<Option<bool>, Fault> {
    let mut result = Some(!decisive);
    for part in parts {
        match part.eval(env)? {
            Some(truth) if truth == decisive => return Ok(Some(decisive)),
            Some(_) => {}
            None => result = None,
        }
    }
    Ok(result)
}

fn compare(left: &Expr, right: &Expr, collation: Collation, env: &mut Env<'_>) -> Result<Option<Ordering>, Fault> {
    let (mut left_scratch, mut right_scratch) = (Value::Null, Value::Null);
    let left = left.eval_ref(env, &mut left_scratch)?;
    let right = right.eval_ref(env, &mut right_scratch)?;
    Ok(pikepole_types::compare(left, right, collation)?)
}

fn in_values(expr: &Expr, list: &InList, collation: Collation, env: &mut Env<'_>) -> Result<Option<bool>, Fault> {
    if let Some(constants) = list.constants() {
        let mut scratch = Value::Null;
        let value = expr.eval_ref(env, &mut scratch)?;
        return Ok(match constants.has(value) {
            _ if value.is_null() => None,
            true => Some(true),
            false if constants.has_null => None,
            false => Some(false),
        });
    }
    let mut result = Some(false);
    for item in list.iter() {
        match compare(expr, item, collation, env)? {
            Some(ordering) if ordering.is_eq() => return Ok(Some(true)),
            Some(_) => {}
            None => result = None,
        }
    }
    Ok(result)
}

fn like(
    operands: &[Expr; 2],
    escape: Option<&Expr>,
    collation: Collation,
    env: &mut Env<'_>,
) -> Result<Option<bool>, Fault> {
    let (mut a, mut b, mut c) = (Value::Null, Value::Null, Value::Null);
    let text = operands[0].eval_ref(env, &mut a)?;
    let pattern = operands[1].eval_ref(env, &mut b)?;
    let (Value::Str(text), Value::Str(pattern)) = (text, pattern) else {
        return Ok(None);
    };
    let escape = match escape {
        None => None,
        Some(escape) => match escape.eval_ref(env, &mut c)? {
            Value::Str(escape) if escape.chars().count() == 1 => escape.chars().next(),
            Value::Str(escape) => return Err(Box::new(SqlError::invalid_like_escape(escape, "LIKE"))),
            _ => return Ok(None),
        },
    };
    Ok(Some(LikePattern::new(pattern, escape, collation).matches(text)))
}
