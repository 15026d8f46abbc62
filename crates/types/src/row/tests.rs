use super::*;
use crate::code_page::CodePage;
use crate::compare::order;
use crate::datetime::{Date, DateTime, DateTime2, DateTimeOffset, SmallDateTime, Time};
use crate::decimal::{Decimal, power_of_ten};
use crate::sql_type::Length;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::cmp::Ordering;

/// Integers of all magnitudes, with the edges.
fn wide_i64() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        (any::<i64>(), 0u32..63).prop_map(|(number, shift)| number >> shift),
        Just(i64::MIN),
        Just(i64::MAX),
        -3i64..3,
    ]
}

fn within(low: i64, high: i64) -> impl Strategy<Value = i64> {
    prop_oneof![low..=high, Just(low), Just(high), low..=low + 2]
}

fn sql_type() -> impl Strategy<Value = SqlType> {
    use SqlType::*;
    prop_oneof![
        Just(Bit),
        Just(TinyInt),
        Just(SmallInt),
        Just(Int),
        Just(BigInt),
        Just(Money),
        Just(SmallMoney),
        Just(Real),
        Just(Float),
        Just(Date),
        Just(Time(7)),
        Just(DateTime),
        Just(SmallDateTime),
        Just(DateTime2(7)),
        Just(DateTimeOffset(7)),
        Just(UniqueIdentifier),
        Just(Variant),
        Just(Xml),
        Just(Char(12)),
        Just(VarChar(Length::Limit(40))),
        Just(NChar(12)),
        Just(NVarChar(Length::Max)),
        Just(Binary(8)),
        Just(VarBinary(Length::Max)),
        (1u8..=38)
            .prop_flat_map(|precision| (Just(precision), 0..=precision))
            .prop_map(|(precision, scale)| Decimal { precision, scale }),
    ]
}

fn text(unicode: bool) -> BoxedStrategy<String> {
    let letters = if unicode { "[aAbB éÉß\u{0}\tΩω😀-]{0,6}" } else { "[aAbB éÉß\u{0}\t~€-]{0,10}" };
    proptest::string::string_regex(letters).expect("a pattern").boxed()
}

/// A value of a type, as assignment leaves it.
fn value(ty: SqlType, page: CodePage) -> BoxedStrategy<Value> {
    let (days, tick_days) = (3_652_058i64, 864_000_000_000i64);
    match ty {
        SqlType::Bit => any::<bool>().prop_map(Value::Bit).boxed(),
        SqlType::TinyInt => any::<u8>().prop_map(Value::TinyInt).boxed(),
        SqlType::SmallInt => any::<i16>().prop_map(Value::SmallInt).boxed(),
        SqlType::Int => wide_i64().prop_map(|v| Value::Int(v as i32)).boxed(),
        SqlType::BigInt => wide_i64().prop_map(Value::BigInt).boxed(),
        SqlType::Money => wide_i64().prop_map(Value::Money).boxed(),
        SqlType::SmallMoney => wide_i64().prop_map(|v| Value::SmallMoney(v as i32)).boxed(),
        SqlType::Real => (-1e3f32..1e3).prop_map(Value::Real).boxed(),
        SqlType::Float => prop_oneof![-1e9f64..1e9, Just(0.0), Just(-0.0), Just(f64::MAX), Just(f64::MIN_POSITIVE)]
            .prop_map(Value::Float)
            .boxed(),
        SqlType::Decimal { precision, scale } => (any::<i128>(), 0u32..127)
            .prop_map(move |(number, shift)| {
                let mantissa = (number >> shift) % power_of_ten(precision);
                Value::Decimal(Decimal::new(mantissa, precision, scale).expect("fits"))
            })
            .boxed(),
        SqlType::Date => within(0, days).prop_map(|v| Value::Date(Date::from_days(v as i32).expect("fits"))).boxed(),
        SqlType::Time(_) => {
            within(0, tick_days - 1).prop_map(|v| Value::Time(Time::from_ticks(v).expect("fits"))).boxed()
        }
        SqlType::DateTime => within(-53_690 * 25_920_000, 2_958_464 * 25_920_000 - 1)
            .prop_map(|v| Value::DateTime(DateTime::from_ticks(v).expect("fits")))
            .boxed(),
        SqlType::SmallDateTime => within(0, 65_536 * 1440 - 1)
            .prop_map(|v| Value::SmallDateTime(SmallDateTime::from_minutes(v as i32).expect("fits")))
            .boxed(),
        SqlType::DateTime2(_) => within(0, (days + 1) * tick_days - 1)
            .prop_map(|v| Value::DateTime2(DateTime2::from_ticks(v).expect("fits")))
            .boxed(),
        SqlType::DateTimeOffset(_) => (within(tick_days, days * tick_days), -840i16..=840)
            .prop_map(|(ticks, offset)| Value::DateTimeOffset(DateTimeOffset::new(ticks, offset).expect("fits")))
            .boxed(),
        SqlType::UniqueIdentifier => any::<[u8; 16]>().prop_map(Value::Guid).boxed(),
        SqlType::Variant => variants(),
        SqlType::Binary(n) => proptest::collection::vec(0u8..3, usize::from(n)).prop_map(Value::Bin).boxed(),
        SqlType::VarBinary(_) => {
            proptest::collection::vec(prop_oneof![Just(0), Just(1), Just(255)], 0..5).prop_map(Value::Bin).boxed()
        }
        SqlType::Char(n) | SqlType::NChar(n) => text(ty.is_unicode())
            .prop_map(move |mut text| {
                while page.of(&ty).units(&text) < usize::from(n) {
                    text.push(' ');
                }
                Value::Str(text)
            })
            .boxed(),
        _ => text(ty.is_unicode()).prop_map(Value::Str).boxed(),
    }
}

