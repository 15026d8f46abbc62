//! Clients of other processes on the databases of an embedded engine, spoken to in bytes.

use pikepole_embedded::{Engine, Error, params};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// Asks a server for its version, as the first message of every client does; whether it answers as a server of TDS.
fn answers(address: SocketAddr) -> bool {
    const PRELOGIN: u8 = 0x12;
    const REPLY: u8 = 0x04;
    // One option, the version: where it is, how long it is, and six bytes of it.
    let options = [0, 0, 6, 0, 6, 0xff, 16, 0, 0, 0, 0, 0];
    let length = 8 + options.len() as u8;
    let mut message = vec![PRELOGIN, 1, 0, length, 0, 0, 0, 0];
    message.extend(options);
    let Ok(mut socket) = TcpStream::connect(address) else { return false };
    socket.write_all(&message).expect("it listens");
    let mut header = [0; 8];
    socket.read_exact(&mut header).expect("it answers");
    header[0] == REPLY
}

#[test]
fn an_engine_serves_until_it_is_told_to_stop() {
    let engine = Engine::in_memory().expect("memory is there");
    let mut connection = engine.connect_blocking().expect("connects");
    let one = engine.serve("127.0.0.1:0").expect("it listens");
    let other = engine.serve("127.0.0.1:0").expect("it listens");
    let address = one.address();
    assert!(answers(address) && answers(other.address()));
    // A busy port is refused by name.
    let busy = match engine.serve(address) {
        Err(Error::Open(why)) => why,
        other => panic!("{:?}", other.map(|serving| serving.address())),
    };
    assert!(busy.contains(&address.to_string()) && busy.contains("cannot be listened at"), "{busy}");
    // One that has not logged in does not keep it.
    let lingering = TcpStream::connect(address).expect("it listens");
    one.stop();
    assert!(!answers(address), "the port is closed");
    drop(engine.serve(address).expect("and free"));
    drop(lingering);
    assert!(answers(other.address()), "the other goes on");
    assert_eq!(connection.query_value("SELECT @p1 + 1", params![1]), Ok(2), "and so do connections of this process");
    // The engine's end is that of what it serves.
    engine.shutdown().expect("closes in order");
    assert!(!answers(other.address()));
    drop(other);
    assert!(matches!(engine.serve("127.0.0.1:0").map(drop), Err(Error::Closed)));
}

#[test]
fn what_is_served_keeps_the_engine_open() {
    let engine = Engine::temporary().expect("opens");
    let folder = engine.folder().expect("it is open");
    let serving = engine.serve("127.0.0.1:0").expect("it listens");
    drop(engine);
    assert!(answers(serving.address()) && folder.exists());
    drop(serving);
    assert!(!folder.exists());
}
