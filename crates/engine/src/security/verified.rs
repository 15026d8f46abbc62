//! Passwords that were looked at lately: a login that comes again costs microseconds, and so does a wrong password that is
//! tried again and again.
//!
//! No password is kept but a tag: BLAKE2b over the login's id, its stored hash and the password, with a key that is drawn when
//! the process starts; it is never written down. The stored hash has a random salt, so a changed password, or another login under
//! the old id, has other tags: an entry that is not dropped in time is worthless. Whether the login is disabled is asked of the
//! catalog each time. Without the key a tag says nothing; a program that can read the key out of the process's memory can read
//! passwords on their way as well.

use std::collections::{HashMap, HashSet, VecDeque};

use blake2::Blake2bMac;
use blake2::digest::consts::U32;
use blake2::digest::{KeyInit, Mac};
use pikepole_contention::sync::{Mutex, OnceLock};

use super::password::random_bytes;

/// Right passwords kept: one for each login.
const RIGHT_MAX: usize = 4_096;
/// Wrong passwords kept; the oldest goes first.
const WRONG_MAX: usize = 4_096;

type Tag = [u8; 32];

/// What is known of a password without hashing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Right,
    Wrong,
}

#[derive(Default)]
struct Tags {
    right: HashMap<i32, Tag>,
    wrong: HashSet<Tag>,
    /// Those of `wrong`, the oldest first.
    order: VecDeque<Tag>,
}

/// The passwords that were looked at.
#[derive(Default)]
pub(super) struct VerifiedPasswords {
    /// None when the machine gives no random bytes: then nothing is kept.
    key: OnceLock<Option<Vec<u8>>>,
    tags: Mutex<Tags>,
}

impl VerifiedPasswords {
    fn mac(&self, id: i32, hash: &str, password: &str) -> Option<Blake2bMac<U32>> {
        let key = self.key.get_or_init(|| {
            let (first, second) = (random_bytes().ok()?, random_bytes().ok()?);
            Some([first, second].concat())
        });
        let mut mac = Blake2bMac::new_from_slice(key.as_ref()?).ok()?;
        mac.update(&id.to_le_bytes());
        // A PHC string has no zero byte: the two parts cannot be taken for others.
        mac.update(hash.as_bytes());
        mac.update(&[0]);
        mac.update(password.as_bytes());
        Some(mac)
    }

    fn tags(&self) -> pikepole_contention::sync::MutexGuard<'_, Tags> {
        self.tags.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// What is known of the password of the login `id`, whose stored hash is `hash`.
    pub fn known(&self, id: i32, hash: &str, password: &str) -> Option<Known> {
        let mac = self.mac(id, hash, password)?;
        let right = self.tags().right.get(&id).copied();
        // Compares in constant time.
        if right.is_some_and(|right| mac.clone().verify_slice(&right).is_ok()) {
            return Some(Known::Right);
        }
        let tag: Tag = mac.finalize().into_bytes().into();
        self.tags().wrong.contains(&tag).then_some(Known::Wrong)
    }

    /// Drops the right password of a login that is altered or dropped.
    pub fn forget(&self, id: i32) {
        self.tags().right.remove(&id);
    }

    /// Keeps what a hash has shown.
    pub fn keep(&self, id: i32, hash: &str, password: &str, is_right: bool) {
        let Some(mac) = self.mac(id, hash, password) else { return };
        let tag: Tag = mac.finalize().into_bytes().into();
        let mut tags = self.tags();
        if is_right {
            if tags.right.len() >= RIGHT_MAX && !tags.right.contains_key(&id) {
                let other = tags.right.keys().next().copied();
                other.map(|other| tags.right.remove(&other));
            }
            tags.right.insert(id, tag);
        } else if tags.wrong.insert(tag) {
            tags.order.push_back(tag);
            if tags.order.len() > WRONG_MAX {
                let oldest = tags.order.pop_front();
                oldest.map(|oldest| tags.wrong.remove(&oldest));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_for_its_login_and_hash_only() {
        let verified = VerifiedPasswords::default();
        assert_eq!(verified.known(7, "hash", "right"), None);
        verified.keep(7, "hash", "right", true);
        verified.keep(7, "hash", "wrong", false);
        assert_eq!(verified.known(7, "hash", "right"), Some(Known::Right));
        assert_eq!(verified.known(7, "hash", "wrong"), Some(Known::Wrong));
        assert_eq!(verified.known(7, "hash", "other"), None);
        assert_eq!(verified.known(8, "hash", "right"), None, "another login");
        assert_eq!(verified.known(8, "hash", "wrong"), None, "nor is it known to be wrong there");
        assert_eq!(verified.known(7, "changed", "right"), None, "the password was changed");
        assert_eq!(verified.known(7, "changed", "wrong"), None, "and may be what was wrong before");
        let another_process = VerifiedPasswords::default();
        another_process.keep(7, "hash", "right", true);
        let tag = |verified: &VerifiedPasswords| verified.tags().right[&7];
        assert_ne!(tag(&verified), tag(&another_process));
        verified.forget(7);
        assert_eq!(verified.known(7, "hash", "right"), None);
        assert_eq!(verified.known(7, "hash", "wrong"), Some(Known::Wrong), "a wrong one stays wrong for this hash");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let verified = VerifiedPasswords::default();
        for number in 0..WRONG_MAX + 100 {
            verified.keep(7, "hash", &number.to_string(), false);
            verified.keep(number as i32, "hash", "x", true);
        }
        let tags = verified.tags();
        assert_eq!((tags.right.len(), tags.wrong.len(), tags.order.len()), (RIGHT_MAX, WRONG_MAX, WRONG_MAX));
    }
}
