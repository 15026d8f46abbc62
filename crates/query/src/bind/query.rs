//! Queries: SELECT with its clauses, UNION, VALUES.

use std::sync::Arc;

use super::certain::is_certain_of;
use super::collate::{distinct_keys, in_column, named, order_key};
use super::expression::read_by;
use super::scope::{Source, SourceColumn};
use super::select::{OrderKey, no_tail};
use super::typed::{Typed, convert_to};
use super::virtual_column::VirtualColumns;
use super::{Binder, Bound, Dependence, Scope, assign_to, user_types};
use crate::errors;
use crate::expression::{Expr, Fault, Integer};
use crate::optimizer::{Rule, RuleSet};
use crate::output::{ColumnInfo, Provenance};
use crate::plan::{Action, JoinKind, Node, Registers, SortKey, Statement, Told};
use pikepole_engine::ReadHints;
use pikepole_tsql as tree;
use pikepole_types::{Collated, SqlError, SqlType, implicit_type};

/// A select list as bound: what the client sees, or what variables take.
pub(super) struct Items {
    pub(super) columns: Vec<ColumnInfo>,
    pub(super) values: Vec<Typed>,
    pub(super) trees: Vec<Option<tree::Expr>>,
    pub(super) assignments: Vec<(usize, Expr)>,
}

/// Elements of a select list.
const SELECT_ITEMS_MAX: usize = 4_096;