/// Values of all types that a `sql_variant` holds.
fn variants() -> BoxedStrategy<Value> {
    let types = sql_type().prop_filter("it holds them", crate::variant::Variant::holds);
    let pairs = types.prop_flat_map(|ty| (Just(ty), value(ty, CodePage::Western)));
    pairs
        .prop_map(|(ty, value)| {
            let variant = crate::variant::Variant::new(ty, value).expect("it holds them");
            Value::Variant(Box::new(variant))
        })
        .boxed()
}

fn nullable_value(column: ColumnType) -> BoxedStrategy<Value> {
    let nulls = if column.nullable { 1 } else { 0 };
    prop_oneof![5 => value(column.ty, column.collation.code_page()), nulls => Just(Value::Null)].boxed()
}

fn collation() -> impl Strategy<Value = Collation> {
    prop_oneof![Just(Collation::DEFAULT), proptest::sample::select(Collation::all().collect::<Vec<_>>())]
}

fn column() -> impl Strategy<Value = ColumnType> {
    (sql_type(), any::<bool>(), collation()).prop_map(|(ty, nullable, collation)| ColumnType {
        ty,
        nullable,
        collation,
    })
}

/// Columns, a key and two rows.
fn table() -> impl Strategy<Value = (Vec<ColumnType>, Vec<KeyColumn>, Vec<Value>, Vec<Value>)> {
    proptest::collection::vec(column(), 1..7).prop_flat_map(|columns| {
        // No sql_variant and no xml is in a key.
        let is_key = |column: &ColumnType| !matches!(column.ty, SqlType::Variant | SqlType::Xml);
        let is_key: Vec<bool> = columns.iter().map(is_key).collect();
        let keys = proptest::collection::vec((0..columns.len(), any::<bool>()), 0..4).prop_map(move |key| {
            let key = key.into_iter().filter(|(column, _)| is_key[*column]);
            key.map(|(column, descending)| KeyColumn { column, descending }).collect()
        });
        let row = || columns.iter().map(|&column| nullable_value(column)).collect::<Vec<_>>();
        // Half of the second row's values are the first's, so that later key columns decide too.
        let mixed = (row(), row(), proptest::collection::vec(any::<bool>(), columns.len())).prop_map(|(a, b, same)| {
            let b = a.iter().zip(b).zip(same).map(|((a, b), same)| if same { a.clone() } else { b }).collect();
            (a, b)
        });
        (Just(columns), keys, mixed).prop_map(|(columns, key, (a, b))| (columns, key, a, b))
    })
}

