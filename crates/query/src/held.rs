//! What sessions share, as one of them holds it.

use std::ops::Deref;
use std::sync::Arc;

/// A share that counts its own holders. Sessions that run one program in one database, and take and give a share for each call, would
/// change one count in turns; the holders of this one are the frames of a session.
pub(crate) struct Held<T>(Arc<T>);

impl<T> Held<T> {
    pub(crate) fn new(shared: &Arc<T>) -> Arc<Held<T>> {
        Arc::new(Held(Arc::clone(shared)))
    }

    /// The address of what is held, which nothing else has meanwhile.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl<T> Deref for Held<T> {
    type Target = Arc<T>;

    fn deref(&self) -> &Arc<T> {
        &self.0
    }
}
