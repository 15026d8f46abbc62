//! Users' messages as calls, each part of the caller's transaction. The server's are those of master.

use pikepole_types::SqlError;

use super::Database;
use crate::catalog::definition::StoredObject;
use crate::catalog::message::UserMessage;
use crate::catalog::rows::RowKind;
use crate::transaction::Transaction;

/// What becomes of a message: from what it is, if it is there, to what it is to be; None: it goes.
pub type MessageChange<'a> = &'a (dyn Fn(Option<&UserMessage>) -> Result<Option<UserMessage>, SqlError> + Send + Sync);

impl Database {
    /// Adds, changes or drops the message of this number.
    ///
    /// # Errors
    /// What `change` reports.
    pub async fn change_message(
        &self,
        tx: &mut Transaction,
        number: i32,
        change: MessageChange<'_>,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        match change(catalog.message(number))? {
            Some(message) => {
                self.store_object(tx, &StoredObject::Message(message.clone())).await?;
                catalog.put_message(message);
            }
            None => {
                self.remove_rows(tx, RowKind::Message, number, 0).await?;
                catalog.remove_message(number);
            }
        }
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }
}
