//! Programs: entries, jumps, helpers, exits, mistakes, and the memory of code.

use super::{Globals, Slot, frame, shape};
use crate::{Builder, Code, Comparison, Exit, Frame, Leave, NativeError, Op, SlotShape, Width};

fn run(code: &Code, slots: &mut [Slot], entry: u32) -> Exit {
    let mut globals = Globals::default();
    let mut frame = frame(slots, &mut globals);
    // SAFETY: the slots are of the shape that the tests build with, and as many as their programs name.
    unsafe { code.run(&mut frame, entry) }
}

/// `while @0 < @1 set @0 = @0 + 1`
fn count_up() -> Code {
    let mut builder = Builder::new(shape(), 3).expect("a builder");
    builder.begin(0);
    let (i, n) = (builder.load(0, Width::Int), builder.load(1, Width::Int));
    let goes_on = builder.compare(Comparison::Less, i, n);
    builder.jump_unless(goes_on, 3);
    builder.begin(1);
    let (i, one) = (builder.load(0, Width::Int), builder.constant(1));
    let next = builder.binary(Op::Add, Width::Int, i, one);
    builder.store(0, Width::Int, next);
    builder.begin(2);
    builder.jump(0);
    builder.keep_text();
    builder.finish().expect("code")
}

#[test]
fn a_loop_ends_where_its_condition_does() {
    let code = count_up();
    let mut slots = [Slot::Int(-5), Slot::Int(1000)];
    assert_eq!(run(&code, &mut slots, 0), Exit { at: 3, leave: Leave::End });
    assert_eq!(slots, [Slot::Int(1000), Slot::Int(1000)]);
}

#[test]
fn a_loop_leaves_when_its_budget_is_used_up() {
    let code = count_up();
    let mut slots = [Slot::Int(0), Slot::Int(10)];
    let mut globals = Globals::default();
    let mut frame = frame(&mut slots, &mut globals);
    frame.budget = 3;
    // SAFETY: the slots are of the builder's shape, and as many as the program names.
    let exit = unsafe { code.run(&mut frame, 0) };
    assert_eq!((exit, frame.budget), (Exit { at: 0, leave: Leave::Poll }, 0));
    frame.budget = 6;
    // SAFETY: as above.
    let exit = unsafe { code.run(&mut frame, exit.at) };
    assert_eq!((exit, frame.budget), (Exit { at: 3, leave: Leave::End }, 0));
    assert_eq!(slots[0], Slot::Int(10));
}

#[test]
fn every_instruction_is_an_entry() {
    let mut builder = Builder::new(shape(), 6).expect("a builder");
    for at in [4, 0, 2, 1, 5] {
        builder.begin(at);
        let value = builder.constant(at as i64);
        builder.store(at, Width::Tiny, value);
    }
    let code = builder.finish().expect("code");
    for entry in 0..10 {
        let mut slots = [Slot::Null; 6];
        let exit = run(&code, &mut slots, entry as u32);
        let (end, wanted) = if entry <= 3 { (3, Leave::Interpret) } else { (6, Leave::End) };
        assert_eq!(exit, Exit { at: end, leave: wanted }, "from {entry}");
        for (at, slot) in slots.into_iter().enumerate() {
            let ran = at >= entry && at < end as usize;
            assert_eq!(slot, if ran { Slot::Tiny(at as u8) } else { Slot::Null }, "slot {at} from {entry}");
        }
    }
    assert_eq!(run(&code, &mut [Slot::Null; 6], u32::MAX), Exit { at: 6, leave: Leave::End });
}

#[test]
fn an_overflow_is_left_and_gone_on_after() {
    let code = count_up();
    let mut slots = [Slot::Int(i32::MAX), Slot::Null];
    assert_eq!(run(&code, &mut slots, 1), Exit { at: 1, leave: Leave::Interpret });
    assert_eq!(slots[0], Slot::Int(i32::MAX));
    assert_eq!(run(&code, &mut slots, 2), Exit { at: 3, leave: Leave::End }, "UNKNOWN ends the loop");
    assert_eq!(run(&code, &mut [Slot::Big(1), Slot::Null], 1), Exit { at: 1, leave: Leave::Interpret }, "another type");
}

#[test]
fn globals_are_set() {
    let mut builder = Builder::new(shape(), 1).expect("a builder");
    builder.begin(0);
    builder.set_row_count(-12);
    builder.clear_error();
    let code = builder.finish().expect("code");
    let mut globals = Globals { row_count: 5, last_error: 8134 };
    let mut frame = frame(&mut [], &mut globals);
    // SAFETY: the program names no slot.
    assert_eq!(unsafe { code.run(&mut frame, 0) }, Exit { at: 1, leave: Leave::End });
    assert_eq!((globals.row_count, globals.last_error), (-12, 0));
}

