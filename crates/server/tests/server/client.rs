//! A client that speaks the protocol's bytes, as far as the tests need it, over a plain connection.

use pikepole_tds::{Limits, PacketKind, PacketStatus, Reassembler, TdsVersion, TypeInfo, write_packets};
use pikepole_types::{Length, SqlType, Value};
use rustls::{ClientConnection, Stream};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const VERSION: TdsVersion = TdsVersion::V7_4;
/// DONE's bits.
pub const MORE: u16 = 1;
pub const ERROR: u16 = 2;
pub const COUNT: u16 = 0x10;
pub const ATTENTION: u16 = 0x20;
pub const SERVER_ERROR: u16 = 0x100;
/// The names of DONE, DONEPROC and DONEINPROC.
pub const DONE: u8 = 0xFD;
pub const DONE_PROCEDURE: u8 = 0xFE;
pub const DONE_IN_PROCEDURE: u8 = 0xFF;

/// A token of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    Columns(Vec<String>),
    Row(Vec<Value>),
    /// Its name, its bits, its count.
    Done(u8, u16, u64),
    /// Number, line, text.
    Error(i32, u32, String),
    Info(i32, String),
    /// Its kind and its bytes.
    Change(u8, Vec<u8>),
    LoginAck(String),
    Status(i32),
    /// Its name and value.
    Returned(String, Value),
    /// Its name and its bytes.
    Origins(u8, Vec<u8>),
    /// The features that are granted, by their numbers.
    Features(Vec<(u8, Vec<u8>)>),
    /// Its number, whether the session can be recovered, the states.
    State(u32, bool, Vec<(u8, Vec<u8>)>),
}

pub struct Client {
    socket: TcpStream,
    /// Between the socket and the packets, while it is on.
    tls: Option<ClientConnection>,
    reassembler: Reassembler,
    /// Bytes that came behind the last reply.
    input: Vec<u8>,
    columns: Vec<TypeInfo>,
    pub transaction: u64,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Client {
        let socket = TcpStream::connect(address).expect("the server listens");
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
        let limits = Limits { message_bytes_max: usize::MAX / 2, ..Limits::default() };
        Client {
            socket,
            tls: None,
            reassembler: Reassembler::new(limits),
            input: Vec::new(),
            columns: Vec::new(),
            transaction: 0,
        }
    }

    /// The types of the last result set's columns.
    pub fn types(&self) -> &[TypeInfo] {
        &self.columns
    }

    pub fn socket(&mut self) -> &mut TcpStream {
        &mut self.socket
    }

    pub fn send(&mut self, kind: PacketKind, status: u8, payload: &[u8]) {
        let mut bytes = Vec::new();
        write_packets(kind, PacketStatus(status), payload, 4096, &mut bytes);
        match &mut self.tls {
            Some(tls) => Stream::new(tls, &mut self.socket).write_all(&bytes).expect("the server reads"),
            None => self.socket.write_all(&bytes).expect("the server reads"),
        }
    }

    fn receive(&mut self, part: &mut [u8]) -> usize {
        match &mut self.tls {
            Some(tls) => Stream::new(tls, &mut self.socket).read(part).expect("a reply"),
            None => self.socket.read(part).expect("a reply"),
        }
    }

    /// Asks for encryption at PRELOGIN; the byte of the server's answer.
    pub fn pre_login(&mut self, encryption: u8) -> u8 {
        self.send(PacketKind::PreLogin, 0, &[1, 0, 6, 0, 1, 0xFF, encryption]);
        let reply = self.message();
        let option = reply.chunks(5).find(|option| option[0] == 1).expect("it says what is encrypted");
        reply[usize::from(u16::from_be_bytes([option[1], option[2]]))]
    }

