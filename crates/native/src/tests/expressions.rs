//! Random expressions and conditions: the machine code against an evaluation of the tree.

use super::{Globals, Slot, frame, shape};
use crate::{Builder, Comparison, Exit, Leave, Op, Truth, Width, Word};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError};
use std::cmp::Ordering;

/// The slots that expressions read: two of each width, in the order of widths.
const READ: usize = 10;

#[derive(Debug, Clone)]
enum Tree {
    Const(Option<i64>),
    Slot(usize),
    Binary(Op, Width, Box<[Tree; 2]>),
    Negate(Box<Tree>, Width),
    Complement(Box<Tree>, Width),
    Narrow(Box<Tree>, Width),
}

#[derive(Debug, Clone)]
enum Condition {
    Const(Option<bool>),
    Compare(Comparison, Box<[Tree; 2]>),
    IsNull(Tree),
    SlotIsNull(usize),
    BitSlot(usize),
    And(Box<[Condition; 2]>),
    Or(Box<[Condition; 2]>),
    Not(Box<Condition>),
}

/// The machine code leaves to the interpreter.
#[derive(Debug, PartialEq)]
struct Left;

/// The contents of a slot: a value of its width, NULL over such bytes, or a value of no integer type.
#[derive(Debug, Clone, Copy)]
enum Content {
    Value(i64),
    Null(i64),
    Float,
}

fn width_of(slot: usize) -> Width {
    Width::ALL[slot % Width::ALL.len()]
}

fn fits(width: Width, value: i64) -> bool {
    match width {
        Width::Bit => value == 0 || value == 1,
        Width::Tiny => u8::try_from(value).is_ok(),
        Width::Small => i16::try_from(value).is_ok(),
        Width::Int => i32::try_from(value).is_ok(),
        Width::Big => true,
    }
}

fn fitted(width: Width, value: Option<i64>) -> Result<Option<i64>, Left> {
    value.filter(|value| fits(width, *value)).map(Some).ok_or(Left)
}

fn apply(op: Op, width: Width, left: i64, right: i64) -> Result<Option<i64>, Left> {
    let result = match op {
        Op::Add => left.checked_add(right),
        Op::Subtract => left.checked_sub(right),
        Op::Multiply => left.checked_mul(right),
        Op::Divide => left.checked_div(right),
        Op::Modulo if right == 0 => None,
        Op::Modulo => Some(left.wrapping_rem(right)),
        Op::And => Some(left & right),
        Op::Or => Some(left | right),
        Op::Xor => Some(left ^ right),
    };
    fitted(width, result)
}

fn loaded(slot: usize, slots: &[Slot]) -> Result<Option<i64>, Left> {
    match slots[slot] {
        Slot::Float(_) => Err(Left),
        value => Ok(value.integer()),
    }
}

impl Tree {
    fn eval(&self, slots: &[Slot]) -> Result<Option<i64>, Left> {
        match self {
            Tree::Const(value) => Ok(*value),
            Tree::Slot(slot) => loaded(*slot, slots),
            Tree::Binary(op, width, operands) => match (operands[0].eval(slots)?, operands[1].eval(slots)?) {
                (Some(left), Some(right)) => apply(*op, *width, left, right),
                _ => Ok(None),
            },
            Tree::Negate(inner, width) => match inner.eval(slots)? {
                Some(value) => fitted(*width, value.checked_neg()),
                None => Ok(None),
            },
            Tree::Complement(inner, width) => Ok(inner.eval(slots)?.map(|value| match width {
                Width::Bit => 1_i64.wrapping_sub(value),
                Width::Tiny => !value & 0xff,
                _ => !value,
            })),
            Tree::Narrow(inner, width) => match inner.eval(slots)? {
                Some(value) if *width == Width::Bit => Ok(Some((value != 0).into())),
                Some(value) => fitted(*width, Some(value)),
                None => Ok(None),
            },
        }
    }

    fn build(&self, builder: &mut Builder) -> Word {
        match self {
            Tree::Const(None) => builder.null(),
            Tree::Const(Some(value)) => builder.constant(*value),
            Tree::Slot(slot) => builder.load(*slot, width_of(*slot)),
            Tree::Binary(op, width, operands) => {
                let (left, right) = (operands[0].build(builder), operands[1].build(builder));
                builder.binary(*op, *width, left, right)
            }
            Tree::Negate(inner, width) => {
                let inner = inner.build(builder);
                builder.negate(inner, *width)
            }
            Tree::Complement(inner, width) => {
                let inner = inner.build(builder);
                builder.complement(inner, *width)
            }
            Tree::Narrow(inner, width) => {
                let inner = inner.build(builder);
                builder.narrow(inner, *width)
            }
        }
    }
}

fn holds(comparison: Comparison, ordering: Ordering) -> bool {
    match comparison {
        Comparison::Equal => ordering.is_eq(),
        Comparison::NotEqual => ordering.is_ne(),
        Comparison::Less => ordering.is_lt(),
        Comparison::LessOrEqual => ordering.is_le(),
        Comparison::Greater => ordering.is_gt(),
        Comparison::GreaterOrEqual => ordering.is_ge(),
    }
}

