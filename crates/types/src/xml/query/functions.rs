//! The functions of queries: those that SQL Server has.

use super::atomic::{Atomic, AtomicType as T, Datum};
use super::eval::{Item, Run};
use super::syntax::Expr;
use super::types::{Occurs, Type};
use crate::arithmetic::ArithmeticOp;
use crate::error::SqlError;
use std::cmp::Ordering;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Avg,
    Ceiling,
    Concat,
    Contains,
    Count,
    Data,
    DistinctValues,
    Empty,
    False,
    Floor,
    Last,
    LocalName,
    LowerCase,
    Max,
    Min,
    NamespaceUri,
    Not,
    Number,
    Position,
    Round,
    String,
    StringLength,
    Substring,
    Sum,
    True,
    UpperCase,
}

use Function as F;

/// What an argument must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    /// Any items.
    Items,
    /// The values of any items.
    Values,
    /// Values of one kind that are numbers, or have no type.
    Numbers,
    /// One item or none.
    Item,
    /// One node or none.
    Node,
    /// One text or none.
    Text,
    /// One number or none.
    Number,
    /// What holds or does not.
    Condition,
}

use Parameter as P;

/// Name, function, how few arguments, and what they are; the last one may come again in `concat`.
const TABLE: [(&str, Function, usize, &[Parameter]); 26] = [
    ("avg", F::Avg, 1, &[P::Numbers]),
    ("ceiling", F::Ceiling, 1, &[P::Number]),
    ("concat", F::Concat, 2, &[P::Text, P::Text]),
    ("contains", F::Contains, 2, &[P::Text, P::Text]),
    ("count", F::Count, 1, &[P::Items]),
    ("data", F::Data, 1, &[P::Values]),
    ("distinct-values", F::DistinctValues, 1, &[P::Values]),
    ("empty", F::Empty, 1, &[P::Items]),
    ("false", F::False, 0, &[]),
    ("floor", F::Floor, 1, &[P::Number]),
    ("last", F::Last, 0, &[]),
    ("local-name", F::LocalName, 0, &[P::Node]),
    ("lower-case", F::LowerCase, 1, &[P::Text]),
    ("max", F::Max, 1, &[P::Values]),
    ("min", F::Min, 1, &[P::Values]),
    ("namespace-uri", F::NamespaceUri, 0, &[P::Node]),
    ("not", F::Not, 1, &[P::Condition]),
    ("number", F::Number, 0, &[P::Node]),
    ("position", F::Position, 0, &[]),
    ("round", F::Round, 1, &[P::Number]),
    ("string", F::String, 0, &[P::Item]),
    ("string-length", F::StringLength, 0, &[P::Text]),
    ("substring", F::Substring, 2, &[P::Text, P::Number, P::Number]),
    ("sum", F::Sum, 1, &[P::Numbers]),
    ("true", F::True, 0, &[]),
    ("upper-case", F::UpperCase, 1, &[P::Text]),
];

impl Function {
    /// A function by its name, with how few arguments it takes and what they are.
    pub(super) fn by_name(name: &str) -> Option<(Function, usize, &'static [Parameter])> {
        let known = TABLE.iter().find(|(known, ..)| *known == name)?;
        Some((known.1, known.2, known.3))
    }

    pub(super) fn name(self) -> &'static str {
        TABLE.iter().find(|(_, known, ..)| *known == self).map_or("", |(name, ..)| name)
    }

    /// What it gives for arguments of these types.
    pub(super) fn result(self, arguments: &[Type]) -> Type {
        let first = arguments.first().map(Type::atomized);
        let of_first = first.as_ref().and_then(Type::as_atomic).unwrap_or(T::Untyped);
        let number = if of_first == T::Untyped { T::Double } else { of_first };
        let occurs = first.as_ref().map_or(Occurs::One, |first| first.occurs);
        match self {
            F::Count | F::Last | F::Position | F::StringLength => Type::atomic(T::Integer, Occurs::One),
            F::Empty | F::False | F::Not | F::True | F::Contains => Type::atomic(T::Boolean, Occurs::One),
            F::Concat | F::LocalName | F::LowerCase | F::NamespaceUri | F::String | F::Substring | F::UpperCase => {
                Type::atomic(T::String, Occurs::One)
            }
            F::Number => Type::atomic(T::Double, Occurs::Optional),
            F::Avg if number.is_integer() => Type::atomic(T::Decimal, Occurs::Optional),
            F::Avg => Type::atomic(number, Occurs::Optional),
            F::Sum => Type::atomic(number, Occurs::One),
            F::Max | F::Min => {
                let ty = if of_first == T::Untyped { T::Double } else { of_first };
                Type::atomic(ty, Occurs::Optional)
            }
            F::Ceiling | F::Floor | F::Round => Type::atomic(number, occurs),
            F::Data => first.unwrap_or_else(Type::nothing),
            F::DistinctValues => Type::atomic(of_first, Occurs::Many),
        }
    }
}

