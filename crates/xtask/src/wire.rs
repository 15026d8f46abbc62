//! `cargo xtask instructions --wire`: what a call over the wire costs the server, in instructions and in allocations.
//!
//! A server runs under valgrind's callgrind. One connection sends each call of a table many times, and callgrind writes what
//! was spent between two moments; system calls count as nothing. Delayed durability leaves out waits for the disk.

use crate::instructions::{Costs, Report};
use pikepole_tds::{
    ClientLogin, HEADER_BYTES, PACKET_BYTES_DEFAULT, PacketHeader, PacketKind, PacketStatus, ReplyToken,
    SystemProcedure, TdsVersion, TokenReader, client_pre_login, put_batch, put_call, put_parameter, write_packets,
};
use pikepole_types::{Decimal, Length, SqlType, Value};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Calls before those that are counted: they compile the statement and make room for buffers.
const WARM: i32 = 300;
/// Calls that are counted.
const COUNTED: i32 = 2_000;
/// The time that the server may take to its first answer.
const START: Duration = Duration::from_secs(120);
const PASSWORD: &str = "Correct horse 1";
/// PRELOGIN's word for a client without TLS.
const NO_ENCRYPTION: u8 = 2;
const TEXT: SqlType = SqlType::NVarChar(Length::Max);

const SETUP: &str = "
CREATE DATABASE wire;
ALTER DATABASE wire SET DELAYED_DURABILITY = FORCED;
USE wire;
CREATE TABLE dbo.one (id bigint NOT NULL PRIMARY KEY, created datetime NOT NULL, filler varchar(100) NOT NULL, a int NOT NULL, b int NOT NULL, c bigint NULL);
CREATE TABLE dbo.account (id int NOT NULL PRIMARY KEY, name varchar(64) NOT NULL, balance float NOT NULL);
CREATE TABLE dbo.stock (w_id int NOT NULL, i_id int NOT NULL, quantity decimal(4, 0) NOT NULL, ytd decimal(8, 2) NOT NULL,
    order_cnt int NOT NULL, remote_cnt int NOT NULL, data varchar(50) NOT NULL, dist_01 char(24) NOT NULL, PRIMARY KEY (w_id, i_id));
CREATE TABLE dbo.order_line (w_id int NOT NULL, d_id int NOT NULL, o_id int NOT NULL, number int NOT NULL, i_id int NOT NULL,
    amount decimal(6, 2) NOT NULL, dist_info char(24) NOT NULL, PRIMARY KEY (w_id, d_id, o_id, number));
CREATE TABLE dbo.texts (id int NOT NULL PRIMARY KEY, a varchar(100) NULL, b varchar(100) NULL, c varchar(100) NULL, d varchar(100) NULL,
    e varchar(100) NULL, f varchar(100) NULL, g varchar(100) NULL, h varchar(100) NULL, i varchar(100) NULL, j varchar(100) NULL);
INSERT dbo.texts SELECT value, t, t, t, t, t, t, t, t, t, t
FROM GENERATE_SERIES(0, 999) CROSS APPLY (SELECT REPLICATE(CHAR(65 + value % 26), 100) AS t) AS a;
INSERT dbo.account SELECT value, CONCAT('account ', value), 1000 FROM GENERATE_SERIES(0, 9999);
INSERT dbo.stock SELECT 1, value, 50, 0, 0, 0, 'stock', 'district' FROM GENERATE_SERIES(0, 9999);
INSERT dbo.order_line SELECT 1, o.value % 10, o.value / 10, l.value, (o.value * 7 + l.value) % 10000, 1.5, 'info'
FROM GENERATE_SERIES(0, 999) AS o CROSS JOIN GENERATE_SERIES(1, 10) AS l;";