fn encode(layout: &RowLayout, row: &[Value]) -> (Vec<u8>, Vec<u8>) {
    let (mut key, mut rest) = (Vec::new(), Vec::new());
    layout.encode_key(|column| &row[column], &mut key).expect("a key");
    layout.encode_rest(|column| &row[column], &mut rest).expect("a rest");
    (key, rest)
}

/// Equality to the last bit, apart from the sign of zero in a key.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::DateTimeOffset(x), Value::DateTimeOffset(y)) => x == y && x.offset_minutes() == y.offset_minutes(),
        (Value::Decimal(x), Value::Decimal(y)) => x == y && x.sql_type() == y.sql_type(),
        _ => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, rng_seed: RngSeed::Fixed(0x70696B65), ..ProptestConfig::default() })]

    #[test]
    fn rows_round_trip((columns, key, row, other) in table(), wanted in proptest::collection::vec(any::<usize>(), 0..6)) {
        let layout = RowLayout::new(&columns, &key);
        let (key_bytes, rest_bytes) = encode(&layout, &row);
        // Into places that hold another row's values.
        let mut out = other.clone();
        layout.decode_all(&key_bytes, &rest_bytes, &mut out).expect("decodes");
        for (a, b) in row.iter().zip(&out) {
            prop_assert!(same(a, b), "{:?} became {:?}", a, b);
        }
        let wanted: Vec<usize> = wanted.iter().map(|column| column % columns.len()).collect();
        let mut out = vec![Value::Null; wanted.len()];
        layout.decode(&key_bytes, &rest_bytes, &layout.projection(&wanted), &mut out).expect("decodes");
        for (column, value) in wanted.iter().zip(&out) {
            prop_assert!(same(&row[*column], value));
        }
    }

    #[test]
    fn a_template_gives_the_same_bytes((columns, key, row, other) in table(), constant in proptest::collection::vec(any::<bool>(), 7), marked in any::<bool>()) {
        let layout = RowLayout::new(&columns, &key);
        let layout = if marked { layout.marked() } else { layout };
        let template = layout.template(&row, |column| constant[column]).expect("constants are of their types");
        let mixed: Vec<Value> = (0..columns.len()).map(|at| if constant[at] { &row } else { &other }[at].clone()).collect();
        let (_, plain) = encode(&layout, &mixed);
        let mut made = vec![7, 7, 7];
        layout.encode_rest_by(&template, |column| &mixed[column], &mut made).expect("a rest");
        prop_assert_eq!(&made[3..], plain);
    }

    #[test]
    fn recipes_give_the_same_bytes((columns, key, row, other) in table(), constant in proptest::collection::vec(any::<bool>(), 7), marked in any::<bool>()) {
        let layout = RowLayout::new(&columns, &key);
        let layout = if marked { layout.marked() } else { layout };
        let mixed: Vec<Value> = (0..columns.len()).map(|at| if constant[at] { &row } else { &other }[at].clone()).collect();
        let (key, rest) = encode(&layout, &mixed);
        if let Some(recipe) = layout.rest_recipe(&row, |column| constant[column]) {
            prop_assert_eq!(rest_by(&recipe, &mixed), rest);
        }
        if let Some(recipe) = layout.key_recipe(&row, |column| constant[column]) {
            prop_assert_eq!(key_by(&recipe, &mixed), key);
        }
    }

    #[test]
    fn a_splice_gives_the_same_bytes((columns, key, row, other) in table(), wanted in proptest::collection::vec(any::<bool>(), 7)) {
        let layout = RowLayout::new(&columns, &key);
        let changed: Vec<usize> = (0..columns.len()).filter(|at| wanted[*at] && layout.splice(&[*at]).is_some()).collect();
        let splice = layout.splice(&changed).expect("each of them can be changed");
        let mixed: Vec<Value> = (0..columns.len()).map(|at| if changed.contains(&at) { &other } else { &row }[at].clone()).collect();
        let (old, new) = (encode(&layout, &row).1, encode(&layout, &mixed).1);
        let mut made = vec![7, 7, 7];
        layout.encode_rest_spliced(&splice, &old, |column| &other[column], &mut made).expect("a rest");
        prop_assert_eq!(&made[3..], new);
        // Of a part of a row something is made, or an error.
        for cut in 0..old.len() {
            let _damaged = layout.encode_rest_spliced(&splice, &old[..cut], |column| &other[column], &mut made);
        }
    }

    #[test]
    fn keys_order_as_values_do((columns, key, a, b) in table()) {
        let layout = RowLayout::new(&columns, &key);
        let (key_a, key_b) = (encode(&layout, &a).0, encode(&layout, &b).0);
        let expected = key.iter().map(|part| {
            let way = order(&a[part.column], &b[part.column], columns[part.column].collation);
            if part.descending { way.reverse() } else { way }
        }).find(|&way| way != Ordering::Equal).unwrap_or(Ordering::Equal);
        prop_assert_eq!(key_a.cmp(&key_b), expected);
        prop_assert!(expected == Ordering::Equal || !key_b.starts_with(&key_a));
        // A prefix of the key is the start of the whole, and ends below what prefix_end says.
        let first: Vec<&Value> = key.iter().take(1).map(|part| &a[part.column]).collect();
        let mut prefix = Vec::new();
        layout.encode_key_prefix(first, &mut prefix).expect("a prefix");
        prop_assert!(key_a.starts_with(&prefix));
        if RowLayout::prefix_end(&mut prefix) {
            prop_assert!(key_a < prefix);
        }
    }

    #[test]
    fn damaged_bytes_never_panic((columns, key, row, _) in table(), noise in proptest::collection::vec(any::<u8>(), 0..40), at in any::<usize>(), cut in any::<usize>()) {
        let layout = RowLayout::new(&columns, &key);
        let mut out = vec![Value::Null; columns.len()];
        let _ = layout.decode_all(&noise, &noise, &mut out);
        let (mut key_bytes, mut rest_bytes) = encode(&layout, &row);
        // Cut anywhere, a row is never taken for a whole one.
        if !rest_bytes.is_empty() {
            let short = &rest_bytes[..cut % rest_bytes.len()];
            prop_assert!(layout.decode_all(&key_bytes, short, &mut out).is_err());
        }
        for bytes in [&mut key_bytes, &mut rest_bytes] {
            if !bytes.is_empty() {
                let at = at % bytes.len();
                bytes[at] ^= 1 << (cut % 8);
            }
        }
        let _ = layout.decode_all(&key_bytes, &rest_bytes, &mut out);
        // Read into columns, they are damaged if they are as a row.
        let all: Vec<usize> = (0..columns.len()).collect();
        for (key_bytes, rest_bytes) in [(&key_bytes[..], &rest_bytes[..]), (&noise[..], &noise[..])] {
            let decoded = layout.decode(key_bytes, rest_bytes, &layout.projection(&all), &mut out);
            let read = read_into_columns(&layout, &all, &[(key_bytes, rest_bytes)]);
            prop_assert_eq!(read.is_some(), decoded.is_ok());
        }
    }

    #[test]
    fn rows_come_as_columns(
        (columns, key, row, other) in table(),
        wanted in proptest::collection::vec(any::<usize>(), 0..6),
        which in proptest::collection::vec(any::<bool>(), 0..5),
    ) {
        let layout = RowLayout::new(&columns, &key);
        let wanted: Vec<usize> = wanted.iter().map(|column| column % columns.len()).collect();
        let pair = [encode(&layout, &row), encode(&layout, &other)];
        let bytes: Vec<(&[u8], &[u8])> = which.iter().map(|&which| &pair[usize::from(which)]).map(|(k, r)| (&k[..], &r[..])).collect();
        let read = read_into_columns(&layout, &wanted, &bytes).expect("whole rows");
        for (&column, values) in wanted.iter().zip(read) {
            let expected: Vec<&Value> = which.iter().map(|&which| if which { &other[column] } else { &row[column] }).collect();
            prop_assert_eq!(values.len(), expected.len());
            for (value, expected) in values.iter().zip(expected) {
                prop_assert!(same(value, expected), "{:?} became {:?}", expected, value);
            }
        }
    }
}

