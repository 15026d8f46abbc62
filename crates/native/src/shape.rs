//! The shape of slots: an enum's tag and payloads, as offsets.

use crate::NativeError;

/// The type of an integer slot, in the order of the ranges: each holds all values of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// bit: a byte that is 0 or 1
    Bit,
    /// tinyint: an unsigned byte
    Tiny,
    /// smallint: two bytes
    Small,
    /// int: four bytes
    Int,
    /// bigint: eight bytes
    Big,
}

impl Width {
    /// All, in order.
    pub const ALL: [Width; 5] = [Width::Bit, Width::Tiny, Width::Small, Width::Int, Width::Big];

    /// The bytes of a payload.
    pub fn bytes(self) -> usize {
        match self {
            Width::Bit | Width::Tiny => 1,
            Width::Small => 2,
            Width::Int => 4,
            Width::Big => 8,
        }
    }
}

/// The place of a width's payload in a slot, and the tag that says it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WidthShape {
    /// The byte at offset 0 of a slot of this width.
    pub tag: u8,
    /// The payload's offset in bytes.
    pub offset: u8,
}

/// The layout of a slot: a `#[repr(u8)]` enum with a variant for NULL and one for each width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotShape {
    /// Bytes from one slot to the next.
    pub stride: usize,
    /// The tag of NULL.
    pub null: u8,
    /// The parts of each width, in the order of [`Width::ALL`].
    pub widths: [WidthShape; 5],
}

impl SlotShape {
    /// The parts of a width.
    pub(crate) fn of(&self, width: Width) -> WidthShape {
        self.widths[width as usize]
    }

    /// Refuses payloads outside of the slot or over its tag, and two meanings of one tag.
    pub(crate) fn check(&self) -> Result<(), NativeError> {
        let mut tags = vec![self.null];
        for width in Width::ALL {
            let WidthShape { tag, offset } = self.of(width);
            if offset == 0 {
                return Err(NativeError::Shape("a payload lies over the tag"));
            }
            if usize::from(offset) + width.bytes() > self.stride {
                return Err(NativeError::Shape("a payload ends outside of the slot"));
            }
            if tags.contains(&tag) {
                return Err(NativeError::Shape("a tag has two meanings"));
            }
            tags.push(tag);
        }
        Ok(())
    }
}
