//! A look at a data file that is not opened: who owns which pages, and the rows of one tree.
//!
//! For dumps of the log, which name pages. The file may be older than the log, or in use by another process: what does
//! not hold together is left out, nothing is written, and the answers are as good as the last checkpoint, brought up to
//! date by the log records that [`Glance::note`] is shown.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use pikepole_machine::{Disk, File, OpenOptions};

use crate::allocation::{EXTENT_PAGES, MAP_EXTENTS, OWNER_FREE, is_map_page};
use crate::error::PageId;
use crate::page::{PAGE_BYTES, Page, PageKind};
use crate::records::{Changes, PageChange, Record};
use crate::store::PAGES_FILE;

/// Who owns which extents.
pub struct Glance {
    file: Option<File>,
    pages: u32,
    owners: HashMap<u32, u32>,
}

impl Glance {
    /// Looks at the map pages of the data file in `folder`. Without a file nothing is known.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn at(disk: &Disk, folder: &Path) -> io::Result<Glance> {
        let path = folder.join(PAGES_FILE);
        let mut glance = Glance { file: None, pages: 0, owners: HashMap::new() };
        if !disk.exists(&path) {
            return Ok(glance);
        }
        let file = disk.open(path, OpenOptions { read_only: true, ..OpenOptions::default() })?;
        glance.pages = u32::try_from(file.len()? / PAGE_BYTES as u64).unwrap_or(u32::MAX);
        glance.file = Some(file);
        let maps = (0..glance.pages).step_by((MAP_EXTENTS * EXTENT_PAGES) as usize);
        for map in maps {
            let first = map / EXTENT_PAGES;
            let mut entries = Vec::new();
            glance.page(PageId(map), |page| entries.extend((0..MAP_EXTENTS).map(|index| page.map_entry(index).0)))?;
            for (index, owner) in entries.into_iter().enumerate() {
                if owner != OWNER_FREE {
                    glance.owners.insert(first + index as u32, owner);
                }
            }
        }
        Ok(glance)
    }

    /// Takes over what a record says of the owners of pages.
    pub fn note(&mut self, record: &Record<'_>) {
        match *record {
            Record::Structure { changes } => {
                for change in Changes::new(changes) {
                    match change {
                        Ok((_, PageChange::UsePage { page, owner })) => {
                            self.owners.insert(page.0 / EXTENT_PAGES, owner);
                        }
                        Ok(_) => {}
                        Err(_) => return,
                    }
                }
            }
            Record::InsertPage { page, object, .. }
            | Record::UsePage { page, object, .. }
            | Record::BulkPages { page, object, .. } => {
                self.owners.insert(page / EXTENT_PAGES, object);
            }
            _ => {}
        }
    }

    /// The tree or heap that owns a page, or did last.
    pub fn owner_of(&self, page: PageId) -> Option<u32> {
        self.owners.get(&(page.0 / EXTENT_PAGES)).copied()
    }

    /// Every row on the leaves of the tree `object`, deleted ones too: key and rest, leaf by leaf.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn leaf_rows(&self, object: u32, tell: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()> {
        for (&extent, &owner) in &self.owners {
            if owner != object {
                continue;
            }
            let first = extent.saturating_mul(EXTENT_PAGES);
            for page in first..first.saturating_add(EXTENT_PAGES).min(self.pages) {
                self.page(PageId(page), |page| {
                    if page.kind() == Some(PageKind::Leaf) && page.object() == object {
                        for slot in 0..page.slots() {
                            let entry = page.leaf_entry(slot);
                            tell(entry.key, entry.rest);
                        }
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Shows a page if it is there and sound.
    fn page(&self, id: PageId, look: impl FnOnce(Page<'_>)) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut bytes = Box::new([0; PAGE_BYTES]);
        match file.read_at(&mut bytes[..], u64::from(id.0) * PAGE_BYTES as u64) {
            // Another process may be cutting the file.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let page = Page(&bytes);
        if page.validate(id).is_ok() && (page.kind() == Some(PageKind::Map)) == is_map_page(id) {
            look(page);
        }
        Ok(())
    }
}
