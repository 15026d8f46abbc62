//! Compiled scalar expressions: names resolved to slots, conversions inserted, constants folded.
//!
//! All values live in one array of slots: a procedure's variables first, then the registers of the running statement (the
//! columns of the current row, subquery results, aggregates). Leaves give references into that array, so comparing or storing
//! a column or a variable copies nothing. Integer work runs on [`Integer`], conditions on [`Predicate`].

mod chain;
mod clr;
mod failed;
mod in_list;
mod integer;
mod masked;
mod predicate;
#[cfg(test)]
mod tests;
mod walk;
mod xml;

pub use chain::Chain;
pub(crate) use chain::LINKS_MAX;
pub use clr::ClrCall;
pub use in_list::InList;
pub use integer::{Integer, IntegerOp, Width, integer_of};
pub use masked::Masked;
pub use predicate::{Comparison, Predicate};
pub use xml::XmlMethod;

use failed::null_instead;

use crate::context::ExecutionContext;
use crate::host::Host;
use crate::state::{Global, SessionState};
use pikepole_types::memory;
use pikepole_types::{ArithmeticOp, CodePage, Collation, Context, Decimal, Function, SqlError, SqlType, Target, Value};

/// An error on its way up; boxed so that results stay small.
pub type Fault = Box<SqlError>;

/// What an expression can see while it is evaluated.
pub struct Env<'a> {
    /// Variables and registers.
    pub slots: &'a [Value],
    /// The session's globals.
    pub state: &'a SessionState,
    /// The functions' own state: clock of the statement, seed of RAND.
    pub functions: &'a mut Context,
    /// The host and the context its functions read; absent while constants are folded.
    pub host: Option<(&'a dyn Host, &'a ExecutionContext)>,
}

/// A scalar expression.
#[derive(Debug, Clone)]
pub enum Expr {
    /// A constant.
    Const(Value),
    /// The value of a slot.
    Slot(usize),
    /// An integer expression and the type of its result.
    Integer(Box<Integer>, Width),
    /// An integer expression whose type is `decimal(precision, 0)`, of at most 18 digits: `@@SPID * 10000000000`.
    Whole(Box<Integer>, u8),
    /// The same of a type with more digits, done in 64 bits as long as these hold it: `@@SPID * 10000000000 + @i`.
    Short(Box<Short>),
    /// A global that is no integer.
    Global(Global),
    /// Arithmetic, concatenation or bit operators on other types.
    Arithmetic(Box<Arithmetic>),
    /// A long chain of operators.
    Chain(Box<Chain>),
    /// The value of the innermost chain so far.
    Carried,
    /// `-x`
    Negate(Box<Expr>),
    /// `~x`
    Complement(Box<Expr>),
    /// An explicit or implicit conversion.
    Convert(Box<Convert>),
    /// The conversion of a value stored into a column or variable.
    Assign(Box<Assign>),
    /// A function of the types crate.
    Call(Box<Call>),
    /// A function of the host.
    Host(u32, Box<[Expr]>),
    /// CASE, IIF, NULLIF: the first condition that holds chooses.
    Case(Box<Case>),
    /// COALESCE: the first value that is not NULL.
    Coalesce(Box<[Expr]>),
    /// A condition as a bit; UNKNOWN is NULL.
    Truth(Box<Predicate>),
    /// A method of xml.
    Xml(Box<XmlMethod>),
    /// A member of a CLR type.
    Clr(Box<ClrCall>),
    /// A value made of masked columns.
    Masked(Box<Masked>),
}

/// See [`Expr::Short`].
#[derive(Debug, Clone)]
pub struct Short {
    /// The expression over integers. That it fails says nothing but that 64 bits are too few, or that `exact` fails too.
    pub integer: Integer,
    /// The digits of its type, at least 19, so that any integer fits.
    pub precision: u8,
    /// The same expression over decimals, without effects: it may be evaluated after the other.
    pub exact: Expr,
}

/// See [`Expr::Arithmetic`].
#[derive(Debug, Clone)]
pub struct Arithmetic {
    /// The operator.
    pub op: ArithmeticOp,
    /// Left and right, already of the types the operator works on.
    pub operands: [Expr; 2],
}

/// See [`Expr::Convert`].
#[derive(Debug, Clone)]
pub struct Convert {
    /// What is converted.
    pub input: Expr,
    /// Its type.
    pub from: SqlType,
    /// The type wanted.
    pub to: SqlType,
    /// The style of CONVERT.
    pub style: Option<Expr>,
    /// TRY_CAST and TRY_CONVERT: a failure is NULL.
    pub lenient: bool,
    /// That of the text of `char` or `varchar` that is made, or made into a binary.
    pub page: CodePage,
}

/// See [`Expr::Assign`].
#[derive(Debug, Clone)]
pub struct Assign {
    /// What is stored.
    pub input: Expr,
    /// Its type.
    pub from: SqlType,
    /// The type of the place.
    pub to: SqlType,
    /// That of the place, when it is of `char` or `varchar`.
    pub page: CodePage,
    /// For a column: its table's and its own name, for error 2628. A variable truncates silently.
    pub column: Option<(Box<str>, Box<str>)>,
}

