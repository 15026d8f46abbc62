//! Taking a profile: a thread that follows the process's threads, and unwinds and counts their samples.

use super::area;
use super::modules::{Function, Modules};
use super::names::{self, Frame};
use super::{Counts, Profile, words};
use crate::load::CpuUse;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Arc, Mutex, thread};
use pikepole_machine::sampler::{Sampler, thread_cpu_time};
use std::collections::HashMap;
use std::io;
use std::time::Duration;

/// CPU time of a thread between two of its samples; the kernel's tick may be longer.
const EVERY: Duration = Duration::from_millis(1);
/// How often samples are fetched.
const FETCH: Duration = Duration::from_millis(20);
/// New threads are looked for at so many fetches.
const FOLLOW_FETCHES: u32 = 4;

/// A stack of addresses, the innermost first, and whether it was in a system call.
type Key = (Vec<u64>, bool);

/// What knows the program's functions; shared by all profiles of a command, so that it is read once.
#[derive(Clone, Default)]
pub struct Profiler {
    known: Arc<Mutex<Option<Known>>>,
}

impl std::fmt::Debug for Profiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Profiler")
    }
}

/// Modules, and the functions of addresses that were looked up.
struct Known {
    modules: Modules,
    functions: HashMap<u64, Vec<Function>>,
}

/// A profile that is being taken.
pub struct Running {
    profiler: Profiler,
    stop: Arc<AtomicBool>,
    collector: thread::JoinHandle<io::Result<Collected>>,
    cpu: CpuUse,
}

/// A profile that was taken, by addresses.
pub struct Taken {
    profiler: Profiler,
    collected: Collected,
    cpu_seconds: f64,
}

struct Collected {
    known: Known,
    stacks: HashMap<Key, u64>,
    lost: u64,
    cut: u64,
    cpu_time: Duration,
}

impl Profiler {
    /// One that has read nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a profile of this process.
    ///
    /// # Errors
    /// `WouldBlock` when one is being taken; `Unsupported` on other processors than x86-64; what the system says.
    pub fn start(&self) -> io::Result<Running> {
        let mut sampler = Sampler::start(EVERY)?;
        let known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let known = match known {
            Some(known) => known,
            None => Known { modules: Modules::loaded()?, functions: HashMap::new() },
        };
        sampler.follow()?;
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let collect = move || collect(sampler, known, &asked);
        let collector = thread::Builder::new().name("profiler".to_owned()).spawn(collect)?;
        Ok(Running { profiler: self.clone(), stop, collector, cpu: CpuUse::now() })
    }
}

impl Running {
    /// Ends the profile; what it has seen has no names yet.
    ///
    /// # Errors
    /// What the system said while it was taken.
    pub fn stop(self) -> io::Result<Taken> {
        let cpu_seconds = self.cpu.spent().own_seconds;
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.collector.join().map_err(|_| io::Error::other("the profiler's thread ended unexpectedly"))?;
        Ok(Taken { profiler: self.profiler, collected: ended?, cpu_seconds })
    }
}

impl Taken {
    /// Looks up the functions. This takes a while when it is the first one.
    pub fn named(self) -> Profile {
        let Taken { profiler, mut collected, cpu_seconds } = self;
        let mut profile = Profile {
            lost: collected.lost,
            cut: collected.cut,
            collector_seconds: collected.cpu_time.as_secs_f64(),
            cpu_seconds,
            ..Profile::default()
        };
        let mut counts = Counts::default();
        for ((addresses, in_call), samples) in &collected.stacks {
            collected.known.learn(addresses);
            let mut frames = collected.known.frames(addresses);
            let area = area::of_stack(&frames, *in_call);
            *profile.areas.entry(area.name().to_owned()).or_default() += samples;
            profile.samples += samples;
            let words = words::of_stack(&frames);
            if let Some(first) = frames.first_mut() {
                if let Some(words) = words {
                    words.clone_into(&mut first.name);
                }
                if *in_call {
                    first.name.push_str(area::KERNEL);
                }
            }
            counts.add(frames.iter().map(|frame| frame.name.as_str()), *samples);
        }
        (profile.functions, profile.stacks) = counts.done();
        *profiler.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(collected.known);
        profile
    }
}

impl Known {
    fn learn(&mut self, addresses: &[u64]) {
        for address in addresses {
            if !self.functions.contains_key(address) {
                self.functions.insert(*address, self.modules.functions(*address));
            }
        }
    }

    fn frames(&self, addresses: &[u64]) -> Vec<Frame> {
        names::frames(addresses.iter().filter_map(|address| self.functions.get(address)).flatten())
    }
}

fn collect(mut sampler: Sampler, mut known: Known, stop: &AtomicBool) -> io::Result<Collected> {
    let begun = thread_cpu_time();
    let mut stacks: HashMap<Key, u64> = HashMap::new();
    let mut addresses = Vec::new();
    let (mut fetches, mut cut) = (0_u32, 0_u64);
    loop {
        let is_last = stop.load(Ordering::Relaxed);
        if fetches.is_multiple_of(FOLLOW_FETCHES) {
            sampler.follow()?;
        }
        fetches = fetches.wrapping_add(1);
        sampler.take(|sample| {
            addresses.clear();
            cut += u64::from(known.modules.unwind(sample, &mut addresses));
            let key = (std::mem::take(&mut addresses), sample.in_call);
            *stacks.entry(key).or_default() += 1;
        });
        if is_last {
            break;
        }
        thread::sleep(FETCH);
    }
    let cpu_time = thread_cpu_time().saturating_sub(begun);
    Ok(Collected { known, stacks, lost: sampler.lost(), cut, cpu_time })
}