/// The values of rows that were read into columns; none when they are damaged.
fn read_into_columns(layout: &RowLayout, wanted: &[usize], rows: &[(&[u8], &[u8])]) -> Option<Vec<Vec<Value>>> {
    let projection = layout.projection(wanted);
    let mut columns = layout.column_readers(wanted);
    // Some rows at a time, as pages have them.
    for page in rows.chunks(3) {
        let (mut bytes, mut places) = (vec![0xFF], RowPlaces::default());
        for (key, rest) in page {
            let key_at = bytes.len() as u32;
            bytes.extend_from_slice(key);
            let rest_at = bytes.len() as u32;
            bytes.extend_from_slice(rest);
            places.push(key_at, rest_at, bytes.len() as u32);
        }
        layout.read_rows(&bytes, &mut places, &projection, &mut columns).ok()?;
        columns.iter_mut().all(ColumnReader::check).then_some(())?;
    }
    let values = |column: ColumnReader| {
        let ty = *column.sql_type();
        let (valid, data) = column.finish();
        let value = |row: usize| match &data {
            _ if valid.get(row) == Some(&false) => Value::Null,
            ColumnData::Codes(codes) => value_of(codes[row], &ty),
            ColumnData::Texts { text, ends } => {
                let begin = row.checked_sub(1).map_or(0, |before| ends[before]);
                Value::Str(text[begin as usize..ends[row] as usize].to_owned())
            }
            ColumnData::Values(values) => values[row].clone(),
        };
        (0..rows.len()).map(value).collect()
    };
    Some(columns.into_iter().map(values).collect())
}

