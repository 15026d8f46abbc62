//! Several sessions over one connection (MARS).

use crate::client::{ATTENTION, Client, Token, dones, errors, rows, utf16};
use crate::fixture::{Fixture, PASSWORD};
use pikepole_tds::{
    FrameHeader, FrameKind, Limits, PacketKind, PacketStatus, Reassembler, SMP_HEADER_BYTES, write_packets,
};
use pikepole_types::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};

/// What the client knows of one of its sessions.
struct Line {
    sequence: u32,
    received: u32,
    reassembler: Reassembler,
    messages: Vec<Vec<u8>>,
    closed: bool,
}

struct Multiplexed {
    client: Client,
    lines: BTreeMap<u16, Line>,
}

impl Multiplexed {
    fn connect(fixture: &Fixture) -> Multiplexed {
        let mut client = Client::connect(fixture.address());
        client.log_in_for_sessions("sa", PASSWORD);
        Multiplexed { client, lines: BTreeMap::new() }
    }

    fn frame(&mut self, kind: FrameKind, session: u16, window: u32, data: &[u8]) {
        let sequence = self.lines.get(&session).map_or(0, |line| line.sequence);
        let length = (SMP_HEADER_BYTES + data.len()) as u32;
        let header = FrameHeader { kind, session, length, sequence, window };
        self.client.socket().write_all(&[&header.to_bytes()[..], data].concat()).expect("the server reads");
    }

    fn open(&mut self, session: u16) {
        let limits = Limits { message_bytes_max: usize::MAX / 2, ..Limits::default() };
        let reassembler = Reassembler::new(limits);
        let line = Line { sequence: 0, received: 0, reassembler, messages: Vec::new(), closed: false };
        self.lines.insert(session, line);
        self.frame(FrameKind::Open, session, 4, &[]);
    }

    fn send(&mut self, session: u16, kind: PacketKind, payload: &[u8]) {
        let mut packet = Vec::new();
        write_packets(kind, PacketStatus::default(), payload, 4096, &mut packet);
        let line = self.lines.get_mut(&session).expect("it is open");
        line.sequence += 1;
        let window = line.received + 4;
        self.frame(FrameKind::Data, session, window, &packet);
    }

    fn send_batch(&mut self, session: u16, transaction: u64, sql: &str) {
        let mut payload = vec![22, 0, 0, 0, 18, 0, 0, 0, 2, 0];
        payload.extend(transaction.to_le_bytes());
        payload.extend(1u32.to_le_bytes());
        payload.extend(utf16(sql));
        self.send(session, PacketKind::SqlBatch, &payload);
    }

    /// Reads one frame; what a session sends is kept, and its window moves when it is the one that is read.
    fn receive(&mut self, read: u16) {
        let mut header = [0; SMP_HEADER_BYTES];
        self.client.socket().read_exact(&mut header).expect("a frame");
        let header = FrameHeader::parse(header).expect("a frame");
        let mut data = vec![0; header.length as usize - SMP_HEADER_BYTES];
        self.client.socket().read_exact(&mut data).expect("a frame");
        let line = self.lines.get_mut(&header.session).expect("a session of ours");
        assert!(!line.closed, "nothing comes behind FIN");
        match header.kind {
            FrameKind::Close => line.closed = true,
            FrameKind::Data => {
                assert_eq!(header.sequence, line.received + 1);
                line.received += 1;
                let mut rest = data.as_slice();
                line.messages.extend(line.reassembler.feed(&mut rest).expect("a packet").map(|message| message.data));
            }
            _ => {}
        }
        if header.session == read && header.kind == FrameKind::Data {
            let window = line.received + 4;
            self.frame(FrameKind::Acknowledge, read, window, &[]);
        }
    }

    fn reply(&mut self, session: u16) -> Vec<Token> {
        // What has come while others were read lets nothing more come until it is acknowledged.
        let window = self.lines[&session].received + 4;
        self.frame(FrameKind::Acknowledge, session, window, &[]);
        while self.lines[&session].messages.is_empty() {
            self.receive(session);
        }
        let data = self.lines.get_mut(&session).expect("it is open").messages.remove(0);
        self.client.tokens(&data)
    }

    fn batch(&mut self, session: u16, sql: &str) -> Vec<Token> {
        let transaction = self.client.transaction;
        self.send_batch(session, transaction, sql);
        self.reply(session)
    }
}

fn first(tokens: &[Token]) -> Value {
    rows(tokens)[0][0].clone()
}

#[test]
fn an_answer_that_nobody_reads_does_not_keep_others_from_running() {
    let fixture = Fixture::new();
    let mut sessions = Multiplexed::connect(&fixture);
    // Some megabytes: more than is kept in memory.
    let many = "SELECT value, REPLICATE('x', 100) FROM GENERATE_SERIES(1, 60000)";
    for session in 0..3 {
        sessions.open(session);
    }
    sessions.send_batch(0, 0, many);
    sessions.send_batch(1, 0, many);
    for turn in 0..5 {
        assert_eq!(first(&sessions.batch(2, &format!("SELECT {turn}"))), Value::Int(turn));
    }
    for session in [1, 0] {
        let tokens = sessions.reply(session);
        let values = rows(&tokens);
        assert_eq!(values.len(), 60_000);
        assert!(values.iter().zip(1..).all(|(row, number)| row[0] == Value::Int(number)), "{session}");
    }
    assert_eq!(first(&sessions.batch(0, "SELECT 7")), Value::Int(7));
    let sql =
        "SELECT CAST(net_transport AS varchar(9)) FROM sys.dm_exec_connections WHERE session_id = @@SPID ORDER BY 1";
    let shown: Vec<Value> = rows(&sessions.batch(0, sql)).iter().map(|row| row[0].clone()).collect();
    assert_eq!(shown, ["Session", "Session", "Session", "TCP"].map(Value::from));
}

