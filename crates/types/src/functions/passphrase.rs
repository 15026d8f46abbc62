//! ENCRYPTBYPASSPHRASE and DECRYPTBYPASSPHRASE, in the form that SQL Server has since version 2017:
//!
//! ```text
//!   [ 02 00 00 00 | IV, 16 bytes | AES-256 in CBC of: 0D F0 AD BA | u16 bytes of a hash, u16 of the text | hash | text | padding ]
//! ```
//!
//! The key is the SHA-256 of the passphrase's UTF-16. The hash is there if an authenticator was given: the SHA-1 of the text and of that.
//! What older versions encrypted, by another cipher, is not decrypted.

use super::{Context, text, whole};
use crate::convert;
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use aes::Aes256;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use sha1::{Digest, Sha1};
use sha2::Sha256;

const VERSION: [u8; 4] = [2, 0, 0, 0];
const MAGIC: [u8; 4] = [0x0D, 0xF0, 0xAD, 0xBA];
const BLOCK_BYTES: usize = 16;
const HEADER_BYTES: usize = MAGIC.len() + 4;
const HASH_BYTES: usize = 20;
/// Bytes of the text, and of the result.
const BYTES_MAX: usize = 8000;

pub(super) fn encrypt_type(types: &[SqlType]) -> Result<SqlType, SqlError> {
    passphrase_type(types, "EncryptByPassPhrase")
}

pub(super) fn decrypt_type(types: &[SqlType]) -> Result<SqlType, SqlError> {
    passphrase_type(types, "DecryptByPassPhrase")
}

fn passphrase_type(types: &[SqlType], function: &str) -> Result<SqlType, SqlError> {
    for (ty, at) in types.iter().zip(1..) {
        let fits = match at {
            3 => ty.is_number(),
            2 => ty.is_string() || ty.is_binary(),
            _ => ty.is_string(),
        };
        if !fits && *ty != SqlType::Null {
            return Err(SqlError::argument_type_invalid(ty.error_name(), at, function));
        }
    }
    Ok(SqlType::VarBinary(Length::Limit(BYTES_MAX as u16)))
}

/// The cipher of a passphrase.
fn cipher(passphrase: &str) -> Aes256 {
    let units: Vec<u8> = passphrase.encode_utf16().flat_map(u16::to_le_bytes).collect();
    Aes256::new(&Sha256::digest(units))
}

/// The bytes of an argument.
fn bytes_of(values: &[Value], types: &[SqlType], at: usize) -> Result<Vec<u8>, SqlError> {
    match convert::convert(&values[at], &types[at], &SqlType::VarBinary(Length::Max), None)? {
        Value::Bin(bytes) => Ok(bytes),
        _ => Ok(Vec::new()),
    }
}

/// The authenticator, if the third argument says that there is one; None: it is NULL.
fn authenticator(context: &Context, values: &[Value], types: &[SqlType]) -> Result<Option<Option<String>>, SqlError> {
    if values.get(2).is_none_or(Value::is_null) || whole(values, types, 2)? == 0 {
        return Ok(Some(None));
    }
    match values.get(3) {
        Some(given) if !given.is_null() => Ok(Some(Some(text(context, values, types, 3)?.into_owned()))),
        _ => Ok(None),
    }
}

fn hash_of(text: &[u8], authenticator: &str) -> Vec<u8> {
    let units: Vec<u8> = authenticator.encode_utf16().flat_map(u16::to_le_bytes).collect();
    Sha1::new().chain_update(text).chain_update(units).finalize().to_vec()
}

