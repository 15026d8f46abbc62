//! FORMAT in every culture.

use super::*;
use crate::functions::lookup;

fn format(value: &Value, ty: SqlType, picture: &str, culture: &str) -> Option<String> {
    let mut context = Context::new(crate::DateTimeOffset::new(0, 0).expect("the first moment"), 1);
    let function = lookup("FORMAT").expect("a function");
    let name = SqlType::NVarChar(Length::Limit(40));
    let arguments = [value.clone(), Value::from(picture), Value::from(culture)];
    let made = (function.eval)(&mut context, &arguments, &[ty, name, name]).expect("a known culture");
    made.as_str().map(str::to_owned)
}

fn decimal(text: &str) -> (Value, SqlType) {
    let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len() as u8);
    let value = Decimal::parse(text, 38, scale).expect("a number");
    (Value::Decimal(value), value.sql_type())
}

fn number(text: &str, picture: &str, culture: &str) -> String {
    let (value, ty) = decimal(text);
    format(&value, ty, picture, culture).unwrap_or_else(|| "NULL".to_owned())
}

fn moment(text: &str, ty: SqlType, picture: &str, culture: &str) -> String {
    let from = SqlType::VarChar(Length::Limit(40));
    let value = crate::convert(&Value::from(text), &from, &ty, None).expect("a moment");
    format(&value, ty, picture, culture).unwrap_or_else(|| "NULL".to_owned())
}

#[test]
fn money_and_shares_of_each_culture() {
    let cases = [
        ("en-US", "$1,234.57", "($1,234.57)", "12.50%"),
        ("en-GB", "£1,234.57", "-£1,234.57", "12.50%"),
        ("de-DE", "1.234,57 €", "-1.234,57 €", "12,50 %"),
        ("fr-FR", "1\u{a0}234,57 €", "-1\u{a0}234,57 €", "12,50 %"),
        ("es-ES", "1.234,57 €", "-1.234,57 €", "12,50 %"),
        ("it-IT", "1.234,57 €", "-1.234,57 €", "12,50%"),
        ("nl-NL", "€ 1.234,57", "€ -1.234,57", "12,50%"),
        ("sv-SE", "1\u{a0}234,57 kr", "-1\u{a0}234,57 kr", "12,50 %"),
    ];
    for (culture, positive, negative, share) in cases {
        assert_eq!(number("1234.565", "C", culture), positive, "{culture}");
        assert_eq!(number("-1234.565", "c", culture), negative, "{culture}");
        assert_eq!(number("0.125", "P", culture), share, "{culture}");
    }
    assert!(number("1234.5", "C", "ja-JP").ends_with("1,235"));
    assert!(number("-1234.5", "C1", "ja-jp").starts_with('-'));
}

#[test]
fn standard_formats_of_numbers() {
    let cases = [
        ("1234567.5", "N", "1,234,567.50"),
        ("-1234567.5", "N0", "-1,234,568"),
        ("1234.5", "F3", "1234.500"),
        ("1.50", "G", "1.50"),
        ("1234.5678", "G3", "1.23E+03"),
        ("0.00001234", "G2", "1.2E-05"),
        ("123.456", "G5", "123.46"),
        ("1234.5678", "E", "1.234568E+003"),
        ("-0.0012", "e2", "-1.20e-003"),
        ("9.996", "E2", "1.00E+001"),
        ("0", "E1", "0.0E+000"),
        ("42", "D5", "NULL"),
        ("42", "Q", "NULL"),
    ];
    for (value, picture, expected) in cases {
        assert_eq!(number(value, picture, "en-US"), expected, "{value} by {picture}");
    }
    assert_eq!(number("1234567.5", "N", "de-DE"), "1.234.567,50");
    let int = |value: i32, picture: &str| format(&Value::Int(value), SqlType::Int, picture, "en-US");
    assert_eq!(int(-42, "D5").as_deref(), Some("-00042"));
    assert_eq!(int(255, "x4").as_deref(), Some("00ff"));
    assert_eq!(int(-1, "X").as_deref(), Some("FFFFFFFF"));
    assert_eq!(format(&Value::Float(1.5), SqlType::Float, "G", "de-DE").as_deref(), Some("1,5"));
    let float = |value: f64, picture: &str| format(&Value::Float(value), SqlType::Float, picture, "de-DE");
    assert_eq!(float(0.1 + 0.2, "R").as_deref(), Some("0,30000000000000004"));
    assert_eq!(float(0.1 + 0.2, "G").as_deref(), Some("0,3"));
    assert_eq!(float(1.25e-12, "G").as_deref(), Some("1,25E-12"));
    assert_eq!(float(1.5e20, "G").as_deref(), Some("1,5E+20"));
    // Fifteen digits count: the binary number is a little less.
    assert_eq!(float(1.005, "N2").as_deref(), Some("1,01"));
}

