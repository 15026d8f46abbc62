//! Programs: entries, jumps, helpers, exits, mistakes, and the memory of code.

use super::{Globals, Slot, frame, shape};
use crate::{Builder, Code, Comparison, Exit, Leave, Op, Width};

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
