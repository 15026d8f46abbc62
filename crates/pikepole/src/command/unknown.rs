//! Subcommands that there are not: what does the same.

/// Words, and what to do in their place.
const INSTEAD: &[(&[&str], &str)] = &[
    (
        &["create", "createdb", "create-database", "newdb"],
        "CREATE DATABASE name: pikepole sql -Q \"CREATE DATABASE name\"",
    ),
    (&["drop", "dropdb", "drop-database"], "DROP DATABASE name: pikepole sql -Q \"DROP DATABASE name\""),
    (
        &["user", "users", "adduser", "createuser", "login", "logins"],
        "CREATE LOGIN name WITH PASSWORD = '...', and CREATE USER name in a database; SELECT * FROM sys.server_principals shows them",
    ),
    (&["password", "set-password", "reset-password"], "pikepole passwd, or ALTER LOGIN name WITH PASSWORD = '...'"),
    (
        &["databases", "list", "ls", "db"],
        "SELECT name FROM sys.databases: pikepole sql -Q \"SELECT name FROM sys.databases\"",
    ),
    (
        &["tables", "describe", "schema"],
        "SELECT * FROM sys.tables, and sp_help 'dbo.table': pikepole sql -Q \"EXEC sp_help 'dbo.table'\"",
    ),
    (&["import", "load", "bcp", "copy"], "BULK INSERT dbo.table FROM 'file.csv' WITH (FORMAT = 'CSV')"),
    (&["export", "unload"], "pikepole sql --csv -Q \"SELECT * FROM dbo.table\" -o file.csv"),
    (
        &["query", "exec", "execute", "run", "shell", "cli", "psql", "connect"],
        "pikepole sql, with -Q \"...\" or -i file.sql",
    ),
    (&["start", "server", "up", "sqlservr", "daemon"], "pikepole serve"),
    (&["stop", "shutdown", "down"], "SHUTDOWN in T-SQL, or SIGTERM to the process of pikepole serve"),
    (&["status", "health"], "pikepole ping, with --health for /healthz"),
    (&["ps", "sessions", "who", "top", "processes"], "EXEC sp_who2, or SELECT * FROM sys.dm_exec_requests"),
    (&["kill"], "KILL session_id: pikepole sql -S localhost -U sa -Q \"KILL 51\""),
    (
        &["config", "configure", "set"],
        "EXEC sp_configure 'name', value, and RECONFIGURE; pikepole serve --config FILE for a start",
    ),
    (&["policy", "policies"], "SELECT * FROM sys.dm_pikepole_policies, and --policy NAME=VALUE for a start"),
    (&["waits", "stats", "metrics"], "SELECT * FROM sys.dm_os_wait_stats; pikepole serve --health serves /metrics"),
    (&["verify", "checkdb", "fsck", "repair"], "pikepole check FOLDER, or DBCC CHECKDB"),
    (&["vacuum", "shrink", "compact"], "DBCC SHRINKDATABASE (name)"),
    (&["dump"], "pikepole backup DATABASE, or BACKUP DATABASE name TO DISK = 'file.bak'"),
    (&["init", "seed", "migrate"], "pikepole serve --init FILE|FOLDER, or pikepole sql -i file.sql"),
    (&["cert", "certificate", "tls", "ca"], "pikepole trust"),
    (&["bench", "benchmark", "load-test"], "pikepole stress, or pikepole log bench"),
    (&["version"], "pikepole --version, or SELECT @@VERSION"),
];

/// What does what an unknown subcommand asks for.
pub fn instead(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    INSTEAD.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_one_answer() {
        let mut words: Vec<&str> = INSTEAD.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
        assert!(instead("CreateDB").is_some_and(|text| text.starts_with("CREATE DATABASE")));
        assert_eq!(instead("frobnicate"), None);
    }
}
