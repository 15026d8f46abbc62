//! CREATE, ALTER and DROP SECURITY POLICY.

use super::Definer;
use crate::bind::{self, Names};
use crate::errors;
use crate::expression::Fault;
use pikepole_engine::{
    BlockedChange, Catalog, Object, Permission, PredicateKind, Securable, SecurityPolicy, SecurityPredicate,
};
use pikepole_tsql::{self as tree, ObjectName, PredicateVerb};
use pikepole_types::SqlError;

/// What is done to a predicate, with its names looked up.
struct Change {
    verb: PredicateVerb,
    kind: PredicateKind,
    target: i32,
    /// `schema.table`
    table: String,
    /// The call, as it is stored.
    call: String,
}

/// The kind of a predicate that a statement names.
fn kind_of(change: &tree::PredicateChange) -> PredicateKind {
    if !change.block {
        return PredicateKind::Filter;
    }
    PredicateKind::Block(change.operation.map(|operation| match operation {
        tree::BlockOperation::AfterInsert => BlockedChange::AfterInsert,
        tree::BlockOperation::AfterUpdate => BlockedChange::AfterUpdate,
        tree::BlockOperation::BeforeUpdate => BlockedChange::BeforeUpdate,
        tree::BlockOperation::BeforeDelete => BlockedChange::BeforeDelete,
    }))
}

/// Makes the changes, each seeing those before it; but what is added meets also what the same statement drops.
fn apply(changes: &[Change], policy: &mut SecurityPolicy) -> Result<(), SqlError> {
    let old = policy.predicates.clone();
    let name = format!("{}.{}", policy.module.schema, policy.module.name);
    for Change { verb, kind, target, table, call } in changes {
        let own = |predicate: &SecurityPredicate| predicate.target == *target && predicate.kind == *kind;
        let place = policy.predicates.iter().position(own);
        match (verb, place) {
            (PredicateVerb::Add, _) => {
                let id = policy.last_predicate + 1;
                let predicate = SecurityPredicate { id, target: *target, call: call.clone(), kind: *kind };
                let exists = |state| {
                    let error = SqlError::predicate_exists(kind.name(), table, &name);
                    Err(SqlError { state, ..error })
                };
                if old.iter().any(|other| other.meets(&predicate)) {
                    return exists(2);
                }
                if policy.predicates.iter().any(|other| other.meets(&predicate)) {
                    return exists(1);
                }
                policy.last_predicate = id;
                policy.predicates.push(predicate);
            }
            (PredicateVerb::Alter, Some(place)) => policy.predicates[place].call.clone_from(call),
            (PredicateVerb::Drop, Some(place)) => {
                policy.predicates.remove(place);
            }
            (PredicateVerb::Alter | PredicateVerb::Drop, None) => {
                return Err(SqlError::predicate_missing(&name, table));
            }
        }
    }
    Ok(())
}

