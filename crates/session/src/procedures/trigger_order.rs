//! `sp_settriggerorder`: which AFTER trigger of a table runs first, and which last.

use super::Arguments;
use crate::names;
use crate::unsupported;
use pikepole_engine::{DEFAULT_SCHEMA, Object, Permission, TriggerEvent, TriggerPlace};
use pikepole_query::ExecutionContext;
use pikepole_types::SqlError;

/// The parameters, in order.
pub(super) const PARAMETERS: &[&str] = &["@triggername", "@order", "@stmttype", "@namespace"];

/// Gives a trigger its place among those of one event.
pub(super) async fn set(arguments: &Arguments<'_>, context: &mut ExecutionContext) -> Result<(), SqlError> {
    let text = |place: usize| arguments.text(place).unwrap_or_default();
    let invalid = || SqlError::invalid_parameter_or_option("sys.sp_settriggerorder");
    let (name, order, event) = (text(0), text(1).to_lowercase(), text(2).to_uppercase());
    if !text(3).is_empty() {
        return Err(unsupported(format!("sp_settriggerorder with @namespace = '{}'", text(3))));
    }
    let place = match order.as_str() {
        "first" => TriggerPlace::First,
        "last" => TriggerPlace::Last,
        "none" => TriggerPlace::Anywhere,
        _ => return Err(invalid()),
    };
    let event = TriggerEvent::ALL.into_iter().find(|own| own.name() == event).ok_or_else(invalid)?;
    let missing =
        || SqlError::new(15165, 16, 1, format!("Could not find object '{name}' or you do not have permission."));
    let parts = names::parts(&name).ok_or_else(missing)?;
    let view = context.catalog();
    let catalog = view.definitions();
    let schema = parts.schema.as_deref().unwrap_or(DEFAULT_SCHEMA);
    let trigger = catalog.trigger(schema, &parts.name).cloned().ok_or_else(missing)?;
    let parent: &Object = catalog.object_by_id(trigger.parent_id).ok_or_else(missing)?;
    if !context.token().has(Permission::Alter, catalog.securable(parent)) {
        return Err(missing());
    }
    if trigger.instead_of {
        return Err(SqlError::instead_of_trigger_order(&trigger.module.name));
    }
    if !trigger.events.contains(&event) {
        return Err(SqlError::trigger_of_another(&trigger.module.name, event.name().to_lowercase()));
    }
    context.begin_definition()?;
    let database = context.database().clone();
    let placed = database.place_trigger(context.transaction(), &trigger, event, place).await;
    context.end_definition().await.map_err(|fault| *fault)?;
    placed
}