impl Condition {
    fn eval(&self, slots: &[Slot]) -> Result<Option<bool>, Left> {
        Ok(match self {
            Condition::Const(truth) => *truth,
            Condition::Compare(comparison, operands) => match (operands[0].eval(slots)?, operands[1].eval(slots)?) {
                (Some(left), Some(right)) => Some(holds(*comparison, left.cmp(&right))),
                _ => None,
            },
            Condition::IsNull(tree) => Some(tree.eval(slots)?.is_none()),
            Condition::SlotIsNull(slot) => Some(slots[*slot] == Slot::Null),
            Condition::BitSlot(slot) => loaded(*slot, slots)?.map(|value| value != 0),
            Condition::And(both) => match (both[0].eval(slots)?, both[1].eval(slots)?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), other) | (other, Some(true)) => other,
                (None, None) => None,
            },
            Condition::Or(both) => match (both[0].eval(slots)?, both[1].eval(slots)?) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), other) | (other, Some(false)) => other,
                (None, None) => None,
            },
            Condition::Not(inner) => inner.eval(slots)?.map(|truth| !truth),
        })
    }

    fn build(&self, builder: &mut Builder) -> Truth {
        match self {
            Condition::Const(truth) => builder.truth_constant(*truth),
            Condition::Compare(comparison, operands) => {
                let (left, right) = (operands[0].build(builder), operands[1].build(builder));
                builder.compare(*comparison, left, right)
            }
            Condition::IsNull(tree) => {
                let word = tree.build(builder);
                builder.is_null(word)
            }
            Condition::SlotIsNull(slot) => builder.slot_is_null(*slot),
            Condition::BitSlot(slot) => builder.truth_of_bit_slot(*slot),
            Condition::And(both) => {
                let (left, right) = (both[0].build(builder), both[1].build(builder));
                builder.and(left, right)
            }
            Condition::Or(both) => {
                let (left, right) = (both[0].build(builder), both[1].build(builder));
                builder.or(left, right)
            }
            Condition::Not(inner) => {
                let inner = inner.build(builder);
                builder.not(inner)
            }
        }
    }
}

fn integers() -> impl Strategy<Value = i64> {
    let bounds = [8, 15, 16, 31, 32, 63].into_iter().flat_map(|bits| {
        let power = 1_i128 << bits;
        [power - 1, power, power + 1, -power - 1, -power, 1 - power]
    });
    let bounds: Vec<i64> = bounds.filter_map(|value| value.try_into().ok()).collect();
    prop_oneof![-3_i64..4, prop::sample::select(bounds), any::<i64>(), any::<i32>().prop_map(i64::from)]
}

fn widths() -> impl Strategy<Value = Width> {
    prop::sample::select(Width::ALL.to_vec())
}

fn ops() -> impl Strategy<Value = Op> {
    use Op::{Add, And, Divide, Modulo, Multiply, Or, Subtract, Xor};
    prop::sample::select(vec![Add, Subtract, Multiply, Divide, Modulo, And, Or, Xor])
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        1 => Just(Tree::Const(None)),
        4 => integers().prop_map(|value| Tree::Const(Some(value))),
        10 => (0..READ).prop_map(Tree::Slot),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            6 => (ops(), widths(), inner.clone(), inner)
                .prop_map(|(op, width, left, right)| Tree::Binary(op, width, Box::new([left, right]))),
            1 => (boxed.clone(), widths()).prop_map(|(inner, width)| Tree::Negate(inner, width)),
            1 => (boxed.clone(), widths()).prop_map(|(inner, width)| Tree::Complement(inner, width)),
            1 => (boxed, widths()).prop_map(|(inner, width)| Tree::Narrow(inner, width)),
        ]
    })
}

fn conditions() -> impl Strategy<Value = Condition> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let comparisons = prop::sample::select(vec![Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual]);
    let leaf = prop_oneof![
        1 => any::<Option<bool>>().prop_map(Condition::Const),
        8 => (comparisons, trees(), trees())
            .prop_map(|(comparison, left, right)| Condition::Compare(comparison, Box::new([left, right]))),
        1 => trees().prop_map(Condition::IsNull),
        1 => (0..READ).prop_map(Condition::SlotIsNull),
        2 => prop::sample::select(vec![0, 5]).prop_map(Condition::BitSlot),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(left, right)| Condition::And(Box::new([left, right]))),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| Condition::Or(Box::new([left, right]))),
            inner.prop_map(|inner| Condition::Not(Box::new(inner))),
        ]
    })
}

fn contents() -> impl Strategy<Value = Vec<Vec<Content>>> {
    let content = prop_oneof![
        30 => integers().prop_map(Content::Value),
        6 => integers().prop_map(Content::Null),
        1 => Just(Content::Float),
    ];
    prop::collection::vec(prop::collection::vec(content, READ), 12)
}

