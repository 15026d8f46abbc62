//! String functions. Positions and lengths count UTF-16 units, from 1, and whole characters in collations of supplementary ones; only
//! DATALENGTH and what a type holds at most count a `varchar`'s bytes.

use super::{Context, longest_text, text, text_type, whole};
use crate::code_page::{CodePage, length_of, offset_of};
use crate::collation::Finder;
use crate::convert::push_blanks;
use crate::error::SqlError;
use crate::like::LikePattern;
use crate::memory::{ask, reserve_text};
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

type Evaluated = Result<Value, SqlError>;
type Typed = Result<SqlType, SqlError>;

pub(super) fn int_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::Int)
}

/// `bigint` for `(max)` types, `int` for all others.
pub(super) fn position_type(types: &[SqlType]) -> Typed {
    let is_long = |ty: &SqlType| ty.is_max() && !ty.is_text_or_image() && !matches!(ty, SqlType::Clr(_));
    Ok(if types.iter().any(is_long) { SqlType::BigInt } else { SqlType::Int })
}

/// What is looked for is a text, or the bytes of one.
pub(super) fn charindex_type(types: &[SqlType]) -> Typed {
    let wanted = &types[0];
    if !wanted.is_string() && !wanted.is_binary() && *wanted != SqlType::Null {
        return Err(SqlError::argument_type_invalid(wanted.error_name(), 1, "charindex"));
    }
    position_type(types)
}

pub(super) fn char_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::Char(1))
}

pub(super) fn nchar_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::NChar(1))
}

pub(super) fn quotename_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::NVarChar(Length::Limit(258)))
}

/// The varying string type of the first argument.
pub(super) fn same_text(types: &[SqlType]) -> Typed {
    Ok(text_type(&types[0]))
}

/// The varying string or binary type of the first argument.
pub(super) fn same_string(types: &[SqlType]) -> Typed {
    Ok(match types[0] {
        SqlType::Binary(n) => SqlType::VarBinary(Length::Limit(n)),
        SqlType::VarBinary(_) => types[0],
        SqlType::Text => SqlType::VarChar(Length::Limit(8000)),
        SqlType::NText => SqlType::NVarChar(Length::Limit(4000)),
        SqlType::Image => SqlType::VarBinary(Length::Limit(8000)),
        _ => text_type(&types[0]),
    })
}

/// The longest string type that the arguments lead to.
pub(super) fn long_text(types: &[SqlType]) -> Typed {
    Ok(longest_text(types))
}

/// Units that an argument of CONCAT adds to its type: of a number or a moment those that SQL Server converts it to. NULL
/// without a type adds none.
fn length_max(ty: &SqlType) -> usize {
    match ty {
        SqlType::Null => 0,
        SqlType::Bit => 1,
        SqlType::TinyInt => 3,
        SqlType::SmallInt => 6,
        SqlType::Int | SqlType::SmallMoney => 12,
        SqlType::BigInt | SqlType::Money => 24,
        SqlType::DateTime | SqlType::SmallDateTime => 27,
        SqlType::Real | SqlType::Float | SqlType::Time(_) => 32,
        SqlType::UniqueIdentifier => 36,
        SqlType::Date => 40,
        SqlType::Decimal { .. } => 41,
        SqlType::DateTime2(_) => 54,
        SqlType::DateTimeOffset(_) => 68,
        SqlType::Variant => Length::Limit(8000).limit(),
        _ => text_type(ty).declared_length().map_or(0, Length::limit),
    }
}

/// The sum of the lengths.
pub(super) fn concat_type(types: &[SqlType]) -> Typed {
    joined_type(types, 0)
}

/// The sum of the lengths, with a separator between any two texts.
pub(super) fn concat_ws_type(types: &[SqlType]) -> Typed {
    // One separator is in the sum already.
    joined_type(types, length_max(&types[0]).saturating_mul(types.len().saturating_sub(3)))
}

fn joined_type(types: &[SqlType], more: usize) -> Typed {
    let longest = longest_text(types);
    let sum = types.iter().map(length_max).fold(more, usize::saturating_add);
    let fit = |most: usize| Length::Limit(sum.clamp(1, most) as u16);
    Ok(match longest {
        SqlType::NVarChar(Length::Limit(_)) => SqlType::NVarChar(fit(4000)),
        SqlType::VarChar(Length::Limit(_)) => SqlType::VarChar(fit(8000)),
        max => max,
    })
}

