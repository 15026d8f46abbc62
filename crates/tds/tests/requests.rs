//! Logins and requests of all kinds, as clients of each version send them.

mod support;

use pikepole_tds::{
    Argument, BulkLoad, Feature, KeptSession, Limits, Login7, PreLogin, Procedure, Rpc, RpcMessage, Secrecy, SqlBatch,
    SystemProcedure, TdsError, TdsVersion, TlsPolicy, TransactionRequest, WireIsolation, negotiate_encryption,
};
use pikepole_types::{CodePage, Collation, Length, SqlType, Value};
use support::*;

const V: TdsVersion = TdsVersion::V7_4;

fn calls(data: &[u8], version: TdsVersion) -> Result<Vec<Rpc<'_>>, TdsError> {
    let mut message = RpcMessage::parse(data, version, &Limits::default())?;
    let mut calls = Vec::new();
    while let Some(call) = message.next_call()? {
        calls.push(call);
    }
    Ok(calls)
}

fn is_truncated(error: &TdsError) -> bool {
    match error {
        TdsError::InParameter { error, .. } => is_truncated(error),
        other => matches!(other, TdsError::Truncated(_)),
    }
}

/// What is wrong in a call's parameter.
fn in_parameter<T>(read: Result<T, TdsError>) -> TdsError {
    match read {
        Err(TdsError::InParameter { error, .. }) => *error,
        Err(error) => panic!("outside a parameter: {error}"),
        Ok(_) => panic!("nothing is wrong"),
    }
}

fn scalar<'a>(call: &'a Rpc<'_>, at: usize) -> &'a Value {
    match &call.parameters[at].argument {
        Argument::Scalar { value, .. } => value,
        Argument::Table(_) => panic!("a table"),
    }
}

#[test]
fn logins_of_all_versions_are_read() {
    for version in VERSIONS {
        let features = if version.has_features() {
            hex("01 10000000 05000000 00 00 00 07 00 03000000 00 00 00 0A 01000000 01 04 01000000 03 0D 01000000 01 FF")
        } else {
            Vec::new()
        };
        let data = login7(version, &features);
        let login = Login7::parse(&data).expect("a login");
        assert_eq!(TdsVersion::negotiate(login.version), Some(version));
        assert_eq!((login.user.as_str(), login.password.reveal()), ("sa", "Pässword😀"));
        assert_eq!((login.host.as_str(), login.application.as_str(), login.server.as_str()), ("host", "app", "server"));
        assert_eq!(
            (login.library.as_str(), login.language.as_str(), login.database.as_str()),
            ("library", "us_english", "data")
        );
        assert_eq!((login.packet_bytes, login.time_zone_minutes, login.process), (8000, -60, 0x1234_5678));
        assert!(login.is_read_only && login.is_odbc && login.knows_unknown_collations && !login.is_integrated);
        assert!(!format!("{login:?}").contains("ässword"), "a password does not show");
        if version.has_features() {
            let kept = KeptSession { states: vec![(7, Vec::new())], ..KeptSession::default() };
            let recovery = Feature::SessionRecovery(Some(kept));
            let expected = [recovery, Feature::Utf8Support, Feature::ColumnEncryption(3), Feature::Other(13)];
            assert_eq!(login.features, expected);
        } else {
            assert!(login.features.is_empty());
        }
        for end in 0..data.len() {
            assert!(Login7::parse(&data[..end]).is_err(), "{version:?}: {end} bytes");
        }
    }
}

#[test]
fn a_password_is_changed_only_when_asked() {
    let mut data = login7(V, &[]);
    let at = data.len() as u16;
    data.extend(utf16("new").iter().map(|byte| byte.rotate_left(4) ^ 0xA5));
    let length = (data.len() as u32).to_le_bytes();
    data[..4].copy_from_slice(&length);
    data[86..88].copy_from_slice(&at.to_le_bytes());
    data[88] = 3;
    assert_eq!(Login7::parse(&data).expect("a login").new_password, None);
    data[27] |= 0x01;
    let login = Login7::parse(&data).expect("a login");
    assert_eq!(login.new_password.map(|password| password.reveal().to_string()).as_deref(), Some("new"));
}

