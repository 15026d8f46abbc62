//! What is not the protocol closes its own connection and nothing else.

use crate::client::Client;
use crate::fixture::Fixture;
use pikepole_tds::PacketKind;
use pikepole_types::Value;
use std::io::Write;

fn is_closed_after(fixture: &Fixture, bytes: &[u8]) -> bool {
    let mut client = Client::connect(fixture.address());
    client.socket().write_all(bytes).expect("the server reads");
    client.is_closed()
}

#[test]
fn other_protocols_are_turned_away() {
    let fixture = Fixture::new();
    let mut healthy = fixture.client();
    let hello = [0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3];
    for bytes in
        [&b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..], &hello, &[0; 64], &[0xFF; 4096], b"\x12\x01\x00\x04\0\0\0\0"]
    {
        assert!(is_closed_after(&fixture, bytes), "{:?}", &bytes[..4]);
    }
    assert_eq!(healthy.scalar("SELECT 1"), Value::Int(1));
    drop(healthy);
    fixture.await_connections(0);
}

#[test]
fn a_client_that_goes_wrong_later_is_told_and_closed() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.socket().write_all(b"GET / HTTP/1.1\r\n\r\n").expect("the server reads");
    assert_eq!(crate::client::errors(&client.reply()), [4002]);
    assert!(client.is_closed());
    let mut client = fixture.client();
    client.send(PacketKind::Rpc, 0, &[1, 2, 3]);
    let tokens = client.reply();
    assert!(!crate::client::errors(&tokens).is_empty(), "{tokens:?}");
    assert!(client.is_closed());
    fixture.await_connections(0);
}

#[test]
fn a_request_beyond_the_limit_is_not_gathered() {
    let fixture = Fixture::with(|options| options.request_bytes_max = 10_000);
    let mut client = fixture.client();
    let long = format!("SELECT 1 --{}", "x".repeat(20_000));
    let payload = crate::client::utf16(&long);
    let mut bytes = Vec::new();
    pikepole_tds::write_packets(
        PacketKind::SqlBatch,
        pikepole_tds::PacketStatus::default(),
        &payload,
        4096,
        &mut bytes,
    );
    // The server may close before it has read all.
    let _ = client.socket().write_all(&bytes);
    assert_eq!(crate::client::errors(&client.reply()), [4002]);
}
