//! The profiler: which functions this process spends its CPU time in, and on whose behalf.
//!
//! ```text
//!   machine::sampler ── registers, stack ──▶ collector thread: unwound at once, counted by addresses
//!                                                 │ at the end of the run
//!                                                 ▼
//!   addresses ── names (line tables, symbols) ──▶ Profile: stacks of functions, areas ──▶ flame graph, inverted tree, tables
//! ```
//! - Samples are of CPU time: a thread that waits is in none.
//! - A sample's *area* is that of its innermost function which has one (`area`), so what the language's or the C library does
//!   counts for who called it. System calls are an area of their own, but for those of files and back-offs.
//! - Functions that the compiler has put into their callers are told apart by the line tables; without those (a build with
//!   `debug = 0`) they count for the function they were put into.

mod area;
mod collector;
mod flame;
mod html;
mod modules;
mod names;
mod tree;
mod words;

pub use area::Area;
pub use collector::{Profiler, Running, Taken};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The inverted tree in text shows what has this part of the samples at least, to a depth.
const TEXT_PERCENT_LEAST: f64 = 1.0;
const TEXT_DEPTH_MOST: usize = 12;

/// Where the CPU time of a run, or of several, went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Samples taken.
    pub samples: u64,
    /// Samples that were due and found no room.
    pub lost: u64,
    /// Samples whose stack was longer than what is copied of one: their outermost callers are not known.
    #[serde(default)]
    pub cut: u64,
    /// CPU seconds of the thread that collected them: what profiling cost beside the signals themselves.
    pub collector_seconds: f64,
    /// CPU seconds of the process meanwhile.
    pub cpu_seconds: f64,
    /// Samples by area.
    pub areas: BTreeMap<String, u64>,
    /// Names of functions.
    pub functions: Vec<String>,
    /// The stacks seen.
    pub stacks: Vec<Stack>,
}

/// A stack that was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Places of its functions' names, the innermost first.
    pub frames: Vec<u32>,
    /// How often.
    pub samples: u64,
}

/// A function's share of the samples.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionShare<'a> {
    /// Its path.
    pub name: &'a str,
    /// Percent of the samples that it ran in.
    pub own: f64,
    /// Percent of the samples that it, or what it called, ran in.
    pub total: f64,
}

impl Profile {
    fn name(&self, function: Option<u32>) -> &str {
        function.and_then(|place| self.functions.get(place as usize)).map_or("all", String::as_str)
    }

    /// Percent of the samples in an area; 0 without a sample.
    pub fn share(&self, area: Area) -> f64 {
        percent(self.areas.get(area.name()).copied().unwrap_or(0), self.samples)
    }

