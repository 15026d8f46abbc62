//! Window functions.
//!
//! They are met in the select list and in ORDER BY, and computed for the rows that the other clauses leave: one sort and one
//! pass for each window. ROW_NUMBER, RANK and DENSE_RANK alone are counted as the rows go by; with others among them the rows
//! of a partition are kept until it ends.

use super::collate::order_key;
use super::query::served_by_scan;
use super::scope::Clause;
use super::typed::{Typed, convert_to};
use super::{Binder, PendingApply};
use crate::errors;
use crate::expression::{Expr, Fault, Integer};
use crate::plan::{self, Frame, FrameEnd, More, Node, Numbering, SortKey, WindowFunction, Windows};
use pikepole_tsql as tree;
use pikepole_types::{Aggregate, Collated, SqlError, SqlType, aggregate_type};

/// A window function that was called.
#[derive(Debug, Clone)]
pub(crate) struct WindowCall {
    call: tree::FunctionCall,
    /// What divides and orders the rows, as written: functions over the same are computed together.
    window: (Vec<tree::Expr>, Vec<tree::OrderItem>),
    partition: Vec<SortKey>,
    order: Vec<SortKey>,
    function: WindowFunction,
    result: Typed,
}

/// The functions that are nothing without OVER.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number(Numbering),
    Tiles,
    PercentRank,
    CumulativeDistribution,
    Shift { ahead: bool },
    End { last: bool },
    Percentile { continuous: bool },
    Aggregate(Aggregate),
}

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "ROW_NUMBER" => Kind::Number(Numbering::Row),
        "RANK" => Kind::Number(Numbering::Rank),
        "DENSE_RANK" => Kind::Number(Numbering::DenseRank),
        "NTILE" => Kind::Tiles,
        "PERCENT_RANK" => Kind::PercentRank,
        "CUME_DIST" => Kind::CumulativeDistribution,
        "LAG" => Kind::Shift { ahead: false },
        "LEAD" => Kind::Shift { ahead: true },
        "FIRST_VALUE" => Kind::End { last: false },
        "LAST_VALUE" => Kind::End { last: true },
        "PERCENTILE_CONT" => Kind::Percentile { continuous: true },
        "PERCENTILE_DISC" => Kind::Percentile { continuous: false },
        _ => Kind::Aggregate(super::function::aggregate(name)?),
    })
}

/// Whether a function must have OVER.
pub(super) fn needs_over(name: &str) -> bool {
    kind(&name.to_ascii_uppercase()).is_some_and(|kind| !matches!(kind, Kind::Aggregate(_)))
}