/// A parameter: its name, its type, the value of the call of this number.
type Given = (&'static str, SqlType, fn(i32) -> Value);

/// A call that is counted.
struct Call {
    name: &'static str,
    text: &'static str,
    parameters: &'static [Given],
    /// It begins a transaction, and [`COMMIT`] follows: what a driver sends with autocommit off.
    commits: bool,
}

/// The end of a transaction, as Microsoft's JDBC driver asks for it.
const COMMIT: &str = "IF @@TRANCOUNT > 0 COMMIT TRAN";

const DECIMAL: SqlType = SqlType::Decimal { precision: 8, scale: 2 };

fn key(number: i32) -> Value {
    Value::Int(number.wrapping_mul(7919).rem_euclid(10_000))
}

const CALLS: &[Call] = &[
    Call {
        name: "insert of a row",
        text: "INSERT INTO dbo.one (id, created, filler, a, b, c) VALUES (@id, GETDATE(), 'pikepole', 1, 2, NULL)",
        parameters: &[("@id", SqlType::BigInt, |number| Value::BigInt(number.into()))],
        commits: false,
    },
    Call {
        name: "select by key",
        text: "SELECT name, balance FROM dbo.account WHERE id = @id",
        parameters: &[("@id", SqlType::Int, key)],
        commits: false,
    },
    Call {
        name: "update by key",
        text: "UPDATE dbo.account SET balance = balance + @d WHERE id = @id",
        parameters: &[("@d", SqlType::Float, |_| Value::Float(1.5)), ("@id", SqlType::Int, key)],
        commits: false,
    },
    Call {
        name: "new order: stock",
        text: "SELECT quantity, data, dist_01 FROM dbo.stock WITH (UPDLOCK) WHERE i_id = @i AND w_id = @w",
        parameters: &[("@i", SqlType::Int, key), ("@w", SqlType::Int, |_| Value::Int(1))],
        commits: false,
    },
    Call {
        name: "new order: update of stock",
        text: "UPDATE dbo.stock SET quantity = @q, ytd = ytd + @a, order_cnt = order_cnt + 1, remote_cnt = remote_cnt + @r \
               WHERE i_id = @i AND w_id = @w",
        parameters: &[
            ("@q", SqlType::Int, |number| Value::Int(number % 90)),
            ("@a", DECIMAL, |_| decimal(500)),
            ("@r", SqlType::Int, |_| Value::Int(0)),
            ("@i", SqlType::Int, key),
            ("@w", SqlType::Int, |_| Value::Int(1)),
        ],
        commits: false,
    },
    Call {
        name: "new order: order line",
        text: "INSERT INTO dbo.order_line (w_id, d_id, o_id, number, i_id, amount, dist_info) \
               VALUES (@w, @d, @o, @n, @i, @a, @info)",
        parameters: &[
            ("@w", SqlType::Int, |_| Value::Int(1)),
            ("@d", SqlType::Int, |_| Value::Int(10)),
            ("@o", SqlType::Int, |number| Value::Int(1_000 + number)),
            ("@n", SqlType::Int, |_| Value::Int(1)),
            ("@i", SqlType::Int, key),
            ("@a", DECIMAL, |_| decimal(1250)),
            ("@info", SqlType::VarChar(Length::Limit(24)), |_| Value::from("some district's info")),
        ],
        commits: false,
    },
    Call {
        name: "order status: ten lines",
        text: "SELECT i_id, number, amount, dist_info FROM dbo.order_line WHERE o_id = @o AND d_id = @d AND w_id = @w",
        parameters: &[
            ("@o", SqlType::Int, |number| Value::Int(number % 100)),
            ("@d", SqlType::Int, |_| Value::Int(3)),
            ("@w", SqlType::Int, |_| Value::Int(1)),
        ],
        commits: false,
    },
    Call {
        name: "delivery: oldest by key",
        text: "SELECT TOP 1 o_id FROM dbo.order_line WHERE d_id = @d AND w_id = @w ORDER BY o_id ASC",
        parameters: &[("@d", SqlType::Int, |number| Value::Int(number % 10)), ("@w", SqlType::Int, |_| Value::Int(1))],
        commits: false,
    },
    Call {
        name: "delivery: sum of an order",
        text: "SELECT SUM(amount) AS total FROM dbo.order_line WHERE o_id = @o AND d_id = @d AND w_id = @w",
        parameters: &[
            ("@o", SqlType::Int, |number| Value::Int(number % 100)),
            ("@d", SqlType::Int, |_| Value::Int(3)),
            ("@w", SqlType::Int, |_| Value::Int(1)),
        ],
        commits: false,
    },
    Call {
        name: "select of ten texts",
        text: "SELECT * FROM dbo.texts WHERE id = @id",
        parameters: &[("@id", SqlType::Int, |number| Value::Int(number % 1_000))],
        commits: false,
    },
    Call {
        name: "select of ten texts, committed",
        text: "SELECT * FROM dbo.texts WHERE id = @id",
        parameters: &[("@id", SqlType::Int, |number| Value::Int(number % 1_000))],
        commits: true,
    },
    Call {
        name: "update by key, committed",
        text: "UPDATE dbo.account SET balance = balance + @d WHERE id = @id",
        parameters: &[("@d", SqlType::Float, |_| Value::Float(1.5)), ("@id", SqlType::Int, key)],
        commits: true,
    },
];

fn decimal(hundredths: i128) -> Value {
    Decimal::new(hundredths, 8, 2).map_or(Value::Null, Value::Decimal)
}

/// The ways that drivers call a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// sp_executesql: the text goes along each time.
    Text,
    /// sp_execute: the text has been prepared.
    Handle,
}

