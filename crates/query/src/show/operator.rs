//! Plans as trees of the operators that people know by name.
//!
//! What has no counterpart there has a name of its own kind: several of SQL Server's operators are one here (a seek that goes on
//! to the row; a window with its segments), and a filter right above a table is told as the table's WHERE.

use super::expression::{SlotNames, comparison};
use super::object::ShownObject;
use crate::access::{KeyColumn, Table};
use crate::executor::batch::{AggregateCursor, GatherCursor, Operator, SharedSort, aggregates_can_share};
use crate::executor::parallel::{InsertWork, ROWS_MIN, WORKERS_MAX, WorkerRun, can_share, may_run_elsewhere};
use crate::executor::{Counted, Profile, ROWS_BEFORE};
use crate::expression::{Expr, Predicate};
use crate::host::Host;
use crate::optimizer::variable_values::VariableValues;
use crate::optimizer::{Size, size_of};
use crate::plan::{
    Action, Aggregate, BranchAction, Change, ColumnSource, Insert, JoinKey, JoinKind, LiveSlots, More, Node, Numbering,
    Recursive, Scan, SortKey, Spool, Statement, Test, TopCount, VirtualSource, WideTop, WindowFunction, Windows,
};
use crate::program::Variable;
use pikepole_tsql::bracketed;
use std::cell::Cell;

/// An operator as it is shown.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// What it is.
    pub(crate) physical: &'static str,
    /// What it is for.
    pub(crate) logical: &'static str,
    /// The table it reads or changes.
    pub(crate) object: Option<ShownObject>,
    /// Its clauses: `SEEK`, `WHERE`, `ORDER BY` and their contents.
    pub(crate) clauses: Vec<(&'static str, String)>,
    /// What stands behind the clauses: `ORDERED FORWARD`.
    pub(crate) order: Option<&'static str>,
    /// The values it makes: `[Expr1005]`, and of what.
    pub(crate) defined: Vec<(String, String)>,
    /// The columns of its rows that somebody reads.
    pub(crate) output: Vec<String>,
    /// What the planner expects of it; None where it knows nothing of a table below.
    pub(crate) estimate: Option<Size>,
    /// How often the planner expects it to run.
    pub(crate) executions: Option<f64>,
    /// Whether workers may share it, which is decided when it runs.
    pub(crate) may_share: bool,
    /// Workers share it.
    pub(crate) parallel: bool,
    /// The number of workers, where their rows come together.
    pub(crate) degree: Option<usize>,
    /// The run of each of them, at the topmost operator that they share.
    pub(crate) workers: Vec<WorkerRun>,
    /// It works on batches of rows.
    pub(crate) batch: bool,
    /// What it did.
    pub(crate) counted: Option<Counted>,
    /// Rows that it read before its WHERE.
    pub(crate) rows_read: Option<u64>,
    /// What is below it.
    pub(crate) inputs: Vec<Shown>,
}

impl Shown {
    fn new(physical: &'static str, logical: &'static str) -> Shown {
        Shown { physical, logical, ..Shown::default() }
    }

    fn of(physical: &'static str) -> Shown {
        Shown::new(physical, physical)
    }

    fn clause(mut self, name: &'static str, text: String) -> Shown {
        self.clauses.push((name, text));
        self
    }

    fn define(mut self, defined: impl IntoIterator<Item = (String, String)>) -> Shown {
        self.defined.extend(defined);
        self
    }

    fn over(mut self, input: Shown) -> Shown {
        self.inputs.push(input);
        self
    }

    /// Marks all of it as shared by workers.
    fn shared(&mut self) {
        self.parallel = true;
        self.inputs.iter_mut().for_each(Shown::shared);
    }

    /// The operator that works on its rows, one for one.
    fn under(self, mut above: Shown) -> Shown {
        (above.estimate, above.executions) = (self.estimate, self.executions);
        above.over(self)
    }

