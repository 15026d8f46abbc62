//! The joins of FROM, from their tree to operators.
//!
//! All joins run as nested loops, inner ones in the order that [`crate::optimizer::rules::join_order`] chooses; what makes them quick is how the inner
//! side finds its rows. By the order of preference: a range of a key that the outer row's values bound; a spool, which finds
//! rows by equality in a hash table made of them once; all rows, tested one by one. Where so many rows would be looked up that
//! reading all of them once is cheaper, the spool comes first.

use std::sync::Arc;

use super::open_query::{OpenQuery, can_fail, moved};
use super::scope::Source;
use super::{Binder, Bound, filtered};
use crate::access::Table;
use crate::expression::{Comparison, Expr, Integer, Predicate, Width};
use crate::optimizer::cardinality;
use crate::optimizer::rules::common_table_spool::PlanSize;
use crate::optimizer::rules::early_semi_join::{give_back, take_early, tested};
use crate::optimizer::rules::index_seek::key_range;
use crate::optimizer::rules::join_order::{Member, Place};
use crate::optimizer::rules::outer_to_inner_join::simplified;
use crate::optimizer::rules::predicate_pushdown::{plain, push_down};
use crate::optimizer::variable_values::VariableValues;
use crate::optimizer::{Rule, RuleSet};
use crate::plan::{
    CommonRows, FullJoin, JoinKey, JoinKind, KeyRange, LiveSlots, More, Node, Registers, Scan, Sharing, Spool,
    WholeRows,
};
use pikepole_types::{Collation, Value};

/// A source's rows before the conditions are spread over the sources.
#[derive(Clone)]
pub(crate) enum Leaf {
    Table(Arc<Table>),
    /// Any other rows; the node fills the source's registers.
    Rows(Node),
    /// A query whose values still have to be copied to the source's registers.
    Derived(Bound),
    /// The same for a common table that the statement names more than once, and its number.
    Common(usize, Bound),
    /// A query without a plan yet.
    Open(Box<OpenQuery>),
    /// The row of a recursive common table that its members go on from, which stands in these registers.
    Work(Registers),
}

/// The joins of FROM.
#[derive(Clone)]
pub(crate) enum JoinTree {
    /// The index of the source in its scope.
    Leaf(usize, Leaf),
    Join {
        left: Box<JoinTree>,
        right: Box<JoinTree>,
        kind: JoinKind,
        /// True when the right side may read the left one's columns: APPLY.
        lateral: bool,
        on: Vec<Predicate>,
    },
    Full {
        left: Box<JoinTree>,
        right: Box<JoinTree>,
        on: Vec<Predicate>,
    },
    /// Rows with a slot that says that they are there, where a join may leave NULLs instead.
    Marked(Box<JoinTree>, usize),
}

impl JoinTree {
    /// Calls `visit` with every table and the index of its source.
    pub(crate) fn visit_tables(&self, visit: &mut dyn FnMut(usize, &Arc<Table>)) {
        self.visit_leaves(&mut |index, leaf| {
            if let Leaf::Table(table) = leaf {
                visit(index, table);
            }
        });
    }

    /// Calls `visit` with every source's index and rows.
    pub(crate) fn visit_leaves(&self, visit: &mut dyn FnMut(usize, &Leaf)) {
        match self {
            JoinTree::Leaf(index, leaf) => visit(*index, leaf),
            JoinTree::Join { left, right, .. } | JoinTree::Full { left, right, .. } => {
                left.visit_leaves(visit);
                right.visit_leaves(visit);
            }
            JoinTree::Marked(inner, _) => inner.visit_leaves(visit),
        }
    }

    /// Calls `visit` with the conditions of its joins, but for those within its sources.
    pub(crate) fn visit_conditions(&self, visit: &mut dyn FnMut(&Predicate)) {
        match self {
            JoinTree::Leaf(..) => {}
            JoinTree::Join { left, right, on, .. } | JoinTree::Full { left, right, on } => {
                left.visit_conditions(visit);
                right.visit_conditions(visit);
                on.iter().for_each(visit);
            }
            JoinTree::Marked(inner, _) => inner.visit_conditions(visit),
        }
    }

