//! Rows that code writes, against the same bytes made one by one.

use super::{Globals, Slot, frame, shape};
use crate::{Builder, Code, Form, Frame, KeyForm, Leave, SLACK_BYTES, Width, Word};

/// Numbers around each power of two.
fn numbers() -> impl Iterator<Item = i64> {
    (0..64).flat_map(|bit| {
        let power = 1_i64 << bit;
        [power.wrapping_sub(1), power, power.wrapping_add(1), power.wrapping_neg(), 0x5A5A_5A5A_5A5A_5A5A >> bit]
    })
}

fn groups_of_seven(mut number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

/// The bytes of a number; None: it has too many bits.
fn plain(number: i64, form: Form) -> Option<Vec<u8>> {
    let number = match form {
        Form::Byte => return Some(vec![number as u8]),
        Form::Varint => number as u64,
        Form::Zigzag => (number << 1 ^ number >> 63) as u64,
    };
    (number < 1 << 63).then(|| groups_of_seven(number))
}

fn code(write: impl FnOnce(&mut Builder)) -> Code {
    let mut builder = Builder::new(shape(), 1).expect("this machine has a code generator");
    builder.begin(0);
    write(&mut builder);
    builder.finish().expect("a program without mistakes")
}

/// The keys and the row that a code makes of slots; None: it leaves to the interpreter.
fn made(code: &Code, slots: &mut [Slot], inputs: [i64; 4], keys: usize) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut key, mut row) = (vec![0xEE; keys + SLACK_BYTES], vec![0xEE; 200]);
    let mut globals = Globals::default();
    let places = Frame { keys: key.as_mut_ptr(), row: row.as_mut_ptr(), inputs, ..frame(slots, &mut globals) };
    let mut frame = places;
    // SAFETY: the slots are those that the codes of these tests name, and the places have room for what they write.
    let exit = unsafe { code.run(&mut frame, 0) };
    key.truncate(keys);
    row.truncate(frame.row_len);
    match exit.leave {
        Leave::End => Some((key, row)),
        Leave::Interpret => None,
        leave => panic!("{leave:?}"),
    }
}

const FORMS: [Form; 3] = [Form::Byte, Form::Varint, Form::Zigzag];

#[test]
fn numbers_between_constants_are_as_made_one_by_one() {
    for form in FORMS {
        let code = code(|builder| {
            let word = builder.load(0, Width::Big);
            let end = builder.begin_row();
            let end = builder.put_bytes(end, b"");
            let end = builder.put_bytes(end, b"constants before");
            let end = builder.put_number(end, word, form);
            let end = builder.put_bytes(end, b"behind, too");
            let end = builder.put_number(end, word, form);
            builder.end_row(end);
        });
        for number in numbers() {
            let expected = plain(number, form)
                .map(|bytes| [b"constants before".as_slice(), &bytes, b"behind, too", &bytes].concat());
            let row = made(&code, &mut [Slot::Big(number)], [0; 4], 0).map(|(_, row)| row);
            assert_eq!(row, expected, "{number:#x} as {form:?}");
        }
        assert_eq!(made(&code, &mut [Slot::Null], [0; 4], 0), None, "NULL is the interpreter's");
    }
}

#[test]
fn narrower_words_take_the_same_form() {
    let code = code(|builder| {
        let words: Vec<Word> = [Width::Bit, Width::Tiny, Width::Small, Width::Int]
            .into_iter()
            .enumerate()
            .map(|(slot, width)| builder.load(slot, width))
            .collect();
        let mut end = builder.begin_row();
        for word in words {
            end = builder.put_number(end, word, Form::Zigzag);
        }
        builder.end_row(end);
    });
    for number in numbers() {
        let (bit, tiny, small, int) = (number & 1 == 1, number as u8, number as i16, number as i32);
        let all = [i64::from(bit), i64::from(tiny), i64::from(small), i64::from(int)];
        let expected: Vec<u8> = all.into_iter().flat_map(|n| plain(n, Form::Zigzag).expect("short")).collect();
        let mut slots = [Slot::Bit(bit), Slot::Tiny(tiny), Slot::Small(small), Slot::Int(int)];
        assert_eq!(made(&code, &mut slots, [0; 4], 0).map(|(_, row)| row), Some(expected), "{number:#x}");
    }
}

