//! Who wins, and what is said of the others.

use super::*;
use clap::Parser;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    arguments: Arguments,
}

fn gather(options: &[&str], variables: &[(&str, &str)]) -> Result<Settings, CommandError> {
    let line = Line::parse_from([&["serve"], options].concat());
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Settings::gather(&line.arguments, variables)
}

fn ok(options: &[&str], variables: &[(&str, &str)]) -> Settings {
    gather(options, variables).expect("it can be")
}

#[test]
fn every_variable_of_the_image_is_taken_or_said_to_have_no_effect() {
    let settings = ok(
        &[],
        &[
            ("ACCEPT_EULA", "Y"),
            ("MSSQL_SA_PASSWORD", "deep-Water7"),
            ("MSSQL_PID", "Developer"),
            ("MSSQL_TCP_PORT", "1500"),
            ("MSSQL_IP_ADDRESS", "0.0.0.0"),
            ("MSSQL_DATA_DIR", "/srv/data"),
            ("MSSQL_BACKUP_DIR", "/srv/backup"),
            ("MSSQL_COLLATION", "SQL_Latin1_General_CP1_CI_AS"),
            ("MSSQL_LCID", "1033"),
            ("MSSQL_MEMORY_LIMIT_MB", "512"),
            ("MSSQL_AGENT_ENABLED", "true"),
            ("MSSQL_RPC_PORT", "135"),
            ("MSSQL_EMPTY", ""),
            ("HOME", "/"),
        ],
    );
    assert_eq!(settings.data, Path::new("/srv/data"));
    assert_eq!(settings.listen, ["0.0.0.0:1500".parse().expect("an address")]);
    assert_eq!(settings.backups.as_deref(), Some(Path::new("/srv/backup")));
    assert_eq!(settings.memory_mb.as_deref(), Some("512"));
    assert_eq!(settings.password, Some(("MSSQL_SA_PASSWORD", "deep-Water7".to_owned())));
    let told: Vec<&str> =
        settings.notes.iter().filter_map(|note| note.split_once(" has no effect: ")).map(|n| n.0).collect();
    assert_eq!(told, ["ACCEPT_EULA", "MSSQL_AGENT_ENABLED", "MSSQL_LCID", "MSSQL_PID", "MSSQL_RPC_PORT"]);
    assert!(!settings.notes.concat().contains("deep-Water7"));
}

#[test]
fn options_win_over_variables_and_say_so() {
    let settings = ok(
        &["-d", "own", "--listen", "127.0.0.1:1", "--backup-folder", "b"],
        &[
            ("MSSQL_DATA_DIR", "/srv/data"),
            ("MSSQL_TCP_PORT", "2"),
            ("MSSQL_BACKUP_DIR", "/srv/backup"),
            ("PIKEPOLE_SA_PASSWORD", "a"),
            ("MSSQL_SA_PASSWORD", "b"),
            ("SA_PASSWORD", "a"),
        ],
    );
    assert_eq!(settings.data, Path::new("own"));
    assert_eq!(settings.listen, ["127.0.0.1:1".parse().expect("an address")]);
    assert_eq!(settings.backups, None);
    assert_eq!(settings.password, Some(("PIKEPOLE_SA_PASSWORD", "a".to_owned())));
    assert_eq!(
        settings.notes,
        [
            "MSSQL_DATA_DIR has no effect: --data is given",
            "MSSQL_TCP_PORT has no effect: --listen is given",
            "MSSQL_BACKUP_DIR has no effect: --backup-folder is given",
            "MSSQL_SA_PASSWORD has no effect: PIKEPOLE_SA_PASSWORD is given",
        ]
    );
    let port_alone = ok(&["--listen", "7"], &[("MSSQL_IP_ADDRESS", "0.0.0.0")]);
    assert_eq!(port_alone.address, IpAddr::V4(Ipv4Addr::UNSPECIFIED));
}