/// Gives the frame the slots that its context points at, and answers with the argument's lower half.
///
/// # Safety
/// The frame is whole.
unsafe extern "C" fn exchange(frame: *mut Frame, argument: u64) -> u32 {
    // SAFETY: the code hands on the frame that it was run with.
    let frame = unsafe { &mut *frame };
    let slots = frame.slots;
    frame.slots = frame.context.cast();
    frame.context = slots.cast();
    frame.budget -= (argument >> 32) as u32;
    argument as u32
}

#[test]
fn a_helper_changes_the_slots_and_goes_on() {
    let mut builder = Builder::new(shape(), 3).expect("a builder");
    builder.begin(0);
    let before = builder.load(0, Width::Int);
    builder.call(exchange, 7 << 32);
    builder.store(1, Width::Int, before);
    builder.begin(1);
    let there = builder.load(0, Width::Int);
    builder.store(2, Width::Int, there);
    builder.begin(2);
    builder.call(exchange, 0);
    let nine = builder.constant(9);
    builder.store(1, Width::Int, nine);
    let code = builder.finish().expect("code");
    let (mut first, mut second) = ([Slot::Int(1), Slot::Null, Slot::Null], [Slot::Int(2), Slot::Null, Slot::Null]);
    let mut globals = Globals::default();
    let mut frame = frame(&mut first, &mut globals);
    frame.context = second.as_mut_ptr().cast();
    frame.budget = 10;
    // SAFETY: both arrays are of the builder's shape, and as long as the program names.
    assert_eq!(unsafe { code.run(&mut frame, 0) }, Exit { at: 3, leave: Leave::End });
    assert_eq!(frame.budget, 3);
    assert_eq!(first, [Slot::Int(1), Slot::Int(9), Slot::Null]);
    assert_eq!(second, [Slot::Int(2), Slot::Int(1), Slot::Int(2)]);
}

#[test]
fn a_helper_stops() {
    let mut builder = Builder::new(shape(), 1).expect("a builder");
    builder.begin(0);
    builder.call(exchange, 1);
    let nine = builder.constant(9);
    builder.store(0, Width::Int, nine);
    let code = builder.finish().expect("code");
    let mut slots = [Slot::Null];
    assert_eq!(run(&code, &mut slots, 0), Exit { at: 0, leave: Leave::Stopped });
    assert_eq!(slots, [Slot::Null]);
}

#[test]
fn a_helper_decides_a_condition() {
    for (answer, wanted) in [
        (0, Exit { at: 2, leave: Leave::End }),
        (1, Exit { at: 1, leave: Leave::End }),
        (2, Exit { at: 2, leave: Leave::End }),
        (3, Exit { at: 0, leave: Leave::Stopped }),
        (u32::MAX, Exit { at: 0, leave: Leave::Stopped }),
    ] {
        let mut builder = Builder::new(shape(), 3).expect("a builder");
        builder.begin(0);
        let truth = builder.call_for_truth(exchange, answer.into());
        builder.jump_unless(truth, 2);
        builder.begin(1);
        builder.end();
        builder.begin(2);
        builder.end();
        let code = builder.finish().expect("code");
        assert_eq!(run(&code, &mut [], 0), wanted, "{answer}");
    }
}

/// Operations behind a jump or an exit in an instruction are not reached, and do no harm.
#[test]
fn operations_after_an_exit_are_never_reached() {
    let mut builder = Builder::new(shape(), 3).expect("a builder");
    builder.begin(0);
    let word = builder.load(0, Width::Int);
    builder.jump(2);
    builder.store(0, Width::Int, word);
    builder.begin(1);
    builder.interpret();
    builder.clear_error();
    builder.begin(2);
    builder.end();
    builder.jump(1);
    let code = builder.finish().expect("code");
    let mut slots = [Slot::Int(4)];
    assert_eq!(run(&code, &mut slots, 0), Exit { at: 2, leave: Leave::End });
    assert_eq!(run(&code, &mut slots, 1), Exit { at: 1, leave: Leave::Interpret });
}

fn mistake(instructions: usize, build: impl FnOnce(&mut Builder)) -> NativeError {
    let mut builder = Builder::new(shape(), instructions).expect("a builder");
    build(&mut builder);
    builder.finish().expect_err("a mistake")
}

