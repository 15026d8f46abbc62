//! CREATE and DROP of types and of collections of schemas of xml.

use super::Definer;
use super::temporary::of_elements;
use crate::bind::{self, Declared};
use crate::errors;
use crate::expression::Fault;
use pikepole_engine::{Residence, UserTypeKind};
use pikepole_tsql::{self as tree, Name, ObjectName};
use pikepole_types::SqlError;

/// The error of a type that is not known.
const TYPE_UNKNOWN: i32 = 2715;

impl Definer<'_> {
    /// CREATE TYPE, CREATE and ALTER XML SCHEMA COLLECTION.
    pub(crate) async fn create_type(&mut self, create: &tree::CreateType) -> Result<(), Fault> {
        let schema = self.schema_of(&create.name, false)?;
        let name = create.name.name.text.as_str();
        let catalog = self.context.catalog();
        let is_collection = matches!(create.kind, tree::TypeKind::SchemaCollection { .. });
        if !is_collection && catalog.catalog.user_type(&schema, name).is_some() {
            return Err(Box::new(SqlError::type_exists(format!("{schema}.{name}"))));
        }
        let kind = match &create.kind {
            tree::TypeKind::Alias { data_type, nullable } => {
                let invalid = || Box::new(SqlError::alias_base_invalid(&data_type.name.text));
                let declared = bind::declared(&catalog.catalog, data_type, 1)
                    .map_err(|fault| if fault.number == TYPE_UNKNOWN { invalid() } else { fault })?;
                let (Declared::System(ty) | Declared::Second(_, ty)) = declared else { return Err(invalid()) };
                UserTypeKind::Alias { ty, nullable: nullable.unwrap_or(true) }
            }
            tree::TypeKind::SchemaCollection { text, add } => {
                let Some(tree::Literal::String { value, .. }) = text.literal() else {
                    return Err(match &text.kind {
                        tree::ExprKind::Variable(_) => errors::unsupported("A collection of schemas from a variable"),
                        _ => Box::new(SqlError::schema_collection_of_expression()),
                    });
                };
                let schemas = pikepole_types::xml::schema_text(value)?;
                if *add {
                    let (database, tx) = self.context.engine();
                    return Ok(database.extend_schema_collection(tx, &schema, name, schemas).await?);
                }
                UserTypeKind::SchemaCollection { text: schemas.to_owned(), created_us: 0 }
            }
            tree::TypeKind::Table { elements, options } => {
                check_elements(elements, options)?;
                UserTypeKind::Table(Box::new(self.shape_of(name, elements, options).await?))
            }
        };
        let (database, tx) = self.context.engine();
        Ok(database.create_type(tx, &schema, name, kind).await?)
    }

    /// The definition of a table type: that of a table variable which is made of the same elements and dropped again.
    async fn shape_of(
        &mut self,
        name: &str,
        elements: &[tree::TableElement],
        options: &[tree::SettingOption],
    ) -> Result<pikepole_engine::TableRecord, Fault> {
        let columns: Vec<_> = elements
            .iter()
            .filter_map(|element| match element {
                tree::TableElement::Column(column) => Some(&column.name.text),
                _ => None,
            })
            .collect();
        if let Some(column) = columns.get(bind::COLUMNS_MAX) {
            return Err(Box::new(SqlError::too_many_columns(column, name, bind::COLUMNS_MAX)));
        }
        // No variable of a text has a blank in its name.
        let variable = Name { text: format!("@ {name}"), span: tree::Span::default() };
        if let Some(left) = self.context.catalog().table(&ObjectName::of(variable.clone()))? {
            // A rollback has brought it back; it ends with the batch.
            self.context.transaction().drop_temporary(&left.engine)?;
        }
        let mut create = of_elements(variable.clone(), elements.to_vec());
        create.options = options.to_vec();
        let made = self.create_table_as(&create, Residence::Variable).await;
        let table = self.context.catalog().table(&ObjectName::of(variable))?;
        if let Some(table) = &table {
            self.context.transaction().drop_temporary(&table.engine)?;
        }
        made?;
        let table = table.ok_or_else(|| Box::new(SqlError::invalid_object(name)))?;
        Ok(table.engine.definition().clone())
    }

    /// DROP XML SCHEMA COLLECTION.
    pub(crate) async fn drop_schema_collections(&mut self, drop: &tree::Drop) -> Result<(), Fault> {
        for name in &drop.names {
            let schema = self.own_schema(name)?;
            let text = name.name.text.as_str();
            if drop.if_exists && self.context.catalog().catalog.schema_collection(&schema, text).is_none() {
                continue;
            }
            let (schema_name, collection) = (schema.clone(), text.to_owned());
            let names = move |module: &str| {
                has_parameter(module, &|written| match &written.arguments {
                    tree::TypeArguments::Collection(own) => {
                        own.schema_str().unwrap_or("dbo").eq_ignore_ascii_case(&schema_name) && own.name.is(&collection)
                    }
                    _ => false,
                })
            };
            let (database, tx) = self.context.engine();
            database.drop_schema_collection(tx, &schema, text, &names).await?;
        }
        Ok(())
    }

    /// DROP TYPE.
    pub(crate) async fn drop_types(&mut self, drop: &tree::Drop) -> Result<(), Fault> {
        for name in &drop.names {
            let schema = self.own_schema(name)?;
            let text = name.name.text.as_str();
            let view = self.context.catalog();
            if drop.if_exists && view.catalog.user_type(&schema, text).is_none() {
                continue;
            }
            let (schema_name, type_name) = (schema.clone(), text.to_owned());
            let names = move |module: &str| has_parameter_of(module, &schema_name, &type_name);
            let (database, tx) = self.context.engine();
            database.drop_type(tx, &schema, text, &names).await?;
        }
        Ok(())
    }
}