#[test]
fn bad_logins_are_refused() {
    let good = login7(V, &[]);
    let bad = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut data = good.clone();
        change(&mut data);
        Login7::parse(&data)
    };
    assert!(matches!(bad(&|data| data[36] = 0xFF), Err(TdsError::Truncated(_)) | Ok(_)));
    assert!(matches!(bad(&|data| data[42..44].fill(0xFF)), Err(TdsError::Limit { limit: 128, .. })));
    assert!(matches!(bad(&|data| data[40..42].fill(0xFF)), Err(TdsError::Truncated(_))));
    assert!(matches!(bad(&|data| data[24] |= 0x01), Err(TdsError::Unsupported(_))), "big-endian numbers");
    assert!(matches!(bad(&|data| data[84] = 1), Err(TdsError::Unsupported(_))), "a file to attach");
    assert!(bad(&|data| data[25] |= 0x80).is_ok_and(|login| login.is_integrated));
    let endless = login7(V, &[hex("0A 01000000 01").repeat(65), vec![0xFF]].concat());
    assert!(matches!(Login7::parse(&endless), Err(TdsError::Limit { limit: 64, .. })));
    let lies = login7(V, &hex("0A FFFFFFFF 01 FF"));
    assert!(matches!(Login7::parse(&lies), Err(TdsError::Truncated(_))));
}

#[test]
fn encryption_is_agreed_on() {
    use pikepole_tds::ClientEncryption::{NotSupported, Off, On, Required};
    for (client, off, optional, required) in [
        (Off, (2, Secrecy::Plain), (0, Secrecy::LoginOnly), (3, Secrecy::Full)),
        (On, (2, Secrecy::Refused), (1, Secrecy::Full), (1, Secrecy::Full)),
        (NotSupported, (2, Secrecy::Plain), (2, Secrecy::Plain), (3, Secrecy::Refused)),
        (Required, (2, Secrecy::Refused), (1, Secrecy::Full), (1, Secrecy::Full)),
    ] {
        assert_eq!(negotiate_encryption(client, TlsPolicy::Off), off, "{client:?}");
        assert_eq!(negotiate_encryption(client, TlsPolicy::Optional), optional, "{client:?}");
        assert_eq!(negotiate_encryption(client, TlsPolicy::Required), required, "{client:?}");
    }
}

#[test]
fn bad_prelogins_are_refused() {
    let minimal = PreLogin::parse(&hex("FF")).expect("no options");
    assert_eq!((minimal.mars, minimal.trace, minimal.instance), (false, None, None));
    let named = PreLogin::parse(&hex("02 0006 0003 FF 6D7900")).expect("an instance");
    assert_eq!(named.instance.as_deref(), Some("my"));
    assert!(matches!(PreLogin::parse(&hex("01 0006 0001 FF")), Err(TdsError::Malformed(_))), "outside");
    assert!(matches!(PreLogin::parse(&hex("01 FFFF FFFF FF")), Err(TdsError::Malformed(_))), "far outside");
    assert!(matches!(PreLogin::parse(&hex("01 0006 0001 FF 09")), Err(TdsError::Malformed(_))), "unknown encryption");
    assert!(matches!(PreLogin::parse(&hex("01 0006 0000 FF")), Err(TdsError::Truncated(_))), "an empty one");
    assert!(matches!(PreLogin::parse(&hex("01 0006")), Err(TdsError::Truncated(_))));
    assert!(matches!(PreLogin::parse(&[]), Err(TdsError::Truncated(_))));
}

#[test]
fn headers_are_skipped_by_their_lengths() {
    let notification = hex("0C000000 0100 0102 03040506");
    let activity = [hex("1A000000 0300"), vec![7; 16], hex("09000000")].concat();
    let transaction = hex("12000000 0200 0500000000000000 01000000");
    let all = [notification, activity, transaction].concat();
    let data = [((all.len() + 4) as u32).to_le_bytes().to_vec(), all, utf16("x")].concat();
    let batch = SqlBatch::parse(&data, V).expect("a batch");
    assert_eq!((batch.text.as_str(), batch.headers.transaction), ("x", 5));
    assert_eq!(batch.headers.activity, Some(([7; 16], 9)));
    assert_eq!(SqlBatch::parse(&[hex("04000000"), utf16("x")].concat(), V).expect("no headers").text, "x");
    for bad in ["03000000", "00000000", "FFFFFFFF", "08000000 03000000", "0A000000 06000000 0200", "08000000 04000000"]
    {
        assert!(matches!(SqlBatch::parse(&hex(bad), V), Err(TdsError::Truncated(_))), "{bad}");
    }
    assert!(matches!(SqlBatch::parse(&hex("04000000 61"), V), Err(TdsError::Malformed(_))), "half a character");
}