impl Binder<'_> {
    /// Binds a call with OVER.
    ///
    /// # Errors
    /// 4108 where it cannot stand, 4112 without an order, 10752 with a frame it does not take, 5308 and 5309 for an order by
    /// a constant, 4113 for a function that is none.
    pub(crate) fn window_function(&mut self, call: &tree::FunctionCall, over: &tree::Over) -> Result<Typed, Fault> {
        let upper = call.name.name.as_str().to_ascii_uppercase();
        let scope = self.scope();
        if scope.in_aggregate || scope.in_window {
            return Err(Box::new(SqlError::window_function_within_another()));
        }
        if !matches!(scope.clause, Clause::SelectList | Clause::OrderBy) {
            return Err(Box::new(SqlError::window_function_misplaced()));
        }
        if let Some(known) = scope.windows.iter().find(|window| window.call == *call) {
            return Ok(known.result.clone());
        }
        let Some(kind) = kind(&upper) else {
            return Err(Box::new(SqlError::not_a_window_function(&upper)));
        };
        let window = self.window_of(over)?;
        check_window(call, kind, &window, over)?;
        let outside = std::mem::take(&mut self.pending);
        self.scope().in_window = true;
        let bound = self.window_call(call, kind, window);
        self.scope().in_window = false;
        let found = std::mem::replace(&mut self.pending, outside);
        self.scope().window_pending.extend(found);
        let bound = bound?;
        let result = bound.result.clone();
        self.scope().windows.push(bound);
        Ok(result)
    }

    fn window_call(
        &mut self,
        call: &tree::FunctionCall,
        kind: Kind,
        window: tree::Window,
    ) -> Result<WindowCall, Fault> {
        let (partition, mut order) = self.window_keys(&window)?;
        let frame = frame(&window, !order.is_empty() || !window.order_by.is_empty())?;
        let mut order_by = window.order_by.clone();
        let mut collated = Collated::Default;
        let (function, ty, nullable) = match kind {
            Kind::Number(numbering) => {
                self.window_arguments(call, 0, 0)?;
                (WindowFunction::Number(numbering), SqlType::BigInt, true)
            }
            Kind::PercentRank | Kind::CumulativeDistribution => {
                self.window_arguments(call, 0, 0)?;
                let function = match kind {
                    Kind::PercentRank => WindowFunction::PercentRank,
                    _ => WindowFunction::CumulativeDistribution,
                };
                (function, SqlType::Float, false)
            }
            Kind::Tiles => {
                let count = self.window_arguments(call, 1, 1)?.remove(0);
                (WindowFunction::Tiles(whole_number(count)?), SqlType::BigInt, true)
            }
            Kind::Shift { ahead } => {
                let (function, value) = self.shift(call, ahead)?;
                collated = value.collated;
                (function, value.ty, true)
            }
            Kind::End { last } => {
                let value = self.window_arguments(call, 1, 1)?.remove(0);
                let ignore_nulls = call.nulls == Some(tree::NullTreatment::Ignore);
                collated = value.collated;
                (WindowFunction::End { value: value.expr, frame, last, ignore_nulls }, value.ty, true)
            }
            Kind::Percentile { continuous } => {
                let place = self.window_arguments(call, 1, 1)?.remove(0);
                let place = convert_to(place, &SqlType::Float)?.expr;
                let [item] = call.within_group.as_slice() else {
                    return Err(Box::new(SqlError::within_group_needed(&call.name.name.text)));
                };
                let mut value = self.expr(&item.expr)?;
                if continuous {
                    value = convert_to(value, &SqlType::Float)?;
                }
                order = vec![order_key(value.clone(), item.descending, 1)?];
                order_by = vec![item.clone()];
                collated = value.collated;
                (WindowFunction::Percentile { place, value: value.expr, continuous }, value.ty, true)
            }
            Kind::Aggregate(function) => {
                let (function, ty, nullable, of_input) = self.window_aggregate(call, function, frame)?;
                collated = of_input;
                (function, ty, nullable)
            }
        };
        let result = Typed::new(Expr::Slot(self.register()), ty, nullable).collated(collated);
        let window = (window.partition_by, order_by);
        Ok(WindowCall { call: call.clone(), window, partition, order, function, result })
    }

    /// LAG or LEAD, and the value that it gives of another row.
    fn shift(&mut self, call: &tree::FunctionCall, ahead: bool) -> Result<(WindowFunction, Typed), Fault> {
        let mut arguments = self.window_arguments(call, 1, 3)?.into_iter();
        let value = arguments.next().unwrap_or_else(|| Typed::new(Expr::NULL, SqlType::Int, true));
        let offset = match arguments.next() {
            None => None,
            Some(offset) => Some(whole_number(offset)?),
        };
        let default = match arguments.next() {
            None => Expr::NULL,
            // A longer text is cut.
            Some(default) if default.ty.is_string() && value.ty.is_string() => {
                super::expression::explicit(default, value.ty, None, false)?.expr
            }
            Some(default) => convert_to(default, &value.ty)?.expr,
        };
        let ignore_nulls = call.nulls == Some(tree::NullTreatment::Ignore);
        let expr = value.expr.clone();
        let function = WindowFunction::Shift { value: expr, offset, default, ahead, ignore_nulls };
        Ok((function, value))
    }

    /// An aggregate over a window, its type, whether it can be NULL, and the collation of what it takes.
    fn window_aggregate(
        &mut self,
        call: &tree::FunctionCall,
        function: Aggregate,
        frame: Frame,
    ) -> Result<(WindowFunction, SqlType, bool, Collated), Fault> {
        let name = call.name.name.text.to_ascii_uppercase();
        if call.distinct {
            return Err(Box::new(SqlError::distinct_with_over()));
        }
        if matches!(function, Aggregate::StringAgg | Aggregate::ApproxPercentile { .. })
            || name == "APPROX_COUNT_DISTINCT"
        {
            return Err(Box::new(SqlError::not_a_window_function(&name)));
        }
        let counting = matches!(function, Aggregate::Count | Aggregate::CountBig);
        let input = if call.star {
            if !counting {
                return Err(Box::new(SqlError::incorrect_syntax("*")));
            }
            None
        } else {
            Some(self.window_arguments(call, 1, 1)?.remove(0))
        };
        let input_type = input.as_ref().map_or(SqlType::Int, |input| input.ty);
        let ty = aggregate_type(function, &input_type)?;
        let collated = input.as_ref().map_or(Collated::Default, |input| input.collated);
        let aggregate = plan::Aggregate {
            function,
            input: input.map(|input| input.expr),
            input_type,
            collation: collated.collation(call.name.name.as_str())?.comparing(&input_type),
            distinct: false,
            separator: None,
            slot: 0,
        };
        Ok((WindowFunction::Aggregate(aggregate, frame), ty, !counting, collated))
    }

    fn window_arguments(
        &mut self,
        call: &tree::FunctionCall,
        minimum: usize,
        maximum: usize,
    ) -> Result<Vec<Typed>, Fault> {
        let name = call.name.name.as_str();
        super::function::check_count(name, call.arguments.len(), minimum, maximum)?;
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            let expr = argument.expr().ok_or_else(|| SqlError::incorrect_syntax("DEFAULT"))?;
            arguments.push(self.expr(expr)?);
        }
        Ok(arguments)
    }

    /// The names of a WINDOW clause.
    ///
    /// # Errors
    /// 16211 for one that stands there twice.
    pub(super) fn name_windows(&mut self, windows: &[(tree::Name, tree::Window)]) -> Result<(), Fault> {
        let is_repeated = |(at, (name, _)): (usize, &(tree::Name, tree::Window))| {
            windows[..at].iter().any(|(other, _)| other.is(&name.text))
        };
        if windows.iter().enumerate().any(is_repeated) {
            return Err(Box::new(SqlError::window_name_twice()));
        }
        self.scope().named_windows = windows.to_vec();
        Ok(())
    }

    /// The window of OVER, with what it takes from the WINDOW clause.
    fn window_of(&mut self, over: &tree::Over) -> Result<tree::Window, Fault> {
        let (mut window, mut base) = match over {
            tree::Over::Name(name) => {
                let none = tree::Window { base: None, partition_by: Vec::new(), order_by: Vec::new(), frame: None };
                (none, Some(name.clone()))
            }
            tree::Over::Window(window) => (window.as_ref().clone(), window.base.clone()),
        };
        let named = &self.scope().named_windows;
        let mut left = named.len();
        while let Some(name) = base {
            let found = named.iter().find(|(known, _)| known.is(&name.text)).map(|(_, window)| window.clone());
            let of_definition = left < named.len();
            let found = found.ok_or_else(|| {
                let state = match (named.is_empty(), of_definition) {
                    (true, _) => 3,
                    (_, false) => 4,
                    (_, true) => 7,
                };
                SqlError::window_unknown(&name.text).with_state(state)
            })?;
            if found.base.as_ref().is_some_and(|own| own.is(&name.text)) {
                return Err(Box::new(SqlError::window_unknown(&name.text).with_state(7)));
            }
            if left == 0 {
                return Err(Box::new(SqlError::windows_cyclic()));
            }
            left -= 1;
            window = refined(window, found.clone())?;
            base = found.base;
        }
        Ok(window)
    }

    /// What divides the rows and what orders them; constants do neither.
    fn window_keys(&mut self, window: &tree::Window) -> Result<(Vec<SortKey>, Vec<SortKey>), Fault> {
        let mut partition = Vec::new();
        for expr in &window.partition_by {
            let typed = self.expr(expr)?;
            if !typed.expr.is_const() {
                partition.push(order_key(typed, false, partition.len() + 1)?);
            }
        }
        let mut order = Vec::new();
        for item in &window.order_by {
            if is_constant_subquery(&item.expr) {
                continue;
            }
            if matches!(item.expr.kind, tree::ExprKind::Literal(tree::Literal::Int(_))) {
                return Err(Box::new(SqlError::window_order_by_position()));
            }
            let typed = self.expr(&item.expr)?;
            if typed.expr.is_const() {
                // What a function makes of constants is allowed, as is a column that shows one: they order nothing.
                if matches!(item.expr.kind, tree::ExprKind::Function(_) | tree::ExprKind::Column(_)) {
                    continue;
                }
                return Err(Box::new(SqlError::window_order_by_constant()));
            }
            order.push(order_key(typed, item.descending, order.len() + 1)?);
        }
        Ok((partition, order))
    }

    /// The rows with the results that were asked for in the scope on top.
    pub(crate) fn numbered(&mut self, mut node: Node) -> Node {
        let pending: Vec<PendingApply> = std::mem::take(&mut self.scope().window_pending);
        node = super::applied(node, pending);
        let mut calls = std::mem::take(&mut self.scope().windows);
        while !calls.is_empty() {
            let first = calls.remove(0);
            let (same, others): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| call.window == first.window);
            calls = others;
            let WindowCall { partition, order, .. } = &first;
            let partition = self.without_constant_keys(partition.clone(), &node);
            let order = self.without_constant_keys(order.clone(), &node);
            let keys: Vec<SortKey> = partition.iter().chain(&order).cloned().collect();
            if !keys.is_empty() && !served_by_scan(&mut node, &keys, self.active_rules) {
                let carry = filled(&node);
                node = Node::Sort { input: Box::new(node), keys, carry };
            }
            let functions = std::iter::once(first).chain(same).filter_map(|call| match call.result.expr {
                Expr::Slot(slot) => Some((call.function, slot)),
                _ => None,
            });
            node = windowed(node, partition, order, functions.collect());
        }
        node
    }
}

