//! Starting a server: the variables of SQL Server's image, what is said when it is ready, and starts that fail.

use crate::serving::{PASSWORD, Serving};
use crate::tool::Folder;
use std::net::TcpListener;
use std::process::Stdio;

/// The variables that everybody's compose file has.
const IMAGE: [(&str, &str); 8] = [
    ("ACCEPT_EULA", "Y"),
    ("MSSQL_SA_PASSWORD", PASSWORD),
    ("MSSQL_PID", "Developer"),
    ("MSSQL_LCID", "1033"),
    ("MSSQL_COLLATION", "SQL_Latin1_General_CP1_CI_AS"),
    ("MSSQL_MEMORY_LIMIT_MB", "600"),
    ("MSSQL_AGENT_ENABLED", "true"),
    ("MSSQL_DATA_DIR", "data"),
];

/// A port that is free now.
fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port().to_string()
}

#[test]
fn the_variables_of_the_vendors_image_start_a_server() {
    let folder = Folder::new("image-variables");
    let port = free_port();
    let backups = folder.path().join("backups");
    let more = [
        ("MSSQL_TCP_PORT", port.as_str()),
        ("MSSQL_IP_ADDRESS", "127.0.0.1"),
        ("MSSQL_BACKUP_DIR", backups.to_str().expect("text")),
        ("MSSQL_DB", "shop"),
        ("MSSQL_USER", "ann"),
        ("MSSQL_PASSWORD", "Sea-Weed77"),
    ];
    let variables = [IMAGE.as_slice(), &more].concat();
    let serving = Serving::start_bare(&folder, &variables, &["--buffer-pool", "16"]);
    assert_eq!(serving.address, format!("127.0.0.1:{port}"));
    assert_eq!(
        serving.value("SELECT CAST(value_in_use AS int) FROM sys.configurations WHERE name = 'max server memory (MB)'"),
        "600"
    );
    assert_eq!(serving.value("SELECT committed_target_kb / 1024 FROM sys.dm_os_sys_info"), "600");
    let target =
        "SELECT MAX(cntr_value) / COUNT(*) FROM sys.dm_os_performance_counters CROSS JOIN sys.dm_os_memory_clerks
                  WHERE counter_name = 'Target pages' AND type = 'MEMORYCLERK_SQLBUFFERPOOL'";
    assert_eq!(serving.value(target), "2048", "16 MB of pages for each database");
    assert_eq!(serving.value("SELECT SUSER_SNAME(owner_sid) FROM sys.databases WHERE name = 'shop'"), "ann");
    let owner = serving.query_as("ann", "Sea-Weed77", "CREATE TABLE dbo.t (i int); SELECT DB_NAME(), USER_NAME()");
    assert!(owner.out.ends_with("shop,dbo\n"), "{owner:?}");
    assert_eq!(serving.query_as("sa", PASSWORD, "BACKUP DATABASE shop TO DISK = 'shop.bak'").status, 0);
    assert!(backups.join("shop.bak").is_file());
    let done = serving.end();
    for name in ["ACCEPT_EULA", "MSSQL_PID", "MSSQL_LCID", "MSSQL_AGENT_ENABLED"] {
        let lines = done.err.lines().filter(|line| line.contains(&format!("{name} has no effect: "))).count();
        assert_eq!(lines, 1, "{name}: {done:?}");
    }
    assert!(!done.err.contains("Sea-Weed77") && !done.err.contains(PASSWORD), "{done:?}");
    assert!(!done.out.contains("password"), "{done:?}");

    let again = Serving::start_bare(&folder, &variables, &[]);
    assert_eq!(again.value("SELECT COUNT(*) FROM shop.dbo.t"), "0");
    let done = again.end();
    assert!(done.err.contains("this folder has had its first scripts"), "{done:?}");
    assert!(!done.err.contains("cannot log in"), "the password is the folder's: {done:?}");
}

#[test]
fn what_waits_for_a_server_finds_its_lines_on_standard_output_in_their_order() {
    let folder = Folder::new("ready-lines");
    let serving = Serving::start(&folder, &[("SA_PASSWORD", PASSWORD)], &[]);
    let process = serving.value("SELECT SERVERPROPERTY('ProcessID')");
    let log = std::fs::read_to_string(folder.data().join("error.log")).expect("a log");
    let address = serving.address.clone();
    let done = serving.end();
    let place = |text: &str| {
        assert_eq!(done.out.matches(text).count(), 1, "{text}: {done:?}");
        assert!(!done.err.contains(text), "{text}: {done:?}");
        done.out.find(text)
    };
    let ready = "SQL Server is now ready for client connections";
    let state = format!(
        "Pikepole {}, process {process}, folder {}, listening at {address}: ready",
        env!("CARGO_PKG_VERSION"),
        folder.data().display()
    );
    let recovered = "Recovery is complete.";
    let places = [place(&format!("listening at {address}\n")), place(ready), place(&state), place(recovered)];
    assert!(places.is_sorted(), "{done:?}");
    assert!(log.contains(ready) && log.contains(&state) && log.contains(recovered), "{log}");
}

