//! The binder: names become slots, types meet, queries become plans.

mod aggregate_level;
mod asked_arguments;
mod browse;
mod bulk;
mod certain;
mod chain;
mod change;
mod check_option;
mod clr;
mod collate;
mod common_table;
mod condition;
mod current;
mod data_type;
mod decimal_name;
mod determinism;
mod document;
mod expression;
pub(crate) mod filtered;
mod for_xml;
mod function;
mod grouping;
mod hint;
mod insert_values;
mod into;
pub(crate) mod join;
mod kept_columns;
mod mask;
mod mask_errors;
mod merge;
mod modify;
mod open_json;
pub(crate) mod open_query;
mod output;
mod partition;
mod permission;
mod pivot;
pub(crate) mod query;
mod recursive;
mod routine;
mod row_security;
mod rules;
mod sample;
mod schema_bound;
pub(crate) mod scope;
mod select;
mod sequence;
mod series;
mod set;
mod settled;
mod source;
mod split;
mod straight;
mod system_time;
mod target;
mod trigger;
mod typed;
mod undeclared;
mod user_types;
mod view;
mod virtual_column;
mod window;
mod write;
mod xml;
mod xml_explicit;
mod xml_names;

pub(crate) use certain::is_certain_of;
pub(crate) use check_option::check_option;
pub(crate) use collate::{ColumnDefaults, column_collation, database_collation, in_column};
pub(crate) use current::{CursorTable, cursor_row_again, cursor_rows, is_watched};
pub use data_type::Declared;
pub(crate) use data_type::{TypePlace, declared, declared_at, sql_type};
pub(crate) use determinism::Undetermined;
pub use determinism::{Traits, check_key_column, column_traits, module_is_deterministic};
pub(crate) use expression::literal;
pub(crate) use into::into_columns;
pub(crate) use kept_columns::{COLUMNS_MAX, checked_view};
pub use kept_columns::{columns_made_now, kept_columns};
pub(crate) use query::binary_of;
pub(crate) use routine::{check_column_names, checked_function, is_run, parsed_function};
pub(crate) use row_security::check_predicate;
pub(crate) use rules::{TableColumn, computed_column, reads_columns, table_condition};
pub(crate) use schema_bound::{SchemaBound, is_bound};
pub(crate) use trigger::{COLUMNS_UPDATED, TriggerShape};
pub(crate) use typed::{Typed, assign_to, constant_value, convert_to};
pub use undeclared::{Undeclared, UndeclaredParameter, first_result_set, prepared_columns, undeclared_parameters};

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::access::{CatalogStamp, CatalogView};
use crate::expression::{Expr, Fault, Predicate};
use crate::host::Host;
use crate::optimizer::rules::aggregate_decorrelation::decorrelate;
use crate::optimizer::rules::common_table_spool::share_common_tables;
use crate::optimizer::rules::memoize::memo_key;
use crate::optimizer::rules::semi_join_reduction::narrow;
use crate::optimizer::variable_values::VariableValues;
use crate::optimizer::{Rule, RuleSet};
use crate::output::ColumnInfo;
use crate::plan::{Action, Guard, LiveSlots, Node, Registers, Statement, TableSize, Test, Told, VirtualSource};
use crate::program::{LateKind, Variable};
use crate::security::Requirement;
use pikepole_engine::{LockMode, MemoryLevel, Permission};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType, Value};

pub(crate) use scope::Scope;

/// What the binder looks names up in.
pub(crate) struct Names<'a> {
    pub(crate) catalog: &'a CatalogView,
    pub(crate) host: &'a dyn Host,
    pub(crate) variables: &'a [Variable],
    /// The database and the object id of the table whose identity column takes explicit values.
    pub(crate) identity_insert: Option<(i32, i32)>,
    /// What the statements of a trigger see.
    pub(crate) trigger: Option<&'a TriggerShape>,
    /// Where the types are noted that variables are wanted in which nothing declares; None: such variables are errors.
    pub(crate) undeclared: Option<&'a Undeclared>,
    /// The function of several statements that is being made WITH SCHEMABINDING.
    pub(crate) schema_bound: Option<&'a SchemaBound>,
    /// What is bound is the text of a function, which has no side effects and reads no temporary table.
    pub(crate) in_function: bool,
    /// Where it is noted that something bound is not deterministic.
    pub(crate) undetermined: Option<&'a Undetermined>,
    /// No user wrote the statement: no security policy is about it.
    pub(crate) unguarded: bool,
    /// Values that the first variables are taken to have.
    pub(crate) values: &'a [Value],
}

