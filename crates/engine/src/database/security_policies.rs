//! CREATE, ALTER and DROP SECURITY POLICY as calls, each part of the caller's transaction.
//!
//! Predicates are part of what a statement does to a table, as triggers are: each change of those that are looked at gives the table a
//! new version, under a lock that nobody else is in the table with.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::Database;
use super::definitions::user_schema;
use super::now_us;
use crate::catalog::definition::{Module, StoredObject};
use crate::catalog::property::PropertyHolder;
use crate::catalog::rows::RowKind;
use crate::catalog::security_policy::SecurityPolicy;
use crate::catalog::{Catalog, Object};
use crate::security::Class;
use crate::transaction::Transaction;

/// Changes a security policy, by what the catalog says as the change is made.
pub type PolicyChange<'a> = &'a (dyn Fn(&Catalog, &mut SecurityPolicy) -> Result<(), SqlError> + Send + Sync);

impl Database {
    /// CREATE SECURITY POLICY: `fill` is given one that is enabled and bound to the schema, and has no predicates.
    ///
    /// # Errors
    /// 2714 when the name is taken; 2760 for an unknown schema; 33264 for a table of another enabled policy; those of `fill`.
    pub async fn create_security_policy(
        &self,
        tx: &mut Transaction,
        schema: &str,
        name: &str,
        fill: PolicyChange<'_>,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let schema = user_schema(&catalog, schema)?;
        if catalog.object(&schema.name, name).is_some() || catalog.constraint_exists(schema.schema_id, name) {
            return Err(SqlError::object_exists(name));
        }
        let now = now_us();
        let module = Module {
            object_id: self.new_object_id(),
            schema_id: schema.schema_id,
            schema: schema.name.clone(),
            name: name.to_owned(),
            text: String::new(),
            created_us: now,
            modified_us: now,
            execute_as: None,
            ansi_nulls: true,
            quoted_identifier: true,
            columns: Vec::new(),
        };
        let mut policy = SecurityPolicy {
            module,
            enabled: true,
            schema_bound: true,
            not_for_replication: false,
            predicates: Vec::new(),
            last_predicate: 0,
        };
        fill(&catalog, &mut policy)?;
        self.put_security_policy(tx, &mut catalog, None, policy).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// ALTER SECURITY POLICY.
    ///
    /// # Errors
    /// 33268 when there is none; 33264 for a table of another enabled policy; those of `change`.
    pub async fn alter_security_policy(
        &self,
        tx: &mut Transaction,
        schema: &str,
        name: &str,
        change: PolicyChange<'_>,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::policy_object_missing(name);
        let old = catalog.security_policy(schema, name).cloned().ok_or_else(missing)?;
        let mut policy = SecurityPolicy::clone(&old);
        change(&catalog, &mut policy)?;
        policy.module.modified_us = now_us();
        self.put_security_policy(tx, &mut catalog, Some(&old), policy).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// DROP SECURITY POLICY.
    ///
    /// # Errors
    /// 3701 when there is none.
    pub async fn drop_security_policy(&self, tx: &mut Transaction, schema: &str, name: &str) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::object_missing("drop", "security policy", name);
        let policy = catalog.security_policy(schema, name).cloned().ok_or_else(missing)?;
        let object_id = policy.module.object_id;
        self.renew_targets(tx, &mut catalog, [Some(&*policy), None]).await?;
        self.remove_rows(tx, RowKind::Object, object_id, 0).await?;
        self.forget_grants(tx, &mut catalog, Class::Object, object_id).await?;
        self.forget_properties(tx, &mut catalog, PropertyHolder::Object(object_id)).await?;
        catalog.remove(object_id);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    async fn put_security_policy(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        old: Option<&SecurityPolicy>,
        policy: SecurityPolicy,
    ) -> Result<(), SqlError> {
        check_alone(catalog, &policy)?;
        self.renew_targets(tx, catalog, [old, Some(&policy)]).await?;
        self.store_object(tx, &StoredObject::SecurityPolicy(policy.clone())).await?;
        catalog.put(Object::SecurityPolicy(Arc::new(policy)));
        Ok(())
    }

    /// Gives the tables new versions whose predicates are looked at before or behind the change.
    async fn renew_targets(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        policies: [Option<&SecurityPolicy>; 2],
    ) -> Result<(), SqlError> {
        let enabled = policies.into_iter().flatten().filter(|policy| policy.enabled);
        let mut targets: Vec<i32> = enabled.flat_map(|policy| &policy.predicates).map(|own| own.target).collect();
        // All who lock several tables do it in one order.
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            self.renew_parent(tx, catalog, target).await?;
        }
        Ok(())
    }
}

/// A table has predicates of one enabled policy.
fn check_alone(catalog: &Catalog, policy: &SecurityPolicy) -> Result<(), SqlError> {
    let named = |policy: &SecurityPolicy| format!("{}.{}", policy.module.schema, policy.module.name);
    for predicate in policy.predicates.iter().filter(|_| policy.enabled) {
        let mut others = catalog.predicates_on(predicate.target).map(|(other, _)| other);
        if let Some(other) = others.find(|other| other.module.object_id != policy.module.object_id) {
            let table = catalog.table_by_id(predicate.target).map_or_else(String::new, |table| table.full_name());
            return Err(SqlError::policy_meets_enabled(named(policy), table, named(other)));
        }
    }
    Ok(())
}
