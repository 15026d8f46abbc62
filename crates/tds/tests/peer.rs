//! Against a client's protocol library of others: what is written here it reads, what it writes is read here.

mod support;

use pikepole_tds::{
    Argument, Column, ColumnFlags, Command, Done, DoneKind, EnvChange, Feature, FeatureAck, Limits, Login7, LoginAck,
    MessageWriter, PACKET_BYTES_MIN, PreLogin, PreLoginReply, Procedure, Reassembler, ReturnValue, RpcMessage,
    SqlBatch, SystemProcedure, TdsVersion, WireCollation,
};
use pikepole_types::{Collation, Decimal, Length, SqlError, SqlType, Value};
use support::hex;
use tds_protocol::login7::{FeatureExtension, FeatureId};
use tds_protocol::token::{EnvChangeType, EnvChangeValue, Token, TokenParser};
use tds_protocol::tvp::{TvpColumnDef, TvpEncoder, TvpWireType};
use tds_protocol::{RpcParam, RpcRequest, RpcTypeInfo};

const V: TdsVersion = TdsVersion::V7_4;

/// The payload of what a writer has written.
fn payload(mut writer: MessageWriter) -> Vec<u8> {
    writer.finish();
    let mut rest = writer.ready();
    let message = Reassembler::new(Limits::default()).feed(&mut rest).expect("packets").expect("a message");
    assert!(rest.is_empty());
    message.data
}

/// A type, a value of it, and another.
fn columns() -> Vec<(SqlType, Value)> {
    vec![
        (SqlType::Bit, Value::Bit(true)),
        (SqlType::TinyInt, Value::TinyInt(255)),
        (SqlType::SmallInt, Value::SmallInt(-1)),
        (SqlType::Int, Value::Int(i32::MIN)),
        (SqlType::BigInt, Value::BigInt(i64::MAX)),
        (SqlType::Money, Value::Money(-12_345)),
        (SqlType::SmallMoney, Value::SmallMoney(1)),
        (SqlType::Real, Value::Real(0.5)),
        (SqlType::Float, Value::Float(-0.25)),
        (SqlType::Decimal { precision: 38, scale: 4 }, Value::Decimal(Decimal::new(-1, 38, 4).expect("it fits"))),
        (SqlType::UniqueIdentifier, Value::Guid([3; 16])),
        (SqlType::Date, Value::Date(pikepole_types::Date::from_days(3_652_058).expect("a date"))),
        (SqlType::Time(7), Value::Time(pikepole_types::Time::from_ticks(1).expect("a time"))),
        (SqlType::DateTime2(3), Value::DateTime2(pikepole_types::DateTime2::from_ticks(10_000).expect("in range"))),
        (
            SqlType::DateTimeOffset(0),
            Value::DateTimeOffset(pikepole_types::DateTimeOffset::new(36_000_000_000, -60).expect("in range")),
        ),
        (SqlType::DateTime, Value::DateTime(pikepole_types::DateTime::from_ticks(-1).expect("in range"))),
        (
            SqlType::SmallDateTime,
            Value::SmallDateTime(pikepole_types::SmallDateTime::from_minutes(9).expect("in range")),
        ),
        (SqlType::Char(2), Value::Str("ab".into())),
        (SqlType::VarChar(Length::Limit(8000)), Value::Str("é".into())),
        (SqlType::VarChar(Length::Max), Value::Str("x".repeat(9000))),
        (SqlType::NChar(2), Value::Str("😀".into())),
        (SqlType::NVarChar(Length::Limit(4000)), Value::Str(String::new())),
        (SqlType::NVarChar(Length::Max), Value::Str("😀".repeat(5000))),
        (SqlType::Binary(1), Value::Bin(vec![0])),
        (SqlType::VarBinary(Length::Limit(8000)), Value::Bin(Vec::new())),
        (SqlType::VarBinary(Length::Max), Value::Bin(vec![1; 10_000])),
    ]
}

