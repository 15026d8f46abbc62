//! What was done to a file and is not durable yet, and what a power failure makes of it.
//!
//! ```text
//!   durable image --- change --- change --- change --- = what the program reads
//!                 \________ pending, in order _______/
//! ```
//!
//! After a crash every sector holds one of the states it went through since it was last durable: for each sector a
//! last change is drawn, and that one and those before it are applied. Sectors are drawn independently within a torn
//! write and across writes, so a later write can be there while an earlier one is not.
//!
//! Lengths follow the journal: an explicit resize is there only with all resizes before it, and what was written
//! behind a cut that did not happen is not seen. The length to which writes extended the file is one of those it
//! had, whether or not their bytes arrived.

use std::collections::BTreeMap;
use std::ops::Range;

use super::image::{Content, Image};
use super::random::Random;
use crate::SECTOR;

/// One change of a file.
#[derive(Clone, Debug)]
enum Change {
    Write { offset: u64, content: Content },
    Resize { len: u64, before: u64 },
}

/// The changes of a file that are not durable, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending(Vec<Change>);

/// How kind a power failure is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mood {
    Nothing,
    Everything,
    /// In eighths: the part of the changes that survive whole, and the part of the others that are torn.
    Mixed {
        keep: u64,
        tear: u64,
    },
}

impl Mood {
    pub(super) fn draw(random: &mut Random) -> Self {
        match random.below(8) {
            0 => Self::Nothing,
            1 => Self::Everything,
            _ => Self::Mixed { keep: random.below(8), tear: random.below(9) },
        }
    }

    /// Whether something that cannot be torn survives.
    pub(super) fn keeps(self, random: &mut Random) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::Mixed { keep, .. } => random.below(8) < keep,
        }
    }

    /// The parts that survive of a write to the bytes `range`, cut at sector borders, ascending.
    pub(super) fn survivors(self, random: &mut Random, range: Range<u64>) -> Vec<Range<u64>> {
        if range.is_empty() {
            return Vec::new();
        }
        if self.keeps(random) {
            return vec![range];
        }
        let Self::Mixed { tear, .. } = self else { return Vec::new() };
        if random.below(8) >= tear {
            return Vec::new();
        }
        let sector = SECTOR as u64;
        let (first, last) = (range.start / sector, (range.end - 1) / sector);
        let cut = first + random.below(last - first + 1);
        let form = random.below(3);
        let kept = |number: &u64| match form {
            0 => *number < cut,
            1 => *number > cut,
            _ => random.coin(),
        };
        let bytes = |number| range.start.max(number * sector)..range.end.min((number + 1) * sector);
        (first..=last).filter(kept).map(bytes).collect()
    }
}

impl Pending {
    pub(super) fn write(&mut self, offset: u64, content: Content) {
        if content.len() > 0 {
            self.0.push(Change::Write { offset, content });
        }
    }

    /// Notes an explicit change of the length from `before` to `len`.
    pub(super) fn resize(&mut self, before: u64, len: u64) {
        self.0.push(Change::Resize { len, before });
    }

    /// Applies everything: the effect of a sync.
    pub(super) fn sync(&mut self, durable: &mut Image) {
        for change in self.0.drain(..) {
            match change {
                Change::Write { offset, content } => durable.write(offset, &content),
                Change::Resize { len, .. } => durable.set_len(len),
            }
        }
    }

    /// Applies one durable write, and the explicit resizes before it, which the journal commits with it. Other
    /// writes stay pending, without what they wrote to the same place before. The write covers whole sectors, or ends
    /// with the file.
    pub(super) fn write_durable(&mut self, durable: &mut Image, offset: u64, content: &Content) {
        let resizes = self.0.iter().filter(|change| matches!(change, Change::Resize { .. })).count();
        self.commit_resizes(durable, resizes);
        self.forget(offset..offset + content.len());
        durable.write(offset, content);
    }

    /// Applies the first `count` resizes. What older writes wrote behind a cut goes with it, and what they wrote to
    /// the sector of the cut is durable with it: the journal waits for that sector, whose rest becomes zeros.
    fn commit_resizes(&mut self, durable: &mut Image, count: usize) {
        let mut left = count;
        let mut kept = Self::default();
        for change in std::mem::take(&mut self.0) {
            match change {
                Change::Resize { len, before } if left > 0 => {
                    left -= 1;
                    if len < before {
                        let sector = floor_to_sector(len);
                        kept.settle(durable, sector..len);
                        kept.forget(sector..u64::MAX);
                    }
                    durable.set_len(len);
                }
                other => kept.0.push(other),
            }
        }
        *self = kept;
    }

