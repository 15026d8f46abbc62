//! A tree or a heap, and the name of a row in it: what row changes and their undo have in common.

use pikepole_storage::{ChangeOutcome, Heap, LogContext, ReadKey, Rid, RowHeader, Stop, Tree, TreeCursor, UnderLatch};

/// Where rows live.
#[derive(Clone)]
pub enum Structure {
    /// Rows by key.
    Tree(Tree),
    /// Rows by place.
    Heap(Heap),
}

/// Bytes of a rid as the name of a row.
pub const RID_BYTES: usize = 6;

fn rid(name: &[u8]) -> Rid {
    Rid::from_bytes(name.try_into().expect("rows of a heap are named by rids"))
}

impl Structure {
    /// The number of the object in the store.
    pub fn object(&self) -> u32 {
        match self {
            Structure::Tree(tree) => tree.object(),
            Structure::Heap(heap) => heap.object(),
        }
    }

    /// Where a meter counts what is read of it.
    pub fn read_key(&self) -> ReadKey {
        match self {
            Structure::Tree(tree) => tree.read_key(),
            Structure::Heap(heap) => heap.read_key(),
        }
    }

    /// About how many pages it has.
    pub fn pages_guessed(&self) -> u64 {
        match self {
            Structure::Tree(tree) => tree.pages_guessed(),
            Structure::Heap(heap) => heap.pages_guessed(),
        }
    }

    /// Looks at the row called `name` (a key, or a rid as bytes), ghosts included.
    pub fn get<R>(&self, name: &[u8], look: impl FnOnce(RowHeader, &[u8]) -> R) -> Result<Option<R>, Stop> {
        match self {
            Structure::Tree(tree) => tree.get(name, look),
            Structure::Heap(heap) => heap.get(rid(name), look),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "where, who, which row, what to, where the old one goes")]
    pub(crate) fn replace(
        &self,
        cursor: &mut TreeCursor,
        context: &LogContext,
        name: &[u8],
        expected: RowHeader,
        new: RowHeader,
        rest: &[u8],
        caller: impl UnderLatch,
    ) -> Result<ChangeOutcome, Stop> {
        match self {
            Structure::Tree(tree) => tree.replace(cursor, context, name, expected, new, rest, caller),
            Structure::Heap(heap) => heap.replace(context, rid(name), expected, new, rest, caller),
        }
    }

    pub(crate) fn set_header(
        &self,
        cursor: &mut TreeCursor,
        context: &LogContext,
        name: &[u8],
        expected: RowHeader,
        new: RowHeader,
        caller: impl UnderLatch,
    ) -> Result<ChangeOutcome, Stop> {
        match self {
            Structure::Tree(tree) => tree.set_header(cursor, context, name, expected, new, caller),
            Structure::Heap(heap) => heap.set_header(context, rid(name), expected, new, caller),
        }
    }

    pub(crate) fn free_page(&self, context: &LogContext, name: &[u8]) -> Result<(), Stop> {
        let Structure::Heap(heap) = self else {
            unreachable!("pages are undone as a whole in heaps only");
        };
        heap.free_page(context, rid(name).page)
    }

    /// Removes a ghost that nobody needs.
    pub(crate) fn remove_ghost(
        &self,
        cursor: &mut TreeCursor,
        context: &LogContext,
        name: &[u8],
        expected: RowHeader,
    ) -> Result<ChangeOutcome, Stop> {
        match self {
            Structure::Tree(tree) => tree.remove(cursor, context, name, expected),
            Structure::Heap(heap) => heap.remove_ghost(context, rid(name), expected),
        }
    }

    pub(crate) fn remove(
        &self,
        cursor: &mut TreeCursor,
        context: &LogContext,
        name: &[u8],
        expected: RowHeader,
    ) -> Result<ChangeOutcome, Stop> {
        match self {
            Structure::Tree(tree) => tree.remove(cursor, context, name, expected),
            Structure::Heap(heap) => heap.remove(context, rid(name), expected),
        }
    }
}
