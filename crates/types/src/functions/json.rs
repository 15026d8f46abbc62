//! ISJSON, JSON_VALUE, JSON_QUERY, JSON_MODIFY, JSON_PATH_EXISTS, JSON_OBJECT, JSON_ARRAY.

use super::{Context, text};
use crate::error::SqlError;
use crate::json::{
    Change, Kind, Path, escaped_bytes_max, is_document, modify as modified, unescaped, value_kind, write_json,
    write_name,
};
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

type Evaluated = Result<Value, SqlError>;
type Typed = Result<SqlType, SqlError>;

/// UTF-16 units that JSON_VALUE gives.
const VALUE_UNITS_MAX: usize = 4000;

pub(super) fn isjson_type(types: &[SqlType]) -> Typed {
    texts(types, "isjson")?;
    Ok(SqlType::Int)
}

pub(super) fn value_type(types: &[SqlType]) -> Typed {
    texts(types, "json_value")?;
    Ok(SqlType::NVarChar(Length::Limit(VALUE_UNITS_MAX as u16)))
}

pub(super) fn query_type(types: &[SqlType]) -> Typed {
    texts(types, "json_query")?;
    Ok(SqlType::NVarChar(Length::Max))
}

fn texts(types: &[SqlType], function: &str) -> Result<(), SqlError> {
    for (ty, at) in types.iter().zip(1..) {
        if !ty.is_string() && *ty != SqlType::Null {
            return Err(SqlError::argument_type_invalid(ty.error_name(), at, function));
        }
    }
    Ok(())
}

/// 1 of an object or array, or of what the second argument names; 0 of any other text.
pub(super) fn isjson(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let json = text(context, values, types, 0)?;
    let Some(wanted) = values.get(1).and_then(Value::as_str) else {
        return Ok(Value::Int(i32::from(is_document(&json))));
    };
    let kind = value_kind(&json);
    let is = match wanted.to_ascii_uppercase().as_str() {
        "VALUE" => kind.is_some(),
        "OBJECT" => kind == Some(Kind::Object),
        "ARRAY" => kind == Some(Kind::Array),
        "SCALAR" => kind == Some(Kind::Text) || kind == Some(Kind::Plain) && is_number(&json),
        _ => return Err(SqlError::incorrect_syntax(wanted)),
    };
    Ok(Value::Int(i32::from(is)))
}

/// Of plain values `true` and `false` are none that SCALAR means.
fn is_number(json: &str) -> bool {
    json.trim_start().starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

pub(super) fn made_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::NVarChar(Length::Max))
}

/// JSON_ARRAY: whether NULLs are left out; then, for each value, whether it is JSON already, and the value.
pub(super) fn make_array(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let absent = values[0] == Value::Bit(true);
    let mut out = String::from("[");
    for at in (1..values.len()).step_by(2) {
        if absent && values[at + 1].is_null() {
            continue;
        }
        if out.len() > 1 {
            out.push(',');
        }
        write_part(values, types, at, &mut out);
    }
    out.push(']');
    Ok(Value::Str(out))
}

/// JSON_OBJECT: the same, with a key before each value.
pub(super) fn make_object(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let absent = values[0] == Value::Bit(true);
    let mut out = String::from("{");
    for at in (1..values.len()).step_by(3) {
        if absent && values[at + 2].is_null() {
            continue;
        }
        if values[at].is_null() {
            return Err(SqlError::argument_type_invalid("NULL", at, "json_object"));
        }
        if out.len() > 1 {
            out.push(',');
        }
        write_name(&text(context, values, types, at)?, &mut out);
        out.push(':');
        write_part(values, types, at + 1, &mut out);
    }
    out.push('}');
    Ok(Value::Str(out))
}

/// Writes the value behind the flag at `at`.
fn write_part(values: &[Value], types: &[SqlType], at: usize, out: &mut String) {
    match &values[at + 1] {
        Value::Str(json) if values[at] == Value::Bit(true) => out.push_str(json),
        value => write_json(value, &types[at + 1], out),
    }
}

pub(super) fn value(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let path = Path::parse(&text(context, values, types, 1)?)?;
    let json = text(context, values, types, 0)?;
    let Some((kind, part)) = path.find(&json)? else {
        return Ok(Value::Null);
    };
    let found = match kind {
        Kind::Null => return Ok(Value::Null),
        Kind::Plain => part.to_owned(),
        Kind::Text => unescaped(part),
        Kind::Object | Kind::Array => {
            return path.or_null(13623, 1, "Scalar value cannot be found in the specified JSON path.");
        }
    };
    if found.encode_utf16().count() > VALUE_UNITS_MAX {
        return path.or_null(13625, 1, "String value in the specified JSON path would be truncated.");
    }
    Ok(Value::Str(found))
}

pub(super) fn query(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let path = if values.len() > 1 { Path::parse(&text(context, values, types, 1)?)? } else { Path::default() };
    let json = text(context, values, types, 0)?;
    match path.find(&json)? {
        None => Ok(Value::Null),
        Some((Kind::Object | Kind::Array, part)) => Ok(Value::Str(part.to_owned())),
        Some(_) => path.or_null(13624, 1, "Object or array cannot be found in the specified JSON path."),
    }
}

/// The path, and whether `append` stands before it.
fn modify_path(source: &str) -> Result<(Path, bool), SqlError> {
    let trimmed = source.trim_start();
    match trimmed.strip_prefix("append") {
        Some(rest) if rest.starts_with([' ', '\t', '\n', '\r']) => Ok((Path::parse(rest)?, true)),
        _ => Ok((Path::parse(source)?, false)),
    }
}

pub(super) fn modify_type(types: &[SqlType]) -> Typed {
    texts(&types[..2], "json_modify")?;
    Ok(SqlType::NVarChar(Length::Max))
}

/// The document with the value of a path changed. A fourth argument says that the value is JSON already.
pub(super) fn modify(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    if values[0].is_null() || values[1].is_null() {
        return Ok(Value::Null);
    }
    let (path, append) = modify_path(&text(context, values, types, 1)?)?;
    let json = text(context, values, types, 0)?;
    let mut new = String::new();
    let change = match &values[2] {
        Value::Null => Change::Null,
        Value::Str(json) if values.len() > 3 => Change::Json(json),
        value => {
            let bytes = value.as_str().map_or(0, escaped_bytes_max);
            crate::memory::reserve_text(&mut new, bytes)?;
            write_json(value, &types[2], &mut new);
            Change::Json(&new)
        }
    };
    modified(&json, &path, append, change).map(Value::Str)
}

pub(super) fn path_exists_type(types: &[SqlType]) -> Typed {
    texts(types, "json_path_exists")?;
    Ok(SqlType::Int)
}

/// Whether a path leads somewhere; a text that is no JSON has no paths.
pub(super) fn path_exists(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let path = Path::parse(&text(context, values, types, 1)?)?;
    let json = text(context, values, types, 0)?;
    let found = path.find(&json);
    Ok(Value::Int(i32::from(found.is_ok_and(|found| found.is_some()))))
}
