//! The optimizer: what makes plans quick beyond plain translation.
//!
//! ```text
//!   bind: names, types ──► FROM and conditions as written ──► rules, in the order of RULES ──► plan
//!                                                               │
//!                              statistics ──► cardinality ──► cost
//! ```
//! The binder still makes plans in one walk and asks for each rule where its turn comes: [`RULES`] says where that is. Every rule can be
//! switched off for a statement (`OPTION (QUERYRULEOFF name)`), which changes its plan and never its result. Three things that other
//! engines have as rules are none here: constants are folded as expressions are bound (`bind::typed`), columns that nothing reads are
//! left out by the finished plan's own account of them (`plan::live`), and the executor decides where batches run (`executor::batch`).

pub(crate) mod cardinality;
mod cost;
mod equality;
pub(crate) mod rules;
mod statistics;
pub(crate) mod variable_values;

pub(crate) use cardinality::{Size, of as size_of, table_rows};
pub(crate) use cost::LOOKUP;

use crate::expression::Fault;
use pikepole_types::SqlError;

/// A rewrite or a choice that a statement can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    ViewMerging,
    OuterToInnerJoin,
    EarlySemiJoin,
    ImpliedPredicates,
    JoinOrder,
    JoinMethod,
    ContradictionDetection,
    PredicatePushdown,
    IndexSeek,
    HashJoin,
    JoinDecorrelation,
    SemiJoinReduction,
    ConstantSortKeys,
    SortElimination,
    CommonTableSpool,
    AggregateDecorrelation,
    Memoize,
    Parallelism,
}

/// A rule of the table.
pub(crate) struct RuleEntry {
    pub(crate) rule: Rule,
    /// As hints name it.
    pub(crate) name: &'static str,
    /// The reason for its place, and the code that asks for it. A test copies it to the documents.
    #[cfg_attr(not(test), expect(dead_code, reason = "the documents are written by a test"))]
    pub(crate) place: &'static str,
}

const fn entry(rule: Rule, name: &'static str, place: &'static str) -> RuleEntry {
    RuleEntry { rule, name, place }
}