/// See [`Expr::Call`].
#[derive(Debug, Clone)]
pub struct Call {
    /// The function.
    pub function: &'static Function,
    /// Its arguments.
    pub arguments: Box<[Expr]>,
    /// The arguments' types.
    pub types: Box<[SqlType]>,
    /// What the function compares texts by.
    pub collation: Collation,
}

/// See [`Expr::Case`].
#[derive(Debug, Clone)]
pub struct Case {
    /// Conditions and values.
    pub branches: Vec<(Predicate, Expr)>,
    /// The value when no condition holds.
    pub otherwise: Expr,
}

impl Expr {
    /// A constant NULL.
    pub const NULL: Expr = Expr::Const(Value::Null);

    /// The value: a reference to where it lives, or into `scratch` when it must be computed.
    ///
    /// # Errors
    /// What operators, conversions and functions report.
    #[inline]
    pub fn eval_ref<'r, 'e: 'r>(&'r self, env: &mut Env<'e>, scratch: &'r mut Value) -> Result<&'r Value, Fault> {
        match self {
            Expr::Const(value) => Ok(value),
            Expr::Slot(slot) => Ok(&env.slots[*slot]),
            computed => {
                computed.eval_into(env, scratch)?;
                Ok(scratch)
            }
        }
    }

    /// Evaluates into `out`, reusing its buffers where it can.
    ///
    /// # Errors
    /// As [`Expr::eval_ref`].
    #[inline]
    pub fn eval_into(&self, env: &mut Env<'_>, out: &mut Value) -> Result<(), Fault> {
        if let Expr::Integer(integer, width) = self {
            width.store(integer.value(env)?, out);
            return Ok(());
        }
        self.compute_into(env, out).or_else(|fault| {
            *out = Value::Null;
            null_instead(fault, env.functions)
        })
    }

    fn compute_into(&self, env: &mut Env<'_>, out: &mut Value) -> Result<(), Fault> {
        match self {
            Expr::Const(value) => {
                ask_for([value], 1)?;
                out.clone_from(value);
            }
            Expr::Slot(slot) => {
                let value = &env.slots[*slot];
                ask_for([value], 1)?;
                out.clone_from(value);
            }
            Expr::Integer(integer, width) => width.store(integer.eval(env)?, out),
            Expr::Whole(integer, precision) => store_whole(integer.eval(env)?, *precision, out),
            Expr::Short(short) => match short.integer.eval(env) {
                Ok(value) => store_whole(value, short.precision, out),
                Err(_) => short.exact.eval_into(env, out)?,
            },
            Expr::Global(global) => *out = global.value(env.state),
            Expr::Arithmetic(arithmetic) => arithmetic.eval(env, out)?,
            Expr::Chain(chain) => chain.eval(env, out)?,
            Expr::Carried => out.clone_from(&env.functions.carried),
            Expr::Negate(input) => {
                let mut scratch = Value::Null;
                *out = pikepole_types::negate(input.eval_ref(env, &mut scratch)?)?;
            }
            Expr::Complement(input) => {
                let mut scratch = Value::Null;
                *out = pikepole_types::bit_not(input.eval_ref(env, &mut scratch)?)?;
            }
            Expr::Convert(convert) => convert.eval(env, out)?,
            Expr::Assign(assign) => assign.eval(env, out)?,
            Expr::Call(call) => call.eval(env, out)?,
            Expr::Host(id, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(argument.eval(env)?);
                }
                ask_for(&values, COPIES)?;
                let (host, context) = env.host.ok_or_else(crate::errors::not_constant)?;
                *out = host.call_function(*id, &values, context)?;
            }
            Expr::Case(case) => return case.choose(env)?.eval_into(env, out),
            Expr::Coalesce(choices) => {
                *out = Value::Null;
                for choice in choices {
                    choice.eval_into(env, out)?;
                    if !matches!(out, Value::Null) {
                        break;
                    }
                }
            }
            Expr::Xml(method) => method.eval(env, out)?,
            Expr::Clr(call) => call.eval(env, out)?,
            Expr::Masked(masked) => masked.eval(env, out)?,
            Expr::Truth(predicate) => {
                *out = predicate.eval(env)?.map_or(Value::Null, Value::Bit);
            }
        }
        Ok(())
    }

    /// The number of an integer expression or of a slot that holds an integer; None: it is another expression.
    #[inline]
    pub(crate) fn plain_integer(&self, env: &mut Env<'_>) -> Option<Result<Option<i64>, Fault>> {
        match self {
            Expr::Integer(integer, _) => Some(integer.value(env)),
            Expr::Slot(slot) => integer_of(&env.slots[*slot]).map(|number| Ok(Some(number))),
            _ => None,
        }
    }

    /// The value as a new value.
    ///
    /// # Errors
    /// As [`Expr::eval_ref`].
    pub fn eval(&self, env: &mut Env<'_>) -> Result<Value, Fault> {
        let mut out = Value::Null;
        self.eval_into(env, &mut out)?;
        Ok(out)
    }

    /// True for a constant.
    pub fn is_const(&self) -> bool {
        matches!(self, Expr::Const(_))
    }
}