    /// Makes a TLS handshake in PRELOGIN packets, and turns TLS on.
    pub fn encrypt_within_prelogin(&mut self, mut tls: ClientConnection) {
        // The client's is the last word when a session is resumed.
        while tls.is_handshaking() || tls.wants_write() {
            let mut bytes = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut bytes).expect("into memory");
            }
            if !bytes.is_empty() {
                self.send(PacketKind::PreLogin, 0, &bytes);
            }
            if tls.is_handshaking() {
                let reply = self.message();
                let mut rest = reply.as_slice();
                while !rest.is_empty() {
                    tls.read_tls(&mut rest).expect("from memory");
                    tls.process_new_packets().expect("a handshake");
                }
            }
        }
        self.tls = Some(tls);
    }

    /// Begins with TLS, as TDS 8.0 does.
    pub fn encrypt_first(&mut self, mut tls: ClientConnection) {
        tls.complete_io(&mut self.socket).expect("a handshake");
        self.tls = Some(tls);
    }

    /// LOGIN7 behind PRELOGIN; the reply. When only the login is encrypted, TLS ends with it.
    pub fn log_in_encrypted(&mut self, user: &str, password: &str, login_only: bool) -> Vec<Token> {
        self.send(PacketKind::Login7, 0, &login7(user, password, ""));
        if login_only {
            self.tls = None;
        }
        self.reply()
    }

    pub fn tls(&self) -> Option<&ClientConnection> {
        self.tls.as_ref()
    }

    /// The bytes of the next message.
    pub fn message(&mut self) -> Vec<u8> {
        loop {
            let mut rest = self.input.as_slice();
            let fed = self.reassembler.feed(&mut rest).expect("packets");
            self.input = rest.to_vec();
            if let Some(message) = fed {
                return message.data;
            }
            let mut part = vec![0; 16 * 1024];
            let count = self.receive(&mut part);
            assert!(count > 0, "the server has closed the connection");
            self.input.extend_from_slice(&part[..count]);
        }
    }

    /// Bytes that were read from the socket are to be read again, as part of the next message.
    pub fn give_back(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// Whether the server resets the connection and says nothing before.
    pub fn is_reset(&mut self) -> bool {
        let mut rest = Vec::new();
        let read = self.socket.read_to_end(&mut rest);
        read.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset) && rest.is_empty()
    }

    /// Whether the server closes the connection, whatever it says before.
    pub fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        self.socket.read_to_end(&mut rest).is_ok()
    }

    pub fn reply(&mut self) -> Vec<Token> {
        let data = self.message();
        self.tokens(&data)
    }

    /// Asks for several sessions at PRELOGIN, and logs in.
    pub fn log_in_for_sessions(&mut self, user: &str, password: &str) {
        self.send(PacketKind::PreLogin, 0, &[1, 0, 11, 0, 1, 4, 0, 12, 0, 1, 0xFF, 2, 1]);
        let reply = self.message();
        let option = reply.chunks(5).find(|option| option[0] == 4).expect("it says whether it does that");
        assert_eq!(reply[usize::from(u16::from_be_bytes([option[1], option[2]]))], 1);
        self.send(PacketKind::Login7, 0, &login7(user, password, ""));
        assert!(self.reply().iter().any(|token| matches!(token, Token::LoginAck(_))));
    }

    /// The tokens of a message.
    pub fn tokens(&mut self, data: &[u8]) -> Vec<Token> {
        let mut rest = data;
        let mut tokens = Vec::new();
        while !rest.is_empty() {
            tokens.push(self.token(&mut rest));
        }
        for token in &tokens {
            match token {
                Token::Change(8, bytes) => self.transaction = u64::from_le_bytes(bytes[1..9].try_into().expect("8")),
                Token::Change(9 | 10, _) => self.transaction = 0,
                _ => {}
            }
        }
        tokens
    }

    /// PRELOGIN without encryption and LOGIN7; the reply to that.
    pub fn try_log_in(&mut self, user: &str, password: &str, database: &str) -> Vec<Token> {
        self.try_log_in_with(user, password, database, "")
    }

    /// The same with a language that must be set.
    pub fn try_log_in_with(&mut self, user: &str, password: &str, database: &str, language: &str) -> Vec<Token> {
        self.send(PacketKind::PreLogin, 0, &[1, 0, 6, 0, 1, 0xFF, 2]);
        assert_eq!(self.message().first(), Some(&0), "the server's version comes first");
        self.send(PacketKind::Login7, 0, &login7_in(user, password, database, language));
        self.reply()
    }

    /// The same, asking for sessions that can be recovered; `kept` is the one to go on with, or nothing.
    pub fn try_log_in_recovering(&mut self, user: &str, password: &str, kept: Vec<u8>) -> Vec<Token> {
        self.send(PacketKind::PreLogin, 0, &[1, 0, 6, 0, 1, 0xFF, 2]);
        self.message();
        self.send(PacketKind::Login7, 0, &login7_asking(user, password, &[(1, kept)]));
        self.reply()
    }

    /// The same with a new password.
    pub fn try_log_in_changing(&mut self, user: &str, password: &str, new: &str) -> Vec<Token> {
        self.send(PacketKind::PreLogin, 0, &[1, 0, 6, 0, 1, 0xFF, 2]);
        self.message();
        self.send(PacketKind::Login7, 0, &login7_changing(user, password, new));
        self.reply()
    }

    pub fn log_in(&mut self, user: &str, password: &str) {
        let tokens = self.try_log_in(user, password, "");
        assert!(tokens.iter().any(|token| matches!(token, Token::LoginAck(_))), "{tokens:?}");
    }

    fn headers(&self) -> Vec<u8> {
        let mut out = vec![22, 0, 0, 0, 18, 0, 0, 0, 2, 0];
        out.extend(self.transaction.to_le_bytes());
        out.extend(1u32.to_le_bytes());
        out
    }

    pub fn send_batch(&mut self, sql: &str) {
        self.send_batch_with(0, sql);
    }

    pub fn send_batch_with(&mut self, status: u8, sql: &str) {
        let payload = [self.headers(), utf16(sql)].concat();
        self.send(PacketKind::SqlBatch, status, &payload);
    }

    pub fn batch(&mut self, sql: &str) -> Vec<Token> {
        self.send_batch(sql);
        self.reply()
    }

    /// A batch that must go well.
    pub fn run(&mut self, sql: &str) -> Vec<Token> {
        let tokens = self.batch(sql);
        assert!(errors(&tokens).is_empty(), "{sql}: {tokens:?}");
        tokens
    }

    /// The first value of a batch's first row.
    pub fn scalar(&mut self, sql: &str) -> Value {
        let tokens = self.run(sql);
        rows(&tokens).first().and_then(|row| row.first()).cloned().unwrap_or_else(|| panic!("{sql}: {tokens:?}"))
    }

    pub fn call(&mut self, calls: &[Call]) -> Vec<Token> {
        let mut payload = self.headers();
        for (place, call) in calls.iter().enumerate() {
            if place > 0 {
                payload.push(0xFF);
            }
            payload.extend_from_slice(&call.0);
        }
        self.send(PacketKind::Rpc, 0, &payload);
        self.reply()
    }

    /// A transaction request: its number and what follows.
    pub fn transaction_request(&mut self, kind: u16, rest: &[u8]) -> Vec<Token> {
        let payload = [self.headers(), kind.to_le_bytes().to_vec(), rest.to_vec()].concat();
        self.send(PacketKind::TransactionManager, 0, &payload);
        self.reply()
    }

    pub fn attention(&mut self) {
        self.send(PacketKind::Attention, 0, &[]);
    }

    fn token(&mut self, rest: &mut &[u8]) -> Token {
        match number::<1>(rest) as u8 {
            0x81 => self.columns(rest),
            0xD1 => {
                let columns = std::mem::take(&mut self.columns);
                let row = columns.iter().map(|info| value(info, rest)).collect();
                self.columns = columns;
                Token::Row(row)
            }
            0xD2 => {
                let bitmap = take(rest, self.columns.len().div_ceil(8)).to_vec();
                let columns = std::mem::take(&mut self.columns);
                let is_null = |place: usize| bitmap[place / 8] & (1 << (place % 8)) != 0;
                let read = |(place, info)| if is_null(place) { Value::Null } else { value(info, rest) };
                let row = columns.iter().enumerate().map(read).collect();
                self.columns = columns;
                Token::Row(row)
            }
            name @ (0xFD..=0xFF) => {
                let (bits, _command, count) = (number::<2>(rest), number::<2>(rest), number::<8>(rest));
                Token::Done(name, bits as u16, count)
            }
            name @ (0xAA | 0xAB) => {
                let length = number::<2>(rest) as usize;
                let mut body = take(rest, length);
                let code = number::<4>(&mut body) as u32 as i32;
                let _state_and_class = number::<2>(&mut body);
                let units = number::<2>(&mut body) as usize;
                let text = text(&mut body, units);
                let server = number::<1>(&mut body) as usize;
                take(&mut body, server * 2);
                let procedure = number::<1>(&mut body) as usize;
                take(&mut body, procedure * 2);
                let line = number::<4>(&mut body) as u32;
                if name == 0xAA { Token::Error(code, line, text) } else { Token::Info(code, text) }
            }
            0xE3 => {
                let length = number::<2>(rest) as usize;
                let body = take(rest, length);
                Token::Change(body[0], body[1..].to_vec())
            }
            0xAD => {
                let length = number::<2>(rest) as usize;
                let mut body = &take(rest, length)[5..];
                let units = number::<1>(&mut body) as usize;
                Token::LoginAck(text(&mut body, units))
            }
            0x79 => Token::Status(number::<4>(rest) as u32 as i32),
            0xAC => {
                let _ordinal = number::<2>(rest);
                let units = number::<1>(rest) as usize;
                let name = text(rest, units);
                take(rest, 7);
                let info = TypeInfo::parse(rest, VERSION).expect("a type");
                Token::Returned(name, value(&info, rest))
            }
            // Where columns come from.
            name @ (0xA4 | 0xA5) => {
                let length = number::<2>(rest) as usize;
                Token::Origins(name, take(rest, length).to_vec())
            }
            0xAE => {
                let mut features = Vec::new();
                loop {
                    let id = number::<1>(rest) as u8;
                    if id == 0xFF {
                        break Token::Features(features);
                    }
                    let length = number::<4>(rest) as usize;
                    features.push((id, take(rest, length).to_vec()));
                }
            }
            0xE4 => {
                let length = number::<4>(rest) as usize;
                let mut data = take(rest, length);
                let (sequence, recoverable) = (number::<4>(&mut data) as u32, number::<1>(&mut data) == 1);
                let mut states = Vec::new();
                while !data.is_empty() {
                    let (id, length) = (number::<1>(&mut data) as u8, number::<1>(&mut data) as usize);
                    states.push((id, take(&mut data, length).to_vec()));
                }
                Token::State(sequence, recoverable, states)
            }
            other => panic!("the token 0x{other:02X} is unknown"),
        }
    }

    fn columns(&mut self, rest: &mut &[u8]) -> Token {
        let mut names = Vec::new();
        let count = number::<2>(rest);
        if count == 0xFFFF {
            // As before.
            return Token::Columns(names);
        }
        self.columns.clear();
        for _ in 0..count {
            take(rest, 6);
            self.columns.push(TypeInfo::parse(rest, VERSION).expect("a type"));
            let units = number::<1>(rest) as usize;
            names.push(text(rest, units));
        }
        Token::Columns(names)
    }
}