    /// The functions, those that ran most first.
    pub fn shares(&self) -> Vec<FunctionShare<'_>> {
        let mut counts = vec![(0_u64, 0_u64); self.functions.len()];
        for stack in &self.stacks {
            if let Some(own) = stack.frames.first().and_then(|place| counts.get_mut(*place as usize)) {
                own.0 += stack.samples;
            }
            // A function that is in a stack twice counts once.
            let mut places = stack.frames.clone();
            places.sort_unstable();
            places.dedup();
            for place in places {
                if let Some(total) = counts.get_mut(place as usize) {
                    total.1 += stack.samples;
                }
            }
        }
        let mut shares: Vec<FunctionShare<'_>> = (self.functions.iter().zip(counts))
            .map(|(name, (own, total))| FunctionShare {
                name,
                own: percent(own, self.samples),
                total: percent(total, self.samples),
            })
            .collect();
        shares.sort_by(|a, b| b.own.total_cmp(&a.own).then(b.total.total_cmp(&a.total)));
        shares
    }

    /// Adds another profile's samples.
    pub fn add(&mut self, other: &Profile) {
        self.samples += other.samples;
        self.lost += other.lost;
        self.cut += other.cut;
        self.collector_seconds += other.collector_seconds;
        self.cpu_seconds += other.cpu_seconds;
        for (area, samples) in &other.areas {
            *self.areas.entry(area.clone()).or_default() += samples;
        }
        let mut counts = Counts::of(std::mem::take(&mut self.functions), std::mem::take(&mut self.stacks));
        for stack in &other.stacks {
            let names = stack.frames.iter().map(|place| other.name(Some(*place)));
            counts.add(names, stack.samples);
        }
        (self.functions, self.stacks) = counts.done();
    }

    /// The shares by area in one line, the largest first.
    pub fn area_line(&self) -> String {
        let mut areas: Vec<(f64, &str)> = Area::ALL.map(|area| (self.share(area), area.name())).to_vec();
        areas.retain(|(share, _)| *share > 0.0);
        areas.sort_by(|a, b| b.0.total_cmp(&a.0));
        areas.iter().map(|(share, name)| format!("{name} {share:.1}%")).collect::<Vec<_>>().join(", ")
    }

    /// Shares by area and function, and the inverted call tree, as text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\nshare by area\n", self.words());
        for area in Area::ALL.into_iter().filter(|area| self.areas.contains_key(area.name())) {
            // Writing to a string cannot fail; so everywhere below.
            let _ = writeln!(text, "{:6.2}%  {}", self.share(area), area.name());
        }
        text.push_str("\nshare by function: itself, and with what it called\n");
        for share in self.shares().iter().take_while(|share| share.own >= TEXT_PERCENT_LEAST) {
            let _ = writeln!(text, "{:6.2}% {:6.2}%  {}", share.own, share.total, share.name);
        }
        text.push_str("\ninverted call tree: what ran, and below it who called it\n");
        text.push_str(&tree::text(self, TEXT_PERCENT_LEAST, TEXT_DEPTH_MOST));
        text
    }

    /// The flame graph as a file of its own.
    pub fn flame_file(&self, title: &str) -> String {
        flame::file(self, title)
    }

    /// Shares, flame graph and inverted tree as a part of a page that has [`styles`] and [`script`].
    pub fn html(&self, title: &str) -> String {
        html::part(self, title)
    }

    /// How it was taken, in words.
    pub fn words(&self) -> String {
        let lost = if self.lost == 0 { String::new() } else { format!(", {} more found no room", self.lost) };
        let cut = if self.cut == 0 {
            String::new()
        } else {
            format!(", {} stacks were too long to be copied whole", self.cut)
        };
        format!(
            "{} samples of {:.1} s of CPU time{lost}{cut}; unwinding them took {:.0} ms ({:.2}%)",
            crate::show::grouped(self.samples),
            self.cpu_seconds,
            self.collector_seconds * 1e3,
            100.0 * self.collector_seconds / self.cpu_seconds.max(1e-9)
        )
    }
}

fn percent(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { 100.0 * part as f64 / of as f64 }
}

/// The styles of a page with profiles.
pub fn styles() -> &'static str {
    concat!(include_str!("flame.css"), include_str!("tree.css"))
}

/// The script of a page with profiles: a click on a function of a flame graph widens it.
pub fn script() -> &'static str {
    include_str!("flame.js")
}

/// Stacks by the names of their functions.
#[derive(Default)]
struct Counts {
    names: BTreeMap<String, u32>,
    stacks: BTreeMap<Vec<u32>, u64>,
}

impl Counts {
    fn of(functions: Vec<String>, stacks: Vec<Stack>) -> Self {
        let names = functions.into_iter().zip(0..).collect();
        Self { names, stacks: stacks.into_iter().map(|stack| (stack.frames, stack.samples)).collect() }
    }

    fn add<'a>(&mut self, names: impl Iterator<Item = &'a str>, samples: u64) {
        let mut frames = Vec::new();
        for name in names {
            let next = self.names.len() as u32;
            frames.push(match self.names.get(name) {
                Some(place) => *place,
                None => *self.names.entry(name.to_owned()).or_insert(next),
            });
        }
        *self.stacks.entry(frames).or_default() += samples;
    }

    fn done(self) -> (Vec<String>, Vec<Stack>) {
        let mut functions = vec![String::new(); self.names.len()];
        for (name, place) in self.names {
            functions[place as usize] = name;
        }
        let stacks = self.stacks.into_iter().map(|(frames, samples)| Stack { frames, samples });
        (functions, stacks.collect())
    }
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