impl<'a> Names<'a> {
    /// The names of a catalog and of a host's functions and views, and nothing that belongs to one batch.
    pub(crate) fn of(catalog: &'a CatalogView, host: &'a dyn Host) -> Names<'a> {
        Names {
            catalog,
            host,
            variables: &[],
            identity_insert: None,
            trigger: None,
            undeclared: None,
            schema_bound: None,
            in_function: false,
            undetermined: None,
            unguarded: false,
            values: &[],
        }
    }
}

/// Things that the rows of a subquery depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dependence {
    /// Nothing that changes while the statement runs.
    None,
    /// The values of the row outside alone.
    OnRow,
    /// The row outside, and what may differ from one time to the next for the same values: a random number, a function that is run.
    OnTime,
}

/// A subquery found in an expression, waiting to be placed below the operator that evaluates the expression.
#[derive(Clone)]
pub(crate) struct PendingApply {
    pub(crate) subquery: Node,
    pub(crate) test: Test,
    pub(crate) slot: usize,
    pub(crate) correlated: bool,
    pub(crate) guards: Vec<Guard>,
    pub(crate) memo: Option<Box<[usize]>>,
}

impl PendingApply {
    /// Whether its result can be another one for another row.
    pub(crate) fn depends_on_row(&self) -> bool {
        self.is_run_anew() || matches!(self.test, Test::In { .. } | Test::Extremes { .. })
    }

    /// Whether it is no subquery, but a call of a function of several statements.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.subquery, Node::Call { .. })
    }

    /// Whether the subquery itself can run after the first row.
    pub(crate) fn is_run_anew(&self) -> bool {
        self.correlated || !self.guards.is_empty()
    }
}

