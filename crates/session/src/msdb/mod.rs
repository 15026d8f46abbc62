//! msdb: the history of backups and restores, and the tables that scripts of administrators read.
//!
//! The database is made when a text first names it, or when the first backup has something to write there; `model` likewise.
//! There is no agent, mail or policy: their tables are there, empty and for whoever writes to them.

mod history;
mod tables;

use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_engine::{
    ColumnDefinition, DEFAULT_SCHEMA, Database, DatabaseOption, Identity, IndexDefinition, IndexExtras, IndexKind,
    MODEL, MSDB, MSDB_ID, RecoveryModel, Server, TableDefinition, Transaction,
};
use pikepole_types::{Collation, SqlError};

pub(crate) use history::{Event, Restored, backed_up, restored};
use tables::{TABLES, Use};

/// Whether the databases that a text may name are there.
#[derive(Debug, Default)]
pub(crate) struct SystemDatabases {
    model: AtomicBool,
    msdb: AtomicBool,
}

/// Whether a text has a word in it, whatever its case. Asked of every text: only what begins like the word is compared.
fn mentions(text: &str, word: &str) -> bool {
    let (bytes, word) = (text.as_bytes(), word.as_bytes());
    let is_of_word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_found = |at: usize| {
        let end = at + word.len();
        let is_same = bytes.get(at..end).is_some_and(|part| part.eq_ignore_ascii_case(word));
        is_same && at.checked_sub(1).is_none_or(|before| !is_of_word(before)) && !is_of_word(end)
    };
    let Some(first) = word.first() else { return false };
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), bytes).any(is_found)
}

/// Whether a text uses `model`. Many columns are called so: it must speak of databases too.
fn uses_model(text: &str) -> bool {
    mentions(text, MODEL) && (mentions(text, "DATABASE") || mentions(text, "USE"))
}

impl SystemDatabases {
    /// Makes the databases that a text names and that are not there yet. What fails then, the text hears of when it uses them.
    pub(crate) async fn prepare_for(&self, server: &Arc<Server>, session_id: i32, text: &str) {
        if !self.msdb.load(Ordering::Relaxed) && mentions(text, MSDB) {
            let _ = Box::pin(self.msdb(server, session_id)).await;
        }
        self.note_suspects(server, session_id).await;
        if !self.model.load(Ordering::Relaxed) && uses_model(text) {
            let made = Box::pin(server.system_database(MODEL)).await;
            self.model.store(made.is_ok(), Ordering::Relaxed);
        }
    }

    /// Writes pages that were found damaged into `suspect_pages`. Where msdb cannot be written, the next read of such a page
    /// notes it again.
    pub(crate) async fn note_suspects(&self, server: &Arc<Server>, session_id: i32) {
        let pages = server.take_suspect_pages();
        if pages.is_empty() {
            return;
        }
        let noted = async {
            if let Ok(msdb) = self.msdb(server, session_id).await {
                let _ = history::suspects(&msdb, session_id, &pages).await;
            }
        };
        Box::pin(noted).await;
    }

    /// msdb, with all its tables.
    ///
    /// # Errors
    /// What making or opening it ends with.
    pub(crate) async fn msdb(&self, server: &Arc<Server>, session_id: i32) -> Result<Arc<Database>, SqlError> {
        let database = server.system_database(MSDB).await?;
        // A user's own database of this name is left alone.
        if !self.msdb.load(Ordering::Relaxed) && database.id() == MSDB_ID {
            if database.options().recovery != RecoveryModel::Simple {
                server.set_database_option(MSDB, DatabaseOption::Recovery(RecoveryModel::Simple))?;
            }
            let mut tx = database.transaction(session_id);
            tx.begin();
            match make_tables(&database, &mut tx).await {
                Ok(()) => database.commit(&mut tx, pikepole_engine::Durability::Full).await?,
                Err(error) => {
                    database.rollback(&mut tx).await?;
                    return Err(error);
                }
            }
        }
        self.msdb.store(true, Ordering::Relaxed);
        Ok(database)
    }
}

/// Makes those that are missing: all of them, or what an earlier build did not have.
async fn make_tables(database: &Database, tx: &mut Transaction) -> Result<(), SqlError> {
    for (name, columns) in TABLES {
        if database.catalog(tx).table(DEFAULT_SCHEMA, name).is_some() {
            continue;
        }
        let column = |(name, ty, used): &(&str, pikepole_types::SqlType, Use)| ColumnDefinition {
            name: (*name).to_owned(),
            ty: *ty,
            nullable: *used == Use::Null,
            default: None,
            identity: (*used == Use::Identity).then_some(Identity { seed: 1, increment: 1 }),
            user_type: None,
            collation: Collation::default(),
        };
        let is_key = |used: Use| matches!(used, Use::Identity | Use::Key);
        let key = columns.iter().filter(|(_, _, used)| is_key(*used));
        let key: Vec<(String, bool)> = key.map(|(name, _, _)| ((*name).to_owned(), false)).collect();
        let primary_key = IndexDefinition {
            name: None,
            kind: IndexKind::PrimaryKey,
            unique: true,
            clustered: true,
            columns: key,
            extras: IndexExtras::default(),
            replaces: false,
        };
        let indexes = if primary_key.columns.is_empty() { Vec::new() } else { vec![primary_key] };
        let table = TableDefinition {
            schema: DEFAULT_SCHEMA.to_owned(),
            name: (*name).to_owned(),
            columns: columns.iter().map(column).collect(),
            indexes,
            filegroup: None,
            text_filegroup: None,
            memory: None,
        };
        match database.create_table(tx, table).await {
            // Another session was first.
            Err(error) if error.number == 2714 => {}
            made => drop(made?),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{mentions, uses_model};

    #[test]
    fn words_are_found_in_any_case() {
        assert!(mentions("SELECT * FROM MsDb.dbo.backupset", "msdb"));
        assert!(mentions("msdb", "msdb") && !mentions("msd", "msdb") && !mentions("", "msdb"));
        assert!(mentions("[msdb]..t", "msdb") && !mentions("my_msdb", "msdb") && !mentions("msdb2", "msdb"));
        assert!(uses_model("ALTER DATABASE [model] SET RECOVERY FULL") && uses_model("use Model"));
        assert!(!uses_model("SELECT model FROM cars") && !uses_model("SELECT recovery_model_desc FROM sys.databases"));
    }
}