/// A position or length in the result type of [`position_type`].
fn position(number: usize, types: &[SqlType]) -> Evaluated {
    Ok(match position_type(types)? {
        SqlType::BigInt => Value::BigInt(number as i64),
        _ => Value::Int(number as i32),
    })
}

/// What the texts of a type are made of.
fn page(context: &Context, ty: &SqlType) -> CodePage {
    context.collation.code_page().of(ty)
}

/// A text's length as positions count.
fn length(context: &Context, text: &str) -> usize {
    length_of(text, context.collation.counts_characters())
}

/// The byte offset of a position from 0.
fn offset(context: &Context, text: &str, at: usize) -> usize {
    offset_of(text, at, context.collation.counts_characters())
}

/// A text cut to the longest its type holds.
fn limited(context: &Context, mut text: String, types: &[SqlType]) -> Evaluated {
    let ty = longest_text(types);
    let limit = ty.declared_length().map_or(usize::MAX, Length::limit);
    let end = page(context, &ty).prefix(&text, limit).len();
    text.truncate(end);
    Ok(Value::Str(text))
}

pub(super) fn len(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    if let Value::Bin(bytes) = &values[0] {
        // They are read as text, whose blanks at the end do not count.
        let blanks = bytes.iter().rev().take_while(|byte| **byte == b' ').count();
        return position(bytes.len() - blanks, types);
    }
    let text = text(context, values, types, 0)?;
    position(length(context, text.trim_end_matches(' ')), types)
}

pub(super) fn datalength(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let bytes = match &values[0] {
        Value::Variant(variant) => variant.data_bytes(),
        Value::Bin(bytes) => bytes.len(),
        Value::Str(text) => page(context, &types[0]).bytes(text),
        _ => types[0].max_length() as usize,
    };
    position(bytes, types)
}

pub(super) fn substring(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (start, length) = (whole(values, types, 1)?, whole(values, types, 2)?);
    if length < 0 {
        return Err(SqlError::invalid_length_of_left_or_substring());
    }
    // A start before the first character takes from the length.
    let first = start.saturating_sub(1);
    let (from, to) = (first.max(0), first.saturating_add(length).max(0));
    let (from, mut to) = (from as usize, (to.max(from)) as usize);
    if types[0].is_text_or_image() {
        let limit = same_string(types)?.declared_length().map_or(usize::MAX, Length::limit);
        to = to.min(from.saturating_add(limit));
    }
    if let Value::Bin(bytes) = &values[0] {
        return Ok(Value::Bin(bytes[from.min(bytes.len())..to.min(bytes.len())].to_vec()));
    }
    let text = text(context, values, types, 0)?;
    Ok(Value::from(between(context, &text, from, to)))
}

/// What stands from one position up to, not including, another.
fn between<'t>(context: &Context, text: &'t str, from: usize, to: usize) -> &'t str {
    let start = offset(context, text, from);
    let end = offset(context, text, to);
    &text[start..end.max(start)]
}

pub(super) fn left(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let count =
        usize::try_from(whole(values, types, 1)?).map_err(|_| SqlError::invalid_length_of_left_or_substring())?;
    let text = text(context, values, types, 0)?;
    Ok(Value::from(between(context, &text, 0, count)))
}

pub(super) fn right(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let count = usize::try_from(whole(values, types, 1)?).map_err(|_| SqlError::invalid_length("right"))?;
    let text = text(context, values, types, 0)?;
    let all = length(context, &text);
    Ok(Value::from(between(context, &text, all.saturating_sub(count), all)))
}

pub(super) fn upper(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let text = text(context, values, types, 0)?;
    Ok(Value::Str(map_case(&text, page(context, &types[0]), |c| context.collation.upper_case(c))))
}

pub(super) fn lower(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let text = text(context, values, types, 0)?;
    Ok(Value::Str(map_case(&text, page(context, &types[0]), |c| context.collation.lower_case(c))))
}

/// Maps character by character; one whose other case is longer, or not in the code page, stays.
fn map_case(text: &str, page: CodePage, map: impl Fn(char) -> char) -> String {
    let other_case = |c: char| Some(map(c)).filter(|other| page.holds(*other)).unwrap_or(c);
    text.chars().map(other_case).collect()
}