/// The binder of one statement.
pub(crate) struct Binder<'a> {
    pub(crate) names: &'a Names<'a>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) virtual_sources: Vec<VirtualSource>,
    pub(crate) pending: Vec<PendingApply>,
    /// What must hold for the expression being bound to be evaluated at all.
    pub(crate) guards: Vec<Guard>,
    slots: usize,
    /// How many views are being expanded within each other.
    views: usize,
    /// The number of views and common tables that have been expanded.
    expansions: usize,
    /// The number of operators of plans that names of common tables have beside their own.
    copied_operators: usize,
    /// The number of subqueries around that are being planned both ways: see [`crate::optimizer::rules::join_decorrelation`].
    pub(crate) planned_twice: usize,
    /// How many expressions and conditions are being bound within each other.
    depth: usize,
    /// What the parameters of the functions being expanded stand for, innermost last.
    pub(crate) parameters: Vec<Vec<(String, routine::Given)>>,
    /// The scalar functions being expanded: one that calls itself is run, not expanded.
    expanding: Vec<(i32, i32)>,
    /// True once an expression calls a method of xml.
    pub(crate) calls_methods: bool,
    /// True once an expression asks for the present time.
    pub(crate) reads_clock: bool,
    /// The expression is that of a computed column.
    in_computed: bool,
    /// True once something is met that is not deterministic.
    is_undetermined: bool,
    /// Constants are left as they are written: see [`Binder::kept_constant`].
    keeps_constants: bool,
    /// `OPTION (MAXDOP n)` of the statement.
    degree: Option<u16>,
    /// `OPTION (MAX_GRANT_PERCENT = n)`.
    memory_percent: Option<f64>,
    /// The hints behind the name of the table that UPDATE, DELETE or MERGE changes.
    target_hints: Vec<tree::TableHint>,
    /// The lock that hints of the changed table ask for.
    table_lock: Option<LockMode>,
    /// The level that a hint asks for in the in-memory table that rows are inserted into.
    memory_level: Option<MemoryLevel>,
    /// The permissions that the statement needs.
    requirements: Vec<Requirement>,
    /// The columns whose reading needs some of them, and the slots that expressions read.
    watched: Vec<permission::Watched>,
    slots_read: HashSet<usize>,
    /// The alias types of the values of scalar subqueries, by the slots that hold them.
    subquery_types: HashMap<usize, i32>,
    /// True once an expression reads a column of the outermost scope's first source, which is what UPDATE and DELETE change.
    pub(crate) reads_target: bool,
    /// The module being made, when it is bound to the schema.
    schema_bound: Option<SchemaBound>,
    /// The owner of the view being expanded.
    view_owner: Option<i32>,
    /// What the names in the view or function being expanded are looked up in, when that is not what the statement's are.
    inner_catalog: Option<Rc<CatalogView>>,
    /// Set while the query of a table is bound whose rows are changed through it.
    expose: Option<target::Expose>,
    /// What that query has found.
    exposed: Option<target::Exposed>,
    /// The cursor whose row stands for the first table that is bound.
    rereads: Option<tree::CursorName>,
    /// The table of FROM whose rows are changed, told from others by its place.
    target_ref: Option<*const tree::TableRef>,
    /// The columns that SET names.
    target_wanted: Vec<String>,
    /// What the statement needs permission for on the table whose rows are changed.
    target_permissions: Vec<Permission>,
    target_found: Option<target::TargetRows>,
    /// How many subqueries of expressions are being bound within each other.
    subqueries: usize,
    /// The last number of a common table.
    common_tables: usize,
    /// The recursive common tables being bound, innermost last.
    recursions: Vec<recursive::Recursion>,
    /// CHECK and FOREIGN KEY constraints are passed over.
    passes_constraints: bool,
    /// No trigger is fired.
    passes_triggers: bool,
    /// A rowversion column takes the values that it is given.
    keeps_row_versions: bool,
    /// The plan inserts no more than once: see [`crate::plan::Insert::fills`].
    fills: bool,
    /// What is bound is a view or an inline function that is to be made.
    in_module: bool,
    /// What rows must be that are written through views.
    check_options: Vec<check_option::RowCondition>,
    /// MAXRECURSION of the statement; 0 for no limit.
    recursion_max: u32,
    /// The numbers of sequences that the statement takes.
    numbers: sequence::Numbers,
    /// The rules that plans are made with.
    pub(crate) active_rules: RuleSet,
    /// `OPTION (FORCE ORDER)`: joins run in the order of FROM.
    pub(crate) keeps_order: bool,
    /// The values that variables are taken to have.
    pub(crate) values: Rc<VariableValues>,
    /// `OPTION (RECOMPILE)`: the plan is for one run.
    recompiles: bool,
    /// The tables whose sizes have decided how joins run, and how many pages they had.
    pub(crate) sizes: Vec<TableSize>,
    /// What is bound is the whole of a DEFAULT, where NEWSEQUENTIALID may stand.
    whole_default: bool,
    /// What the prefixes of WITH XMLNAMESPACES stand for; the default's is empty.
    namespaces: Vec<(String, String)>,
    /// FOR SYSTEM_TIME of the view being expanded.
    inherited: Option<system_time::Inherited>,
    /// The tables whose predicates are being bound, by their databases and numbers.
    guarded: Vec<(i32, i32)>,
    /// Where it is noted that a virtual column was met, which tables have no registers for. None: they have.
    virtual_wanted: Option<&'a Cell<bool>>,
}

/// Views expand within each other no deeper than this.
const VIEW_DEPTH_MAX: usize = 32;
/// A statement expands no more of them, and of common tables, than this: one that names two others twice each, which do so, too, and so on,
/// would have a plan of any size.
const EXPANSIONS_MAX: usize = 4_096;

/// Expressions and conditions nest no deeper than this. What is bound is also evaluated and dropped by recursion, on a
/// scheduler's thread with its 2 MB of stack; the worst kind of nesting takes some 5 KB a level.
const NESTING_MAX: usize = 128;

/// The columns of a query's result.
#[derive(Clone)]
pub(crate) struct Bound {
    pub(crate) node: Node,
    pub(crate) columns: Vec<ColumnInfo>,
    pub(crate) values: Vec<Expr>,
}

impl Bound {
    pub(crate) fn of_known_types(mut self) -> Bound {
        of_known_types(&mut self.columns);
        self
    }

    /// True if its rows are always the same ones while a statement runs: see [`Node::is_fixed`].
    fn is_fixed(&self, variables: usize) -> bool {
        let mut filled = LiveSlots::default();
        self.node.visit_filled(&mut |slot| filled.add(slot));
        let mut is_fixed = self.node.is_fixed(variables);
        self.values
            .iter()
            .for_each(|value| value.visit_slots(&mut |slot| is_fixed &= slot < variables || filled.has(slot)));
        is_fixed
    }
}

/// Columns as they are seen from outside: one that is a bare NULL in every row, which inside a statement is of any type, is an int.
pub(crate) fn of_known_types(columns: &mut [ColumnInfo]) {
    columns.iter_mut().for_each(|column| column.ty = query::known_type(column.ty));
}

