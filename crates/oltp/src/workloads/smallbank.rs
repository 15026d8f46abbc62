//! SmallBank as BenchBase has it: six transactions on customers with two accounts each.

use super::{Ending, Kind, kind};
use crate::load::Loader;
use crate::random::Rng;
use crate::schema::{BIGINT, FLOAT, Table, column, varchar};
use crate::session::{Answer, SessionError};
use crate::terminal::Terminal;
use crate::values::text;
use pikepole_embedded::Value;

/// Customers of scale 1: a tenth of BenchBase's.
const CUSTOMERS: u32 = 100_000;
/// Digits of a customer's name.
const NAME_BYTES: usize = 64;
/// Balances that are loaded.
const BALANCES: std::ops::RangeInclusive<i32> = 10_000..=50_000;
/// The amounts of the transactions.
const PAYMENT: f64 = 5.0;
const DEPOSIT: f64 = 1.3;
const SAVING: f64 = 20.2;
const CHECK: f64 = 5.0;

const OF_CUSTOMER: &str = "FOREIGN KEY (custid) REFERENCES accounts (custid)";

/// The tables.
pub const TABLES: &[Table] = &[
    Table {
        name: "accounts",
        columns: &[column("custid", BIGINT), column("name", varchar(NAME_BYTES as u16))],
        constraints: &["PRIMARY KEY (custid)"],
        indexes: &[("idx_accounts_name", "name")],
    },
    Table {
        name: "savings",
        columns: &[column("custid", BIGINT), column("bal", FLOAT)],
        constraints: &["PRIMARY KEY (custid)", OF_CUSTOMER],
        indexes: &[],
    },
    Table {
        name: "checking",
        columns: &[column("custid", BIGINT), column("bal", FLOAT)],
        constraints: &["PRIMARY KEY (custid)", OF_CUSTOMER],
        indexes: &[],
    },
];

/// The kinds of transactions.
pub const KINDS: &[Kind] = &[
    kind("amalgamate", 15),
    kind("balance", 15),
    kind("deposit checking", 15),
    kind("send payment", 25),
    kind("transact savings", 15),
    kind("write check", 15),
];

crate::statements! {
    ACCOUNT_BY_ID (BIGINT): "SELECT * FROM accounts WHERE custid = $1";
    ACCOUNT_BY_NAME (varchar(NAME_BYTES as u16)): "SELECT * FROM accounts WHERE name = $1";
    SAVINGS (BIGINT): "SELECT bal FROM savings WHERE custid = $1";
    CHECKING (BIGINT): "SELECT bal FROM checking WHERE custid = $1";
    TAKE_FROM_SAVINGS (FLOAT, BIGINT): "UPDATE savings SET bal = bal - $1 WHERE custid = $2";
    TAKE_FROM_CHECKING (FLOAT, BIGINT): "UPDATE checking SET bal = bal - $1 WHERE custid = $2";
    ADD_TO_CHECKING (FLOAT, BIGINT): "UPDATE checking SET bal = bal + $1 WHERE custid = $2";
    EMPTY_CHECKING (BIGINT): "UPDATE checking SET bal = 0.0 WHERE custid = $1";
}

/// The workload.
pub struct SmallBank {
    /// Its size in 100,000 customers.
    pub scale: u32,
}

impl SmallBank {
    /// A bank of so many times 100,000 customers.
    pub fn new(scale: u32) -> SmallBank {
        SmallBank { scale }
    }

    fn customers(&self) -> i64 {
        i64::from(self.scale * CUSTOMERS)
    }

    /// Loads the rows.
    pub fn load(&self, loader: &mut Loader<'_>, random: &mut Rng) -> Result<(), SessionError> {
        for customer in 0..self.customers() {
            loader.row("accounts", vec![Value::BigInt(customer), text(name(customer))])?;
            for table in ["savings", "checking"] {
                let balance = Value::Float(f64::from(random.i32(BALANCES)));
                loader.row(table, vec![Value::BigInt(customer), balance])?;
            }
        }
        Ok(())
    }

    /// Runs a transaction.
    pub async fn run(&self, terminal: &mut Terminal, kind: usize) -> Result<Ending, SessionError> {
        let first = terminal.random.i64(0..self.customers());
        let second = (first + terminal.random.i64(1..self.customers())) % self.customers();
        match kind {
            0 => amalgamate(terminal, first, second).await,
            1 => balance(terminal, first).await,
            2 => deposit_checking(terminal, first).await,
            3 => send_payment(terminal, first, second).await,
            4 => transact_savings(terminal, first).await,
            _ => write_check(terminal, first).await,
        }
    }
}

