//! Subqueries that are evaluated for rows. Where a subquery looks rows up that are on tapes, the rows outside are taken part by part
//! ([`crate::executor::spill::Regroup`]).

use hashbrown::HashMap;

use super::Run;
use super::cursor::Cursor;
use super::join::new_regroup;
use super::memo::Memo;
use super::profile::Making;
use crate::access::Stop;
use crate::errors;
use crate::executor::spill::{Charge, Regroup};
use crate::expression::{Comparison, Expr, Fault, ask_for};
use crate::plan::{Guard, Node, Scan, Test};
use pikepole_types::{Collation, Value};

/// What a value of a list costs in memory, beside its text.
const ITEM_BYTES: usize = 64;

/// The state of a [`Node::Apply`].
pub(crate) struct ApplyCursor {
    input: Cursor,
    /// A row of the input is at hand.
    at_hand: bool,
    /// The input has been narrowed by the outcome since it was opened, or is not to be.
    narrowed: bool,
    evaluation: Evaluation,
    /// Whether rows may come in another order than that of their source.
    regroups: bool,
    regroup: Option<Box<Regroup>>,
}

/// The subquery, and what has been found for the current row.
struct Evaluation {
    subquery: Cursor,
    /// True while the subquery is being read for the current row.
    within: bool,
    /// True when the subquery's result holds for every row: until the statement ends, however often it is opened.
    settled: bool,
    outcome: Outcome,
    memo: Memo,
}

/// What the rows of a subquery come to.
#[derive(Default)]
struct Outcome {
    found: Value,
    rows: u64,
    /// The rows' values by hash, for IN.
    list: HashMap<u64, Vec<Value>>,
    charge: Charge,
    /// The smallest and the largest value, and whether there was a NULL, for ANY and ALL.
    extremes: (Value, Value),
    has_null: bool,
}

/// The scan below filters and subqueries that a subquery's outcome narrows.
fn narrowed_by(node: &Node, outcome: usize) -> Option<&Scan> {
    match node {
        Node::Filter { input, .. } | Node::Compute { input, .. } | Node::Apply { input, .. } => {
            narrowed_by(input, outcome)
        }
        Node::Scan(scan) => scan.narrowed().is_some_and(|own| own.outcome == outcome).then_some(scan),
        _ => None,
    }
}

/// A subquery's plan.
#[derive(Clone, Copy)]
struct Subquery<'p> {
    node: &'p Node,
    test: &'p Test,
    slot: usize,
    correlated: bool,
    guards: &'p [Guard],
    memo: Option<&'p [usize]>,
}

impl ApplyCursor {
    pub(crate) fn new(input: Cursor, subquery: Cursor, making: Making<'_>) -> ApplyCursor {
        let (outcome, memo) = (Outcome::default(), Memo::default());
        let evaluation = Evaluation { subquery, within: false, settled: false, outcome, memo };
        ApplyCursor { input, at_hand: false, narrowed: false, evaluation, regroups: making.regroups, regroup: None }
    }

    pub(crate) fn open(&mut self) {
        self.at_hand = false;
        self.narrowed = false;
        self.evaluation.within = false;
        self.regroup = None;
        self.input.open();
    }

    pub(crate) fn forget(&mut self) {
        self.regroup = None;
        self.evaluation.settled = false;
        self.evaluation.outcome.list.clear();
        self.evaluation.outcome.charge.clear();
        self.evaluation.memo.forget();
        self.input.forget();
        self.evaluation.subquery.forget();
    }

    /// See [`Cursor::again`].
    pub(crate) fn again(&mut self) {
        self.at_hand = false;
        self.evaluation.within = false;
        self.input.again();
    }

    /// See [`Cursor::give_up_row`].
    pub(crate) fn give_up_row(&mut self) {
        self.at_hand = false;
        self.evaluation.within = false;
    }