/// A procedure call's bytes.
pub struct Call(Vec<u8>);

impl Call {
    pub fn number(number: u16) -> Call {
        Call([vec![0xFF, 0xFF], number.to_le_bytes().to_vec(), vec![0, 0]].concat())
    }

    pub fn name(name: &str) -> Call {
        let units = (name.encode_utf16().count() as u16).to_le_bytes();
        Call([units.to_vec(), utf16(name), vec![0, 0]].concat())
    }

    /// The client knows the columns of what is returned.
    pub fn with_columns_known(mut self) -> Call {
        self.0[4] = 2;
        self
    }

    /// A parameter; its status is 1 for OUTPUT.
    pub fn with(mut self, name: &str, status: u8, ty: &SqlType, value: &Value) -> Call {
        self.0.push(name.encode_utf16().count() as u8);
        self.0.extend(utf16(name));
        self.0.push(status);
        let info = TypeInfo::of(ty, true, VERSION);
        info.write(&mut self.0);
        info.write_value(ty, value, &mut self.0).expect("it fits");
        self
    }

    /// The type's description as a client of this version sends it.
    pub fn info(ty: &SqlType) -> TypeInfo {
        TypeInfo::of(ty, true, VERSION)
    }

    /// A table, from its type's byte on.
    pub fn table(mut self, name: &str, table: &[u8]) -> Call {
        self.0.push(name.encode_utf16().count() as u8);
        self.0.extend(utf16(name));
        self.0.push(0);
        self.0.extend(table);
        self
    }

