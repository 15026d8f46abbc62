//! Modules and their statements.

use super::{Class, Usage, Walk};
use pikepole_tsql::{
    Assignment, Batch, ColumnDefinition, ColumnKind, ConstraintKind, CursorDefinition, Delete, Execute, ExecuteTarget,
    FetchDirection, FunctionReturns, Insert, InsertSource, InsertValue, Merge, MergeAction, Name, ObjectName,
    OutputClause, Parameter, Part, RowFilter, SelectItem, SetValue, Statement, StatementKind, TableElement,
    TableSource, Target, Top, Update, VariableKind, WaitFor, module_options, says,
};

/// True when the module that a text makes is bound to the schema.
pub(crate) fn is_bound(batch: &Batch) -> bool {
    says(module_options(batch), "SCHEMABINDING")
}

type Changed = (Option<usize>, Option<Vec<String>>);

impl Walk<'_> {
    /// The module that a text makes.
    pub(crate) fn module(&mut self, batch: &Batch) {
        match batch.statements.first().map(|statement| &statement.kind) {
            Some(StatementKind::CreateView(view)) => self.query(&view.query),
            Some(StatementKind::CreateProcedure(procedure)) => {
                self.parameters(&procedure.parameters);
                self.statements(procedure.body.statements());
            }
            Some(StatementKind::CreateTrigger(trigger)) => self.statements(trigger.body.statements()),
            Some(StatementKind::CreateFunction(function)) => {
                self.parameters(&function.parameters);
                match &function.returns {
                    FunctionReturns::Scalar { data_type, body } => {
                        self.data_type(data_type);
                        self.statements(body.statements());
                    }
                    FunctionReturns::Inline(query) => self.query(query),
                    FunctionReturns::Table { elements, body, .. } => {
                        self.elements(elements);
                        self.statements(body.statements());
                    }
                }
            }
            _ => {}
        }
        self.end_statement();
    }

    fn parameters(&mut self, parameters: &[Parameter]) {
        parameters.iter().for_each(|parameter| self.data_type(&parameter.data_type));
        self.end_statement();
    }

    fn statements(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Block(statements) => self.statements(statements),
            StatementKind::TryCatch(block) => {
                self.statements(&block.body);
                self.statements(&block.handler);
            }
            StatementKind::If(branch) => {
                self.part(Part::Condition(&branch.condition));
                self.end_statement();
                self.statement(&branch.then);
                branch.otherwise.iter().for_each(|otherwise| self.statement(otherwise));
            }
            StatementKind::While(repeat) => {
                self.part(Part::Condition(&repeat.condition));
                self.end_statement();
                self.statement(&repeat.body);
            }
            kind => {
                self.simple_statement(kind);
                self.end_statement();
            }
        }
    }

    fn simple_statement(&mut self, kind: &StatementKind) {
        match kind {
            StatementKind::Select(query) => self.query(query),
            StatementKind::Insert(insert) => self.in_scope(|walk| walk.insert(insert)),
            StatementKind::Update(update) => self.in_scope(|walk| walk.update(update)),
            StatementKind::Delete(delete) => self.in_scope(|walk| walk.delete(delete)),
            StatementKind::Merge(merge) => self.in_scope(|walk| walk.merge(merge)),
            StatementKind::Truncate(table) | StatementKind::SetIdentityInsert { table, .. } => {
                self.read_object(table, Usage::UPDATED);
            }
            StatementKind::BulkInsert(insert) => {
                self.read_object(&insert.table, Usage::UPDATED);
            }
            StatementKind::Execute(execute) => self.execute(execute),
            StatementKind::Return(Some(expr)) | StatementKind::Print(expr) => self.expr(expr),
            StatementKind::Throw(Some(throw)) => {
                [&throw.number, &throw.message, &throw.state].into_iter().for_each(|expr| self.expr(expr));
            }
            StatementKind::RaiseError(raise) => {
                [&raise.message, &raise.severity, &raise.state].into_iter().for_each(|expr| self.expr(expr));
                raise.arguments.iter().for_each(|expr| self.expr(expr));
            }
            StatementKind::WaitFor(WaitFor::Delay(expr) | WaitFor::Time(expr)) => self.expr(expr),
            StatementKind::Declare(declarations) => {
                for declaration in declarations {
                    if let VariableKind::Value { data_type, initial } = &declaration.kind {
                        self.data_type(data_type);
                        initial.iter().for_each(|expr| self.expr(expr));
                    }
                }
            }
            StatementKind::DeclareTable(variable) => self.elements(&variable.elements),
            StatementKind::CreateTable(table) => self.elements(&table.elements),
            StatementKind::SetVariable(set) => match &set.value {
                SetValue::Expr(expr) | SetValue::Property(_, expr) => self.expr(expr),
                SetValue::Cursor(definition) => self.cursor(definition),
                SetValue::Method(_, arguments) => arguments.iter().for_each(|expr| self.expr(expr)),
            },
            StatementKind::DeclareCursor(cursor) => self.cursor(&cursor.definition),
            StatementKind::Fetch(fetch) => match &fetch.direction {
                FetchDirection::Absolute(expr) | FetchDirection::Relative(expr) => self.expr(expr),
                _ => {}
            },
            _ => {}
        }
    }

    fn cursor(&mut self, definition: &CursorDefinition) {
        self.query(&definition.query);
    }

    /// The types and expressions of a table that is made here; its own columns are none of the catalog's.
    fn elements(&mut self, elements: &[TableElement]) {
        self.in_scope(|walk| {
            walk.add_source("", None, None, None);
            for element in elements {
                match element {
                    TableElement::Column(column) => walk.column_definition(column),
                    TableElement::Constraint(constraint) => walk.constraint(&constraint.kind),
                    TableElement::Index(_) | TableElement::Period(..) => {}
                }
            }
        });
    }

    fn column_definition(&mut self, column: &ColumnDefinition) {
        match &column.kind {
            ColumnKind::Stored(data_type) => self.data_type(data_type),
            ColumnKind::Computed { expr, .. } => self.expr(expr),
        }
        column.default.iter().for_each(|default| self.expr(&default.expr));
        column.constraints.iter().for_each(|constraint| self.constraint(&constraint.kind));
    }

    fn constraint(&mut self, kind: &ConstraintKind) {
        match kind {
            ConstraintKind::Check { condition, .. } => self.part(Part::Condition(condition)),
            ConstraintKind::Default { expr, .. } => self.expr(expr),
            ConstraintKind::Key(_) | ConstraintKind::Foreign(_) => {}
        }
    }

    fn execute(&mut self, execute: &Execute) {
        match &execute.target {
            ExecuteTarget::Procedure { name, .. } => self.called(name),
            ExecuteTarget::Variable(_) => {}
            ExecuteTarget::Text { text, parameters, .. } => {
                self.expr(text);
                parameters.iter().filter_map(|parameter| parameter.value.as_ref()).for_each(|value| self.expr(value));
            }
        }
        // A bare word is a text here, and no column.
        let values = execute.arguments.iter().filter_map(|argument| argument.value.as_ref());
        values
            .filter(|value| !matches!(value.kind, pikepole_tsql::ExprKind::Column(_)))
            .for_each(|value| self.expr(value));
    }

    /// What EXECUTE calls; procedures of the system are no dependencies.
    fn called(&mut self, name: &ObjectName) {
        let object = self.lookup.object(name);
        if object.is_none() && (self.lookup.is_system(name) || crate::procedures::find(&name.name.text).is_some()) {
            return;
        }
        let id = object.filter(|_| name.schema.is_some()).map(|object| object.object_id());
        let reference = self.refer(Class::Object, name, id);
        self.references[reference].called = true;
    }

    /// What a statement changes: a source of FROM, or a table or view of its own.
    fn target(&mut self, target: &Target) -> Changed {
        let Target::Table { name, .. } = target else {
            self.add_source("", None, None, None);
            return (None, None);
        };
        if let Some((reference, columns)) = self.source_named(name) {
            if let Some(reference) = reference {
                self.references[reference].usage.add(Usage::UPDATED);
            }
            return (reference, columns);
        }
        let (reference, columns) = self.read_object(name, Usage::UPDATED);
        self.add_source(&name.name.text, name.schema_str(), reference, columns.clone());
        (reference, columns)
    }

    fn top(&mut self, top: Option<&Top>) {
        top.into_iter().for_each(|top| self.expr(&top.count));
    }

    fn insert(&mut self, insert: &Insert) {
        self.with(&insert.with);
        self.top(insert.top.as_ref());
        let (reference, columns) = match &insert.target {
            Target::Table { name, .. } => self.read_object(name, Usage::UPDATED),
            _ => (None, None),
        };
        self.changed_columns(reference, columns.as_deref(), insert.columns.iter());
        if let Some(reference) = reference {
            let is_default = matches!(insert.source, InsertSource::DefaultValues);
            self.references[reference].insert_all |= insert.columns.is_empty() && !is_default;
        }
        match &insert.source {
            InsertSource::Values(rows) => rows.iter().flatten().for_each(|value| self.value(value)),
            InsertSource::Query(query) => self.query(query),
            InsertSource::Execute(execute) => self.execute(execute),
            InsertSource::DefaultValues => {}
        }
        self.output(insert.output.as_ref());
    }

    fn value(&mut self, value: &InsertValue) {
        if let InsertValue::Expr(expr) = value {
            self.expr(expr);
        }
    }

    fn update(&mut self, update: &Update) {
        self.with(&update.with);
        self.top(update.top.as_ref());
        let (reference, columns) = self.changed(&update.from, &update.target);
        self.assignments(&update.assignments, reference, columns.as_deref());
        self.filter(update.filter.as_ref());
        self.output(update.output.as_ref());
    }

    fn delete(&mut self, delete: &Delete) {
        self.with(&delete.with);
        self.top(delete.top.as_ref());
        self.changed(&delete.from, &delete.target);
        self.filter(delete.filter.as_ref());
        self.output(delete.output.as_ref());
    }

    fn changed(&mut self, from: &[TableSource], target: &Target) -> Changed {
        from.iter().for_each(|source| self.source(source));
        self.target(target)
    }

    fn filter(&mut self, filter: Option<&RowFilter>) {
        filter.and_then(RowFilter::condition).into_iter().for_each(|filter| self.part(Part::Condition(filter)));
    }

    fn assignments(&mut self, assignments: &[Assignment], reference: Option<usize>, columns: Option<&[String]>) {
        for assignment in assignments {
            let column: Option<&Name> = match assignment {
                Assignment::Column { column, value, .. } => {
                    self.value(value);
                    Some(&column.name)
                }
                Assignment::Variable { value, .. } => {
                    self.expr(value);
                    None
                }
                Assignment::Both { column, value, .. } => {
                    self.expr(value);
                    Some(&column.name)
                }
                Assignment::Method { column, arguments, .. } => {
                    arguments.iter().for_each(|argument| self.expr(argument));
                    Some(&column.name)
                }
            };
            self.changed_columns(reference, columns, column.into_iter());
        }
    }

    fn merge(&mut self, merge: &Merge) {
        self.with(&merge.with);
        self.top(merge.top.as_ref());
        self.source(&merge.source);
        let (reference, columns) = match &merge.target {
            Target::Table { name, .. } => {
                let (reference, columns) = self.read_object(name, Usage::UPDATED);
                let alias = merge.alias.as_ref().unwrap_or(&name.name);
                let schema = name.schema_str().filter(|_| merge.alias.is_none());
                self.add_source(&alias.text, schema, reference, columns.clone());
                (reference, columns)
            }
            _ => {
                self.add_source("", None, None, None);
                (None, None)
            }
        };
        self.part(Part::Condition(&merge.on));
        for clause in &merge.clauses {
            clause.condition.iter().for_each(|condition| self.part(Part::Condition(condition)));
            match &clause.action {
                MergeAction::Update(assignments) => self.assignments(assignments, reference, columns.as_deref()),
                MergeAction::Delete => {}
                MergeAction::Insert { columns: names, values } => {
                    self.changed_columns(reference, columns.as_deref(), names.iter());
                    values.iter().for_each(|value| self.value(value));
                }
            }
        }
        self.output(merge.output.as_ref());
    }

    fn output(&mut self, output: Option<&OutputClause>) {
        let Some(output) = output else { return };
        // A star of `inserted` or `deleted` stands for columns of what is changed, which is named already.
        let of_rows = |item: &&SelectItem| !matches!(item, SelectItem::Star { .. });
        let items: Vec<SelectItem> = output.into_items.iter().chain(&output.items).filter(of_rows).cloned().collect();
        self.items(&items);
        if let Some(into) = &output.into
            && let Target::Table { name, .. } = &into.target
        {
            let (reference, columns) = self.read_object(name, Usage::UPDATED);
            self.changed_columns(reference, columns.as_deref(), into.columns.iter());
        }
    }
}