impl<'a> Binder<'a> {
    /// A binder whose registers begin at `first_register`.
    pub(crate) fn new(names: &'a Names<'a>, first_register: usize) -> Binder<'a> {
        Binder {
            names,
            scopes: Vec::new(),
            virtual_sources: Vec::new(),
            pending: Vec::new(),
            guards: Vec::new(),
            slots: first_register,
            views: 0,
            expansions: 0,
            copied_operators: 0,
            planned_twice: 0,
            depth: 0,
            parameters: Vec::new(),
            expanding: Vec::new(),
            calls_methods: false,
            reads_clock: false,
            in_computed: false,
            is_undetermined: false,
            keeps_constants: false,
            degree: None,
            memory_percent: None,
            target_hints: Vec::new(),
            table_lock: None,
            memory_level: None,
            requirements: Vec::new(),
            watched: Vec::new(),
            slots_read: HashSet::new(),
            subquery_types: HashMap::new(),
            reads_target: false,
            schema_bound: names.schema_bound.cloned(),
            view_owner: None,
            inner_catalog: None,
            expose: None,
            exposed: None,
            rereads: None,
            target_ref: None,
            target_wanted: Vec::new(),
            target_permissions: Vec::new(),
            target_found: None,
            subqueries: 0,
            common_tables: 0,
            recursions: Vec::new(),
            passes_constraints: false,
            passes_triggers: false,
            fills: false,
            in_module: false,
            keeps_row_versions: false,
            check_options: Vec::new(),
            recursion_max: recursive::RECURSION_DEFAULT,
            numbers: sequence::Numbers::default(),
            active_rules: RuleSet::ALL,
            keeps_order: false,
            values: Rc::new(VariableValues::new(names.variables.len(), names.values)),
            recompiles: false,
            sizes: Vec::new(),
            whole_default: false,
            namespaces: Vec::new(),
            inherited: None,
            guarded: Vec::new(),
            virtual_wanted: None,
        }
    }

    /// Takes what OPTION says about plans, before the first of them is made: the order of joins, rules that are not used, the values of
    /// variables, the depth of recursion.
    ///
    /// # Errors
    /// As [`RuleSet::switch_off`], [`Binder::value_hints`] and [`Binder::recursion_hint`].
    pub(crate) fn plan_hints(&mut self, hints: &[tree::QueryHint]) -> Result<(), Fault> {
        for hint in hints {
            if let Some(rule) = hint.name.strip_prefix("QUERYRULEOFF") {
                self.active_rules.switch_off(rule.trim_start())?;
            }
        }
        self.keeps_order |= hints.iter().any(|hint| hint.name == "FORCE ORDER");
        self.recompiles |= hints.iter().any(|hint| hint.name == "RECOMPILE");
        self.value_hints(hints)?;
        self.recursion_hint(hints)
    }

    /// Takes what OPTION says: the number of workers, the share of memory. Other hints change no result.
    ///
    /// # Errors
    /// 102 for a number of workers or a share that is none.
    pub(crate) fn options(&mut self, hints: &[tree::QueryHint]) -> Result<(), Fault> {
        for hint in hints.iter().filter(|hint| hint.name == "MAX_GRANT_PERCENT") {
            let percent = match hint.value.as_ref().map(|value| self.expr(value)).transpose()? {
                Some(Typed { expr: Expr::Const(value), ty, .. }) => {
                    pikepole_types::convert(&value, &ty, &SqlType::Float, None).ok()
                }
                _ => None,
            };
            let percent = match percent {
                Some(Value::Float(percent)) if (0.0..=100.0).contains(&percent) => percent,
                _ => return Err(SqlError::new(102, 15, 1, "Incorrect syntax near 'MAX_GRANT_PERCENT'.").into()),
            };
            self.memory_percent = Some(percent);
        }
        for hint in hints.iter().filter(|hint| hint.name == "MAXDOP") {
            let typed = match &hint.value {
                Some(value) => self.expr(value)?.expr,
                None => Expr::NULL,
            };
            let degree = match &typed {
                Expr::Const(value) => value.as_i64().and_then(|degree| u16::try_from(degree).ok()),
                _ => None,
            };
            let near = || SqlError::new(102, 15, 1, "Incorrect syntax near 'MAXDOP'.");
            self.degree = Some(degree.ok_or_else(near)?);
        }
        Ok(())
    }

    /// What names are looked up in at this place of the statement.
    pub(crate) fn catalog(&self) -> &CatalogView {
        self.inner_catalog.as_deref().unwrap_or(self.names.catalog)
    }

    /// The first register that is not taken.
    pub(super) fn first_free(&self) -> usize {
        self.slots
    }

    /// A new register.
    pub(crate) fn register(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    /// Whether what is being bound is written in the statement's own text, and not in a view or function that it uses.
    fn is_own_text(&self) -> bool {
        self.view_owner.is_none() && self.parameters.is_empty()
    }

    /// Binds something within what is being bound.
    pub(crate) fn deeper<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth >= NESTING_MAX {
            return Err(Box::new(SqlError::nested_too_deeply()));
        }
        self.depth += 1;
        let bound = bind(self);
        self.depth -= 1;
        bound
    }

    /// New registers.
    pub(crate) fn registers(&mut self, count: usize) -> Registers {
        let first = self.slots;
        self.slots += count;
        Registers { first, count }
    }

    /// The slot and type of a variable.
    pub(crate) fn variable(&self, name: &str) -> Result<(usize, SqlType), Fault> {
        self.names
            .variables
            .iter()
            .position(|variable| variable.name.eq_ignore_ascii_case(name))
            .map(|slot| (slot, self.names.variables[slot].ty))
            .ok_or_else(|| Box::new(SqlError::variable_not_declared(name)))
    }

    /// Binds what is evaluated only where `guard` holds too.
    pub(crate) fn guarded<T>(
        &mut self,
        guard: Guard,
        bind: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.guards.push(guard);
        let bound = bind(self);
        self.guards.pop();
        bound
    }

    /// A subquery to be evaluated for the expression being bound; its result is left in the register given back.
    pub(crate) fn wait_for(&mut self, subquery: Node, test: Test, dependence: Dependence) -> usize {
        let slot = self.register();
        let is_remembered = dependence == Dependence::OnRow && self.active_rules.has(Rule::Memoize);
        let memo = if is_remembered { memo_key(&subquery, &test) } else { None };
        let correlated = dependence != Dependence::None;
        self.pending.push(PendingApply { subquery, test, slot, correlated, guards: self.guards.clone(), memo });
        slot
    }

    /// Whether what was bound can be evaluated outside of a statement: it waits for nothing, and needs no permission.
    pub(crate) fn is_plain(&self) -> bool {
        self.pending.is_empty() && self.requirements.is_empty()
    }

    /// Puts the subqueries found since `mark` below what reads their results.
    pub(crate) fn place_pending(&mut self, mark: usize, node: Node) -> Node {
        applied(node, self.pending.split_off(mark))
    }

    pub(crate) fn finish(mut self, mut source: Node, mut action: Action) -> Statement {
        self.leave_out_late_rules(&mut source);
        share_common_tables(&mut source, self.active_rules.has(Rule::CommonTableSpool), &self.values);
        if self.active_rules.has(Rule::AggregateDecorrelation) {
            let changes_rows = matches!(action, Action::Update(_) | Action::Delete(_) | Action::Change(_));
            let values = Rc::clone(&self.values);
            decorrelate(&mut source, !changes_rows, &values, &mut || self.register());
        }
        let masks = self.hide_masked(&mut source, &mut action);
        let drivers = source.drivers();
        let rules = self.rules(&action);
        let triggers = self.triggers(&action);
        self.settle_requirements();
        let mut touches = !matches!(action, Action::Select { .. } | Action::Assign { .. });
        source.visit_scans(&mut |_| touches = true);
        // A number is taken within a transaction: it keeps the sequence's definition.
        touches |= self.numbers.used;
        // What a function reads is read within the statement.
        touches |= self.virtual_sources.iter().any(VirtualSource::is_function);
        let (values, asked) = (self.values.used(), self.values.asked());
        let mut statement = Statement {
            source,
            action,
            touches,
            reads_clock: self.reads_clock,
            degree: self.degree,
            memory_percent: self.memory_percent,
            requirements: self.requirements,
            masks,
            virtual_sources: self.virtual_sources,
            rules,
            triggers,
            slots: self.slots,
            live: LiveSlots::default(),
            bound_to: if self.recompiles { CatalogStamp::NEVER } else { self.names.catalog.stamp() },
            others: self.names.catalog.others(),
            sizes: self.sizes,
            drivers,
            values,
            asked,
            recompiles: self.recompiles,
        };
        statement.live = LiveSlots::of(&statement);
        statement
    }
}