impl Binder<'_> {
    /// A SELECT statement.
    pub(crate) fn select_statement(mut self, query: &tree::Query) -> Result<Arc<Statement>, Fault> {
        if let tree::QueryBody::Select(select) = &query.body
            && select.items.iter().any(|item| matches!(item, tree::SelectItem::Assign { .. }))
        {
            return self.assigning_select(query, select);
        }
        self.plan_hints(&query.options)?;
        self.allow_numbers(1);
        let bound = match self.browsing(query)? {
            Some(browsing) => self.browsed(browsing)?,
            None => self.query(query)?,
        };
        if let Some(undeclared) = self.names.undeclared {
            undeclared.shows(&bound.columns);
        }
        let bound = bound.of_known_types();
        self.options(&query.options)?;
        let action = Action::Select { columns: bound.columns, values: bound.values };
        Ok(Arc::new(self.finish(bound.node, action)))
    }

    fn assigning_select(mut self, query: &tree::Query, select: &tree::Select) -> Result<Arc<Statement>, Fault> {
        let all = select.items.iter().all(|item| matches!(item, tree::SelectItem::Assign { .. }));
        if !all {
            return Err(Box::new(SqlError::select_assigns_and_returns()));
        }
        Self::refuse_for(query, "ASSIGNMENT")?;
        self.options(&query.options)?;
        self.plan_hints(&query.options)?;
        let common = self.with_clause(&query.with, None)?;
        self.scopes.push(Scope { common, ..Scope::default() });
        self.allow_numbers(1);
        let (node, items) = self.select(select, query)?;
        self.scopes.pop();
        let action = Action::Assign { assignments: items.assignments, told: Told::Rows };
        Ok(Arc::new(self.finish(node, action)))
    }

    /// A query inside an expression.
    pub(crate) fn subquery(&mut self, query: &tree::Query) -> Result<(Bound, Dependence), Fault> {
        // What waits to be placed belongs to the query outside.
        let outside = std::mem::take(&mut self.pending);
        let guards = std::mem::take(&mut self.guards);
        self.scopes.push(Scope::default());
        self.subqueries += 1;
        let was_undetermined = std::mem::take(&mut self.is_undetermined);
        let bound = self.query(query);
        self.subqueries -= 1;
        let correlated = self.scopes.pop().is_some_and(|scope| scope.correlated);
        let dependence = match (correlated, self.is_undetermined) {
            (false, _) => Dependence::None,
            (true, false) => Dependence::OnRow,
            (true, true) => Dependence::OnTime,
        };
        self.is_undetermined |= was_undetermined;
        self.pending = outside;
        self.guards = guards;
        Ok((bound?, dependence))
    }

    /// Refuses FOR in a statement that wants the rows themselves.
    ///
    /// # Errors
    /// 6819 and 13602.
    pub(super) fn refuse_for(query: &tree::Query, statement: &str) -> Result<(), Fault> {
        let (number, language) = match query.for_clause.as_ref().map(|clause| clause.format) {
            None => return Ok(()),
            Some(tree::ForFormat::Browse) => return Err(errors::unsupported("FOR BROWSE")),
            Some(tree::ForFormat::Json) => (13602, "JSON"),
            Some(tree::ForFormat::Xml) => (6819, "XML"),
        };
        let text = format!("The FOR {language} clause is not allowed in a {statement} statement.");
        Err(Box::new(SqlError::new(number, 16, 1, text)))
    }

    /// A query: its scope is gone when this returns.
    pub(crate) fn query(&mut self, query: &tree::Query) -> Result<Bound, Fault> {
        let common = self.with_clause(&query.with, Some(&query.body))?;
        let outside = std::mem::take(&mut self.pending);
        self.scopes.push(Scope { common, ..Scope::default() });
        let bound = self.query_in_scope(query);
        self.scopes.pop();
        self.pending = outside;
        bound
    }

    fn query_in_scope(&mut self, query: &tree::Query) -> Result<Bound, Fault> {
        match &query.body {
            tree::QueryBody::Select(select) => {
                if select.into.is_some() {
                    return Err(errors::unsupported("SELECT INTO here"));
                }
                let (node, items) = self.select(select, query)?;
                if !items.assignments.is_empty() {
                    return Err(Box::new(SqlError::select_assigns_and_returns()));
                }
                let bound = Bound {
                    node,
                    columns: items.columns,
                    values: items.values.into_iter().map(|value| value.expr).collect(),
                };
                self.in_format(bound, &items.trees, query)
            }
            body => {
                let bound = self.body(body)?;
                let bound = self.order_rows(bound, query)?;
                self.in_format(bound, &[], query)
            }
        }
    }

    /// Rows of a set operation or VALUES, without an ORDER BY of their own.
    pub(super) fn body(&mut self, body: &tree::QueryBody) -> Result<Bound, Fault> {
        match body {
            tree::QueryBody::Select(select) => {
                let outside = std::mem::take(&mut self.pending);
                self.scopes.push(Scope::default());
                let selected = self.select_rows(select, &no_tail());
                self.scopes.pop();
                self.pending = outside;
                let (node, items) = selected?;
                Ok(Bound {
                    node,
                    columns: items.columns,
                    values: items.values.into_iter().map(|value| value.expr).collect(),
                })
            }
            tree::QueryBody::SetOperation(chain) => self.set_operations(&chain.first, &chain.rest),
            tree::QueryBody::Values(rows) => self.values(rows),
            tree::QueryBody::Part(part) => self.query(part),
        }
    }

    pub(super) fn values(&mut self, rows: &[Vec<tree::Expr>]) -> Result<Bound, Fault> {
        let width = rows.first().map_or(0, Vec::len);
        let mut types = vec![SqlType::Null; width];
        let mut nullable = vec![false; width];
        let mut collated = vec![Collated::Default; width];
        let mut user_types: Vec<Option<i32>> = vec![None; width];
        let mut typed_rows = Vec::with_capacity(rows.len());
        for row in rows {
            if row.len() != width {
                return Err(Box::new(SqlError::value_rows_differ()));
            }
            let mut typed = Vec::with_capacity(width);
            for (index, value) in row.iter().enumerate() {
                let written = value;
                let value = self.expr(written)?;
                let certain = is_certain_of(written, &value.ty);
                let user_type = self.user_type_of(written, &value);
                user_types[index] = user_types::meet((&types[index], user_types[index]), (&value.ty, user_type));
                types[index] = implicit_type(&types[index], &value.ty)?;
                nullable[index] |= value.nullable || !certain;
                collated[index] = collated[index].meet(value.collated, "UNION ALL")?;
                typed.push(value);
            }
            typed_rows.push(typed);
        }
        let registers = self.registers(width);
        let mut bound_rows = Vec::with_capacity(rows.len());
        for row in typed_rows {
            let mut values = Vec::with_capacity(width);
            for (value, ty) in row.into_iter().zip(&types) {
                values.push(convert_to(value, ty)?.expr);
            }
            bound_rows.push(values);
        }
        let columns = types
            .iter()
            .zip(nullable)
            .zip(collated)
            .zip(user_types)
            .map(|(((ty, nullable), collated), user_type)| {
                let provenance = Provenance::Expression;
                ColumnInfo { collated, provenance, user_type, ..ColumnInfo::new(String::new(), *ty, nullable) }
            })
            .collect();
        let mut node = Node::Values { rows: bound_rows, registers };
        if !self.pending.is_empty() {
            // What subqueries give comes before the rows that read it.
            let left = Box::new(self.place_pending(0, Node::One));
            node = Node::Join {
                left,
                right: Box::new(node),
                kind: JoinKind::Inner,
                on: None,
                right_registers: Vec::new(),
            };
        }
        Ok(Bound { node, columns, values: registers.range().map(Expr::Slot).collect() })
    }

    /// ORDER BY, OFFSET and FETCH over the rows of a set operation or VALUES.
    fn order_rows(&mut self, bound: Bound, query: &tree::Query) -> Result<Bound, Fault> {
        let mut keys = Vec::new();
        for item in &query.order_by {
            let (expr, collation) = match &item.expr.kind {
                tree::ExprKind::Collate(expr, name) => (&**expr, Some(named(name, self.collation())?)),
                _ => (&item.expr, None),
            };
            let position = match self.output_position(expr, &bound.columns)? {
                Some(position) => position,
                None => source_position(expr, &query.body).ok_or_else(SqlError::order_by_not_in_union_list)?,
            };
            let column = &bound.columns[position];
            let collation = match collation {
                Some(_) if !column.ty.is_string() => {
                    return Err(Box::new(SqlError::collate_of_type(column.ty.error_name())));
                }
                Some(collation) => collation,
                None => in_column(column.collated, "ORDER BY", keys.len() + 1)?,
            };
            let collation = collation.comparing(&column.ty);
            keys.push(SortKey { expr: bound.values[position].clone(), descending: item.descending, collation });
        }
        let (offset, fetch) = self.offset_and_fetch(query)?;
        let keys = self.without_constant_keys(keys, &bound.node);
        let node = sorted(bound.node, keys, &bound.values, &[], self.active_rules);
        let node = self.counted(cut(node, offset, fetch));
        Ok(Bound { node, ..bound })
    }

    pub(super) fn offset_and_fetch(
        &mut self,
        query: &tree::Query,
    ) -> Result<(Option<Integer>, Option<Integer>), Fault> {
        let mut bind = |expr: &Option<tree::Expr>| match expr {
            None => Ok(None),
            Some(expr) => self.row_count(expr).map(Some),
        };
        let (offset, fetch) = (bind(&query.offset)?, bind(&query.fetch)?);
        if matches!(offset, Some(Integer::Const(Some(..0)))) {
            return Err(errors::offset_negative());
        }
        if matches!(fetch, Some(Integer::Const(Some(..=0)))) {
            return Err(errors::fetch_not_positive());
        }
        Ok((offset, fetch))
    }

    /// The count of TOP, OFFSET or FETCH: an integer expression without columns.
    pub(crate) fn row_count(&mut self, expr: &tree::Expr) -> Result<Integer, Fault> {
        let sources = std::mem::take(&mut self.scope().sources);
        let mark = self.pending.len();
        let typed = self.expr(expr);
        let scope = self.scope();
        scope.sources = sources;
        let typed = match typed? {
            // A literal beyond the integers.
            typed if matches!(typed.ty, SqlType::Decimal { scale: 0, .. }) => convert_to(typed, &SqlType::BigInt)?,
            typed if typed.undeclared.is_some() => convert_to(typed, &SqlType::BigInt)?,
            typed => typed,
        };
        if !typed.ty.is_integer() && typed.ty != SqlType::Bit {
            return Err(Box::new(SqlError::top_not_an_integer()));
        }
        let subqueries = self.pending.split_off(mark);
        self.scope().counting.extend(subqueries);
        Ok(typed.integer())
    }

    /// Rows that are cut, behind the subqueries that say where.
    pub(super) fn counted(&mut self, node: Node) -> Node {
        let subqueries = std::mem::take(&mut self.scope().counting);
        if subqueries.is_empty() {
            return node;
        }
        let left = Box::new(super::applied(Node::One, subqueries));
        let kind = JoinKind::Inner;
        Node::Join { left, right: Box::new(node), kind, on: None, right_registers: Vec::new() }
    }

    /// The count of TOP PERCENT, a float.
    pub(super) fn percent(&mut self, expr: &tree::Expr) -> Result<Expr, Fault> {
        let sources = std::mem::take(&mut self.scope().sources);
        let typed = self.expr(expr);
        self.scope().sources = sources;
        Ok(convert_to(typed?, &SqlType::Float)?.expr)
    }

    pub(super) fn items(&mut self, list: &[tree::SelectItem]) -> Result<Items, Fault> {
        let mut items = Items { columns: Vec::new(), values: Vec::new(), trees: Vec::new(), assignments: Vec::new() };
        for item in list {
            match item {
                tree::SelectItem::Star { qualifier, .. } => {
                    self.check_bound_star()?;
                    self.star(qualifier.as_deref(), &mut items)?;
                }
                tree::SelectItem::Expr { expr, alias } => {
                    let typed = self.expr(expr)?;
                    let name = match (alias, &expr.kind) {
                        (Some(alias), _) => alias.text.clone(),
                        (None, tree::ExprKind::Column(column))
                            if !column.is_virtual && self.resolve(column).is_ok() =>
                        {
                            column.name.text.clone()
                        }
                        _ => String::new(),
                    };
                    items.columns.push(self.shown(name, expr, &typed, items.columns.len() + 1)?);
                    items.values.push(typed);
                    items.trees.push(Some(expr.clone()));
                }
                tree::SelectItem::Assign { variable, op, value } => {
                    let assignment = self.assignment(&variable.text, *op, value)?;
                    items.assignments.push(assignment);
                }
            }
        }
        if items.columns.len() > SELECT_ITEMS_MAX {
            return Err(Box::new(SqlError::too_many_select_items(SELECT_ITEMS_MAX)));
        }
        Ok(items)
    }

    /// `@v op= value` as a slot and the value it takes.
    pub(crate) fn assignment(
        &mut self,
        variable: &str,
        op: tree::AssignOp,
        value: &tree::Expr,
    ) -> Result<(usize, Expr), Fault> {
        let (slot, ty) = self.variable(variable)?;
        let value = self.expr(value)?;
        let value = match binary_of(op) {
            None => value,
            Some(op) => {
                let old = Typed::new(Expr::Slot(slot), ty, true);
                super::expression::binary_value(op, old, value)?
            }
        };
        Ok((slot, assign_to(value, &ty, self.collation(), None)?))
    }

    /// The column that shows an item.
    ///
    /// # Errors
    /// 451 for a text whose parts' collations do not agree.
    fn shown(&self, name: String, item: &tree::Expr, typed: &Typed, place: usize) -> Result<ColumnInfo, Fault> {
        in_column(typed.collated, "SELECT", place)?;
        if let Some(wanted) = &typed.undeclared {
            wanted.as_column();
        }
        let (provenance, decimal_name) = (self.provenance(item), self.decimal_name_of(item, typed.ty));
        let nullable = typed.nullable || !is_certain_of(item, &typed.ty);
        let (ty, collated) = (typed.ty, typed.collated);
        let user_type = self.user_type_of(item, typed);
        Ok(ColumnInfo { name, ty, nullable, collated, provenance, decimal_name, user_type, origin: None })
    }

    fn star(&mut self, qualifier: Option<&tree::ObjectName>, items: &mut Items) -> Result<(), Fault> {
        let mut columns: Vec<(Option<String>, String)> = Vec::new();
        let sources = &self.scope().sources;
        if sources.is_empty() {
            return Err(Box::new(match qualifier {
                Some(qualifier) => SqlError::column_prefix_unknown(qualifier.dotted()),
                None => SqlError::no_table_to_select_from(),
            }));
        }
        let mut found = false;
        for source in sources {
            if qualifier.is_some_and(|qualifier| !source.answers_to(qualifier)) {
                continue;
            }
            found = true;
            for column in source.columns.iter().filter(|column| !column.hidden) {
                columns.push((Some(source.alias.clone()), column.name.clone()));
            }
        }
        if !found {
            let prefix = qualifier.map(tree::ObjectName::dotted).unwrap_or_default();
            return Err(Box::new(SqlError::column_prefix_unknown(prefix)));
        }
        for (alias, name) in columns {
            let reference = column_tree(alias, &name);
            let typed = self.expr(&reference)?;
            items.columns.push(self.shown(name, &reference, &typed, items.columns.len() + 1)?);
            items.values.push(typed);
            items.trees.push(Some(reference));
        }
        Ok(())
    }

    pub(super) fn sort_keys(
        &mut self,
        order_by: &[tree::OrderItem],
        items: &Items,
        distinct: bool,
    ) -> Result<Vec<OrderKey>, Fault> {
        let mut keys = Vec::with_capacity(order_by.len());
        for item in order_by {
            let position = match self.output_position(&item.expr, &items.columns)? {
                Some(position) => Some(position),
                None => items.trees.iter().position(|tree| tree.as_ref() == Some(&item.expr)),
            };
            let typed = match position.and_then(|position| items.values.get(position)) {
                Some(value) => value.clone(),
                None => self.order_value(&item.expr, keys.len() + 1)?,
            };
            let is_it =
                |value: &Typed| same_slot(&value.expr, &typed.expr) && value.collated.shown() == typed.collated.shown();
            let is_alike = |(tree, value): (&Option<tree::Expr>, &Typed)| {
                tree.as_ref().is_some_and(|tree| tree.is_alike(&item.expr))
                    && read_by(&value.expr) == read_by(&typed.expr)
            };
            let position = position
                .or_else(|| items.trees.iter().zip(&items.values).position(is_alike))
                .or_else(|| items.values.iter().position(is_it));
            if distinct && position.is_none() {
                return Err(Box::new(SqlError::order_by_not_in_distinct_list()));
            }
            if typed.expr.is_const() {
                continue;
            }
            // Two output columns are two, even if both show the same column.
            let is_same = |(key, other): &OrderKey| match (position, other) {
                (Some(position), Some(other)) => position == *other,
                _ => same_slot(&key.expr, &typed.expr),
            };
            if keys.iter().any(is_same) {
                return Err(Box::new(SqlError::order_by_column_twice()));
            }
            keys.push((order_key(typed, item.descending, keys.len() + 1)?, position));
        }
        Ok(keys)
    }

    /// What an item of ORDER BY that is no output column sorts by: not a constant, nor a variable alone, which could be meant as a position.
    fn order_value(&mut self, expr: &tree::Expr, place: usize) -> Result<Typed, Fault> {
        if matches!(expr.kind, tree::ExprKind::Variable(_)) {
            return Err(Box::new(SqlError::order_by_a_variable(place)));
        }
        let typed = self.expr(expr)?;
        // A function of constants is called, not computed before, and a column is one that a table below shows.
        let is_called =
            matches!(expr.kind, tree::ExprKind::Subquery(_) | tree::ExprKind::Function(_) | tree::ExprKind::Column(_));
        if typed.expr.is_const() && !is_called {
            return Err(Box::new(SqlError::constant_in_order_by(place)));
        }
        Ok(typed)
    }

    /// The output column that an ORDER BY item names by alias or position.
    fn output_position(&self, expr: &tree::Expr, columns: &[ColumnInfo]) -> Result<Option<usize>, Fault> {
        let kind = match &expr.kind {
            tree::ExprKind::Unary(op, of) => match (op, of.literal()) {
                (tree::UnaryOp::Minus, Some(tree::Literal::Int(position))) => {
                    return Err(Box::new(SqlError::order_by_position_out_of_range(format!("-{position}"))));
                }
                (tree::UnaryOp::Plus, Some(tree::Literal::Int(_))) => &of.kind,
                _ => &expr.kind,
            },
            kind => kind,
        };
        match kind {
            tree::ExprKind::Literal(tree::Literal::Int(position)) => match usize::try_from(*position) {
                Ok(at) if (1..=columns.len()).contains(&at) => Ok(Some(at - 1)),
                _ => Err(Box::new(SqlError::order_by_position_out_of_range(position))),
            },
            tree::ExprKind::Column(column) if column.qualifier.is_none() && !column.is_virtual => {
                let mut named =
                    columns.iter().enumerate().filter(|(_, info)| column.name.is(&info.name)).map(|(at, _)| at);
                let found = named.next();
                match named.next() {
                    None => Ok(found),
                    Some(_) => Err(SqlError::ambiguous_column(&column.name.text).at_line(column.name.span.line).into()),
                }
            }
            _ => Ok(None),
        }
    }

    /// Each row once.
    pub(super) fn distinct_rows(&mut self, bound: Bound) -> Bound {
        let registers = self.registers(bound.values.len());
        let keys = distinct_keys(bound.values, &bound.columns, registers);
        Bound {
            node: Node::Group { input: Box::new(bound.node), keys, aggregates: Vec::new() },
            columns: bound.columns,
            values: registers.range().map(Expr::Slot).collect(),
        }
    }

    /// A pseudo source over registers, so that expressions can name what a statement works on.
    pub(crate) fn add_source(&mut self, alias: &str, columns: Vec<SourceColumn>, registers: Registers) {
        let used = vec![true; columns.len()];
        self.scope().sources.push(Source {
            alias: alias.to_owned(),
            schema: None,
            written: None,
            columns,
            registers,
            used,
            hidden: false,
            located: false,
            virtual_columns: VirtualColumns::None,
            hints: ReadHints::default(),
        });
    }
}