/// All rules, in the order in which a SELECT meets them.
pub(crate) const RULES: &[RuleEntry] = &[
    entry(
        Rule::ViewMerging,
        "ViewMerging",
        "First, because what stands within a view takes part in all that follows (bind::open_query).",
    ),
    entry(
        Rule::OuterToInnerJoin,
        "OuterToInnerJoin",
        "Before joins are ordered, because only inner joins change places (rules::outer_to_inner_join).",
    ),
    entry(
        Rule::EarlySemiJoin,
        "EarlySemiJoin",
        "Before joins are ordered, because it makes a member smaller, and after outer joins are inner ones, because it passes \
         only these; a test that runs for each row when the order is known, because then it is known how many rows the joins leave \
         (rules::early_semi_join).",
    ),
    entry(
        Rule::ImpliedPredicates,
        "ImpliedPredicates",
        "Around the choice of an order: restrictions that follow from an OR before it, because they are part of the cost; \
         equalities after it, because the order says which of them are of use (rules::join_order, cost).",
    ),
    entry(
        Rule::JoinOrder,
        "JoinOrder",
        "Once all members and conditions of a run of inner joins are known, and before any of them has a plan \
         (rules::join_order).",
    ),
    entry(
        Rule::JoinMethod,
        "JoinMethod",
        "With the order, whose cost it is part of: a hash table where many rows would be looked up (rules::join_order, cost).",
    ),
    entry(
        Rule::ContradictionDetection,
        "ContradictionDetection",
        "Where conditions have come to a source, before anything is planned that they make superfluous (bind::join).",
    ),
    entry(
        Rule::PredicatePushdown,
        "PredicatePushdown",
        "When a derived table takes its place in the order, because the conditions on it are known then; HAVING likewise \
         (rules::predicate_pushdown).",
    ),
    entry(
        Rule::IndexSeek,
        "IndexSeek",
        "After conditions have moved, because they are what bounds a key (rules::index_seek).",
    ),
    entry(
        Rule::HashJoin,
        "HashJoin",
        "After index seeks, because it serves the equalities that no key serves (bind::join).",
    ),
    entry(
        Rule::JoinDecorrelation,
        "JoinDecorrelation",
        "After hash joins, because a subquery whose plan keeps a table by a value of the row outside is one that no key serves \
         (rules::join_decorrelation).",
    ),
    entry(
        Rule::SemiJoinReduction,
        "SemiJoinReduction",
        "After index seeks, because it serves scans that no condition bounds (rules::semi_join_reduction).",
    ),
    entry(
        Rule::ConstantSortKeys,
        "ConstantSortKeys",
        "Before sorts are made, once the rows have a plan that says which columns are constant (rules::constant_sort_keys).",
    ),
    entry(
        Rule::SortElimination,
        "SortElimination",
        "After access paths are chosen, because they give rows an order (bind::query).",
    ),
    entry(
        Rule::CommonTableSpool,
        "CommonTableSpool",
        "When the whole plan is there, because that says which conditions each name of a common table has within its rows, and what \
         these rows cost without them; before aggregates are decorrelated, which changes what stands around such a name \
         (rules::common_table_spool, executor::common_table).",
    ),
    entry(
        Rule::AggregateDecorrelation,
        "AggregateDecorrelation",
        "When the whole plan is there, because that says for how many rows a subquery is asked, and which of its equalities no key \
         serves (rules::aggregate_decorrelation).",
    ),
    entry(
        Rule::Memoize,
        "Memoize",
        "When a subquery has its plan, because that says which columns of the row outside decide its result; it takes effect where \
         no other rule has made a join of it (rules::memoize, executor::memo).",
    ),
    entry(
        Rule::Parallelism,
        "Parallelism",
        "Last, because the executor shares the parts of a finished plan among workers (executor::parallel).",
    ),
];

/// The rules that a statement is planned with, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuleSet(u32);

impl RuleSet {
    pub(crate) const ALL: RuleSet = RuleSet(u32::MAX);

    pub(crate) fn has(self, rule: Rule) -> bool {
        self.0 >> rule as u32 & 1 == 1
    }

    /// Switches a rule off by its name.
    ///
    /// # Errors
    /// 102 for a name that no rule has.
    pub(crate) fn switch_off(&mut self, name: &str) -> Result<(), Fault> {
        let entry = RULES.iter().find(|entry| entry.name.eq_ignore_ascii_case(name));
        let rule = entry.ok_or_else(|| unknown_rule(name))?.rule;
        self.0 &= !(1 << rule as u32);
        Ok(())
    }
}

#[cold]
fn unknown_rule(name: &str) -> Fault {
    let names: Vec<&str> = RULES.iter().map(|entry| entry.name).collect();
    let text = format!("'{name}' is not a rule of the optimizer. The rules are {}.", names.join(", "));
    Box::new(SqlError::new(102, 15, 1, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_a_place_and_a_bit_of_its_own() {
        for (at, entry) in RULES.iter().enumerate() {
            assert_eq!(entry.rule as usize, at, "the table is in the order of the rules: {}", entry.name);
            assert_eq!(entry.name, format!("{:?}", entry.rule));
            assert!(entry.place.ends_with("."), "{}", entry.name);
            let mut set = RuleSet::ALL;
            set.switch_off(&entry.name.to_uppercase()).expect("it is a rule");
            let off: Vec<&str> = RULES.iter().filter(|other| !set.has(other.rule)).map(|other| other.name).collect();
            assert_eq!(off, [entry.name]);
        }
        let mut set = RuleSet::ALL;
        assert!(set.switch_off("JoinOrders").is_err());
        assert_eq!(set, RuleSet::ALL);
    }
}
