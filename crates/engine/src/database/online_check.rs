//! Checking the pages and the catalog of a database that is in use.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use pikepole_storage::OnlineCheck;
use pikepole_types::SqlError;

use super::Database;
use crate::catalog::Catalog;
use crate::error::{Interrupted, Place};
use crate::table::{CheckWatch, Table};

/// The session that the transaction of a check of a closed database names.
const CHECK_SESSION: i32 = 5;

/// A page that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFinding {
    /// The table and the index that it belongs to (0: a heap); None: the catalog, the map, or a definition that is on its
    /// way.
    pub owner: Option<(i32, i32)>,
    /// The page's number in the data file.
    pub page: u32,
    /// The number of the heap or index as the views of partitions have it.
    pub storage: u32,
    /// What is wrong.
    pub why: String,
}

/// What a check of pages has seen.
#[derive(Debug, Default)]
pub struct PageCheck {
    /// Pages looked at.
    pub pages: u64,
    /// What is wrong.
    pub findings: Vec<PageFinding>,
}

impl Table {
    /// The index that a tree or heap is of; None: it is not this table's. Long values are the rows' own.
    fn index_of_storage(&self, object: u32) -> Option<i32> {
        let own = self.storages().any(|storage| storage.object == object);
        let index = self.indexes.iter().find(|index| !index.disabled && index.storage.object == object);
        own.then(|| index.map_or_else(|| self.base_index_id(), |index| index.index_id))
    }
}

impl Database {
    /// Looks at every page that is in use, or at those of one table, while work goes on. `watch` hears of the percents that
    /// are done.
    ///
    /// # Errors
    /// I/O that fails; what `watch` ends with. Damage is a [`PageFinding`].
    pub async fn check_pages(
        self: &Arc<Self>,
        table: Option<&Table>,
        watch: CheckWatch<'_>,
    ) -> Result<PageCheck, SqlError> {
        let objects: Option<Arc<HashSet<u32>>> =
            table.map(|table| Arc::new(table.storages().map(|storage| storage.object).collect()));
        let mut check = OnlineCheck::default();
        loop {
            let (database, objects) = (Arc::clone(self), objects.clone());
            let (returned, more) = pikepole_scheduler::run_blocking(move || {
                let wanted = |object| objects.as_ref().is_none_or(|objects| objects.contains(&object));
                let more = check.step(database.store(), &wanted);
                (check, more)
            })
            .await;
            check = returned;
            let place = Place { database: self, object: "", session_id: 0 };
            let more = more.map_err(|error| place.storage(&error))?;
            watch(check.percent(self.store()))?;
            if !more {
                break;
            }
        }
        let catalog = self.current_catalog();
        let findings = check.findings.iter().map(|finding| PageFinding {
            owner: owner_of(&catalog, finding.object),
            page: finding.page.0,
            storage: finding.object,
            why: finding.what.clone(),
        });
        Ok(PageCheck { pages: check.pages, findings: findings.collect() })
    }

    /// What does not hold between definitions: schemas that things are in, tables that keys refer to, storage that two claim.
    pub fn check_catalog(&self) -> Vec<String> {
        let catalog = self.current_catalog();
        let mut wrong = Vec::new();
        let mut storages: BTreeMap<u32, String> = BTreeMap::new();
        for table in catalog.tables() {
            let name = table.full_name();
            if catalog.schema(table.schema()).is_none() {
                wrong.push(format!("the table {name} is in no schema"));
            }
            for key in &table.foreign_keys {
                if catalog.table_by_id(key.referenced).is_none() {
                    wrong.push(format!("the key {} of {name} refers to no table", key.name));
                }
            }
            for storage in table.storages() {
                if let Some(other) = storages.insert(storage.object, name.clone()) {
                    wrong.push(format!("{other} and {name} have the same storage {}", storage.object));
                }
            }
        }
        wrong
    }

    /// Checks what CHECKDB checks beside pages: definitions, and the rows and indexes of every table. Damage is given in words.
    pub(super) async fn check_tables(self: &Arc<Self>, damage: &mut Vec<String>) {
        damage.extend(self.check_catalog().into_iter().map(|what| format!("definitions: {what}")));
        let catalog = self.current_catalog();
        let mut tables: Vec<&Arc<Table>> = catalog.tables().collect();
        tables.sort_by_key(|table| table.object_id);
        let mut tx = self.transaction(CHECK_SESSION);
        for table in tables {
            self.begin_statement(&mut tx);
            let checked = self.check_table(&mut tx, table, true, &mut |_| Ok(())).await;
            self.end_statement(&mut tx);
            match checked {
                Ok(check) => damage.extend(check.findings.iter().map(|finding| finding.text(table))),
                Err(Interrupted::Error(error)) => damage.push(format!("{}: {error}", table.full_name())),
                // No session changes a definition meanwhile.
                Err(Interrupted::Stale) => {}
            }
        }
    }

    /// Pages that a check of a table's rows reads, and of its indexes if they are looked at: for how far it is.
    pub fn pages_to_check(&self, table: &Table, indexes: bool) -> u64 {
        let indexes = if indexes { &table.secondary[..] } else { &[] };
        let objects = indexes.iter().map(|index| index.structure.object()).chain([table.base.object()]);
        objects.map(|object| self.store().pages_of(object).0).sum()
    }

    /// Pages that a table's rows are in: those of its heap or clustered index.
    pub fn row_pages(&self, table: &Table) -> u64 {
        self.store().pages_of(table.base.object()).0
    }
}

/// The table and index of a tree or heap.
fn owner_of(catalog: &Catalog, object: u32) -> Option<(i32, i32)> {
    catalog.tables().find_map(|table| Some((table.object_id, table.index_of_storage(object)?)))
}