/// The characters that a trim function takes away: blanks without a second argument.
fn trimmed_set(context: &Context, values: &[Value], types: &[SqlType]) -> Result<String, SqlError> {
    if values.len() < 2 {
        return Ok(" ".to_owned());
    }
    Ok(text(context, values, types, 1)?.into_owned())
}

pub(super) fn ltrim(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (text, set) = (text(context, values, types, 0)?, trimmed_set(context, values, types)?);
    Ok(Value::from(text.trim_start_matches(|c| set.contains(c))))
}

pub(super) fn rtrim(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (text, set) = (text(context, values, types, 0)?, trimmed_set(context, values, types)?);
    Ok(Value::from(text.trim_end_matches(|c| set.contains(c))))
}

/// `TRIM(text [, characters])`; the parser turns `TRIM(characters FROM text)` into this order.
pub(super) fn trim(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (text, set) = (text(context, values, types, 0)?, trimmed_set(context, values, types)?);
    Ok(Value::from(text.trim_matches(|c| set.contains(c))))
}

pub(super) fn charindex(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (wanted, text) = (text(context, values, types, 0)?, text(context, values, types, 1)?);
    let start = if values.len() > 2 { whole(values, types, 2)?.max(1) as usize } else { 1 };
    let from = offset(context, &text, start - 1);
    if wanted.is_empty() {
        return position(0, types);
    }
    let found = Finder::new(context.collation, &text, &wanted).find(from);
    position(found.map_or(0, |(at, _)| length(context, &text[..at]) + 1), types)
}

pub(super) fn patindex(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (pattern, text) = (text(context, values, types, 0)?, text(context, values, types, 1)?);
    let found = LikePattern::new(&pattern, None, context.collation).find(&text);
    position(found.map_or(0, |at| length(context, &text[..at]) + 1), types)
}

pub(super) fn replace(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (text, wanted, by) =
        (text(context, values, types, 0)?, text(context, values, types, 1)?, text(context, values, types, 2)?);
    if wanted.is_empty() {
        return limited(context, text.into_owned(), types);
    }
    let mut replaced = String::with_capacity(text.len());
    let mut from = 0;
    let finder = Finder::new(context.collation, &text, &wanted);
    while let Some((start, end)) = finder.find(from) {
        reserve_text(&mut replaced, start - from + by.len())?;
        replaced.push_str(&text[from..start]);
        replaced.push_str(&by);
        from = end;
    }
    reserve_text(&mut replaced, text.len() - from)?;
    replaced.push_str(&text[from..]);
    limited(context, replaced, types)
}

pub(super) fn replicate(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let text = text(context, values, types, 0)?;
    let Ok(count) = usize::try_from(whole(values, types, 1)?) else {
        return Ok(Value::Null);
    };
    if text.is_empty() {
        return Ok(Value::from(""));
    }
    // No more than the result can hold, whatever the count.
    const MAX_BYTES: usize = 1 << 31;
    let ty = longest_text(types);
    let count = match ty.declared_length() {
        Some(Length::Limit(limit)) => count.min(usize::from(limit) / page(context, &ty).units(&text) + 1),
        _ if text.len().saturating_mul(count) >= MAX_BYTES => return Err(SqlError::insufficient_memory("default")),
        _ => count,
    };
    ask(text.len().saturating_mul(count))?;
    limited(context, text.repeat(count), types)
}

pub(super) fn space(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let Ok(count) = usize::try_from(whole(values, types, 0)?) else {
        return Ok(Value::Null);
    };
    let mut text = String::new();
    push_blanks(count.min(8000), &mut text);
    Ok(Value::Str(text))
}

pub(super) fn concat(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let mut joined = String::new();
    for at in 0..values.len() {
        if !values[at].is_null() {
            let text = text(context, values, types, at)?;
            reserve_text(&mut joined, text.len())?;
            joined.push_str(&text);
        }
    }
    limited(context, joined, types)
}

pub(super) fn concat_ws(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let separator = if values[0].is_null() { "".into() } else { text(context, values, types, 0)? };
    let mut joined = String::new();
    let mut first = true;
    for at in 1..values.len() {
        if !values[at].is_null() {
            let text = text(context, values, types, at)?;
            reserve_text(&mut joined, text.len() + separator.len())?;
            if !first {
                joined.push_str(&separator);
            }
            first = false;
            joined.push_str(&text);
        }
    }
    limited(context, joined, types)
}