/// A window with what the one has that it names.
///
/// # Errors
/// 4123 for what both say.
fn refined(window: tree::Window, named: tree::Window) -> Result<tree::Window, Fault> {
    let twice = !window.partition_by.is_empty() && !named.partition_by.is_empty()
        || !window.order_by.is_empty() && !named.order_by.is_empty()
        || window.frame.is_some() && named.frame.is_some();
    if twice {
        let state = if named.frame.is_some() { 2 } else { 3 };
        return Err(Box::new(SqlError::window_element_twice().with_state(state)));
    }
    let (mut partition_by, mut order_by) = (window.partition_by, window.order_by);
    partition_by.extend(named.partition_by);
    order_by.extend(named.order_by);
    Ok(tree::Window { base: window.base, partition_by, order_by, frame: window.frame.or(named.frame) })
}

/// Whether a function takes what its window has. What comes from the WINDOW clause is told of by numbers of its own.
///
/// # Errors
/// 10752, 4112, 10756 and 10758; 4106, 5366, 5364 and 5363.
fn check_window(call: &tree::FunctionCall, kind: Kind, window: &tree::Window, over: &tree::Over) -> Result<(), Fault> {
    let function = call.name.name.text.as_str();
    let (named, own_frame) = match over {
        tree::Over::Name(_) => (true, false),
        tree::Over::Window(own) => (own.base.is_some(), own.frame.is_some()),
    };
    let is_percentile = matches!(kind, Kind::Percentile { .. });
    let takes_frame = matches!(kind, Kind::End { .. } | Kind::Aggregate(_));
    let needs_order = !is_percentile && !matches!(kind, Kind::Aggregate(_));
    let by_rows = matches!(kind, Kind::Shift { .. } | Kind::End { .. });
    let unordered = window.order_by.is_empty();
    // Rows are counted in whatever order they come.
    let counts_rows = call.star && matches!(kind, Kind::Aggregate(Aggregate::Count | Aggregate::CountBig));
    Err(Box::new(if window.frame.is_some() && !takes_frame {
        let state = if by_rows || is_percentile { 1 } else { 2 };
        match named && !own_frame {
            true => SqlError::named_window_frame_not_allowed(function).with_state(state),
            false => SqlError::window_frame_not_allowed(function),
        }
    } else if unordered && needs_order {
        let state = if by_rows { 2 } else { 3 };
        match named {
            true => SqlError::named_window_needs_order(function).with_state(state),
            false => SqlError::window_needs_order(function),
        }
    } else if unordered && window.frame.is_some() && !counts_rows {
        if named { SqlError::named_window_frame_needs_order() } else { SqlError::window_frame_needs_order() }
    } else if is_percentile && !unordered {
        match named {
            true => SqlError::named_window_order_not_allowed(function),
            false => SqlError::window_order_not_allowed(function),
        }
    } else {
        return Ok(());
    }))
}

