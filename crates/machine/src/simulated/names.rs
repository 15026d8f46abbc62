//! Folders and names, and what a power failure makes of changes to them.
//!
//! A folder is a map from names to inodes. A change gives new inodes (or none) to one name, or to two at once when it
//! is a rename; it is pending until one of its folders is synced. A pending change is durable or lost as a whole, and
//! never survives an earlier one of the same name.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path};

use super::pending::Mood;
use super::random::Random;

/// A file or a folder, by its index in the disk's list.
pub(super) type InodeId = usize;

/// The folder that is always there.
pub(super) const ROOT: InodeId = 0;

/// The names in a folder, now and after a power failure that loses all that is pending.
#[derive(Clone, Debug, Default)]
pub(super) struct Folder {
    pub(super) live: BTreeMap<String, InodeId>,
    pub(super) durable: BTreeMap<String, InodeId>,
}

/// A name: its folder, and itself.
pub(super) type Place = (InodeId, String);

/// One change: what each of these names leads to after it.
#[derive(Clone, Debug)]
pub(super) struct NameChange(pub(super) Vec<(Place, Option<InodeId>)>);

impl NameChange {
    fn touches(&self, places: &BTreeSet<Place>) -> bool {
        self.0.iter().any(|(place, _)| places.contains(place))
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        self.0.iter().map(|(place, _)| place.clone())
    }
}

/// Takes out of `pending` what a sync of `folder` makes durable: its changes, and those that they build on.
pub(super) fn take_synced(pending: &mut Vec<NameChange>, folder: InodeId) -> Vec<NameChange> {
    let mut needed = BTreeSet::new();
    let mut synced = Vec::new();
    let mut kept = Vec::new();
    for change in pending.drain(..).rev() {
        if change.0.iter().any(|((of, _), _)| *of == folder) || change.touches(&needed) {
            needed.extend(change.places());
            synced.push(change);
        } else {
            kept.push(change);
        }
    }
    kept.reverse();
    synced.reverse();
    *pending = kept;
    synced
}

/// The changes that survive: a seeded part, without those that build on a lost one.
pub(super) fn survivors(pending: Vec<NameChange>, random: &mut Random, mood: Mood) -> Vec<NameChange> {
    let mut lost = BTreeSet::new();
    let mut kept = Vec::new();
    for change in pending {
        if mood.keeps(random) && !change.touches(&lost) {
            kept.push(change);
        } else {
            lost.extend(change.places());
        }
    }
    kept
}

/// The names along `path` from the root, with `.` and `..` worked out.
pub(super) fn split(path: &Path) -> io::Result<Vec<&str>> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => {
                names.push(name.to_str().ok_or(io::ErrorKind::InvalidFilename)?);
            }
            Component::ParentDir => {
                names.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Ok(names)
}