/// The type a column without one is given: a bare NULL is an int.
pub(super) fn known_type(ty: SqlType) -> SqlType {
    if ty == SqlType::Null { SqlType::Int } else { ty }
}

fn same_slot(a: &Expr, b: &Expr) -> bool {
    matches!((a, b), (Expr::Slot(a), Expr::Slot(b)) if a == b)
}

/// The reference to a column of a source.
pub(crate) fn column_tree(alias: Option<String>, name: &str) -> tree::Expr {
    let span = tree::Span::default();
    let word = |text: String| tree::Name { text, span };
    let qualifier = alias.map(|alias| Box::new(tree::ObjectName::of(word(alias))));
    let column = tree::ColumnRef::new(qualifier, word(name.to_owned()));
    tree::Expr::new(tree::ExprKind::Column(column), span)
}

/// Rows in order. A scan of one table that gives them in this order, or in the opposite one, needs no sort.
pub(crate) fn sorted(
    mut node: Node,
    keys: Vec<SortKey>,
    values: &[Expr],
    assignments: &[(usize, Expr)],
    rules: RuleSet,
) -> Node {
    if keys.is_empty() || served_by_scan(&mut node, &keys, rules) {
        return node;
    }
    let carry = carried(values, assignments);
    Node::Sort { input: Box::new(node), keys, carry }
}

