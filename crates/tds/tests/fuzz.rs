//! Fuzz of every parser that faces a socket: no bytes make one panic, loop, or ask for much memory.
//!
//! ```text
//!   real messages of each kind and version --> changed --> parsed
//!   the same as packets, cut anywhere      --> changed --> reassembled, then parsed by their kind
//!   packets in frames of several sessions  --> changed --> taken by a multiplexer that answers
//! ```
//!
//! `cargo test -p pikepole-tds --test fuzz -- --seconds 60`; a failure names its input: `-- --seed N` runs it again.

#[path = "../../log/tests/fuzz/mutate.rs"]
mod mutate;
mod support;
#[path = "../../log/tests/fuzz/watch.rs"]
mod watch;

use mutate::{Random, mutate};
use pikepole_tds::{
    Argument, BulkLoad, FrameHeader, FrameKind, Limits, Login7, Message, MessageWriter, Mux, PacketKind, PacketStatus,
    PreLogin, Reassembler, ReturnValue, RpcMessage, SMP_HEADER_BYTES, SqlBatch, TdsVersion, TransactionRequest,
    TypeInfo, write_packets,
};
use pikepole_types::{Collation, Date, DateTime, Decimal, Length, SqlType, Time, Value, Variant};
use support::*;

/// A message as a client sends it.
#[derive(Clone)]
struct Sample {
    kind: PacketKind,
    version: TdsVersion,
    data: Vec<u8>,
}

fn main() {
    let run = watch::Run::from_arguments();
    let samples = samples();
    for sample in &samples {
        parse(sample.kind, sample.version, &sample.data, true);
    }
    run.each("messages", |seed| {
        let mut random = Random::new(seed);
        let mut sample = samples[random.below(samples.len())].clone();
        let other = &samples[random.below(samples.len())];
        mutate(&mut sample.data, &other.data, &mut random);
        let version = if random.below(8) == 0 { other.version } else { sample.version };
        parse(sample.kind, version, &sample.data, false);
    });
    run.each("packets", |seed| packets_changed(&samples, seed));
    run.each("frames", |seed| frames_changed(&samples, seed));
    run.each("types and values", |seed| value_changed(&samples, seed));
}

/// A value of each type, in a type.
fn values() -> Vec<(SqlType, Value)> {
    let limit = Length::Limit(100);
    vec![
        (SqlType::Bit, Value::Bit(true)),
        (SqlType::TinyInt, Value::TinyInt(7)),
        (SqlType::BigInt, Value::BigInt(-7)),
        (SqlType::Money, Value::Money(7)),
        (SqlType::Float, Value::Float(0.5)),
        (SqlType::Decimal { precision: 38, scale: 10 }, Value::Decimal(Decimal::new(-7, 38, 10).expect("it fits"))),
        (SqlType::UniqueIdentifier, Value::Guid([7; 16])),
        (SqlType::Date, Value::Date(Date::from_days(7).expect("a date"))),
        (SqlType::DateTime, Value::DateTime(DateTime::from_ticks(7).expect("in range"))),
        (SqlType::Time(3), Value::Null),
        (SqlType::DateTime2(7), Value::Null),
        (SqlType::DateTimeOffset(0), Value::Null),
        (SqlType::VarChar(limit), Value::Str("é€".into())),
        (SqlType::NVarChar(limit), Value::Str("a😀".into())),
        (SqlType::VarBinary(limit), Value::Bin(vec![7; 9])),
        (SqlType::VarChar(Length::Max), Value::Str("abc".into())),
        (SqlType::NVarChar(Length::Max), Value::Str("a😀é".into())),
        (SqlType::VarBinary(Length::Max), Value::Bin(vec![7; 50])),
        (SqlType::Variant, variant(SqlType::Time(3), Value::Time(Time::from_ticks(70_000).expect("a time")))),
        (SqlType::Variant, variant(SqlType::NVarChar(limit), Value::Str("a😀".into()))),
        (SqlType::Variant, Value::Null),
    ]
}

