//! Field kinds: what a field of a log record may be, and its bytes.
//!
//! Each kind is a marker type that says which Rust value stands for it, how many bytes that value takes, and how to
//! write, read and show it. [`record_table!`](crate::record_table) combines them. An engine adds a kind of its own by
//! implementing [`FieldKind`] for a marker type.
//!
//! | kind | value | bytes |
//! |---|---|---|
//! | [`Byte`] | `u8` | 1 |
//! | [`Varint`] | `u64` | 1-10: seven bits a byte, lowest first, high bit set on all but the last |
//! | [`Varint32`] | `u32` | 1-5, likewise |
//! | [`Zigzag`] | `i64` | 1-10: a varint of `(v << 1) ^ (v >> 63)` |
//! | [`Fixed64`] | `u64` | 8, little-endian |
//! | [`Bytes`] | `&[u8]` | a varint length, then the bytes |
//! | [`Rest`] | `&[u8]` | the bytes up to the end of the record; only the last field can be one |

use std::fmt;

/// Why the bytes of a record are not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The record ends inside a field.
    #[error("the record ends inside a field")]
    Short,
    /// A number has more bits than its field.
    #[error("a number is too large for its field")]
    Number,
    /// Bytes are left over behind the last field.
    #[error("{0} bytes are left over behind the last field")]
    Trailing(usize),
    /// No record of the table has this kind.
    #[error("no record has kind {0}")]
    Kind(u8),
}

/// A field's value for programs: what a dump gives as numbers, bytes or text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// A number that is never negative.
    Unsigned(u64),
    /// A number.
    Signed(i64),
    /// Bytes, as they are in the record.
    Bytes(&'a [u8]),
    /// Anything else, as [`FieldKind::show`] shows it.
    Text(String),
}

impl fmt::Display for FieldValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldValue::Unsigned(number) => write!(f, "{number}"),
            FieldValue::Signed(number) => write!(f, "{number}"),
            FieldValue::Bytes(bytes) => show_hex(bytes, f),
            FieldValue::Text(text) => f.write_str(text),
        }
    }
}

/// The bytes of a record that are not read yet.
#[derive(Debug, Clone, Copy)]
pub struct FieldReader<'a>(&'a [u8]);

impl<'a> FieldReader<'a> {
    /// Reads from the first byte of `bytes` on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// [`RecordError::Short`] when fewer are left.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], RecordError> {
        let (taken, left) = self.0.split_at_checked(len).ok_or(RecordError::Short)?;
        self.0 = left;
        Ok(taken)
    }

    /// All bytes that are left.
    #[inline]
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// The next varint.
    ///
    /// # Errors
    /// [`RecordError::Short`] at the end of the bytes, [`RecordError::Number`] above 64 bits.
    #[inline]
    pub fn varint(&mut self) -> Result<u64, RecordError> {
        let (value, len) = get_varint(self.0)?;
        self.0 = &self.0[len..];
        Ok(value)
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.0.len()
    }
}

/// The place in a record where the next field goes.
#[derive(Debug)]
pub struct FieldWriter<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl<'a> FieldWriter<'a> {
    /// Writes from the first byte of `out` on.
    pub fn new(out: &'a mut [u8]) -> Self {
        Self { out, at: 0 }
    }

    /// Appends one byte.
    #[inline]
    pub fn put_byte(&mut self, byte: u8) {
        self.out[self.at] = byte;
        self.at += 1;
    }

    /// Appends bytes.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Appends a varint.
    #[inline]
    pub fn put_varint(&mut self, value: u64) {
        self.at += put_varint(&mut self.out[self.at..], value);
    }

    /// How many bytes were written.
    pub fn written(&self) -> usize {
        self.at
    }
}

/// How many bytes the varint of `value` takes.
#[inline]
pub const fn varint_len(value: u64) -> usize {
    // One byte for each seven bits; zero takes one too.
    (63 - (value | 1).leading_zeros() as usize) / 7 + 1
}