/// The slots that values and assignments read of a row.
pub(super) fn carried(values: &[Expr], assignments: &[(usize, Expr)]) -> Vec<usize> {
    let mut carry = Vec::new();
    let mut visit = |slot: usize| {
        if !carry.contains(&slot) {
            carry.push(slot);
        }
    };
    values.iter().for_each(|value| value.visit_slots(&mut visit));
    // A variable assigned row by row keeps its running value: only what the rows bring is carried.
    let assigned: Vec<usize> = assignments.iter().map(|(slot, _)| *slot).collect();
    assignments.iter().for_each(|(_, value)| value.visit_slots(&mut visit));
    carry.retain(|slot| !assigned.contains(slot));
    carry
}

/// Whether the rows of a scan below filters come in the order of the keys; the scan is turned round if that gives it.
pub(crate) fn served_by_scan(node: &mut Node, keys: &[SortKey], rules: RuleSet) -> bool {
    match node {
        _ if !rules.has(Rule::SortElimination) => false,
        Node::Filter { input, .. } | Node::Compute { input, .. } => served_by_scan(input, keys, rules),
        Node::Apply { input, .. } => served_by_scan(input, keys, rules),
        Node::Scan(scan) => {
            if scan.range.point {
                return true;
            }
            if scan.range.index.is_some() || scan.narrowing.as_ref().is_some_and(|own| own.index.is_some()) {
                return false;
            }
            // A value that is not plain leaves its column open when the scan begins.
            let fixed = scan.range.prefix.iter().take_while(|key| !key.plain_only).count();
            let mut reverse = None;
            let mut at = fixed;
            for key in keys {
                let Some(column) = scan.table.key.get(at) else {
                    // The whole key is passed: where it is unique, what follows cannot change the order.
                    return scan.table.key_unique && finish(scan, reverse);
                };
                let slot = scan.registers.first + column.column;
                let own = &scan.table.columns[column.column];
                let is_fixed =
                    scan.table.key[..fixed].iter().any(|fixed| is_slot(&key.expr, scan.registers.first + fixed.column));
                if is_fixed {
                    continue;
                }
                let turned = key.descending != column.descending;
                let other_order = own.ty.is_string() && own.order() != key.collation;
                if !is_slot(&key.expr, slot) || other_order || reverse.is_some_and(|reverse| reverse != turned) {
                    return false;
                }
                reverse = Some(turned);
                at += 1;
            }
            finish(scan, reverse)
        }
        _ => false,
    }
}