impl Definer<'_> {
    /// CREATE and ALTER SECURITY POLICY.
    pub(super) async fn define_security_policy(&mut self, statement: &tree::SecurityPolicy) -> Result<(), Fault> {
        let shown = statement.name.dotted();
        let verb = if statement.alter { "ALTER" } else { "CREATE" };
        if statement.name.database.is_some() {
            return Err(Box::new(SqlError::database_prefix_not_allowed(format!("{verb} SECURITY POLICY"))));
        }
        if statement.alter && statement.schema_bound.is_some() {
            return Err(Box::new(SqlError::incorrect_syntax("SCHEMABINDING")));
        }
        let schema = self.schema_of(&statement.name, statement.alter)?;
        let name = statement.name.name.text.as_str();
        let view = self.context.catalog();
        let old = match view.catalog.object(&schema, name) {
            Some(Object::SecurityPolicy(policy)) => Some(policy.schema_bound),
            Some(_) if statement.alter => return Err(Box::new(SqlError::not_a_security_policy(shown))),
            _ => None,
        };
        if statement.alter && old.is_none() {
            return Err(Box::new(SqlError { state: 2, ..SqlError::policy_object_missing(shown) }));
        }
        let bound = old.or(statement.schema_bound).unwrap_or(true);
        let mut changes = Vec::new();
        for change in &statement.changes {
            changes.push(self.predicate_change(change, bound, &shown, verb)?);
        }
        let (enabled, is_for_all) = (statement.enabled, !statement.not_for_replication);
        let fill = move |_: &Catalog, policy: &mut SecurityPolicy| {
            policy.schema_bound = bound;
            policy.enabled = enabled.unwrap_or(policy.enabled);
            policy.not_for_replication |= !is_for_all;
            apply(&changes, policy)
        };
        let (database, tx) = self.context.engine();
        match statement.alter {
            true => database.alter_security_policy(tx, &schema, name, &fill).await?,
            false => database.create_security_policy(tx, &schema, name, &fill).await?,
        }
        Ok(())
    }

    /// The table that a predicate is about, and its name.
    fn predicate_target(&self, change: &tree::PredicateChange) -> Result<std::sync::Arc<crate::access::Table>, Fault> {
        let (name, kind) = (&change.target, if change.block { "BLOCK" } else { "FILTER" });
        if name.is_temporary() {
            return Err(Box::new(SqlError { severity: 15, ..SqlError::predicate_on_temporary() }));
        }
        if name.database.is_some() {
            return Err(Box::new(SqlError::database_prefix_not_allowed(format!("ADD/ALTER {kind} PREDICATE"))));
        }
        let view = self.context.catalog();
        let place = view.place_itself(name)?;
        match place.as_ref().and_then(|place| place.object()) {
            Some(Object::Table(_)) => {}
            Some(Object::View(_)) => return Err(errors::unsupported("A security predicate on a view")),
            Some(_) => return Err(Box::new(SqlError::predicate_target_invalid(name.dotted()))),
            None => return Err(Box::new(SqlError::policy_object_missing(name.dotted()))),
        }
        let table = view.table(name)?.ok_or_else(|| SqlError::policy_object_missing(name.dotted()))?;
        if change.block && table.engine.is_history() {
            return Err(Box::new(SqlError::block_predicate_on_history(&table.display)));
        }
        Ok(table)
    }

    fn predicate_change(
        &self,
        change: &tree::PredicateChange,
        bound: bool,
        policy: &str,
        verb: &str,
    ) -> Result<Change, Fault> {
        let table = self.predicate_target(change)?;
        let call = match &change.call {
            None => String::new(),
            Some(call) => {
                let call = self.predicate_call(call, bound, policy)?;
                let view = self.context.catalog();
                let names = Names::of(&view, &*self.host);
                bind::check_predicate(&call, &table, &names).map_err(|fault| match fault.number {
                    137 => Box::new(SqlError::variables_in_statement(format!("{verb} SECURITY POLICY"))),
                    _ => fault,
                })?;
                let call = tree::Expr::new(tree::ExprKind::Function(Box::new(call)), tree::Span::default());
                tree::stored_expression(&call)
            }
        };
        let (verb, kind, target) = (change.verb, kind_of(change), table.object_id);
        Ok(Change { verb, kind, target, table: table.qualified_name(), call })
    }

    /// A call with the whole name of its function, which the session may read.
    fn predicate_call(
        &self,
        call: &tree::FunctionCall,
        bound: bool,
        policy: &str,
    ) -> Result<tree::FunctionCall, Fault> {
        let name = &call.name;
        if name.database.is_some() || (bound && name.schema.is_none()) {
            return Err(Box::new(SqlError::schema_bound_name_invalid("security policy", policy, name.dotted())));
        }
        let missing = || Box::new(SqlError::predicate_function_missing(name.dotted()));
        let view = self.context.catalog();
        let place = view.place_itself(name)?.ok_or_else(missing)?;
        let Some(object @ Object::Function(function)) = place.object() else { return Err(missing()) };
        if bound && !bind::is_bound(&function.text) {
            return Err(Box::new(SqlError::schema_bound_to_unbound("security policy", policy, name.dotted())));
        }
        if !self.context.token().has(Permission::Select, view.catalog.securable(object)) {
            let database = self.context.database().name();
            return Err(Box::new(SqlError::permission_denied("SELECT", &function.name, database, &function.schema)));
        }
        let schema = tree::Name { text: function.schema.clone(), span: name.span() };
        Ok(tree::FunctionCall { name: ObjectName { schema: Some(schema), ..name.clone() }, ..call.clone() })
    }

    /// What CREATE and ALTER SECURITY POLICY need; a schema for a new one is asked for beside it.
    ///
    /// # Errors
    /// 262 and then 15247, or 33268 for one that is there.
    pub(super) fn check_security_policy(&mut self, statement: &tree::SecurityPolicy) -> Result<(), Fault> {
        if self.context.token().has(Permission::AlterAnySecurityPolicy, Securable::Database) {
            return Ok(());
        }
        if statement.alter {
            let missing = SqlError::policy_object_missing(statement.name.dotted());
            return Err(Box::new(SqlError { state: 7, ..missing }));
        }
        let denied = SqlError::database_permission_denied("ALTER ANY SECURITY POLICY", self.context.database().name());
        self.output.error(&denied.at_line(self.line()));
        Err(Box::new(SqlError { state: 7, ..SqlError::no_permission() }))
    }
}