#[test]
fn every_line_of_a_json_log_is_json() {
    let folder = Folder::new("json-log");
    let init = folder.write("first.sql", "PRINT 'two\nlines'; SELECT 1 AS one;\n");
    let init = init.to_str().expect("text");
    let serving = Serving::start(&folder, &[("ACCEPT_EULA", "Y")], &["--log-format", "json", "--init", init]);
    let done = serving.end();
    let busy = TcpListener::bind("127.0.0.1:0").expect("a port");
    let busy = busy.local_addr().expect("an address").to_string();
    let failed = Serving::run(&folder, &[], &["-d", "data", "--log-format", "json", "--listen", &busy]);
    assert_eq!(failed.status, 1);
    assert!(failed.err.contains("cannot be listened at"), "{failed:?}");
    let bad = Serving::run(&folder, &[], &["-d", "data", "--log-format", "json", "--policy", "NONE=1"]);
    assert!(bad.err.contains("does not exist"), "{bad:?}");
    for line in [&done.out, &done.err, &failed.err, &bad.err].into_iter().flat_map(|text| text.lines()) {
        let value: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(value["message"].is_string() && value["timestamp"].is_string(), "{line}");
    }
    assert!(done.out.contains("the password of sa is "), "{done:?}");
    let log = std::fs::read_to_string(folder.data().join("error.log")).expect("a log");
    assert!(!log.contains("the password of sa is"), "{log}");
}

/// Standard output takes nothing: a password that could not be printed locks no one out, and what clients may have written stays.
#[test]
fn a_folder_stays_once_clients_may_have_connected() {
    let folder = Folder::new("full-output");
    let run = |format: &str, password: Option<&str>| {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
        let arguments = ["serve", "-d", "data", "--listen", "127.0.0.1:0", "--log-format", format];
        let mut command = folder.command(arguments);
        command.envs(password.map(|password| ("MSSQL_SA_PASSWORD", password))).stdin(Stdio::null()).stdout(full);
        command.stderr(Stdio::null()).status().expect("it ends").code()
    };
    for format in ["human", "json"] {
        assert_eq!((run(format, None), folder.data().exists()), (Some(1), false), "{format}");
    }
    for format in ["human", "json"] {
        assert_eq!((run(format, Some(PASSWORD)), folder.data().exists()), (Some(1), true), "{format}");
    }
}

#[test]
fn a_busy_port_is_said_at_once_and_leaves_no_folder() {
    let folder = Folder::new("busy-port");
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = other.local_addr().expect("an address").to_string();
    let port = address.rsplit(':').next().expect("a port");
    for listen in [address.as_str(), port, &format!("localhost:{port}"), &format!(":{port}")] {
        let done = Serving::run(&folder, &[], &["-d", "deep/data", "--listen", listen]);
        assert_eq!((done.status, done.out.as_str()), (1, ""), "{listen}: {done:?}");
        assert!(done.err.contains("another server has the port"), "{listen}: {done:?}");
        assert!(!folder.path().join("deep").exists(), "{listen}");
    }
    let health = Serving::run(&folder, &[], &["-d", "data", "--listen", "127.0.0.1:0", "--health", &address]);
    assert!(health.err.contains("another server has the port"), "{health:?}");
    assert!(!folder.data().exists());
}

