//! Messages of the protocol's public documentation, byte by byte: what clients send, and what they expect.

mod support;

use pikepole_tds::{
    Argument, BulkLoad, ClientEncryption, Column, ColumnFlags, ColumnOrigin, Command, Done, DoneKind, EnvChange,
    FeatureAck, Limits, Login7, LoginAck, Message, MessageWriter, PacketKind, PreLogin, PreLoginReply, Procedure,
    Reassembler, ReturnValue, RpcMessage, SqlBatch, SystemProcedure, TdsError, TdsVersion, TransactionRequest,
};
use pikepole_types::{Collation, Length, SqlError, SqlType, Value};
use support::{hex, utf16};

fn message(packets: &str) -> Message {
    let bytes = hex(packets);
    let mut rest = bytes.as_slice();
    let message = Reassembler::new(Limits::default()).feed(&mut rest).expect("packets").expect("a message");
    assert!(rest.is_empty());
    message
}

/// What a writer has written, as one message with its packets' headers.
fn written(mut writer: MessageWriter) -> Vec<u8> {
    writer.finish();
    writer.ready().to_vec()
}

#[test]
fn a_prelogin() {
    let message = message(
        "12 01 00 2F 00 00 01 00  00 00 1A 00 06  01 00 20 00 01  02 00 21 00 01  03 00 22 00 04  04 00 26 00 01 FF
         09 00 00 00 00 00  01  00  B8 0D 00 00  01",
    );
    assert_eq!(message.kind, PacketKind::PreLogin);
    let prelogin = PreLogin::parse(&message.data).expect("a prelogin");
    assert_eq!(prelogin.version, 0x0900_0000);
    assert_eq!(prelogin.encryption, ClientEncryption::On);
    assert_eq!((prelogin.instance.as_deref(), prelogin.thread, prelogin.mars), (Some(""), 0x0DB8, true));
}

#[test]
fn the_reply_to_a_prelogin() {
    let (answer_instance, answer_federated) = (true, false);
    let reply =
        PreLoginReply { version: (9, 0, 0x0506), encryption: 1, answer_instance, answer_federated, mars: false };
    let mut writer = MessageWriter::new(TdsVersion::V7_4, 0);
    writer.raw(&reply.to_bytes());
    let expected = hex(
        "04 01 00 2B 00 00 01 00  00 00 1A 00 06  01 00 20 00 01  02 00 21 00 01  03 00 22 00 00  04 00 22 00 01 FF
         09 00 05 06 00 00  01  00  00",
    );
    assert_eq!(written(writer), expected);
    // A client that names no instance is not told of one.
    let silent = PreLoginReply { answer_instance: false, ..reply }.to_bytes();
    assert_eq!(silent[..21], hex("00 00 15 00 06  01 00 1B 00 01  03 00 1C 00 00  04 00 1C 00 01 FF"));
    let federated = PreLoginReply { answer_federated: true, ..reply }.to_bytes();
    assert_eq!(federated[25..30], hex("06 00 28 00 01"));
    assert_eq!((federated.len(), federated[0x28]), (0x29, 0));
}

#[test]
fn a_login() {
    let message = message(
        "10 01 00 90 00 00 01 00  88 00 00 00 02 00 09 72 00 10 00 00 00 00 00 07 00 01 00 00 00 00 00 00 E0 03 00 00
         E0 01 00 00 09 04 00 00  5E 00 08 00 6E 00 02 00 72 00 00 00 72 00 07 00 80 00 00 00 80 00 00 00 80 00 04 00
         88 00 00 00 88 00 00 00  00 50 8B E2 B7 8F  88 00 00 00 88 00 00 00 88 00 00 00 00 00 00 00
         73 00 6B 00 6F 00 73 00 74 00 6F 00 76 00 31 00 73 00 61 00 4F 00 53 00 51 00 4C 00 2D 00 33 00 32 00 4F 00
         44 00 42 00 43 00",
    );
    let login = Login7::parse(&message.data).expect("a login");
    assert_eq!(TdsVersion::negotiate(login.version), Some(TdsVersion::V7_2));
    assert_eq!((login.packet_bytes, login.process, login.language_id), (4096, 256, 0x0409));
    assert_eq!((login.host.as_str(), login.user.as_str(), login.password.reveal()), ("skostov1", "sa", ""));
    assert_eq!((login.application.as_str(), login.library.as_str(), login.database.as_str()), ("OSQL-32", "ODBC", ""));
    assert!(login.is_odbc && !login.is_integrated && login.language_is_fatal && login.database_is_fatal);
    assert!(login.features.is_empty() && login.new_password.is_none());
}

