//! Which memory nodes memory comes from: that of threads, and that of parts of a mapping.
//!
//! | call | memory | the kernel's policy |
//! |---|---|---|
//! | [`bind`] | what the calling thread and those it starts touch first | `MPOL_BIND`: this node or none |
//! | `prefer` | a part of a mapping, whoever touches it first | `MPOL_PREFERRED`: this node while it has memory, else the next |
//!
//! A server that is given one node of several is bound, since its neighbours count on theirs. Within a server a part of a pool
//! is better in the wrong place than not there.
//!
//! Besides, each thread knows which node it is [near], if whoever placed it has said so.

use crate::system_files::list_text;
use std::cell::Cell;
use std::fmt;
use std::io;
use std::ops::Range;

/// Words of a mask of nodes: 1024 nodes, as many as the kernel can be built for.
const MASK_WORDS: usize = 16;
const NODES_MAX: usize = MASK_WORDS * u64::BITS as usize;

thread_local! {
    static NEAR: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The memory node that the calling thread runs near to, as [`set_near`] was told.
#[inline]
pub fn near() -> Option<usize> {
    NEAR.get()
}

/// Notes the memory node that the calling thread runs near to; for who has placed it.
pub fn set_near(node: Option<usize>) {
    NEAR.set(node);
}

/// Has all memory that the calling thread touches first from now on come from this node only; threads that it starts
/// later inherit that. Memory that is there already stays where it is.
///
/// # Errors
/// `InvalidInput` when there is no such node or it has no memory; `PermissionDenied` where the process may not ask.
pub fn bind(node: usize) -> io::Result<()> {
    set_policy(libc::MPOL_BIND, &mask_of(node)?)
}

/// Has the memory at these addresses, of which nothing was touched yet, come from this node as long as it has some.
///
/// # Errors
/// `InvalidInput` when there is no such node; what the kernel answers otherwise.
pub(crate) fn prefer(addresses: Range<usize>, node: usize) -> io::Result<()> {
    let mask = mask_of(node)?;
    // SAFETY: `mask` has `NODES_MAX` bits and lives through the call, which only reads it. Nothing moves and no content changes: the
    // policy is for memory that comes later, and addresses where nothing is mapped are an error.
    let set = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            addresses.start,
            addresses.len(),
            libc::MPOL_PREFERRED,
            mask.as_ptr(),
            NODES_MAX as libc::c_ulong,
            0 as libc::c_uint,
        )
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn mask_of(node: usize) -> io::Result<[u64; MASK_WORDS]> {
    if node >= NODES_MAX {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut mask = [0u64; MASK_WORDS];
    mask[node / u64::BITS as usize] = 1 << (node % u64::BITS as usize);
    Ok(mask)
}

/// The nodes, ascending, that the calling thread's memory is bound to; `None` when it is bound to none.
///
/// # Errors
/// What the kernel answers.
pub fn bound() -> io::Result<Option<Vec<usize>>> {
    policy(0, 0, libc::MPOL_BIND)
}

/// The nodes, ascending, of the calling thread's policy, or with `MPOL_F_ADDR` of the address's, if that is of kind `wanted`.
fn policy(address: usize, flags: libc::c_int, wanted: libc::c_int) -> io::Result<Option<Vec<usize>>> {
    let mut mode: libc::c_int = 0;
    let mut mask = [0u64; MASK_WORDS];
    // SAFETY: `mode` and `mask` live through the call, which writes one int and at most `NODES_MAX` bits; the address is looked up
    // among the mappings at most, and an error where there is none.
    let read = unsafe {
        libc::syscall(
            libc::SYS_get_mempolicy,
            &raw mut mode,
            mask.as_mut_ptr(),
            NODES_MAX as libc::c_ulong,
            address,
            flags as libc::c_ulong,
        )
    };
    if read != 0 {
        return Err(io::Error::last_os_error());
    }
    let is_set = |node: &usize| mask[node / u64::BITS as usize] >> (node % u64::BITS as usize) & 1 == 1;
    Ok((mode == wanted).then(|| (0..NODES_MAX).filter(is_set).collect()))
}

/// Which memory nodes a piece of memory comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NodeGrant {
    /// From the one of whoever touches it first.
    #[default]
    FirstTouch,
    /// From these, a part each, while they have memory.
    Parts(Vec<usize>),
    /// As `FirstTouch`, though it was to be otherwise: why not.
    Refused(String),
}

impl NodeGrant {
    /// What became of the wish for these nodes.
    pub(crate) fn of(nodes: impl Iterator<Item = usize>, placed: io::Result<()>) -> Self {
        let nodes: Vec<usize> = nodes.collect();
        match placed {
            Err(error) => Self::Refused(format!("memory of {} was refused: {error}", NodeNames(&nodes))),
            Ok(()) if nodes.is_empty() => Self::FirstTouch,
            Ok(()) => Self::Parts(nodes),
        }
    }
}

struct NodeNames<'a>(&'a [usize]);

impl fmt::Display for NodeNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.0.len() == 1 { "node" } else { "nodes" }, list_text(self.0))
    }
}

/// What follows the description of memory: `, of nodes 0-1`, or why not; nothing where nobody asked.
impl fmt::Display for NodeGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstTouch => Ok(()),
            Self::Parts(nodes) => write!(f, ", of {}", NodeNames(nodes)),
            Self::Refused(why) => write!(f, "; {why}"),
        }
    }
}

fn set_policy(mode: libc::c_int, mask: &[u64; MASK_WORDS]) -> io::Result<()> {
    // SAFETY: `mask` has `NODES_MAX` bits and lives through the call, which only reads it.
    let set = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask.as_ptr(), NODES_MAX as libc::c_ulong) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The nodes that memory at an address is to come from, if somebody has said so.
///
/// # Errors
/// What the kernel answers.
#[cfg(test)]
pub(crate) fn preferred_at(address: usize) -> io::Result<Option<Vec<usize>>> {
    /// `MPOL_F_ADDR` of the kernel's `mempolicy.h`.
    const OF_ADDRESS: libc::c_int = 1 << 1;
    policy(address, OF_ADDRESS, libc::MPOL_PREFERRED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SystemFiles, Topology};
    use pikepole_contention::sync::thread;

    #[test]
    fn a_thread_and_those_it_starts_are_bound() {
        let nodes = Topology::of(&SystemFiles::below("/")).expect("a machine").nodes();
        let node = nodes[nodes.len() - 1];
        // On a thread of its own: the test harness's is not ours to bind.
        thread::scope(|scope| {
            scope.spawn(|| {
                if let Err(error) = bind(node) {
                    // Containers may forbid the call.
                    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
                    return;
                }
                assert_eq!(bound().expect("a policy"), Some(vec![node]));
                thread::scope(|other| {
                    other.spawn(|| assert_eq!(bound().expect("a policy"), Some(vec![node])));
                });
                let refused = bind(NODES_MAX - 1).expect_err("no such node").kind();
                assert_eq!(refused, io::ErrorKind::InvalidInput);
                assert_eq!(bound().expect("a policy"), Some(vec![node]), "a refusal changes nothing");
            });
        });
        assert_eq!(bind(usize::MAX).expect_err("refused").kind(), io::ErrorKind::InvalidInput);
    }
}
