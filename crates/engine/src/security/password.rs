//! Passwords: Argon2id, kept as PHC strings.

use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use pikepole_types::SqlError;

/// The longest password, in characters.
const PASSWORD_CHARACTERS_MAX: usize = 128;
const RANDOM_BYTES: usize = 16;

/// What it costs to hash a password, and so to guess one. The default is the least that OWASP recommends for Argon2id, some
/// 20 ms on a server's CPU; what was hashed with another cost is still verified with that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordCost {
    /// Memory, in KiB.
    pub memory_kib: u32,
    /// Passes over it.
    pub passes: u32,
}

impl Default for PasswordCost {
    fn default() -> Self {
        PasswordCost { memory_kib: 19 * 1024, passes: 2 }
    }
}

impl PasswordCost {
    /// The least that Argon2 takes: for tests, which hash often and have nothing to hide.
    pub const LEAST: PasswordCost = PasswordCost { memory_kib: Params::MIN_M_COST, passes: Params::MIN_T_COST };

    fn argon2(self) -> Result<Argon2<'static>, SqlError> {
        let params = Params::new(self.memory_kib, self.passes, 1, None).map_err(failed)?;
        Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
    }

    /// The PHC string of a password.
    ///
    /// # Errors
    /// 15117 for one that is too long; 15465 when the machine gives no random bytes or no memory.
    pub(crate) fn hash(self, password: &str) -> Result<String, SqlError> {
        if password.chars().count() > PASSWORD_CHARACTERS_MAX {
            return Err(SqlError::password_too_long());
        }
        let salt = random_bytes()?;
        let hash = self.argon2()?.hash_password_with_salt(password.as_bytes(), &salt).map_err(failed)?;
        Ok(hash.to_string())
    }
}

/// As many random bytes as a salt and a security id have.
///
/// # Errors
/// 15465 when the machine gives none.
pub(crate) fn random_bytes() -> Result<Vec<u8>, SqlError> {
    let mut bytes = vec![0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn failed(why: impl std::fmt::Display) -> SqlError {
    SqlError::new(15465, 16, 1, format!("The password could not be hashed: {why}."))
}

/// Whether `password` is the one that `hash` was made of. A hash that is none matches nothing.
pub(crate) fn is_password(password: &str, hash: &str) -> bool {
    Argon2::default().verify_password(password.as_bytes(), hash).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_matches_its_own_hash_only() {
        let hash = PasswordCost::LEAST.hash("Größe 1!").expect("it can be hashed");
        assert!(hash.starts_with("$argon2id$v=19$"), "{hash}");
        assert!(is_password("Größe 1!", &hash));
        for other in ["", "größe 1!", "Größe 1", "Größe 1! "] {
            assert!(!is_password(other, &hash), "{other:?}");
        }
        assert_ne!(PasswordCost::LEAST.hash("Größe 1!").ok(), Some(hash), "each has a salt of its own");
        assert!(!is_password("", "") && !is_password("x", "$argon2id$"));
    }

    #[test]
    fn too_long_a_password_is_refused() {
        let error = PasswordCost::LEAST.hash(&"x".repeat(129)).err().map(|error| error.number);
        assert_eq!(error, Some(15117));
    }
}