#[test]
fn result_sets_are_read_by_a_client() {
    for nullable in [false, true] {
        let flags = ColumnFlags { nullable, identity: !nullable, ..ColumnFlags::default() };
        let sample = columns();
        let own: Vec<Column> = sample.iter().map(|(ty, _)| Column::new(format!("c {ty}"), *ty, flags, V)).collect();
        let values: Vec<Value> = sample.iter().map(|(_, value)| value.clone()).collect();
        let mut sparse = values.clone();
        sparse.iter_mut().skip(1).for_each(|value| *value = Value::Null);
        let mut writer = MessageWriter::new(V, 7);
        writer.set_packet_bytes(PACKET_BYTES_MIN);
        writer.columns(&own);
        writer.order(&[1, 4]);
        writer.row(&own, &values).expect("it fits");
        if nullable {
            writer.row(&own, &sparse).expect("it fits");
            writer.row(&own, &vec![Value::Null; own.len()]).expect("it fits");
        } else {
            assert!(writer.row(&own, &sparse).is_err(), "no NULL where none can be");
            assert!(writer.row(&own, &values[1..]).is_err(), "a value is missing");
        }
        writer.done(DoneKind::Statement, &Done { rows: Some(3), ..Done::new(Command::Select) });
        let mut parser = TokenParser::new(payload(writer).into());
        let Some(Token::ColMetaData(metadata)) = parser.next_token().expect("a token") else { panic!("columns") };
        for ((theirs, ours), (ty, _)) in metadata.columns.iter().zip(&own).zip(&sample) {
            assert_eq!(theirs.name, format!("c {ty}"));
            assert_eq!(theirs.col_type, ours.info().token() as u8);
            assert_eq!(theirs.flags, if nullable { 1 } else { 16 });
            if let SqlType::Decimal { precision, scale } = ty {
                assert_eq!((theirs.type_info.precision, theirs.type_info.scale), (Some(*precision), Some(*scale)));
            }
            if ty.is_string() {
                let collation = theirs.type_info.collation.expect("a collation");
                assert_eq!(collation.to_bytes(), WireCollation::DEFAULT.to_bytes());
            }
        }
        let Some(Token::Order(order)) = parser.next_token().expect("a token") else { panic!("an order") };
        assert_eq!(order.columns, [1, 4]);
        let mut next = || parser.next_token_with_metadata(Some(&metadata)).expect("a token").expect("there is one");
        let Token::Row(row) = next() else { panic!("a row") };
        let mut bytes: &[u8] = &row.data;
        for (column, value) in own.iter().zip(&values) {
            let mut read = Value::Null;
            column.info().parse_value(&mut bytes, &mut read).expect("a value");
            assert_eq!(read, *value);
        }
        assert!(bytes.is_empty());
        if nullable {
            let Token::NbcRow(row) = next() else { panic!("a row with a bitmap") };
            assert_eq!(row.data[..], [1, 1]);
            assert!(!row.is_null(0) && (1..own.len()).all(|column| row.is_null(column)));
            let Token::NbcRow(row) = next() else { panic!("a row with a bitmap") };
            assert!(row.data.is_empty());
        }
        let Token::Done(done) = next() else { panic!("the end") };
        assert_eq!((done.row_count, done.cur_cmd, done.status.count, done.status.more), (3, 0xC1, true, false));
        assert!(!parser.has_remaining());
    }
}