/// The value of a type that a code stands for.
fn value_of(code: i64, ty: &SqlType) -> Value {
    let narrow = code as i32;
    match *ty {
        SqlType::Bit => Value::Bit(code == 1),
        SqlType::TinyInt => Value::TinyInt(code as u8),
        SqlType::SmallInt => Value::SmallInt(code as i16),
        SqlType::Int => Value::Int(narrow),
        SqlType::BigInt => Value::BigInt(code),
        SqlType::Money => Value::Money(code),
        SqlType::SmallMoney => Value::SmallMoney(narrow),
        SqlType::Decimal { precision, scale } => {
            Value::Decimal(Decimal::new(code.into(), precision, scale).expect("a code of the type"))
        }
        SqlType::Date => Value::Date(Date::from_days(narrow).expect("a code of the type")),
        SqlType::Time(_) => Value::Time(Time::from_ticks(code).expect("a code of the type")),
        SqlType::DateTime => Value::DateTime(DateTime::from_ticks(code).expect("a code of the type")),
        SqlType::SmallDateTime => {
            Value::SmallDateTime(SmallDateTime::from_minutes(narrow).expect("a code of the type"))
        }
        SqlType::DateTime2(_) => Value::DateTime2(DateTime2::from_ticks(code).expect("a code of the type")),
        _ => panic!("{ty:?} has no codes"),
    }
}

/// The rest that pieces make of a row.
fn rest_by(recipe: &[RestPiece], row: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in recipe {
        match piece {
            RestPiece::Bytes(bytes) => out.extend_from_slice(bytes),
            RestPiece::Number { column, form, null_bit } => match (number_of(&row[*column]), null_bit) {
                (Some(number), _) => match form {
                    NumberForm::Byte => out.push(number as u8),
                    NumberForm::Varint => super::rest::push_varint(number as u64, &mut out),
                    NumberForm::Zigzag => super::rest::push_varint(super::rest::zigzag(number), &mut out),
                },
                (None, Some(bit)) => out[bit / 8] |= 1 << (bit % 8),
                (None, None) => panic!("a column that is never NULL"),
            },
        }
    }
    out
}

