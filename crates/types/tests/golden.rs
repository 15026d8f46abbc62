//! Runs `golden.txt`: what SQL Server is known to answer.
//!
//! Columns stand between bars. A value is made by converting its text to its type; results are compared as result-set
//! text. A result `!n message` is error n.

use pikepole_types::{
    ArithmeticOp, Context, DateTimeOffset, Length, SqlError, SqlType, Target, Value, arithmetic, assign, convert,
    lookup, operator_type, to_text,
};

fn sql_type(text: &str) -> SqlType {
    let (name, parameters) = text.split_once('(').unwrap_or((text, ""));
    let numbers: Vec<u16> = parameters.trim_end_matches(')').split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let number = |at: usize| numbers.get(at).copied().unwrap_or_else(|| panic!("parameters of {text}"));
    let length = || if parameters == "max)" { Length::Max } else { Length::Limit(number(0)) };
    match name {
        "bit" => SqlType::Bit,
        "tinyint" => SqlType::TinyInt,
        "smallint" => SqlType::SmallInt,
        "int" => SqlType::Int,
        "bigint" => SqlType::BigInt,
        "decimal" => SqlType::Decimal { precision: number(0) as u8, scale: number(1) as u8 },
        "money" => SqlType::Money,
        "real" => SqlType::Real,
        "float" => SqlType::Float,
        "date" => SqlType::Date,
        "time" => SqlType::Time(number(0) as u8),
        "datetime" => SqlType::DateTime,
        "smalldatetime" => SqlType::SmallDateTime,
        "datetime2" => SqlType::DateTime2(number(0) as u8),
        "datetimeoffset" => SqlType::DateTimeOffset(number(0) as u8),
        "char" => SqlType::Char(number(0)),
        "varchar" => SqlType::VarChar(length()),
        "nchar" => SqlType::NChar(number(0)),
        "nvarchar" => SqlType::NVarChar(length()),
        "binary" => SqlType::Binary(number(0)),
        "varbinary" => SqlType::VarBinary(length()),
        "uniqueidentifier" => SqlType::UniqueIdentifier,
        "sql_variant" => SqlType::Variant,
        _ => panic!("no type {text}"),
    }
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text)
}

/// A value of a type from its text.
fn value(text: &str, ty: &SqlType) -> Value {
    if text == "NULL" {
        return Value::Null;
    }
    let style = ty.is_binary().then_some(1);
    let from = SqlType::NVarChar(Length::Max);
    convert(&Value::from(unquoted(text)), &from, ty, style).unwrap_or_else(|error| panic!("{text} as {ty}: {error}"))
}

/// `type:text`.
fn typed(text: &str) -> (Value, SqlType) {
    let (ty, text) = text.split_once(':').unwrap_or_else(|| panic!("type:text in {text}"));
    let ty = sql_type(ty);
    (value(text, &ty), ty)
}

fn outcome(result: Result<(Value, SqlType), SqlError>) -> String {
    match result {
        Ok((value, ty)) => to_text(&value, &ty),
        Err(error) => format!("!{} {}", error.number, error.message),
    }
}

fn operator(text: &str) -> ArithmeticOp {
    match text {
        "+" => ArithmeticOp::Add,
        "-" => ArithmeticOp::Subtract,
        "*" => ArithmeticOp::Multiply,
        "/" => ArithmeticOp::Divide,
        "%" => ArithmeticOp::Modulo,
        "&" => ArithmeticOp::BitAnd,
        "|" => ArithmeticOp::BitOr,
        "^" => ArithmeticOp::BitXor,
        _ => panic!("no operator {text}"),
    }
}

fn context() -> Context {
    let utc = value("2024-05-06 07:08:09.1234567", &SqlType::DateTime2(7));
    let Value::DateTime2(utc) = utc else { panic!("a datetime2") };
    Context::new(DateTimeOffset::new(utc.ticks(), 120).expect("a time"), 1)
}

fn run(fields: &[&str]) -> String {
    outcome(match *fields {
        ["convert", from, text, to, style, _] => {
            let (from, to) = (sql_type(from), sql_type(to));
            convert(&value(text, &from), &from, &to, style.parse().ok()).map(|value| (value, to))
        }
        ["operate", left, op, right, _] => {
            let ((a, a_type), (b, b_type)) = (typed(left), typed(right));
            operator_type(operator(op), &a_type, &b_type)
                .and_then(|ty| arithmetic(operator(op), &a, &b).map(|value| (value, ty)))
        }
        ["apply", name, arguments, _] => {
            let (values, types): (Vec<Value>, Vec<SqlType>) =
                arguments.split(" ; ").filter(|text| !text.is_empty()).map(typed).unzip();
            let function = lookup(name).unwrap_or_else(|| panic!("no function {name}"));
            function.check_count(values.len()).and_then(|()| {
                let ty = (function.result_type)(&types)?;
                (function.eval)(&mut context(), &values, &types).map(|value| (value, ty))
            })
        }
        ["assign", from, text, to, _] => {
            let (from, to) = (sql_type(from), sql_type(to));
            let target = Target::Column { table: "db.dbo.t", column: "c" };
            let mut out = Value::Null;
            assign(&value(text, &from), &from, &to, target, &mut out).map(|()| (out, to))
        }
        _ => panic!("what is {fields:?}"),
    })
}

#[test]
fn answers_are_those_of_sql_server() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (number, line) in include_str!("golden.txt").lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        count += 1;
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let expected = unquoted(fields.last().expect("a result"));
        let actual = run(&fields);
        if actual != expected {
            wrong.push(format!("line {}: {line}\n    gave: {actual}", number + 1));
        }
    }
    assert!(count > 200, "the file was read");
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
}