#[test]
fn replies_are_read_by_a_client() {
    let mut writer = MessageWriter::new(V, 7);
    writer.login_ack(&LoginAck { program: "Pikepole", version: (16, 0, 1000) });
    writer.feature_ack(&[FeatureAck::Utf8Support]);
    writer.env_change(&EnvChange::Database { new: "dätä", old: "master" });
    writer.env_change(&EnvChange::PacketBytes { new: 8000, old: 4096 });
    writer.env_change(&EnvChange::Begin(77));
    let long = "😀".repeat(40_000);
    writer.message(&SqlError::new(50_000, 16, 3, long.clone()).at_line(70_000).in_procedure("p"), "here");
    writer.message(&SqlError::new(0, 0, 1, "printed"), "here");
    writer.return_status(-6);
    for (ordinal, (ty, value)) in columns().iter().enumerate() {
        writer
            .return_value(&ReturnValue {
                is_result: false,
                ordinal: ordinal as u16,
                name: "@o",
                ty: *ty,
                numeric: false,
                collation: Collation::DEFAULT,
                value,
            })
            .expect("it fits");
        writer
            .return_value(&ReturnValue {
                is_result: false,
                ordinal: 0,
                name: "",
                ty: *ty,
                numeric: false,
                collation: Collation::DEFAULT,
                value: &Value::Null,
            })
            .expect("it fits");
    }
    let done = Done { error: true, in_transaction: true, ..Done::new(Command::Execute) };
    writer.done(DoneKind::InProcedure, &Done { more: true, ..done });
    writer.done(DoneKind::Procedure, &done);
    let mut parser = TokenParser::new(payload(writer).into());
    let mut next = || parser.next_token().expect("a token").expect("there is one");
    let Token::LoginAck(ack) = next() else { panic!("a login") };
    // The number is the one field of the protocol that travels with its most significant byte first.
    assert_eq!((ack.interface, ack.tds_version.swap_bytes(), ack.prog_name.as_str()), (1, 0x7400_0004, "Pikepole"));
    let Token::FeatureExtAck(features) = next() else { panic!("features") };
    assert_eq!((features.features.len(), features.features[0].feature_id), (1, 10));
    let Token::EnvChange(change) = next() else { panic!("a change") };
    assert_eq!(change.new_database(), Some("dätä"));
    let Token::EnvChange(change) = next() else { panic!("a change") };
    assert!(matches!(change.new_value, EnvChangeValue::String(size) if size == "8000"));
    let Token::EnvChange(change) = next() else { panic!("a change") };
    assert_eq!(change.env_type, EnvChangeType::BeginTransaction);
    assert!(matches!(change.new_value, EnvChangeValue::Binary(id) if id[..] == 77u64.to_le_bytes()));
    let Token::Error(error) = next() else { panic!("an error") };
    assert_eq!((error.number, error.class, error.state, error.line), (50_000, 16, 3, 70_000));
    assert_eq!((error.server.as_str(), error.procedure.as_str()), ("here", "p"));
    assert!(long.starts_with(&error.message) && error.message.chars().count() == 16_000, "as much as fits");
    let Token::Info(info) = next() else { panic!("a message") };
    assert_eq!((info.message.as_str(), info.number), ("printed", 0));
    assert!(matches!(next(), Token::ReturnStatus(-6)));
    for (ordinal, (ty, _)) in columns().iter().enumerate() {
        let Token::ReturnValue(value) = next() else { panic!("a value") };
        assert_eq!(
            (usize::from(value.param_ordinal), value.param_name.as_str(), value.status),
            (ordinal, "@o", 1),
            "{ty}"
        );
        assert!(matches!(next(), Token::ReturnValue(_)), "{ty}");
    }
    let Token::DoneInProc(done) = next() else { panic!("an end") };
    assert!(done.status.more && done.status.error && done.status.in_xact && !done.status.count);
    let Token::DoneProc(done) = next() else { panic!("an end") };
    assert_eq!((done.status.more, done.cur_cmd), (false, 0xE0));
    assert!(!parser.has_remaining());
}

#[test]
fn a_clients_login_is_read() {
    let hello = tds_protocol::PreLogin::new().with_mars(true).with_instance("inst");
    let prelogin = PreLogin::parse(&hello.encode()).expect("a prelogin");
    assert_eq!((prelogin.instance.as_deref(), prelogin.mars), (Some("inst"), true));
    let reply = PreLoginReply {
        version: (16, 0, 1000),
        encryption: 1,
        answer_instance: true,
        answer_federated: true,
        mars: false,
    }
    .to_bytes();
    let read = tds_protocol::PreLogin::decode(reply.as_slice()).expect("a reply");
    assert_eq!((read.encryption, read.mars), (tds_protocol::EncryptionLevel::On, false));
    let login = tds_protocol::Login7::new()
        .with_sql_auth("sa", "pa55wörd")
        .with_database("db")
        .with_hostname("host")
        .with_server_name("server")
        .with_language("Deutsch")
        .with_packet_size(8192)
        .with_feature(FeatureExtension { feature_id: FeatureId::Utf8Support, data: vec![1].into() })
        .with_feature(FeatureExtension { feature_id: FeatureId::SessionRecovery, data: vec![].into() });
    let read = Login7::parse(&login.encode()).expect("a login");
    assert_eq!((read.user.as_str(), read.password.reveal(), read.database.as_str()), ("sa", "pa55wörd", "db"));
    assert_eq!((read.language.as_str(), read.packet_bytes), ("Deutsch", 8192));
    assert_eq!(read.features, [Feature::Utf8Support, Feature::SessionRecovery(None)]);
}