fn variant(ty: SqlType, value: Value) -> Value {
    Value::Variant(Box::new(Variant::new(ty, value).expect("it is held")))
}

fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for version in VERSIONS {
        let mut add = |kind, data| samples.push(Sample { kind, version, data });
        add(
            PacketKind::PreLogin,
            hex("00001A0006 0100200001 0200210001 0300220004 0400260001 FF 09000000000001 00 B80D000001"),
        );
        let features = if version.has_features() {
            hex("01 13000000 08000000 01 6D00 00 00 07 01 09 03000000 00 00 00 0A 01000000 01 04 01000000 03 FF")
        } else {
            Vec::new()
        };
        add(PacketKind::Login7, login7(version, &features));
        add(PacketKind::SqlBatch, [headers(version, 7), utf16("select 'é😀'")].concat());
        let parameters: Vec<Vec<u8>> =
            values().iter().map(|(ty, value)| parameter("@p", 1, ty, value, version)).collect();
        let mark = vec![if version.is_wide() { 0xFF } else { 0x80 }];
        let first = call(10, &parameters);
        add(PacketKind::Rpc, [headers(version, 7), first, mark, call_by_name("dbo.p", &parameters[..2])].concat());
        // Text and its like, xml with a schema and in chunks, and legacy types, none of which are sent from here.
        let legacy = [
            "00 00 23 FFFFFF7F 0904D00034 02000000 6162",
            "00 00 63 FFFFFF7F 0904D00034 02000000 6100",
            "00 00 22 FFFFFF7F FFFFFFFF",
            "00 00 F1 01 016400 00 01007300 0400000000000000 04000000 FFFE6100 00000000",
            "00 00 62 491F0000 06000000 38 00 01000000",
            "00 00 62 491F0000 0D000000 E7 07 0904D00034 0800 61006200",
            "00 00 62 491F0000 09000000 6C 02 0502 01 39300000",
            "00 00 27 05 02 6162",
            "00 00 A7 1000 0904D00400 0400 F09F9880",
        ];
        let legacy = legacy.iter().map(|bytes| hex(bytes)).collect::<Vec<_>>();
        add(PacketKind::Rpc, [headers(version, 7), call(12, &legacy)].concat());
        if version.has_date_types() {
            let types: Vec<SqlType> = values().iter().map(|(ty, _)| *ty).collect();
            let row: Vec<Value> = values().into_iter().map(|(_, value)| value).collect();
            let table = table("T", &types, &[row.clone(), row], version);
            add(PacketKind::Rpc, [headers(version, 7), call_by_name("p", &[[hex("00 00"), table].concat()])].concat());
        }
        for request in ["0500 02 04 61006200", "0700 00 01 05 00", "0800 00 00", "0900 02 6100", "0000 0000"] {
            add(PacketKind::TransactionManager, [headers(version, 7), hex(request)].concat());
        }
        add(PacketKind::BulkLoad, bulk(version));
    }
    samples
}

fn bulk(version: TdsVersion) -> Vec<u8> {
    let columns: Vec<(&str, SqlType)> = values().iter().map(|(ty, _)| ("c", *ty)).collect();
    let mut data = bulk_columns(&columns, version);
    for _ in 0..2 {
        data.extend([0xD1]);
        for (ty, value) in values() {
            if ty.is_max() && !version.is_wide() {
                data.extend([&[16][..], &[0xFF; 24]].concat());
            }
            TypeInfo::of(&ty, true, version).write_value(&ty, &value, &mut data).expect("it fits");
        }
    }
    data.push(0xFD);
    data.extend(vec![0; if version.is_wide() { 12 } else { 8 }]);
    data
}