    /// Calls `visit` with every slot that its conditions and the plans of its sources read; those that the plans fill
    /// themselves are among them.
    pub(crate) fn visit_read(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            JoinTree::Leaf(_, Leaf::Table(_) | Leaf::Work(_)) => {}
            JoinTree::Leaf(_, Leaf::Rows(node)) => node.touched().each(visit),
            JoinTree::Leaf(_, Leaf::Open(query)) => query.visit_read(visit),
            JoinTree::Leaf(_, Leaf::Derived(bound) | Leaf::Common(_, bound)) => {
                bound.node.touched().each(visit);
                bound.values.iter().for_each(|value| value.visit_slots(visit));
            }
            JoinTree::Join { left, right, on, .. } | JoinTree::Full { left, right, on } => {
                left.visit_read(visit);
                right.visit_read(visit);
                on.iter().for_each(|condition| condition.visit_slots(visit));
            }
            JoinTree::Marked(inner, _) => inner.visit_read(visit),
        }
    }
}

/// What a leaf may read before its rows are opened.
pub(crate) struct Ready<'a> {
    /// The registers of all sources of the scope.
    all: &'a [Registers],
    /// Those that have their rows already.
    available: &'a [Registers],
    /// The leaf's own.
    own: Registers,
    /// The number of variables, which are the first slots.
    variables: usize,
    rules: RuleSet,
}

impl Ready<'_> {
    /// Whether a slot has its value before the leaf opens.
    fn before(&self, slot: usize) -> bool {
        let within = |registers: &[Registers]| registers.iter().any(|registers| registers.range().contains(&slot));
        !within(self.all) || within(self.available)
    }

    fn with_own(&self, slot: usize) -> bool {
        self.own.range().contains(&slot) || self.before(slot)
    }

    pub(crate) fn is_variable(&self, slot: usize) -> bool {
        slot < self.variables
    }

    /// Whether an expression reads the leaf's columns and nothing else but variables.
    fn is_own(&self, expr: &Expr) -> bool {
        let mut own = 0;
        let mut other = 0;
        expr.visit_slots(&mut |slot| match self.own.range().contains(&slot) {
            true => own += 1,
            false => other += usize::from(!self.is_variable(slot)),
        });
        own > 0 && other == 0
    }

    /// Whether an expression reads rows outside, and only such as are there already.
    fn is_outer(&self, expr: &Expr) -> bool {
        let (mut rows, mut ready) = (false, true);
        expr.visit_slots(&mut |slot| {
            rows |= !self.is_variable(slot);
            ready &= self.before(slot) && !self.own.range().contains(&slot);
        });
        rows && ready
    }

    /// The sides of an equality between the leaf's columns and rows outside.
    pub(crate) fn equality(&self, condition: &Predicate) -> Option<JoinKey> {
        let Sides { left, right, collation } = equality_of_sides(condition)?;
        match (self.is_own(&left), self.is_own(&right)) {
            (true, false) if self.is_outer(&right) => Some(JoinKey { inner: left, outer: right, collation }),
            (false, true) if self.is_outer(&left) => Some(JoinKey { inner: right, outer: left, collation }),
            _ => None,
        }
    }
}

/// Two values that must be equal by a collation.
pub(crate) struct Sides {
    pub(crate) left: Expr,
    pub(crate) right: Expr,
    pub(crate) collation: Collation,
}

/// The two values that a condition says are equal.
pub(crate) fn equality_of_sides(condition: &Predicate) -> Option<Sides> {
    let whole = |side: &Integer| Expr::Integer(Box::new(side.clone()), Width::Big);
    match condition {
        Predicate::Integers(Comparison::Equal, sides) => {
            Some(Sides { left: whole(&sides[0]), right: whole(&sides[1]), collation: Collation::default() })
        }
        Predicate::Values(Comparison::Equal, sides, collation) => {
            Some(Sides { left: sides[0].clone(), right: sides[1].clone(), collation: *collation })
        }
        _ => None,
    }
}