#[test]
fn a_number_that_is_null_leaves_a_bit() {
    for form in FORMS {
        let code = code(|builder| {
            let (first, second, never) = (builder.load(0, Width::Big), builder.load(1, Width::Big), builder.null());
            let constant = builder.constant(5);
            let end = builder.begin_row();
            let end = builder.put_bytes(end, &[0b100, 0]);
            let end = builder.put_nullable(end, first, form, 1);
            let end = builder.put_nullable(end, second, form, 9);
            let end = builder.put_nullable(end, never, form, 3);
            let end = builder.put_nullable(end, constant, form, 4);
            builder.end_row(end);
        });
        for number in numbers() {
            for [first, second] in [[true, false], [false, true], [true, true], [false, false]] {
                let mut slots = [first, second].map(|is_there| Slot::of(Width::Big, is_there.then_some(number)));
                for slot in slots.iter_mut().filter(|slot| **slot == Slot::Null) {
                    super::null_over(slot, number);
                }
                let bits = [0b1100 | u8::from(!first) << 1, u8::from(!second) << 1];
                let own = plain(number, form);
                let expected = if own.is_none() && (first || second) {
                    None
                } else {
                    let own = own.unwrap_or_default();
                    let five = plain(5, form).expect("short");
                    let parts = [first, second].map(|is_there| if is_there { own.as_slice() } else { &[] });
                    Some([&bits, parts[0], parts[1], &five].concat())
                };
                let row = made(&code, &mut slots, [0; 4], 0).map(|(_, row)| row);
                assert_eq!(row, expected, "{number:#x} as {form:?}, {first} and {second}");
            }
        }
    }
}

#[test]
fn keys_are_ordered_as_their_numbers() {
    for bytes in 1..=8 {
        for (is_signed, descending) in [(false, false), (true, false), (false, true), (true, true)] {
            let form = KeyForm { bytes, is_signed, descending };
            let code = code(|builder| {
                let (slot, input) = (builder.load(0, Width::Big), builder.input(3));
                builder.put_key_bytes(0, b"before");
                builder.put_key_number(6, slot, form);
                builder.put_key_number(6 + bytes, input, form);
                let end = builder.begin_row();
                builder.end_row(end);
            });
            for number in numbers() {
                let key = |number: i64| {
                    let mut key = number.to_be_bytes()[8 - bytes..].to_vec();
                    key[0] ^= u8::from(is_signed) << 7;
                    key.iter_mut().for_each(|byte| *byte ^= if descending { 0xFF } else { 0 });
                    key
                };
                let expected = [b"before".as_slice(), &key(number), &key(!number)].concat();
                let inputs = [1, 2, 3, !number];
                let keys = made(&code, &mut [Slot::Big(number)], inputs, expected.len());
                assert_eq!(keys, Some((expected, Vec::new())), "{number:#x} in {form:?}");
            }
            assert_eq!(made(&code, &mut [Slot::Null], [0; 4], 6 + 2 * bytes), None, "NULL is the interpreter's");
        }
    }
}

#[test]
fn mistakes_are_errors() {
    let fails = |write: &dyn Fn(&mut Builder)| {
        let mut builder = Builder::new(shape(), 2).expect("this machine has a code generator");
        builder.begin(0);
        write(&mut builder);
        builder.finish().expect_err("a mistake")
    };
    fails(&|builder| {
        builder.input(4);
    });
    fails(&|builder| {
        let word = builder.constant(1);
        builder.put_key_number(0, word, KeyForm { bytes: 9, is_signed: false, descending: false });
    });
    fails(&|builder| {
        let word = builder.constant(1);
        builder.put_key_number(0, word, KeyForm { bytes: 0, is_signed: false, descending: false });
    });
    fails(&|builder| {
        let end = builder.begin_row();
        builder.begin(1);
        builder.put_bytes(end, b"another instruction's");
    });
}