/// A NULL replacement deletes.
pub(super) fn stuff(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    if values[..3].iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let text = text(context, values, types, 0)?;
    let (start, gone) = (whole(values, types, 1)?, whole(values, types, 2)?);
    if start < 1 || gone < 0 || start as usize > length(context, &text) {
        return Ok(Value::Null);
    }
    let from = offset(context, &text, start as usize - 1);
    let to = offset(context, &text, (start - 1).saturating_add(gone) as usize);
    let by = if values[3].is_null() { "".into() } else { super::text(context, values, types, 3)? };
    limited(context, [&text[..from], &by, &text[to..]].concat(), types)
}

/// The type of the column.
pub(super) fn written_type(types: &[SqlType]) -> Typed {
    Ok(types[0])
}

/// `WRITE(value, offset, length)` of the first argument, whose column's name is the last one. Offsets are from 0. A value of NULL cuts at
/// the offset, an offset of NULL appends, a length of NULL goes to the end.
pub(super) fn write(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let [old, new, start, span, column] = values else { return Ok(Value::Null) };
    if old.is_null() {
        return Err(SqlError::mutator_of_null("Write", column.as_str().unwrap_or_default()));
    }
    if new.is_null() && start.is_null() {
        return Ok(old.clone());
    }
    let bytes = |value: &Value| if let Value::Bin(bytes) = value { bytes.len() } else { 0 };
    let old_text = if types[0].is_binary() { "".into() } else { text(context, values, types, 0)? };
    let end = if types[0].is_binary() { bytes(old) } else { length(context, &old_text) };
    let asked = start.as_i64();
    let from = asked.map_or(Some(end), |offset| usize::try_from(offset).ok()).filter(|from| *from <= end);
    let from = from.ok_or_else(|| SqlError::offset_outside_lob(asked.unwrap_or_default()))?;
    let gone = match span.as_i64() {
        _ if new.is_null() || asked.is_none() => end - from,
        None => end - from,
        Some(length) => {
            let length = usize::try_from(length).map_err(|_| SqlError::deletion_length_outside_lob(length))?;
            length.min(end - from)
        }
    };
    if let Value::Bin(old) = old {
        let new = if let Value::Bin(new) = new { &new[..] } else { &[] };
        return Ok(Value::Bin([&old[..from], new, &old[from + gone..]].concat()));
    }
    let at = |unit: usize| offset(context, &old_text, unit);
    let new = if new.is_null() { "".into() } else { text(context, values, types, 1)? };
    Ok(Value::Str([&old_text[..at(from)], &new, &old_text[at(from + gone)..]].concat()))
}

pub(super) fn reverse(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    Ok(Value::Str(text(context, values, types, 0)?.chars().rev().collect()))
}

/// `STR(number [, length [, decimals]])`: right-aligned, stars when it does not fit. Decimals of NULL are as if none were said.
pub(super) fn str(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    if values.iter().take(2).any(Value::is_null) {
        return Ok(Value::Null);
    }
    let number = super::float(values, types, 0)?;
    let length = if values.len() > 1 { whole(values, types, 1)? } else { 10 };
    let has_decimals = values.get(2).is_some_and(|decimals| !decimals.is_null());
    let decimals = if has_decimals { whole(values, types, 2)? } else { 0 };
    if !(1..=8000).contains(&length) || decimals < 0 {
        return Ok(Value::Null);
    }
    let length = length as usize;
    let digits = Digits::of(number);
    // As many decimals as there is room for beside what stands before the point now; rounding may take more.
    let room = length.saturating_sub(digits.rounded(0, false).len() + 1);
    let text = digits.rounded((decimals.min(16) as usize).min(room), true);
    Ok(Value::Str(if text.len() > length { "*".repeat(length) } else { format!("{text:>length$}") }))
}

/// The digits of a float that STR knows: the first 17 of its exact value.
struct Digits {
    negative: bool,
    digits: Vec<u8>,
    /// How many of them stand before the point.
    point: i32,
}

impl Digits {
    const COUNT: usize = 17;

    fn of(number: f64) -> Digits {
        // All digits that a float can have, so that nothing is rounded.
        let exact = format!("{:.770e}", number.abs());
        let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').take(Self::COUNT).collect();
        Digits { negative: number.is_sign_negative(), digits, point: exponent.parse().unwrap_or(0) + 1 }
    }

