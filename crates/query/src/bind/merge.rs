//! MERGE.

use std::sync::Arc;

use super::change::SetClause;
use super::join::JoinTree;
use super::output::OutputRows;
use super::scope::{Clause, Source};
use super::target::TargetRows;
use super::virtual_column::VirtualColumns;
use super::{Binder, conjuncts};
use crate::errors;
use crate::expression::Fault;
use crate::output::DoneKind;
use crate::plan::{Branch, BranchAction, BranchRows, Change, JoinKind, Registers, Statement};
use pikepole_engine::{Permission, ReadHints, TriggerEvent};
use pikepole_tsql as tree;
use pikepole_types::SqlError;

impl Binder<'_> {
    /// A MERGE.
    pub(crate) fn merge_statement(mut self, merge: &tree::Merge) -> Result<Arc<Statement>, Fault> {
        check_clauses(&merge.clauses)?;
        self.plan_hints(&merge.options)?;
        self.push_change_scope(&merge.with)?;
        // Either side may be without a row of the other.
        self.scope().supplied += 1;
        let source = self.table_source(&merge.source)?;
        let (target_tree, target) = self.merge_target(merge)?;
        let mut on = Vec::new();
        let mark = self.pending.len();
        conjuncts(self.condition(&merge.on)?, &mut on);
        if self.pending.len() > mark {
            return Err(errors::unsupported("A subquery in the condition of MERGE"));
        }
        let mut source_keys = Vec::new();
        let own = self.scope().sources[target.source].registers;
        for condition in &on {
            condition.visit_slots(&mut |slot| {
                if !target.registers.range().contains(&slot) && !own.range().contains(&slot) {
                    source_keys.push(slot);
                }
            });
        }
        let has = |when| merge.clauses.iter().any(|clause| clause.when == when);
        let (inserts, lone) = (has(tree::MergeWhen::NotMatchedByTarget), has(tree::MergeWhen::NotMatchedBySource));
        let marker = lone.then(|| self.register());
        let source = match marker {
            Some(slot) => JoinTree::Marked(Box::new(source), slot),
            None => source,
        };
        let (source, target_tree) = (Box::new(source), Box::new(target_tree));
        let join = |left, right, kind, on| JoinTree::Join { left, right, kind, lateral: false, on };
        let tree = match (inserts, lone) {
            (true, true) => JoinTree::Full { left: source, right: target_tree, on },
            (true, false) => join(source, target_tree, JoinKind::Left, on),
            (false, true) => join(target_tree, source, JoinKind::Left, on),
            (false, false) => join(source, target_tree, JoinKind::Inner, on),
        };
        let top = self.change_top(merge.top.as_ref())?;
        let mut branches = Vec::with_capacity(merge.clauses.len());
        for clause in &merge.clauses {
            branches.push(self.merge_branch(clause, &target)?);
        }
        let pending = std::mem::take(&mut self.pending);
        let output = self.merge_output(merge, &target)?;
        let rows = self.rows(Some(tree), Vec::new());
        let rows = self.counted(rows);
        let change = Change {
            table: target.table,
            registers: target.registers,
            locator: target.locator,
            source: marker,
            kept: Vec::new(),
            branches,
            top,
            refuses_twice: true,
            source_keys,
            output,
            kind: DoneKind::Merge,
        };
        Ok(self.change_plan(rows, pending, change))
    }

    /// The table that is changed, as the scope's last source.
    fn merge_target(&mut self, merge: &tree::Merge) -> Result<(JoinTree, TargetRows), Fault> {
        let tree::Target::Table { name, hints } = &merge.target else {
            self.target(&merge.target)?;
            return Err(errors::unsupported("This target"));
        };
        for event in TriggerEvent::ALL {
            if self.stand_in(&merge.target, &[], event)?.is_some() {
                return Err(errors::unsupported("MERGE into a view with INSTEAD OF triggers"));
            }
        }
        let updates = merge.clauses.iter().filter_map(|clause| match &clause.action {
            tree::MergeAction::Update(assignments) => Some(assignments),
            _ => None,
        });
        let wanted = updates.flatten().filter_map(|assignment| match assignment {
            tree::Assignment::Column { column, .. } | tree::Assignment::Both { column, .. } => {
                Some(column.name.text.clone())
            }
            _ => None,
        });
        self.target_wanted = wanted.collect();
        self.target_permissions = merge_permissions(&merge.clauses);
        let reference = tree::TableRef {
            name: name.clone(),
            system_time: None,
            alias: merge.alias.clone(),
            sample: None,
            hints: hints.clone(),
        };
        let tree = self.target_source(&reference)?;
        match self.take_target() {
            Some(rows) => Ok((tree, rows)),
            None => Err(Box::new(SqlError::invalid_object(name.dotted()))),
        }
    }

    fn merge_branch(&mut self, clause: &tree::MergeClause, target: &TargetRows) -> Result<Branch, Fault> {
        let rows = match clause.when {
            tree::MergeWhen::Matched => BranchRows::Matched,
            tree::MergeWhen::NotMatchedByTarget => BranchRows::NotMatchedByTarget,
            tree::MergeWhen::NotMatchedBySource => BranchRows::NotMatchedBySource,
        };
        let hidden = self.hide(rows, target);
        let bound = self.merge_action(clause, target);
        for (at, source) in hidden {
            self.scope().sources[at] = source;
        }
        let (condition, action) = bound?;
        Ok(Branch { rows, condition, action })
    }

    /// Takes the sources away that have no row where a branch is taken.
    fn hide(&mut self, rows: BranchRows, target: &TargetRows) -> Vec<(usize, Source)> {
        let sources = &mut self.scope().sources;
        let absent = |at: &usize| match rows {
            BranchRows::Matched => false,
            BranchRows::NotMatchedByTarget => *at == target.source,
            BranchRows::NotMatchedBySource => *at != target.source,
        };
        let absent: Vec<usize> = (0..sources.len()).filter(absent).collect();
        let empty = || Source {
            alias: String::new(),
            schema: None,
            written: None,
            columns: Vec::new(),
            registers: Registers { first: 0, count: 0 },
            used: Vec::new(),
            hidden: true,
            located: false,
            virtual_columns: VirtualColumns::None,
            hints: ReadHints::default(),
        };
        absent.into_iter().map(|at| (at, std::mem::replace(&mut sources[at], empty()))).collect()
    }

    fn merge_action(
        &mut self,
        clause: &tree::MergeClause,
        target: &TargetRows,
    ) -> Result<(Option<crate::expression::Predicate>, BranchAction), Fault> {
        let condition = match &clause.condition {
            None => None,
            Some(condition) => Some(self.condition(condition)?),
        };
        let action = match &clause.action {
            tree::MergeAction::Delete => BranchAction::Delete,
            tree::MergeAction::Update(assignments) => {
                let SetClause { assignments, variables } = self.set_clause(target, assignments)?;
                BranchAction::Update { assignments, variables }
            }
            tree::MergeAction::Insert { columns, values } => {
                let table = Arc::clone(&target.table);
                let outer = std::mem::replace(&mut self.scope().clause, Clause::Set);
                let row = if values.is_empty() {
                    self.complete(&table, &[], Vec::new())?
                } else {
                    let below = columns_below(target, columns)?;
                    let indexes = self.insert_columns(&table, &below)?;
                    self.value_row(columns.is_empty(), &table, &indexes, values)?
                };
                self.scope().clause = outer;
                BranchAction::Insert(self.insert_of(table, vec![row]))
            }
        };
        Ok((condition, action))
    }

    fn merge_output(
        &mut self,
        merge: &tree::Merge,
        target: &TargetRows,
    ) -> Result<Option<crate::plan::OutputPlan>, Fault> {
        let inserted = self.inserted_registers(merge.output.as_ref(), &target.table);
        self.watch_inserted(target, inserted);
        let action = merge.output.as_ref().map(|_| self.register());
        let mut others = self.other_sources(target);
        others.iter_mut().flat_map(|source| &mut source.columns).for_each(|column| column.nullable = true);
        let rows = OutputRows { inserted, deleted: Some(target.registers), action, others, nullable: true };
        self.output_clause(merge.output.as_ref(), &Arc::clone(&target.table), rows)
    }
}

