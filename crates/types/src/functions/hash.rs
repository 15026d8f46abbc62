//! HASHBYTES, CRYPT_GEN_RANDOM, and the hashes of passwords that PWDENCRYPT makes:
//!
//! ```text
//!   [ 02 00 | salt, 4 bytes | SHA-512 of the password's UTF-16 and the salt ]      01 00: SHA-1, of older versions
//! ```
//!
//! Logins' own passwords are not kept so.

use super::{Context, text, whole};
use crate::convert;
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha256, Sha512};

/// The algorithm is a text, the input text or bytes: any other value would have to be converted in a way that the caller chooses.
pub(super) fn hashbytes_type(types: &[SqlType]) -> Result<SqlType, SqlError> {
    for (ty, at) in types.iter().zip(1..) {
        let fits = *ty == SqlType::Null || ty.is_string() || (at == 2 && ty.is_binary());
        if !fits {
            return Err(SqlError::argument_type_invalid(ty.error_name(), at, "hashbytes"));
        }
    }
    Ok(SqlType::VarBinary(Length::Limit(8000)))
}

/// The hash of a text's bytes in its own encoding; NULL of an algorithm that there is not.
pub(super) fn hashbytes(_: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    let bytes = convert::convert(&values[1], &types[1], &SqlType::VarBinary(Length::Max), None)?;
    let (Some(algorithm), Value::Bin(bytes)) = (values[0].as_str(), &bytes) else {
        return Ok(Value::Null);
    };
    let hash = match algorithm.to_ascii_uppercase().as_str() {
        "MD5" => Md5::digest(bytes).to_vec(),
        "SHA" | "SHA1" => Sha1::digest(bytes).to_vec(),
        "SHA2_256" => Sha256::digest(bytes).to_vec(),
        "SHA2_512" => Sha512::digest(bytes).to_vec(),
        name @ ("MD2" | "MD4") => {
            let text = format!("The algorithm {name} of HASHBYTES is not supported in this version of Pikepole.");
            return Err(SqlError::new(40517, 16, 1, text));
        }
        _ => return Ok(Value::Null),
    };
    Ok(Value::Bin(hash))
}

pub(super) fn random_type(_: &[SqlType]) -> Result<SqlType, SqlError> {
    Ok(SqlType::VarBinary(Length::Limit(8000)))
}

/// So many bytes from the machine's source of keys; NULL of a length that the result cannot have. A seed adds nothing to that source.
pub(super) fn crypt_gen_random(_: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    if values[0].is_null() {
        return Ok(Value::Null);
    }
    let length = usize::try_from(whole(values, types, 0)?).unwrap_or(0);
    if !(1..=8000).contains(&length) {
        return Ok(Value::Null);
    }
    let mut bytes = vec![0; length];
    let failed = |why| SqlError::new(15465, 16, 1, format!("The machine gives no random bytes: {why}."));
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(Value::Bin(bytes))
}

/// What a hash of PWDENCRYPT begins with, and the length of its salt.
const SHA512_HASH: [u8; 2] = [2, 0];
const SHA1_HASH: [u8; 2] = [1, 0];
const SALT_BYTES: usize = 4;

pub(super) fn pwdencrypt_type(_: &[SqlType]) -> Result<SqlType, SqlError> {
    Ok(SqlType::VarBinary(Length::Limit(128)))
}

/// A password's UTF-16 and a salt.
fn salted(password: &str, salt: &[u8]) -> Vec<u8> {
    password.encode_utf16().flat_map(u16::to_le_bytes).chain(salt.iter().copied()).collect()
}

pub(super) fn pwdencrypt(context: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    if values[0].is_null() {
        return Ok(Value::Null);
    }
    let password = text(context, values, types, 0)?;
    let mut salt = [0; SALT_BYTES];
    let failed = |why| SqlError::new(15465, 16, 1, format!("The machine gives no random bytes: {why}."));
    getrandom::fill(&mut salt).map_err(failed)?;
    let hash = Sha512::digest(salted(&password, &salt));
    Ok(Value::Bin([&SHA512_HASH[..], &salt[..], &hash[..]].concat()))
}

/// 1 when the hash is one of the password, else 0.
pub(super) fn pwdcompare(context: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    let password = text(context, values, types, 0)?;
    let hash = convert::convert(&values[1], &types[1], &SqlType::VarBinary(Length::Max), None)?;
    let Value::Bin(bytes) = &hash else { return Ok(Value::Int(0)) };
    let is_it = bytes.split_first_chunk::<2>().and_then(|(kind, rest)| {
        let (salt, hash) = rest.split_at_checked(SALT_BYTES)?;
        let salted = salted(&password, salt);
        Some(match *kind {
            SHA512_HASH => hash == &Sha512::digest(&salted)[..],
            // A second hash, of the upper case, may follow.
            SHA1_HASH => hash.starts_with(&Sha1::digest(&salted)[..]),
            _ => false,
        })
    });
    Ok(Value::Int(is_it.unwrap_or(false).into()))
}