fn finish(scan: &mut crate::plan::Scan, reverse: Option<bool>) -> bool {
    scan.reverse = reverse.unwrap_or(false);
    true
}

fn is_slot(expr: &Expr, slot: usize) -> bool {
    matches!(expr, Expr::Slot(at) if *at == slot)
}

/// The rows behind an offset, up to a count.
pub(crate) fn cut(node: Node, offset: Option<Integer>, count: Option<Integer>) -> Node {
    if offset.is_none() && count.is_none() {
        return node;
    }
    Node::Top { input: Box::new(node), offset, count }
}

/// The operator in `op=`; none for `=`.
pub(crate) fn binary_of(op: tree::AssignOp) -> Option<tree::BinaryOp> {
    Some(match op {
        tree::AssignOp::Set => return None,
        tree::AssignOp::Add => tree::BinaryOp::Add,
        tree::AssignOp::Subtract => tree::BinaryOp::Subtract,
        tree::AssignOp::Multiply => tree::BinaryOp::Multiply,
        tree::AssignOp::Divide => tree::BinaryOp::Divide,
        tree::AssignOp::Modulo => tree::BinaryOp::Modulo,
        tree::AssignOp::BitAnd => tree::BinaryOp::BitAnd,
        tree::AssignOp::BitOr => tree::BinaryOp::BitOr,
        tree::AssignOp::BitXor => tree::BinaryOp::BitXor,
        tree::AssignOp::Concat => tree::BinaryOp::Concat,
    })
}