/// How many times as long as its arguments a function's value and what it makes on the way are at most. What makes more asks itself.
pub(crate) const COPIES: usize = 2;

/// Asks for the memory of something that is so many times as long as these values, all together.
///
/// # Errors
/// 701.
#[inline]
pub(crate) fn ask_for<'v>(values: impl IntoIterator<Item = &'v Value>, times: usize) -> Result<(), SqlError> {
    let bytes = values.into_iter().map(Value::text_bytes).fold(0, usize::saturating_add);
    if bytes < memory::SMALL_BYTES { Ok(()) } else { memory::ask(bytes.saturating_mul(times)) }
}

/// Stores a number that fits so many digits as a decimal without a fraction.
#[inline]
fn store_whole(value: Option<i64>, precision: u8, out: &mut Value) {
    let decimal = value.and_then(|value| Decimal::new(value.into(), precision, 0));
    *out = decimal.map_or(Value::Null, Value::Decimal);
}

impl Arithmetic {
    fn eval(&self, env: &mut Env<'_>, out: &mut Value) -> Result<(), Fault> {
        let (mut a, mut b) = (Value::Null, Value::Null);
        let left = self.operands[0].eval_ref(env, &mut a)?;
        let right = self.operands[1].eval_ref(env, &mut b)?;
        ask_for([left, right], 1)?;
        pikepole_types::arithmetic_into(self.op, left, right, out)?;
        if out.is_null() && env.functions.joins_nulls && self.op == ArithmeticOp::Add {
            let text = [left, right].into_iter().find(|value| value.as_str().is_some());
            out.clone_from(text.unwrap_or(&Value::Null));
        }
        Ok(())
    }
}

impl Convert {
    fn eval(&self, env: &mut Env<'_>, out: &mut Value) -> Result<(), Fault> {
        let style = match &self.style {
            None => None,
            Some(style) => match integer_of(&style.eval(env)?) {
                Some(style) => Some(i32::try_from(style).unwrap_or(-1)),
                None => {
                    *out = Value::Null;
                    return Ok(());
                }
            },
        };
        let mut scratch = Value::Null;
        let input = self.input.eval_ref(env, &mut scratch)?;
        ask_for([input], COPIES)?;
        env.functions.code_page = self.page;
        if self.lenient {
            *out = env.functions.try_convert(input, &self.from, &self.to, style)?;
        } else {
            env.functions.convert_into(input, &self.from, &self.to, style, out)?;
        }
        Ok(())
    }
}

impl Assign {
    fn eval(&self, env: &mut Env<'_>, out: &mut Value) -> Result<(), Fault> {
        let mut scratch = Value::Null;
        let input = self.input.eval_ref(env, &mut scratch)?;
        ask_for([input], 1)?;
        env.functions.code_page = self.page;
        let target = match &self.column {
            Some((table, column)) if !env.functions.cuts_silently => Target::Column { table, column },
            _ => Target::Variable,
        };
        env.functions.assign(input, &self.from, &self.to, target, out)?;
        Ok(())
    }
}

impl Call {
    fn eval(&self, env: &mut Env<'_>, out: &mut Value) -> Result<(), Fault> {
        // Most functions take at most three arguments: those never allocate for the call itself.
        *out = match &*self.arguments {
            [] => self.apply(env.functions, &[])?,
            [a] => {
                let values = [a.eval(env)?];
                self.value_of(env.functions, &values)?
            }
            [a, b] => {
                let values = [a.eval(env)?, b.eval(env)?];
                self.value_of(env.functions, &values)?
            }
            [a, b, c] => {
                let values = [a.eval(env)?, b.eval(env)?, c.eval(env)?];
                self.value_of(env.functions, &values)?
            }
            many => {
                let mut values = Vec::with_capacity(many.len());
                for argument in many {
                    values.push(argument.eval(env)?);
                }
                self.value_of(env.functions, &values)?
            }
        };
        Ok(())
    }

    /// The value for these arguments, once there is memory for copies of long ones.
    #[inline]
    fn value_of(&self, functions: &mut Context, values: &[Value]) -> Result<Value, SqlError> {
        ask_for(values, COPIES)?;
        self.apply(functions, values)
    }

    /// The value for these arguments, whose own functions have set what this one now sets for itself.
    #[inline]
    fn apply(&self, functions: &mut Context, values: &[Value]) -> Result<Value, SqlError> {
        functions.collation = self.collation;
        functions.code_page = self.collation.code_page();
        (self.function.eval)(functions, values, &self.types)
    }
}

impl Case {
    fn choose(&self, env: &mut Env<'_>) -> Result<&Expr, Fault> {
        for (condition, value) in &self.branches {
            if condition.holds(env)? {
                return Ok(value);
            }
        }
        Ok(&self.otherwise)
    }
}
