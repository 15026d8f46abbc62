//! Common tables that refer to themselves.

use std::rc::Rc;

use super::common_table::{names_in, names_in_source};
use super::join::Leaf;
use super::scope::{CommonTable, SourceColumn};
use super::source::{infos, rename};
use super::{Binder, Bound, Scope};
use crate::expression::{Expr, Fault};
use crate::output::{ColumnInfo, Provenance};
use crate::plan::{More, Node, Recursive, Registers};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

/// MAXRECURSION where a statement says nothing.
pub(crate) const RECURSION_DEFAULT: u32 = 100;
/// The largest MAXRECURSION.
const RECURSION_MAX: i64 = 32_767;

/// A recursive common table whose members are being bound.
pub(crate) struct Recursion {
    tree: Rc<tree::CommonTable>,
    columns: Vec<SourceColumn>,
    work: Registers,
    references: usize,
    /// How many subqueries of expressions are around the member.
    subqueries: usize,
}

/// Whether a common table refers to itself.
pub(crate) fn is_recursive(table: &tree::CommonTable) -> bool {
    names_in(&table.query.body, &table.name) > 0
}

/// Whether the recursive reference stands where a join may leave NULLs for it, or at the side an outer join keeps.
fn is_under_outer_join(source: &tree::TableSource, name: &tree::Name) -> bool {
    let tree::TableSource::Join(join) = source else {
        return false;
    };
    let here = match join.kind {
        tree::JoinKind::Left | tree::JoinKind::OuterApply => names_in_source(&join.right, name) > 0,
        tree::JoinKind::Right => names_in_source(&join.left, name) > 0,
        tree::JoinKind::Full => names_in_source(source, name) > 0,
        tree::JoinKind::Inner | tree::JoinKind::Cross | tree::JoinKind::CrossApply => false,
    };
    here || is_under_outer_join(&join.left, name) || is_under_outer_join(&join.right, name)
}

/// What a recursive member must not have.
fn check_member(body: &tree::QueryBody, name: &tree::Name) -> Result<(), Fault> {
    let select = match body {
        tree::QueryBody::Select(select) => select,
        tree::QueryBody::Part(part) if part.offset.is_some() => {
            return Err(Box::new(SqlError::recursive_top(&name.text)));
        }
        tree::QueryBody::Part(part) => return check_member(&part.body, name),
        tree::QueryBody::SetOperation(chain) => {
            let is_union = |(op, _): &(tree::SetOperator, tree::QueryBody)| *op == tree::SetOperator::Union;
            if chain.rest.iter().any(is_union) {
                return Err(Box::new(SqlError::recursive_union(&name.text)));
            }
            return Ok(());
        }
        tree::QueryBody::Values(_) => return Ok(()),
    };
    if select.distinct {
        return Err(Box::new(SqlError::recursive_distinct(&name.text)));
    }
    if select.top.is_some() {
        return Err(Box::new(SqlError::recursive_top(&name.text)));
    }
    if select.from.iter().any(|source| is_under_outer_join(source, name)) {
        return Err(Box::new(SqlError::recursive_outer_join(&name.text)));
    }
    let aggregates = super::aggregate_level::lists_aggregate(select);
    if !select.group_by.is_empty() || select.having.is_some() || aggregates {
        return Err(Box::new(SqlError::recursive_aggregate(&name.text)));
    }
    Ok(())
}