/// Writes the varint of `value` to the front of `out`; returns its length.
///
/// # Panics
/// When `out` is shorter than that.
#[inline]
pub fn put_varint(out: &mut [u8], mut value: u64) -> usize {
    let mut at = 0;
    while value >= 0x80 {
        out[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    out[at] = value as u8;
    at + 1
}

/// The varint at the front of `bytes` and its length.
///
/// # Errors
/// [`RecordError::Short`] at the end of the bytes, [`RecordError::Number`] above 64 bits.
#[inline]
pub fn get_varint(bytes: &[u8]) -> Result<(u64, usize), RecordError> {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().take(10).enumerate() {
        let bits = u64::from(byte & 0x7F);
        if at == 9 && *byte > 1 {
            return Err(RecordError::Number);
        }
        value |= bits << (7 * at);
        if byte & 0x80 == 0 {
            return Ok((value, at + 1));
        }
    }
    // Ten bytes end above: the loop ran out of bytes.
    Err(RecordError::Short)
}

/// A kind of field: its value in Rust and its bytes in a record.
pub trait FieldKind {
    /// The value in Rust. It may borrow from the record.
    type Value<'a>: Copy;
    /// How many bytes `value` takes.
    fn encoded_len(value: Self::Value<'_>) -> usize;
    /// Writes `value`.
    fn encode(value: Self::Value<'_>, out: &mut FieldWriter<'_>);
    /// Reads a value.
    ///
    /// # Errors
    /// When the bytes are not one.
    fn decode<'a>(from: &mut FieldReader<'a>) -> Result<Self::Value<'a>, RecordError>;
    /// Shows a value in a dump.
    ///
    /// # Errors
    /// When the formatter fails.
    fn show(value: Self::Value<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// The value for programs. A kind that is neither a number nor bytes leaves it as it is: text.
    fn value<'a>(value: Self::Value<'a>) -> FieldValue<'a>
    where
        Self: Sized,
    {
        FieldValue::Text(Shown::<Self>(value).to_string())
    }
}

/// A value as its kind shows it.
struct Shown<'a, K: FieldKind>(K::Value<'a>);

impl<K: FieldKind> fmt::Display for Shown<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        K::show(self.0, f)
    }
}

/// One byte.
#[derive(Debug)]
pub struct Byte;

impl FieldKind for Byte {
    type Value<'a> = u8;
    #[inline]
    fn encoded_len(_value: u8) -> usize {
        1
    }
    #[inline]
    fn encode(value: u8, out: &mut FieldWriter<'_>) {
        out.put_byte(value);
    }
    #[inline]
    fn decode<'a>(from: &mut FieldReader<'a>) -> Result<u8, RecordError> {
        Ok(from.take(1)?[0])
    }
    fn show(value: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{value}")
    }
    fn value<'a>(value: Self::Value<'a>) -> FieldValue<'a> {
        FieldValue::Unsigned(u64::from(value))
    }
}

/// An unsigned number that is small most of the time.
#[derive(Debug)]
pub struct Varint;

impl FieldKind for Varint {
    type Value<'a> = u64;
    #[inline]
    fn encoded_len(value: u64) -> usize {
        varint_len(value)
    }
    #[inline]
    fn encode(value: u64, out: &mut FieldWriter<'_>) {
        out.put_varint(value);
    }
    #[inline]
    fn decode<'a>(from: &mut FieldReader<'a>) -> Result<u64, RecordError> {
        from.varint()
    }
    fn show(value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{value}")
    }
    fn value<'a>(value: Self::Value<'a>) -> FieldValue<'a> {
        FieldValue::Unsigned(value)
    }
}

/// A [`Varint`] of at most 32 bits.
#[derive(Debug)]
pub struct Varint32;