#[test]
fn a_database_and_its_owner_belong_together() {
    let owner = |name: &str| Some((name.to_owned(), "p".to_owned()));
    let three = [("MSSQL_DB", "shop"), ("MSSQL_USER", "ann"), ("MSSQL_PASSWORD", "p")];
    let expected = FirstDatabase { name: "shop".to_owned(), collation: None, owner: owner("ann") };
    assert_eq!(ok(&[], &three).first, Some(expected.clone()));
    let collated = [three.as_slice(), &[("MSSQL_COLLATION", "Latin1_General_BIN2")]].concat();
    let collation = Some("Latin1_General_BIN2".to_owned());
    assert_eq!(ok(&[], &collated).first, Some(FirstDatabase { collation, ..expected.clone() }));
    assert_eq!(ok(&[], &three[..1]).first, Some(FirstDatabase { owner: None, ..expected }));
    let error = gather(&[], &three[..2]).expect_err("a password is missing").to_string();
    assert_eq!(error, "MSSQL_USER needs MSSQL_PASSWORD");
    let lonely = ok(&[], &three[1..]);
    assert_eq!((lonely.first, lonely.notes.len()), (None, 2));
    assert_eq!(ok(&[], &[("MSSQL_COLLATION", "Klingon_CI")]).notes.len(), 1);
    assert_eq!(ok(&[], &[("MSSQL_COLLATION", "Latin1_General_BIN2")]).notes.len(), 1);
}

#[test]
fn files_give_way_to_variables_and_the_named_one_wins_over_those_in_the_data_folder() {
    let folder = std::env::temp_dir().join(format!("pikepole-settings-{}", std::process::id()));
    let data = folder.join("data");
    std::fs::create_dir_all(&data).expect("a folder");
    let write = |path: &Path, text: &str| std::fs::write(path, text).expect("a file");
    let named = folder.join("named.conf");
    write(&named, "[network]\ntcpport = 3\n[filelocation]\ndefaultdatadir = data\n");
    write(&data.join("mssql.conf"), "[network]\ntcpport = 1\nipaddress = 127.0.0.2\nforceencryption = 1\n");
    write(&data.join("pikepole.conf"), "[network]\ntcpport = 2\n[memory]\nmemorylimitmb = 300\n[x]\ny = 1\n");
    let (named, own) = (named.to_str().expect("text"), data.to_str().expect("text"));
    let listen = |settings: &Settings| settings.listen.clone();
    let at = |text: &str| [text.parse::<Listen>().expect("an address")];

    let both = ok(&["--config", named], &[]);
    assert_eq!((both.data.as_path(), listen(&both).as_slice()), (data.as_path(), at("127.0.0.2:3").as_slice()));
    assert_eq!((both.encryption, both.memory_mb.as_deref()), (Encryption::Required, Some("300")));
    assert_eq!(both.notes.len(), 1, "{:?}", both.notes);
    assert_eq!(listen(&ok(&["-d", own], &[])), at("127.0.0.2:2"));
    assert_eq!(listen(&ok(&["-d", own], &[("MSSQL_TCP_PORT", "9")])), at("127.0.0.2:9"));
    assert_eq!(ok(&["-d", own, "--tls", "off"], &[]).encryption, Encryption::Off);

    for (text, wanted) in [
        ("[network]\ntcpport = many", "named.conf, line 2: `many` is not a port"),
        ("[network]\nipaddress = here", "`here` is not an IP address"),
        ("[network]\nforceencryption = 7", "`7` is not 0 or 1"),
        ("[network]\ntlscert = a", "tlscert needs tlskey"),
        ("[memory]\nmemorylimitmb = all", "`all` is not a number"),
    ] {
        write(Path::new(named), text);
        let error = gather(&["--config", named], &[]).expect_err("it cannot be").to_string();
        assert!(error.contains(wanted), "{error}");
    }
    std::fs::remove_dir_all(&folder).expect("it was there");
}

#[test]
fn backups_do_not_go_between_the_databases() {
    let inside = ok(&["-d", "/srv/data"], &[("MSSQL_BACKUP_DIR", "/srv/data")]);
    assert_eq!((inside.backups, inside.notes.len()), (None, 1));
    let own = ok(&["-d", "/srv/data"], &[("MSSQL_BACKUP_DIR", "/srv/data/backup")]);
    assert_eq!((own.backups, own.notes.len()), (None, 0));
}
