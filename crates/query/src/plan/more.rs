//! Operators beyond those of everyday statements: spools, full joins, TOP with PERCENT and WITH TIES, grouping sets, windows,
//! recursion. They share one variant of [`Node`], so that what walks plans has one place for all of them.

use super::{Aggregate, Document, LiveSlots, Node, Numbering, OpenJson, Registers, SortKey, XmlNodes};
use crate::expression::{Expr, Integer, Predicate};
use pikepole_engine::Sequence;
use pikepole_types::Collation;
use std::sync::Arc;

/// One of the further operators.
#[derive(Debug, Clone)]
pub enum More {
    /// Rows kept to be found again by equality.
    Spool(Spool),
    /// FULL OUTER JOIN.
    Full(FullJoin),
    /// TOP with PERCENT or WITH TIES.
    Top(WideTop),
    /// Each row once for every grouping set.
    Expand(Expand),
    /// Window functions.
    Windows(Windows),
    /// A recursive common table.
    Recursive(Recursive),
    /// A common table that is named more than once.
    Common(CommonRows),
    /// STRING_SPLIT.
    Split(Split),
    /// NEXT VALUE FOR: one row with a number.
    Next(NextNumber),
    /// FOR JSON and FOR XML.
    Document(Document),
    /// OPENJSON.
    OpenJson(OpenJson),
    /// `nodes()` of xml.
    Nodes(XmlNodes),
}

/// A number of a sequence.
#[derive(Debug, Clone)]
pub struct NextNumber {
    /// The sequence.
    pub sequence: Arc<Sequence>,
    /// Where it goes.
    pub slot: usize,
}

/// The parts of a text, made anew for each row outside.
#[derive(Debug, Clone)]
pub struct Split {
    /// The text.
    pub text: Expr,
    /// What stands between two parts: one character.
    pub separator: Expr,
    /// Where a part goes, and behind it its number when there is a second register.
    pub registers: Registers,
}

/// Rows that read nothing of the rows outside: when they are opened again they are not made again, but found by their keys in
/// a hash table. A nested loop over a spool is a hash join.
#[derive(Debug, Clone)]
pub struct Spool {
    /// The rows.
    pub input: Node,
    /// Values of each row, and the values over the row outside they must equal. Without any, all rows are given.
    pub keys: Vec<JoinKey>,
    /// The slots kept with each row.
    pub carry: Vec<usize>,
}

/// Two values that are equal in rows that belong together.
#[derive(Debug, Clone)]
pub struct JoinKey {
    /// Over the rows that are kept.
    pub inner: Expr,
    /// Over the row that looks for them.
    pub outer: Expr,
    /// How texts compare.
    pub collation: Collation,
}

/// A join that keeps the unmatched rows of both sides.
#[derive(Debug, Clone)]
pub struct FullJoin {
    /// The side that is read row by row.
    pub left: Node,
    /// The side that is kept; it reads nothing of the left one.
    pub right: Node,
    /// Values of both sides that must be equal; the right side is the inner one.
    pub keys: Vec<JoinKey>,
    /// What else must hold.
    pub on: Option<Predicate>,
    /// The left side's registers, NULL for an unmatched right row.
    pub left_registers: Vec<Registers>,
    /// The right side's registers, NULL for an unmatched left row.
    pub right_registers: Vec<Registers>,
    /// The right side's slots kept with each row.
    pub carry: Vec<usize>,
}

/// How many rows a [`WideTop`] gives.
#[derive(Debug, Clone)]
pub enum TopCount {
    /// So many.
    Rows(Integer),
    /// So many, as a subquery says that is evaluated before the first row: it can be read with each row.
    OfRow(Integer),
    /// So many of a hundred, rounded up; a float.
    Percent(Expr),
}

/// TOP that must know all rows, or goes on with those that equal the last one.
#[derive(Debug, Clone)]
pub struct WideTop {
    /// The rows, in order.
    pub input: Node,
    /// How many.
    pub count: TopCount,
    /// WITH TIES: what the rows are ordered by; empty without.
    pub ties: Vec<SortKey>,
    /// The slots kept with each row while they are counted.
    pub carry: Vec<usize>,
}