    /// The text with so many places behind the point, rounded half away from zero or cut off.
    fn rounded(&self, places: usize, rounds: bool) -> String {
        // From the first digit before the point, or a zero there, to the one behind the last place.
        let at =
            |place: i32| usize::try_from(place).ok().and_then(|place| self.digits.get(place)).copied().unwrap_or(0);
        let first = (self.point - 1).min(0);
        let last = self.point + places as i32;
        let mut kept: Vec<u8> = (first..last).map(at).collect();
        if rounds && at(last) >= 5 {
            let carried = kept.iter().rposition(|digit| *digit < 9);
            kept.iter_mut().skip(carried.map_or(0, |place| place + 1)).for_each(|digit| *digit = 0);
            match carried {
                Some(place) => kept[place] += 1,
                None => kept.insert(0, 1),
            }
        }
        let mut text = String::from(if self.negative { "-" } else { "" });
        let before = kept.len() - places;
        for (place, digit) in kept.iter().enumerate() {
            if place == before {
                text.push('.');
            }
            text.push(char::from(b'0' + digit));
        }
        text
    }
}

pub(super) fn ascii(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let first = text(context, values, types, 0)?.chars().next();
    let mut bytes = Vec::new();
    if let Some(c) = first {
        context.collation.code_page().encode(c.encode_utf8(&mut [0; 4]), &mut bytes);
    }
    Ok(bytes.first().map_or(Value::Null, |byte| Value::Int(i32::from(*byte))))
}

pub(super) fn unicode(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let text = text(context, values, types, 0)?;
    if context.collation.counts_characters() {
        let code = text.chars().next().and_then(|first| i32::try_from(u32::from(first)).ok());
        return Ok(code.map_or(Value::Null, Value::Int));
    }
    Ok(text.encode_utf16().next().map_or(Value::Null, |unit| Value::Int(i32::from(unit))))
}

pub(super) fn char_of(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let Ok(byte) = u8::try_from(whole(values, types, 0)?) else { return Ok(Value::Null) };
    let mut text = String::new();
    context.collation.code_page().decode(&[byte], &mut text);
    // A byte that begins a longer character is none.
    Ok(if text.contains(char::REPLACEMENT_CHARACTER) { Value::Null } else { Value::Str(text) })
}

pub(super) fn nchar(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let code = u32::try_from(whole(values, types, 0)?).ok().filter(|&code| code <= 0xFFFF);
    Ok(code.and_then(char::from_u32).map_or(Value::Null, |c| Value::Str(c.to_string())))
}

/// `QUOTENAME(name [, quote])`: brackets unless told otherwise; NULL for a name of more than 128 characters.
pub(super) fn quotename(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let name = text(context, values, types, 0)?;
    let quote = if values.len() > 1 { text(context, values, types, 1)?.chars().next() } else { Some('[') };
    let (open, close) = match quote {
        Some('[' | ']') | None => ('[', ']'),
        Some('(' | ')') => ('(', ')'),
        Some('<' | '>') => ('<', '>'),
        Some('{' | '}') => ('{', '}'),
        Some(c @ ('\'' | '"' | '`')) => (c, c),
        Some(_) => return Ok(Value::Null),
    };
    if length_of(&name, false) > 128 {
        return Ok(Value::Null);
    }
    let mut quoted = String::with_capacity(name.len() + 2);
    quoted.push(open);
    for c in name.chars() {
        quoted.push(c);
        if c == close {
            quoted.push(c);
        }
    }
    quoted.push(close);
    Ok(Value::Str(quoted))
}

pub(super) fn translate(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (text, from, to) =
        (text(context, values, types, 0)?, text(context, values, types, 1)?, text(context, values, types, 2)?);
    // Units are translated into as many units: the two halves of a surrogate pair stay together.
    if !from.chars().map(char::len_utf16).eq(to.chars().map(char::len_utf16)) {
        return Err(SqlError::translate_lengths_differ());
    }
    let page = page(context, &types[0]);
    let in_type = |c: char| if page.holds(c) { c } else { '?' };
    let pairs: Vec<(char, char)> = from.chars().zip(to.chars().map(in_type)).collect();
    let is_same = |a: char, b: char| context.collation.is_same(a, b);
    let translated = text.chars().map(|c| pairs.iter().find(|(from, _)| is_same(*from, c)).map_or(c, |(_, to)| *to));
    Ok(Value::Str(translated.collect()))
}
