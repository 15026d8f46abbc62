//! Statistics that a plan needs, made before it runs.

use std::sync::Arc;

use super::Machine;
use crate::expression::Fault;

impl Machine<'_> {
    /// Makes the statistics that the plan of `late[index]` wants, as far as the database lets them be made for queries. The plan is
    /// bound again with them; where old ones are brought up to date in the background, by its next run.
    pub(super) async fn need_statistics(&mut self, index: usize) -> Result<(), Fault> {
        let plan = self.frame.states.get(index).and_then(|state| state.as_ref()?.plan());
        let Some(plan) = plan else { return Ok(()) };
        let database = Arc::clone(self.context.database());
        let switches = database.options().switches;
        let is_late = switches.is_on("AUTO_UPDATE_STATISTICS_ASYNC");
        let view = self.context.catalog();
        for size in plan.sizes.iter().filter(|size| !size.wanted.is_empty()) {
            let known = view.catalog.statistics_of(size.table.object_id);
            let is_old = |column: &usize| known.is_some_and(|known| known.of_column(*column).is_some());
            let (mut old, mut missing): (Vec<usize>, Vec<usize>) =
                size.wanted.iter().partition(|column| is_old(column));
            if !switches.is_on("AUTO_CREATE_STATISTICS") {
                missing.clear();
            }
            if !switches.is_on("AUTO_UPDATE_STATISTICS") {
                old.clear();
            }
            let (beside, cancelled) = (&self.context.transaction, &self.context.cancelled);
            if is_late {
                database.want_statistics(beside, &size.table, &old);
                old.clear();
            }
            let columns = [old, missing].concat();
            if !columns.is_empty() {
                database.need_statistics(beside, cancelled, &size.table, &columns).await?;
            }
        }
        Ok(())
    }
}