/// Functions over rows in the order of their window.
fn windowed(node: Node, partition: Vec<SortKey>, order: Vec<SortKey>, functions: Vec<(WindowFunction, usize)>) -> Node {
    let numbers: Option<Vec<(Numbering, usize)>> = functions
        .iter()
        .map(|(function, slot)| match function {
            WindowFunction::Number(numbering) => Some((*numbering, *slot)),
            _ => None,
        })
        .collect();
    if let Some(functions) = numbers {
        return Node::Number { input: Box::new(node), partition, order, functions };
    }
    let carry = filled(&node);
    Node::More(Box::new(More::Windows(Windows { input: node, partition, order, functions, carry })))
}

fn filled(node: &Node) -> Vec<usize> {
    let mut slots = Vec::new();
    node.visit_filled(&mut |slot| {
        if !slots.contains(&slot) {
            slots.push(slot);
        }
    });
    slots
}

/// The frame of a window; without one all rows up to the current one's equals, or all of the partition where nothing orders
/// them.
fn frame(window: &tree::Window, ordered: bool) -> Result<Frame, Fault> {
    let whole = Frame { rows: true, start: FrameEnd::Unbounded, end: FrameEnd::Unbounded };
    let Some(written) = &window.frame else {
        let running = Frame { rows: false, start: FrameEnd::Unbounded, end: FrameEnd::Offset(0) };
        return Ok(if ordered { running } else { whole });
    };
    let end = written.end.as_ref().unwrap_or(&tree::FrameBound::CurrentRow);
    // A frame ends where it begins or further on, whatever the offsets are.
    if matches!(written.start, tree::FrameBound::UnboundedFollowing)
        || matches!(end, tree::FrameBound::UnboundedPreceding)
        || direction(&written.start) > direction(end)
    {
        let text = format!("BETWEEN {} AND {}", frame_text(&written.start), frame_text(end));
        return Err(Box::new(SqlError::window_frame_invalid(text)));
    }
    let frame = Frame { rows: written.rows, start: frame_end(&written.start)?, end: frame_end(end)? };
    if !frame.rows
        && [frame.start, frame.end].iter().any(|end| !matches!(end, FrameEnd::Unbounded | FrameEnd::Offset(0)))
    {
        return Err(Box::new(SqlError::window_range_with_offset()));
    }
    Ok(frame)
}