/// The WHEN clauses in an order and number that leaves none without effect.
fn check_clauses(clauses: &[tree::MergeClause]) -> Result<(), Fault> {
    let action = |clause: &tree::MergeClause| match clause.action {
        tree::MergeAction::Update(_) => "UPDATE",
        tree::MergeAction::Delete => "DELETE",
        tree::MergeAction::Insert { .. } => "INSERT",
    };
    for (at, clause) in clauses.iter().enumerate() {
        let when = match clause.when {
            tree::MergeWhen::Matched => "WHEN MATCHED",
            tree::MergeWhen::NotMatchedByTarget => "WHEN NOT MATCHED",
            tree::MergeWhen::NotMatchedBySource => "WHEN NOT MATCHED BY SOURCE",
        };
        let earlier = clauses[..at].iter().filter(|earlier| earlier.when == clause.when);
        for earlier in earlier {
            if action(earlier) == action(clause) {
                return Err(Box::new(SqlError::merge_action_twice(action(clause), when)));
            }
            if earlier.condition.is_none() {
                return Err(Box::new(SqlError::merge_clause_without_effect(when)));
            }
        }
    }
    Ok(())
}

/// The columns of the table that an INSERT names by those of the target.
fn columns_below(target: &TargetRows, names: &[tree::Name]) -> Result<Vec<tree::Name>, Fault> {
    let below = |name: &tree::Name| {
        let column = target.column(name).map_err(|fault| Box::new(fault.at_line(name.span.line)))?;
        Ok(tree::Name { text: target.table.columns[column].name.clone(), span: name.span })
    };
    names.iter().map(below).collect()
}

/// What the branches do to the target, and that its rows are read.
fn merge_permissions(clauses: &[tree::MergeClause]) -> Vec<Permission> {
    let mut permissions = vec![Permission::Select];
    for clause in clauses {
        let permission = match &clause.action {
            tree::MergeAction::Insert { .. } => Permission::Insert,
            tree::MergeAction::Update(_) => Permission::Update,
            tree::MergeAction::Delete => Permission::Delete,
        };
        if !permissions.contains(&permission) {
            permissions.push(permission);
        }
    }
    permissions
}
