//! Changing principals in the right database and the right transaction.

use super::is_master;
use crate::host::SessionHost;
use crate::unsupported;
use pikepole_engine::{Database, Durability, MASTER, Principal, PrincipalKind, Principals, Transaction};
use pikepole_query::ExecutionContext;
use pikepole_types::SqlError;
use std::sync::Arc;

type Fill = Box<dyn FnOnce(&mut Principal, &Principals) -> Result<(), SqlError> + Send>;
type Alter = Box<dyn FnOnce(&mut Principal) -> Result<(), SqlError> + Send>;

/// One change.
pub(super) enum Change {
    Create(String, PrincipalKind, Fill),
    Alter(i32, PrincipalKind, Alter),
    Drop(i32, PrincipalKind),
}

impl Change {
    /// A principal is made.
    pub(super) fn create(
        name: &str,
        kind: PrincipalKind,
        fill: impl FnOnce(&mut Principal, &Principals) -> Result<(), SqlError> + Send + 'static,
    ) -> Change {
        Change::Create(name.to_owned(), kind, Box::new(fill))
    }

    /// A principal is changed.
    pub(super) fn alter(
        principal: &Principal,
        alter: impl FnOnce(&mut Principal) -> Result<(), SqlError> + Send + 'static,
    ) -> Change {
        Change::Alter(principal.id, principal.kind, Box::new(alter))
    }

    fn is_of_server(&self) -> bool {
        let (Change::Create(_, kind, _) | Change::Alter(_, kind, _) | Change::Drop(_, kind)) = self;
        matches!(kind, PrincipalKind::Login | PrincipalKind::ServerRole)
    }

    async fn make(self, database: &Database, tx: &mut Transaction) -> Result<(), SqlError> {
        match self {
            Change::Create(name, kind, fill) => database.create_principal(tx, &name, kind, fill).await.map(|_| ()),
            Change::Alter(id, kind, alter) => database.change_principal(tx, id, kind, alter).await,
            Change::Drop(id, kind) => database.drop_principal(tx, id, kind).await,
        }
    }
}

/// Makes changes of one level, all or none of them.
pub(super) async fn apply(
    host: &SessionHost,
    context: &mut ExecutionContext,
    changes: Vec<Change>,
) -> Result<(), SqlError> {
    let of_server = changes.first().is_some_and(Change::is_of_server);
    if !of_server || is_master(context) {
        context.begin_definition()?;
        let database = Arc::clone(context.database());
        for change in changes {
            change.make(&database, context.transaction()).await?;
        }
        return context.end_definition().await.map_err(|fault| *fault);
    }
    if context.state.transaction_count > 0 {
        return Err(unsupported(
            "Changing logins or server roles within a transaction of another database than master",
        ));
    }
    let master = host.server.database(MASTER)?;
    let mut tx = master.transaction(host.session_id);
    let mut made = Ok(());
    for change in changes {
        if made.is_ok() {
            made = change.make(&master, &mut tx).await;
        }
    }
    match made {
        Ok(()) => master.commit(&mut tx, Durability::Full).await,
        Err(error) => {
            // What went wrong first says more than what the rollback met.
            let _ = master.rollback(&mut tx).await;
            Err(error)
        }
    }
}
