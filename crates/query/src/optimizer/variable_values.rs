//! The values that variables are taken to have when a plan is made.
//!
//! | from | for |
//! |---|---|
//! | the call for which the plan is made | the parameters: *parameter sniffing* |
//! | the run for which it is made, `OPTION (RECOMPILE)` | all variables |
//! | `OPTION (OPTIMIZE FOR (@v = value))` | the variables that it names; `(@v UNKNOWN)` takes one out |
//! | `OPTION (OPTIMIZE FOR UNKNOWN)` | those that other hints name, alone |
//!
//! They change estimates, and with them the plan, but no result. A program is bound when it is compiled, before there are values: then a
//! variable is noted of which an estimate would have known more by its value, and the first run makes the plan again.

use pikepole_types::Value;
use std::cell::{Cell, RefCell};

/// Bytes of the longest text that a variable is taken to have: histograms have none that is longer.
const TEXT_BYTES_MAX: usize = 900;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct VariableValues {
    /// Variables are the slots below this one.
    variables: usize,
    /// By slots; None for one whose value is not to be used.
    known: RefCell<Vec<(usize, Option<Value>)>>,
    /// No other value is to be used.
    is_unknown: Cell<bool>,
    /// Variables whose values were asked for: those that are known, and those that are not.
    used: RefCell<Vec<usize>>,
    asked: RefCell<Vec<usize>>,
}

impl VariableValues {
    /// Values of the first of so many variables.
    pub(crate) fn new(variables: usize, values: &[Value]) -> VariableValues {
        let known = values.iter().take(variables).enumerate();
        let known = known.map(|(slot, value)| (slot, (!is_long(value)).then(|| value.clone())));
        VariableValues { variables, known: RefCell::new(known.collect()), ..VariableValues::default() }
    }

    /// Values by their slots, as [`VariableValues::used`] gave them.
    pub(crate) fn of_plan(known: &[(usize, Value)]) -> VariableValues {
        let known: Vec<_> = known.iter().map(|(slot, value)| (*slot, Some(value.clone()))).collect();
        let variables = known.iter().map(|(slot, _)| slot + 1).max().unwrap_or(0);
        VariableValues { variables, known: RefCell::new(known), ..VariableValues::default() }
    }

    /// Takes a variable to have this value; None: an unknown one.
    pub(crate) fn optimize_for(&self, slot: usize, value: Option<Value>) {
        let mut known = self.known.borrow_mut();
        known.retain(|(own, _)| *own != slot);
        known.push((slot, value));
    }

    /// Takes the variables that no other hint names to have unknown values.
    pub(crate) fn optimize_for_unknown(&self, named: &[usize]) {
        self.known.borrow_mut().retain(|(slot, _)| named.contains(slot));
        self.is_unknown.set(true);
    }

    /// The number of variables.
    pub(crate) fn variables(&self) -> usize {
        self.variables
    }

    pub(crate) fn is_variable(&self, slot: usize) -> bool {
        slot < self.variables
    }

    /// The value of a variable, if it is known. That it was asked for is noted.
    pub(crate) fn value(&self, slot: usize) -> Option<Value> {
        let value = match self.known.borrow().iter().find(|(own, _)| *own == slot) {
            Some((_, known)) => known.clone()?,
            None => {
                if !self.is_unknown.get() && self.is_variable(slot) {
                    note(&self.asked, slot);
                }
                return None;
            }
        };
        note(&self.used, slot);
        Some(value)
    }

    /// The values that estimates have used, by their slots.
    pub(crate) fn used(&self) -> Box<[(usize, Value)]> {
        let (known, used) = (self.known.borrow(), self.used.borrow());
        let used = known.iter().filter(|(slot, _)| used.contains(slot));
        used.filter_map(|(slot, value)| Some((*slot, value.clone()?))).collect()
    }

    /// The variables whose values estimates would have used.
    pub(crate) fn asked(&self) -> Box<[usize]> {
        self.asked.borrow().as_slice().into()
    }
}

fn note(list: &RefCell<Vec<usize>>, slot: usize) {
    let mut list = list.borrow_mut();
    if !list.contains(&slot) {
        list.push(slot);
    }
}

fn is_long(value: &Value) -> bool {
    match value {
        Value::Str(text) => text.len() > TEXT_BYTES_MAX,
        Value::Bin(bytes) => bytes.len() > TEXT_BYTES_MAX,
        _ => false,
    }
}
