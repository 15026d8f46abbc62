//! Rows as the reader cuts them: their bytes, and where each field lies.

/// Where a field lies among the bytes of its portion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// It stood in quotes: what is empty there is no NULL.
    pub(crate) quoted: bool,
    /// There are doubled quotes in it.
    pub(crate) doubled: bool,
}

/// Whole rows of a file, as many fields in each.
#[derive(Debug, Default)]
pub(crate) struct Portion {
    pub(crate) bytes: Vec<u8>,
    pub(crate) fields: Vec<Field>,
    /// Where each row ends among the bytes, its terminator included.
    pub(crate) row_ends: Vec<u32>,
    /// The number of the first row.
    pub(crate) first_row: u64,
    /// Where the first row begins in the file.
    pub(crate) offset: u64,
}

impl Portion {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
        self.row_ends.clear();
    }

    pub(crate) fn rows(&self) -> usize {
        self.row_ends.len()
    }

    /// A row as it stands in the file.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.row_ends[before]);
        &self.bytes[start as usize..self.row_ends[row] as usize]
    }

    /// All that comes before a row.
    pub(crate) fn before(&self, row: usize) -> &[u8] {
        let end = row.checked_sub(1).map_or(0, |before| self.row_ends[before]);
        &self.bytes[..end as usize]
    }

    pub(crate) fn field(&self, field: Field) -> &[u8] {
        &self.bytes[field.start as usize..field.end as usize]
    }
}