    /// What stands in the parentheses behind its name, but for what it is for.
    pub(crate) fn argument(&self) -> String {
        let mut parts = Vec::new();
        if let Some(object) = &self.object {
            parts.push(format!("OBJECT:({})", object.text()));
        }
        parts.extend(self.clauses.iter().map(|(name, text)| format!("{name}:({text})")));
        if !self.defined.is_empty() {
            parts.push(format!("DEFINE:({})", self.defined_text()));
        }
        let mut text = parts.join(", ");
        if let Some(order) = self.order {
            text.push(' ');
            text.push_str(order);
        }
        text
    }

    /// `[Expr1005]=..., [Expr1006]=...`
    pub(crate) fn defined_text(&self) -> String {
        let texts: Vec<String> = self.defined.iter().map(|(name, value)| format!("{name}={value}")).collect();
        texts.join(", ")
    }
}

/// The operators of a plan: of one that was run where `profile` is given, else of one that may have so many workers.
pub(crate) fn operators(
    plan: &Statement,
    variables: &[Variable],
    host: &dyn Host,
    profile: Option<&Profile>,
    degree: usize,
) -> Shown {
    let names = SlotNames::new(plan, variables, host);
    let gathers = Cell::new(plan.may_gather());
    let values = VariableValues::of_plan(&plan.values);
    let shower = Shower { plan, names, values, profile, degree, host, in_batches: Cell::new(false), gathers };
    let source = shower.node(&plan.source, Some(1.0));
    shower.action(source)
}

struct Shower<'a> {
    plan: &'a Statement,
    names: SlotNames<'a>,
    /// The values that variables were taken to have.
    values: VariableValues,
    profile: Option<&'a Profile>,
    degree: usize,
    host: &'a dyn Host,
    /// The operator above works on batches of rows.
    in_batches: Cell<bool>,
    /// The operator runs once, and so workers may make the rows of a join before the first one is given.
    gathers: Cell<bool>,
}