/// The same of a key.
fn key_by(recipe: &[KeyPiece], row: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in recipe {
        match *piece {
            KeyPiece::Bytes(ref bytes) => out.extend_from_slice(bytes),
            KeyPiece::Number { column, bytes, is_signed, descending } => {
                let number = number_of(&row[column]).expect("never NULL") << (64 - 8 * bytes);
                let number = if is_signed { number ^ i64::MIN } else { number };
                let number = if descending { !number } else { number };
                out.extend_from_slice(&number.to_be_bytes()[..bytes]);
            }
        }
    }
    out
}

#[test]
fn most_numbers_have_recipes() {
    let mut columns =
        [SqlType::Bit, SqlType::TinyInt, SqlType::SmallInt, SqlType::Int, SqlType::BigInt, SqlType::DateTime]
            .map(|ty| ColumnType::new(ty, false));
    columns[3].nullable = true;
    let key: Vec<KeyColumn> = [0, 1, 2, 4, 5].into_iter().map(KeyColumn::ascending).collect();
    let row = vec![Value::Null; columns.len()];
    let layout = RowLayout::new(&columns, &[]);
    let rest = layout.rest_recipe(&row, |_| false).expect("all are numbers");
    assert_eq!(rest.iter().filter(|piece| matches!(piece, RestPiece::Number { .. })).count(), columns.len());
    assert_eq!(RowLayout::new(&columns, &key).key_recipe(&row, |_| false).map(|key| key.len()), Some(key.len()));
    let with_null = RowLayout::new(&columns, &[KeyColumn::ascending(3)]);
    assert_eq!(with_null.key_recipe(&row, |_| false), None, "its length would not always be the same");
    let text = RowLayout::new(&[ColumnType::new(SqlType::VarChar(Length::Limit(9)), false)], &[]);
    assert_eq!(text.rest_recipe(&[Value::Null], |_| false), None);
}

#[test]
fn varints_are_groups_of_seven_bits() {
    let by_groups = |mut number: u64| {
        let mut out = Vec::new();
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
        out
    };
    let numbers = (0..u64::BITS).flat_map(|bit| {
        let power = 1u64 << bit;
        [power - 1, power, power + 1, power | 0x0123_4567_89AB_CDEF & (power - 1), (power - 1) & 0xFEDC_BA98_7654_3210]
    });
    for number in numbers.chain([u64::MAX]) {
        let mut out = vec![9];
        super::rest::push_varint(number, &mut out);
        assert_eq!(out[1..], by_groups(number), "{number:#x}");
    }
}

#[test]
fn the_row_of_the_first_experiment_is_small() {
    let columns = [
        ColumnType::new(SqlType::BigInt, false),
        ColumnType::new(SqlType::DateTime, false),
        ColumnType::new(SqlType::Char(111), false),
        ColumnType::new(SqlType::Int, false),
        ColumnType::new(SqlType::Int, false),
        ColumnType::new(SqlType::BigInt, true),
    ];
    let layout = RowLayout::new(&columns, &[KeyColumn::ascending(0)]);
    let now = DateTime::from_ticks(46_000 * 25_920_000 + 20_000_000).expect("a day of 2025");
    let row = [
        Value::BigInt(51 * 10_000_000_000 + 1_234_567),
        Value::DateTime(now),
        Value::Str(format!("{:<111}", "x123456789")),
        Value::Int(1_234_567),
        Value::Int(100),
        Value::Null,
    ];
    let (key, rest) = encode(&layout, &row);
    assert_eq!(key.len(), 8);
    assert_eq!(key.len() + rest.len(), 8 + 1 + 6 + 11 + 4 + 2, "key, bitmap, datetime, text, two integers");
    let mut out = vec![Value::Null; 6];
    layout.decode_all(&key, &rest, &mut out).expect("decodes");
    assert_eq!(out, row);
}

