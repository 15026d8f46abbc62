use super::*;
use pikepole_types::Collation;

fn with<T>(slots: &[Value], run: impl FnOnce(&mut Env<'_>) -> T) -> T {
    let mut state = SessionState::new(51);
    state.row_count = 3;
    let mut functions = Context::new(crate::clock::epoch(), 1);
    let mut env = Env { slots, state: &state, functions: &mut functions, host: None };
    run(&mut env)
}

fn binary(op: IntegerOp, width: Width, left: Integer, right: Integer) -> Integer {
    Integer::Binary { op, width, operands: Box::new([left, right]) }
}

fn number(value: i64) -> Integer {
    Integer::Const(Some(value))
}

#[test]
fn integers_keep_to_their_width() {
    let slots = [Value::Int(i32::MAX), Value::BigInt(5), Value::Null];
    let eval = |integer: &Integer| with(&slots, |env| integer.eval(env).map_err(|e| e.number));
    let add = |width, slot| binary(IntegerOp::Add, width, Integer::Slot(slot), number(1));
    assert_eq!(eval(&add(Width::Int, 0)), Err(8115));
    assert_eq!(eval(&add(Width::Big, 0)), Ok(Some(1 << 31)));
    assert_eq!(eval(&add(Width::Int, 1)), Ok(Some(6)));
    assert_eq!(eval(&add(Width::Int, 2)), Ok(None));
    let spid = Integer::Global(Global::SessionId);
    let key = binary(IntegerOp::Multiply, Width::Big, spid, number(10_000_000_000));
    assert_eq!(eval(&key), Ok(Some(510_000_000_000)));
}

#[test]
fn division_is_toward_zero_and_never_by_it() {
    let eval = |op, left, right| {
        let integer = binary(op, Width::Big, number(left), number(right));
        with(&[], |env| integer.eval(env).map_err(|e| e.number))
    };
    assert_eq!(eval(IntegerOp::Divide, -7, 2), Ok(Some(-3)));
    assert_eq!(eval(IntegerOp::Modulo, -7, 2), Ok(Some(-1)));
    assert_eq!(eval(IntegerOp::Divide, 1, 0), Err(8134));
    assert_eq!(eval(IntegerOp::Modulo, 1, 0), Err(8134));
    assert_eq!(eval(IntegerOp::Divide, i64::MIN, -1), Err(8115));
    assert_eq!(eval(IntegerOp::Modulo, i64::MIN, -1), Ok(Some(0)));
}

#[test]
fn conditions_know_three_values() {
    let compare = |op, left, right| Predicate::Integers(op, Box::new([left, right]));
    let unknown = || compare(Comparison::Equal, Integer::Const(None), number(1));
    let yes = || compare(Comparison::Less, number(1), number(2));
    let no = || compare(Comparison::Greater, number(1), number(2));
    let eval = |predicate: Predicate| with(&[], |env| predicate.eval(env).ok().flatten());
    assert_eq!(eval(Predicate::And(vec![unknown(), no()])), Some(false));
    assert_eq!(eval(Predicate::And(vec![unknown(), yes()])), None);
    assert_eq!(eval(Predicate::Or(vec![unknown(), yes()])), Some(true));
    assert_eq!(eval(Predicate::Or(vec![unknown(), no()])), None);
    assert_eq!(eval(Predicate::Not(Box::new(unknown()))), None);
    let list = |value, has_null| Predicate::InIntegers(Box::new(number(value)), vec![1, 3, 5], has_null);
    assert_eq!(eval(list(3, true)), Some(true));
    assert_eq!(eval(list(4, true)), None);
    assert_eq!(eval(list(4, false)), Some(false));
}

#[test]
fn a_decisive_part_spares_the_rest() {
    let fails = Predicate::Integers(
        Comparison::Equal,
        Box::new([binary(IntegerOp::Divide, Width::Int, number(1), number(0)), number(1)]),
    );
    let decided = Predicate::And(vec![Predicate::Const(Some(false)), fails.clone()]);
    assert_eq!(with(&[], |env| decided.eval(env).map_err(|e| e.number)), Ok(Some(false)));
    let undecided = Predicate::And(vec![Predicate::Const(Some(true)), fails]);
    assert_eq!(with(&[], |env| undecided.eval(env).map_err(|e| e.number)), Err(8134));
}

#[test]
fn leaves_are_not_copied_and_buffers_are_reused() {
    let slots = [Value::from("a long enough text")];
    with(&slots, |env| {
        let mut scratch = Value::Null;
        let expr = Expr::Slot(0);
        let found = expr.eval_ref(env, &mut scratch).unwrap();
        assert!(std::ptr::eq(found, &slots[0]));
        let mut out = Value::Str(String::with_capacity(64));
        let before = out.as_str().map(str::as_ptr);
        expr.eval_into(env, &mut out).unwrap();
        assert_eq!(out.as_str().map(str::as_ptr), before);
    });
}

#[test]
fn values_of_a_slot_are_stored_in_the_width_asked_for() {
    let slots = [Value::Int(7)];
    let widened = Expr::Integer(Box::new(Integer::Slot(0)), Width::Big);
    assert_eq!(with(&slots, |env| widened.eval(env).unwrap()), Value::BigInt(7));
    let narrow = Integer::Narrow(Box::new(number(300)), Width::Int, Width::Tiny);
    assert_eq!(with(&slots, |env| narrow.eval(env).map_err(|e| e.number)), Err(220));
    let from_big = Integer::Narrow(Box::new(number(300)), Width::Big, Width::Tiny);
    assert_eq!(with(&slots, |env| from_big.eval(env).map_err(|e| e.number)), Err(8115));
    let bit = Integer::Narrow(Box::new(number(300)), Width::Int, Width::Bit);
    assert_eq!(with(&slots, |env| bit.eval(env).unwrap()), Some(1));
}

#[test]
fn strings_compare_by_the_collation() {
    let compare = |a: &str, b: &str| {
        let operands = Box::new([Expr::Const(a.into()), Expr::Const(b.into())]);
        let predicate = Predicate::Values(Comparison::Equal, operands, Collation::default());
        with(&[], |env| predicate.eval(env).unwrap())
    };
    assert_eq!(compare("Abc", "aBC  "), Some(true));
    assert_eq!(compare("abc", "abd"), Some(false));
}

#[test]
fn the_slots_an_expression_reads_are_found() {
    let sum = binary(IntegerOp::Add, Width::Int, Integer::Slot(3), Integer::Slot(5));
    let expr = Expr::Coalesce(Box::new([Expr::Integer(Box::new(sum), Width::Int), Expr::Slot(9)]));
    let mut seen = Vec::new();
    expr.visit_slots(&mut |slot| seen.push(slot));
    assert_eq!(seen, [3, 5, 9]);
}