impl Binder<'_> {
    /// Takes what OPTION says about recursion. Other hints change no result.
    ///
    /// # Errors
    /// 310 for more levels than there may be.
    pub(crate) fn recursion_hint(&mut self, hints: &[tree::QueryHint]) -> Result<(), Fault> {
        for hint in hints.iter().filter(|hint| hint.name == "MAXRECURSION") {
            let literal = hint.value.as_ref().and_then(tree::Expr::literal);
            let value = match literal {
                Some(tree::Literal::Int(value)) => i64::from(*value),
                Some(tree::Literal::Decimal(digits)) => {
                    return Err(Box::new(SqlError::recursion_limit_invalid(digits, RECURSION_MAX)));
                }
                _ => return Err(Box::new(SqlError::incorrect_syntax("MAXRECURSION"))),
            };
            if value > RECURSION_MAX {
                return Err(Box::new(SqlError::recursion_limit_invalid(value, RECURSION_MAX)));
            }
            self.recursion_max = u32::try_from(value).unwrap_or(0);
        }
        Ok(())
    }

    /// The row that a recursive member goes on from, when `table` is the common table being bound.
    pub(super) fn recursive_reference(
        &mut self,
        table: &Rc<tree::CommonTable>,
    ) -> Result<Option<(Leaf, Vec<SourceColumn>)>, Fault> {
        let Some(recursion) = self.recursions.iter_mut().find(|recursion| Rc::ptr_eq(&recursion.tree, table)) else {
            return Ok(None);
        };
        if self.subqueries > recursion.subqueries {
            return Err(Box::new(SqlError::recursive_in_subquery()));
        }
        recursion.references += 1;
        if recursion.references > 1 {
            return Err(Box::new(SqlError::recursive_twice(&table.name.text)));
        }
        Ok(Some((Leaf::Work(recursion.work), recursion.columns.clone())))
    }

    /// A common table that refers to itself: what starts it and what goes on.
    pub(super) fn recursive(&mut self, common: &CommonTable) -> Result<(Leaf, Vec<SourceColumn>), Fault> {
        let table = Rc::clone(&common.tree);
        let name = &table.name;
        let (first, rest) = match &table.query.body {
            tree::QueryBody::SetOperation(chain) => (&chain.first, chain.rest.as_slice()),
            body => (body, [].as_slice()),
        };
        // The members are the last ones; what is before them is the anchor.
        let anchors = rest.iter().rposition(|(_, body)| names_in(body, name) == 0).map_or(0, |last| last + 1);
        let (anchors, members) = rest.split_at(anchors);
        if rest.is_empty() || members.iter().any(|(op, _)| *op != tree::SetOperator::UnionAll) {
            return Err(Box::new(SqlError::recursive_without_union_all(&name.text)));
        }
        if names_in(first, name) > 0 || anchors.iter().any(|(_, body)| names_in(body, name) > 0) {
            return Err(Box::new(match anchors {
                [] => SqlError::recursive_without_anchor(&name.text),
                _ => SqlError::anchor_in_recursive_part(&name.text),
            }));
        }
        self.scopes.push(Scope { barrier: true, common: common.earlier(), ..Scope::default() });
        let anchor = self.set_operations(first, anchors);
        self.scopes.pop();
        let anchor = anchor?.of_known_types();
        let mut columns = infos(&anchor.columns);
        rename(&mut columns, &table.columns, &name.text)?;
        columns.iter_mut().for_each(|column| column.nullable = true);
        let (registers, work) = (self.registers(columns.len()), self.registers(columns.len()));
        let mut nodes = Vec::with_capacity(members.len());
        for (_, member) in members {
            check_member(member, name)?;
            let (tree, subqueries) = (Rc::clone(&table), self.subqueries);
            let recursion = Recursion { tree, columns: columns.clone(), work, references: 0, subqueries };
            self.recursions.push(recursion);
            let mut known = common.earlier();
            known.push(common.clone());
            self.scopes.push(Scope { barrier: true, common: known, ..Scope::default() });
            let bound = self.body(member);
            self.scopes.pop();
            self.recursions.pop();
            nodes.push(member_values(bound?, &columns, &name.text)?);
        }
        let depth_max = (self.recursion_max > 0).then_some(self.recursion_max);
        let recursive =
            Recursive { anchors: vec![(anchor.node, anchor.values)], members: nodes, registers, work, depth_max };
        let infos = columns.iter().map(|column| ColumnInfo {
            name: column.name.clone(),
            ty: column.ty,
            nullable: column.nullable,
            collated: column.collated,
            provenance: Provenance::Expression,
            decimal_name: column.decimal_name,
            user_type: column.user_type,
            origin: None,
        });
        let bound = Bound {
            node: Node::More(Box::new(More::Recursive(recursive))),
            columns: infos.collect(),
            values: registers.range().map(Expr::Slot).collect(),
        };
        Ok((Leaf::Derived(bound), columns))
    }
}

/// A recursive member's plan and values, which must be of the anchor's types. A bare NULL has no type of its own, and is of each.
fn member_values(bound: Bound, columns: &[SourceColumn], name: &str) -> Result<(Node, Vec<Expr>), Fault> {
    if bound.columns.len() != columns.len() {
        return Err(Box::new(SqlError::union_lists_differ()));
    }
    for (own, column) in bound.columns.iter().zip(columns) {
        if own.ty != column.ty && own.ty != SqlType::Null {
            return Err(Box::new(SqlError::recursive_types_differ(&column.name, name)));
        }
    }
    Ok((bound.node, bound.values))
}