#[test]
fn decimals_round_trip_around_64_bits() {
    let layout = RowLayout::new(&[ColumnType::new(SqlType::Decimal { precision: 38, scale: 2 }, false)], &[]);
    for edge in [i128::from(i64::MIN), i128::from(i64::MAX), power_of_ten(38) - 1, 1 - power_of_ten(38)] {
        for mantissa in [edge - edge.signum(), edge, edge + 1] {
            let Some(decimal) = Decimal::new(mantissa, 38, 2) else { continue };
            let row = [Value::Decimal(decimal)];
            let (key, rest) = encode(&layout, &row);
            let mut out = [Value::Null];
            layout.decode_all(&key, &rest, &mut out).expect("decodes");
            assert!(same(&row[0], &out[0]), "{mantissa}");
        }
    }
}

#[test]
fn values_of_other_types_are_refused() {
    let layout = RowLayout::new(&[ColumnType::new(SqlType::BigInt, false)], &[KeyColumn::ascending(0)]);
    let mut out = Vec::new();
    assert_eq!(layout.encode_key(|_| &Value::Int(1), &mut out), Err(RowError::WrongType { column: 0 }));
    assert_eq!(layout.encode_key(|_| &Value::Null, &mut out), Err(RowError::Null { column: 0 }));
    let heap = RowLayout::new(&[ColumnType::new(SqlType::Int, false)], &[]);
    assert_eq!(heap.encode_rest(|_| &Value::Null, &mut out), Err(RowError::Null { column: 0 }));
    assert_eq!(heap.encode_rest(|_| &Value::Bit(true), &mut out), Err(RowError::WrongType { column: 0 }));
}

/// What a value counts, for the types that [`ColumnValues::Codes`] takes.
fn code(value: &Value) -> Option<i64> {
    Some(match value {
        Value::Money(v) => *v,
        Value::SmallMoney(v) => i64::from(*v),
        Value::Date(v) => i64::from(v.days()),
        Value::Time(v) => v.ticks(),
        Value::DateTime(v) => v.ticks(),
        Value::SmallDateTime(v) => i64::from(v.minutes()),
        Value::DateTime2(v) => v.ticks(),
        other => return other.as_i64(),
    })
}

/// Columns of rows, each with its type: rows of one kind of value often, so that all lengths are the same, or of any.
fn columns_of_rows() -> impl Strategy<Value = (usize, Vec<(ColumnType, Vec<Value>)>)> {
    (prop_oneof![9 => 1usize..20, 1 => 60usize..200], 1usize..6).prop_flat_map(|(rows, width)| {
        let column = column().prop_flat_map(move |column| {
            let one = nullable_value(column).prop_map(move |value| vec![value; rows]);
            let many = proptest::collection::vec(nullable_value(column), rows);
            let filled = proptest::collection::vec(value(column.ty, column.collation.code_page()), rows);
            (Just(column), prop_oneof![2 => one, 1 => many, 1 => filled])
        });
        (Just(rows), proptest::collection::vec(column, width))
    })
}

/// A column in one of the forms that its values allow.
fn given_as<'a>(form: i32, values: &'a [Value], (codes, valid): &'a (Option<Vec<i64>>, Vec<bool>)) -> ColumnValues<'a> {
    match (form, codes) {
        (0, _) if values.iter().all(|value| same(value, &values[0])) => ColumnValues::Same(&values[0]),
        (0 | 1, Some(codes)) if valid.contains(&true) => {
            ColumnValues::Codes { codes, valid: valid.contains(&false).then_some(valid.as_slice()) }
        }
        _ => ColumnValues::Values(values),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, rng_seed: RngSeed::Fixed(0x70696B65), ..ProptestConfig::default() })]

    #[test]
    fn rows_from_columns_are_those_from_values(
        (rows, columns) in columns_of_rows(),
        forms in proptest::collection::vec(0..3, 6),
    ) {
        let types: Vec<ColumnType> = columns.iter().map(|(ty, _)| *ty).collect();
        let layout = RowLayout::new(&types, &[]);
        let mut codes = Vec::new();
        for (_, values) in &columns {
            let coded: Option<Vec<i64>> =
                values.iter().map(|value| if value.is_null() { Some(i64::MIN) } else { code(value) }).collect();
            let valid: Vec<bool> = values.iter().map(|value| !value.is_null()).collect();
            codes.push((coded, valid));
        }
        let given: Vec<ColumnValues<'_>> = columns.iter().zip(&codes).zip(&forms).map(|((column, codes), form)| given_as(*form, &column.1, codes)).collect();
        let mut out = RowBytes::default();
        layout.encode_rows(&given, rows, &mut out).expect("values of their types");
        let mut expected = RowBytes::default();
        let mut all = Vec::new();
        for row in 0..rows {
            let mut bytes = Vec::new();
            layout.encode_rest(|column| &columns[column].1[row], &mut bytes).expect("a rest");
            expected.push(&bytes);
            all.extend(bytes);
        }
        match out.row_bytes() {
            Some(length) => {
                prop_assert_eq!(out.bytes(), &all);
                prop_assert!(expected.lengths().iter().all(|&other| other as usize == length));
            }
            None => {
                prop_assert_eq!(out.bytes(), expected.bytes());
                prop_assert_eq!(out.lengths(), expected.lengths());
            }
        }
    }
}