/// What a table type may not have: names of constraints, references to other tables.
fn check_elements(elements: &[tree::TableElement], options: &[tree::SettingOption]) -> Result<(), Fault> {
    if let Some(option) = options.iter().find(|option| option.name != "MEMORY_OPTIMIZED") {
        return Err(errors::unsupported(format!("The table type option {}", option.name)));
    }
    let check = |name: Option<&Name>, kind: &tree::ConstraintKind| {
        if name.is_some() {
            return Err(Box::new(SqlError::incorrect_syntax_keyword("CONSTRAINT")));
        }
        match kind {
            tree::ConstraintKind::Foreign(_) => Err(Box::new(SqlError::incorrect_syntax_keyword("FOREIGN"))),
            _ => Ok(()),
        }
    };
    for element in elements {
        match element {
            tree::TableElement::Constraint(constraint) => check(constraint.name.as_ref(), &constraint.kind)?,
            tree::TableElement::Column(column) => {
                for constraint in &column.constraints {
                    check(constraint.name.as_ref(), &constraint.kind)?;
                }
                if column.default.as_ref().is_some_and(|default| default.name.is_some()) {
                    return Err(Box::new(SqlError::incorrect_syntax_keyword("CONSTRAINT")));
                }
            }
            tree::TableElement::Index(_) | tree::TableElement::Period(..) => {}
        }
    }
    Ok(())
}

/// Whether a procedure or function has a parameter of the type, or returns it.
fn has_parameter_of(text: &str, schema: &str, name: &str) -> bool {
    has_parameter(text, &|written| {
        let own = written.schema.as_ref().map_or("dbo", Name::as_str);
        own.eq_ignore_ascii_case(schema) && written.name.is(name)
    })
}

fn has_parameter(text: &str, is_it: &dyn Fn(&tree::DataType) -> bool) -> bool {
    let Ok(batch) = tree::parse(text) else { return false };
    let of = |parameters: &[tree::Parameter]| parameters.iter().any(|parameter| is_it(&parameter.data_type));
    match batch.statements.first().map(|statement| &statement.kind) {
        Some(tree::StatementKind::CreateProcedure(procedure)) => of(&procedure.parameters),
        Some(tree::StatementKind::CreateFunction(function)) => {
            let returns = match &function.returns {
                tree::FunctionReturns::Scalar { data_type, .. } => is_it(data_type),
                _ => false,
            };
            returns || of(&function.parameters)
        }
        _ => false,
    }
}