impl Shower<'_> {
    /// An operator that the planner expects to run so often.
    fn node(&self, node: &Node, executions: Option<f64>) -> Shown {
        let above = self.in_batches.get();
        let batch = Operator::runs_in_batches(node, above);
        self.in_batches.set(batch);
        let once = self.gathers.get();
        let gathers = once && GatherCursor::operator_of(node).is_some();
        self.gathers.set(once && !gathers);
        let mut shown = self.described(node, executions);
        self.in_batches.set(above);
        self.gathers.set(once);
        shown.batch = batch;
        shown.estimate = is_known(node).then(|| size_of(node, &self.values));
        shown.executions = executions;
        shown.counted = self.profile.and_then(|profile| profile.of(node));
        let mut filled = LiveSlots::default();
        node.visit_filled(&mut |slot| {
            if self.plan.live.has(slot) {
                filled.add(slot);
            }
        });
        filled.each(&mut |slot| shown.output.push(self.names.slot(slot)));
        match gathers {
            true => self.gathered(shown, node, probe_side(node), || may_run_elsewhere(node)),
            false => shown,
        }
    }

    /// The executions of something that runs for each row of `outer`.
    fn times(&self, executions: Option<f64>, outer: &Node) -> Option<f64> {
        executions.filter(|_| is_known(outer)).map(|executions| executions * size_of(outer, &self.values).rows)
    }

    /// An operator that may be opened several times, or that others make a whole of.
    fn again(&self, node: &Node, executions: Option<f64>) -> Shown {
        let once = self.gathers.replace(false);
        let shown = self.node(node, executions);
        self.gathers.set(once);
        shown
    }

    /// Rows that workers make together, where they do: those of the workers that ran for an operator, or that would be worth it.
    fn gathered(&self, mut shown: Shown, of: &Node, rows: &Node, can_share: impl FnOnce() -> bool) -> Shown {
        let runs = self.profile.map(|profile| profile.workers(of));
        let degree = match &runs {
            Some(runs) => runs.len(),
            None if self.degree > 1
                && is_known(rows)
                && size_of(rows, &self.values).rows >= ROWS_MIN as f64
                && can_share() =>
            {
                self.degree.min(WORKERS_MAX)
            }
            None => 0,
        };
        if degree == 0 {
            return shown;
        }
        shown.shared();
        shown.workers = runs.unwrap_or_default();
        let mut gather = Shown::new("Parallelism", "Gather Streams");
        (gather.parallel, gather.degree) = (true, Some(degree));
        shown.under(gather)
    }

    fn described(&self, node: &Node, executions: Option<f64>) -> Shown {
        let below = |input: &Node| self.node(input, executions);
        match node {
            Node::One => Shown::of("Constant Scan"),
            Node::Scan(scan) => self.scan(scan),
            Node::Virtual { index, .. } => self.fetched(*index),
            Node::Call { index, arguments, .. } => {
                let name = self.plan.virtual_sources.get(*index).map(|source| self.source_name(source));
                function(&format!("{}({})", name.unwrap_or_default(), self.names.list(arguments)))
            }
            Node::Values { rows, .. } => {
                let rows: Vec<String> = rows.iter().map(|row| format!("({})", self.names.list(row))).collect();
                Shown::of("Constant Scan").clause("VALUES", rows.join(", "))
            }
            Node::Series(series) => {
                let (start, stop) = (self.names.count(&series.start), self.names.count(&series.stop));
                let step = series.step.as_ref().map_or_else(String::new, |step| format!(",{}", self.names.count(step)));
                function(&format!("generate_series({start},{stop}{step})"))
            }
            Node::File(_) => Shown::of("Remote Scan"),
            Node::Kept { .. } => Shown::of("Constant Scan"),
            Node::Filter { input, predicate } => match &**input {
                Node::Scan(scan) => {
                    let mut shown = self.scan(scan).clause("WHERE", self.names.condition(predicate));
                    shown.rows_read = self.profile.and_then(|profile| profile.of(input)).map(|counted| counted.rows);
                    shown
                }
                _ => Shown::of("Filter").clause("WHERE", self.names.condition(predicate)).over(below(input)),
            },
            Node::Compute { input, assignments } => {
                Shown::of("Compute Scalar").define(self.assigned(assignments)).over(below(input))
            }
            Node::Join { left, right, kind, on, .. } => self.join(left, right, *kind, on.as_ref(), executions),
            Node::Apply { input, subquery, test, slot, correlated, memo, .. } => {
                let inner = if *correlated { self.times(executions, input) } else { executions };
                let (logical, text) = self.test(test);
                let subquery = match test.reads_all_rows() && !correlated {
                    true => self.node(subquery, inner),
                    false => self.again(subquery, inner),
                };
                Shown::new("Nested Loops", logical)
                    .define([(self.names.slot(*slot), text)])
                    .over(below(input))
                    .over(self.remembered(subquery, memo.as_deref(), inner))
            }
            Node::Group { input, keys, aggregates } => {
                let shares = || aggregates_can_share(keys, aggregates) && can_share(input, &self.plan.live);
                let rows = match AggregateCursor::operator_of(input, keys, aggregates).is_some() {
                    true => self.again(input, executions),
                    false => below(input),
                };
                self.group(self.gathered(rows, node, input, shares), keys, aggregates)
            }
            Node::Sort { input, keys, .. } => {
                let is_shared = self.gathers.get() && SharedSort::operator_of(input, keys).is_some();
                let rows = if is_shared { self.again(input, executions) } else { below(input) };
                let sort = Shown::of("Sort").clause("ORDER BY", self.names.keys(keys)).over(rows);
                match is_shared {
                    true => self.gathered(sort, node, probe_side(input), || can_share(input, &self.plan.live)),
                    false => sort,
                }
            }
            Node::Number { input, partition, functions, .. } => {
                let named =
                    |(function, slot): &(Numbering, usize)| (self.names.slot(*slot), numbering(*function).to_owned());
                let shown = match self.in_batches.get() {
                    true => Shown::of("Window Aggregate"),
                    false => Shown::new("Sequence Project", "Compute Scalar"),
                };
                self.partitioned(shown, partition).define(functions.iter().map(named)).over(below(input))
            }
            Node::Top { input, offset, count } => {
                let mut top = Shown::of("Top");
                if let Some(offset) = offset {
                    top = top.clause("OFFSET EXPRESSION", self.names.count(offset));
                }
                if let Some(count) = count {
                    top = top.clause("TOP EXPRESSION", self.names.count(count));
                }
                top.over(below(input))
            }
            Node::Concat { inputs, .. } => {
                inputs.iter().fold(Shown::of("Concatenation"), |shown, (input, _)| shown.over(below(input)))
            }
            Node::More(more) => self.more(more, executions),
        }
    }

    /// A subquery whose results are remembered, where it is expected to run often enough for that.
    fn remembered(&self, subquery: Shown, memo: Option<&[usize]>, executions: Option<f64>) -> Shown {
        match memo {
            Some(slots) if executions.is_some_and(|executions| executions > f64::from(ROWS_BEFORE)) => {
                let slots: Vec<String> = slots.iter().map(|slot| self.names.slot(*slot)).collect();
                Shown::new("Index Spool", "Lazy Spool").clause("SEEK", slots.join(", ")).over(subquery)
            }
            _ => subquery,
        }
    }

    fn more(&self, more: &More, executions: Option<f64>) -> Shown {
        let below = |input: &Node| self.node(input, executions);
        match more {
            More::Spool(spool) => {
                let shown = Shown::new(if spool.keys.is_empty() { "Table Spool" } else { "Index Spool" }, "Lazy Spool");
                let shown =
                    if spool.keys.is_empty() { shown } else { shown.clause("SEEK", self.equalities(&spool.keys)) };
                // However often it is opened, what is below it runs once.
                shown.over(self.again(&spool.input, Some(1.0)))
            }
            More::Common(common) => {
                // What makes the rows is shown once: with the name that stands first, or the one that has made them.
                let made = self.profile.and_then(|profile| profile.of(&common.input));
                let shows = common.is_first() || made.is_some_and(|made| made.openings > 0);
                let shown = Shown::new("Table Spool", "Lazy Spool");
                if shows { shown.over(self.node(&common.input, Some(1.0))) } else { shown }
            }
            More::Full(join) => {
                let mut shown = match join.keys.as_slice() {
                    [] => Shown::new("Nested Loops", "Full Outer Join"),
                    keys => Shown::new("Hash Match", "Full Outer Join").clause("HASH", self.hash_keys(keys)),
                };
                if let Some(on) = &join.on {
                    shown = shown.clause("RESIDUAL", self.names.condition(on));
                }
                shown.over(below(&join.right)).over(below(&join.left))
            }
            More::Top(top) => self.wide_top(top).over(below(&top.input)),
            More::Expand(expand) => {
                let sets = expand.sets.iter().map(|set| {
                    let keys = expand.keys.iter().zip(set).filter(|(_, has)| **has);
                    let keys: Vec<String> = keys.map(|((expr, _, _), _)| self.names.text(expr)).collect();
                    format!("({})", keys.join(", "))
                });
                let sets: Vec<String> = sets.collect();
                Shown::of("Expand").clause("GROUPING SETS", sets.join(", ")).over(below(&expand.input))
            }
            More::Windows(windows) => self.windows(windows).over(below(&windows.input)),
            More::Recursive(recursive) => self.recursive(recursive, executions),
            More::Split(split) => {
                let operands = [&split.text, &split.separator].map(|operand| self.names.text(operand));
                function(&format!("string_split({})", operands.join(",")))
            }
            More::Next(next) => {
                let sequence = format!("{}.{}", bracketed(&next.sequence.schema), bracketed(&next.sequence.name));
                Shown::of("Compute Scalar").define([(self.names.slot(next.slot), format!("NEXT VALUE FOR {sequence}"))])
            }
            More::Document(document) => {
                let language = match document.language {
                    crate::plan::Language::Json { .. } => "FOR JSON",
                    crate::plan::Language::Xml { .. } | crate::plan::Language::Explicit { .. } => "FOR XML",
                };
                Shown::new("UDX", language).over(below(&document.input))
            }
            More::OpenJson(open) => function(&format!("openjson({})", self.names.text(&open.json))),
            More::Nodes(nodes) => function(&format!("{}.nodes", self.names.text(&nodes.receiver))),
        }
    }

    fn scan(&self, scan: &Scan) -> Shown {
        let (table, range) = (&scan.table, &scan.range);
        let is_seek = range.is_seek();
        let physical = match (range.index, table.key.is_empty(), is_seek) {
            (Some(_), _, true) => "Index Seek",
            (Some(_), _, false) => "Index Scan",
            (None, true, _) => "Table Scan",
            (None, false, true) => "Clustered Index Seek",
            (None, false, false) => "Clustered Index Scan",
        };
        let mut shown = Shown::of(physical);
        shown.object = Some(ShownObject::of(table, range.index, scan.alias.as_deref()));
        if is_seek {
            shown = shown.clause("SEEK", self.seek(scan));
        }
        if let Some(narrowing) = &scan.narrowing {
            shown = shown.clause("PROBE", self.names.slot(narrowing.outcome));
        }
        if physical != "Table Scan" && (is_seek || scan.reverse) {
            shown.order = Some(if scan.reverse { "ORDERED BACKWARD" } else { "ORDERED FORWARD" });
        }
        shown.may_share = scan.is_whole();
        shown
    }

    /// The range of a key that a scan visits.
    fn seek(&self, scan: &Scan) -> String {
        let range = &scan.range;
        let index = range.index.and_then(|id| scan.table.indexes.iter().find(|index| index.id == id));
        let key: &[KeyColumn] = index.map_or(&scan.table.key, |index| &index.key);
        let column = |place: usize| {
            key.get(place).map_or_else(String::new, |key| self.names.slot(scan.registers.first + key.column))
        };
        let mut tests = Vec::new();
        for (place, value) in range.prefix.iter().enumerate() {
            tests.push(format!("{}={}", column(place), self.names.text(&value.expr)));
        }
        let bounded = column(range.prefix.len());
        if !range.among.is_empty() {
            let among = range.among.iter().map(|value| format!("{bounded}={}", self.names.text(&value.expr)));
            tests.push(among.collect::<Vec<_>>().join(" OR "));
        }
        for (bound, op) in [(&range.low, ">"), (&range.high, "<")] {
            if let Some((value, included)) = bound {
                let equal = if *included { "=" } else { "" };
                tests.push(format!("{bounded} {op}{equal} {}", self.names.text(&value.expr)));
            }
        }
        tests.join(" AND ")
    }

    fn fetched(&self, index: usize) -> Shown {
        match self.plan.virtual_sources.get(index) {
            Some(VirtualSource::Inserted) => Shown::of("Inserted Scan"),
            Some(VirtualSource::Deleted) => Shown::of("Deleted Scan"),
            Some(VirtualSource::File(_) | VirtualSource::FileTable(_)) => Shown::of("Remote Scan"),
            Some(VirtualSource::Current(_) | VirtualSource::CurrentAgain(_)) | None => Shown::of("Constant Scan"),
            Some(source @ (VirtualSource::Host { .. } | VirtualSource::Function { .. })) => {
                function(&self.source_name(source))
            }
        }
    }

    fn source_name(&self, source: &VirtualSource) -> String {
        match source {
            VirtualSource::Host { id, .. } => self.host.virtual_name(*id).unwrap_or_default().to_owned(),
            VirtualSource::Function { function, .. } => {
                format!("{}.{}", bracketed(&function.schema), bracketed(&function.name))
            }
            _ => String::new(),
        }
    }

    fn join(
        &self,
        left: &Node,
        right: &Node,
        kind: JoinKind,
        on: Option<&Predicate>,
        executions: Option<f64>,
    ) -> Shown {
        if let Some(spool) = hashed(right) {
            // The side that is kept stands first, as the one that the table is built from.
            let logical = if kind == JoinKind::Left { "Right Outer Join" } else { "Inner Join" };
            let mut shown = Shown::new("Hash Match", logical).clause("HASH", self.hash_keys(&spool.keys));
            if let Some(on) = on {
                shown = shown.clause("RESIDUAL", self.names.condition(on));
            }
            return shown.over(self.again(&spool.input, executions)).over(self.node(left, executions));
        }
        let logical = if kind == JoinKind::Left { "Left Outer Join" } else { "Inner Join" };
        let mut shown = Shown::new("Nested Loops", logical);
        let references = self.references(left, right);
        if !references.is_empty() {
            shown = shown.clause("OUTER REFERENCES", references.join(", "));
        }
        if let Some(on) = on {
            shown = shown.clause("WHERE", self.names.condition(on));
        }
        shown.over(self.node(left, executions)).over(self.again(right, self.times(executions, left)))
    }

    /// What the inner side of a loop reads of the outer one.
    fn references(&self, outer: &Node, inner: &Node) -> Vec<String> {
        let (mut read, mut filled) = (LiveSlots::default(), LiveSlots::default());
        read.node(inner);
        outer.visit_filled(&mut |slot| filled.add(slot));
        let mut names = Vec::new();
        filled.each(&mut |slot| {
            if read.has(slot) {
                names.push(self.names.slot(slot));
            }
        });
        names
    }

    /// `[a]=[b] AND ...`, of keys looked up.
    fn equalities(&self, keys: &[JoinKey]) -> String {
        let pairs = keys.iter().map(|key| format!("{}={}", self.names.text(&key.inner), self.names.text(&key.outer)));
        pairs.collect::<Vec<_>>().join(" AND ")
    }

    /// `[a], [b])=([c], [d]`: the side the hash table is built from, and the one that looks into it.
    fn hash_keys(&self, keys: &[JoinKey]) -> String {
        let side = |value: fn(&JoinKey) -> &Expr| {
            keys.iter().map(|key| self.names.text(value(key))).collect::<Vec<_>>().join(", ")
        };
        format!("{})=({}", side(|key| &key.inner), side(|key| &key.outer))
    }

    fn test(&self, test: &Test) -> (&'static str, String) {
        match test {
            Test::Scalar(value) => ("Left Outer Join", self.names.text(value)),
            Test::Exists => ("Left Semi Join", "[PROBE VALUE]".to_owned()),
            Test::In { left, right, .. } => {
                ("Left Semi Join", format!("{}={}", self.names.text(left), self.names.text(right)))
            }
            Test::Extremes { left, right, op, all, .. } => {
                let (left, right) = (self.names.text(left), self.names.text(right));
                let word = if *all { "ALL" } else { "ANY" };
                ("Left Semi Join", format!("{left}{}{word}({right})", comparison(*op)))
            }
        }
    }

    fn group(&self, input: Shown, keys: &[(SortKey, usize)], aggregates: &[Aggregate]) -> Shown {
        let named = |aggregate: &Aggregate| (self.names.slot(aggregate.slot), self.names.aggregate(aggregate));
        let (by, made): (Vec<String>, Vec<_>) = keys
            .iter()
            .map(|(key, slot)| {
                let text = self.names.text(&key.expr);
                (text.clone(), (self.names.slot(*slot), text))
            })
            .unzip();
        let shown = match keys {
            [] => Shown::new("Stream Aggregate", "Aggregate"),
            _ => Shown::new("Hash Match", "Aggregate").clause("HASH", by.join(", ")).define(made),
        };
        let mut shown = shown.define(aggregates.iter().map(named));
        shown.may_share = keys.is_empty();
        shown.over(input)
    }

    fn partitioned(&self, shown: Shown, partition: &[SortKey]) -> Shown {
        let keys: Vec<String> = partition.iter().map(|key| self.names.text(&key.expr)).collect();
        if keys.is_empty() { shown } else { shown.clause("PARTITION BY", keys.join(", ")) }
    }

    fn windows(&self, windows: &Windows) -> Shown {
        let named = |(function, slot): &(WindowFunction, usize)| {
            let text = match function {
                WindowFunction::Number(function) => numbering(*function).to_owned(),
                WindowFunction::Tiles(count) => format!("ntile({})", self.names.count(count)),
                WindowFunction::PercentRank => "percent_rank".to_owned(),
                WindowFunction::CumulativeDistribution => "cume_dist".to_owned(),
                WindowFunction::Shift { value, ahead, .. } => {
                    format!("{}({})", if *ahead { "lead" } else { "lag" }, self.names.text(value))
                }
                WindowFunction::End { value, last, .. } => {
                    format!("{}({})", if *last { "last_value" } else { "first_value" }, self.names.text(value))
                }
                WindowFunction::Aggregate(aggregate, _) => self.names.aggregate(aggregate),
                WindowFunction::Percentile { value, continuous, .. } => {
                    let name = if *continuous { "percentile_cont" } else { "percentile_disc" };
                    format!("{name}({})", self.names.text(value))
                }
            };
            (self.names.slot(*slot), text)
        };
        let mut shown = self.partitioned(Shown::of("Window Aggregate"), &windows.partition);
        if !windows.order.is_empty() {
            shown = shown.clause("ORDER BY", self.names.keys(&windows.order));
        }
        shown.define(windows.functions.iter().map(named))
    }

    fn wide_top(&self, top: &WideTop) -> Shown {
        let shown = match &top.count {
            TopCount::Rows(count) | TopCount::OfRow(count) => {
                Shown::of("Top").clause("TOP EXPRESSION", self.names.count(count))
            }
            TopCount::Percent(percent) => {
                Shown::of("Top").clause("TOP EXPRESSION", format!("{} PERCENT", self.names.text(percent)))
            }
        };
        if top.ties.is_empty() { shown } else { shown.clause("WITH TIES", self.names.keys(&top.ties)) }
    }

    /// The members run for each row made, however many there are.
    fn recursive(&self, recursive: &Recursive, executions: Option<f64>) -> Shown {
        let shown = Shown::of("Concatenation").clause("WITH STACK", "[Recr1000]".to_owned());
        let anchors = recursive.anchors.iter().map(|(node, _)| self.again(node, executions));
        let members = recursive.members.iter().map(|(node, _)| self.again(node, None));
        anchors.chain(members).fold(shown, Shown::over)
    }

    fn assigned(&self, assignments: &[(usize, Expr)]) -> Vec<(String, String)> {
        let text = |(slot, value): &(usize, Expr)| (self.names.slot(*slot), self.names.text(value));
        assignments.iter().map(text).collect()
    }

    /// What is done with the rows.
    fn action(&self, source: Shown) -> Shown {
        match &self.plan.action {
            Action::Select { values, .. } => {
                let computed = values.iter().filter(|value| !matches!(value, Expr::Slot(_)));
                let first = self.plan.slots;
                let named =
                    computed.enumerate().map(|(place, value)| (self.names.slot(first + place), self.names.text(value)));
                with_computed(source, named.collect())
            }
            Action::Assign { assignments, .. } => {
                let computed: Vec<_> =
                    assignments.iter().filter(|(_, value)| !matches!(value, Expr::Slot(_))).cloned().collect();
                with_computed(source, self.assigned(&computed))
            }
            Action::Insert(insert) => {
                let shares = || {
                    let alone = self.plan.rules.is_none() && self.plan.triggers.is_none();
                    alone && InsertWork::of(insert).is_some() && can_share(&self.plan.source, &self.plan.live)
                };
                self.gathered(self.insert(insert, source), &self.plan.source, &self.plan.source, shares)
            }
            Action::Update(update) => {
                let table = &update.changed.table;
                let shown = changed(table, "Update", "Clustered Index Update", "Table Update");
                let shown = shown.clause("SET", self.sets(table, &update.assignments));
                collected(source, update.changed.collects).under(shown)
            }
            Action::Delete(delete) => {
                let shown = changed(&delete.changed.table, "Delete", "Clustered Index Delete", "Table Delete");
                collected(source, delete.changed.collects).under(shown)
            }
            Action::Change(change) => self.change(change, source),
            Action::Instead(_) => source.under(Shown::new("Table Spool", "Eager Spool")),
        }
    }

    fn insert(&self, insert: &Insert, source: Shown) -> Shown {
        let shown = changed(&insert.table, "Insert", "Clustered Index Insert", "Table Insert");
        let columns = &insert.table.columns;
        let value = |row: &[ColumnSource], place: usize| match &row[place] {
            ColumnSource::Value(value) => self.names.text(value),
            ColumnSource::Identity => "[Identity]".to_owned(),
            ColumnSource::Template => {
                let constant = insert.template.get(place).cloned().unwrap_or_default();
                self.names.text(&Expr::Const(constant))
            }
        };
        match insert.rows.as_slice() {
            [row] => {
                let sets = columns.iter().take(row.len()).enumerate();
                let sets: Vec<String> = sets
                    .map(|(place, column)| format!("{} = {}", bracketed(&column.name), value(row, place)))
                    .collect();
                source.under(shown.clause("SET", sets.join(", ")))
            }
            rows => {
                let texts = rows.iter().map(|row| {
                    let values: Vec<String> = (0..row.len()).map(|place| value(row, place)).collect();
                    format!("({})", values.join(", "))
                });
                let texts: Vec<String> = texts.collect();
                let mut source = source.clause("VALUES", texts.join(", "));
                if let Some(size) = &mut source.estimate {
                    size.rows = rows.len() as f64;
                }
                source.under(shown)
            }
        }
    }

    fn change(&self, change: &Change, source: Shown) -> Shown {
        let table = &change.table;
        let mut shown = match change.branches.as_slice() {
            [branch] => match &branch.action {
                BranchAction::Update { .. } => changed(table, "Update", "Clustered Index Update", "Table Update"),
                BranchAction::Delete => changed(table, "Delete", "Clustered Index Delete", "Table Delete"),
                BranchAction::Insert(_) => changed(table, "Insert", "Clustered Index Insert", "Table Insert"),
            },
            _ => changed(table, "Merge", "Clustered Index Merge", "Table Merge"),
        };
        for branch in &change.branches {
            if let BranchAction::Update { assignments, .. } = &branch.action {
                shown = shown.clause("SET", self.sets(table, assignments));
            }
        }
        let mut source = collected(source, true);
        match &change.top {
            None => {}
            Some(TopCount::Rows(count) | TopCount::OfRow(count)) => {
                source = source.under(Shown::of("Top").clause("TOP EXPRESSION", self.names.count(count)));
            }
            Some(TopCount::Percent(percent)) => {
                let percent = format!("{} PERCENT", self.names.text(percent));
                source = source.under(Shown::of("Top").clause("TOP EXPRESSION", percent));
            }
        }
        source.under(shown)
    }

    fn sets(&self, table: &Table, assignments: &[(usize, Expr)]) -> String {
        let texts = assignments.iter().map(|(column, value)| {
            let column = table.columns.get(*column).map_or("", |column| &column.name);
            format!("{} = {}", bracketed(column), self.names.text(value))
        });
        texts.collect::<Vec<_>>().join(", ")
    }
}

