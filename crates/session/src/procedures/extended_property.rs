//! `sp_addextendedproperty`, `sp_updateextendedproperty` and `sp_dropextendedproperty`.

use super::{Arguments, Procedure, sql_variant};
use crate::security::securable_of;
use crate::views::extended_properties::{Path, VALUE_BYTES_MAX, is_of_partitions, stored_value};
use pikepole_engine::{Catalog, Permission, PropertyChange, PropertyHolder, Securable, SecurityToken};
use pikepole_query::{Argument, ExecutionContext};
use pikepole_types::{SqlError, Value};
use std::sync::Arc;

/// The parameters of the procedures that give a value, in order.
pub(super) const WITH_VALUE: &[&str] =
    &["@name", "@value", "@level0type", "@level0name", "@level1type", "@level1name", "@level2type", "@level2name"];

/// The parameters of the one that drops.
pub(super) const WITHOUT_VALUE: &[&str] =
    &["@name", "@level0type", "@level0name", "@level1type", "@level1name", "@level2type", "@level2name"];

/// Adds, changes or drops a property.
pub(super) async fn change(
    procedure: &Procedure,
    arguments: &Arguments<'_>,
    given: &[Argument],
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let wrong = || SqlError::invalid_parameter_or_option(procedure.name);
    let drops = procedure.parameters.len() == WITHOUT_VALUE.len();
    let value = if drops { None } else { sql_variant(given, 1, "@value")? };
    if matches!(&value, Some(Value::Variant(value)) if value.data_bytes() > VALUE_BYTES_MAX) {
        return Err(SqlError::property_too_long());
    }
    let change = match procedure.name {
        "sp_addextendedproperty" => PropertyChange::Add(stored_value(value)?),
        "sp_updateextendedproperty" => PropertyChange::Update(stored_value(value)?),
        _ => PropertyChange::Drop,
    };
    let name = arguments.text(0).filter(|name| (1..=128).contains(&name.encode_utf16().count())).ok_or_else(wrong)?;
    let first = if drops { 1 } else { 2 };
    let level = |at: usize| (arguments.text(first + 2 * at), arguments.text(first + 2 * at + 1));
    let path = Path::of([level(0), level(1), level(2)]).filter(|path| !path.is_open()).ok_or_else(wrong)?;
    let title = path.title();
    let token = context.token().clone();
    let database_name = context.database().name().to_owned();
    let place = |catalog: &Catalog| {
        let place = path.places(catalog, &database_name).into_iter().next();
        let place = place.filter(|place| may_change(&token, catalog, place.holder));
        let place = place.ok_or_else(|| SqlError::property_object_invalid(&title))?;
        Ok((place.holder, place.part))
    };
    context.begin_definition()?;
    let database = Arc::clone(context.database());
    database.change_property(context.transaction(), &place, &title, &name, change).await?;
    context.end_definition().await.map_err(|fault| *fault)
}

/// Who may change a definition may change its properties.
fn may_change(token: &SecurityToken, catalog: &Catalog, holder: PropertyHolder) -> bool {
    let securable = match holder {
        PropertyHolder::Database => Some(Securable::Database),
        PropertyHolder::Object(id) if catalog.definition_trigger_by_id(id).is_some() => Some(Securable::Database),
        PropertyHolder::Object(id) if is_of_partitions(catalog, id) => Some(Securable::Database),
        PropertyHolder::Object(id) => catalog.object_by_id(id).map(|object| catalog.securable(object)),
        PropertyHolder::Schema(id) => {
            let schema = catalog.schema_by_id(id);
            schema.map(|schema| Securable::Schema { id, owner: schema.owner })
        }
        PropertyHolder::Principal(id) => catalog.users().get(id).map(|principal| securable_of(principal)),
        PropertyHolder::Type(id) => catalog.user_type_by_id(id).map(|own| catalog.securable_type(own)),
    };
    securable.is_some_and(|securable| token.has(Permission::Alter, securable))
}
