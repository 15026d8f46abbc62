//! The handle of a text: what the views call it by.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Twenty bytes that name a text: 2 for a batch or 3 for a module's, and 16 bytes of hash. Equal batches have equal handles; those of
/// modules are their own, whatever the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextHandle([u8; 20]);

impl TextHandle {
    /// The handle of a batch, or of the text of a module: its database and its object id.
    pub(crate) fn of(text: &str, module: Option<(i32, i32)>) -> TextHandle {
        let half = |number: u8| {
            let mut hasher = DefaultHasher::new();
            (number, module, text).hash(&mut hasher);
            hasher.finish().to_be_bytes()
        };
        let mut bytes = [0; 20];
        bytes[0] = if module.is_some() { 3 } else { 2 };
        bytes[4..12].copy_from_slice(&half(0));
        bytes[12..].copy_from_slice(&half(1));
        TextHandle(bytes)
    }

    /// What has these bytes; None: they are of another length.
    pub fn from_bytes(bytes: &[u8]) -> Option<TextHandle> {
        bytes.try_into().ok().map(TextHandle)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_batches_have_equal_handles_and_modules_their_own() {
        let batch = TextHandle::of("SELECT 1", None);
        assert_eq!(batch, TextHandle::of("SELECT 1", None));
        assert_ne!(batch, TextHandle::of("SELECT 2", None));
        let module = TextHandle::of("SELECT 1", Some((5, 7)));
        assert_ne!(module, TextHandle::of("SELECT 1", Some((5, 8))));
        assert_ne!(module, TextHandle::of("SELECT 1", Some((6, 7))));
        assert_eq!((batch.bytes()[0], module.bytes()[0]), (2, 3));
    }
}
