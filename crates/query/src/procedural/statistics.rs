//! Statistics that a plan needs, made before it runs.

use std::sync::Arc;

use super::Machine;
use crate::expression::Fault;

impl Machine<'_> {
    /// Makes the statistics that the plan of `late[index]` wants, as far as the database lets them be made for queries. The plan is
    /// bound again with them.
    pub(super) async fn need_statistics(&mut self, index: usize) -> Result<(), Fault> {
        let plan = self.frame.states.get(index).and_then(|state| state.as_ref()?.plan());
        let Some(plan) = plan else { return Ok(()) };
        let database = Arc::clone(self.context.database());
        let switches = database.options().switches;
        let view = self.context.catalog();
        for size in plan.sizes.iter().filter(|size| !size.wanted.is_empty()) {
            let known = view.catalog.statistics_of(size.table.object_id);
            let is_allowed = |column: &usize| match known.and_then(|known| known.of_column(*column)) {
                None => switches.is_on("AUTO_CREATE_STATISTICS"),
                Some(_) => switches.is_on("AUTO_UPDATE_STATISTICS"),
            };
            let columns: Vec<usize> = size.wanted.iter().copied().filter(is_allowed).collect();
            if !columns.is_empty() {
                let (beside, cancelled) = (&self.context.transaction, &self.context.cancelled);
                database.need_statistics(beside, cancelled, &size.table, &columns).await?;
            }
        }
        Ok(())
    }
}