#[test]
fn numbers_of_every_length_in_columns() {
    let layout =
        RowLayout::new(&[ColumnType::new(SqlType::BigInt, true), ColumnType::new(SqlType::DateTime2(7), false)], &[]);
    for shift in 0..63 {
        for codes in [[1i64 << shift, 1 << shift], [(1 << shift) - 1, 1 << shift], [-(1 << shift), (1 << shift) - 1]] {
            let dates = codes.map(|code| code.unsigned_abs() as i64 % 1_000_000_007);
            let given = [
                ColumnValues::Codes { codes: &codes, valid: None },
                ColumnValues::Codes { codes: &dates, valid: None },
            ];
            let mut out = RowBytes::default();
            layout.encode_rows(&given, 2, &mut out).expect("codes of their types");
            let (mut expected, mut all) = (RowBytes::default(), Vec::new());
            for (code, date) in codes.into_iter().zip(dates) {
                let row = [Value::BigInt(code), Value::DateTime2(DateTime2::from_ticks(date).expect("fits"))];
                let mut bytes = Vec::new();
                layout.encode_rest(|column| &row[column], &mut bytes).expect("a rest");
                expected.push(&bytes);
                all.extend(bytes);
            }
            let expected = if out.row_bytes().is_some() { &all } else { expected.bytes() };
            assert_eq!(out.bytes(), expected, "{codes:?}");
        }
    }
}

#[test]
fn wrong_columns_are_refused() {
    let layout = RowLayout::new(&[ColumnType::new(SqlType::TinyInt, false)], &[]);
    let mut out = RowBytes::default();
    let mut refused = |values: ColumnValues<'_>| layout.encode_rows(&[values], 2, &mut out).expect_err("not a tinyint");
    assert_eq!(refused(ColumnValues::Same(&Value::Null)), RowError::Null { column: 0 });
    assert_eq!(refused(ColumnValues::Values(&[Value::TinyInt(1), Value::Null])), RowError::Null { column: 0 });
    assert_eq!(refused(ColumnValues::Codes { codes: &[0, 256], valid: None }), RowError::WrongType { column: 0 });
    let valid = Some([true, false].as_slice());
    assert_eq!(refused(ColumnValues::Codes { codes: &[0, 0], valid }), RowError::Null { column: 0 });
}

/// A value of some type.
fn any_value() -> impl Strategy<Value = Value> {
    sql_type().prop_flat_map(|ty| value(ty, CodePage::Western))
}

proptest! {
    #[test]
    fn values_come_back_with_their_kinds(values in proptest::collection::vec(any_value(), 0..6)) {
        let mut bytes = Vec::new();
        for value in values.iter().chain([&Value::Null]) {
            prop_assert!(value.push_loose(&mut bytes));
        }
        let mut rest = bytes.as_slice();
        for expected in values.iter().chain([&Value::Null]) {
            let (value, behind) = Value::take_loose(rest).expect("its own bytes");
            prop_assert_eq!(&value, expected);
            prop_assert!(Value::take_loose(&rest[..rest.len() - behind.len() - 1]).is_none(), "it is cut off");
            rest = behind;
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn no_bytes_of_loose_values_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let _ = Value::take_loose(&bytes);
    }
}