#[test]
fn mistakes_are_errors() {
    use NativeError as E;
    assert!(matches!(mistake(1, |builder| builder.begin(1)), E::Instruction(1)));
    assert!(matches!(mistake(1, |builder| builder.clear_error()), E::Outside));
    let twice = |builder: &mut Builder| (builder.begin(0), builder.begin(0)).0;
    assert!(matches!(mistake(1, twice), E::Twice(0)));
    let far_jump = |builder: &mut Builder| (builder.begin(0), builder.jump(2)).0;
    assert!(matches!(mistake(1, far_jump), E::Instruction(2)));
    let maybe_far = |builder: &mut Builder| {
        builder.begin(0);
        let truth = builder.slot_is_null(0);
        builder.jump_unless(truth, usize::MAX);
    };
    assert!(matches!(mistake(1, maybe_far), E::Instruction(usize::MAX)));
    for slot in [1 << 28, usize::MAX] {
        let far_slot = |builder: &mut Builder| {
            builder.begin(0);
            builder.load(slot, Width::Big);
        };
        assert!(matches!(mistake(1, far_slot), E::Slot(_)));
    }
    let stale = |builder: &mut Builder| {
        builder.begin(0);
        let word = builder.constant(1);
        builder.begin(1);
        builder.store(0, Width::Int, word);
    };
    assert!(matches!(mistake(2, stale), E::Operand(1)));
    let late = |builder: &mut Builder| {
        builder.begin(0);
        builder.set_row_count(1);
        builder.load(0, Width::Int);
    };
    assert!(matches!(mistake(1, late), E::Order(0)));
    assert!(matches!(Builder::new(shape(), usize::MAX), Err(E::TooManyInstructions(_))));
}

/// The operands of another builder are refused, by their type, by their number or by the code generator's verifier.
#[test]
fn operands_of_another_builder_are_errors() {
    for warm in 0..40 {
        let mut other = Builder::new(shape(), 1).expect("a builder");
        other.begin(0);
        for _ in 0..warm {
            other.load(0, Width::Int);
        }
        let word = other.load(0, Width::Int);
        let truth = other.is_null(word);
        let mut builder = Builder::new(shape(), 1).expect("a builder");
        builder.begin(0);
        let own = builder.load(0, Width::Int);
        let sum = builder.binary(Op::Add, Width::Int, own, word);
        let truth = builder.not(truth);
        builder.store(0, Width::Int, sum);
        builder.jump_unless(truth, 0);
        // One that happens to have the number of an own operand is that operand.
        assert!(builder.finish().is_err() || warm == 0, "{warm}");
    }
}

#[test]
fn shapes_that_contradict_themselves_are_errors() {
    let refused = |change: &dyn Fn(&mut SlotShape)| {
        let mut shape = shape();
        change(&mut shape);
        assert!(matches!(Builder::new(shape, 1), Err(NativeError::Shape(_))));
    };
    refused(&|shape| shape.stride = 12);
    refused(&|shape| shape.null = shape.widths[0].tag);
    refused(&|shape| shape.widths[1].tag = shape.widths[0].tag);
    refused(&|shape| shape.widths[2].offset = 0);
}

#[test]
fn programs_without_instructions_end() {
    let code = Builder::new(shape(), 0).expect("a builder").finish().expect("code");
    assert_eq!(run(&code, &mut [], 0), Exit { at: 0, leave: Leave::End });
}

#[test]
fn the_text_is_kept_on_request() {
    assert!(count_up().text().is_some_and(|text| !text.is_empty()));
    assert!(count_up().len_bytes() > 0);
    let code = Builder::new(shape(), 0).expect("a builder").finish().expect("code");
    assert_eq!(code.text(), None);
}

#[test]
fn code_is_shared_between_threads() {
    let code = count_up();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut slots = [Slot::Int(0), Slot::Int(10_000)];
                assert_eq!(run(&code, &mut slots, 0).leave, Leave::End);
                assert_eq!(slots[0], Slot::Int(10_000));
            });
        }
    });
}

/// The permissions of the mapping that an address is in; `None` if nothing is mapped there.
#[cfg(target_os = "linux")]
fn permissions(address: usize) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the mappings of this process");
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        (start..end).contains(&address).then(|| rest.chars().take(4).collect())
    })
}

#[test]
#[cfg(target_os = "linux")]
fn code_is_executable_and_not_writable() {
    let code = count_up();
    assert_eq!(permissions(code.address()).as_deref(), Some("r-xp"));
}

/// Other tests map memory meanwhile, so that one address may be mapped again: of many, most are not.
#[test]
#[cfg(target_os = "linux")]
fn dropped_code_is_unmapped() {
    let codes: Vec<Code> = (0..64).map(|_| count_up()).collect();
    let addresses: Vec<usize> = codes.iter().map(Code::address).collect();
    drop(codes);
    let executable = |address: &&usize| permissions(**address).is_some_and(|permissions| permissions.contains('x'));
    let still = addresses.iter().filter(executable).count();
    assert!(still < addresses.len() / 2, "{still} of {} are still there", addresses.len());
}
