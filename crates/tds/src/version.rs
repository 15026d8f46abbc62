//! The protocol's versions, and what each brought.

/// A version both sides have agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TdsVersion {
    /// SQL Server 2000.
    V7_1,
    /// SQL Server 2005: (max) types, headers of requests, 4-byte lines, 8-byte row counts.
    V7_2,
    /// SQL Server 2008: date, time, datetime2, datetimeoffset, table-valued parameters.
    V7_3A,
    /// SQL Server 2008 R2: rows with a bitmap of their NULLs.
    V7_3B,
    /// SQL Server 2012 and later: feature extensions.
    V7_4,
    /// TLS before the first packet; the rest is as in 7.4.
    V8_0,
}

impl TdsVersion {
    /// The version to speak with a client whose LOGIN7 names this number: its own, or the newest of ours when it is newer.
    /// `None` when it is older than 7.1.
    pub fn negotiate(requested: u32) -> Option<TdsVersion> {
        match requested {
            0x0800_0000..=0x0FFF_FFFF => Some(TdsVersion::V8_0),
            0x7100_0000..=0x71FF_FFFF => Some(TdsVersion::V7_1),
            0x7200_0000..=0x72FF_FFFF => Some(TdsVersion::V7_2),
            0x7300_0000..=0x730A_FFFF => Some(TdsVersion::V7_3A),
            0x730B_0000..=0x73FF_FFFF => Some(TdsVersion::V7_3B),
            0x7400_0000..=0x7FFF_FFFF => Some(TdsVersion::V7_4),
            _ => None,
        }
    }

    /// The number as LOGINACK sends it, most significant byte first.
    pub fn number(self) -> u32 {
        match self {
            TdsVersion::V7_1 => 0x7100_0001,
            TdsVersion::V7_2 => 0x7209_0002,
            TdsVersion::V7_3A => 0x730A_0003,
            TdsVersion::V7_3B => 0x730B_0003,
            TdsVersion::V7_4 => 0x7400_0004,
            TdsVersion::V8_0 => 0x0800_0000,
        }
    }

    /// Whether requests begin with headers, lines and user types have 4 bytes and row counts 8, and (max) types exist.
    pub fn is_wide(self) -> bool {
        self >= TdsVersion::V7_2
    }

    /// Whether date, time, datetime2, datetimeoffset and table-valued parameters exist.
    pub fn has_date_types(self) -> bool {
        self >= TdsVersion::V7_3A
    }

    /// Whether rows may carry a bitmap of their NULLs.
    pub fn has_null_bitmap(self) -> bool {
        self >= TdsVersion::V7_3B
    }

    /// Whether LOGIN7 may ask for features.
    pub fn has_features(self) -> bool {
        self >= TdsVersion::V7_4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_their_version_or_the_newest() {
        for (requested, version) in [
            (0x7000_0000, None),
            (0, None),
            (u32::MAX, None),
            (0x7100_0000, Some(TdsVersion::V7_1)),
            (0x7100_0001, Some(TdsVersion::V7_1)),
            (0x7209_0002, Some(TdsVersion::V7_2)),
            (0x730A_0003, Some(TdsVersion::V7_3A)),
            (0x730B_0003, Some(TdsVersion::V7_3B)),
            (0x7400_0004, Some(TdsVersion::V7_4)),
            (0x7500_0000, Some(TdsVersion::V7_4)),
            (0x0800_0000, Some(TdsVersion::V8_0)),
        ] {
            assert_eq!(TdsVersion::negotiate(requested), version, "{requested:#x}");
        }
    }

    #[test]
    fn a_version_names_itself() {
        use TdsVersion::*;
        for version in [V7_1, V7_2, V7_3A, V7_3B, V7_4, V8_0] {
            assert_eq!(TdsVersion::negotiate(version.number()), Some(version));
        }
    }
}