    pub fn text(self, text: &str) -> Call {
        self.with("", 0, &SqlType::NVarChar(Length::Limit(4000)), &Value::Str(text.to_string()))
    }

    pub fn int(self, name: &str, number: i32) -> Call {
        self.with(name, 0, &SqlType::Int, &Value::Int(number))
    }

    pub fn output(self, name: &str) -> Call {
        self.with(name, 1, &SqlType::Int, &Value::Null)
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, after) = rest.split_at(count);
    *rest = after;
    taken
}

fn number<const N: usize>(rest: &mut &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(take(rest, N));
    u64::from_le_bytes(bytes)
}

fn text(rest: &mut &[u8], units: usize) -> String {
    let bytes = take(rest, units * 2);
    let units: Vec<u16> = bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    String::from_utf16(&units).expect("UTF-16")
}

fn value(info: &TypeInfo, rest: &mut &[u8]) -> Value {
    let mut value = Value::Null;
    info.parse_value(rest, &mut value).expect("a value");
    value
}

pub fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A LOGIN7 message.
pub fn login7(user: &str, password: &str, database: &str) -> Vec<u8> {
    login7_in(user, password, database, "")
}

/// The same with features: each its number and its data.
pub fn login7_asking(user: &str, password: &str, features: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut out = login7(user, password, "");
    // Where the place of the features stands, and how long that is; that they are there.
    let at = out.len();
    out[56..58].copy_from_slice(&(at as u16).to_le_bytes());
    out[58..60].copy_from_slice(&4u16.to_le_bytes());
    out[27] |= 0x10;
    out.extend((at as u32 + 4).to_le_bytes());
    for (number, data) in features {
        out.push(*number);
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(data);
    }
    out.push(0xFF);
    let length = out.len() as u32;
    out[..4].copy_from_slice(&length.to_le_bytes());
    out
}