#[test]
fn several_calls_stand_in_a_message() {
    for version in VERSIONS {
        let text = SqlType::NVarChar(Length::Limit(4000));
        let first = call(
            10,
            &[
                parameter("", 0, &text, &Value::Str("select @a".into()), version),
                parameter("", 0, &text, &Value::Str("@a int".into()), version),
                parameter("@a", 1, &SqlType::Int, &Value::Int(5), version),
            ],
        );
        let second = call_by_name("dbo.p", &[parameter("@b", 2, &SqlType::Int, &Value::Null, version)]);
        let mark = if version.is_wide() { 0xFF } else { 0x80 };
        let data = [headers(version, 9), first, vec![mark], second.clone(), vec![mark], second].concat();
        let mut message = RpcMessage::parse(&data, version, &Limits::default()).expect("headers");
        assert_eq!(message.headers.transaction, if version.is_wide() { 9 } else { 0 });
        let call = message.next_call().expect("a call").expect("the first");
        assert_eq!(call.procedure, Procedure::System(SystemProcedure::ExecuteSql));
        assert_eq!(scalar(&call, 0), &Value::Str("select @a".into()));
        assert_eq!((call.parameters[2].name.as_str(), call.parameters[2].by_reference), ("@a", true));
        assert!(!message.is_last());
        let call = message.next_call().expect("a call").expect("the second");
        assert_eq!(call.procedure, Procedure::Name("dbo.p".into()));
        assert!(call.parameters[0].default && !message.is_last());
        assert!(message.next_call().expect("a call").is_some() && message.is_last());
        assert_eq!(message.next_call(), Ok(None));
        // Cut anywhere, the message is incomplete, or a shorter one.
        for end in 0..data.len() {
            match calls(&data[..end], version) {
                Ok(calls) => assert!(calls.len() < 3 || end == data.len() - 1 || calls[2].parameters.is_empty()),
                Err(error) => assert!(is_truncated(&error), "{end}: {error}"),
            }
        }
    }
}

#[test]
fn calls_have_flags_and_marks() {
    let data = [headers(V, 0), hex("0100 7000 0300"), hex("FE"), hex("0100 7100 0000 FF")].concat();
    let calls = calls(&data, V).expect("two calls");
    assert_eq!(calls.len(), 2);
    assert!(calls[0].recompile && calls[0].no_metadata && calls[0].no_execution);
    assert!(!calls[1].recompile && !calls[1].no_metadata && !calls[1].no_execution);
}

#[test]
fn names_may_be_as_long_as_identifiers() {
    let longest = "@".repeat(128);
    let one = |name: &str| [headers(V, 0), call(12, &[parameter(name, 0, &SqlType::Int, &Value::Int(1), V)])].concat();
    assert_eq!(calls(&one(&longest), V).expect("a call")[0].parameters[0].name, longest);
    assert!(matches!(in_parameter(calls(&one(&"@".repeat(129)), V)), TdsError::Malformed(_)));
}

#[test]
fn calls_have_limits() {
    let one = parameter("", 0, &SqlType::TinyInt, &Value::TinyInt(1), V);
    let limits = Limits { parameters_max: 3, ..Limits::default() };
    for (count, fits) in [(3, true), (4, false)] {
        let data = [headers(V, 0), call(12, &vec![one.clone(); count])].concat();
        let mut message = RpcMessage::parse(&data, V, &limits).expect("headers");
        let call = message.next_call();
        assert_eq!(call.is_ok(), fits);
        if let Err(error) = call {
            assert_eq!((error.to_sql_error().number, error.breaks_connection()), (8003, false));
            assert!(message.is_last(), "nothing can be read behind it");
        }
    }
    for number in [0, 16, 500] {
        let data = [headers(V, 0), call(number, &[])].concat();
        assert!(matches!(calls(&data, V), Err(TdsError::Malformed(_))), "procedure {number}");
    }
    let encrypted = [headers(V, 0), call(12, &[parameter("", 8, &SqlType::Int, &Value::Int(1), V)])].concat();
    assert!(matches!(in_parameter(calls(&encrypted, V)), TdsError::Unsupported(_)));
}

#[test]
fn system_procedures_have_numbers_and_names() {
    for number in 1..=15 {
        let procedure = SystemProcedure::by_number(number).expect("there is one");
        assert_eq!(procedure.number(), number);
        assert_eq!(SystemProcedure::by_name(&procedure.name().to_uppercase()), Some(procedure));
    }
    for (number, name) in [
        (1, "sp_cursor"),
        (2, "sp_cursoropen"),
        (7, "sp_cursorfetch"),
        (9, "sp_cursorclose"),
        (10, "sp_executesql"),
        (11, "sp_prepare"),
        (12, "sp_execute"),
        (13, "sp_prepexec"),
        (15, "sp_unprepare"),
    ] {
        assert_eq!(SystemProcedure::by_number(number).map(SystemProcedure::name), Some(name));
    }
    assert_eq!(SystemProcedure::by_name("sp_who"), None);
}

