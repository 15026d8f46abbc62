//! The codec: what was written comes back, and no bytes panic.

use crate::field::{
    Byte, Bytes, Fixed64, RecordError, Rest, Varint, Varint32, Zigzag, get_varint, put_varint, varint_len,
};
use crate::{LogRecord, docs_table};
use proptest::prelude::*;

record_table! {
    /// Every kind of field.
    enum Sample<'a> {
        /// All kinds at once.
        1 = All {
            /// A byte.
            byte: Byte,
            /// A varint.
            varint: Varint,
            /// A short varint.
            short: Varint32,
            /// A signed number.
            signed: Zigzag,
            /// Eight bytes.
            fixed: Fixed64,
            /// Bytes with a length.
            name: Bytes,
            /// The other bytes.
            rest: Rest,
        },
        /// Nothing but a number.
        7 = One {
            /// The number.
            number: Varint,
        },
        /// Nothing at all.
        255 = Empty {},
    }
}

fn encoded(record: &Sample<'_>) -> Vec<u8> {
    let mut bytes = vec![0xEE; record.encoded_len()];
    record.encode(&mut bytes);
    bytes
}

proptest! {
    #[test]
    fn records_come_back(
        numbers in any::<(u8, u64, u32, i64, u64)>(),
        name in proptest::collection::vec(any::<u8>(), 0..300),
        rest in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let (byte, varint, short, signed, fixed) = numbers;
        let record = Sample::All { byte, varint, short, signed, fixed, name: &name, rest: &rest };
        let bytes = encoded(&record);
        prop_assert_eq!(Sample::decode(&bytes), Ok(record));
        // A cut record is either an error or, cut within its rest, a shorter one.
        for len in 0..bytes.len() - rest.len() {
            prop_assert_eq!(Sample::decode(&bytes[..len]), Err(RecordError::Short));
        }
    }

    #[test]
    fn any_bytes_are_a_record_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(record) = Sample::decode(&bytes) {
            prop_assert!(!record.to_string().is_empty());
            let shown: Vec<String> = record.fields().iter().map(|(name, value)| format!(" {name}={value}")).collect();
            prop_assert_eq!(record.to_string(), format!("{}{}", record.name(), shown.concat()));
            let again = encoded(&record);
            prop_assert_eq!(Sample::decode(&again), Ok(record));
        }
    }

    #[test]
    fn varints_come_back_in_the_bytes_they_announce(value in any::<u64>(), shift in 0u32..64) {
        let value = value >> shift;
        let mut bytes = [0; 10];
        let len = put_varint(&mut bytes, value);
        prop_assert_eq!(len, varint_len(value));
        prop_assert_eq!(get_varint(&bytes[..len]), Ok((value, len)));
        prop_assert_eq!(get_varint(&bytes[..len - 1]), Err(RecordError::Short));
    }
}

#[test]
fn varints_have_the_documented_bytes() {
    let cases: [(u64, &[u8]); 5] = [
        (0, &[0]),
        (127, &[0x7F]),
        (128, &[0x80, 1]),
        (300, &[0xAC, 2]),
        (u64::MAX, &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
    ];
    for (value, bytes) in cases {
        let mut out = [0; 10];
        let len = put_varint(&mut out, value);
        assert_eq!(&out[..len], bytes);
    }
    assert_eq!(get_varint(&[0xFF; 10]), Err(RecordError::Number));
    assert_eq!(get_varint(&[0x80; 10]), Err(RecordError::Number));
    assert_eq!(Varint32::decode_of(&[0xFF, 0xFF, 0xFF, 0xFF, 0x1F]), Err(RecordError::Number));
}

impl Varint32 {
    fn decode_of(bytes: &[u8]) -> Result<u32, RecordError> {
        use crate::field::{FieldKind, FieldReader};
        Varint32::decode(&mut FieldReader::new(bytes))
    }
}

#[test]
fn what_is_no_record_is_named() {
    assert_eq!(Sample::decode(&[]), Err(RecordError::Short));
    assert_eq!(Sample::decode(&[9]), Err(RecordError::Kind(9)));
    assert_eq!(Sample::decode(&[255, 1, 2]), Err(RecordError::Trailing(2)));
    // A length beyond the record.
    assert_eq!(Sample::decode(&[7, 0x80]), Err(RecordError::Short));
}

#[test]
fn the_table_documents_itself() {
    let record = Sample::All { byte: 1, varint: 2, short: 3, signed: -4, fixed: 5, name: b"n", rest: b"" };
    assert_eq!(record.to_string(), "All byte=1 varint=2 short=3 signed=-4 fixed=5 name=0x6E rest=0x");
    assert_eq!((record.kind(), record.name()), (1, "All"));
    let docs = docs_table(Sample::TABLE);
    assert!(docs.contains("| 7 | One | number Varint | Nothing but a number. |"), "{docs}");
    assert_eq!(Sample::TABLE[0].fields[5].text.trim(), "Bytes with a length.");
    assert_eq!(encoded(&Sample::Empty {}), [255]);
}

#[test]
fn a_table_can_be_encoded_for_the_log() {
    let record = Sample::One { number: 300 };
    assert_eq!(record.encoded_len(), 3);
    assert_eq!(encoded(&record), [7, 0xAC, 2]);
}