#[test]
fn a_batch() {
    let message = message(
        "01 01 00 5C 00 00 01 00  16 00 00 00 12 00 00 00 02 00 00 00 00 00 00 00 00 01 00 00 00 00
         0A 00 73 00 65 00 6C 00 65 00 63 00 74 00 20 00 27 00 66 00 6F 00 6F 00 27 00 20 00 61 00 73 00 20 00 27 00
         62 00 61 00 72 00 27 00 0A 00 20 00 20 00 20 00 20 00 20 00 20 00 20 00 20 00",
    );
    let batch = SqlBatch::parse(&message.data, TdsVersion::V7_2).expect("a batch");
    assert_eq!(batch.text, "\nselect 'foo' as 'bar'\n        ");
    assert_eq!(batch.headers.transaction, 0x0100_0000_0000_0000);
    // Before 7.2 there are no headers.
    let older = SqlBatch::parse(&utf16("select 1"), TdsVersion::V7_1).expect("a batch");
    assert_eq!((older.text.as_str(), older.headers.transaction), ("select 1", 0));
}

#[test]
fn a_batch_is_answered() {
    let flags = ColumnFlags { computed: true, ..ColumnFlags::default() };
    let column = Column::new("bar", SqlType::VarChar(Length::Limit(3)), flags, TdsVersion::V7_2);
    let mut writer = MessageWriter::new(TdsVersion::V7_2, 0x33);
    writer.columns(std::slice::from_ref(&column));
    writer.row(&[column], &[Value::Str("foo".into())]).expect("it fits");
    writer.done(DoneKind::Statement, &Done { rows: Some(1), ..Done::new(Command::Select) });
    let expected =
        hex("04 01 00 33 00 33 01 00  81 01 00 00 00 00 00 20 00 A7 03 00 09 04 D0 00 34 03 62 00 61 00 72 00
         D1 03 00 66 6F 6F  FD 10 00 C1 00 01 00 00 00 00 00 00 00");
    assert_eq!(written(writer), expected);
}

#[test]
fn a_call() {
    let message = message(
        "03 01 00 2F 00 00 01 00  16 00 00 00 12 00 00 00 02 00 00 00 00 00 00 00 00 01 00 00 00 00
         04 00 66 00 6F 00 6F 00 33 00 00 00  00 02 26 02 00",
    );
    let mut calls = RpcMessage::parse(&message.data, TdsVersion::V7_2, &Limits::default()).expect("headers");
    let call = calls.next_call().expect("a call").expect("there is one");
    assert_eq!(call.procedure, Procedure::Name("foo3".into()));
    let [parameter] = call.parameters.as_slice() else { panic!("one parameter") };
    assert!(parameter.default && !parameter.by_reference && parameter.name.is_empty());
    let Argument::Scalar { info, value } = &parameter.argument else { panic!("a value") };
    assert_eq!((info.sql_type(), value), (SqlType::SmallInt, &Value::Null));
    assert!(calls.is_last() && calls.next_call() == Ok(None));
}

#[test]
fn a_call_is_answered() {
    let mut writer = MessageWriter::new(TdsVersion::V7_2, 0);
    writer.done(DoneKind::InProcedure, &Done { rows: Some(1), more: true, ..Done::new(Command::Select) });
    writer.return_status(0);
    writer.done(DoneKind::Procedure, &Done::new(Command::Execute));
    let expected = hex("04 01 00 27 00 00 01 00  FF 11 00 C1 00 01 00 00 00 00 00 00 00  79 00 00 00 00
         FE 00 00 E0 00 00 00 00 00 00 00 00 00");
    assert_eq!(written(writer), expected);
}

/// What a client of SQL Server 2000 sent to prepare a statement, as its users found it on the wire.
#[test]
fn a_prepare_of_an_older_client() {
    let text = "declare @p4 integer\r\nexec jd_test_001 @p1=3, @p2='test', @p3= '07/17/2003', @@p4=@p4 output\r\n";
    let start = "FFFF 0B00 0000  00 01 26 04 04 FFFFFFFF  00 00 63 00000000 09 04 00 01 32 FFFFFFFF
                 00 00 63 BA000000 09 04 00 01 32 BA000000";
    let data = [hex(start), utf16(text), hex("00 00 26 04 04 01000000")].concat();
    assert_eq!(utf16(text).len(), 0xBA);
    let mut calls = RpcMessage::parse(&data, TdsVersion::V7_1, &Limits::default()).expect("no headers");
    let call = calls.next_call().expect("a call").expect("there is one");
    assert_eq!(call.procedure, Procedure::System(SystemProcedure::Prepare));
    let values: Vec<&Value> = call
        .parameters
        .iter()
        .map(|parameter| match &parameter.argument {
            Argument::Scalar { value, .. } => value,
            Argument::Table(_) => panic!("no table"),
        })
        .collect();
    assert_eq!(values, [&Value::Int(-1), &Value::Null, &Value::Str(text.into()), &Value::Int(1)]);
    assert!(call.parameters[0].by_reference && !call.parameters[1].by_reference);
}

#[test]
fn a_transaction_request() {
    let message = message(
        "0E 01 00 22 00 00 01 00  16 00 00 00 12 00 00 00 02 00 00 00 00 00 00 00 00 01 00 00 00 00  00 00 00 00",
    );
    let refused = TransactionRequest::parse(&message.data, TdsVersion::V7_2);
    assert!(matches!(refused, Err(TdsError::Unsupported(_))), "the coordinator's address");
}

#[test]
fn an_attention() {
    let message = message("06 01 00 08 00 00 01 00");
    assert_eq!((message.kind, message.data.len()), (PacketKind::Attention, 0));
    let mut writer = MessageWriter::new(TdsVersion::V7_4, 0);
    writer.done(DoneKind::Statement, &Done::attention());
    assert_eq!(written(writer), hex("04 01 00 15 00 00 01 00  FD 20 00 00 00 00 00 00 00 00 00 00 00"));
}

#[test]
fn a_bulk_load() {
    let message = message(
        "07 01 00 26 00 00 01 00  81 01 00 00 00 00 00 05 00 32 02 63 00 31 00  D1 00
         FD 00 00 00 00 00 00 00 00 00 00 00 00",
    );
    let mut load = BulkLoad::new(TdsVersion::V7_2, &Limits::default());
    load.feed(&message.data, message.is_end).expect("in the limit");
    let columns = load.columns().expect("columns").expect("all are there");
    assert_eq!((columns[0].name.as_str(), columns[0].info.sql_type()), ("c1", SqlType::Bit));
    let mut row = Vec::new();
    assert_eq!(load.next_row(&mut row), Ok(true));
    assert_eq!(row, [Value::Bit(false)]);
    assert_eq!(load.next_row(&mut row), Ok(false));
    assert!(load.is_done());
}

#[test]
fn a_login_is_answered() {
    let mut writer = MessageWriter::new(TdsVersion::V7_2, 0x34);
    writer.env_change(&EnvChange::Database { new: "master", old: "master" });
    let context = SqlError::new(5701, 0, 2, "Changed database context to 'master'.").at_line(1);
    writer.message(&context, "SERVER");
    writer.env_change(&EnvChange::Collation { new: Collation::DEFAULT, old: None });
    writer.env_change(&EnvChange::Language { new: "us_english", old: "" });
    writer.login_ack(&LoginAck { program: "Microsoft SQL Server", version: (9, 0, 0x0506) });
    writer.env_change(&EnvChange::PacketBytes { new: 4096, old: 4096 });
    writer.feature_ack(&[FeatureAck::Utf8Support]);
    writer.done(DoneKind::Statement, &Done::new(Command::None));
    let expected = [
        hex("E3 1B 00 01 06 6D 00 61 00 73 00 74 00 65 00 72 00 06 6D 00 61 00 73 00 74 00 65 00 72 00"),
        hex("AB 64 00 45 16 00 00 02 00 25 00"),
        utf16("Changed database context to 'master'."),
        hex("06"),
        utf16("SERVER"),
        hex("00 01 00 00 00"),
        hex("E3 08 00 07 05 09 04 D0 00 34 00"),
        hex("E3 17 00 02 0A 75 00 73 00 5F 00 65 00 6E 00 67 00 6C 00 69 00 73 00 68 00 00"),
        hex("AD 32 00 01 72 09 00 02 14"),
        utf16("Microsoft SQL Server"),
        hex("09 00 05 06"),
        hex("E3 13 00 04 04 34 00 30 00 39 00 36 00 04 34 00 30 00 39 00 36 00"),
        hex("AE 0A 01 00 00 00 01 FF"),
        hex("FD 00 00 00 00 00 00 00 00 00 00 00 00"),
    ]
    .concat();
    assert_eq!(written(writer)[8..], expected);
}

#[test]
fn transactions_are_told() {
    let mut writer = MessageWriter::new(TdsVersion::V7_4, 0);
    writer.env_change(&EnvChange::Begin(0x0102));
    writer.env_change(&EnvChange::Commit(0x0102));
    writer.env_change(&EnvChange::Rollback(0x0102));
    writer.env_change(&EnvChange::TransactionEnded(0x0102));
    writer.env_change(&EnvChange::ResetConnection);
    let expected = hex("E3 0B 00 08 08 02 01 00 00 00 00 00 00 00  E3 0B 00 09 00 08 02 01 00 00 00 00 00 00
         E3 0B 00 0A 00 08 02 01 00 00 00 00 00 00  E3 0B 00 11 00 08 02 01 00 00 00 00 00 00  E3 03 00 12 00 00");
    assert_eq!(written(writer)[8..], expected);
}

#[test]
fn an_error_has_its_line_in_the_width_of_the_version() {
    let error = SqlError::new(8134, 16, 1, "Ö").at_line(70_000).in_procedure("p");
    for (version, line) in [(TdsVersion::V7_1, "FFFF"), (TdsVersion::V7_2, "70110100")] {
        let mut writer = MessageWriter::new(version, 0);
        writer.message(&error, "s");
        let body = [hex("C61F0000 01 10 0100 D600 01 7300 01 7000"), hex(line)].concat();
        let expected = [vec![0xAA, body.len() as u8, 0], body].concat();
        assert_eq!(written(writer)[8..], expected, "{version:?}");
    }
}

#[test]
fn a_message_of_severity_10_is_one_of_class_0() {
    for (severity, class) in [(0, 0), (9, 9), (10, 0), (11, 11)] {
        let mut writer = MessageWriter::new(TdsVersion::V7_4, 0);
        writer.message(&SqlError::new(5701, severity, 2, "x"), "s");
        assert_eq!(written(writer)[8 + 8], class, "severity {severity}");
    }
}

#[test]
fn an_output_parameter_is_returned() {
    let value = Value::Int(-2);
    let returned = ReturnValue {
        is_result: false,
        ordinal: 3,
        name: "@o",
        ty: SqlType::Int,
        numeric: false,
        collation: Collation::DEFAULT,
        value: &value,
    };
    for (version, user_type) in [(TdsVersion::V7_1, "0000"), (TdsVersion::V7_4, "00000000")] {
        let mut writer = MessageWriter::new(version, 0);
        writer.return_value(&returned).expect("it fits");
        let expected = [hex("AC 0300 02 4000 6F00 01"), hex(user_type), hex("0000 26 04 04 FEFFFFFF")].concat();
        assert_eq!(written(writer)[8..], expected, "{version:?}");
    }
}

#[test]
fn a_cursors_columns_say_where_they_come_from() {
    let mut writer = MessageWriter::new(TdsVersion::V7_4, 0);
    let own = ColumnOrigin { table: Some(0), key: true, ..ColumnOrigin::default() };
    let renamed = ColumnOrigin { table: Some(0), hidden: true, base_name: Some("b"), ..ColumnOrigin::default() };
    writer.origins(&[&["dbo", "t"]], &[own, renamed, ColumnOrigin::default()]);
    let expected = hex("A4 0D00 02 0300 640062006F00 0100 7400  A5 0C00 01 01 08  02 01 30 01 6200  03 00 04");
    assert_eq!(written(writer)[8..], expected);
    let mut writer = MessageWriter::new(TdsVersion::V7_4, 0);
    writer.origins(&[], &vec![ColumnOrigin { base_name: Some(&"x".repeat(128)), ..own }; 300]);
    assert_eq!(written(writer).len(), 8, "too long to be told");
}

#[test]
fn counts_have_the_width_of_the_version() {
    let done = Done { rows: Some(0x1_0000_0002), error: true, in_transaction: true, ..Done::new(Command::Insert) };
    for (version, rows) in [(TdsVersion::V7_1, "FFFFFFFF"), (TdsVersion::V7_2, "0200000001000000")] {
        let mut writer = MessageWriter::new(version, 0);
        writer.done(DoneKind::Statement, &done);
        assert_eq!(written(writer)[8..], [hex("FD 1600 C300"), hex(rows)].concat());
    }
}
