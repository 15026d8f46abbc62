//! The scans that tell how far a plan is: each gives all rows of a table, once. Chaudhuri, Narasayya and Ramamurthy ("Estimating
//! progress of execution for SQL queries", 2004) call them driver nodes.

use std::sync::Arc;

use super::{More, Node};

/// Pages of a table from which on reading it takes so long that people look how far it is.
const PAGES_MIN: u64 = 1_000;

impl Node {
    /// The large tables that this plan reads whole, once for each time that it does.
    pub(crate) fn drivers(&self) -> Vec<Arc<pikepole_engine::Table>> {
        let mut drivers = Vec::new();
        self.visit_drivers(&mut |table| {
            if table.pages_guessed() >= PAGES_MIN {
                drivers.push(Arc::clone(table));
            }
        });
        drivers
    }

    /// Leaves out what runs for each row of something else: that other thing tells how far it is.
    fn visit_drivers(&self, visit: &mut dyn FnMut(&Arc<pikepole_engine::Table>)) {
        match self {
            Node::Scan(scan) if scan.range.is_whole() => visit(&scan.table.engine),
            Node::Scan(_)
            | Node::One
            | Node::Virtual { .. }
            | Node::Call { .. }
            | Node::Values { .. }
            | Node::Series(_)
            | Node::File(_)
            | Node::Kept { .. } => {}
            Node::Filter { input, .. }
            | Node::Compute { input, .. }
            | Node::Group { input, .. }
            | Node::Sort { input, .. }
            | Node::Number { input, .. }
            | Node::Top { input, .. } => input.visit_drivers(visit),
            Node::Join { left, right, .. } => {
                left.visit_drivers(visit);
                right.visit_kept_drivers(visit);
            }
            Node::Apply { input, subquery, correlated, .. } => {
                input.visit_drivers(visit);
                match correlated {
                    true => subquery.visit_kept_drivers(visit),
                    false => subquery.visit_drivers(visit),
                }
            }
            Node::Concat { inputs, .. } => inputs.iter().for_each(|(input, _)| input.visit_drivers(visit)),
            Node::More(more) => match &**more {
                // How often its members run is not known.
                More::Recursive(_) => {}
                // What makes its rows is counted with the first name.
                More::Common(common) if !common.is_first() => {}
                more => more.inputs().into_iter().for_each(|input| input.visit_drivers(visit)),
            },
        }
    }

    /// Takes of what is opened for each row of something else only what is read once and kept.
    fn visit_kept_drivers(&self, visit: &mut dyn FnMut(&Arc<pikepole_engine::Table>)) {
        match self {
            Node::More(more) if matches!(**more, More::Spool(_)) => self.visit_drivers(visit),
            Node::Filter { input, .. } | Node::Compute { input, .. } | Node::Group { input, .. } => {
                input.visit_kept_drivers(visit);
            }
            Node::Join { left, right, .. } => {
                left.visit_kept_drivers(visit);
                right.visit_kept_drivers(visit);
            }
            _ => {}
        }
    }
}
