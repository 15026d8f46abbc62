//! What a server begins with: its configuration and its schedulers.

use std::sync::Arc;

use pikepole_contention::Statistics;
use pikepole_machine::memory::Budget;
use pikepole_scheduler::{SchedulerOptions, Schedulers};

use super::{CONFIGURATION_FILE, SchedulerChoice, ServerConfiguration, ServerOptions, folder_error};
use crate::error::OpenError;
use crate::placement::PlacementPlan;

/// The configuration of the folder, and that with the policies of this start.
pub(super) fn read_configuration(
    options: &ServerOptions,
) -> Result<(ServerConfiguration, ServerConfiguration), OpenError> {
    let file = options.folder.join(CONFIGURATION_FILE);
    let mut configuration = ServerConfiguration::default();
    if options.disk.exists(&file) {
        let bytes = options.disk.read(&file).map_err(|error| folder_error(&options.folder, error))?;
        let why = match String::from_utf8(bytes) {
            Ok(text) => configuration.read_text(&text).err(),
            Err(_) => Some("it is not text".to_owned()),
        };
        if let Some(why) = why {
            return Err(OpenError::Configuration { file, why });
        }
    }
    let of_file = configuration.clone();
    for (name, value) in &options.policies {
        configuration.set(name, value).map_err(OpenError::Option)?;
    }
    Ok((of_file, configuration))
}

/// The schedulers that a plan wants.
pub(super) fn start_schedulers(
    options: &ServerOptions,
    placement: &PlacementPlan,
    statistics: &Arc<Statistics>,
    budget: Option<&Arc<Budget>>,
) -> Result<Arc<Schedulers>, OpenError> {
    match &options.schedulers {
        SchedulerChoice::Simulated { seed, count } => Ok(Schedulers::simulated(*seed, *count, statistics.clone())),
        SchedulerChoice::Threads { pin, .. } => {
            // Those that are not bound have a number in the place of a CPU.
            let numbered = placement.schedulers.iter().enumerate();
            let cpus = numbered.map(|(number, scheduler)| scheduler.cpu.unwrap_or(number)).collect();
            let pin = *pin && placement.is_bound();
            let memory_nodes = placement.near_schedulers();
            let budget = budget.cloned();
            let scheduler_options = SchedulerOptions { cpus, pin, memory_nodes, budget, ..SchedulerOptions::default() };
            let schedulers = Schedulers::start(scheduler_options, statistics.clone()).map_err(OpenError::Schedulers)?;
            let online: Vec<bool> = placement.schedulers.iter().map(|scheduler| scheduler.online).collect();
            // A mask of CPUs that this machine has not - the folder came from another one - is as none.
            if online.contains(&true) {
                schedulers.set_online(&online).map_err(OpenError::Schedulers)?;
            }
            Ok(schedulers)
        }
    }
}
