//! Queries and expressions: what FROM brings, and whose columns are named.

use super::{Class, Usage, Walk};
use pikepole_tsql::{
    ColumnRef, CommonTable, DerivedTable, Expr, ExprKind, FunctionCall, GroupingItem, Join, Name, ObjectName, Part,
    Query, QueryBody, Select, SelectItem, TableFunction, TableRef, TableSource, With,
};

/// One level of names.
#[derive(Default)]
pub(super) struct Scope {
    sources: Vec<Source>,
    /// The common tables of WITH.
    common: Vec<String>,
}

/// What a name in FROM has brought.
pub(super) struct Source {
    alias: String,
    /// The schema it was written with, or is in; None: an alias hides it, or it has none.
    schema: Option<String>,
    reference: Option<usize>,
    /// None: it has columns that are not known, so any name may be one of them.
    columns: Option<Vec<String>>,
}

impl Source {
    fn answers_to(&self, qualifier: &ObjectName) -> bool {
        let same_schema = match (qualifier.schema_str(), &self.schema) {
            (Some(schema), Some(own)) => own.eq_ignore_ascii_case(schema),
            _ => true,
        };
        qualifier.name.is(&self.alias) && same_schema
    }

    fn column(&self, name: &Name) -> Option<usize> {
        self.columns.as_ref()?.iter().position(|column| name.is(column))
    }
}

