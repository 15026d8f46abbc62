use super::*;

fn d(text: &str) -> Decimal {
    Decimal::from_literal(text).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn types_of_results_follow_the_documented_rules() {
    assert_eq!(add_type((10, 2), (5, 4)), (13, 4));
    assert_eq!(multiply_type((10, 2), (5, 4)), (16, 6));
    assert_eq!(divide_type((10, 2), (5, 4)), (20, 8));
    assert_eq!(remainder_type((10, 2), (5, 4)), (5, 4));
    // Past 38 digits.
    assert_eq!(multiply_type((38, 10), (38, 10)), (38, 6));
    assert_eq!(multiply_type((38, 2), (38, 2)), (38, 4));
    assert_eq!(multiply_type((20, 10), (20, 10)), (38, 17));
    assert_eq!(divide_type((38, 10), (38, 10)), (38, 6));
    assert_eq!(divide_type((38, 20), (10, 5)), (38, 15));
    assert_eq!(add_type((38, 0), (38, 10)), (38, 0));
    assert_eq!(add_type((38, 10), (38, 10)), (38, 10));
    assert_eq!(union_type((38, 0), (10, 10)), SqlType::Decimal { precision: 38, scale: 0 });
}

#[test]
fn literals_take_the_digits_that_are_written() {
    let table = [("12.50", 4, 2), ("0.5", 1, 1), ("007", 1, 0), ("10000000000", 11, 0), (".05", 2, 2), ("-1.0", 2, 1)];
    for (text, precision, scale) in table {
        assert_eq!((d(text).precision(), d(text).scale()), (precision, scale), "{text}");
    }
    assert!(Decimal::from_literal("1e5").is_none());
    assert!(Decimal::from_literal(".").is_none());
    assert!(Decimal::from_literal("").is_none());
    assert!(Decimal::from_literal(&"9".repeat(38)).is_some());
    assert!(Decimal::from_literal(&"9".repeat(39)).is_none());
}

#[test]
fn arithmetic_is_exact_and_quotients_are_cut_off() {
    assert_eq!(d("1.1").add(&d("2.22")).unwrap().to_string(), "3.32");
    assert_eq!(d("1.1").subtract(&d("2.22")).unwrap().to_string(), "-1.12");
    assert_eq!(d("1.1").multiply(&d("-2.22")).unwrap().to_string(), "-2.442");
    assert_eq!(d("2.0").divide(&d("3.0")).unwrap().to_string(), "0.666666");
    assert_eq!(d("-2.0").divide(&d("3.0")).unwrap().to_string(), "-0.666666");
    assert_eq!(d("7.5").remainder(&d("2")).unwrap().to_string(), "1.5");
    assert_eq!(d("-7.5").remainder(&d("2")).unwrap().to_string(), "-1.5");
    assert_eq!(d("1").divide(&d("0.0")).unwrap_err().number, 8134);
    assert_eq!(d("1").remainder(&d("0")).unwrap_err().number, 8134);
}

#[test]
fn intermediates_are_wider_than_results() {
    let third = Decimal::new(power_of_ten(37), 38, 37).unwrap();
    // 1.000... * 1.000...: 75 digits inside, 38 outside.
    assert_eq!(third.multiply(&third).unwrap().mantissa(), power_of_ten(third.multiply(&third).unwrap().scale()));
    let big = Decimal::new(power_of_ten(38) - 1, 38, 0).unwrap();
    assert_eq!(big.multiply(&big).unwrap_err().number, 8115);
    assert_eq!(big.add(&big).unwrap_err().number, 8115);
    assert_eq!(big.divide(&big).unwrap().to_string(), "1.000000");
    let small = Decimal::new(3, 38, 38).unwrap();
    assert_eq!(small.divide(&Decimal::new(2, 38, 38).unwrap()).unwrap().to_string(), "1.500000");
}

#[test]
fn rounding_is_half_away_from_zero() {
    assert_eq!(d("2.345").rescale(10, 2).unwrap().to_string(), "2.35");
    assert_eq!(d("-2.345").rescale(10, 2).unwrap().to_string(), "-2.35");
    assert_eq!(d("2.344").rescale(10, 2).unwrap().to_string(), "2.34");
    assert_eq!(d("0.5").rescale(1, 0).unwrap().to_string(), "1");
    assert!(d("99.95").rescale(3, 1).is_none());
    assert_eq!(d("1234.567").round_at(-2, false).unwrap().to_string(), "1200.000");
    assert_eq!(d("1250.000").round_at(-2, false).unwrap().to_string(), "1300.000");
    assert_eq!(d("1299.999").round_at(-2, true).unwrap().to_string(), "1200.000");
    assert!(d("99.5").round_at(0, false).is_none());
}

#[test]
fn order_is_by_value() {
    assert_eq!(d("1.0"), d("1.00"));
    assert!(d("-1.5") < d("-1.49"));
    let huge = Decimal::new(power_of_ten(38) - 1, 38, 0).unwrap();
    let tiny = Decimal::new(1, 38, 38).unwrap();
    let ascending = [huge.negate(), tiny.negate(), tiny, huge];
    for (at, a) in ascending.iter().enumerate() {
        for (other, b) in ascending.iter().enumerate() {
            assert_eq!(a.cmp(b), at.cmp(&other));
        }
    }
}

#[test]
fn floats_convert_by_their_shortest_text() {
    assert_eq!(Decimal::from_f64(0.1, 10, 4).unwrap().to_string(), "0.1000");
    assert_eq!(Decimal::from_f64(2.5, 10, 0).unwrap().to_string(), "3");
    assert_eq!(Decimal::from_f64(-1e-30, 10, 4).unwrap().to_string(), "0.0000");
    assert!(Decimal::from_f64(1e10, 10, 0).is_none());
    assert!(Decimal::from_f64(f64::NAN, 10, 0).is_none());
    assert_eq!(d("0.1").to_f64(), 0.1);
    assert_eq!(d("12345678901234567890.123").to_f64(), 12345678901234567890.123);
}

#[test]
fn wide_division_agrees_with_plain_division() {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u128::from(state)
    };
    for _ in 0..2000 {
        let (a, b) = (next(), next().max(1));
        let (quotient, remainder) = Wide::product(a, b).divide(b).expect("fits");
        assert_eq!((quotient, remainder), (a, 0));
        let divisor = next() >> 3 | 1;
        let (quotient, remainder) = Wide::product(a, 1).divide(divisor).expect("fits");
        assert_eq!((quotient, remainder), (a / divisor, a % divisor));
        let big = a << 60 | b;
        let wide = Wide::product(big, divisor);
        assert_eq!(wide.divide(big), Some((divisor, 0)));
        let (x, y) = (big >> 1 | 1, next() << 62 | next() >> 2);
        assert_eq!(Wide::product(x, y).divide(x), Some((y, 0)));
    }
}
