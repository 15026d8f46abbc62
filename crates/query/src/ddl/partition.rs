//! Partition functions and schemes, and tables and indexes ON a scheme: definitions that are checked, kept and shown.
//!
//! What is checked is what SQL Server checks, so that a script that runs here runs there. Rows stay in one heap or tree;
//! SWITCH, which moves the rows of a partition by its pages, is refused.

use super::Definer;
use super::filegroup;
use crate::access::Table;
use crate::bind::{self, Names};
use crate::errors;
use crate::expression::Fault;
use pikepole_engine::{PartitionFunction, PartitionScheme, Partitioned, TableRecord};
use pikepole_tsql::{self as tree, ObjectName, PartitionStatement};
use pikepole_types::{Length, SqlError, SqlType, Value, to_text};
use std::sync::Arc;

impl Definer<'_> {
    /// CREATE, ALTER and DROP of PARTITION FUNCTION and PARTITION SCHEME.
    pub(super) async fn define_partition(&mut self, statement: &PartitionStatement) -> Result<(), Fault> {
        match statement {
            PartitionStatement::CreateFunction { name, data_type, right, boundaries } => {
                self.create_partition_function(name, data_type, *right, boundaries).await
            }
            PartitionStatement::AlterFunction { name, split, boundary } => {
                self.alter_partition_function(name, *split, boundary).await
            }
            PartitionStatement::CreateScheme { name, function, all, filegroups } => {
                self.create_partition_scheme(name, function, *all, filegroups).await
            }
            PartitionStatement::AlterScheme { name, next_used } => {
                let missing = || Box::new(SqlError::item_missing("alter", "partition scheme", &name.text));
                let found = self.context.catalog().catalog.partition_scheme(&name.text).cloned();
                let scheme = PartitionScheme::clone(&*found.ok_or_else(missing)?);
                self.check_filegroups(next_used.as_slice())?;
                let next_used = next_used.as_ref().map(|name| name.text.clone());
                let (database, tx) = self.context.engine();
                Ok(database.put_partition_scheme(tx, PartitionScheme { next_used, ..scheme }, false).await?)
            }
            PartitionStatement::Drop { scheme, name } => {
                let (database, tx) = self.context.engine();
                let dropped = match scheme {
                    true => database.drop_partition_scheme(tx, &name.text).await,
                    false => database.drop_partition_function(tx, &name.text).await,
                };
                Ok(dropped?)
            }
        }
    }

    async fn create_partition_function(
        &mut self,
        name: &tree::Name,
        data_type: &tree::DataType,
        right: bool,
        boundaries: &[tree::Expr],
    ) -> Result<(), Fault> {
        let (ty, collation) = {
            let catalog = self.context.catalog();
            let declared = bind::declared(&catalog.catalog, data_type, 1)?;
            (declared.scalar(), catalog.collation())
        };
        let ty = ty.filter(may_cut).ok_or_else(|| errors::unsupported("A partition function of this type"))?;
        let mut values = Vec::with_capacity(boundaries.len());
        for boundary in boundaries {
            values.push(self.boundary(boundary, &ty)?);
        }
        let order = |a: &Value, b: &Value| pikepole_types::order(a, b, collation.comparing(&ty));
        if values.windows(2).any(|two| order(&two[0], &two[1]).is_gt()) {
            self.output.message(&SqlError::partition_boundaries_sorted(&name.text).at_line(self.line()));
        }
        for (at, value) in values.iter().enumerate() {
            if let Some(other) = values[..at].iter().position(|other| order(other, value).is_eq()) {
                return Err(Box::new(SqlError::partition_boundaries_equal(other + 1, at + 1)));
            }
        }
        values.sort_by(order);
        let boundaries = values.iter().map(|value| to_text(value, &ty)).collect();
        let (function_id, created_us, modified_us) = (0, 0, 0);
        let name = name.text.clone();
        let function =
            PartitionFunction { function_id, name, ty, collation, right, boundaries, created_us, modified_us };
        let (database, tx) = self.context.engine();
        Ok(database.create_partition_function(tx, function).await?)
    }

    /// The value of a boundary.
    fn boundary(&mut self, boundary: &tree::Expr, ty: &SqlType) -> Result<Value, Fault> {
        let expr = {
            let catalog = self.context.catalog();
            let variables = self.variables;
            let names = Names { variables, ..Names::of(&catalog, &*self.host) };
            let mut binder = bind::Binder::new(&names, variables.len());
            let typed = binder.expr(boundary)?;
            if !binder.is_plain() {
                return Err(Box::new(SqlError::subquery_not_allowed()));
            }
            bind::assign_to(typed, ty, catalog.collation(), None)?
        };
        let value = expr.eval(&mut self.env())?;
        // It is kept as a text, which must say all of it.
        let text = SqlType::NVarChar(Length::Max);
        let kept = pikepole_types::convert(&Value::Str(to_text(&value, ty)), &text, ty, None);
        if value.is_null() || kept.ok().as_ref() != Some(&value) {
            return Err(errors::unsupported("This boundary of a partition function"));
        }
        Ok(value)
    }

    /// SPLIT adds a boundary, MERGE takes one away; the schemes have a filegroup more or less.
    async fn alter_partition_function(
        &mut self,
        name: &tree::Name,
        split: bool,
        boundary: &tree::Expr,
    ) -> Result<(), Fault> {
        let missing = || Box::new(SqlError::item_missing("alter", "partition function", &name.text));
        let found = self.context.catalog().catalog.partition_function(&name.text).cloned();
        let mut function = PartitionFunction::clone(&*found.ok_or_else(missing)?);
        let value = self.boundary(boundary, &function.ty)?;
        let catalog = self.context.catalog();
        let own = catalog.catalog.partition_schemes().filter(|scheme| scheme.function_id == function.function_id);
        let mut schemes: Vec<PartitionScheme> = own.map(|scheme| PartitionScheme::clone(scheme)).collect();
        let order = |known: &Value| pikepole_types::order(known, &value, function.collation.comparing(&function.ty));
        match (function.values().binary_search_by(order), split) {
            (Ok(at), true) => return Err(Box::new(SqlError::partition_boundary_exists(at + 1))),
            (Err(_), false) => return Err(Box::new(SqlError::partition_boundary_missing())),
            (Err(at), true) => {
                function.boundaries.insert(at, to_text(&value, &function.ty));
                for scheme in &mut schemes {
                    let missing = || Box::new(SqlError::partition_next_used_missing(&scheme.name));
                    let next = scheme.next_used.take().ok_or_else(missing)?;
                    // The new partition is the one that the boundary belongs to.
                    scheme.filegroups.insert((at + usize::from(function.right)).min(scheme.filegroups.len()), next);
                }
            }
            (Ok(at), false) => {
                function.boundaries.remove(at);
                for scheme in &mut schemes {
                    let gone = (at + usize::from(function.right)).min(scheme.filegroups.len().saturating_sub(1));
                    scheme.filegroups.remove(gone);
                }
            }
        }
        let (database, tx) = self.context.engine();
        Ok(database.alter_partition_function(tx, function, schemes).await?)
    }

    async fn create_partition_scheme(
        &mut self,
        name: &tree::Name,
        function: &tree::Name,
        all: bool,
        filegroups: &[tree::Name],
    ) -> Result<(), Fault> {
        let found = self.context.catalog().catalog.partition_function(&function.text).cloned();
        let found = found.ok_or_else(|| Box::new(SqlError::invalid_object(&function.text)))?;
        self.check_filegroups(filegroups)?;
        let mut places: Vec<String> = filegroups.iter().map(|name| name.text.clone()).collect();
        let mut next_used = None;
        if all {
            places.truncate(1);
            next_used.clone_from(&places.first().cloned());
            places = vec![places.concat(); found.fanout()];
        }
        if places.len() < found.fanout() {
            return Err(Box::new(SqlError::partition_filegroups_few(&found.name, &name.text)));
        }
        if places.len() > found.fanout() {
            next_used = Some(places[found.fanout()].clone());
            places.truncate(found.fanout());
        }
        if let Some(next) = &next_used {
            let text = format!(
                "Partition scheme '{0}' has been created successfully. '{next}' is marked as the next used filegroup in partition scheme '{0}'.",
                name.text
            );
            self.output.message(&SqlError::new(0, 0, 1, text).at_line(self.line()));
        }
        let scheme = PartitionScheme {
            data_space_id: 0,
            name: name.text.clone(),
            function_id: found.function_id,
            filegroups: places,
            next_used,
        };
        let (database, tx) = self.context.engine();
        Ok(database.put_partition_scheme(tx, scheme, true).await?)
    }

    /// The filegroups of a scheme are there.
    ///
    /// # Errors
    /// 1921 for one that is not.
    fn check_filegroups(&self, names: &[tree::Name]) -> Result<(), Fault> {
        let catalog = &self.context.catalog().catalog;
        names.iter().try_for_each(|name| filegroup::filegroup(catalog, name).map(drop))
    }

    /// What `ON scheme (column)` says; without ON an index is partitioned as its table is.
    fn partitioned(&self, on: Option<&tree::Placement>, table: &Table) -> Result<Option<Partitioned>, Fault> {
        let Some(on) = on else { return Ok(table.engine.row_partitions()) };
        let view = self.context.catalog();
        let Some(column) = &on.column else { return Ok(None) };
        let scheme = view.catalog.partition_scheme(&on.name.text);
        let scheme = scheme.ok_or_else(|| Box::new(SqlError::invalid_place("partition scheme", &on.name.text)))?;
        let place = table.column(&column.text).ok_or_else(|| Box::new(SqlError::key_column_unknown(&column.text)))?;
        if table.engine.columns[place].computed.as_ref().is_some_and(|computed| !computed.persisted) {
            let column = &table.columns[place].name;
            return Err(Box::new(SqlError::partition_column_not_persisted(column, &table.name)));
        }
        let function = view.catalog.partition_function_by_id(scheme.function_id);
        if let Some(function) = function.filter(|function| function.ty != table.columns[place].ty) {
            let (ty, parameter) = (table.columns[place].ty.to_string(), function.ty.to_string());
            return Err(Box::new(SqlError::partition_column_type(&column.text, ty, &function.name, parameter)));
        }
        Ok(Some(Partitioned { scheme: scheme.data_space_id, column: place }))
    }

    /// Partitions a table that was just made, and its keys and indexes, by what its definition says.
    pub(super) async fn partition_table(&mut self, create: &tree::CreateTable) -> Result<(), Fault> {
        let of_key = |kind: &tree::ConstraintKind| match kind {
            tree::ConstraintKind::Key(key) if key.clustered.unwrap_or(key.primary) => key.on.clone(),
            _ => None,
        };
        let mut of_keys = create.elements.iter().flat_map(|element| match element {
            tree::TableElement::Column(column) => {
                column.constraints.iter().filter_map(|own| of_key(&own.kind)).collect()
            }
            tree::TableElement::Constraint(own) => of_key(&own.kind).into_iter().collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        let of_clustered: Option<tree::Placement> = of_keys.find(|on| on.column.is_some());
        let on = create.on.as_ref().filter(|on| on.column.is_some()).or(of_clustered.as_ref());
        let Some(on) = on else { return Ok(()) };
        let missing = || Box::new(SqlError::invalid_object(create.name.dotted()));
        let table = self.context.catalog().table(&create.name)?.ok_or_else(missing)?;
        let partitioned = self.partitioned(Some(on), &table)?;
        self.keep_partitions(&table, partitioned, &|_| true).await
    }

    /// Partitions an index that was just made.
    pub(super) async fn partition_index(
        &mut self,
        name: &ObjectName,
        index: &str,
        on: Option<&tree::Placement>,
    ) -> Result<(), Fault> {
        let missing = || Box::new(SqlError::object_not_found(name.dotted()));
        let table: Arc<Table> = self.context.catalog().table(name)?.ok_or_else(missing)?;
        let before = table.engine.partitioned;
        let partitioned = match on {
            None => before.or(table.engine.row_partitions()),
            on => self.partitioned(on, &table)?,
        };
        if partitioned.is_none() && before.is_none() {
            return Ok(());
        }
        self.keep_partitions(&table, partitioned, &|own| own.eq_ignore_ascii_case(index)).await
    }

    /// A table's rows are partitioned where its heap or its clustered index is among what is meant.
    async fn keep_partitions(
        &mut self,
        table: &Table,
        partitioned: Option<Partitioned>,
        is_meant: &(dyn Fn(&str) -> bool + Send + Sync),
    ) -> Result<(), Fault> {
        let indexes = &table.engine.indexes;
        for index in indexes.iter().filter(|index| index.unique && is_meant(&index.name)) {
            let Some(partitioned) = partitioned else { continue };
            if !index.columns.iter().any(|key| key.column == partitioned.column) {
                let column = &table.columns[partitioned.column].name;
                return Err(Box::new(SqlError::unique_without_partition_column(column, &index.name)));
            }
        }
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            let mut of_rows = record.clustered().is_none() && is_meant("");
            for index in record.indexes.iter_mut().filter(|index| is_meant(&index.name)) {
                index.partitioned = partitioned;
                of_rows |= index.clustered;
            }
            if of_rows {
                record.partitioned = partitioned;
            }
            Ok(())
        };
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        Ok(())
    }
}

/// Whether values of a type can be boundaries that are kept as texts.
fn may_cut(ty: &SqlType) -> bool {
    let is_long =
        ty.is_max() || ty.is_text_or_image() || matches!(ty, SqlType::Xml | SqlType::Clr(_) | SqlType::Variant);
    !is_long && !ty.is_binary()
}