/// The text encrypted; NULL for one of more bytes than the result can have.
pub(super) fn encrypt(context: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    if values[0].is_null() || values[1].is_null() {
        return Ok(Value::Null);
    }
    let Some(authenticator) = authenticator(context, values, types)? else { return Ok(Value::Null) };
    let text = bytes_of(values, types, 1)?;
    if text.len() > BYTES_MAX {
        return Ok(Value::Null);
    }
    let hash = authenticator.map_or(Vec::new(), |authenticator| hash_of(&text, &authenticator));
    let mut message = MAGIC.to_vec();
    message.extend((hash.len() as u16).to_le_bytes());
    message.extend((text.len() as u16).to_le_bytes());
    message.extend(hash);
    message.extend(text);
    let padding = BLOCK_BYTES - message.len() % BLOCK_BYTES;
    message.extend(std::iter::repeat_n(padding as u8, padding));
    let mut last = [0; BLOCK_BYTES];
    let failed = |why| SqlError::new(15465, 16, 1, format!("The machine gives no random bytes: {why}."));
    getrandom::fill(&mut last).map_err(failed)?;
    let mut out = [&VERSION[..], &last[..]].concat();
    let cipher = cipher(&self::text(context, values, types, 0)?);
    for block in message.chunks_exact(BLOCK_BYTES) {
        last.iter_mut().zip(block).for_each(|(byte, own)| *byte ^= own);
        cipher.encrypt_block((&mut last).into());
        out.extend(last);
    }
    Ok(if out.len() > BYTES_MAX { Value::Null } else { Value::Bin(out) })
}

/// The bytes that were encrypted; NULL where passphrase or authenticator are others, or the bytes are none of such a text.
pub(super) fn decrypt(context: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    if values[0].is_null() || values[1].is_null() {
        return Ok(Value::Null);
    }
    let Some(authenticator) = authenticator(context, values, types)? else { return Ok(Value::Null) };
    let cipher = cipher(&text(context, values, types, 0)?);
    let encrypted = bytes_of(values, types, 1)?;
    let message = encrypted.strip_prefix(&VERSION).and_then(|rest| decrypted(&cipher, rest));
    let found = message.as_deref().and_then(|message| read(message, authenticator.as_deref()));
    Ok(found.map_or(Value::Null, |text| Value::Bin(text.to_vec())))
}

/// The message behind an IV, with its padding.
fn decrypted(cipher: &Aes256, bytes: &[u8]) -> Option<Vec<u8>> {
    let (iv, blocks) = bytes.split_first_chunk::<BLOCK_BYTES>()?;
    let mut last = *iv;
    let mut message = Vec::with_capacity(blocks.len());
    for block in blocks.as_chunks::<BLOCK_BYTES>().0 {
        let mut own = *block;
        cipher.decrypt_block((&mut own).into());
        own.iter_mut().zip(last).for_each(|(byte, before)| *byte ^= before);
        message.extend(own);
        last = *block;
    }
    (blocks.len() % BLOCK_BYTES == 0).then_some(message)
}

/// The text of a message.
fn read<'m>(message: &'m [u8], authenticator: Option<&str>) -> Option<&'m [u8]> {
    let rest = message.strip_prefix(&MAGIC)?;
    let (lengths, rest) = rest.split_at_checked(HEADER_BYTES - MAGIC.len())?;
    let length = |at: usize| usize::from(u16::from_le_bytes([lengths[at], lengths[at + 1]]));
    let (hash, rest) = rest.split_at_checked(length(0))?;
    let text = rest.get(..length(2))?;
    let is_its_own = match authenticator {
        None => hash.is_empty(),
        Some(authenticator) => hash.len() == HASH_BYTES && hash == hash_of(text, authenticator),
    };
    is_its_own.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_blocks_of_a_message_are_read() {
        let cipher = cipher("a passphrase");
        assert_eq!(decrypted(&cipher, &[0; 15]), None, "no IV");
        assert_eq!(decrypted(&cipher, &[0; 20]), None, "a part of a block");
        assert_eq!(decrypted(&cipher, &[0; 16]), Some(Vec::new()));
        assert_eq!(read(&[], None), None);
        let header = |hash: u16, text: u16| [&MAGIC[..], &hash.to_le_bytes(), &text.to_le_bytes()].concat();
        assert_eq!(read(&header(0, 0), None), Some(&[][..]));
        assert_eq!(read(&header(0, 1), None), None, "the text is longer than the message");
        assert_eq!(read(&header(9, 0), None), None, "as its hash is");
        assert_eq!(read(&[header(0, 2), b"abc".to_vec()].concat(), None), Some(&b"ab"[..]));
        assert_eq!(read(&header(0, 0), Some("somebody")), None, "nobody has signed it");
    }
}
