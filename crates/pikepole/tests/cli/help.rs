//! The help of each command teaches: what it does, its options, examples, the exit status.

use crate::tool::Folder;

#[test]
fn help_teaches_and_fits_a_terminal() {
    let folder = Folder::new("help");
    let wanted: [(&[&str], &[&str]); 15] = [
        (&["--help"], &["sql ", "stress ", "check ", "Examples:", "pikepole check ./data", "--help"]),
        (&["demo", "--help"], &["--keep", "--once", "--json", "PIKEPOLE_SA_PASSWORD", "Exit status", "Examples:"]),
        (
            &["sql", "--help"],
            &["GO 5", "Exit status", "--json", "--csv", "Examples:", "dm_pikepole_policies", "-Q \"SELECT"],
        ),
        (
            &["stress", "--help"],
            &["--policy", "Examples:", "LOG_RESERVATION=SPINLOCK", "--setup", "dm_pikepole_policies"],
        ),
        (&["check", "--help"], &["DAMAGE", "checksum", "Exit status", "Example:"]),
        (&["lab", "--help"], &["topology ", "disk ", "cpu ", "run ", "compare ", "report ", "Examples:"]),
        (&["lab", "topology", "--help"], &["bracket", "--like", "docs/understand/lab.md", "Examples:"]),
        (&["lab", "disk", "--help"], &["stable storage", "--slow-disk", "Example:"]),
        (&["lab", "cpu", "--help"], &["hand-off", "vm.nr_hugepages", "Example:"]),
        (&["lab", "run", "--help"], &["alternate", "Control-c", "--repeats", "Examples:", "medians"]),
        (&["log", "--help"], &["dump ", "stat ", "verify ", "bench ", "Examples:", "change nothing"]),
        (
            &["log", "dump", "--help"],
            &["--transaction", "docs/understand/format.md", "exit status", "Examples:", "--kind"],
        ),
        (&["log", "stat", "--help"], &["histogram", "Padding", "Example:"]),
        (&["log", "verify", "--help"], &["left over", "cut off", "torn", "Exit status", "Example:"]),
        (&["log", "bench", "--help"], &["null", "memcpy", "probe_writes_per_second", "CLASSIC", "Examples:"]),
    ];
    for (arguments, phrases) in wanted {
        let done = folder.run(arguments);
        assert_eq!((done.status, done.err.as_str()), (0, ""));
        for phrase in phrases {
            assert!(done.out.contains(phrase), "{arguments:?}: {phrase}\n{}", done.out);
        }
        assert!(done.out.lines().all(|line| line.chars().count() <= 100), "{}", done.out);
    }
}

#[test]
fn a_wrong_command_line_has_a_status_of_its_own() {
    let folder = Folder::new("usage");
    let wrong: [&[&str]; 6] = [
        &[],
        &["sqll"],
        &["check"],
        &["sql", "--json", "--csv", "-Q", "PRINT 1"],
        &["sql", "-i", "a.sql", "-Q", "PRINT 1"],
        &["stress", "-n", "many"],
    ];
    for arguments in wrong {
        let done = folder.run(arguments);
        assert_eq!((done.status, done.out.as_str()), (2, ""), "{arguments:?}");
        assert!(done.err.contains("Usage: pikepole") || done.err.contains("--help"), "{}", done.err);
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0, "nothing was made");
}

#[test]
fn the_version_is_the_package_s() {
    let done = Folder::new("version").run(["--version"]);
    assert_eq!(done.out, format!("pikepole {}\n", env!("CARGO_PKG_VERSION")));
}