/// Reads a message as a server would. A real one must be fine.
fn parse(kind: PacketKind, version: TdsVersion, data: &[u8], real: bool) {
    let read = match kind {
        PacketKind::PreLogin => PreLogin::parse(data).map(drop),
        PacketKind::Login7 => Login7::parse(data).map(drop),
        PacketKind::SqlBatch => SqlBatch::parse(data, version).map(|batch| assert!(batch.text.len() <= data.len() * 2)),
        PacketKind::Rpc => parse_calls(data, version),
        PacketKind::TransactionManager => TransactionRequest::parse(data, version).map(drop),
        PacketKind::BulkLoad => parse_bulk(data, version),
        _ => Ok(()),
    };
    if let Err(error) = read {
        let shown = error.to_sql_error();
        assert!(shown.number > 0 && !shown.message.is_empty());
        assert!(!real || !error.breaks_connection(), "{kind:?} {version:?}: {error}");
    }
}

fn parse_calls(data: &[u8], version: TdsVersion) -> Result<(), pikepole_tds::TdsError> {
    let mut message = RpcMessage::parse(data, version, &Limits::default())?;
    while let Some(call) = message.next_call()? {
        assert!(call.parameters.len() <= data.len());
        for parameter in &call.parameters {
            match &parameter.argument {
                Argument::Table(table) => {
                    let mut rows = 0;
                    let _ = table.rows(|row| {
                        assert_eq!(row.len(), table.columns.len());
                        rows += 1;
                        Ok::<(), ()>(())
                    });
                    assert_eq!(rows, table.row_count);
                }
                Argument::Scalar { info, value } => send_back(info, value, version),
            }
        }
    }
    Ok(())
}

/// An output parameter goes back in the type it came in.
fn send_back(info: &TypeInfo, value: &Value, version: TdsVersion) {
    let ty = info.sql_type();
    let mut writer = MessageWriter::new(version, 1);
    let _ = writer.return_value(&ReturnValue {
        is_result: false,
        ordinal: 0,
        name: "@p",
        ty,
        numeric: false,
        collation: Collation::DEFAULT,
        value,
    });
    let mut bytes = Vec::new();
    info.write(&mut bytes);
    if info.write_value(&ty, value, &mut bytes).is_ok() {
        let mut rest = bytes.as_slice();
        let again = TypeInfo::parse(&mut rest, version).expect("what was written");
        let mut value_again = Value::Null;
        again.parse_value(&mut rest, &mut value_again).expect("what was written");
        assert!(rest.is_empty());
        // Bytes that are no character have come in as one that only Unicode has.
        if !value.as_str().is_some_and(|text| text.contains(char::REPLACEMENT_CHARACTER)) {
            assert_eq!((again.sql_type(), &value_again), (ty, value));
        }
    }
}

fn parse_bulk(data: &[u8], version: TdsVersion) -> Result<(), pikepole_tds::TdsError> {
    // In one part, and in several: they must agree.
    let whole = bulk_rows(data, usize::MAX, version);
    let parts = bulk_rows(data, 1 + data.len() / 5, version);
    assert_eq!(whole.is_ok(), parts.is_ok());
    if let (Ok(whole), Ok(parts)) = (&whole, &parts) {
        assert_eq!(whole, parts);
    }
    whole.map(drop)
}

fn bulk_rows(data: &[u8], size: usize, version: TdsVersion) -> Result<usize, pikepole_tds::TdsError> {
    let mut load = BulkLoad::new(version, &Limits::default());
    let (mut rows, mut row) = (0, Vec::new());
    let parts = data.chunks(size).count().max(1);
    for number in 0..parts {
        load.feed(data.chunks(size).nth(number).unwrap_or_default(), number + 1 == parts)?;
        while load.next_row(&mut row)? {
            rows += 1;
        }
    }
    assert!(load.is_done());
    Ok(rows)
}

