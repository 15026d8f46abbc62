//! The nodes that a query finds in a value of xml.

use super::Run;
use crate::access::{Pace, Stop};
use crate::plan::XmlNodes;
use pikepole_types::{Value, XmlNode};

/// The state of an [`XmlNodes`].
#[derive(Default)]
pub(crate) struct NodesCursor {
    /// The rows left; none before the first is asked for.
    rows: Option<std::vec::IntoIter<XmlNode>>,
    pace: Pace,
}

impl NodesCursor {
    pub(crate) fn next(&mut self, plan: &XmlNodes, run: &mut Run<'_>) -> Result<bool, Stop> {
        self.pace.step()?;
        let rows = match &mut self.rows {
            Some(rows) => rows,
            None => self.rows.insert(rows(plan, run)?.into_iter()),
        };
        let Some(node) = rows.next() else {
            return Ok(false);
        };
        run.slots[plan.registers.first] = Value::Node(Box::new(node));
        Ok(true)
    }
}

fn rows(plan: &XmlNodes, run: &mut Run<'_>) -> Result<Vec<XmlNode>, Stop> {
    let receiver = plan.receiver.eval(&mut run.env())?;
    let mut inputs = Vec::with_capacity(plan.inputs.len());
    for input in &plan.inputs {
        inputs.push(input.eval(&mut run.env())?);
    }
    let nodes = plan.query.nodes(&receiver, &inputs, run.env().functions).map_err(Box::new)?;
    Ok(nodes)
}