#[test]
fn custom_formats_of_numbers() {
    let cases = [
        ("123456789", "###-##-####", "123-45-6789"),
        ("1234.5", "#,##0.00", "1,234.50"),
        ("0.5", "#.##", ".5"),
        ("7", "000", "007"),
        ("-7", "0.0", "-7.0"),
        ("1234567", "#,##0,", "1,235"),
        ("1234567", "0,,.0", "1.2"),
        ("1.5", "0.0,,", "1.5"),
        ("0.126", "0.#%", "12.6%"),
        ("0.1265", "0‰", "127‰"),
        ("5", "0 'pieces'", "5 pieces"),
        ("5", "\\#0", "#5"),
        ("-5", "0.0;(0.0);zero", "(5.0)"),
        ("0", "0.0;(0.0);zero", "zero"),
        ("0.01", "0.0;(0.0);zero", "zero"),
        ("-0.01", "0.0", "0.0"),
        ("5", "+0;-0", "+5"),
        ("12345", "0.00E+00", "1.23E+04"),
        ("0.00012", "0.0e-0", "1.2e-4"),
        ("4255551234", "(###) ###-####", "(425) 555-1234"),
        ("5", "none", "none"),
        ("1.25", "0.0", "1.3"),
    ];
    for (value, picture, expected) in cases {
        assert_eq!(number(value, picture, "en-US"), expected, "{value} by {picture}");
    }
    assert_eq!(number("1234567.891", "#,##0.00", "de-DE"), "1.234.567,89");
    assert_eq!(number("1234567.891", "#,##0.00", "sv-SE"), "1\u{a0}234\u{a0}567,89");
}

#[test]
fn dates_of_each_culture() {
    let cases = [
        ("en-US", "2/3/2020", "Monday, February 3, 2020", "3:04 PM", "Feb Mon"),
        ("en-GB", "03/02/2020", "03 February 2020", "15:04", "Feb Mon"),
        ("de-DE", "03.02.2020", "Montag, 3. Februar 2020", "15:04", "Feb Mo"),
        ("fr-FR", "03/02/2020", "lundi 3 février 2020", "15:04", "févr. lun."),
        ("ja-JP", "2020/02/03", "2020年2月3日", "15:04", "2 月"),
        ("es-ES", "03/02/2020", "lunes, 3 de febrero de 2020", "15:04", "feb. lu."),
        ("it-IT", "03/02/2020", "lunedì 3 febbraio 2020", "15:04", "feb lun"),
        ("nl-NL", "3-2-2020", "maandag 3 februari 2020", "15:04", "feb ma"),
        ("sv-SE", "2020-02-03", "den 3 februari 2020", "15:04", "feb må"),
        ("da-DK", "03-02-2020", "3. februar 2020", "15:04", "feb ma"),
    ];
    for (culture, short, long, time, names) in cases {
        let of = |picture| moment("2020-02-03 15:04:05", SqlType::DateTime, picture, culture);
        assert_eq!(of("d"), short, "{culture}");
        assert_eq!(of("D"), long, "{culture}");
        assert_eq!(of("t"), time, "{culture}");
        assert_eq!(of("MMM ddd"), names, "{culture}");
        assert_eq!(of("g"), format!("{short} {time}"), "{culture}");
        assert_eq!(of("r"), "Mon, 03 Feb 2020 15:04:05 GMT", "{culture}");
    }
}

#[test]
fn custom_formats_of_dates_and_times() {
    let of = |picture| moment("2020-02-03 15:04:05.120", SqlType::DateTime2(7), picture, "en-US");
    assert_eq!(of("yyyy-MM-dd HH:mm:ss.fff"), "2020-02-03 15:04:05.120");
    assert_eq!(of("h:m:s tt t"), "3:4:5 PM P");
    assert_eq!(of("ss.FFF"), "05.12");
    assert_eq!(of("%d"), "3");
    assert_eq!(of("'day' d \\d"), "day 3 d");
    assert_eq!(of("yy yyyyy g"), "20 02020 A.D.");
    assert_eq!(of("s"), "2020-02-03T15:04:05");
    assert_eq!(of("u"), "2020-02-03 15:04:05Z");
    assert_eq!(of("o"), "2020-02-03T15:04:05.1200000");
    assert_eq!(of("M"), "February 3");
    assert_eq!(of("y"), "February 2020");
    assert_eq!(of("x"), "NULL");
    assert_eq!(of("ffffffff"), "NULL");
    assert_eq!(of("'open"), "NULL");
    assert_eq!(moment("2020-02-03", SqlType::Date, "dd/MM", "de-DE"), "03.02");
    let zoned = |picture| moment("2020-02-03 15:04:05 +01:30", SqlType::DateTimeOffset(0), picture, "en-US");
    assert_eq!(zoned("zzz zz z"), "+01:30 +01 +1");
    assert_eq!(zoned("HH:mmK"), "15:04+01:30");
    let time = |picture| moment("07:35:09.5", SqlType::Time(7), picture, "de-DE");
    assert_eq!(time("hh.mm"), "NULL");
    assert_eq!(time("hh\\.mm"), "07.35");
    assert_eq!(time("t"), "07:35:09.5000000");
    assert_eq!(time("g"), "7:35:09,5");
    assert_eq!(time("HH\\:mm"), "NULL");
}

#[test]
fn the_sessions_language_is_the_culture_where_none_is_given() {
    let mut context = Context::new(crate::DateTimeOffset::new(0, 0).expect("the first moment"), 1);
    context.language = Language::by_name("Deutsch").expect("a language");
    let (value, ty) = decimal("1.5");
    let name = SqlType::NVarChar(Length::Limit(40));
    let made = super::format(&mut context, &[value.clone(), Value::from("N1")], &[ty, name]).expect("a text");
    assert_eq!(made.as_str(), Some("1,5"));
    let unknown = super::format(&mut context, &[value, Value::from("N1"), Value::from("xx-XX")], &[ty, name, name]);
    assert_eq!(unknown.expect_err("no culture").number, 9818);
}