/// Each row once for every grouping set, with NULL for the values that the set leaves out.
#[derive(Debug, Clone)]
pub struct Expand {
    /// The rows.
    pub input: Node,
    /// The grouping values, the slots they are left in, and the slots that say whether they are left out.
    pub keys: Vec<(Expr, usize, usize)>,
    /// Which values each set has.
    pub sets: Vec<Vec<bool>>,
    /// The slot of the set's number.
    pub number: usize,
}

/// Window functions over one window, whose rows come in the order of the partition and then of the window.
#[derive(Debug, Clone)]
pub struct Windows {
    /// The rows.
    pub input: Node,
    /// What divides them.
    pub partition: Vec<SortKey>,
    /// What orders them.
    pub order: Vec<SortKey>,
    /// The functions and the slots of their results.
    pub functions: Vec<(WindowFunction, usize)>,
    /// The slots kept with each row.
    pub carry: Vec<usize>,
}

/// A function over a window.
#[derive(Debug, Clone)]
pub enum WindowFunction {
    /// ROW_NUMBER, RANK, DENSE_RANK
    Number(Numbering),
    /// NTILE
    Tiles(Integer),
    /// PERCENT_RANK
    PercentRank,
    /// CUME_DIST
    CumulativeDistribution,
    /// LAG and LEAD
    Shift {
        /// The value wanted.
        value: Expr,
        /// How many rows away; 1 when absent.
        offset: Option<Integer>,
        /// The value where there is no such row.
        default: Expr,
        /// LEAD.
        ahead: bool,
        /// IGNORE NULLS.
        ignore_nulls: bool,
    },
    /// FIRST_VALUE and LAST_VALUE
    End {
        /// The value wanted.
        value: Expr,
        /// Of which rows.
        frame: Frame,
        /// LAST_VALUE.
        last: bool,
        /// IGNORE NULLS.
        ignore_nulls: bool,
    },
    /// An aggregate.
    Aggregate(Aggregate, Frame),
    /// PERCENTILE_CONT and PERCENTILE_DISC: the window is ordered by their values.
    Percentile {
        /// The place, from 0 to 1; a float.
        place: Expr,
        /// The value.
        value: Expr,
        /// PERCENTILE_CONT, whose values are floats.
        continuous: bool,
    },
}

/// The rows around a row that a function looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// ROWS; otherwise RANGE, where the current row means all rows that are its equals.
    pub rows: bool,
    /// The first.
    pub start: FrameEnd,
    /// The last.
    pub end: FrameEnd,
}

/// An end of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameEnd {
    /// The partition's first row, or its last.
    Unbounded,
    /// So many rows behind (positive) or before (negative) the current row.
    Offset(i64),
}

/// A common table that refers to itself. Each row made is given, and put on a stack; the recursive members run over the row
/// on top.
#[derive(Debug, Clone)]
pub struct Recursive {
    /// The plans that start it and the values each gives.
    pub anchors: Vec<(Node, Vec<Expr>)>,
    /// The plans that go on from one row.
    pub members: Vec<(Node, Vec<Expr>)>,
    /// Where rows are given.
    pub registers: Registers,
    /// Where the members find their row.
    pub work: Registers,
    /// MAXRECURSION; none when there is no limit.
    pub depth_max: Option<u32>,
}

/// The rows of a common table where the statement names it. Those that share them ([`Sharing::Shared`]) make them once in a run.
#[derive(Debug, Clone)]
pub struct CommonRows {
    /// The number of the common table in the statement.
    pub number: usize,
    /// The rows, in `registers`.
    pub input: Node,
    /// The columns.
    pub registers: Registers,
    /// The slots of the columns that are read here.
    pub read: Vec<usize>,
    /// The way it has its rows.
    pub sharing: Sharing,
}

