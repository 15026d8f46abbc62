//! Warm calls of single statements take no memory: what one call had, the next one uses again. A change keeps the row's former version,
//! which lives longer than its call; an aggregate keeps its group. A long argument is let go of with its call.
//!
//! The process's allocator counts for every thread but the client's, so what is counted is the server's, with all that runs in its
//! background.

#[allow(dead_code, reason = "shared with the tests of the server")]
#[path = "../server/client.rs"]
mod client;
#[allow(dead_code, reason = "shared with the tests of the server")]
#[path = "../server/fixture.rs"]
mod fixture;

use client::{Call, Client, errors};
use fixture::Fixture;
use pikepole_types::{Decimal, Length, SqlType, Value};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Blocks taken by other threads than a client's.
static TAKEN: AtomicU64 = AtomicU64::new(0);
/// Bytes that they have: what they took without what they gave back.
static HELD: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static IS_CLIENT: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, counted.
struct Counted;

fn count(blocks: u64, bytes: i64) {
    if !IS_CLIENT.get() {
        TAKEN.fetch_add(blocks, Ordering::Relaxed);
        HELD.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call goes on to the system's allocator with what it was given; counting touches nothing of the blocks.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: the caller keeps the contract, which is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(1, new_size as i64 - layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

const SETUP: &str = "
CREATE DATABASE calls;
ALTER DATABASE calls SET DELAYED_DURABILITY = FORCED;
USE calls;
CREATE TABLE dbo.account (id int NOT NULL PRIMARY KEY, name varchar(64) NOT NULL, balance decimal(12, 2) NOT NULL);
INSERT dbo.account SELECT value, CONCAT('account ', value), 1000 FROM GENERATE_SERIES(1, 1000);";

const WARM: i32 = 100;
const COUNTED: i32 = 400;
/// What the background takes meanwhile: far less than a block for each call.
const BACKGROUND: u64 = 100;

const EXECUTE_SQL: u16 = 10;

/// A statement with its parameters' declarations; the blocks that a call of it may take; the values of the call of this number.
type Statement = (&'static str, &'static str, u64, fn(Call, i32) -> Call);

fn id(call: Call, number: i32) -> Call {
    call.int("@id", number % 1000 + 1)
}

fn with_text(call: Call, number: i32) -> Call {
    let name = Value::from("somebody with a name that is long enough");
    id(call, number).with("@name", 0, &SqlType::VarChar(Length::Limit(64)), &name)
}

fn with_amount(call: Call, number: i32) -> Call {
    let amount = Decimal::new(125, 12, 2).expect("a decimal");
    id(call, number).with("@d", 0, &SqlType::Decimal { precision: 12, scale: 2 }, &Value::Decimal(amount))
}

const STATEMENTS: [Statement; 5] = [
    ("SELECT name, balance FROM dbo.account WHERE id = @id", "@id int", 0, id),
    ("UPDATE dbo.account SET balance = balance + @d WHERE id = @id", "@id int, @d decimal(12, 2)", 2, with_amount),
    ("UPDATE dbo.account SET name = @name WHERE id = @id", "@id int, @name varchar(64)", 2, with_text),
    ("SELECT COUNT(*) AS n, SUM(balance) AS s FROM dbo.account WHERE id BETWEEN @id AND @id + 9", "@id int", 1, id),
    ("SELECT TOP (3) id, balance FROM dbo.account WHERE id > @id ORDER BY id", "@id int", 0, id),
];

/// Blocks that the server takes for [`COUNTED`] calls which have been made before.
fn taken(client: &mut Client, call: impl Fn(i32) -> Call) -> u64 {
    let mut run = |numbers: std::ops::Range<i32>| {
        for number in numbers {
            let tokens = client.call(&[call(number)]);
            assert_eq!(errors(&tokens), [0; 0]);
        }
    };
    run(0..WARM);
    let before = TAKEN.load(Ordering::Relaxed);
    run(WARM..WARM + COUNTED);
    TAKEN.load(Ordering::Relaxed) - before
}

/// The counts are the process's.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn a_warm_call_takes_no_memory() {
    const PREPARE: u16 = 11;
    const EXECUTE: u16 = 12;
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fixture = Fixture::new();
    IS_CLIENT.set(true);
    let mut client = fixture.client();
    client.run(SETUP);
    let mut costly = Vec::new();
    for (text, declarations, allowed, values) in STATEMENTS {
        let by_text =
            taken(&mut client, |number| values(Call::number(EXECUTE_SQL).text(text).text(declarations), number));
        let prepared = client.call(&[Call::number(PREPARE).output("@handle").text(declarations).text(text)]);
        let handle = prepared.iter().find_map(|token| match token {
            client::Token::Returned(_, Value::Int(handle)) => Some(*handle),
            _ => None,
        });
        let handle = handle.expect("a handle");
        let by_handle = taken(&mut client, |number| values(Call::number(EXECUTE).int("", handle), number));
        if by_text.max(by_handle) > allowed * u64::from(COUNTED.unsigned_abs()) + BACKGROUND {
            costly.push(format!("{text}: {by_text} blocks for {COUNTED} calls by text, {by_handle} by handle"));
        }
    }
    assert!(costly.is_empty(), "{}", costly.join("\n"));
    // The count sees what a server takes: a new text is compiled.
    let new = taken(&mut client, |number| Call::number(EXECUTE_SQL).text(&format!("SELECT {number} AS n")));
    assert!(new > u64::from(COUNTED.unsigned_abs()) * 10, "{new}");
}

#[test]
fn a_long_argument_is_let_go_of() {
    const LENGTH: usize = 2 << 20;
    const CLIENTS: i64 = 8;
    const MANY: usize = 150;
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fixture = Fixture::new();
    IS_CLIENT.set(true);
    let long = Value::Bin(vec![7; LENGTH]);
    let many = Value::from("x".repeat(4000));
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| fixture.client()).collect();
    let mut send = |value: &Value, ty: &SqlType, count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("@p{number}")).collect();
        let declared = if *ty == SqlType::VarBinary(Length::Max) { "varbinary(max)" } else { "varchar(4000)" };
        let declarations: Vec<String> = names.iter().map(|name| format!("{name} {declared}")).collect();
        let text = format!("SELECT DATALENGTH({}) AS n", names[count - 1]);
        for client in &mut clients {
            let mut call = Call::number(EXECUTE_SQL).text(&text).text(&declarations.join(", "));
            for name in &names {
                call = call.with(name, 0, ty, value);
            }
            assert_eq!(errors(&client.call(&[call])), [0; 0]);
        }
    };
    let short = Value::Bin(vec![7; 16]);
    send(&short, &SqlType::VarBinary(Length::Max), 1);
    let before = HELD.load(Ordering::Relaxed);
    send(&long, &SqlType::VarBinary(Length::Max), 1);
    let of_long = (HELD.load(Ordering::Relaxed) - before) / CLIENTS;
    assert!(of_long < LENGTH as i64 / 8, "{of_long} bytes of a connection");
    send(&many, &SqlType::VarChar(Length::Limit(4000)), MANY);
    let of_many = (HELD.load(Ordering::Relaxed) - before) / CLIENTS;
    assert!(of_many < MANY as i64 * 4000 / 4, "{of_many} bytes of a connection");
}
