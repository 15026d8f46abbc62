//! Common tables whose rows are made once for all their names.
//!
//! ```text
//!   WITH c AS (SELECT .. GROUP BY ..)                for each name             for all
//!   SELECT .. FROM c AS a JOIN c AS b ..      c, of b = 5, by a seek      c, made once and kept
//!   WHERE b.key = 5                            c, whole                    b = 5 tested on its rows
//! ```
//! A name that conditions leave little of is cheaper for itself, so it is a matter of cost: of all names together, with the conditions that
//! have moved into each, against that of the whole rows and of reading them once for each name. All names of a table share its rows, or none.
//!
//! Of a table that only chooses among rows, as a join does, a name with conditions in its own query has rows of its own: there, these lead to
//! keys and to other joins (`bind::open_query`). The other names can share. Conditions that come to a name from a query around it keep both
//! plans open (`predicate_pushdown`), as they do for a table that makes rows.
//!
//! The binder numbers the tables that can be shared (`bind::source`). It leaves out those whose rows differ each time or read a row outside;
//! recursive ones, whose cost is not known; and those of statements that change rows or assign variables, because these may read what they
//! change.

use crate::bind::filtered;
use crate::optimizer::cardinality::{Size, of};
use crate::optimizer::variable_values::VariableValues;
use crate::plan::{CommonRows, More, Node, Sharing};

/// The cost to keep a row and, for each name, to read it, in rows read of a table.
const KEPT: f64 = 2.0;
const READ: f64 = 1.0;
/// The cost to group a row, for itself and for each key, and to compute what is over a window of rows, and to sort a row, likewise.
/// Elsewhere they are left out: both sides of a choice have them.
const GROUPED: f64 = 1.0;
const IN_WINDOW: f64 = 2.0;
const SORTED: f64 = 5.0;

/// A common table that is open, and its costs.
#[derive(Clone, Copy)]
struct Tally {
    number: usize,
    names: usize,
    /// The cost of all names, each for itself.
    apart: f64,
    /// The cost of making its rows once, and their number.
    whole: f64,
    rows: f64,
}

/// Decides for each common table of a plan. A later one of a WITH clause comes before those that it may name: what is made once has the
/// names within it once.
pub(crate) fn share_common_tables(plan: &mut Node, is_on: bool, values: &VariableValues) {
    loop {
        let open = open_tables(plan, values);
        let Some(last) = open.iter().max_by_key(|tally: &&Tally| tally.number) else { return };
        settle(plan, last.number, is_on && last.is_shared());
    }
}

impl Tally {
    fn is_shared(&self) -> bool {
        let read = self.rows * (KEPT + READ * self.names as f64);
        self.names > 1 && self.whole + read < self.apart
    }
}

/// The tables that are open, but for those within other ones, and within rows that an earlier name makes.
fn open_tables(plan: &Node, values: &VariableValues) -> Vec<Tally> {
    let mut open: Vec<Tally> = Vec::new();
    plan.visit_nodes_while(&mut |node| {
        let Node::More(more) = node else { return true };
        let More::Common(common) = &**more else { return true };
        match &common.sharing {
            Sharing::Shared { is_first } => *is_first,
            Sharing::Open(other) => {
                let (apart, whole) =
                    (work(&common.input, values), other.as_ref().map_or(&common.input, |other| &other.node));
                match open.iter_mut().find(|tally| tally.number == common.number) {
                    Some(tally) => (tally.names, tally.apart) = (tally.names + 1, tally.apart + apart),
                    None => {
                        let Size { rows, .. } = of(whole, values);
                        open.push(Tally { number: common.number, names: 1, apart, whole: work(whole, values), rows });
                    }
                }
                false
            }
        }
    });
    open
}

/// The cost of all rows of a plan.
fn work(node: &Node, values: &VariableValues) -> f64 {
    let of = |node: &Node| of(node, values);
    let mut work = of(node).total();
    node.visit_nodes(&mut |node| {
        work += match node {
            Node::Group { input, keys, .. } => of(input).rows * GROUPED * (1 + keys.len()) as f64,
            Node::Sort { input, .. } => of(input).rows * SORTED,
            Node::More(more) => match &**more {
                More::Windows(windows) => of(&windows.input).rows * IN_WINDOW,
                _ => 0.0,
            },
            _ => 0.0,
        };
    });
    work
}

/// Puts what was decided for a table in the place of its names, wherever they stand. Columns are computed where a name reads them: where
/// the rows are shared, where any name does.
fn settle(plan: &mut Node, number: usize, is_shared: bool) {
    let mut read = Vec::new();
    plan.visit_nodes_mut(&mut |node| {
        let Some(common) = open_name(node, number).filter(|_| is_shared) else { return };
        read.extend(common.read.iter().map(|slot| slot - common.registers.first));
    });
    let mut is_first = true;
    plan.visit_nodes_mut(&mut |node| {
        let Some(common) = open_name(node, number) else { return };
        if !is_shared {
            keep_columns(&mut common.input, |slot| common.read.contains(&slot));
            *node = std::mem::replace(&mut common.input, Node::One);
            return;
        }
        let mut conditions = Vec::new();
        let shared = Sharing::Shared { is_first: std::mem::take(&mut is_first) };
        if let Sharing::Open(Some(whole)) = std::mem::replace(&mut common.sharing, shared) {
            (common.input, conditions) = (whole.node, whole.conditions);
        }
        let first = common.registers.first;
        keep_columns(&mut common.input, |slot| read.contains(&(slot - first)));
        *node = filtered(std::mem::replace(node, Node::One), conditions);
    });
}

/// The size of a plan.
#[derive(Default)]
pub(crate) struct PlanSize {
    /// Its operators, with those of the rows that its names may share.
    pub(crate) operators: usize,
    /// Of these, names of common tables.
    pub(crate) names: usize,
}

impl PlanSize {
    /// The size of a plan in which nothing is decided yet.
    pub(crate) fn of(plan: &Node) -> PlanSize {
        let mut size = PlanSize::default();
        size.add(plan);
        size
    }

    fn add(&mut self, plan: &Node) {
        plan.visit_nodes(&mut |node| {
            self.operators += 1;
            let Node::More(more) = node else { return };
            let More::Common(common) = &**more else { return };
            self.names += 1;
            if let Sharing::Open(Some(whole)) = &common.sharing {
                self.add(&whole.node);
            }
        });
    }
}

/// A name of this table that waits for the decision.
fn open_name(node: &mut Node, number: usize) -> Option<&mut CommonRows> {
    let Node::More(more) = node else { return None };
    match &mut **more {
        More::Common(common) if common.number == number && matches!(common.sharing, Sharing::Open(_)) => Some(common),
        _ => None,
    }
}

/// Leaves out the columns of a common table that nothing reads: they could fail.
pub(crate) fn keep_columns(rows: &mut Node, is_read: impl Fn(usize) -> bool) {
    if let Node::Compute { assignments, .. } = rows {
        assignments.retain(|(slot, _)| is_read(*slot));
    }
}