#[test]
fn a_variant_is_what_is_inside() {
    let read = |bytes: &str| -> Result<(SqlType, Value), TdsError> {
        let behind = parameter("@x", 0, &SqlType::Int, &Value::Int(7), V);
        let data = [headers(V, 0), call_by_name("p", &[hex("00 00 62 491F0000"), hex(bytes), behind])].concat();
        let calls = calls(&data, V)?;
        assert_eq!(scalar(&calls[0], 1), &Value::Int(7));
        let Argument::Scalar { info, value } = &calls[0].parameters[0].argument else { panic!("a value") };
        Ok((info.sql_type(), value.clone()))
    };
    let decimal = pikepole_types::Decimal::new(12_345, 5, 2).expect("it fits");
    let date = pikepole_types::Date::from_days(2).expect("a date");
    let time = pikepole_types::Time::from_ticks(10_000_000).expect("a time");
    for (bytes, ty, value) in [
        ("00000000", SqlType::Null, Value::Null),
        ("06000000 38 00 01000000", SqlType::Int, Value::Int(1)),
        ("03000000 32 00 01", SqlType::Bit, Value::Bit(true)),
        ("09000000 6C 02 0502 01 39300000", SqlType::Decimal { precision: 5, scale: 2 }, Value::Decimal(decimal)),
        ("05000000 28 00 020000", SqlType::Date, Value::Date(date)),
        ("06000000 29 01 00 010000", SqlType::Time(0), Value::Time(time)),
        ("12000000 24 00 01010101010101010101010101010101", SqlType::UniqueIdentifier, Value::Guid([1; 16])),
        ("0B000000 A7 07 0904D00034 0500 6162", SqlType::VarChar(Length::Limit(5)), Value::Str("ab".into())),
        ("0D000000 E7 07 0904D00034 0800 3DD800DE", SqlType::NVarChar(Length::Limit(4)), Value::Str("😀".into())),
        ("05000000 A5 02 0300 01", SqlType::VarBinary(Length::Limit(3)), Value::Bin(vec![1])),
        ("04000000 A5 02 0300", SqlType::VarBinary(Length::Limit(3)), Value::Bin(Vec::new())),
    ] {
        assert_eq!(read(bytes), Ok((ty, value)), "{bytes}");
    }
    for (bytes, error) in [
        ("03000000 99 00 01", TdsError::UnknownType(0x99)),
        ("05000000 26 01 04 0000", TdsError::InvalidLength(0x26)),
        ("03000000 62 00 00", TdsError::InvalidLength(0x62)),
        ("02000000 1F 00", TdsError::InvalidLength(0x1F)),
        ("07000000 38 01 00 01000000", TdsError::InvalidLength(0x38)),
        ("05000000 38 00 010000", TdsError::InvalidValue("int")),
        ("06000000 29 01 08 010000", TdsError::InvalidLength(0x29)),
        ("06000000 A5 02 0100 0102", TdsError::InvalidLength(0xA5)),
        ("05000000 A5 02 FFFF 01", TdsError::InvalidLength(0xA5)),
        ("51200000", TdsError::InvalidLength(0x62)),
        ("02000000 38 05", TdsError::Truncated("a sql_variant")),
    ] {
        assert_eq!(in_parameter(read(bytes)), error, "{bytes}");
    }
}