impl Binder<'_> {
    /// Takes back what rules have done that are switched off, where the code that does it does not know the statement.
    fn leave_out_late_rules(&mut self, source: &mut Node) {
        if !self.active_rules.has(Rule::Parallelism) {
            self.degree = Some(1);
        }
        if !self.active_rules.has(Rule::SemiJoinReduction) {
            source.visit_nodes_mut(&mut |node| {
                if let Node::Scan(scan) = node {
                    scan.narrowing = None;
                }
            });
        }
    }
}

/// Binds a statement that touches tables.
///
/// # Errors
/// Names that do not resolve, types that do not meet, constructs that are not supported.
pub(crate) fn bind(kind: &LateKind, names: &Names<'_>, first_register: usize) -> Result<Arc<Statement>, Fault> {
    virtual_column::with_virtual_columns(names, first_register, |binder| bind_kind(kind, binder))
}

fn bind_kind(kind: &LateKind, mut binder: Binder<'_>) -> Result<Arc<Statement>, Fault> {
    match kind {
        LateKind::Statement(statement) => {
            let bound = bind_statement(binder, statement)?;
            let refused =
                bound.rules.as_ref().filter(|rules| rules.is_of_history).and_then(|rules| rules.fault.clone());
            refused.map_or(Ok(bound), Err)
        }
        LateKind::Into(into) => binder.into_statement(&into.query, &into.target),
        LateKind::Value { expr, slot, ty, told } => {
            binder.scopes.push(Scope::default());
            binder.allow_numbers(1);
            let typed = binder.expr(expr)?;
            let value = assign_to(typed, ty, binder.collation(), None)?;
            let source = binder.place_pending(0, Node::One);
            let action = Action::Assign { assignments: vec![(*slot, value)], told: *told };
            Ok(Arc::new(binder.finish(source, action)))
        }
        LateKind::Condition { condition, slot } => {
            binder.scopes.push(Scope::default());
            let predicate = binder.condition(condition)?;
            let source = binder.place_pending(0, Node::One);
            let assignments = vec![(*slot, Expr::Truth(Box::new(predicate)))];
            let action = Action::Assign { assignments, told: Told::Nothing };
            Ok(Arc::new(binder.finish(source, action)))
        }
    }
}