#[test]
fn a_clients_requests_are_read() {
    let batch = tds_protocol::SqlBatch::new("sélect 😀").encode();
    let read = SqlBatch::parse(&batch, V).expect("a batch");
    assert_eq!((read.text.as_str(), read.headers.transaction), ("sélect 😀", 0));
    let parameters = vec![
        RpcParam::int("@a", -5).as_output(),
        RpcParam::bigint("@b", i64::MIN),
        RpcParam::nvarchar("@c", "a😀"),
        RpcParam::varchar("@d", "abc"),
        RpcParam::new("@e", RpcTypeInfo::varbinary_max(), vec![7; 9000].into()),
        RpcParam::null("@f", RpcTypeInfo::nvarchar_max()),
        RpcParam::null("@g", RpcTypeInfo::datetime2(3)),
        RpcParam::null("@h", RpcTypeInfo::decimal(38, 10)),
        RpcParam::null("@i", RpcTypeInfo::datetime()),
        RpcParam::null("@j", RpcTypeInfo::uniqueidentifier()),
    ];
    let request = RpcRequest::execute_sql("select 1", parameters).encode_with_transaction(9);
    let mut message = RpcMessage::parse(&request, V, &Limits::default()).expect("headers");
    assert_eq!(message.headers.transaction, 9);
    let call = message.next_call().expect("a call").expect("there is one");
    assert_eq!(call.procedure, Procedure::System(SystemProcedure::ExecuteSql));
    let expected = [
        (SqlType::Int, Value::Int(-5)),
        (SqlType::BigInt, Value::BigInt(i64::MIN)),
        (SqlType::NVarChar(Length::Limit(0)), Value::Str("a😀".into())),
        (SqlType::VarChar(Length::Limit(0)), Value::Str("abc".into())),
        (SqlType::VarBinary(Length::Max), Value::Bin(vec![7; 9000])),
        (SqlType::NVarChar(Length::Max), Value::Null),
        (SqlType::DateTime2(3), Value::Null),
        (SqlType::Decimal { precision: 38, scale: 10 }, Value::Null),
        (SqlType::DateTime, Value::Null),
        (SqlType::UniqueIdentifier, Value::Null),
    ];
    assert_eq!(call.parameters.len(), 2 + expected.len());
    assert!(call.parameters[2].by_reference && !call.parameters[3].by_reference);
    for (parameter, (ty, value)) in call.parameters[2..].iter().zip(&expected) {
        let Argument::Scalar { info, value: read } = &parameter.argument else { panic!("a value") };
        assert_eq!(read, value, "{}", parameter.name);
        // How long a text is declared is the client's choice.
        assert!(info.sql_type() == *ty || ty.declared_length() == Some(Length::Limit(0)), "{}", parameter.name);
    }
    assert!(message.is_last());
}

#[test]
fn a_clients_table_is_read() {
    let columns = [
        TvpColumnDef::nullable(TvpWireType::Int { size: 4 }),
        TvpColumnDef::nullable(TvpWireType::NVarChar { max_length: 0xFFFF }),
        TvpColumnDef::nullable(TvpWireType::Decimal { precision: 10, scale: 2 }),
        TvpColumnDef::nullable(TvpWireType::DateTime2 { scale: 7 }),
    ];
    let encoder = TvpEncoder { schema: "dbo", type_name: "List", columns: &columns };
    let mut buffer = Default::default();
    encoder.encode_metadata(&mut buffer);
    // Its encoders of single values are not public.
    encoder.encode_row(&mut buffer, |row| {
        row.extend(hex("04 05000000  FEFFFFFFFFFFFFFF 06000000 6100 3DD8 00DE 00000000"));
        row.extend(hex("09 01 3930000000000000  08 0100000000 020000"));
    });
    encoder.encode_row(&mut buffer, |row| row.extend(hex("00 FFFFFFFFFFFFFFFF 00 00")));
    encoder.encode_end(&mut buffer);
    let parameter = RpcParam::new("@t", RpcTypeInfo::tvp("dbo.List"), buffer.freeze());
    let request = RpcRequest::named("p").param(parameter).param(RpcParam::int("@n", 1)).encode();
    let mut message = RpcMessage::parse(&request, V, &Limits::default()).expect("headers");
    let call = message.next_call().expect("a call").expect("there is one");
    let Argument::Table(table) = &call.parameters[0].argument else { panic!("a table") };
    assert_eq!((table.schema.as_str(), table.name.as_str(), table.row_count), ("dbo", "List", 2));
    let mut rows = Vec::new();
    let _ = table.rows(|row| {
        rows.push(row.to_vec());
        Ok::<(), ()>(())
    });
    let moment = pikepole_types::DateTime2::from_ticks(2 * 864_000_000_000 + 1).expect("in range");
    let expected = [
        Value::Int(5),
        Value::Str("a😀".into()),
        Value::Decimal(Decimal::new(12_345, 10, 2).expect("it fits")),
        Value::DateTime2(moment),
    ];
    assert_eq!(rows[0], expected);
    assert!(rows[1].iter().all(Value::is_null));
    assert_eq!(call.parameters.len(), 2);
}