#[test]
fn tables_are_parameters() {
    let columns = [SqlType::Int, SqlType::NVarChar(Length::Limit(10)), SqlType::VarBinary(Length::Max)];
    let rows = vec![
        vec![Value::Int(1), Value::Str("a😀".into()), Value::Bin(vec![1, 2])],
        vec![Value::Null, Value::Null, Value::Null],
        vec![Value::Int(3), Value::Str(String::new()), Value::Bin(Vec::new())],
    ];
    let text = SqlType::NVarChar(Length::Limit(10));
    for version in VERSIONS.into_iter().filter(|version| version.has_date_types()) {
        let table = [hex("01 4000 00"), table("Ids", &columns, &rows, version)].concat();
        let after = parameter("@x", 0, &text, &Value::Str("behind".into()), version);
        let data = [headers(version, 0), call_by_name("p", &[table, after])].concat();
        let calls = calls(&data, version).expect("a call");
        assert_eq!(scalar(&calls[0], 1), &Value::Str("behind".into()));
        let Argument::Table(argument) = &calls[0].parameters[0].argument else { panic!("a table") };
        assert_eq!((argument.schema.as_str(), argument.name.as_str(), argument.row_count), ("dbo", "Ids", 3));
        let types: Vec<SqlType> = argument.columns.iter().map(|column| column.info.sql_type()).collect();
        assert_eq!(types, columns);
        let mut read = Vec::new();
        argument
            .rows(|row| {
                read.push(row.to_vec());
                Ok::<(), ()>(())
            })
            .expect("each row is taken");
        assert_eq!(read, rows);
        assert_eq!(argument.rows(|_| Err(7)), Err(7));
        for end in headers(version, 0).len() + 7..data.len() {
            assert!(self::calls(&data[..end], version).err().is_none_or(|error| is_truncated(&error)), "{end} bytes");
        }
    }
    // Before 7.3 there are none.
    let old = [headers(TdsVersion::V7_2, 0), call_by_name("p", &[hex("00 00 F3 00 00 00 FFFF 00 00")])].concat();
    assert!(matches!(in_parameter(calls(&old, TdsVersion::V7_2)), TdsError::Unsupported(_)));
}

#[test]
fn texts_without_a_collation_are_in_the_databases_page() {
    let chinese = Collation::by_name("Chinese_PRC_CI_AS").expect("a collation").code_page();
    let scalar_argument = hex("00 00 A7 0A00 0000000000 0400 D6D0CEC4");
    let table_argument = hex("00 00 F3 00 00 00 0100 00000000 0000 A7 0A00 0000000000 00 00 01 0400 D6D0CEC4 00");
    let data = [headers(V, 0), call_by_name("p", &[scalar_argument, table_argument])].concat();
    for (page, wanted) in [(chinese, "中文"), (CodePage::Western, "ÖÐÎÄ")] {
        let mut message = RpcMessage::parse(&data, V, &Limits::default()).expect("headers").in_page(page);
        let call = message.next_call().expect("a call").expect("one");
        let wanted = Value::Str(wanted.into());
        assert_eq!(scalar(&call, 0), &wanted);
        let Argument::Table(table) = &call.parameters[1].argument else { panic!("a table") };
        table.rows(|row| if row == [wanted.clone()] { Ok(()) } else { Err(row.to_vec()) }).expect("one text");
    }
}

#[test]
fn a_decimal_of_no_precision_is_null() {
    // As DB-Library sends it.
    let data = [headers(V, 0), call_by_name("p", &[hex("00 00 6A 01 00 00 00")])].concat();
    let calls = calls(&data, V).expect("a call");
    let Argument::Scalar { info, value } = &calls[0].parameters[0].argument else { panic!("a scalar") };
    assert_eq!((info.sql_type(), value), (SqlType::Decimal { precision: 38, scale: 0 }, &Value::Null));
}

#[test]
fn a_guid_of_no_length_is_null() {
    // As mssql-jdbc sends it.
    let data = [headers(V, 0), call_by_name("p", &[hex("00 00 24 00 00")])].concat();
    let calls = calls(&data, V).expect("a call");
    let Argument::Scalar { info, value } = &calls[0].parameters[0].argument else { panic!("a scalar") };
    assert_eq!((info.sql_type(), value), (SqlType::UniqueIdentifier, &Value::Null));
}