    pub(crate) fn input(&mut self) -> &mut Cursor {
        &mut self.input
    }

    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        let Node::Apply { input, subquery, test, slot, correlated, guards, memo } = node else {
            return Ok(false);
        };
        let (slot, correlated, memo) = (*slot, *correlated, memo.as_deref());
        let subquery = Subquery { node: subquery, test, slot, correlated, guards, memo };
        if let Some(mut regroup) = self.regroup.take() {
            let result = self.regrouped(&mut regroup, input, subquery, run);
            self.regroup = Some(regroup);
            return result;
        }
        if !correlated && !self.narrowed {
            self.narrow(input, subquery, run)?;
        }
        if !self.at_hand {
            if self.regroups
                && correlated
                && run.has_spilled()
                && self.evaluation.subquery.spilled_part(subquery.node, run)?.is_some()
            {
                self.regroup = Some(Box::new(new_regroup(node, input, run)?));
                return self.next(node, run);
            }
            let at_hand = &mut self.at_hand;
            let take = |_: &mut Run<'_>| {
                *at_hand = true;
                Ok(())
            };
            if !self.input.take(input, run, take)? {
                return Ok(false);
            }
        }
        let evaluated = self.evaluation.evaluate(subquery, run);
        // A row that the subquery fails for is given up; one that it stops within stays at hand.
        self.at_hand = matches!(&evaluated, Err(stop) if !matches!(stop, Stop::Error(_)));
        evaluated.map(|()| true)
    }

    /// Has the input read only what the outcome leaves of it, where it can do so.
    fn narrow(&mut self, input: &Node, subquery: Subquery<'_>, run: &mut Run<'_>) -> Result<(), Stop> {
        if let Some(scan) = narrowed_by(input, subquery.slot) {
            if !self.evaluation.settled {
                self.evaluation.settle(subquery, run)?;
            }
            let values: Vec<&Value> = self.evaluation.outcome.list.values().flatten().collect();
            if let Some(cursor) = self.input.target_scan() {
                cursor.narrow(scan, values.into_iter());
            }
        }
        self.narrowed = true;
        Ok(())
    }

    fn regrouped(
        &mut self,
        regroup: &mut Regroup,
        input: &Node,
        subquery: Subquery<'_>,
        run: &mut Run<'_>,
    ) -> Result<bool, Stop> {
        while regroup.is_taking() {
            regroup.settle()?;
            let is_complete = regroup.is_complete();
            let own = &self.evaluation.subquery;
            let put = |run: &mut Run<'_>| {
                let part = own.spilled_part(subquery.node, run)?;
                regroup.put(part.unwrap_or(0), run);
                Ok(())
            };
            if is_complete || !self.input.take(input, run, put)? {
                regroup.end_outer()?;
            }
        }
        loop {
            regroup.settle()?;
            if !self.at_hand {
                if !regroup.next_outer(run)? {
                    return regroup.next_result(run);
                }
                self.at_hand = true;
            }
            self.evaluation.evaluate(subquery, run)?;
            regroup.keep(run)?;
            self.at_hand = false;
        }
    }
}

impl Evaluation {
    /// Leaves the subquery's result for the current row in its slot. Once it has stopped within a row it goes on there.
    fn evaluate(&mut self, plan: Subquery<'_>, run: &mut Run<'_>) -> Result<(), Stop> {
        let Subquery { test, slot, guards, memo, .. } = plan;
        if !self.within {
            for guard in guards {
                if guard.condition.holds(&mut run.env())? != guard.holds {
                    run.slots[slot] = Value::Null;
                    return Ok(());
                }
            }
            if let Some(slots) = memo
                && let Some(result) = self.memo.find(slots, run)?
            {
                run.slots[slot].clone_from(result);
                return Ok(());
            }
            if !self.settled {
                self.begin(test);
            }
        }
        if self.within {
            self.read(plan, run)?;
        }
        let outcome = &mut self.outcome;
        if let Test::In { left, collation, .. } = test {
            outcome.look_up(left, *collation, run)?;
        }
        if let Test::Extremes { left, op, all, collation, .. } = test {
            let value = left.eval(&mut run.env())?;
            outcome.found = outcome.compare_extremes(&value, *op, *all, *collation);
        }
        ask_for([&outcome.found], 1).map_err(Box::new)?;
        run.slots[slot].clone_from(&outcome.found);
        if memo.is_some() {
            self.memo.keep(&outcome.found);
        }
        Ok(())
    }

    /// Reads the subquery before there is a row, which it does not depend on. Once it has stopped it goes on there.
    fn settle(&mut self, plan: Subquery<'_>, run: &mut Run<'_>) -> Result<(), Stop> {
        if !self.within {
            self.begin(plan.test);
        }
        self.read(plan, run)
    }

