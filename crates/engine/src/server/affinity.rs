//! The process affinity, changed while the server runs, and soft nodes.

use std::io;

use pikepole_machine::{affinity, is_full};
use pikepole_types::SqlError;

use crate::placement::LogWriterHome;

use super::{CONFIGURATION_FILE, Server, ServerConfiguration, lock};

/// The CPUs that schedulers are to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessAffinity {
    /// All.
    Auto,
    /// Ranges of CPUs, both ends included.
    Cpus(Vec<(u32, u32)>),
    /// All CPUs of ranges of nodes, both ends included; nodes as `sys.dm_os_nodes` numbers them.
    Nodes(Vec<(u32, u32)>),
}

fn holds(ranges: &[(u32, u32)], number: usize) -> bool {
    ranges.iter().any(|(first, last)| (*first as usize..=*last as usize).contains(&number))
}

/// Whether each number of the ranges is one of `known`.
fn are_known(ranges: &[(u32, u32)], known: &[usize]) -> bool {
    let count = |(first, last): &(u32, u32)| known.iter().filter(|number| holds(&[(*first, *last)], **number)).count();
    ranges.iter().all(|range| range.0 <= range.1 && count(range) as u64 == u64::from(range.1 - range.0) + 1)
}

fn mask_mismatch() -> SqlError {
    SqlError::new(5832, 16, 1, "The affinity mask specified does not match the CPU mask on this system.".to_owned())
}

impl Server {
    /// ALTER SERVER CONFIGURATION SET PROCESS AFFINITY: keeps the mask, and takes the schedulers of other CPUs offline at
    /// once. Tasks that they have run on to their end, on the CPUs of the mask; new ones go to the schedulers of the mask.
    ///
    /// # Errors
    /// 5832 for a CPU or a node that is not there or that the process may not use, and when no scheduler would be left;
    /// 40517 when schedulers are not bound to CPUs.
    pub fn set_process_affinity(&self, wanted: &ProcessAffinity) -> Result<(), SqlError> {
        let schedulers: Vec<Option<usize>> =
            self.schedulers.snapshot().iter().take(self.schedulers.count()).map(|row| row.cpu_id).collect();
        let bound: Vec<usize> = schedulers.iter().copied().flatten().collect();
        if bound.is_empty() {
            let what = "PROCESS AFFINITY is not supported while schedulers are not bound to CPUs, as under a quota of CPU time.";
            return Err(SqlError::new(40517, 16, 1, what.to_owned()));
        }
        let nodes = &self.placement.nodes;
        let usable: Vec<usize> = match nodes.is_empty() {
            true => bound.clone(),
            false => nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect(),
        };
        let mask = match wanted {
            ProcessAffinity::Auto => None,
            ProcessAffinity::Cpus(ranges) if are_known(ranges, &usable) => {
                Some(usable.iter().copied().filter(|cpu| holds(ranges, *cpu)).collect::<Vec<_>>())
            }
            ProcessAffinity::Nodes(ranges)
                if are_known(ranges, &nodes.iter().map(|node| node.id).collect::<Vec<_>>()) =>
            {
                let chosen = nodes.iter().filter(|node| holds(ranges, node.id));
                Some(chosen.flat_map(|node| node.cpus.iter().copied()).collect())
            }
            ProcessAffinity::Cpus(_) | ProcessAffinity::Nodes(_) => return Err(mask_mismatch()),
        };
        let mut configuration = lock(&self.configuration);
        let mask = mask.map(|mut cpus| {
            cpus.sort_unstable();
            cpus
        });
        self.change_configuration(&mut configuration, |changed| {
            changed.affinity.clone_from(&mask);
            if self.online(changed).contains(&true) { Ok(()) } else { Err(mask_mismatch()) }
        })?;
        self.put_schedulers_online(&configuration)
    }

    /// The CPUs that log writers have in turn under a configuration; none: they are not bound.
    pub(super) fn log_writer_cpus(&self, configuration: &ServerConfiguration) -> Vec<usize> {
        // A list was looked at when it was set.
        let home = configuration.log_writer_home().unwrap_or_default();
        self.placement.log_writer_cpus(&self.topology, &home)
    }

