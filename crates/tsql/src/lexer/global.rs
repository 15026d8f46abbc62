//! The names behind `@@` that are the system's.

/// In upper case, sorted.
const GLOBALS: &[&str] = &[
    "CONNECTIONS",
    "CPU_BUSY",
    "CURSOR_ROWS",
    "DATEFIRST",
    "DBTS",
    "ERROR",
    "FETCH_STATUS",
    "IDENTITY",
    "IDLE",
    "IO_BUSY",
    "LANGID",
    "LANGUAGE",
    "LOCK_TIMEOUT",
    "MAX_CONNECTIONS",
    "MAX_PRECISION",
    "MICROSOFTVERSION",
    "NESTLEVEL",
    "OPTIONS",
    "PACKET_ERRORS",
    "PACK_RECEIVED",
    "PACK_SENT",
    "PROCID",
    "REMSERVER",
    "ROWCOUNT",
    "SERVERNAME",
    "SERVICENAME",
    "SPID",
    "TEXTSIZE",
    "TIMETICKS",
    "TOTAL_ERRORS",
    "TOTAL_READ",
    "TOTAL_WRITE",
    "TRANCOUNT",
    "VERSION",
];

/// Whether `@@name` is the system's. Any other is a variable, as one with a single `@` is.
pub(super) fn is_global(name: &str) -> bool {
    GLOBALS.binary_search_by(|global| global.bytes().cmp(name.bytes().map(|byte| byte.to_ascii_uppercase()))).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globals_are_found_in_any_case() {
        assert!(GLOBALS.is_sorted());
        assert!(GLOBALS.iter().all(|name| is_global(name) && is_global(&name.to_lowercase())));
        for name in ["", "ver", "IDENTITY1", "\u{dc}"] {
            assert!(!is_global(name), "{name}");
        }
    }
}
