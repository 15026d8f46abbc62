//! Whatever a script asks for, the answer is a value or an error: never a panic, an overflow or a value outside its type.

use pikepole_types::{
    ArithmeticOp, Collation, Context, DateTimeOffset, FUNCTIONS, Length, LikePattern, SqlType, Target, Value,
    arithmetic, assign, bit_not, compare, convert, hash, implicit_type, negate, operator_type, to_text,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn sql_type() -> impl Strategy<Value = SqlType> {
    use SqlType::*;
    prop_oneof![
        Just(Null),
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
        (0u8..=7).prop_map(Time),
        Just(DateTime),
        Just(SmallDateTime),
        (0u8..=7).prop_map(DateTime2),
        (0u8..=7).prop_map(DateTimeOffset),
        Just(UniqueIdentifier),
        Just(Variant),
        (1u16..40).prop_map(Char),
        (1u16..40).prop_map(NChar),
        (1u16..40).prop_map(Binary),
        (1u16..40).prop_map(|n| VarChar(Length::Limit(n))),
        Just(VarChar(Length::Max)),
        (1u16..40).prop_map(|n| NVarChar(Length::Limit(n))),
        Just(NVarChar(Length::Max)),
        Just(VarBinary(Length::Limit(9))),
        Just(VarBinary(Length::Max)),
        (1u8..=38).prop_flat_map(|precision| (0..=precision).prop_map(move |scale| Decimal { precision, scale })),
    ]
}

/// Texts that read as something, or nearly.
fn text() -> impl Strategy<Value = String> {
    const NUMBERS: [&str; 48] = [
        "0",
        "1",
        "-1",
        "255",
        "-32768",
        "32767",
        "2147483647",
        "-2147483648",
        "9223372036854775807",
        "-9223372036854775808",
        "99999999999999999999999999999999999999",
        "0.00000000000000000000000000000000000001",
        "1e308",
        "-1e308",
        "1e-320",
        "922337203685477.5807",
        "-922337203685477.5808",
        "$1,2.5",
        "1.5",
        "-0.5",
        ".",
        "0001-01-01",
        "9999-12-31 23:59:59.9999999",
        "1753-01-01",
        "2079-06-06 23:59:29.998",
        "23:59:59.9999999",
        "2020-02-29T12:00:00+14:00",
        "0001-01-01 00:00 +14:00",
        "9999-12-31 23:59 -14:00",
        "12:00 PM",
        "Feb 30 2020",
        "6F9619FF-8B86-D011-B42D-00C04FC964FF",
        "",
        " ",
        "é😀Ω",
        "day",
        "ns",
        "tz",
        "iso_week",
        "N2",
        "D99",
        "P0",
        "#,##0.0#",
        "yyyy'x",
        "%[a-",
        "[^",
        "0x",
        "999999999999",
    ];
    prop_oneof![
        4 => proptest::sample::select(&NUMBERS).prop_map(str::to_owned),
        1 => "[-+0-9.:eE/ TZ$,]{0,12}",
        1 => ".{0,8}",
    ]
}

/// A value of some type, with its type.
fn typed() -> impl Strategy<Value = (Value, SqlType)> {
    (sql_type(), text(), any::<i64>(), any::<bool>()).prop_map(|(ty, text, number, from_text)| {
        let (source, from) = if from_text {
            (Value::Str(text), SqlType::NVarChar(Length::Max))
        } else {
            (Value::BigInt(number >> (number & 63)), SqlType::BigInt)
        };
        (convert(&source, &from, &ty, None).unwrap_or_default(), ty)
    })
}

const OPERATORS: [ArithmeticOp; 8] = [
    ArithmeticOp::Add,
    ArithmeticOp::Subtract,
    ArithmeticOp::Multiply,
    ArithmeticOp::Divide,
    ArithmeticOp::Modulo,
    ArithmeticOp::BitAnd,
    ArithmeticOp::BitOr,
    ArithmeticOp::BitXor,
];

/// A value of a type must survive being stored in it.
fn check(value: &Value, ty: &SqlType) {
    let mut stored = Value::Null;
    let target = Target::Column { table: "t", column: "c" };
    let result = assign(value, ty, ty, target, &mut stored);
    assert_eq!(result, Ok(()), "{value:?} is no {ty}");
    assert_eq!(&stored, value, "{value:?} is no {ty}");
    to_text(value, ty);
    hash(value, Collation::default());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, rng_seed: RngSeed::Fixed(0x70696B65), ..ProptestConfig::default() })]

    #[test]
    fn conversions((value, from) in typed(), to in sql_type(), style in prop_oneof![Just(None), (0i32..132).prop_map(Some)]) {
        check(&value, &from);
        if let Ok(converted) = convert(&value, &from, &to, style) {
            check(&converted, &to);
        }
    }

    #[test]
    fn operators((left, left_type) in typed(), (right, right_type) in typed()) {
        for op in OPERATORS {
            let ty = operator_type(op, &left_type, &right_type);
            let result = arithmetic(op, &left, &right);
            if let (Ok(ty), Ok(value)) = (&ty, &result)
                && !ty.is_string() && !ty.is_binary()
            {
                let mut stored = Value::Null;
                prop_assert_eq!(assign(value, ty, ty, Target::Variable, &mut stored), Ok(()));
                prop_assert_eq!(&stored, value, "{:?} {:?} {:?} is no {}", left, op, right, ty);
            }
            if ty.is_err() && !left.is_null() && !right.is_null() {
                prop_assert!(result.is_err(), "{:?} {:?} {:?} gave {:?}", left, op, right, result);
            }
        }
        let _ = (negate(&left), bit_not(&left));
        let order = compare(&left, &right, Collation::default());
        let back = compare(&right, &left, Collation::default());
        prop_assert_eq!(order.clone().ok(), back.ok().map(|back| back.map(std::cmp::Ordering::reverse)));
        // A value alone does not tell that its type is too long for a sql_variant.
        let with_variant = left_type == SqlType::Variant || right_type == SqlType::Variant;
        if implicit_type(&left_type, &right_type).is_err() && !left.is_null() && !right.is_null() && !with_variant {
            prop_assert!(order.is_err());
        }
    }

    #[test]
    fn functions(arguments in proptest::collection::vec(typed(), 9), at in any::<proptest::sample::Index>()) {
        let mut context = Context::new(DateTimeOffset::new(638_000_000_000_000_000, -60).expect("a time"), 5);
        let function = &FUNCTIONS[at.index(FUNCTIONS.len())];
        let (values, types): (Vec<Value>, Vec<SqlType>) = arguments.into_iter().unzip();
        for count in function.min_args..=function.max_args.min(values.len()) {
            let ty = (function.result_type)(&types[..count]);
            let result = (function.eval)(&mut context, &values[..count], &types[..count]);
            if let (Ok(ty), Ok(value)) = (ty, result) {
                let text = function.name;
                // Strings may be longer than a narrow type says; the caller stores them.
                if !ty.is_string() {
                    let mut stored = Value::Null;
                    prop_assert_eq!(assign(&value, &ty, &ty, Target::Variable, &mut stored), Ok(()));
                    prop_assert_eq!(&stored, &value, "{} gave what is no {}", text, ty);
                }
            }
        }
    }

    #[test]
    fn patterns(pattern in "[%_a\\[\\]^!-]{0,8}", text in "[ab! -]{0,8}") {
        let _ = LikePattern::new(&pattern, None, Collation::default()).matches(&text);
        let _ = LikePattern::new(&pattern, Some('!'), Collation::BINARY).matches(&text);
    }
}