/// The value of an item of a select list.
pub(super) fn item_value(item: &tree::SelectItem) -> Option<&tree::Expr> {
    match item {
        tree::SelectItem::Star { .. } => None,
        tree::SelectItem::Expr { expr, .. } => Some(expr),
        tree::SelectItem::Assign { value, .. } => Some(value),
    }
}

/// The column of a set operation that an ORDER BY means by the name of what the first SELECT reads, though it is called otherwise in the
/// result. `None` when that SELECT has no such item, or a star before it.
fn source_position(expr: &tree::Expr, body: &tree::QueryBody) -> Option<usize> {
    let tree::ExprKind::Column(wanted) = &expr.kind else { return None };
    let mut body = body;
    let first = loop {
        match body {
            tree::QueryBody::SetOperation(operation) => body = &operation.first,
            tree::QueryBody::Select(select) => break select,
            tree::QueryBody::Part(part) => body = &part.body,
            tree::QueryBody::Values(_) => return None,
        }
    };
    let has_name = |item: &tree::SelectItem| match item {
        tree::SelectItem::Expr { expr: tree::Expr { kind: tree::ExprKind::Column(column), .. }, .. } => {
            let same_table = |qualifier: &tree::ObjectName| {
                let named = |name: &Option<tree::Name>| name.as_ref().map(|name| name.text.to_lowercase());
                column.qualifier.as_ref().is_some_and(|own| {
                    own.name.is(&qualifier.name.text)
                        && named(&own.schema) == named(&qualifier.schema)
                        && named(&own.database) == named(&qualifier.database)
                })
            };
            column.name.is(&wanted.name.text) && wanted.qualifier.as_ref().is_none_or(|qualifier| same_table(qualifier))
        }
        _ => false,
    };
    let is_star = |item: &tree::SelectItem| matches!(item, tree::SelectItem::Star { .. });
    let at = first.items.iter().position(|item| is_star(item) || has_name(item))?;
    has_name(&first.items[at]).then_some(at)
}