/// Operators of second plans of common tables in a statement, at most: each level of tables that name others would double them.
const COPIED_OPERATORS_MAX: usize = 10_000;

/// Rows of joins that are kept, where they would be made for each row of another side.
const KEPT_ROWS_MAX: f64 = 100_000.0;

impl Binder<'_> {
    /// The rows of FROM and WHERE, with the subqueries of WHERE in between.
    pub(crate) fn rows(&mut self, from: Option<JoinTree>, mut conditions: Vec<Predicate>) -> Node {
        conditions.append(&mut self.scope().joined_conditions);
        let mut results: Vec<usize> = self.pending.iter().map(|pending| pending.slot).collect();
        let reads_result = |condition: &Predicate| {
            let mut reads = false;
            condition.visit_slots(&mut |slot| reads |= results.contains(&slot));
            reads
        };
        let filters = std::mem::take(&mut self.scope().filters);
        let filtering: Vec<usize> = filters.iter().flat_map(|filter| filter.results.iter().copied()).collect();
        let of_filters = filters.into_iter().flat_map(|filter| filter.conditions);
        let (mut after, mut before): (Vec<_>, Vec<_>) = of_filters.partition(reads_result);
        // A condition that fails for a row which is not there would tell of it.
        let is_late = |condition: &Predicate| !filtering.is_empty() && can_fail(condition);
        let (late, early): (Vec<_>, Vec<_>) =
            conditions.into_iter().partition(|condition| reads_result(condition) || is_late(condition));
        after.extend(late);
        before.extend(early);
        let node = match from {
            None => Node::One,
            Some(tree) => {
                let tree = match self.active_rules.has(Rule::OuterToInnerJoin) {
                    true => simplified(tree, &before, &self.scope().sources),
                    false => tree,
                };
                let is_read = self.scope().sources.iter().all(|source| source.row_place().is_none());
                if filtering.is_empty() && is_read && self.active_rules.has(Rule::EarlySemiJoin) {
                    let registers: Vec<Registers> =
                        self.scope().sources.iter().map(|source| source.registers).collect();
                    let variables = self.names.variables.len();
                    let early = take_early(&tree, &registers, variables, &mut self.pending, &mut after);
                    self.scope().early = early;
                }
                let node = self.joined_once_or_for_each(tree, &mut before);
                give_back(std::mem::take(&mut self.scope().early), &mut self.pending, &mut after);
                results = self.pending.iter().map(|pending| pending.slot).collect();
                node
            }
        };
        let mut node = filtered(node, before);
        // A row that one subquery's result has dropped is none that the next one is evaluated for.
        let mut missing = results.clone();
        for subquery in std::mem::take(&mut self.pending) {
            missing.retain(|slot| *slot != subquery.slot);
            node = super::applied(node, vec![subquery]);
            let is_ready = |condition: &Predicate| {
                let mut ready = true;
                condition.visit_slots(&mut |slot| ready &= !missing.contains(&slot));
                ready && !(is_late(condition) && filtering.iter().any(|slot| missing.contains(slot)))
            };
            let (ready, rest): (Vec<_>, Vec<_>) = after.into_iter().partition(is_ready);
            node = filtered(node, ready);
            after = rest;
        }
        filtered(node, after)
    }

    /// Turns joins into operators. Conditions go down to the first place where all they read is there; those left in
    /// `conditions` must be tested above.
    pub(crate) fn join_node(
        &mut self,
        tree: JoinTree,
        conditions: &mut Vec<Predicate>,
        available: &mut Vec<Registers>,
    ) -> Node {
        match tree {
            JoinTree::Leaf(index, leaf) => self.leaf_node(index, leaf, false, conditions, available),
            JoinTree::Marked(inner, slot) => {
                let input = Box::new(self.join_node(*inner, conditions, available));
                available.push(Registers { first: slot, count: 1 });
                Node::Compute { input, assignments: vec![(slot, Expr::Const(Value::Bit(true)))] }
            }
            tree @ JoinTree::Join { kind: JoinKind::Inner, .. } => self.run_node(tree, conditions, available),
            JoinTree::Join { left, right, kind: JoinKind::Left, lateral, on } => {
                let left = self.join_node(*left, conditions, available);
                self.left_join(left, (Member { tree: *right, lateral }, on), conditions, available)
            }
            JoinTree::Full { left, right, on } => self.full_join(*left, *right, on, available),
        }
    }

    /// Inner joins, one after the other.
    fn run_node(&mut self, tree: JoinTree, conditions: &mut Vec<Predicate>, available: &mut Vec<Registers>) -> Node {
        let places = self.places(tree, conditions);
        let mut joined = None;
        for Place { member, keeps, on } in places {
            joined = Some(match (joined, on) {
                (None, _) => self.join_node(member.tree, conditions, available),
                (Some(left), Some(on)) => self.left_join(left, (member, on), conditions, available),
                (Some(left), None) => Node::Join {
                    left: Box::new(left),
                    right: Box::new(self.inner_side(member, keeps, conditions, available)),
                    kind: JoinKind::Inner,
                    on: None,
                    right_registers: Vec::new(),
                },
            });
        }
        joined.unwrap_or(Node::One)
    }

    /// Rows and those of the right side of a LEFT JOIN, with the conditions that are tested there.
    fn left_join(
        &mut self,
        left: Node,
        (member, mut on): (Member, Vec<Predicate>),
        conditions: &mut Vec<Predicate>,
        available: &mut Vec<Registers>,
    ) -> Node {
        let before = available.len();
        let right = self.inner_side(member, false, &mut on, available);
        let joined = Node::Join {
            left: Box::new(left),
            right: Box::new(right),
            kind: JoinKind::Left,
            on: super::conjunction(on),
            right_registers: available[before..].to_vec(),
        };
        let all: Vec<Registers> = self.scope().sources.iter().map(|source| source.registers).collect();
        let is_ready = |condition: &Predicate| {
            let mut is_ready = true;
            condition.visit_slots(&mut |slot| {
                let within = |registers: &[Registers]| registers.iter().any(|one| one.range().contains(&slot));
                is_ready &= !within(&all) || within(available);
            });
            is_ready
        };
        let (mine, rest) = std::mem::take(conditions).into_iter().partition(is_ready);
        *conditions = rest;
        filtered(joined, mine)
    }

    /// The right side of a join. Rows of a derived table, or of tests that run for each row, are kept if they read nothing of the left
    /// side; so are those of further joins, and those below a condition that reads the left side, if few are expected. `keeps`: see
    /// [`crate::optimizer::rules::join_order::Step`].
    fn inner_side(
        &mut self,
        Member { tree, lateral }: Member,
        keeps: bool,
        conditions: &mut Vec<Predicate>,
        available: &mut Vec<Registers>,
    ) -> Node {
        let (is_made, is_joined) = match &tree {
            JoinTree::Leaf(_, Leaf::Derived(_) | Leaf::Common(..) | Leaf::Open(_)) => (true, false),
            JoinTree::Leaf(source, _) => (self.scope().early.iter().any(|test| test.is_dear_of(*source)), false),
            _ => (true, true),
        };
        let first = available.len();
        let node = match tree {
            JoinTree::Leaf(index, leaf) => self.leaf_node(index, leaf, keeps, conditions, available),
            tree => self.join_node(tree, conditions, available),
        };
        if lateral || !is_made || matches!(&node, Node::More(more) if matches!(more.as_ref(), More::Spool(_))) {
            return node;
        }
        let (own, variables) = (&available[first..], self.names.variables.len());
        match node {
            node if node.is_fixed(variables) => {
                let keeps = has(&node, reads_rows) && (!is_joined || is_short(&node, &self.values));
                if keeps { kept(node, own) } else { node }
            }
            Node::Filter { input, predicate }
                if input.is_fixed(variables) && has(&input, makes_rows) && is_short(&input, &self.values) =>
            {
                Node::Filter { input: Box::new(kept(*input, own)), predicate }
            }
            node => node,
        }
    }

    fn full_join(
        &mut self,
        left: JoinTree,
        right: JoinTree,
        on: Vec<Predicate>,
        available: &mut Vec<Registers>,
    ) -> Node {
        let before = available.len();
        let mut behind_left = available.clone();
        let mut behind_right = available.clone();
        let left = self.join_node(left, &mut Vec::new(), &mut behind_left);
        let right = self.join_node(right, &mut Vec::new(), &mut behind_right);
        let left_registers = behind_left.split_off(before);
        let right_registers = behind_right.split_off(before);
        let reads_only = |expr: &Expr, registers: &[Registers]| {
            let (mut some, mut only) = (false, true);
            expr.visit_slots(&mut |slot| {
                let own = registers.iter().any(|registers| registers.range().contains(&slot));
                some |= own;
                only &= own;
            });
            some && only
        };
        let (mut keys, mut rest) = (Vec::new(), Vec::new());
        for condition in on {
            match equality_of_sides(&condition) {
                Some(Sides { left: a, right: b, collation })
                    if reads_only(&a, &left_registers) && reads_only(&b, &right_registers) =>
                {
                    keys.push(JoinKey { outer: a, inner: b, collation });
                }
                Some(Sides { left: a, right: b, collation })
                    if reads_only(&b, &left_registers) && reads_only(&a, &right_registers) =>
                {
                    keys.push(JoinKey { outer: b, inner: a, collation });
                }
                _ => rest.push(condition),
            }
        }
        let mut carry = Vec::new();
        right.visit_filled(&mut |slot| {
            if right_registers.iter().any(|registers| registers.range().contains(&slot)) && !carry.contains(&slot) {
                carry.push(slot);
            }
        });
        available.extend(left_registers.iter().chain(&right_registers).copied());
        let on = super::conjunction(rest);
        let join = FullJoin { left, right, keys, on, left_registers, right_registers, carry };
        Node::More(Box::new(More::Full(join)))
    }

    /// A source with the conditions that can be tested there; `keeps`: see [`crate::optimizer::rules::join_order::Step`].
    fn leaf_node(
        &mut self,
        index: usize,
        leaf: Leaf,
        keeps: bool,
        conditions: &mut Vec<Predicate>,
        available: &mut Vec<Registers>,
    ) -> Node {
        let source = &self.scope().sources[index].clone();
        let all: Vec<Registers> = self.scope().sources.iter().map(|source| source.registers).collect();
        let variables = self.names.variables.len();
        let ready = Ready { all: &all, available, own: source.registers, variables, rules: self.active_rules };
        let (mut mine, mut rest) = (Vec::new(), Vec::new());
        for condition in conditions.drain(..) {
            let mut all_ready = true;
            condition.visit_slots(&mut |slot| all_ready &= ready.with_own(slot));
            if all_ready { mine.push(condition) } else { rest.push(condition) }
        }
        *conditions = rest;
        if mine.iter().any(|condition| condition.constant() == Some(false))
            && self.active_rules.has(Rule::ContradictionDetection)
        {
            available.push(source.registers);
            return Node::Values { rows: Vec::new(), registers: source.registers };
        }
        let node = match leaf {
            Leaf::Table(table) => scan_node(source, table, keeps, &mut mine, &ready),
            // Nobody knows how many rows a trigger or a view of the system has.
            Leaf::Rows(node @ Node::Virtual { .. }) => spooled(node, source, &mut mine, &ready),
            Leaf::Rows(node) => node,
            Leaf::Derived(bound) => {
                let (bound, _) = with_conditions(bound, source.registers, &mut mine, variables, self.active_rules);
                spooled(derived_node(source, bound), source, &mut mine, &ready)
            }
            Leaf::Common(number, whole) => {
                let rows = common_rows(number, source, whole, &mut mine, &ready, &mut self.copied_operators);
                spooled(rows, source, &mut mine, &ready)
            }
            Leaf::Open(query) => self.open_node(source, *query, keeps, &mut mine, &ready),
            Leaf::Work(_) => Node::One,
        };
        available.push(source.registers);
        let early = &mut self.scope().early;
        let (tests, others) = std::mem::take(early).into_iter().partition(|test| test.is_of(index));
        *early = others;
        tested(filtered(node, mine), tests)
    }
}

