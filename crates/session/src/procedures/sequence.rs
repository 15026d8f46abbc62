//! `sp_sequence_get_range`.

use crate::names;
use pikepole_engine::{Interrupted, Permission};
use pikepole_query::{Argument, ExecutionContext};
use pikepole_types::{Decimal, SqlError, SqlType, Value};

/// The parameters, in order.
pub(super) const PARAMETERS: &[&str] = &[
    "@sequence_name",
    "@range_size",
    "@range_first_value",
    "@range_last_value",
    "@range_cycle_count",
    "@sequence_increment",
    "@sequence_min_value",
    "@sequence_max_value",
];

/// How often a definition may change while numbers are asked for.
const TRIES: usize = 100;

/// Takes numbers, and leaves what they are in the arguments that want it.
pub(super) async fn get_range(arguments: &mut [Argument], context: &mut ExecutionContext) -> Result<(), SqlError> {
    let place = |wanted: usize, arguments: &[Argument]| {
        arguments.iter().enumerate().position(|(at, argument)| match &argument.name {
            None => at == wanted,
            Some(name) => name.eq_ignore_ascii_case(PARAMETERS[wanted]),
        })
    };
    let value = |wanted: usize, arguments: &[Argument]| place(wanted, arguments).map(|at| arguments[at].value.clone());
    let name = value(0, arguments).unwrap_or_default();
    let name = name.as_str().unwrap_or_default().to_owned();
    let size = value(1, arguments).and_then(|size| size.as_i64());
    let size = size.and_then(|size| u64::try_from(size).ok()).filter(|size| *size > 0);
    let size = size.ok_or_else(|| SqlError::sequence_argument_invalid(PARAMETERS[1]))?;
    let mut taken = None;
    for _ in 0..TRIES {
        let parts = names::parts(&name).ok_or_else(|| SqlError::invalid_object(&name))?;
        let view = context.catalog();
        let catalog = view.definitions();
        let schema = parts.schema.as_deref().unwrap_or("dbo");
        let object = catalog.object(schema, &parts.name).ok_or_else(|| SqlError::invalid_object(&name))?;
        let pikepole_engine::Object::Sequence(sequence) = object else {
            return Err(SqlError::not_a_sequence(&name));
        };
        if !context.token().has(Permission::Update, catalog.securable(object)) {
            let database = context.database().name().to_owned();
            return Err(SqlError::permission_denied("UPDATE", &sequence.name, database, &sequence.schema));
        }
        let sequence = sequence.clone();
        context.begin_definition()?;
        let database = context.database().clone();
        let numbers = database.drive(context.transaction(), |tx| database.try_numbers(tx, &sequence, size)).await;
        context.end_definition().await.map_err(|fault| *fault)?;
        match numbers {
            Ok(Some(range)) => {
                taken = Some((sequence, range));
                break;
            }
            Ok(None) => return Err(SqlError::sequence_range_too_large(&sequence.name)),
            Err(Interrupted::Error(error)) => return Err(*error),
            Err(Interrupted::Stale) => {}
        }
    }
    let (sequence, range) = taken.ok_or_else(|| SqlError::invalid_object(&name))?;
    let given = [
        (2, range.first),
        (3, range.last),
        (4, range.cycles),
        (5, sequence.increment),
        (6, sequence.minimum),
        (7, sequence.maximum),
    ];
    for (wanted, number) in given {
        let Some(argument) = place(wanted, arguments).map(|at| &mut arguments[at]).filter(|a| a.output) else {
            continue;
        };
        (argument.value, argument.ty) = match i64::try_from(number) {
            Ok(number) => (Value::BigInt(number), SqlType::BigInt),
            Err(_) => {
                let decimal = Decimal::new(number, 38, 0);
                (decimal.map_or(Value::Null, Value::Decimal), SqlType::Decimal { precision: 38, scale: 0 })
            }
        };
    }
    Ok(())
}