/// The table of all calls; with `only`, the functions of the calls whose names contain it as well.
///
/// # Errors
/// Where valgrind is not there or fails, or the program does.
pub fn count(program: &Path, folder: &Path, only: Option<&str>) -> io::Result<String> {
    let folder = folder.join(format!("pikepole-wire-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let counted = Counting::start(program, &folder).and_then(|mut counting| counting.all(only));
    fs::remove_dir_all(&folder)?;
    counted
}

/// A server under callgrind, and a connection to it.
struct Counting<'a> {
    folder: &'a Path,
    server: Child,
    client: Client,
    dumps: u32,
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        // One that has ended already is as good.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Counting<'_> {
    fn start<'a>(program: &Path, folder: &'a Path) -> io::Result<Counting<'a>> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--tool=callgrind", "--dump-instr=no"]);
        command.arg(format!("--callgrind-out-file={}", folder.join("counted").display()));
        command.arg(program).arg("serve").arg("-d").arg(folder.join("data"));
        command.args(["--listen", &address.to_string(), "--tls", "off"]).env("MSSQL_SA_PASSWORD", PASSWORD);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = command.spawn().map_err(|e| io::Error::new(e.kind(), format!("valgrind: {e}")))?;
        match Client::connect(address, &mut server) {
            Ok(client) => Ok(Counting { folder, server, client, dumps: 0 }),
            Err(error) => {
                server.kill()?;
                server.wait()?;
                Err(error)
            }
        }
    }

    fn all(&mut self, only: Option<&str>) -> io::Result<String> {
        self.client.batch(SETUP)?;
        let mut table = format!("{:>12} {:>12}  a call of\n", "instructions", "allocations");
        let mut functions = String::new();
        for call in CALLS.iter().filter(|call| only.is_none_or(|only| call.name.contains(only))) {
            for by in [By::Text, By::Handle] {
                let costs = self.one(call, by)?;
                let (way, calls) = (if by == By::Text { "text" } else { "handle" }, f64::from(COUNTED));
                let (total, allocations) = (costs.total() as f64 / calls, costs.allocations as f64 / calls);
                table += &format!("{total:12.0} {allocations:12.2}  {}, by {way}\n", call.name);
                if only.is_some() {
                    functions += &format!("\n{}, by {way}\n{}", call.name, Report::of(&costs, calls));
                }
            }
        }
        Ok(table + &functions)
    }

    fn one(&mut self, call: &Call, by: By) -> io::Result<Costs> {
        let handle = if by == By::Handle { Some(self.client.prepare(call)?) } else { None };
        self.client.batch(if call.commits {
            "SET IMPLICIT_TRANSACTIONS ON"
        } else {
            "SET IMPLICIT_TRANSACTIONS OFF"
        })?;
        // Keys of inserts that no other way has used.
        let first = if by == By::Handle { 1_000_000 } else { 0 };
        (first..first + WARM).try_for_each(|number| self.client.call(call, handle, number))?;
        self.dump()?;
        (first + WARM..first + WARM + COUNTED).try_for_each(|number| self.client.call(call, handle, number))?;
        Ok(Costs::read(&self.dump()?))
    }

    /// What the server has spent since the last time.
    fn dump(&mut self) -> io::Result<String> {
        let control = Command::new("callgrind_control").arg("--dump").arg(self.server.id().to_string()).output()?;
        self.dumps += 1;
        let file = self.folder.join(format!("counted.{}", self.dumps));
        if !control.status.success() || !file.exists() {
            let said = String::from_utf8_lossy(&control.stderr);
            return Err(io::Error::other(format!("callgrind_control: {}", said.trim())));
        }
        fs::read_to_string(file)
    }
}