/// True if an operator, or one below it, is of a kind.
fn has(node: &Node, is_of_kind: fn(&Node) -> bool) -> bool {
    let mut has = false;
    node.visit_nodes(&mut |node| has |= is_of_kind(node));
    has
}

fn reads_rows(node: &Node) -> bool {
    match node {
        Node::Scan(_) | Node::Group { .. } | Node::Virtual { .. } => true,
        // A name of a common table: below it are the rows.
        Node::More(more) => !matches!(**more, More::Common(_)),
        _ => false,
    }
}

/// True if rows cost more to make than to read.
fn makes_rows(node: &Node) -> bool {
    match node {
        Node::Join { .. }
        | Node::Apply { .. }
        | Node::Group { .. }
        | Node::Sort { .. }
        | Node::Number { .. }
        | Node::Virtual { .. } => true,
        Node::More(more) => !matches!(**more, More::Common(_)),
        _ => false,
    }
}

/// True if so few rows are expected that they may be kept: joins of all rows with all make more than memory has room for, at little cost.
fn is_short(node: &Node, values: &VariableValues) -> bool {
    cardinality::of(node, values).rows <= KEPT_ROWS_MAX
}

/// Rows that are made once; `own` are the registers of what they join.
fn kept(node: Node, own: &[Registers]) -> Node {
    kept_by(node, Vec::new(), own)
}