    /// Applies what is pending for the bytes `range`.
    fn settle(&self, durable: &mut Image, range: Range<u64>) {
        for change in &self.0 {
            let Change::Write { offset, content } = change else { continue };
            let start = range.start.max(*offset);
            let end = range.end.min(offset + content.len());
            if start < end {
                durable.write(start, &content.slice(start - offset..end - offset));
            }
        }
    }

    /// Drops what is pending for the bytes `range`.
    fn forget(&mut self, range: Range<u64>) {
        let touches = |change: &Change| match change {
            Change::Write { offset, content } => *offset < range.end && offset + content.len() > range.start,
            Change::Resize { .. } => false,
        };
        if !self.0.iter().any(touches) {
            return;
        }
        for change in std::mem::take(&mut self.0) {
            match change {
                Change::Write { offset, content } => {
                    let end = offset + content.len();
                    let (before, behind) = (range.start.clamp(offset, end), range.end.clamp(offset, end));
                    self.write(offset, content.slice(0..before - offset));
                    self.write(behind, content.slice(behind - offset..end - offset));
                }
                resize => self.0.push(resize),
            }
        }
    }

    /// Applies what survives: the effect of a power failure, or of a failed sync.
    pub(super) fn crash(mut self, durable: &mut Image, random: &mut Random, mood: Mood) {
        if let Mood::Everything = mood {
            return self.sync(durable);
        }
        let resizes = self.0.iter().filter(|change| matches!(change, Change::Resize { .. })).count();
        let mut reached = 0;
        while reached < resizes && mood.keeps(random) {
            reached += 1;
        }
        self.commit_resizes(durable, reached);
        let len = self.draw_len(durable.len(), random, mood);
        let writes = self.into_writes();
        apply_survivors(durable, &writes, random, mood);
        durable.set_len(len);
    }

    /// One of the lengths that the writes before the first resize gave the file, which had `len` bytes; or one
    /// between two of them, as when a write is torn.
    fn draw_len(&self, len: u64, random: &mut Random, mood: Mood) -> u64 {
        let mut lens = vec![len];
        for change in &self.0 {
            let Change::Write { offset, content } = change else { break };
            let last = lens[lens.len() - 1];
            if offset + content.len() > last {
                lens.push(offset + content.len());
            }
        }
        if let Mood::Nothing = mood {
            return len;
        }
        let index = random.below(lens.len() as u64) as usize;
        let chosen = lens[index];
        if index == 0 || random.below(4) > 0 {
            return chosen;
        }
        let sectors = chosen.div_ceil(SECTOR as u64) - lens[index - 1].div_ceil(SECTOR as u64);
        let cut = random.below(sectors + 1) * SECTOR as u64;
        chosen.saturating_sub(cut).max(lens[index - 1])
    }

    /// The writes that can survive when none of the resizes left here happened: those behind such a resize only
    /// where it changed nothing.
    fn into_writes(self) -> Vec<(u64, Content)> {
        let mut bound = u64::MAX;
        let mut writes = Vec::new();
        for change in self.0 {
            match change {
                Change::Resize { len, before } => {
                    bound = bound.min(floor_to_sector(len.min(before)));
                }
                Change::Write { offset, content } => {
                    let len = bound.saturating_sub(offset).min(content.len());
                    if len > 0 {
                        writes.push((offset, content.slice(0..len)));
                    }
                }
            }
        }
        writes
    }
}

fn floor_to_sector(offset: u64) -> u64 {
    offset - offset % SECTOR as u64
}

/// Draws the last surviving write of each sector and applies the writes up to it there.
fn apply_survivors(durable: &mut Image, writes: &[(u64, Content)], random: &mut Random, mood: Mood) {
    let sector = SECTOR as u64;
    let mut last = BTreeMap::new();
    for (index, (offset, content)) in writes.iter().enumerate() {
        for part in mood.survivors(random, *offset..offset + content.len()) {
            for number in part.start / sector..part.end.div_ceil(sector) {
                last.insert(number, index);
            }
        }
    }
    for (index, (offset, content)) in writes.iter().enumerate() {
        let end = offset + content.len();
        for (number, _) in last.range(offset / sector..end.div_ceil(sector)).filter(|(_, survivor)| **survivor >= index)
        {
            let start = (*offset).max(number * sector);
            let stop = end.min((number + 1) * sector);
            durable.write(start, &content.slice(start - offset..stop - offset));
        }
    }
}