/// The way that a name of a common table has its rows.
#[derive(Debug, Clone)]
pub enum Sharing {
    /// Not decided yet: `input` would be made for this name alone, and the other rows for all; none where conditions have left out none.
    Open(Option<Box<WholeRows>>),
    /// The name that is read first makes them, the others read what it has made.
    Shared {
        /// True for the first name in the plan, with which what makes the rows counts once.
        is_first: bool,
    },
}

/// A common table as it would be if its rows were shared.
#[derive(Debug, Clone)]
pub struct WholeRows {
    /// All its rows.
    pub node: Node,
    /// Conditions that `input` has within it, which would be tested on the rows.
    pub conditions: Vec<Predicate>,
}

impl CommonRows {
    /// False for a name behind the first one of those that share their rows.
    pub(crate) fn is_first(&self) -> bool {
        !matches!(self.sharing, Sharing::Shared { is_first: false })
    }
}

impl WindowFunction {
    fn visit_exprs(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            WindowFunction::Number(_)
            | WindowFunction::Tiles(_)
            | WindowFunction::PercentRank
            | WindowFunction::CumulativeDistribution => {}
            WindowFunction::Shift { value, default, .. } => {
                visit(value);
                visit(default);
            }
            WindowFunction::End { value, .. } => visit(value),
            WindowFunction::Aggregate(aggregate, _) => {
                aggregate.input.iter().chain(&aggregate.separator).for_each(visit);
            }
            WindowFunction::Percentile { place, value, .. } => {
                visit(place);
                visit(value);
            }
        }
    }

    /// Calls `visit` with the values that it is computed of, to be changed.
    pub(crate) fn visit_values_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            WindowFunction::Number(_)
            | WindowFunction::Tiles(_)
            | WindowFunction::PercentRank
            | WindowFunction::CumulativeDistribution => {}
            WindowFunction::Shift { value, default, .. } => {
                visit(value);
                visit(default);
            }
            WindowFunction::End { value, .. } | WindowFunction::Percentile { value, .. } => visit(value),
            WindowFunction::Aggregate(aggregate, _) => aggregate.input.iter_mut().for_each(visit),
        }
    }

    fn visit_slots(&self, visit: &mut dyn FnMut(usize)) {
        self.visit_exprs(&mut |expr| expr.visit_slots(visit));
        match self {
            WindowFunction::Tiles(count) => count.visit_slots(visit),
            WindowFunction::Shift { offset: Some(offset), .. } => offset.visit_slots(visit),
            _ => {}
        }
    }
}

impl More {
    /// The plans below it, those that read the registers of others last.
    pub fn inputs(&self) -> Vec<&Node> {
        match self {
            More::Spool(spool) => vec![&spool.input],
            More::Full(join) => vec![&join.left, &join.right],
            More::Top(top) => vec![&top.input],
            More::Expand(expand) => vec![&expand.input],
            More::Windows(windows) => vec![&windows.input],
            More::Recursive(recursive) => {
                recursive.anchors.iter().chain(&recursive.members).map(|(node, _)| node).collect()
            }
            More::Common(common) => vec![&common.input],
            More::Document(document) => vec![&document.input],
            More::Split(_) | More::Next(_) | More::OpenJson(_) | More::Nodes(_) => Vec::new(),
        }
    }

    /// The same, to be changed.
    fn inputs_mut(&mut self) -> Vec<&mut Node> {
        match self {
            More::Spool(spool) => vec![&mut spool.input],
            More::Full(join) => vec![&mut join.left, &mut join.right],
            More::Top(top) => vec![&mut top.input],
            More::Expand(expand) => vec![&mut expand.input],
            More::Windows(windows) => vec![&mut windows.input],
            More::Recursive(recursive) => {
                recursive.anchors.iter_mut().chain(&mut recursive.members).map(|(node, _)| node).collect()
            }
            More::Common(common) => vec![&mut common.input],
            More::Document(document) => vec![&mut document.input],
            More::Split(_) | More::Next(_) | More::OpenJson(_) | More::Nodes(_) => Vec::new(),
        }
    }