/// Rows that are made once and found by keys; `own` are the registers of what they join.
pub(crate) fn kept_by(node: Node, keys: Vec<JoinKey>, own: &[Registers]) -> Node {
    let mut carry = Vec::new();
    node.visit_filled(&mut |slot| {
        if own.iter().any(|registers| registers.range().contains(&slot)) && !carry.contains(&slot) {
            carry.push(slot);
        }
    });
    Node::More(Box::new(More::Spool(Spool { input: node, keys, carry })))
}

/// A planned query with those of the conditions on its columns, which stand in `own`, that move down into it: see [`push_down`]. They are
/// taken out of `mine`, and returned, too.
fn with_conditions(
    mut bound: Bound,
    own: Registers,
    mine: &mut Vec<Predicate>,
    variables: usize,
    rules: RuleSet,
) -> (Bound, Vec<Predicate>) {
    if !rules.has(Rule::PredicatePushdown) {
        return (bound, Vec::new());
    }
    let below = |slot: usize| match own.range().contains(&slot) {
        true => bound.values.get(slot - own.first).and_then(plain),
        false => (slot < variables).then_some(Expr::Slot(slot)),
    };
    let mut within = Vec::new();
    let taken = mine.extract_if(.., |condition| {
        let moved = moved(condition, &below);
        let is_taken = moved.is_some();
        within.extend(moved);
        is_taken
    });
    let taken = taken.collect();
    bound.node = push_down(bound.node, within, variables, rules);
    (bound, taken)
}

