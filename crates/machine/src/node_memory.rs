//! Which memory nodes the memory of threads comes from.

use std::io;

/// Words of a mask of nodes: 1024 nodes, as many as the kernel can be built for.
const MASK_WORDS: usize = 16;
const NODES_MAX: usize = MASK_WORDS * u64::BITS as usize;

/// Has all memory that the calling thread touches first from now on come from this node only; threads that it starts
/// later inherit that. Memory that is there already stays where it is.
///
/// # Errors
/// `InvalidInput` when there is no such node or it has no memory; `PermissionDenied` where the process may not ask.
pub fn bind(node: usize) -> io::Result<()> {
    if node >= NODES_MAX {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut mask = [0u64; MASK_WORDS];
    mask[node / u64::BITS as usize] = 1 << (node % u64::BITS as usize);
    set_policy(libc::MPOL_BIND, &mask)
}

/// The nodes, ascending, that the calling thread's memory is bound to; `None` when it is bound to none.
///
/// # Errors
/// What the kernel answers.
pub fn bound() -> io::Result<Option<Vec<usize>>> {
    let mut mode: libc::c_int = 0;
    let mut mask = [0u64; MASK_WORDS];
    // SAFETY: `mode` and `mask` live through the call, which writes one int and at most `NODES_MAX` bits; without a flag
    // the address is not looked at.
    let read = unsafe {
        libc::syscall(
            libc::SYS_get_mempolicy,
            &raw mut mode,
            mask.as_mut_ptr(),
            NODES_MAX as libc::c_ulong,
            std::ptr::null_mut::<libc::c_void>(),
            0 as libc::c_ulong,
        )
    };
    if read != 0 {
        return Err(io::Error::last_os_error());
    }
    let is_set = |node: &usize| mask[node / u64::BITS as usize] >> (node % u64::BITS as usize) & 1 == 1;
    Ok((mode == libc::MPOL_BIND).then(|| (0..NODES_MAX).filter(is_set).collect()))
}

fn set_policy(mode: libc::c_int, mask: &[u64; MASK_WORDS]) -> io::Result<()> {
    // SAFETY: `mask` has `NODES_MAX` bits and lives through the call, which only reads it.
    let set = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask.as_ptr(), NODES_MAX as libc::c_ulong) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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