    /// The schedulers that are online under a configuration, by number: those of the process affinity, without a core that
    /// log writers have for their own.
    fn online(&self, configuration: &ServerConfiguration) -> Vec<bool> {
        let kept_apart = match configuration.log_writer_home() {
            Ok(LogWriterHome::Isolated) => self.log_writer_cpus(configuration),
            _ => Vec::new(),
        };
        let is_in_mask = |cpu| configuration.affinity.as_ref().is_none_or(|mask| mask.contains(&cpu));
        let schedulers = self.schedulers.snapshot().into_iter().take(self.schedulers.count());
        schedulers.map(|row| row.cpu_id.is_some_and(|cpu| is_in_mask(cpu) && !kept_apart.contains(&cpu))).collect()
    }

    /// Takes schedulers offline and back. Where none would be left, all stay as they are.
    pub(super) fn put_schedulers_online(&self, configuration: &ServerConfiguration) -> Result<(), SqlError> {
        let online = self.online(configuration);
        if !online.contains(&true) {
            return Ok(());
        }
        let moved = self.schedulers.set_online(&online);
        moved.map_err(|error: io::Error| SqlError::operating_system_error(error, "bind", 0, "a scheduler's thread"))
    }

    /// The CPUs of the process affinity; None: all.
    pub fn process_affinity(&self) -> Option<Vec<usize>> {
        lock(&self.configuration).affinity.clone()
    }

    /// The CPUs that log writers run on in turn; none: they are not bound.
    pub fn log_writer_affinity(&self) -> Vec<usize> {
        self.log_writer_cpus(&lock(&self.configuration))
    }

    /// Sets `LOG_WRITER_CPUS` to these CPUs; none: SHARED.
    ///
    /// # Errors
    /// 5832 for a CPU that the process may not use; as [`set_policy`](Self::set_policy) otherwise.
    pub fn set_log_writer_affinity(&self, cpus: &[usize]) -> Result<(), SqlError> {
        let allowed = affinity::allowed().unwrap_or_default();
        if !cpus.iter().all(|cpu| allowed.contains(cpu)) {
            return Err(mask_mismatch());
        }
        let list: Vec<String> = cpus.iter().map(usize::to_string).collect();
        let value = if list.is_empty() { "SHARED".to_owned() } else { list.join(",") };
        self.set_policy("LOG_WRITER_CPUS", &value).map(|_| ())
    }

    /// ALTER SERVER CONFIGURATION SET SOFTNUMA: in force when the server is started next.
    ///
    /// # Errors
    /// When the configuration cannot be written.
    pub fn set_soft_numa(&self, on: bool) -> Result<(), SqlError> {
        self.change_configuration(&mut lock(&self.configuration), |changed| {
            changed.soft_numa = on;
            Ok(())
        })
    }

    /// Whether large nodes are split, since the start.
    pub fn soft_numa(&self) -> bool {
        self.started.soft_numa
    }

    /// Changes the configuration in force, of which the caller has the lock, and that of the file, which lacks what was set for this run
    /// only.
    pub(super) fn change_configuration<T>(
        &self,
        in_force: &mut ServerConfiguration,
        change: impl Fn(&mut ServerConfiguration) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let mut changed = in_force.clone();
        let done = change(&mut changed)?;
        let mut of_file = lock(&self.configuration_of_file);
        let mut written = of_file.clone();
        change(&mut written)?;
        self.write_configuration(&written)?;
        (*in_force, *of_file) = (changed, written);
        Ok(done)
    }

    fn write_configuration(&self, configuration: &ServerConfiguration) -> Result<(), SqlError> {
        let file = self.options.folder.join(CONFIGURATION_FILE);
        let written = self.options.disk.replace(&file, configuration.to_text().as_bytes());
        written.map_err(|error| match is_full(&error) {
            true => SqlError::no_space_for_object(CONFIGURATION_FILE, super::MASTER, "PRIMARY"),
            false => SqlError::operating_system_error(error, "write", 0, file.display()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::are_known;

    #[test]
    fn ranges_name_only_what_is_there() {
        assert!(are_known(&[(0, 3), (5, 5)], &[0, 1, 2, 3, 5]));
        for ranges in [[(0, 4)], [(4, 4)], [(3, 2)], [(0, u32::MAX)]] {
            assert!(!are_known(&ranges, &[0, 1, 2, 3, 5]), "{ranges:?}");
        }
    }
}