#[test]
fn tables_have_forms() {
    let one = |bytes: &str| [headers(V, 0), call_by_name("p", &[hex("00 00 F3"), hex(bytes)])].concat();
    let argument = |bytes: &str| -> Result<(usize, Vec<Vec<Value>>), TdsError> {
        let data = one(bytes);
        let calls = calls(&data, V)?;
        let Argument::Table(table) = &calls[0].parameters[0].argument else { panic!("a table") };
        assert_eq!(table.is_null, table.columns.is_empty());
        let mut rows = Vec::new();
        let _ = table.rows(|row| {
            rows.push(row.to_vec());
            Ok::<(), ()>(())
        });
        Ok((table.columns.len(), rows))
    };
    assert_eq!(argument("00 00 01 7400 FFFF 00 00"), Ok((0, Vec::new())), "no table at all");
    // Two columns, the second of which has its default; an order, and an order of columns.
    let columns = "00 00 01 7400 0200 00000000 0100 26 04 00  00000000 0002 26 04 00";
    let rows = "01 04 01000000  01 00  00";
    let expected = vec![vec![Value::Int(1), Value::Null], vec![Value::Null, Value::Null]];
    assert_eq!(argument(&format!("{columns} 00 {rows}")), Ok((2, expected.clone())));
    assert_eq!(argument(&format!("{columns} 10 0100 0100 01 11 0200 0100 0200 00 {rows}")), Ok((2, expected)));
    // What is said of the order of rows and columns must be so.
    for wrong in [
        "10 0100 0000 01",
        "10 0100 0300 01",
        "10 0100 0200 01",
        "10 0100 0100 00",
        "10 0100 0100 03",
        "10 0000 10 0000",
        "11 0100 0100",
        "11 0200 0100 0100",
        "11 0200 0000 0100",
        "11 0200 0100 0300",
        "11 0200 0100 0200 11 0200 0100 0200",
    ] {
        let read = in_parameter(argument(&format!("{columns} {wrong} 00 {rows}")));
        assert!(matches!(read, TdsError::Malformed(_)), "{wrong}: {read:?}");
    }
    assert!(
        matches!(in_parameter(argument("00 00 01 7400 FFFF 00 01 00")), TdsError::Malformed(_)),
        "rows of no table"
    );
    assert!(matches!(in_parameter(argument(&format!("{columns} 12 00 {rows}"))), TdsError::Malformed(_)));
    assert!(matches!(in_parameter(argument(&format!("{columns} 00 02 00"))), TdsError::Malformed(_)));
    assert!(matches!(in_parameter(argument(&format!("{columns} 00 01 04 01000000"))), TdsError::Truncated(_)));
    // A type with a database, which ends the call alone.
    let with_database = argument("01 6400 00 01 7400 FFFF 00 00").expect_err("no type has a database");
    assert!(!with_database.breaks_connection());
    assert_eq!(with_database.to_sql_error().number, 8047);
    // A decimal of which the driver does not know the precision is of any.
    let unknown = "00 00 01 7400 0100 00000000 0000 6C 11 00 00 00 00";
    assert_eq!(argument(&format!("{unknown} 01 00 00")), Ok((1, vec![vec![Value::Null]])));
    let wrong = "00 00 01 7400 0100 00000000 0000 6C 11 00 02 00 00";
    assert_eq!(in_parameter(argument(&format!("{wrong} 01 00 00"))), TdsError::InvalidLength(0x6C));
    assert!(matches!(in_parameter(argument("00 00 01 7400 0110")), TdsError::Limit { .. }), "4097 columns");
    let nested = "00 00 01 7400 0100 00000000 0000 F3";
    assert!(matches!(in_parameter(argument(nested)), TdsError::Unsupported(_)), "a table in a table");
}

#[test]
fn a_tables_columns_have_names_and_an_order() {
    let table = |bytes: &str| {
        let data = [headers(V, 0), call_by_name("p", &[hex("00 00 F3"), hex(bytes)])].concat();
        let calls = calls(&data, V).expect("a call");
        let Argument::Table(table) = &calls[0].parameters[0].argument else { panic!("a table") };
        let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
        (names, table.order.clone(), table.is_null, table.row_count)
    };
    let columns = "00 00 01 7400 0200 00000000 0100 26 04 01 6100  00000000 0100 26 04 02 6200 6300";
    let names = vec!["a".to_owned(), "bc".to_owned()];
    assert_eq!(table(&format!("{columns} 00 00")), (names.clone(), vec![0, 1], false, 0), "an empty one");
    let rows = "01 04 01000000 04 02000000 00";
    assert_eq!(table(&format!("{columns} 11 0200 0200 0100 00 {rows}")), (names.clone(), vec![1, 0], false, 1));
    let both = format!("{columns} 11 0200 0200 0100 10 0200 0200 05 0100 02 00 {rows}");
    assert_eq!(table(&both), (names, vec![1, 0], false, 1), "either order first");
    assert_eq!(table("00 00 01 7400 FFFF 00 00"), (Vec::new(), Vec::new(), true, 0), "NULL");
}

