//! The workloads: their tables, what is in them, their transactions and how often each is run.

mod smallbank;
mod tatp;
pub mod tpcc;
mod ycsb;

use crate::load::Loader;
use crate::random::Rng;
use crate::schema::Table;
use crate::session::{SessionError, Statement};
use crate::terminal::Terminal;
use smallbank::SmallBank;
use tatp::Tatp;
use tpcc::Tpcc;
use ycsb::Ycsb;

/// The names of the workloads.
pub const NAMES: [&str; 5] = ["tpcc", "tatp", "smallbank", "ycsb-a", "ycsb-b"];

/// A kind of transaction.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Of all weights of the workload, its share of the transactions.
    pub weight: u32,
}

/// A kind of transaction.
const fn kind(name: &'static str, weight: u32) -> Kind {
    Kind { name, weight }
}

/// The end that a transaction is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By a commit.
    Commit,
    /// By a rollback, as the workload intends it.
    Rollback,
}

/// A workload of a size.
pub enum Workload {
    /// TPC-C.
    Tpcc(Tpcc),
    /// TATP.
    Tatp(Tatp),
    /// SmallBank.
    SmallBank(SmallBank),
    /// YCSB, A or B.
    Ycsb(Ycsb),
}

impl Workload {
    /// The workload of a name, so large.
    pub fn new(name: &str, scale: Option<u32>) -> Result<Workload, String> {
        match name {
            "tpcc" => Ok(Workload::Tpcc(Tpcc::new(scale.unwrap_or(4)))),
            "tatp" => Ok(Workload::Tatp(Tatp::new(scale.unwrap_or(1)))),
            "smallbank" => Ok(Workload::SmallBank(SmallBank::new(scale.unwrap_or(1)))),
            "ycsb-a" => Ok(Workload::Ycsb(Ycsb::a(scale.unwrap_or(1)))),
            "ycsb-b" => Ok(Workload::Ycsb(Ycsb::b(scale.unwrap_or(1)))),
            _ => Err(format!("`{name}` is none of {}", NAMES.join(", "))),
        }
    }

    /// The name that its load goes by: workloads of the same tables share it.
    pub fn data_name(&self) -> &'static str {
        match self {
            Workload::Tpcc(_) => "tpcc",
            Workload::Tatp(_) => "tatp",
            Workload::SmallBank(_) => "smallbank",
            Workload::Ycsb(_) => "ycsb",
        }
    }

    /// Its size.
    pub fn scale(&self) -> u32 {
        match self {
            Workload::Tpcc(tpcc) => tpcc.warehouses,
            Workload::Tatp(tatp) => tatp.scale,
            Workload::SmallBank(smallbank) => smallbank.scale,
            Workload::Ycsb(ycsb) => ycsb.scale,
        }
    }

    /// Its tables, each behind those that it refers to.
    pub fn tables(&self) -> &'static [Table] {
        match self {
            Workload::Tpcc(_) => tpcc::TABLES,
            Workload::Tatp(_) => tatp::TABLES,
            Workload::SmallBank(_) => smallbank::TABLES,
            Workload::Ycsb(_) => ycsb::TABLES,
        }
    }

    /// Its statements, by place.
    pub fn statements(&self) -> &'static [Statement] {
        match self {
            Workload::Tpcc(_) => tpcc::STATEMENTS,
            Workload::Tatp(_) => tatp::STATEMENTS,
            Workload::SmallBank(_) => smallbank::STATEMENTS,
            Workload::Ycsb(_) => ycsb::STATEMENTS,
        }
    }

    /// Its kinds of transactions.
    pub fn kinds(&self) -> &'static [Kind] {
        match self {
            Workload::Tpcc(_) => tpcc::KINDS,
            Workload::Tatp(_) => tatp::KINDS,
            Workload::SmallBank(_) => smallbank::KINDS,
            Workload::Ycsb(ycsb) => ycsb.kinds,
        }
    }

    /// Loads its rows into empty tables.
    pub fn load(&self, loader: &mut Loader<'_>) -> Result<(), SessionError> {
        let mut random = Rng::with_seed(u64::from(self.scale()));
        match self {
            Workload::Tpcc(tpcc) => tpcc.load(loader, &mut random)?,
            Workload::Tatp(tatp) => tatp.load(loader, &mut random)?,
            Workload::SmallBank(smallbank) => smallbank.load(loader, &mut random)?,
            Workload::Ycsb(ycsb) => ycsb.load(loader, &mut random)?,
        }
        loader.flush()
    }

    /// Runs the statements of a transaction of a kind, by place; the caller ends it.
    pub async fn run(&self, terminal: &mut Terminal, kind: usize) -> Result<Ending, SessionError> {
        match self {
            Workload::Tpcc(tpcc) => tpcc.run(terminal, kind).await,
            Workload::Tatp(tatp) => tatp.run(terminal, kind).await,
            Workload::SmallBank(smallbank) => smallbank.run(terminal, kind).await,
            Workload::Ycsb(ycsb) => ycsb.run(terminal, kind).await,
        }
    }
}

/// Draws a kind by weight.
pub fn draw(kinds: &[Kind], random: &mut Rng) -> usize {
    let total: u32 = kinds.iter().map(|kind| kind.weight).sum();
    let mut rest = random.u32(0..total);
    for (place, kind) in kinds.iter().enumerate() {
        if rest < kind.weight {
            return place;
        }
        rest -= kind.weight;
    }
    kinds.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_drawn_by_their_weights() {
        let (kinds, mut random, mut counts) = ([kind("a", 1), kind("b", 0), kind("c", 3)], Rng::with_seed(1), [0; 3]);
        for _ in 0..40_000 {
            counts[draw(&kinds, &mut random)] += 1;
        }
        assert!(counts[1] == 0 && (9_000..11_000).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn statements_have_as_many_parameters_as_they_declare() {
        for name in NAMES {
            let workload = Workload::new(name, None).expect("a workload");
            for statement in workload.statements() {
                let count = statement.parameters.len();
                for text in [statement.text, statement.tsql.unwrap_or(statement.text)] {
                    assert!(count == 0 || text.contains(&format!("${count}")), "{text}");
                    assert!(!text.contains(&format!("${}", count + 1)), "{text}");
                }
            }
            assert!(workload.kinds().iter().map(|kind| kind.weight).sum::<u32>() == 100, "{name}");
        }
        assert!(Workload::new("tpch", None).is_err());
    }
}
