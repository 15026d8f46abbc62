use super::*;
use crate::limits::Limits;
use crate::token::{Column, ColumnFlags};
use crate::version::TdsVersion;
use pikepole_types::{Length, SqlType, Value};

fn all(reassembler: &mut Reassembler, mut input: &[u8]) -> Vec<Message> {
    let mut messages = Vec::new();
    while let Some(message) = reassembler.feed(&mut input).expect("packets") {
        messages.push(message);
    }
    assert!(input.is_empty());
    messages
}

#[test]
fn a_header_is_eight_bytes_big_endian() {
    let bytes = [0x04, 0x01, 0x00, 0x33, 0x00, 0x35, 0x02, 0x00];
    let header = PacketHeader::parse(bytes).expect("a header");
    assert_eq!((header.kind, header.length, header.session, header.packet), (PacketKind::Reply, 0x33, 0x35, 2));
    assert!(header.status.is_end());
    assert_eq!(header.to_bytes(), bytes);
    assert!(PacketHeader::parse([0x04, 0, 0, 7, 0, 0, 0, 0]).is_err());
    for kind in 0..=255 {
        assert_eq!(PacketKind::from_byte(kind).map_or(kind, PacketKind::byte), kind);
    }
}

#[test]
fn messages_come_whole_wherever_the_bytes_are_cut() {
    let payload: Vec<u8> = (0..100u8).collect();
    let mut stream = Vec::new();
    write_packets(PacketKind::SqlBatch, PacketStatus(0x08), &payload, 40, &mut stream);
    write_packets(PacketKind::Attention, PacketStatus(0), &[], 40, &mut stream);
    write_packets(PacketKind::Rpc, PacketStatus(0), &payload[..32], 40, &mut stream);
    for cut in 0..=stream.len() {
        let mut reassembler = Reassembler::new(Limits::default());
        let mut messages = all(&mut reassembler, &stream[..cut]);
        messages.extend(all(&mut reassembler, &stream[cut..]));
        assert!(!reassembler.is_inside_message());
        let [batch, attention, rpc] = messages.as_slice() else { panic!("{} messages", messages.len()) };
        assert_eq!((batch.kind, &batch.data), (PacketKind::SqlBatch, &payload));
        assert!(batch.first_status.resets_connection() && !batch.first_status.keeps_transaction() && batch.is_end);
        assert_eq!((attention.kind, attention.data.len()), (PacketKind::Attention, 0));
        assert_eq!((rpc.kind, rpc.data.as_slice()), (PacketKind::Rpc, &payload[..32]));
    }
    let mut reassembler = Reassembler::new(Limits::default());
    let messages: Vec<Message> = stream.iter().flat_map(|byte| all(&mut reassembler, &[*byte])).collect();
    assert_eq!(messages.len(), 3);
}

#[test]
fn what_is_taken_back_is_dropped() {
    let mut stream = vec![0x01, 0x00, 0, 10, 0, 0, 1, 0, 7, 7];
    stream.extend([0x01, 0x03, 0, 10, 0, 0, 2, 0, 7, 7]);
    let messages = all(&mut Reassembler::new(Limits::default()), &stream);
    assert!(messages.len() == 1 && messages[0].is_ignored && messages[0].data.is_empty());
}

#[test]
fn a_bulk_load_comes_in_parts() {
    let mut stream = Vec::new();
    write_packets(PacketKind::BulkLoad, PacketStatus(0), &[5; 50], 28, &mut stream);
    let limits = Limits { message_bytes_max: 20, ..Limits::default() };
    let messages = all(&mut Reassembler::new(limits), &stream);
    let parts: Vec<(usize, bool)> = messages.iter().map(|part| (part.data.len(), part.is_end)).collect();
    assert_eq!(parts, [(20, false), (20, false), (10, true)]);
}

#[test]
fn limits_hold_before_bytes_are_gathered() {
    let limits = Limits { message_bytes_max: 100, packet_bytes_max: 90, ..Limits::default() };
    let mut reassembler = Reassembler::new(limits);
    let long = [0x01, 0x00, 0, 91, 0, 0, 1, 0];
    assert!(matches!(reassembler.feed(&mut &long[..]), Err(crate::TdsError::Limit { limit: 90, .. })));
    let mut stream = Vec::new();
    write_packets(PacketKind::SqlBatch, PacketStatus(0), &[0; 101], 60, &mut stream);
    let error = Reassembler::new(limits).feed(&mut stream.as_slice());
    assert!(matches!(error, Err(crate::TdsError::Limit { limit: 100, .. })));
    assert!(Reassembler::new(limits).feed(&mut &b"G"[..]).is_err(), "the first byte of an HTTP request");
    let mixed = [0x01, 0x00, 0, 8, 0, 0, 1, 0, 0x03, 0x01, 0, 8, 0, 0, 1, 0];
    assert!(Reassembler::new(limits).feed(&mut &mixed[..]).is_err());
}

#[test]
fn replies_are_cut_at_the_packet_size() {
    let mut writer = MessageWriter::new(TdsVersion::V7_4, 51);
    writer.set_packet_bytes(512);
    assert!(writer.is_at_start());
    let payload: Vec<u8> = (0..1100u32).map(|at| at as u8).collect();
    for piece in payload.chunks(90) {
        writer.raw(piece);
    }
    assert_eq!(writer.ready().len(), 1024, "two packets, one held back");
    assert!(!writer.is_at_start());
    let mut stream = writer.ready()[..700].to_vec();
    writer.consume(700);
    writer.finish();
    stream.extend_from_slice(writer.ready());
    writer.consume(usize::MAX - 1024);
    assert!(writer.ready().is_empty() && writer.is_at_start());
    assert_eq!(stream[..8], [0x04, 0x00, 0x02, 0x00, 0, 51, 1, 0]);
    assert_eq!(stream[512..520], [0x04, 0x00, 0x02, 0x00, 0, 51, 2, 0]);
    assert_eq!(stream[1024..1032], [0x04, 0x01, 0, 100, 0, 51, 3, 0]);
    let messages = all(&mut Reassembler::new(Limits::default()), &stream);
    assert_eq!(messages[0].data, payload);
    writer.finish();
    assert_eq!(writer.ready(), [0x04, 0x01, 0, 8, 0, 51, 1, 0], "an empty message has one packet");
    writer.consume(8);
    writer.raw(&[1; 504]);
    assert!(writer.ready().is_empty(), "it may be the last one");
    writer.finish();
    assert_eq!(writer.ready()[..8], [0x04, 0x01, 0x02, 0x00, 0, 51, 1, 0]);
    assert_eq!(writer.ready().len(), 512);
}

/// What sends a row asks for its texts in UTF-16 twice: as a token and as packets.
#[test]
fn a_long_row_makes_no_buffer_that_doubles() {
    let text = "k".repeat(3 << 20);
    let column = Column::new("note", SqlType::NVarChar(Length::Max), ColumnFlags::default(), TdsVersion::V7_4);
    for columns in 1..=3 {
        let mut writer = MessageWriter::new(TdsVersion::V7_4, 51);
        let values = vec![Value::Str(text.as_str().into()); columns];
        writer.row(&vec![column.clone(); columns], &values).expect("a row");
        let most = columns * text.len() * 2 / 100 * 101 + KEPT_BYTES_MAX;
        assert!(writer.held_bytes() <= most, "{} bytes held, {most} at most", writer.held_bytes());
        writer.finish();
        assert!(writer.held_bytes() <= most, "{} bytes held at the end, {most} at most", writer.held_bytes());
    }
}