impl Walk<'_> {
    pub(super) fn add_source(
        &mut self,
        alias: &str,
        schema: Option<&str>,
        reference: Option<usize>,
        columns: Option<Vec<String>>,
    ) {
        let source = Source { alias: alias.to_owned(), schema: schema.map(str::to_owned), reference, columns };
        match self.scopes.last_mut() {
            Some(scope) => scope.sources.push(source),
            None => self.scopes.push(Scope { sources: vec![source], common: Vec::new() }),
        }
    }

    /// What is walked within has a level of names of its own.
    pub(super) fn in_scope(&mut self, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(Scope::default());
        walk(self);
        self.scopes.pop();
    }

    pub(super) fn query(&mut self, query: &Query) {
        self.in_scope(|walk| {
            walk.with(&query.with);
            match &query.body {
                QueryBody::Select(select) => walk.select(select),
                body => walk.body(body),
            }
            for item in &query.order_by {
                match &item.expr.kind {
                    // It may name a column of the result.
                    ExprKind::Column(column) if column.qualifier.is_none() => {
                        walk.find_column(column, Usage::SELECTED);
                    }
                    _ => walk.expr(&item.expr),
                }
            }
            query.offset.iter().chain(&query.fetch).for_each(|count| walk.expr(count));
        });
    }

    pub(super) fn with(&mut self, with: &With) {
        for CommonTable { name, query, .. } in &with.tables {
            if let Some(scope) = self.scopes.last_mut() {
                scope.common.push(name.text.clone());
            }
            self.query(query);
        }
    }

    fn body(&mut self, body: &QueryBody) {
        match body {
            QueryBody::Select(select) => self.in_scope(|walk| walk.select(select)),
            QueryBody::SetOperation(operation) => {
                self.body(&operation.first);
                operation.rest.iter().for_each(|(_, body)| self.body(body));
            }
            QueryBody::Values(rows) => rows.iter().flatten().for_each(|value| self.expr(value)),
            QueryBody::Part(part) => self.query(part),
        }
    }

    fn select(&mut self, select: &Select) {
        if let Some(into) = select.into.as_ref().filter(|into| !into.is_in_tempdb()) {
            self.read_object(into, Usage::UPDATED);
        }
        select.top.iter().for_each(|top| self.expr(&top.count));
        select.from.iter().for_each(|source| self.source(source));
        self.items(&select.items);
        select.filter.iter().for_each(|filter| self.part(Part::Condition(filter)));
        select.group_by.iter().for_each(|item| self.grouping(item));
        select.having.iter().for_each(|having| self.part(Part::Condition(having)));
        for (_, window) in &select.windows {
            let ordered = window.order_by.iter().map(|item| &item.expr);
            window.partition_by.iter().chain(ordered).for_each(|expr| self.expr(expr));
        }
    }

    pub(super) fn items(&mut self, items: &[SelectItem]) {
        for item in items {
            match item {
                SelectItem::Star { qualifier, .. } => self.star(qualifier.as_deref()),
                SelectItem::Expr { expr, .. } | SelectItem::Assign { value: expr, .. } => self.expr(expr),
            }
        }
    }

    /// All columns of the sources that a star stands for.
    fn star(&mut self, qualifier: Option<&ObjectName>) {
        let Some(scope) = self.scopes.last() else { return };
        let of_star = scope.sources.iter().filter(|source| qualifier.is_none_or(|name| source.answers_to(name)));
        for source in of_star {
            let Some(reference) = source.reference else { continue };
            self.references[reference].select_all = true;
            for (place, column) in source.columns.iter().flatten().enumerate() {
                self.noted.push((reference, place as i32 + 1, column.clone(), Usage::SELECTED));
            }
        }
    }

    fn grouping(&mut self, item: &GroupingItem) {
        match item {
            GroupingItem::Expr(expr) => self.expr(expr),
            GroupingItem::Composite(exprs) => exprs.iter().for_each(|expr| self.expr(expr)),
            GroupingItem::Rollup(items) | GroupingItem::Cube(items) | GroupingItem::Sets(items) => {
                items.iter().for_each(|item| self.grouping(item));
            }
        }
    }

    pub(super) fn source(&mut self, source: &TableSource) {
        match source {
            TableSource::Table(table) => self.table(table),
            TableSource::Variable { name, alias } => {
                self.add_source(&alias.as_ref().unwrap_or(name).text, None, None, None);
            }
            TableSource::Function(function) => self.table_function(function),
            TableSource::Bulk(rowset) => {
                let alias = rowset.alias.as_ref().map_or("", |alias| &alias.text);
                self.add_source(alias, None, None, None);
            }
            TableSource::Derived(derived) => {
                let DerivedTable { query, alias, .. } = derived.as_ref();
                self.query(query);
                self.add_source(&alias.text, None, None, None);
            }
            TableSource::Join(join) => {
                let Join { left, right, on, .. } = join.as_ref();
                self.source(left);
                self.source(right);
                on.iter().for_each(|on| self.part(Part::Condition(on)));
            }
            TableSource::Pivot(pivot) => {
                self.source(&pivot.source);
                pivot.aggregate.each_part(&mut |part| self.part(part));
                self.column(&pivot.column);
                self.add_source(&pivot.alias.text, None, None, None);
            }
            TableSource::Unpivot(unpivot) => {
                self.source(&unpivot.source);
                unpivot.columns.iter().for_each(|column| self.column(column));
                self.add_source(&unpivot.alias.text, None, None, None);
            }
        }
    }

    fn table(&mut self, table: &TableRef) {
        let alias = table.alias.as_ref().unwrap_or(&table.name.name);
        let (reference, columns) = self.read_object(&table.name, Usage::SELECTED);
        let schema = table.name.schema_str().filter(|_| table.alias.is_none());
        self.add_source(&alias.text, schema, reference, columns);
    }

    /// A table or view that a name means; nothing for what is not kept in the catalog, or is the system's.
    pub(super) fn read_object(&mut self, name: &ObjectName, usage: Usage) -> (Option<usize>, Option<Vec<String>>) {
        let is_plain = name.schema.is_none() && name.database.is_none();
        let is_common = |scope: &Scope| scope.common.iter().any(|common| name.name.is(common));
        if name.is_in_tempdb() || is_plain && self.scopes.iter().any(is_common) {
            return (None, None);
        }
        let object = self.lookup.object(name);
        let is_transition = is_plain && (name.name.is("inserted") || name.name.is("deleted"));
        if object.is_none() && (is_transition || self.lookup.is_system(name)) {
            return (None, None);
        }
        self.unbound |= object.is_none() && self.lookup.is_here(name);
        let reference = self.refer(Class::Object, name, object.map(|object| object.object_id()));
        self.references[reference].usage.add(usage);
        (Some(reference), object.and_then(|object| self.lookup.columns(object)))
    }

    fn table_function(&mut self, function: &TableFunction) {
        let call = &function.call;
        function.receiver.iter().for_each(|receiver| self.expr(receiver));
        call.each_part(&mut |part| self.part(part));
        let is_method = function.receiver.is_some() || call.name.name.is("nodes");
        if !is_method && call.name.schema.is_some() && !self.lookup.is_system(&call.name) {
            let id = self.lookup.object(&call.name).map(|object| object.object_id());
            self.unbound |= id.is_none() && self.lookup.is_here(&call.name);
            let reference = self.refer(Class::Object, &call.name, id);
            self.references[reference].usage.add(Usage::SELECTED);
        }
        let alias = function.alias.as_ref().unwrap_or(&call.name.name);
        self.add_source(&alias.text, None, None, None);
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        self.part(Part::Expr(expr));
    }

    pub(super) fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Query(query) => return self.query(query),
            Part::Condition(_) => {}
            Part::Expr(expr) => match &expr.kind {
                ExprKind::Column(column) => self.column(column),
                ExprKind::Function(call) => self.call(call),
                ExprKind::Cast(cast) => self.data_type(&cast.data_type),
                ExprKind::Convert(convert) => self.data_type(&convert.data_type),
                ExprKind::NextValue(next) => {
                    let id = self.lookup.object(&next.sequence).map(|object| object.object_id());
                    self.unbound |= id.is_none() && self.lookup.is_here(&next.sequence);
                    self.refer(Class::Object, &next.sequence, id);
                }
                _ => {}
            },
        }
        part.each(&mut |inner| self.part(inner));
    }

    /// A function of the catalog, or a method of a column: names of two parts can be either.
    fn call(&mut self, call: &FunctionCall) {
        let Some(schema) = &call.name.schema else { return };
        if schema.is("$PARTITION") {
            let name = ObjectName::of(call.name.name.clone());
            let function = self.lookup.catalog.partition_function(&name.name.text);
            let id = function.filter(|_| self.lookup.is_here(&call.name)).map(|function| function.function_id);
            self.refer(Class::PartitionFunction, &ObjectName { database: call.name.database.clone(), ..name }, id);
            return;
        }
        let object = self.lookup.object(&call.name);
        if object.is_none() && self.lookup.catalog.schema(&schema.text).is_none() {
            let qualifier = call.name.database.clone().map(|name| Box::new(ObjectName::of(name)));
            let of_column = self.find_column(&ColumnRef::new(qualifier, schema.clone()), Usage::SELECTED);
            if of_column {
                return;
            }
        }
        if object.is_none() && self.lookup.is_system(&call.name) {
            return;
        }
        let reference = self.refer(Class::Object, &call.name, object.map(|object| object.object_id()));
        let is_open = object.is_none() && self.lookup.is_here(&call.name);
        self.references[reference].ambiguous |= is_open;
        self.unbound |= is_open;
    }

    pub(super) fn column(&mut self, column: &ColumnRef) {
        if self.find_column(column, Usage::SELECTED) {
            return;
        }
        // `t.place.STX`: the property of a column.
        let owner = column.qualifier.as_ref().map(|qualifier| {
            let above = qualifier.schema.clone().map(|name| Box::new(ObjectName::of(name)));
            ColumnRef::new(above, qualifier.name.clone())
        });
        if !owner.is_some_and(|owner| self.find_column(&owner, Usage::SELECTED)) {
            self.unbound = true;
        }
    }

    /// Notes the column that a name means. False: no source has it.
    pub(super) fn find_column(&mut self, column: &ColumnRef, usage: Usage) -> bool {
        let of_transition = |name: &ObjectName| name.name.is("inserted") || name.name.is("deleted");
        if column.is_virtual
            || column.name.text.starts_with('$')
            || column.qualifier.as_deref().is_some_and(of_transition)
        {
            return true;
        }
        for scope in self.scopes.iter().rev() {
            let mut sources = scope.sources.iter();
            let found = match column.qualifier.as_deref() {
                Some(qualifier) => sources.find(|source| source.answers_to(qualifier)),
                None => sources.find(|source| source.column(&column.name).is_some()),
            };
            let is_open = scope.sources.iter().any(|source| source.columns.is_none());
            match found {
                Some(source) => return note(&mut self.noted, source, &column.name, usage),
                None if column.qualifier.is_none() && is_open => return true,
                None => {}
            }
        }
        false
    }

    /// Notes columns of one object that are changed.
    pub(super) fn changed_columns<'n>(
        &mut self,
        reference: Option<usize>,
        columns: Option<&[String]>,
        names: impl Iterator<Item = &'n Name>,
    ) {
        let (Some(reference), Some(columns)) = (reference, columns) else { return };
        for name in names {
            match columns.iter().position(|column| name.is(column)) {
                Some(place) => {
                    self.noted.push((reference, place as i32 + 1, columns[place].clone(), Usage::UPDATED));
                }
                None => self.unbound |= !name.text.starts_with('$'),
            }
        }
    }

    /// The object that an alias or a name among the sources means.
    pub(super) fn source_named(&self, name: &ObjectName) -> Option<(Option<usize>, Option<Vec<String>>)> {
        let scope = self.scopes.last()?;
        let found = scope.sources.iter().find(|source| source.answers_to(name))?;
        Some((found.reference, found.columns.clone()))
    }
}

/// Notes a column of a source. False: it has no such column.
fn note(noted: &mut Vec<(usize, i32, String, Usage)>, source: &Source, name: &Name, usage: Usage) -> bool {
    let (Some(reference), Some(columns)) = (source.reference, &source.columns) else { return true };
    let Some(place) = source.column(name) else { return false };
    noted.push((reference, place as i32 + 1, columns[place].clone(), usage));
    true
}