fn bind_statement(binder: Binder<'_>, statement: &tree::Statement) -> Result<Arc<Statement>, Fault> {
    match &statement.kind {
        tree::StatementKind::Select(query) => binder.select_statement(query),
        tree::StatementKind::Insert(insert) => binder.insert_statement(insert),
        tree::StatementKind::Update(update) => binder.update_statement(update),
        tree::StatementKind::Delete(delete) => binder.delete_statement(delete),
        tree::StatementKind::Merge(merge) => binder.merge_statement(merge),
        _ => Err(crate::errors::unsupported("This statement")),
    }
}

/// Rows with the results of subqueries, each evaluated over those before it.
pub(crate) fn applied(node: Node, subqueries: Vec<PendingApply>) -> Node {
    subqueries.into_iter().fold(node, |input, pending| Node::Apply {
        input: Box::new(input),
        subquery: Box::new(pending.subquery),
        test: pending.test,
        slot: pending.slot,
        correlated: pending.correlated,
        guards: pending.guards,
        memo: pending.memo,
    })
}

/// Splits a condition at its ANDs. What holds for each row, as `1 = 1` does, is left out.
pub(crate) fn conjuncts(predicate: Predicate, into: &mut Vec<Predicate>) {
    match predicate {
        Predicate::And(parts) => parts.into_iter().for_each(|part| conjuncts(part, into)),
        constant if constant.constant() == Some(true) => {}
        other => into.push(other),
    }
}

/// The conjunction of conditions; `None` when there are none. Those that can fail for a value are tested last: the others may leave
/// out the rows that they would fail for.
pub(crate) fn conjunction(mut parts: Vec<Predicate>) -> Option<Predicate> {
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => {
            parts.sort_by_cached_key(open_query::can_fail);
            Some(Predicate::And(parts))
        }
    }
}

/// A filter over rows, when there is anything to filter by.
pub(crate) fn filtered(mut node: Node, parts: Vec<Predicate>) -> Node {
    narrow(&mut node, &parts);
    match conjunction(parts) {
        None => node,
        Some(predicate) => Node::Filter { input: Box::new(node), predicate },
    }
}
