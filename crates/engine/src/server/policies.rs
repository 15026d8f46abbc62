//! The policies as others ask for them and change them; what they are stands in `configuration`.

use super::configuration::{Acknowledge, Effect, Exchange, PolicyRow};
use super::kept_options::{KEPT_OPTIONS, KeptOption};
use super::{Entry, NativeCounting, PolicySet, Server, lock, read};
use pikepole_contention::sync::atomic::Ordering;
use pikepole_types::SqlError;

impl Server {
    /// `max degree of parallelism`: workers of a statement that says nothing about it.
    pub fn max_degree(&self) -> usize {
        match lock(&self.configuration).max_degree() {
            0 => self.schedulers.count(),
            degree => degree,
        }
    }

    /// `EXCHANGE`: what a parallel INSERT gathers from its workers.
    pub fn exchange(&self) -> Exchange {
        lock(&self.configuration).exchange()
    }

    /// `COMMIT_ACKNOWLEDGE`: who waits for the commits of calls that came in one message.
    pub fn acknowledge(&self) -> Acknowledge {
        lock(&self.configuration).acknowledge()
    }

    /// The runs of natively compiled modules that are counted.
    pub fn native_counting(&self) -> &NativeCounting {
        &self.native_counting
    }

    /// The number of last requests over the network whose time lines are kept; 0: none is timed.
    #[inline]
    pub fn traced_calls(&self) -> usize {
        self.traced_calls.load(Ordering::Relaxed)
    }

    /// Why `CPU_IDLE` = SHALLOW is not in force though it is set; `None` when all is as it is set.
    pub fn cpu_idle_refusal(&self) -> Option<String> {
        self.schedulers.cpu_idle_refusal()
    }

    /// Every policy with its value and what it may be.
    pub fn policies(&self) -> Vec<PolicyRow> {
        lock(&self.configuration).rows(&self.started)
    }

    /// The set whose values all its policies have; `None` when they are mixed.
    pub fn policy_set(&self) -> Option<PolicySet> {
        lock(&self.configuration).policy_set()
    }

    /// Policies of the sets whose values are in force from the next start on.
    pub fn policies_waiting_for_start(&self) -> Vec<&'static str> {
        lock(&self.configuration).waiting_for_start(&self.started)
    }

    /// The options that are only kept, with what they are set to and what they were when the server was started or, for those that would take
    /// effect at once, are set to.
    pub fn kept_options(&self) -> Vec<(&'static KeptOption, i32, i32)> {
        let configuration = lock(&self.configuration);
        let row = |option: &'static KeptOption| {
            let value = configuration.kept(option);
            (option, value, if option.dynamic { value } else { self.started.kept(option) })
        };
        KEPT_OPTIONS.iter().map(row).collect()
    }

    /// ALTER SERVER CONFIGURATION SET PIKEPOLE name = value: keeps the value, and puts it in force where that can be done
    /// while the server runs. The name POLICIES sets every policy of a [`PolicySet`].
    ///
    /// # Errors
    /// 15123 for a name and 15129 for a value that is not one, saying which there are.
    pub fn set_policy(&self, name: &str, value: &str) -> Result<Effect, SqlError> {
        let mut configuration = lock(&self.configuration);
        let effect = self.change_configuration(&mut configuration, |changed| {
            let effect = changed.set(name, value)?;
            changed.log_writer_home()?;
            Ok(effect)
        })?;
        configuration.apply_to_schedulers(&self.schedulers);
        self.put_schedulers_online(&configuration)?;
        configuration.put_memory_in_force(&self.budget, self.memory_system);
        self.workspace.set_limits(configuration.workspace(self.budget.limit()));
        self.traced_calls.store(configuration.traced_calls(), Ordering::Relaxed);
        for entry in read(&self.databases).values() {
            if let Entry::Online(database) = entry {
                self.put_in_force(&configuration, database);
            }
        }
        Ok(effect)
    }
}
