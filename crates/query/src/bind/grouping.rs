//! GROUP BY: grouping values, ROLLUP, CUBE and GROUPING SETS, GROUPING().

use super::collate::in_column;
use super::scope::{Clause, GroupKey, Grouping, GroupingSets};
use super::typed::Typed;
use super::{Binder, Node};
use crate::expression::{Expr, Fault, Integer, IntegerOp, Width};
use crate::plan::{Expand, More, SortKey};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType, Value};

/// More grouping sets than a query may have.
const SETS_MAX: usize = 4096;
/// More values than GROUP BY may name.
const KEYS_MAX: usize = 32;

impl Binder<'_> {
    /// Binds GROUP BY and turns the scope into one of groups. `aggregates` says that the query calls some.
    pub(super) fn group_keys(&mut self, select: &tree::Select, aggregates: bool) -> Result<(), Fault> {
        if select.group_by.is_empty() && select.having.is_none() && !aggregates {
            return Ok(());
        }
        self.scope().clause = Clause::GroupBy;
        let mut written: Vec<&tree::Expr> = Vec::new();
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        for item in &select.group_by {
            let own = item_sets(item, &mut written)?;
            if sets.len() * own.len() > SETS_MAX {
                return Err(Box::new(SqlError::too_many_grouping_sets(SETS_MAX)));
            }
            let joined = sets.iter().flat_map(|set| own.iter().map(move |more| [set.as_slice(), more].concat()));
            sets = joined.collect();
        }
        let plain = select.group_by.iter().all(|item| matches!(item, tree::GroupingItem::Expr(_)));
        if !plain && written.len() > KEYS_MAX {
            return Err(Box::new(SqlError::too_many_grouping_values(KEYS_MAX)));
        }
        let mut keys = Vec::with_capacity(written.len());
        for expr in written {
            keys.push(self.group_key(expr, !plain, keys.len() + 1)?);
        }
        let sets = if plain { None } else { Some(self.grouping_sets(&sets, keys.len())) };
        self.scope().grouping = Some(Grouping { keys, aggregates: Vec::new(), sets, order: None });
        Ok(())
    }

    fn group_key(&mut self, expr: &tree::Expr, left_out: bool, place: usize) -> Result<GroupKey, Fault> {
        let mark = self.pending.len();
        let typed = self.expr(expr)?;
        self.below_groups(mark).map_err(|()| SqlError::aggregate_in_group_by())?;
        super::collate::comparable(&typed.ty, "GROUP BY")?;
        if super::expression::read_by(&typed.expr).is_empty() || matches!(expr.kind, tree::ExprKind::Variable(_)) {
            return Err(Box::new(SqlError::group_by_needs_a_column()));
        }
        Ok(GroupKey {
            collation: in_column(typed.collated, "GROUP BY", place)?.comparing(&typed.ty),
            collated: typed.collated.of_column(),
            tree: expr.clone(),
            expr: typed.expr,
            slot: self.register(),
            ty: typed.ty,
            nullable: typed.nullable || left_out,
        })
    }

    fn grouping_sets(&mut self, sets: &[Vec<usize>], keys: usize) -> GroupingSets {
        let sets = sets.iter().map(|set| (0..keys).map(|key| set.contains(&key)).collect()).collect();
        let slots = (0..keys).map(|_| (self.register(), self.register(), self.register())).collect();
        GroupingSets { sets, slots, number: (self.register(), self.register()) }
    }

    /// The groups over rows.
    pub(super) fn grouped(&mut self, mut node: Node, grouping: Grouping) -> Node {
        let aggregates = grouping.aggregates.into_iter().map(|(_, aggregate, _)| aggregate).collect();
        let keys = grouping.order.map(|(_, keys)| self.without_constant_keys(keys, &node));
        if let Some(keys) = keys.filter(|keys| !keys.is_empty()) {
            let mut carry = Vec::new();
            node.visit_filled(&mut |slot| {
                if !carry.contains(&slot) {
                    carry.push(slot);
                }
            });
            node = Node::Sort { input: Box::new(node), keys, carry };
        }
        let key = |slot: usize| SortKey::plain(Expr::Slot(slot));
        let Some(sets) = grouping.sets else {
            let key = |key: GroupKey| (SortKey { collation: key.collation, ..SortKey::plain(key.expr) }, key.slot);
            let keys = grouping.keys.into_iter().map(key).collect();
            return Node::Group { input: Box::new(node), keys, aggregates };
        };
        let mut expanded = Vec::with_capacity(sets.slots.len());
        let mut keys = vec![(key(sets.number.0), sets.number.1)];
        for (group, (value, left_out, above)) in grouping.keys.into_iter().zip(sets.slots) {
            expanded.push((group.expr, value, left_out));
            keys.push((SortKey { collation: group.collation, ..key(value) }, group.slot));
            keys.push((key(left_out), above));
        }
        let expand = Expand { input: node, keys: expanded, sets: sets.sets, number: sets.number.0 };
        let input = Box::new(Node::More(Box::new(More::Expand(expand))));
        Node::Group { input, keys, aggregates }
    }

    /// GROUPING and GROUPING_ID, when `call` is one of them.
    pub(super) fn grouping_call(&mut self, call: &tree::FunctionCall) -> Result<Option<Typed>, Fault> {
        let one = call.name.name.is("GROUPING");
        if !one && !call.name.name.is("GROUPING_ID") {
            return Ok(None);
        }
        let name = if one { "GROUPING" } else { "GROUPING_ID" };
        let maximum = if one { 1 } else { KEYS_MAX };
        super::function::check_count(name, call.arguments.len(), 1, maximum)?;
        let mut bits = Vec::with_capacity(call.arguments.len());
        for (at, argument) in call.arguments.iter().enumerate() {
            let unknown = || Box::new(SqlError::not_a_grouping_value(at + 1, name));
            let expr = argument.expr().ok_or_else(unknown)?;
            let key = self.grouping_key_of(expr)?.ok_or_else(unknown)?;
            let sets = self.scope().grouping.as_ref().and_then(|grouping| grouping.sets.as_ref());
            bits.push(sets.map(|sets| sets.slots[key].2));
        }
        if let (true, [bit]) = (one, bits.as_slice()) {
            let expr = bit.map_or(Expr::Const(Value::TinyInt(0)), Expr::Slot);
            return Ok(Some(Typed::new(expr, SqlType::TinyInt, false)));
        }
        let binary = |op, left, right| Integer::Binary { op, width: Width::Int, operands: Box::new([left, right]) };
        let sum = bits.into_iter().fold(Integer::Const(Some(0)), |sum, bit| {
            let doubled = binary(IntegerOp::Multiply, sum, Integer::Const(Some(2)));
            binary(IntegerOp::Add, doubled, bit.map_or(Integer::Const(Some(0)), Integer::Slot))
        });
        Ok(Some(Typed::new(Expr::Integer(Box::new(sum), Width::Int), SqlType::Int, false)))
    }

    /// Which grouping value an expression is.
    fn grouping_key_of(&mut self, expr: &tree::Expr) -> Result<Option<usize>, Fault> {
        if let tree::ExprKind::Column(column) = &expr.kind
            && column.qualifier.is_none()
        {
            self.resolve(column)?;
        }
        self.key_at(self.scopes.len() - 1, expr)
    }
}