fn frame_end(bound: &tree::FrameBound) -> Result<FrameEnd, Fault> {
    let rows = |expr: &tree::Expr| match expr.literal() {
        Some(tree::Literal::Int(count)) => Ok(i64::from(*count)),
        _ => Err(Box::new(SqlError::window_frame_invalid(frame_text(bound)))),
    };
    Ok(match bound {
        tree::FrameBound::UnboundedPreceding | tree::FrameBound::UnboundedFollowing => FrameEnd::Unbounded,
        tree::FrameBound::CurrentRow => FrameEnd::Offset(0),
        tree::FrameBound::Preceding(count) => FrameEnd::Offset(-rows(count)?),
        tree::FrameBound::Following(count) => FrameEnd::Offset(rows(count)?),
    })
}

/// On which side of the current row a bound is.
fn direction(bound: &tree::FrameBound) -> i8 {
    match bound {
        tree::FrameBound::UnboundedPreceding | tree::FrameBound::Preceding(_) => -1,
        tree::FrameBound::CurrentRow => 0,
        tree::FrameBound::Following(_) | tree::FrameBound::UnboundedFollowing => 1,
    }
}

fn frame_text(bound: &tree::FrameBound) -> &'static str {
    match bound {
        tree::FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING",
        tree::FrameBound::Preceding(_) => "... PRECEDING",
        tree::FrameBound::CurrentRow => "CURRENT ROW",
        tree::FrameBound::Following(_) => "... FOLLOWING",
        tree::FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING",
    }
}

fn whole_number(typed: Typed) -> Result<Integer, Fault> {
    if typed.ty.is_integer() || typed.ty == SqlType::Bit {
        return Ok(typed.integer());
    }
    if typed.ty.is_string() || typed.ty.is_date_or_time() {
        return Err(errors::unsupported("A row count that is no number"));
    }
    Ok(convert_to(typed, &SqlType::BigInt)?.integer())
}

/// `(SELECT NULL)`, the usual way to ask for any order.
fn is_constant_subquery(expr: &tree::Expr) -> bool {
    let tree::ExprKind::Subquery(query) = &expr.kind else {
        return false;
    };
    let tree::QueryBody::Select(select) = &query.body else {
        return false;
    };
    let is_literal = |item: &tree::SelectItem| matches!(item, tree::SelectItem::Expr { expr, .. } if matches!(expr.kind, tree::ExprKind::Literal(_)));
    select.from.is_empty() && select.filter.is_none() && select.items.iter().all(is_literal)
}