    /// The registers of rows that are a source of their own; none for operators over others' rows.
    pub fn registers(&self) -> Registers {
        match self {
            More::Split(split) => split.registers,
            More::OpenJson(open) => open.registers,
            More::Nodes(nodes) => nodes.registers,
            More::Recursive(recursive) => recursive.registers,
            _ => Registers { first: 0, count: 0 },
        }
    }

    /// Calls `visit` with every slot it reads itself.
    pub fn visit_read(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            More::Spool(spool) => {
                for key in &spool.keys {
                    key.inner.visit_slots(visit);
                    key.outer.visit_slots(visit);
                }
            }
            More::Full(join) => {
                for key in &join.keys {
                    key.outer.visit_slots(visit);
                    key.inner.visit_slots(visit);
                }
                join.on.iter().for_each(|on| on.visit_slots(visit));
                join.carry.iter().for_each(|slot| visit(*slot));
            }
            More::Top(top) => {
                match &top.count {
                    TopCount::Rows(count) | TopCount::OfRow(count) => count.visit_slots(visit),
                    TopCount::Percent(percent) => percent.visit_slots(visit),
                }
                top.ties.iter().for_each(|key| key.expr.visit_slots(visit));
                top.carry.iter().for_each(|slot| visit(*slot));
            }
            More::Expand(expand) => expand.keys.iter().for_each(|(expr, _, _)| expr.visit_slots(visit)),
            More::Windows(windows) => {
                windows.partition.iter().chain(&windows.order).for_each(|key| key.expr.visit_slots(visit));
                windows.functions.iter().for_each(|(function, _)| function.visit_slots(visit));
                windows.carry.iter().for_each(|slot| visit(*slot));
            }
            More::Recursive(recursive) => {
                let values = recursive.anchors.iter().chain(&recursive.members).flat_map(|(_, values)| values);
                values.for_each(|value| value.visit_slots(visit));
                recursive.work.range().for_each(visit);
            }
            More::Common(common) => match common.sharing {
                // Other names may read what this one does not.
                Sharing::Shared { .. } => common.registers.range().for_each(visit),
                Sharing::Open(_) => {}
            },
            More::Split(split) => {
                split.text.visit_slots(visit);
                split.separator.visit_slots(visit);
            }
            More::Next(_) => {}
            More::Document(document) => document.values.iter().for_each(|value| value.visit_slots(visit)),
            More::OpenJson(open) => {
                open.json.visit_slots(visit);
                open.path.iter().for_each(|path| path.visit_slots(visit));
            }
            More::Nodes(nodes) => {
                nodes.receiver.visit_slots(visit);
                nodes.inputs.iter().for_each(|input| input.visit_slots(visit));
            }
        }
    }

    /// Calls `visit` with every slot that its rows fill.
    pub fn visit_filled(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            More::Spool(spool) => spool.carry.iter().for_each(|slot| visit(*slot)),
            More::Full(join) => {
                join.left.visit_filled(visit);
                join.carry.iter().for_each(|slot| visit(*slot));
            }
            More::Top(top) => top.input.visit_filled(visit),
            More::Expand(expand) => {
                for (_, value, left_out) in &expand.keys {
                    visit(*value);
                    visit(*left_out);
                }
                visit(expand.number);
                expand.input.visit_filled(visit);
            }
            More::Windows(windows) => {
                windows.carry.iter().for_each(|slot| visit(*slot));
                windows.functions.iter().for_each(|(_, slot)| visit(*slot));
            }
            More::Recursive(recursive) => recursive.registers.range().for_each(visit),
            More::Common(common) => common.read.iter().for_each(|slot| visit(*slot)),
            More::Split(split) => split.registers.range().for_each(visit),
            More::Next(next) => visit(next.slot),
            More::Document(document) => visit(document.slot),
            More::OpenJson(open) => open.registers.range().for_each(visit),
            More::Nodes(nodes) => nodes.registers.range().for_each(visit),
        }
    }
}