fn name(customer: i64) -> String {
    format!("{customer:0NAME_BYTES$}")
}

async fn amalgamate(terminal: &mut Terminal, first: i64, second: i64) -> Result<Ending, SessionError> {
    for customer in [first, second] {
        terminal.run(ACCOUNT_BY_ID, &[Value::BigInt(customer)]).await?.integer(0, 0)?;
    }
    let savings = terminal.run(SAVINGS, &[Value::BigInt(first)]).await?.float(0, 0)?;
    let checking = terminal.run(CHECKING, &[Value::BigInt(second)]).await?.float(0, 0)?;
    changed(&terminal.run(EMPTY_CHECKING, &[Value::BigInt(first)]).await?)?;
    let values = [Value::Float(savings + checking), Value::BigInt(second)];
    changed(&terminal.run(TAKE_FROM_SAVINGS, &values).await?)?;
    Ok(Ending::Commit)
}

async fn balance(terminal: &mut Terminal, customer: i64) -> Result<Ending, SessionError> {
    let customer = customer_of_name(terminal, customer).await?;
    terminal.run(SAVINGS, std::slice::from_ref(&customer)).await?.float(0, 0)?;
    terminal.run(CHECKING, &[customer]).await?.float(0, 0)?;
    Ok(Ending::Commit)
}

async fn deposit_checking(terminal: &mut Terminal, customer: i64) -> Result<Ending, SessionError> {
    let customer = customer_of_name(terminal, customer).await?;
    changed(&terminal.run(ADD_TO_CHECKING, &[Value::Float(DEPOSIT), customer]).await?)?;
    Ok(Ending::Commit)
}

async fn send_payment(terminal: &mut Terminal, first: i64, second: i64) -> Result<Ending, SessionError> {
    for customer in [first, second] {
        terminal.run(ACCOUNT_BY_ID, &[Value::BigInt(customer)]).await?.integer(0, 0)?;
    }
    if terminal.run(CHECKING, &[Value::BigInt(first)]).await?.float(0, 0)? < PAYMENT {
        return Ok(Ending::Rollback);
    }
    changed(&terminal.run(ADD_TO_CHECKING, &[Value::Float(-PAYMENT), Value::BigInt(first)]).await?)?;
    changed(&terminal.run(ADD_TO_CHECKING, &[Value::Float(PAYMENT), Value::BigInt(second)]).await?)?;
    Ok(Ending::Commit)
}

async fn transact_savings(terminal: &mut Terminal, customer: i64) -> Result<Ending, SessionError> {
    let customer = customer_of_name(terminal, customer).await?;
    if terminal.run(SAVINGS, std::slice::from_ref(&customer)).await?.float(0, 0)? < SAVING {
        return Ok(Ending::Rollback);
    }
    changed(&terminal.run(TAKE_FROM_SAVINGS, &[Value::Float(SAVING), customer]).await?)?;
    Ok(Ending::Commit)
}

async fn write_check(terminal: &mut Terminal, customer: i64) -> Result<Ending, SessionError> {
    let customer = customer_of_name(terminal, customer).await?;
    let savings = terminal.run(SAVINGS, std::slice::from_ref(&customer)).await?.float(0, 0)?;
    let checking = terminal.run(CHECKING, std::slice::from_ref(&customer)).await?.float(0, 0)?;
    // BenchBase takes a dollar less from those who have too little.
    let amount = if savings + checking < CHECK { CHECK - 1.0 } else { CHECK };
    changed(&terminal.run(TAKE_FROM_CHECKING, &[Value::Float(amount), customer]).await?)?;
    Ok(Ending::Commit)
}

async fn customer_of_name(terminal: &mut Terminal, customer: i64) -> Result<Value, SessionError> {
    Ok(Value::BigInt(terminal.run(ACCOUNT_BY_NAME, &[text(name(customer))]).await?.integer(0, 0)?))
}

fn changed(answer: &Answer) -> Result<(), SessionError> {
    match answer.affected {
        1 => Ok(()),
        count => Err(SessionError::Other(format!("an update of one account changed {count}"))),
    }
}