#[test]
fn closing_a_session_ends_its_request_and_drops_its_answer() {
    let fixture = Fixture::new();
    let mut sessions = Multiplexed::connect(&fixture);
    sessions.open(0);
    sessions.open(1);
    sessions.send_batch(0, 0, "SELECT value FROM GENERATE_SERIES(1, 1000000)");
    sessions.receive(9);
    sessions.frame(FrameKind::Close, 0, 4, &[]);
    assert_eq!(first(&sessions.batch(1, "SELECT 1")), Value::Int(1));
    while !sessions.lines[&0].closed {
        sessions.receive(9);
    }
    // One that runs and has nothing to say.
    sessions.open(0);
    sessions.send_batch(0, 0, "WAITFOR DELAY '00:01:00'");
    sessions.frame(FrameKind::Close, 0, 4, &[]);
    assert_eq!(first(&sessions.batch(1, "SELECT 2")), Value::Int(2));
}

#[test]
fn an_attention_is_of_its_session() {
    let fixture = Fixture::new();
    let mut sessions = Multiplexed::connect(&fixture);
    sessions.open(0);
    sessions.open(1);
    sessions.send_batch(0, 0, "WAITFOR DELAY '00:01:00'");
    sessions.send_batch(1, 0, "SELECT 1");
    sessions.send(0, PacketKind::Attention, &[]);
    sessions.reply(0);
    assert_eq!(dones(&sessions.reply(0)).last().map(|done| done.1), Some(ATTENTION));
    assert_eq!(first(&sessions.reply(1)), Value::Int(1));
    // One that comes when the answer waits already is acknowledged behind it.
    sessions.send_batch(0, 0, "SELECT value FROM GENERATE_SERIES(1, 20000)");
    assert_eq!(first(&sessions.batch(1, "SELECT 2")), Value::Int(2));
    sessions.send(0, PacketKind::Attention, &[]);
    assert_eq!(rows(&sessions.reply(0)).len(), 20_000);
    assert_eq!(dones(&sessions.reply(0)).last().map(|done| done.1), Some(ATTENTION));
}

#[test]
fn requests_name_the_transaction_that_they_are_in() {
    let fixture = Fixture::new();
    let mut sessions = Multiplexed::connect(&fixture);
    sessions.open(0);
    sessions.open(1);
    assert_eq!(errors(&sessions.batch(0, "BEGIN TRANSACTION")), [3997]);
    assert_eq!(first(&sessions.batch(0, "SELECT @@TRANCOUNT")), Value::Int(0));
    // TM_BEGIN_XACT, without a level and a name.
    let begin = [&[22, 0, 0, 0, 18, 0, 0, 0, 2, 0][..], &[0; 8], &[1, 0, 0, 0], &[5, 0, 0, 0]].concat();
    sessions.send(0, PacketKind::TransactionManager, &begin);
    sessions.reply(0);
    assert_ne!(sessions.client.transaction, 0);
    assert_eq!(first(&sessions.batch(1, "SELECT @@TRANCOUNT")), Value::Int(1));
    sessions.send_batch(1, 0, "SELECT 1");
    assert_eq!(errors(&sessions.reply(1)), [3989]);
    sessions.send_batch(1, 77, "SELECT 1");
    assert_eq!(errors(&sessions.reply(1)), [3971]);
    assert!(errors(&sessions.batch(1, "ROLLBACK")).is_empty());
    assert_eq!(sessions.client.transaction, 0);
}

#[test]
fn what_is_no_frame_ends_the_connection() {
    let fixture = Fixture::new();
    let frame = |kind, session, sequence, data: &[u8]| {
        let length = (SMP_HEADER_BYTES + data.len()) as u32;
        [&FrameHeader { kind, session, length, sequence, window: 4 }.to_bytes()[..], data].concat()
    };
    let mut unknown_flags = frame(FrameKind::Open, 0, 0, &[]);
    unknown_flags[1] = 3;
    for bytes in [
        vec![1; 64],
        unknown_flags,
        frame(FrameKind::Data, 0, 1, &[1; 8]),
        [frame(FrameKind::Open, 0, 0, &[]), frame(FrameKind::Open, 0, 0, &[])].concat(),
        [frame(FrameKind::Open, 0, 0, &[]), frame(FrameKind::Data, 0, 5, &[1; 8])].concat(),
    ] {
        let mut sessions = Multiplexed::connect(&fixture);
        sessions.client.socket().write_all(&bytes).expect("the server reads");
        assert!(sessions.client.is_closed(), "{bytes:?}");
    }
}