/// The sets an item of GROUP BY stands for, as indexes among the values written.
fn item_sets<'t>(item: &'t tree::GroupingItem, written: &mut Vec<&'t tree::Expr>) -> Result<Vec<Vec<usize>>, Fault> {
    Ok(match item {
        tree::GroupingItem::Expr(expr) => vec![vec![index_of(expr, written)]],
        tree::GroupingItem::Composite(exprs) => {
            vec![exprs.iter().map(|expr| index_of(expr, written)).collect()]
        }
        tree::GroupingItem::Rollup(items) => {
            let units = units(items, written)?;
            (0..=units.len()).rev().map(|count| units[..count].concat()).collect()
        }
        tree::GroupingItem::Cube(items) => {
            let units = units(items, written)?;
            if units.len() > SETS_MAX.ilog2() as usize {
                return Err(Box::new(SqlError::too_many_grouping_sets(SETS_MAX)));
            }
            let all = (1usize << units.len()) - 1;
            let chosen = |mask: usize| {
                let mut set = Vec::new();
                for (bit, unit) in units.iter().rev().enumerate().rev() {
                    if mask >> bit & 1 == 1 {
                        set.extend_from_slice(unit);
                    }
                }
                set
            };
            (0..=all).rev().map(chosen).collect()
        }
        tree::GroupingItem::Sets(items) => {
            let mut sets = Vec::new();
            for item in items {
                sets.extend(item_sets(item, written)?);
            }
            sets
        }
    })
}

/// The elements of ROLLUP or CUBE.
fn units<'t>(items: &'t [tree::GroupingItem], written: &mut Vec<&'t tree::Expr>) -> Result<Vec<Vec<usize>>, Fault> {
    let mut units = Vec::with_capacity(items.len());
    for item in items {
        units.extend(item_sets(item, written)?);
    }
    Ok(units)
}

fn index_of<'t>(expr: &'t tree::Expr, written: &mut Vec<&'t tree::Expr>) -> usize {
    written.iter().position(|known| *known == expr).unwrap_or_else(|| {
        written.push(expr);
        written.len() - 1
    })
}