/// The same with a new password for the login.
pub fn login7_changing(user: &str, password: &str, new: &str) -> Vec<u8> {
    let mut out = login7(user, password, "");
    let (at, units) = (out.len() as u16, new.encode_utf16().count() as u16);
    out[86..88].copy_from_slice(&at.to_le_bytes());
    out[88..90].copy_from_slice(&units.to_le_bytes());
    out[27] |= 0x01;
    out.extend(obscured(new));
    let length = out.len() as u32;
    out[..4].copy_from_slice(&length.to_le_bytes());
    out
}

fn obscured(password: &str) -> Vec<u8> {
    utf16(password).iter().map(|byte| byte.rotate_left(4) ^ 0xA5).collect()
}

fn login7_in(user: &str, password: &str, database: &str, language: &str) -> Vec<u8> {
    const FIXED: usize = 94;
    let nothing = Vec::new;
    let texts = [
        utf16("a host"),
        utf16(user),
        obscured(password),
        utf16("a program"),
        utf16("a server"),
        nothing(),
        utf16("a library"),
        utf16(language),
        utf16(database),
    ];
    let (mut places, mut data) = (Vec::new(), Vec::new());
    for text in texts {
        places.extend(((FIXED + data.len()) as u16).to_le_bytes());
        places.extend(((text.len() / 2) as u16).to_le_bytes());
        data.extend(text);
    }
    let mut out = vec![0; 4];
    out.extend(VERSION.number().to_le_bytes());
    out.extend(4096u32.to_le_bytes());
    out.extend([1, 2, 3, 7, 42, 0, 0, 0, 0, 0, 0, 0]);
    out.extend([0xE0, 0x03, 0, 0]);
    out.extend([0; 8]);
    out.extend(places);
    out.extend(vec![0; FIXED - out.len()]);
    out.extend(data);
    let length = out.len() as u32;
    out[..4].copy_from_slice(&length.to_le_bytes());
    out
}

pub fn errors(tokens: &[Token]) -> Vec<i32> {
    let number = |token: &Token| match token {
        Token::Error(number, _, _) => Some(*number),
        _ => None,
    };
    tokens.iter().filter_map(number).collect()
}

pub fn rows(tokens: &[Token]) -> Vec<&[Value]> {
    tokens
        .iter()
        .filter_map(|token| match token {
            Token::Row(row) => Some(row.as_slice()),
            _ => None,
        })
        .collect()
}

/// The ends of statements: name, bits, count.
pub fn dones(tokens: &[Token]) -> Vec<(u8, u16, u64)> {
    let done = |token: &Token| match token {
        Token::Done(name, bits, count) => Some((*name, *bits, *count)),
        _ => None,
    };
    tokens.iter().filter_map(done).collect()
}