#[test]
fn starts_that_fail_leave_no_folder_that_was_not_there() {
    let folder = Folder::new("failed-starts");
    let bad = folder.write("bad.sql", "SELECT nothing");
    let bad = bad.to_str().expect("text");
    let no_pem = folder.write("no.pem", "text");
    let no_pem = no_pem.to_str().expect("text");
    let starts: [&[&str]; 6] = [
        &["--policy", "NONE=1"],
        &["--init", bad],
        &["--init", "none.sql"],
        &["--certificate", no_pem, "--key", no_pem],
        &["--config", "none.conf"],
        &["--config", no_pem],
    ];
    for start in starts {
        let arguments = [&["-d", "deep/data", "--listen", "127.0.0.1:0"], start].concat();
        let done = Serving::run(&folder, &[], &arguments);
        assert_eq!((done.status, done.out.as_str()), (1, ""), "{start:?}: {done:?}");
        assert!(!folder.path().join("deep").exists(), "{start:?}: {done:?}");
        std::fs::create_dir(folder.data()).expect("a folder");
        let done = Serving::run(&folder, &[], &[&["-d", "data", "--listen", "127.0.0.1:0"], start].concat());
        assert_eq!(done.status, 1, "{start:?}: {done:?}");
        // One that was there stays, as empty as it was.
        std::fs::remove_dir(folder.data()).unwrap_or_else(|error| panic!("{start:?}: {error}"));
    }
    folder.sql_clean("CREATE TABLE dbo.t (i int); INSERT dbo.t VALUES (1)");
    let done = Serving::run(&folder, &[], &["-d", "data", "--listen", "127.0.0.1:0", "--init", bad]);
    assert_eq!(done.status, 1, "{done:?}");
    assert_eq!(folder.number("SELECT i FROM dbo.t"), 1, "what was there stays");
}

#[test]
fn a_password_that_is_not_the_folders_is_said() {
    let folder = Folder::new("other-password");
    Serving::start(&folder, &[("MSSQL_SA_PASSWORD", PASSWORD)], &[]).end();
    let mut serving = Serving::start(&folder, &[("MSSQL_SA_PASSWORD", "another-Water8")], &[]);
    serving.wait_for_err("sa cannot log in with the password of MSSQL_SA_PASSWORD");
    assert_eq!(serving.value("SELECT 1"), "1", "the folder's own counts");
    let done = serving.end();
    assert!(!done.err.contains("another-Water8"), "{done:?}");
}

#[test]
fn addresses_to_listen_at_are_written_as_people_write_them() {
    let folder = Folder::new("listen");
    for (listen, host) in
        [("0", "127.0.0.1"), ("localhost:0", "127.0.0.1"), (":0", "0.0.0.0"), ("127.0.0.1:0", "127.0.0.1")]
    {
        let serving = Serving::start_bare(&folder, &[("SA_PASSWORD", PASSWORD)], &["-d", "data", "--listen", listen]);
        let out = serving.out();
        let at = |line: &str| {
            line.strip_prefix("listening at ").and_then(|at| at.rsplit_once(':')).map(|(host, _)| host.to_owned())
        };
        assert!(out.lines().filter_map(at).any(|each| each == host), "{listen}: {out}");
        serving.end();
    }
    let done = Serving::run(&folder, &[], &["-d", "data", "--listen", "db:x"]);
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.err.contains("PORT, :PORT, HOST, HOST:PORT or [ADDRESS]:PORT"), "{done:?}");
}

#[test]
fn a_config_file_gives_way_to_variables_and_names_what_it_does_not_know() {
    let folder = Folder::new("config");
    std::fs::create_dir(folder.path().join("etc")).expect("a folder");
    folder.write(
        "etc/mssql.conf",
        "[network]\nipaddress = 127.0.0.1\ntcpport = 1\nforceencryption = 1\n[filelocation]\ndefaultdatadir = ../data\n\
         defaultbackupdir = ../backups\n[memory]\nmemorylimitmb = 700\n[sqlagent]\nenabled = true\n[telemetry]\nx = 1\n",
    );
    let variables = [("SA_PASSWORD", PASSWORD), ("MSSQL_TCP_PORT", "0")];
    let serving = Serving::start_bare(&folder, &variables, &["--config", "etc/mssql.conf"]);
    let run = |more: &[&str]| {
        let own = ["sql", "-S", &serving.address, "-U", "sa", "-P", PASSWORD, "--csv"];
        folder.run([own.as_slice(), more].concat())
    };
    let memory = "SELECT CAST(value_in_use AS int) FROM sys.configurations WHERE name = 'max server memory (MB)'";
    let done = run(&["--trust-server-certificate", "-Q", memory]);
    assert!(done.out.ends_with("700\n"), "{done:?}");
    assert_ne!(run(&["--encrypt", "off", "-Q", "SELECT 1"]).status, 0, "encryption is forced");
    assert_eq!(run(&["--trust-server-certificate", "-Q", "BACKUP DATABASE master TO DISK = 'm.bak'"]).status, 0);
    assert!(folder.path().join("backups/m.bak").is_file());
    let done = serving.end();
    let note = "etc/mssql.conf: without effect here: [sqlagent] enabled, [telemetry] x";
    assert_eq!(done.err.matches(note).count(), 1, "{done:?}");
    folder.write("data/pikepole.conf", "[network]\ntcpport = none\n");
    let done = Serving::run(&folder, &[], &["-d", "data"]);
    done.failed_with("pikepole: data/pikepole.conf, line 2: `none` is not a port");
}
