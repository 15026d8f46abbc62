//! Warm calls of single statements take no memory: what one call had, the next one uses again. A change keeps the row's former version,
//! which lives longer than its call; an aggregate keeps its group.
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
use std::sync::atomic::{AtomicU64, Ordering};

/// Blocks taken by other threads than a client's.
static TAKEN: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static IS_CLIENT: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, counted.
struct Counted;

fn count() {
    if !IS_CLIENT.get() {
        TAKEN.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call goes on to the system's allocator with what it was given; counting touches nothing of the blocks.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract, which is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
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

#[test]
fn a_warm_call_takes_no_memory() {
    const EXECUTE_SQL: u16 = 10;
    const PREPARE: u16 = 11;
    const EXECUTE: u16 = 12;
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
    // The count sees what a server takes: a text that nobody has sent is compiled.
    let new = taken(&mut client, |number| Call::number(EXECUTE_SQL).text(&format!("SELECT {number} AS n")));
    assert!(new > u64::from(COUNTED.unsigned_abs()) * 10, "{new}");
}