/// Slots of the contents, and one more for the result.
fn filled(contents: &[Content]) -> Vec<Slot> {
    let mut slots = vec![Slot::Float(0.5); READ + 1];
    for (at, content) in contents.iter().enumerate() {
        match *content {
            Content::Value(value) => slots[at] = Slot::of(width_of(at), Some(value)),
            Content::Null(bytes) => super::null_over(&mut slots[at], bytes),
            Content::Float => slots[at] = Slot::Float(1.5),
        }
    }
    slots
}

fn store_agrees(tree: &Tree, width: Width, contents: &[Vec<Content>]) -> Result<(), TestCaseError> {
    let mut builder = Builder::new(shape(), 1).expect("a builder");
    builder.begin(0);
    let word = tree.build(&mut builder);
    builder.store(READ, width, word);
    builder.set_row_count(1);
    let code = builder.finish().expect("code");
    for contents in contents {
        let mut slots = filled(contents);
        let before = slots.clone();
        let wanted = tree.eval(&slots).and_then(|value| match value {
            Some(value) => fitted(width, Some(value)),
            None => Ok(None),
        });
        let mut globals = Globals { row_count: 77, last_error: 88 };
        let mut frame = frame(&mut slots, &mut globals);
        // SAFETY: the slots are of the builder's shape, and as many as the program names.
        let exit = unsafe { code.run(&mut frame, 0) };
        prop_assert_eq!(&slots[..READ], &before[..READ]);
        match wanted {
            Ok(value) => {
                prop_assert_eq!(exit, Exit { at: 1, leave: Leave::End });
                prop_assert_eq!(slots[READ], Slot::of(width, value));
                prop_assert_eq!(globals.row_count, 1);
            }
            Err(Left) => {
                prop_assert_eq!(exit, Exit { at: 0, leave: Leave::Interpret });
                prop_assert_eq!(slots[READ], before[READ]);
                prop_assert_eq!(globals.row_count, 77);
            }
        }
        prop_assert_eq!(globals.last_error, 88);
    }
    Ok(())
}

/// Ends at 1 if the condition is true, at 3 if it is false, at 4 if it is UNKNOWN.
fn jumps_agree(condition: &Condition, contents: &[Vec<Content>]) -> Result<(), TestCaseError> {
    let mut builder = Builder::new(shape(), 5).expect("a builder");
    builder.begin(0);
    let truth = condition.build(&mut builder);
    builder.jump_unless(truth, 2);
    builder.begin(2);
    let truth = condition.build(&mut builder);
    let opposite = builder.not(truth);
    builder.jump_unless(opposite, 4);
    for end in [1, 3, 4] {
        builder.begin(end);
        builder.end();
    }
    let code = builder.finish().expect("code");
    for contents in contents {
        let mut slots = filled(contents);
        let wanted = match condition.eval(&slots) {
            Ok(Some(true)) => Exit { at: 1, leave: Leave::End },
            Ok(Some(false)) => Exit { at: 3, leave: Leave::End },
            Ok(None) => Exit { at: 4, leave: Leave::End },
            Err(Left) => Exit { at: 0, leave: Leave::Interpret },
        };
        let mut globals = Globals::default();
        let mut frame = frame(&mut slots, &mut globals);
        // SAFETY: the slots are of the builder's shape, and as many as the program names.
        let exit = unsafe { code.run(&mut frame, 0) };
        prop_assert_eq!(exit, wanted);
    }
    Ok(())
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x70696B65),
        ..ProptestConfig::with_cases(400)
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn expressions_agree_with_their_trees(tree in trees(), width in widths(), contents in contents()) {
        store_agrees(&tree, width, &contents)?;
    }

    #[test]
    fn conditions_agree_with_their_trees(condition in conditions(), contents in contents()) {
        jumps_agree(&condition, &contents)?;
    }
}

/// Each operator and width on each pair of extreme values and NULLs, in the narrowest slots that hold them.
#[test]
fn operators_agree_at_the_ends_of_widths() {
    let ends: Vec<i64> =
        vec![0, 1, -1, 2, 255, 256, -32768, 32767, i32::MIN.into(), i32::MAX.into(), i64::MIN, i64::MAX];
    let mut contents = Vec::new();
    for left in &ends {
        for right in &ends {
            let mut both: Vec<Content> =
                (0..READ).map(|at| Content::Value(if at < 5 { *left } else { *right })).collect();
            contents.push(both.clone());
            both[4] = Content::Null(*left);
            contents.push(both.clone());
            (both[4], both[9]) = (Content::Value(*left), Content::Null(*right));
            contents.push(both);
        }
    }
    for op in [Op::Add, Op::Subtract, Op::Multiply, Op::Divide, Op::Modulo, Op::And, Op::Or, Op::Xor] {
        for width in Width::ALL {
            for (left, right) in [(4, 9), (width as usize, width as usize + 5)] {
                let tree = Tree::Binary(op, width, Box::new([Tree::Slot(left), Tree::Slot(right)]));
                if let Err(error) = store_agrees(&tree, width, &contents) {
                    panic!("{tree:?}: {error}");
                }
            }
        }
    }
}