#[test]
fn transactions_are_asked_for() {
    let parse = |bytes: Vec<u8>| {
        let data = [headers(V, 3), bytes].concat();
        TransactionRequest::parse(&data, V).map(|(headers, request)| {
            assert_eq!(headers.transaction, 3);
            request
        })
    };
    let in_bytes = |text: &str| [vec![(text.len() * 2) as u8], utf16(text)].concat();
    let begin = |isolation, name: &str| TransactionRequest::Begin { isolation, name: name.into() };
    let isolations = [
        WireIsolation::Unchanged,
        WireIsolation::ReadUncommitted,
        WireIsolation::ReadCommitted,
        WireIsolation::RepeatableRead,
        WireIsolation::Serializable,
        WireIsolation::Snapshot,
    ];
    for (number, isolation) in isolations.into_iter().enumerate() {
        assert_eq!(parse(vec![5, 0, number as u8, 0]), Ok(begin(isolation, "")));
    }
    assert!(matches!(parse(hex("0500 06 00")), Err(TdsError::Malformed(_))));
    let name = in_bytes("tran");
    assert_eq!(parse([hex("0500 02"), name.clone()].concat()), Ok(begin(WireIsolation::ReadCommitted, "tran")));
    assert_eq!(parse([hex("0900"), name.clone()].concat()), Ok(TransactionRequest::Save { name: "tran".into() }));
    let commit = TransactionRequest::Commit { name: "tran".into(), then: None };
    assert_eq!(parse([hex("0700"), name.clone(), vec![0]].concat()), Ok(commit));
    let then = Some((WireIsolation::Snapshot, "next".into()));
    let rollback = TransactionRequest::Rollback { name: "tran".into(), then };
    assert_eq!(parse([hex("0800"), name, hex("01 05"), in_bytes("next")].concat()), Ok(rollback));
    assert_eq!(parse(hex("0800 00 00")), Ok(TransactionRequest::Rollback { name: String::new(), then: None }));
    assert!(matches!(parse(hex("0900 00")), Err(TdsError::Malformed(_))), "a savepoint without a name");
    assert!(matches!(parse(hex("0700 00")), Err(TdsError::Truncated(_))));
    assert!(matches!(parse(hex("0700 00 00 00")), Err(TdsError::Malformed(_))), "something behind it");
    for distributed in ["0000 0000", "0100 0000", "0600"] {
        assert!(matches!(parse(hex(distributed)), Err(TdsError::Unsupported(_))));
    }
    assert!(matches!(parse(hex("0200")), Err(TdsError::Malformed(_))));
}

/// Feeds a bulk load in parts of a size; gives the rows.
fn load(data: &[u8], size: usize, version: TdsVersion, limits: &Limits) -> Result<Vec<Vec<Value>>, TdsError> {
    let mut load = BulkLoad::new(version, limits);
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut parts = data.chunks(size).peekable();
    loop {
        let part = parts.next().unwrap_or_default();
        load.feed(part, parts.peek().is_none())?;
        while load.next_row(&mut row)? {
            rows.push(row.clone());
        }
        if parts.peek().is_none() {
            assert!(load.is_done());
            return Ok(rows);
        }
        assert!(!load.is_done() || parts.peek().is_none());
    }
}

fn bulk_rows(version: TdsVersion) -> (Vec<u8>, Vec<Vec<Value>>) {
    let columns = [
        ("id", SqlType::Int),
        ("name", SqlType::NVarChar(Length::Limit(50))),
        ("text", SqlType::NVarChar(Length::Max)),
        ("bytes", SqlType::VarBinary(Length::Max)),
    ];
    let rows: Vec<Vec<Value>> = (0..20)
        .map(|number: i32| match number % 4 {
            3 => vec![Value::Int(number), Value::Null, Value::Null, Value::Null],
            _ => {
                let text = "é😀".repeat(number as usize * 7);
                vec![Value::Int(number), Value::Str("n".into()), Value::Str(text), Value::Bin(vec![9; number as usize])]
            }
        })
        .collect();
    let mut data = bulk_columns(&columns, version);
    for row in &rows {
        data.push(0xD1);
        for ((_, ty), value) in columns.iter().zip(row) {
            let info = pikepole_tds::TypeInfo::of(ty, true, version);
            // In rows, text and its like have a pointer before them.
            if ty.is_max() && !version.is_wide() {
                if value.is_null() {
                    data.push(0);
                    continue;
                }
                data.extend([&[16][..], &[0xFF; 24]].concat());
            }
            info.write_value(ty, value, &mut data).expect("it fits");
        }
    }
    (data, rows)
}

#[test]
fn bulk_loads_are_read_in_parts_of_any_size() {
    for version in VERSIONS {
        let (mut data, rows) = bulk_rows(version);
        for size in (1..200).chain([1000, data.len()]) {
            assert_eq!(
                load(&data, size, version, &Limits::default()),
                Ok(rows.clone()),
                "{version:?}: parts of {size}"
            );
        }
        // With DONE at the end, and with something behind it.
        data.extend(hex("FD 0000 0000 00000000"));
        if version.is_wide() {
            data.extend([0; 4]);
        }
        assert_eq!(load(&data, 100, version, &Limits::default()), Ok(rows));
        data.push(0xD1);
        assert!(load(&data, usize::MAX, version, &Limits::default()).is_err());
    }
}