    /// Reads what is left of the subquery's rows.
    fn read(&mut self, plan: Subquery<'_>, run: &mut Run<'_>) -> Result<(), Stop> {
        let Evaluation { subquery, outcome, .. } = self;
        loop {
            outcome.charge.force(run)?;
            if outcome.is_decided(plan.test)
                || !subquery.take(plan.node, run, |run| outcome.take_row(plan.test, run))?
            {
                break;
            }
        }
        self.within = false;
        self.settled = !plan.correlated;
        Ok(())
    }

    fn begin(&mut self, test: &Test) {
        self.subquery.open();
        self.within = true;
        self.outcome.begin(test);
    }
}

impl Outcome {
    fn begin(&mut self, test: &Test) {
        self.rows = 0;
        self.list.clear();
        self.charge.clear();
        self.extremes = (Value::Null, Value::Null);
        self.has_null = false;
        self.found = match test {
            Test::Exists => Value::Bit(false),
            Test::Scalar(_) | Test::In { .. } | Test::Extremes { .. } => Value::Null,
        };
    }

    /// True when further rows of the subquery change nothing.
    fn is_decided(&self, test: &Test) -> bool {
        matches!(test, Test::Exists) && self.rows > 0
    }

    fn take_row(&mut self, test: &Test, run: &mut Run<'_>) -> Result<(), Fault> {
        self.rows += 1;
        match test {
            Test::Exists => self.found = Value::Bit(true),
            Test::Scalar(_) if self.rows > 1 => return Err(errors::subquery_many_rows()),
            Test::Scalar(expr) => expr.eval_into(&mut run.env(), &mut self.found)?,
            Test::In { right, collation, .. } => {
                let value = right.eval(&mut run.env())?;
                let code = pikepole_types::hash(&value, *collation);
                let bucket = self.list.entry(code).or_default();
                if bucket.iter().any(|item| pikepole_types::order(item, &value, *collation).is_eq()) {
                    return Ok(());
                }
                let bytes = ITEM_BYTES + value.heap_bytes();
                bucket.push(value);
                self.charge.keep(bytes);
            }
            Test::Extremes { right, collation, .. } => {
                let value = right.eval(&mut run.env())?;
                self.take_extreme(value, *collation);
            }
        }
        Ok(())
    }

    fn take_extreme(&mut self, value: Value, collation: Collation) {
        if value.is_null() {
            self.has_null = true;
            return;
        }
        let (least, greatest) = &mut self.extremes;
        if least.is_null() || pikepole_types::order(&value, least, collation).is_lt() {
            least.clone_from(&value);
        }
        if greatest.is_null() || pikepole_types::order(&value, greatest, collation).is_gt() {
            *greatest = value;
        }
    }

    /// Whether `value op x` holds for one of the rows' values, or for all: what holds for all holds for the extremes.
    fn compare_extremes(&self, value: &Value, op: Comparison, all: bool, collation: Collation) -> Value {
        if self.rows == 0 {
            return Value::Bit(all);
        }
        if value.is_null() {
            return Value::Null;
        }
        let (least, greatest) = &self.extremes;
        let holds = |extreme: &Value| op.holds(pikepole_types::order(value, extreme, collation));
        let known = !least.is_null();
        let (one, every) = (known && (holds(least) || holds(greatest)), !known || (holds(least) && holds(greatest)));
        match (all, self.has_null) {
            (false, _) if one => Value::Bit(true),
            (true, _) if !every => Value::Bit(false),
            (_, true) => Value::Null,
            (all, false) => Value::Bit(all),
        }
    }

    /// Whether `left` is in the list: UNKNOWN when it is NULL or not found among values that hold a NULL.
    fn look_up(&mut self, left: &Expr, collation: Collation, run: &mut Run<'_>) -> Result<(), Fault> {
        let value = left.eval(&mut run.env())?;
        let has = |wanted: &Value| {
            let code = pikepole_types::hash(wanted, collation);
            self.list
                .get(&code)
                .is_some_and(|bucket| bucket.iter().any(|item| pikepole_types::order(item, wanted, collation).is_eq()))
        };
        self.found = if self.rows == 0 {
            Value::Bit(false)
        } else if value.is_null() {
            Value::Null
        } else if has(&value) {
            Value::Bit(true)
        } else if has(&Value::Null) {
            Value::Null
        } else {
            Value::Bit(false)
        };
        Ok(())
    }
}