impl Node {
    /// Calls `visit` with this operator and every one below it.
    pub fn visit_nodes(&self, visit: &mut dyn FnMut(&Node)) {
        self.visit_nodes_while(&mut |node| {
            visit(node);
            true
        });
    }

    /// The same, but for those below one for which `visit` is false.
    pub(crate) fn visit_nodes_while(&self, visit: &mut dyn FnMut(&Node) -> bool) {
        if !visit(self) {
            return;
        }
        match self {
            Node::One
            | Node::Scan(_)
            | Node::Virtual { .. }
            | Node::Call { .. }
            | Node::Values { .. }
            | Node::Series(_)
            | Node::File(_)
            | Node::Kept { .. } => {}
            Node::Filter { input, .. }
            | Node::Compute { input, .. }
            | Node::Group { input, .. }
            | Node::Sort { input, .. }
            | Node::Number { input, .. }
            | Node::Top { input, .. } => input.visit_nodes_while(visit),
            Node::Join { left, right, .. } => {
                left.visit_nodes_while(visit);
                right.visit_nodes_while(visit);
            }
            Node::Apply { input, subquery, .. } => {
                input.visit_nodes_while(visit);
                subquery.visit_nodes_while(visit);
            }
            Node::Concat { inputs, .. } => inputs.iter().for_each(|(node, _)| node.visit_nodes_while(visit)),
            Node::More(more) => more.inputs().into_iter().for_each(|node| node.visit_nodes_while(visit)),
        }
    }

    /// Calls `visit` with this operator and every one below it, to be changed.
    pub(crate) fn visit_nodes_mut(&mut self, visit: &mut dyn FnMut(&mut Node)) {
        visit(self);
        match self {
            Node::One
            | Node::Scan(_)
            | Node::Virtual { .. }
            | Node::Call { .. }
            | Node::Values { .. }
            | Node::Series(_)
            | Node::File(_)
            | Node::Kept { .. } => {}
            Node::Filter { input, .. }
            | Node::Compute { input, .. }
            | Node::Group { input, .. }
            | Node::Sort { input, .. }
            | Node::Number { input, .. }
            | Node::Top { input, .. } => input.visit_nodes_mut(visit),
            Node::Join { left, right, .. } => {
                left.visit_nodes_mut(visit);
                right.visit_nodes_mut(visit);
            }
            Node::Apply { input, subquery, .. } => {
                input.visit_nodes_mut(visit);
                subquery.visit_nodes_mut(visit);
            }
            Node::Concat { inputs, .. } => inputs.iter_mut().for_each(|(node, _)| node.visit_nodes_mut(visit)),
            Node::More(more) => more.inputs_mut().into_iter().for_each(|node| node.visit_nodes_mut(visit)),
        }
    }

    /// Whether its rows are always the same ones while a statement runs: it reads nothing that it has not filled itself,
    /// but variables, which are the slots below `variables`.
    pub fn is_fixed(&self, variables: usize) -> bool {
        let mut fixed = true;
        self.visit_nodes(&mut |node| fixed &= !matches!(node, Node::Call { .. }));
        self.visit_outer(&mut |slot| fixed &= slot < variables);
        fixed
    }

    /// Calls `visit` with each slot that it reads and has not filled itself.
    pub fn visit_outer(&self, visit: &mut dyn FnMut(usize)) {
        let mut filled = LiveSlots::default();
        self.visit_nodes(&mut |node| {
            node.visit_filled(&mut |slot| filled.add(slot));
            if let Node::Apply { slot, .. } = node {
                filled.add(*slot);
            }
            if let Node::More(more) = node
                && let More::Recursive(recursive) = more.as_ref()
            {
                recursive.work.range().for_each(|slot| filled.add(slot));
            }
        });
        let mut read = LiveSlots::default();
        filled.each(&mut |slot| read.add(slot));
        read.node(self);
        read.each(&mut |slot| {
            if !filled.has(slot) {
                visit(slot);
            }
        });
    }
}