#[test]
fn bulk_loads_may_have_a_bitmap_or_nothing() {
    let columns: Vec<(&str, SqlType)> = (0..9).map(|_| ("c", SqlType::Int)).collect();
    let mut data = bulk_columns(&columns, V);
    data.extend(hex("D2 FE 00 04 01000000 04 02000000"));
    let rows = load(&data, 7, V, &Limits::default()).expect("a row");
    assert_eq!(rows[0][0], Value::Int(1));
    assert_eq!(rows[0][8], Value::Int(2));
    assert!(rows[0][1..8].iter().all(Value::is_null));
    // A client that counts in four bytes at the end, where eight belong; in parts, the first of which end within the count.
    data.extend(hex("FD 0000 0000 00000000"));
    for part in 1..data.len() {
        assert_eq!(load(&data, part, V, &Limits::default()).as_ref(), Ok(&rows), "parts of {part} bytes");
    }
    data.extend(hex("00000000"));
    for part in 1..data.len() {
        assert_eq!(load(&data, part, V, &Limits::default()).as_ref(), Ok(&rows), "parts of {part} bytes");
    }
    data.push(0);
    assert!(matches!(load(&data, 7, V, &Limits::default()), Err(TdsError::Malformed(_))), "more behind the end");
    assert_eq!(load(&[], 1, V, &Limits::default()), Ok(Vec::new()), "a client that has nothing");
    assert_eq!(load(&bulk_columns(&columns, V), 7, V, &Limits::default()), Ok(Vec::new()));
}

#[test]
fn bad_bulk_loads_are_refused_and_stay_so() {
    let (data, _) = bulk_rows(V);
    let bad = |bytes: Vec<u8>| load(&bytes, usize::MAX, V, &Limits::default());
    assert!(matches!(bad(hex("82 00")), Err(TdsError::Malformed(_))));
    assert!(matches!(bad(hex("81 0000")), Err(TdsError::Malformed(_))), "no columns");
    assert!(matches!(bad(hex("81 FFFF")), Err(TdsError::Limit { .. })));
    assert!(matches!(bad(data[..data.len() - 1].to_vec()), Err(TdsError::Truncated(_))));
    assert!(matches!(bad([data, vec![0xD3]].concat()), Err(TdsError::Malformed(_))));
    let long =
        [bulk_columns(&[("c", SqlType::VarBinary(Length::Max))], V), hex("D1 FEFFFFFFFFFFFFFF 00100000")].concat();
    let limits = Limits { bulk_row_bytes_max: 2000, ..Limits::default() };
    let mut load = BulkLoad::new(V, &limits);
    load.feed(&long, false).expect("in the limit");
    let mut row = Vec::new();
    assert_eq!(load.next_row(&mut row), Ok(false));
    load.feed(&[0; 1900], false).expect("in the limit");
    assert_eq!(load.next_row(&mut row), Ok(false));
    assert!(matches!(load.feed(&[0; 200], false), Err(TdsError::Limit { limit: 2000, .. })));
    assert!(load.next_row(&mut row).is_err() && load.columns().is_err() && load.feed(&[], true).is_err());
}

#[test]
fn values_of_types_of_a_fixed_length_are_filled_up() {
    let limit = Length::Limit(4);
    let cases = [
        (SqlType::Char(4), Value::from("é"), Value::from("é   ")),
        (SqlType::NChar(3), Value::from("😀"), Value::from("😀 ")),
        (SqlType::Binary(3), Value::Bin(vec![1]), Value::Bin(vec![1, 0, 0])),
        (SqlType::VarChar(limit), Value::from("a"), Value::from("a")),
        (SqlType::VarBinary(limit), Value::Bin(vec![1]), Value::Bin(vec![1])),
        (SqlType::NChar(3), Value::Null, Value::Null),
    ];
    for (ty, sent, expected) in cases {
        let version = TdsVersion::V7_4;
        let data = [headers(version, 0), call_by_name("p", &[parameter("@p", 0, &ty, &sent, version)])].concat();
        let mut message = RpcMessage::parse(&data, version, &Limits::default()).expect("a message");
        let call = message.next_call().expect("a call").expect("there is one");
        let Argument::Scalar { value, .. } = &call.parameters[0].argument else { panic!("{ty}") };
        assert_eq!(*value, expected, "{ty}");
    }
}