/// The rows of a common table of this number, with those of the conditions on its columns that move into them. Their number of operators
/// is added to `copied` where the name has them twice.
fn common_rows(
    number: usize,
    source: &Source,
    whole: Bound,
    mine: &mut Vec<Predicate>,
    ready: &Ready<'_>,
    copied: &mut usize,
) -> Node {
    let operators = PlanSize::of(&whole.node).operators;
    let has_room = *copied + operators <= COPIED_OPERATORS_MAX;
    let copy = has_room.then(|| whole.clone());
    let (bound, conditions) = with_conditions(whole, source.registers, mine, ready.variables, ready.rules);
    let all = source.with_all_columns();
    if conditions.is_empty() {
        return common_node(number, source, derived_node(&all, bound), None);
    }
    let own = derived_node(source, bound);
    let Some(whole) = copy else { return own };
    *copied += operators;
    let whole = WholeRows { node: derived_node(&all, whole), conditions };
    common_node(number, source, own, Some(whole))
}

/// A name of the common table of this number, which has `input` for itself, or shares `whole`, or `input` where that is whole.
pub(crate) fn common_node(number: usize, source: &Source, input: Node, whole: Option<WholeRows>) -> Node {
    let registers = source.registers;
    let read = source.wanted().into_iter().map(|column| registers.first + column).collect();
    let sharing = Sharing::Open(whole.map(Box::new));
    Node::More(Box::new(More::Common(CommonRows { number, input, registers, read, sharing })))
}

