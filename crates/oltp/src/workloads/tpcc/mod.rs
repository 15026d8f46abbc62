//! TPC-C: its five transactions in the standard mix, without the times in which a person types and thinks.
//!
//! The statements are BenchBase's, with three differences that READ COMMITTED asks for: a payment adds to the customer's balance
//! in the UPDATE, the text of a customer with bad credit is locked when it is read, and so is the order that a delivery takes.
//! Neither server has foreign keys, as in BenchBase's tables for SQL Server.

mod check;
mod load;
mod tables;
mod transactions;

use super::{Ending, Kind, kind};
use crate::session::SessionError;
use crate::terminal::Terminal;

pub use check::check;
pub use tables::TABLES;
pub use transactions::STATEMENTS;

/// Districts of a warehouse.
const DISTRICTS: i32 = 10;
/// Customers of a district.
const CUSTOMERS: i32 = 3000;
/// Items.
const ITEMS: i32 = 100_000;

/// The kinds of transactions.
pub const KINDS: &[Kind] =
    &[kind("new order", 45), kind("payment", 43), kind("order status", 4), kind("delivery", 4), kind("stock level", 4)];

/// The workload.
pub struct Tpcc {
    /// Its warehouses.
    pub warehouses: u32,
}

impl Tpcc {
    /// A company of so many warehouses.
    pub fn new(warehouses: u32) -> Tpcc {
        Tpcc { warehouses }
    }

    fn warehouse_count(&self) -> i32 {
        i32::try_from(self.warehouses).unwrap_or(i32::MAX)
    }

    /// Runs a transaction in the terminal's warehouse.
    pub async fn run(&self, terminal: &mut Terminal, kind: usize) -> Result<Ending, SessionError> {
        let warehouse = terminal.number as i32 % self.warehouse_count() + 1;
        match kind {
            0 => transactions::new_order(terminal, warehouse, self.warehouse_count()).await,
            1 => transactions::payment(terminal, warehouse, self.warehouse_count()).await,
            2 => transactions::order_status(terminal, warehouse).await,
            3 => transactions::delivery(terminal, warehouse).await,
            _ => transactions::stock_level(terminal, warehouse).await,
        }
    }
}