impl Run<'_> {
    pub(super) fn call(&mut self, function: Function, arguments: &[Expr]) -> Result<Vec<Item>, SqlError> {
        let one = |atomic: Atomic| Ok(vec![Item::Atomic(atomic)]);
        match function {
            F::True | F::False => return one(Atomic::truth(function == F::True)),
            F::Position => return one(Atomic::count(self.focus().place)),
            F::Last => return one(Atomic::count(self.focus().last)),
            F::Not => {
                let holds = self.holds(&arguments[0])?;
                return one(Atomic::truth(!holds));
            }
            F::Concat | F::Contains | F::Substring => return self.call_on_texts(function, arguments),
            _ => {}
        }
        let items = match arguments.first() {
            Some(argument) => self.eval(argument)?,
            None => vec![self.focus().item.clone()],
        };
        match function {
            F::Count => return one(Atomic::count(items.len())),
            F::Empty => return one(Atomic::truth(items.is_empty())),
            F::LocalName | F::NamespaceUri => {
                let name = items.first().and_then(|item| self.name_of(item));
                let part = |(local, uri)| if function == F::LocalName { local } else { uri };
                return one(Atomic::string(name.map_or_else(String::new, part)));
            }
            _ => {}
        }
        let values = self.atomized(items);
        let text = || values.first().map_or_else(String::new, Atomic::text);
        match function {
            F::String => one(Atomic::string(text())),
            F::StringLength => one(Atomic::count(text().chars().count())),
            F::LowerCase => one(Atomic::string(text().to_lowercase())),
            F::UpperCase => one(Atomic::string(text().to_uppercase())),
            F::DistinctValues => {
                let mut distinct: Vec<Atomic> = Vec::new();
                for value in values {
                    if !distinct.iter().any(|known| known.compare(&value) == Some(Ordering::Equal)) {
                        distinct.push(value);
                    }
                }
                Ok(distinct.into_iter().map(Item::Atomic).collect())
            }
            F::Number => Ok(optional(values.first().and_then(|value| value.cast(T::Double)))),
            F::Ceiling | F::Floor | F::Round => Ok(optional(values.first().and_then(|value| rounded(function, value)))),
            F::Sum | F::Avg => Ok(optional(total(&values, function == F::Avg))),
            F::Max | F::Min => {
                let wanted = if function == F::Max { Ordering::Greater } else { Ordering::Less };
                Ok(optional(extreme(values, wanted)))
            }
            _ => Ok(values.into_iter().map(Item::Atomic).collect()),
        }
    }

    fn text_of(&mut self, argument: &Expr) -> Result<String, SqlError> {
        let items = self.eval(argument)?;
        Ok(self.atomized(items).first().map_or_else(String::new, Atomic::text))
    }

    fn call_on_texts(&mut self, function: Function, arguments: &[Expr]) -> Result<Vec<Item>, SqlError> {
        let first = self.text_of(&arguments[0])?;
        let atomic = match function {
            F::Concat => {
                let mut text = first;
                for argument in &arguments[1..] {
                    text.push_str(&self.text_of(argument)?);
                }
                Atomic::string(text)
            }
            F::Contains => {
                let part = self.text_of(&arguments[1])?;
                Atomic::truth(first.contains(&part))
            }
            _ => {
                let mut numbers = Vec::with_capacity(2);
                for argument in &arguments[1..] {
                    let items = self.eval(argument)?;
                    // Half up, as XPath rounds.
                    let number = self.atomized(items).first().and_then(Atomic::number);
                    numbers.push(number.map_or(f64::NAN, |number| (number + 0.5).floor()));
                }
                let from = numbers[0];
                let until = numbers.get(1).map_or(f64::INFINITY, |length| from + length);
                let within = |place: usize| place as f64 + 1.0 >= from && (place as f64 + 1.0) < until;
                Atomic::string(
                    first.chars().enumerate().filter(|(place, _)| within(*place)).map(|(_, c)| c).collect::<String>(),
                )
            }
        };
        Ok(vec![Item::Atomic(atomic)])
    }
}

fn optional(atomic: Option<Atomic>) -> Vec<Item> {
    atomic.map(Item::Atomic).into_iter().collect()
}

/// A number; what has no type is a double.
fn numeric(value: &Atomic) -> Option<Atomic> {
    if value.ty == T::Untyped { value.cast(T::Double) } else { Some(value.clone()) }
}

fn rounded(function: Function, value: &Atomic) -> Option<Atomic> {
    let value = numeric(value)?;
    let datum = match &value.datum {
        Datum::Exact(decimal) => {
            let half = super::atomic::decimal_of("0.5")?;
            let moved = if function == F::Round { decimal.add(&half).ok()? } else { *decimal };
            let whole = moved.truncate();
            let cut = i128::from(moved.scale() > 0 && moved.mantissa() % 10i128.pow(moved.scale().into()) != 0);
            let whole = match function {
                F::Ceiling if moved.mantissa() > 0 => whole + cut,
                F::Floor | F::Round if moved.mantissa() < 0 => whole - cut,
                _ => whole,
            };
            Datum::Exact(super::atomic::decimal_of(&whole.to_string())?)
        }
        _ => {
            let number = value.number()?;
            Datum::Approximate(match function {
                F::Ceiling => number.ceil(),
                F::Floor => number.floor(),
                _ => (number + 0.5).floor(),
            })
        }
    };
    Some(Atomic { ty: value.ty, datum })
}

fn total(values: &[Atomic], average: bool) -> Option<Atomic> {
    let mut values_left = values.iter();
    let Some(first) = values_left.next() else {
        return (!average).then(|| Atomic::count(0));
    };
    let mut sum = numeric(first)?;
    for value in values_left {
        sum = sum.calculate(ArithmeticOp::Add, &numeric(value)?)?;
    }
    if average { sum.calculate(ArithmeticOp::Divide, &Atomic::count(values.len())) } else { Some(sum) }
}

fn extreme(values: Vec<Atomic>, wanted: Ordering) -> Option<Atomic> {
    let mut best: Option<Atomic> = None;
    for value in values {
        let value = numeric(&value)?;
        if best.as_ref().is_none_or(|best| value.compare(best) == Some(wanted)) {
            best = Some(value);
        }
    }
    best
}