/// The spool that a nested loop looks into by hash.
fn hashed(right: &Node) -> Option<&Spool> {
    match right {
        Node::More(more) => match &**more {
            More::Spool(spool) if !spool.keys.is_empty() => Some(spool),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the planner has something to go by: no source below is one of which it knows nothing.
fn is_known(node: &Node) -> bool {
    let mut known = true;
    node.visit_nodes(&mut |node| {
        known &= match node {
            Node::Virtual { .. } | Node::Call { .. } | Node::File(_) => false,
            Node::More(more) => {
                !matches!(**more, More::Recursive(_) | More::OpenJson(_) | More::Nodes(_) | More::Split(_))
            }
            _ => true,
        };
    });
    known
}

/// The rows that workers share of a join: those of the table that is read first.
fn probe_side(node: &Node) -> &Node {
    match node {
        Node::Filter { input, .. } | Node::Compute { input, .. } | Node::Apply { input, .. } => probe_side(input),
        Node::Join { left, .. } => probe_side(left),
        other => other,
    }
}

fn function(name: &str) -> Shown {
    Shown::of("Table-valued function").clause("OBJECT", name.to_owned())
}

fn with_computed(source: Shown, computed: Vec<(String, String)>) -> Shown {
    if computed.is_empty() {
        return source;
    }
    source.under(Shown::of("Compute Scalar").define(computed))
}

/// Rows that are all found before the first one is changed.
fn collected(source: Shown, collects: bool) -> Shown {
    if collects { source.under(Shown::new("Table Spool", "Eager Spool")) } else { source }
}

fn changed(table: &Table, logical: &'static str, clustered: &'static str, heap: &'static str) -> Shown {
    let mut shown = Shown::new(if table.key.is_empty() { heap } else { clustered }, logical);
    shown.object = Some(ShownObject::of(table, None, None));
    shown
}

fn numbering(function: Numbering) -> &'static str {
    match function {
        Numbering::Row => "row_number",
        Numbering::Rank => "rank",
        Numbering::DenseRank => "dense_rank",
    }
}