impl FieldKind for Varint32 {
    type Value<'a> = u32;
    #[inline]
    fn encoded_len(value: u32) -> usize {
        varint_len(u64::from(value))
    }
    #[inline]
    fn encode(value: u32, out: &mut FieldWriter<'_>) {
        out.put_varint(u64::from(value));
    }
    #[inline]
    fn decode<'a>(from: &mut FieldReader<'a>) -> Result<u32, RecordError> {
        u32::try_from(from.varint()?).map_err(|_| RecordError::Number)
    }
    fn show(value: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{value}")
    }
    fn value<'a>(value: Self::Value<'a>) -> FieldValue<'a> {
        FieldValue::Unsigned(u64::from(value))
    }
}

/// A signed number that is near zero most of the time.
#[derive(Debug)]
pub struct Zigzag;

impl Zigzag {
    const fn fold(value: i64) -> u64 {
        ((value << 1) ^ (value >> 63)) as u64
    }
}

impl FieldKind for Zigzag {
    type Value<'a> = i64;
    #[inline]
    fn encoded_len(value: i64) -> usize {
        varint_len(Self::fold(value))
    }
    #[inline]
    fn encode(value: i64, out: &mut FieldWriter<'_>) {
        out.put_varint(Self::fold(value));
    }
    #[inline]
    fn decode<'a>(from: &mut FieldReader<'a>) -> Result<i64, RecordError> {
        let folded = from.varint()?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }
    fn show(value: i64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{value}")
    }
    fn value<'a>(value: Self::Value<'a>) -> FieldValue<'a> {
        FieldValue::Signed(value)
    }
}

/// An unsigned number of any size.
#[derive(Debug)]
pub struct Fixed64;

impl FieldKind for Fixed64 {
    type Value<'a> = u64;
    #[inline]
    fn encoded_len(_value: u64) -> usize {
        8
    }
    #[inline]
    fn encode(value: u64, out: &mut FieldWriter<'_>) {
        out.put(&value.to_le_bytes());
    }
    #[inline]
    fn decode<'a>(from: &mut FieldReader<'a>) -> Result<u64, RecordError> {
        let bytes = from.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }
    fn show(value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{value}")
    }
    fn value<'a>(value: Self::Value<'a>) -> FieldValue<'a> {
        FieldValue::Unsigned(value)
    }
}

/// Bytes behind their length.
#[derive(Debug)]
pub struct Bytes;

impl FieldKind for Bytes {
    type Value<'a> = &'a [u8];
    #[inline]
    fn encoded_len(value: &[u8]) -> usize {
        varint_len(value.len() as u64) + value.len()
    }
    #[inline]
    fn encode(value: &[u8], out: &mut FieldWriter<'_>) {
        out.put_varint(value.len() as u64);
        out.put(value);
    }
    #[inline]
    fn decode<'a>(from: &mut FieldReader<'a>) -> Result<&'a [u8], RecordError> {
        let len = usize::try_from(from.varint()?).map_err(|_| RecordError::Short)?;
        from.take(len)
    }
    fn show(value: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_hex(value, f)
    }
    fn value<'a>(value: Self::Value<'a>) -> FieldValue<'a> {
        FieldValue::Bytes(value)
    }
}

/// The bytes up to the end of the record.
#[derive(Debug)]
pub struct Rest;

impl FieldKind for Rest {
    type Value<'a> = &'a [u8];
    #[inline]
    fn encoded_len(value: &[u8]) -> usize {
        value.len()
    }
    #[inline]
    fn encode(value: &[u8], out: &mut FieldWriter<'_>) {
        out.put(value);
    }
    #[inline]
    fn decode<'a>(from: &mut FieldReader<'a>) -> Result<&'a [u8], RecordError> {
        Ok(from.take_rest())
    }
    fn show(value: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_hex(value, f)
    }
    fn value<'a>(value: Self::Value<'a>) -> FieldValue<'a> {
        FieldValue::Bytes(value)
    }
}

fn show_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("0x")?;
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
}
