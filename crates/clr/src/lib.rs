//! Methods of the system's CLR types: `hierarchyid`, `geometry` and `geography`.
//!
//! A type's members are rows of tables: `hierarchy::METHODS`, and `shape::METHODS` for both types of shapes. [`find`] gives one by its
//! name, which is written as it is here, and [`Method::call`] runs it. Values come and go as [`Value`]s of the types that the row says,
//! shapes and places in their serialized form; what a row does not say is the same for all: a NULL receiver gives NULL, so does a NULL
//! text, binary or shape, and a NULL number is error 6569.

mod hierarchy;
mod shape;

use pikepole_types::{ClrType, Length, SqlError, SqlType, Value};

/// How a member is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `type::name(...)`
    Static,
    /// `x.name(...)`
    Method,
    /// `x.name`
    Property,
    /// `type::name`
    StaticProperty,
    /// `x.name = value`; the result is the value after that.
    Setter,
}

/// The type of an argument or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `nvarchar(max)`
    Text,
    /// `nvarchar(4000)`
    ShortText,
    /// `varbinary(max)`
    Binary,
    /// `bit`
    Bit,
    /// `smallint`
    Short,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `xml`
    Xml,
    /// The type that has the member.
    Own,
}

impl Kind {
    /// The T-SQL type, of a member of `ty`.
    pub fn sql_type(self, ty: ClrType) -> SqlType {
        match self {
            Kind::Text => SqlType::NVarChar(Length::Max),
            Kind::ShortText => SqlType::NVarChar(Length::Limit(4000)),
            Kind::Binary => SqlType::VarBinary(Length::Max),
            Kind::Bit => SqlType::Bit,
            Kind::Short => SqlType::SmallInt,
            Kind::Int => SqlType::Int,
            Kind::Float => SqlType::Float,
            Kind::Xml => SqlType::Xml,
            Kind::Own => SqlType::Clr(ty),
        }
    }
}

/// Which types have a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The only type of its table, or both.
    All,
    Geometry,
    Geography,
}

/// A member of a type.
#[derive(Debug)]
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// How it is called.
    pub form: Form,
    of: Of,
    /// The types of its arguments.
    pub parameters: &'static [Kind],
    /// The type of its result.
    pub result: Kind,
    /// Whether it is asked also where an argument is NULL.
    takes_null: bool,
    run: Run,
}

/// What a member does.
#[derive(Debug, Clone, Copy)]
enum Run {
    Call(fn(&Call<'_>) -> Answer),
    /// It asks what two shapes have to do with each other.
    Ask(shape::Question),
    /// It is known, and not there.
    Missing,
}

type Answer = Result<Value, SqlError>;

/// What a member is called with.
struct Call<'a> {
    ty: ClrType,
    receiver: &'a Value,
    arguments: &'a [Value],
}

const fn member(
    form: Form,
    name: &'static str,
    parameters: &'static [Kind],
    result: Kind,
    run: fn(&Call<'_>) -> Answer,
) -> Method {
    Method { name, form, of: Of::All, parameters, result, takes_null: false, run: Run::Call(run) }
}

/// A member that is not there.
const fn missing(form: Form, name: &'static str, parameters: &'static [Kind], result: Kind) -> Method {
    Method { name, form, of: Of::All, parameters, result, takes_null: true, run: Run::Missing }
}

impl Method {
    const fn taking_null(self) -> Method {
        Method { takes_null: true, ..self }
    }

    const fn of(self, of: Of) -> Method {
        Method { of, ..self }
    }

    /// Whether it can be called; if not, whoever asks for it is told so by its name.
    pub fn is_there(&self) -> bool {
        !matches!(self.run, Run::Missing)
    }

    /// Its result for a receiver, NULL for static members, and as many arguments as it has parameters, of their types.
    ///
    /// # Errors
    /// 6522 for what the type's library refuses, 6569 for a NULL.
    pub fn call(&'static self, ty: ClrType, receiver: &Value, arguments: &[Value]) -> Result<Value, SqlError> {
        let is_static = matches!(self.form, Form::Static | Form::StaticProperty);
        if receiver.is_null() && !is_static {
            return Ok(Value::Null);
        }
        for (at, (kind, argument)) in self.parameters.iter().zip(arguments).enumerate() {
            match (argument, kind) {
                (Value::Null, _) if self.takes_null => {}
                (Value::Null, Kind::Int | Kind::Float | Kind::Bit) => {
                    return Err(SqlError::clr_parameter_is_null(ty.name(), self.name, at + 1));
                }
                (Value::Null, _) => return Ok(Value::Null),
                _ => {}
            }
        }
        let call = Call { ty, receiver, arguments };
        match self.run {
            Run::Call(run) => run(&call),
            Run::Ask(question) => shape::asked(&call, question),
            Run::Missing => Ok(Value::Null),
        }
    }
}

impl Call<'_> {
    /// An argument that is a number; 0 for none, which [`Method::call`] leaves to nobody.
    fn int(&self, at: usize) -> i32 {
        match self.arguments.get(at) {
            Some(Value::Int(number)) => *number,
            _ => 0,
        }
    }

    fn float(&self, at: usize) -> f64 {
        match self.arguments.get(at) {
            Some(Value::Float(number)) => *number,
            _ => 0.0,
        }
    }

    fn text(&self, at: usize) -> &str {
        match self.arguments.get(at) {
            Some(Value::Str(text)) => text,
            _ => "",
        }
    }

    fn bytes(&self, at: usize) -> &[u8] {
        self.arguments.get(at).map_or(&[], bytes)
    }
}

/// The bytes of a binary, or of a value of a CLR type.
fn bytes(value: &Value) -> &[u8] {
    match value {
        Value::Bin(bytes) => bytes,
        _ => &[],
    }
}

/// The members of a type.
pub fn members(ty: ClrType) -> impl Iterator<Item = &'static Method> {
    let of = match ty {
        ClrType::HierarchyId => Of::All,
        ClrType::Geometry => Of::Geometry,
        ClrType::Geography => Of::Geography,
    };
    let table = if ty == ClrType::HierarchyId { hierarchy::METHODS } else { shape::METHODS };
    table.iter().filter(move |method| method.of == Of::All || method.of == of)
}

/// A member by its name.
pub fn find(ty: ClrType, form: Form, name: &str) -> Option<&'static Method> {
    members(ty).find(|method| method.form == form && method.name == name)
}

#[cfg(test)]
mod tests;