fn packets_changed(samples: &[Sample], seed: u64) {
    let mut random = Random::new(seed);
    let mut stream = Vec::new();
    let first = &samples[random.below(samples.len())];
    for _ in 0..1 + random.below(3) {
        let sample = &samples[random.below(samples.len())];
        let size = 9 + random.below(300);
        write_packets(sample.kind, PacketStatus(random.below(32) as u8 & 0x18), &sample.data, size, &mut stream);
    }
    mutate(&mut stream, &first.data, &mut random);
    let mut reassembler = Reassembler::new(Limits { message_bytes_max: 4096, ..Limits::default() });
    let mut rest = stream.as_slice();
    while !rest.is_empty() {
        let (mut piece, later) = rest.split_at(rest.len().min(1 + random.below(100)));
        rest = later;
        loop {
            match reassembler.feed(&mut piece) {
                Ok(Some(Message { kind, data, .. })) => {
                    assert!(data.len() <= 4096);
                    parse(kind, first.version, &data, false);
                    reassembler.recycle(data);
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
        assert!(piece.is_empty());
    }
}

/// A client of several sessions, whose frames are changed now and then: what it has sent and what waits for it stay within limits.
fn frames_changed(samples: &[Sample], seed: u64) {
    let mut random = Random::new(seed);
    let mut mux = Mux::new(Limits { message_bytes_max: 4096, ..Limits::default() });
    let mut sequences = [0u32; 4];
    let mut out = Vec::new();
    for _ in 0..random.below(40) {
        let session = random.below(4);
        let sample = &samples[random.below(samples.len())];
        let kind = match random.below(8) {
            0 | 1 => FrameKind::Open,
            2 => FrameKind::Acknowledge,
            3 => FrameKind::Close,
            _ => FrameKind::Data,
        };
        let mut data = Vec::new();
        if kind == FrameKind::Data {
            let kind = if random.below(8) == 0 { PacketKind::Attention } else { sample.kind };
            write_packets(kind, PacketStatus::default(), &sample.data[..sample.data.len().min(900)], 1000, &mut data);
            sequences[session] += 1;
        } else if kind != FrameKind::Acknowledge {
            sequences[session] = 0;
        }
        let length = (SMP_HEADER_BYTES + data.len()) as u32;
        let (sequence, window) = (sequences[session], random.below(12) as u32);
        let header = FrameHeader { kind, session: session as u16, length, sequence, window };
        let mut bytes = [&header.to_bytes()[..], &data].concat();
        if random.below(20) == 0 {
            mutate(&mut bytes, &sample.data, &mut random);
        }
        let cut = random.below(bytes.len() + 1);
        if mux.feed(&bytes[..cut]).and_then(|()| mux.feed(&bytes[cut..])).is_err() {
            return;
        }
        if random.below(2) == 0
            && let Some((session, message)) = mux.take(None)
        {
            assert!(message.data.len() <= 4096);
            let mut answer = Vec::new();
            write_packets(PacketKind::Reply, PacketStatus::default(), &[7; 700], 512, &mut answer);
            mux.answer(session, &answer);
            let _noticed = mux.take_attention();
            mux.end_request();
        }
        mux.frames(&mut out, 1 << 20);
        assert!(mux.sessions().count() <= 40, "one a frame at most");
    }
    // What is sent are whole frames with a packet each.
    let mut rest = out.as_slice();
    while let Some((header, _)) = rest.split_first_chunk() {
        let header = FrameHeader::parse(*header).expect("a frame");
        rest = &rest[header.length as usize..];
    }
    assert!(rest.is_empty());
}

fn value_changed(samples: &[Sample], seed: u64) {
    let mut random = Random::new(seed);
    let values = values();
    let (ty, value) = &values[random.below(values.len())];
    let version = VERSIONS[random.below(VERSIONS.len())];
    let mut bytes = typed(ty, value, version);
    mutate(&mut bytes, &samples[random.below(samples.len())].data, &mut random);
    let mut rest = bytes.as_slice();
    if let Ok(info) = TypeInfo::parse(&mut rest, version) {
        let mut value = Value::Null;
        if info.parse_value(&mut rest, &mut value).is_ok() {
            send_back(&info, &value, version);
        }
    }
}
