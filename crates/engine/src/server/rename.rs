//! ALTER DATABASE ... MODIFY NAME: a database is closed, and opened again under another name. Its folder keeps the name that it had.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::backups::Taken;
use super::{Entry, MASTER, Server, read, system_databases};
use crate::database::DatabaseFile;
use crate::temporary::TEMPDB;

/// The error of a database that somebody is in.
const IN_USE: i32 = 3101;

fn is_of_the_system(name: &str) -> bool {
    [MASTER, TEMPDB].iter().any(|own| name.eq_ignore_ascii_case(own)) || system_databases::id_of(name).is_some()
}

impl Server {
    /// Whether a database can be given another name, but for who is in it.
    ///
    /// # Errors
    /// 911, 926, 927, 942 for one that is not open; 5016 for one of the system's; 1801 when there is one of the new name.
    pub fn check_rename(&self, name: &str, new: &str) -> Result<(), SqlError> {
        let is_new = !name.eq_ignore_ascii_case(new);
        if is_of_the_system(name) {
            return Err(SqlError::system_database_not_renamed(name.to_lowercase()));
        }
        self.database(name)?;
        if is_new && (is_of_the_system(new) || read(&self.databases).contains_key(&new.to_lowercase())) {
            return Err(SqlError::database_exists(new));
        }
        Ok(())
    }

    /// Gives a database that nobody is in another name.
    ///
    /// # Errors
    /// As [`Server::check_rename`]; 5030 when sessions use it; what closing it ends with: it has its old name then.
    pub async fn rename_database(self: &Arc<Self>, name: &str, new: &str) -> Result<(), SqlError> {
        self.check_rename(name, new)?;
        let key = name.to_lowercase();
        self.until_left(&key).await;
        let database = self.database(name)?;
        let in_use = |error: SqlError| match error.number {
            IN_USE => SqlError { state: 2, ..SqlError::database_not_locked_exclusively() },
            _ => error,
        };
        let taken = self.take(name).map_err(in_use)?;
        let place = match key == new.to_lowercase() {
            true => None,
            false => Some(self.take_new(new)?),
        };
        let folder = database.folder().to_path_buf();
        let closed = database.close().await;
        let file = database.database_file();
        // Compiled statements of sessions may still hold its tables.
        database.statistics().retire();
        drop(database);
        let renamed = DatabaseFile { name: new.to_owned(), ..file.clone() };
        let noted = match closed {
            Ok(()) => self.note(&folder, &renamed).await,
            failed => failed,
        };
        match noted {
            Ok(()) => {
                let entry = self.open_file(folder, renamed).await;
                become_named(taken, place, entry);
            }
            Err(_) => self.reopen(taken, &folder, file).await,
        }
        noted
    }
}

/// The database has its new place in the list, and not its old one any more.
fn become_named(taken: Taken, place: Option<Taken>, entry: Entry) {
    match place {
        Some(place) => {
            place.becomes(entry);
            taken.vanishes();
        }
        None => taken.becomes(entry),
    }
}

#[cfg(test)]
mod tests {
    use crate::database::{ScopedName, ScopedValue};
    use crate::server::DatabaseOption;
    use crate::tests::{server, stop};
    use pikepole_machine::SimulatedDisk;
    use pikepole_types::Collation;

    #[test]
    fn a_name_and_a_configuration_persist_and_the_old_name_is_free() {
        let disk = SimulatedDisk::new(31);
        let first = server(&disk);
        first.schedulers().block_on(async {
            first.create_database("shop", Collation::DEFAULT).await.expect("a new database");
            let maxdop = ScopedName::of("MAXDOP").expect("it is one");
            let option = DatabaseOption::Scoped(maxdop, false, ScopedValue::Of(3));
            first.set_database_option("shop", option).expect("it can be set");
            let database = first.database("shop").expect("it is there");
            database.enter();
            let refused = first.rename_database("shop", "store").await.expect_err("somebody is in it");
            assert_eq!((refused.number, refused.state), (5030, 2));
            database.leave();
            drop(database);
            first.rename_database("shop", "store").await.expect("nobody is in it");
            assert_eq!(first.database("shop").map(drop).map_err(|error| error.number), Err(911));
            first.create_database("shop", Collation::DEFAULT).await.expect("the name is free");
            let taken = first.rename_database("store", "SHOP").await.expect_err("there is one");
            assert_eq!(taken.number, 1801);
        });
        stop(&first);
        drop(first);
        let second = server(&disk);
        let degree = |name: &str| second.database(name).map(|database| database.degree());
        assert_eq!((degree("store"), degree("shop")), (Ok(3), Ok(0)));
        second.schedulers().block_on(async {
            second.drop_database("shop").await.expect("nobody is in it");
            second.drop_database("store").await.expect("nobody is in it");
        });
        stop(&second);
    }
}