/// The rows of a table: by a range of a key, or from a spool.
fn scan_node(source: &Source, table: Arc<Table>, keeps: bool, mine: &mut Vec<Predicate>, ready: &Ready<'_>) -> Node {
    let registers = source.registers;
    let scan = |range: KeyRange, table: Arc<Table>| {
        let alias = (!table.name.eq_ignore_ascii_case(&source.alias)).then(|| source.alias.as_str().into());
        let wanted = source.wanted();
        let scan = Scan {
            table,
            registers,
            wanted,
            range,
            narrowing: None,
            reverse: false,
            place: source.row_place(),
            hints: source.hints,
            alias,
        };
        Node::Scan(Box::new(scan))
    };
    let before = |slot: usize| ready.before(slot);
    if !mine.iter().any(|condition| ready.equality(condition).is_some()) {
        let range = key_range(&table, registers, mine, &before, ready.rules);
        return scan(range, table);
    }
    let mut bounded = mine.clone();
    let range = key_range(&table, registers, &mut bounded, &before, ready.rules);
    let mut by_row = false;
    for key in &range.prefix {
        key.expr.visit_slots(&mut |slot| by_row |= !ready.is_variable(slot));
    }
    if by_row && !keeps {
        *mine = bounded;
        return scan(range, table);
    }
    let range = key_range(&table, registers, mine, &|slot| ready.is_variable(slot), ready.rules);
    spooled(scan(range, table), source, mine, ready)
}

/// A spool over rows that are found by equality with rows outside, when there is such a condition.
pub(crate) fn spooled(node: Node, source: &Source, mine: &mut Vec<Predicate>, ready: &Ready<'_>) -> Node {
    if is_short_list(&node) || !mine.iter().any(|condition| ready.equality(condition).is_some()) {
        return node;
    }
    if !node.is_fixed(ready.variables) || !ready.rules.has(Rule::HashJoin) {
        return node;
    }
    let (mut keys, mut own, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for condition in mine.drain(..) {
        let mut reads = LiveSlots::default();
        condition.visit_slots(&mut |slot| reads.add(slot));
        let mut only_own = true;
        reads.each(&mut |slot| only_own &= ready.own.range().contains(&slot) || ready.is_variable(slot));
        match ready.equality(&condition) {
            Some(key) => keys.push(key),
            None if only_own => own.push(condition),
            None => rest.push(condition),
        }
    }
    *mine = rest;
    let mut carry = Vec::new();
    node.visit_filled(&mut |slot| {
        if source.registers.range().contains(&slot) && !carry.contains(&slot) {
            carry.push(slot);
        }
    });
    Node::More(Box::new(More::Spool(Spool { input: filtered(node, own), keys, carry })))
}

/// A list that is joined quicker than it is put into a hash table.
pub(crate) fn is_short_list(node: &Node) -> bool {
    match node {
        Node::One | Node::Values { .. } => true,
        Node::Compute { input, .. } => is_short_list(input),
        _ => false,
    }
}

/// Copies a query's values to the registers of its source; only those that are read.
pub(crate) fn derived_node(source: &Source, bound: Bound) -> Node {
    let assignments = bound
        .values
        .into_iter()
        .enumerate()
        .filter(|(index, _)| source.used.get(*index).copied().unwrap_or(true))
        .map(|(index, value)| (source.registers.first + index, value))
        .collect();
    Node::Compute { input: Box::new(bound.node), assignments }
}