/// A connection, as little of one as the calls need.
struct Client {
    socket: TcpStream,
    tokens: TokenReader,
    request: Vec<u8>,
    packets: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr, server: &mut Child) -> io::Result<Client> {
        let began = Instant::now();
        let socket = loop {
            match TcpStream::connect(address) {
                Ok(socket) => break socket,
                Err(error) if began.elapsed() > START => return Err(error),
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
            if let Some(status) = server.try_wait()? {
                return Err(io::Error::other(format!("the server has ended: {status}")));
            }
        };
        socket.set_nodelay(true)?;
        let mut client = Client { socket, tokens: TokenReader::default(), request: Vec::new(), packets: Vec::new() };
        client.request = client_pre_login(NO_ENCRYPTION);
        client.send(PacketKind::PreLogin)?;
        client.message()?;
        let login = ClientLogin {
            version: TdsVersion::V7_4,
            packet_bytes: PACKET_BYTES_DEFAULT as u32,
            process: std::process::id(),
            host: "",
            user: "sa",
            password: PASSWORD,
            application: "xtask",
            server: "",
            database: "",
            new_password: None,
            is_read_only: false,
        };
        client.request = login.to_bytes().map_err(io::Error::other)?;
        client.send(PacketKind::Login7)?;
        client.answer()?;
        Ok(client)
    }

    fn batch(&mut self, text: &str) -> io::Result<()> {
        self.request.clear();
        put_batch(text, 0, &mut self.request);
        self.send(PacketKind::SqlBatch)?;
        self.answer().map(|_| ())
    }

    fn prepare(&mut self, call: &Call) -> io::Result<i32> {
        self.request.clear();
        put_call(SystemProcedure::Prepare, 0, &mut self.request);
        self.put(true, &SqlType::Int, &Value::Null)?;
        self.put(false, &TEXT, &Value::Str(declarations(call)))?;
        self.put(false, &TEXT, &Value::from(call.text))?;
        self.send(PacketKind::Rpc)?;
        match self.answer()? {
            Some(Value::Int(handle)) => Ok(handle),
            other => Err(io::Error::other(format!("a handle was expected, and not {other:?}"))),
        }
    }

    fn call(&mut self, call: &Call, handle: Option<i32>, number: i32) -> io::Result<()> {
        self.request.clear();
        match handle {
            Some(handle) => {
                put_call(SystemProcedure::Execute, 0, &mut self.request);
                self.put(false, &SqlType::Int, &Value::Int(handle))?;
            }
            None => {
                put_call(SystemProcedure::ExecuteSql, 0, &mut self.request);
                self.put(false, &TEXT, &Value::from(call.text))?;
                self.put(false, &TEXT, &Value::Str(declarations(call)))?;
            }
        }
        for (_, ty, value) in call.parameters {
            self.put(false, ty, &value(number))?;
        }
        self.send(PacketKind::Rpc)?;
        self.answer()?;
        if call.commits { self.batch(COMMIT) } else { Ok(()) }
    }

    fn put(&mut self, output: bool, ty: &SqlType, value: &Value) -> io::Result<()> {
        put_parameter(output, ty, value, &mut self.request).map_err(io::Error::other)
    }

    fn send(&mut self, kind: PacketKind) -> io::Result<()> {
        self.packets.clear();
        write_packets(kind, PacketStatus::default(), &self.request, PACKET_BYTES_DEFAULT, &mut self.packets);
        self.socket.write_all(&self.packets)
    }

    /// The payload of the next message.
    fn message(&mut self) -> io::Result<Vec<u8>> {
        let mut payload = Vec::new();
        loop {
            let mut header = [0; HEADER_BYTES];
            self.socket.read_exact(&mut header)?;
            let header = PacketHeader::parse(header).map_err(io::Error::other)?;
            let begin = payload.len();
            payload.resize(begin + usize::from(header.length).saturating_sub(HEADER_BYTES), 0);
            self.socket.read_exact(&mut payload[begin..])?;
            if header.status.is_end() {
                return Ok(payload);
            }
        }
    }

    /// Reads an answer to its end; the last value that it returned.
    ///
    /// # Errors
    /// The first error in it.
    fn answer(&mut self) -> io::Result<Option<Value>> {
        let payload = self.message()?;
        let (mut rest, mut returned) = (payload.as_slice(), None);
        while !rest.is_empty() {
            match self.tokens.next(&mut rest).map_err(io::Error::other)? {
                Some(ReplyToken::Error(error)) => return Err(io::Error::other(error.to_string())),
                Some(ReplyToken::Returned(value)) => returned = Some(value),
                Some(_) => {}
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        Ok(returned)
    }
}

/// The declarations of a call's parameters.
fn declarations(call: &Call) -> String {
    let one = |(name, ty, _): &Given| format!("{name} {ty}");
    call.parameters.iter().map(one).collect::<Vec<_>>().join(", ")
}
