//! `sp_getapplock` and `sp_releaseapplock`. The lock modes are those that the engine's tables have: an Update lock is held as
//! an Exclusive one, an IntentShared lock as a Shared one, which keeps more out than SQL Server's.

use super::Arguments;
use pikepole_engine::LockMode;
use pikepole_query::{ExecutionContext, LockOwner};
use pikepole_types::{SqlError, Value};

/// Characters of a resource's name that count.
const NAME_MAX: usize = 255;
/// The principal that a lock belongs to when none is named.
const PUBLIC: &str = "public";

const GRANTED: i32 = 0;
const GRANTED_AFTER_WAITING: i32 = 1;
const TIMED_OUT: i32 = -1;
const DEADLOCK: i32 = -3;
/// An argument is not valid, or the call is for another reason none.
pub(super) const FAILED: i32 = -999;

fn invalid(parameter: &str) -> SqlError {
    SqlError::new(
        15021,
        16,
        1,
        format!("Invalid value given for parameter {parameter}. Specify a valid parameter value."),
    )
}

fn is_one_of(text: Option<&str>, word: &str) -> bool {
    text.is_some_and(|text| text.eq_ignore_ascii_case(word))
}

fn mode(text: Option<&str>) -> Result<LockMode, SqlError> {
    Ok(match text {
        text if is_one_of(text, "Shared") || is_one_of(text, "IntentShared") => LockMode::S,
        text if is_one_of(text, "IntentExclusive") => LockMode::IX,
        text if is_one_of(text, "Update") || is_one_of(text, "Exclusive") => LockMode::X,
        _ => return Err(invalid("@LockMode")),
    })
}

fn owner(text: Option<&str>, context: &ExecutionContext) -> Result<LockOwner, SqlError> {
    if is_one_of(text, "Session") {
        return Ok(LockOwner::Session);
    }
    if text.is_some() && !is_one_of(text, "Transaction") {
        return Err(invalid("@LockOwner"));
    }
    if context.state.transaction_count == 0 {
        let text = "You attempted to acquire a transactional application lock without an active transaction.";
        return Err(SqlError::new(15626, 16, 1, text));
    }
    Ok(LockOwner::Transaction)
}

/// What two callers mean the same lock by: the principal, found without regard to case, and the resource.
struct Resource {
    principal: String,
    name: String,
}

impl Resource {
    fn of(
        resource: Option<String>,
        principal: Option<String>,
        context: &ExecutionContext,
    ) -> Result<Resource, SqlError> {
        let name: String = resource.ok_or_else(|| invalid("@Resource"))?.chars().take(NAME_MAX).collect();
        let principal = principal.unwrap_or_else(|| PUBLIC.to_owned()).to_lowercase();
        let catalog = context.catalog();
        if catalog.definitions().users().find(&principal).is_none() {
            return Err(invalid("@DbPrincipal"));
        }
        Ok(Resource { principal, name })
    }

    fn key(&self) -> String {
        format!("{}\0{}", self.principal, self.name)
    }
}

/// `sp_getapplock @Resource, @LockMode, @LockOwner, @LockTimeout, @DbPrincipal`; its return status.
pub(super) async fn get(arguments: &Arguments<'_>, context: &mut ExecutionContext) -> Result<i32, SqlError> {
    let resource = Resource::of(arguments.text_as_given(0), arguments.text(4), context)?;
    let mode = mode(arguments.text(1).as_deref())?;
    let owner = owner(arguments.text(2).as_deref(), context)?;
    let timeout_ms = match arguments.text(3) {
        None => context.settings.lock_timeout_ms,
        Some(text) => text.trim().parse().ok().filter(|&ms| ms >= -1).ok_or_else(|| invalid("@LockTimeout"))?,
    };
    match context.lock_name(&resource.key(), mode, owner, timeout_ms).await {
        Ok(false) => Ok(GRANTED),
        Ok(true) => Ok(GRANTED_AFTER_WAITING),
        Err(error) if error.number == 1222 => Ok(TIMED_OUT),
        Err(error) if error.number == 1205 => Ok(DEADLOCK),
        Err(error) => Err(*error),
    }
}

/// `sp_releaseapplock @Resource, @LockOwner, @DbPrincipal`; its return status.
pub(super) fn release(arguments: &Arguments<'_>, context: &mut ExecutionContext) -> Result<i32, SqlError> {
    let resource = Resource::of(arguments.text_as_given(0), arguments.text(2), context)?;
    let owner = owner(arguments.text(1).as_deref(), context)?;
    if context.unlock_name(&resource.key(), owner) {
        return Ok(GRANTED);
    }
    let Resource { principal, name } = resource;
    let text = format!(
        "Cannot release the application lock (Database Principal: '{principal}', Resource: '{name}') because it is not currently held."
    );
    Err(SqlError::new(1223, 16, 1, text))
}

/// The arguments that the functions have in common: principal, resource, and at `owner` the owner.
fn named(arguments: &[Value], owner_at: usize, context: &ExecutionContext) -> Result<(String, LockOwner), SqlError> {
    let text = |place: usize| arguments.get(place).and_then(Value::as_str).map(str::to_owned);
    let resource = Resource::of(text(1), text(0), context)?;
    Ok((resource.key(), owner(text(owner_at).as_deref(), context)?))
}

/// `APPLOCK_MODE(principal, resource, owner)`: how the owner holds the lock.
pub(crate) fn mode_held(arguments: &[Value], context: &ExecutionContext) -> Result<Option<Value>, SqlError> {
    let (key, owner) = named(arguments, 2, context)?;
    let mode = match context.name_mode(&key, owner) {
        None => "NoLock",
        Some(LockMode::S) => "Shared",
        Some(LockMode::IX) => "IntentExclusive",
        Some(_) => "Exclusive",
    };
    Ok(Some(Value::from(mode)))
}

/// `APPLOCK_TEST(principal, resource, mode, owner)`: whether the owner would get the lock at once.
pub(crate) fn test(arguments: &[Value], context: &ExecutionContext) -> Result<Option<Value>, SqlError> {
    let (key, owner) = named(arguments, 3, context)?;
    let mode = mode(arguments.get(2).and_then(Value::as_str))?;
    Ok(Some(Value::SmallInt(context.name_is_free(&key, mode, owner).into())))
}
