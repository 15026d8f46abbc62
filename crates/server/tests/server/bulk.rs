//! Bulk loads.

use crate::client::{COUNT, Client, DONE, Token, dones, errors, rows, utf16};
use crate::fixture::Fixture;
use pikepole_tds::{PacketKind, TdsVersion, TypeInfo};
use pikepole_types::{Length, SqlType, Value};

/// The rows' message: an int and an nvarchar(20).
fn load(values: &[(i32, &str)]) -> Vec<u8> {
    let types = [SqlType::Int, SqlType::NVarChar(Length::Limit(20))];
    let infos = types.map(|ty| TypeInfo::of(&ty, true, TdsVersion::V7_4));
    let mut out = vec![0x81, 2, 0];
    for (info, name) in infos.iter().zip(["id", "name"]) {
        out.extend([0, 0, 0, 0, 9, 0]);
        info.write(&mut out);
        out.push(name.len() as u8);
        out.extend(utf16(name));
    }
    for (id, name) in values {
        out.push(0xD1);
        infos[0].write_value(&types[0], &Value::Int(*id), &mut out).expect("it fits");
        infos[1].write_value(&types[1], &Value::Str((*name).to_string()), &mut out).expect("it fits");
    }
    out.extend([0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out
}

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    client.run("CREATE TABLE dbo.t (id int PRIMARY KEY, name nvarchar(20) NULL)");
    client
}

fn begin(client: &mut Client) {
    assert_eq!(dones(&client.run("INSERT BULK dbo.t ([id] int, [name] nvarchar(20)) WITH (TABLOCK)")), [(DONE, 0, 0)]);
}

#[test]
fn rows_of_many_packets_are_loaded() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    begin(&mut client);
    let values: Vec<(i32, &str)> = (0..1000).map(|id| (id, "a name")).collect();
    client.send(PacketKind::BulkLoad, 0, &load(&values));
    assert_eq!(dones(&client.reply()), [(DONE, COUNT, 1000)]);
    assert_eq!(client.scalar("SELECT COUNT(*) FROM dbo.t WHERE name = N'a name'"), Value::Int(1000));
}

#[test]
fn short_values_of_fixed_length_are_filled_up() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE TABLE dbo.b (b binary(5) NULL)");
    client.run("INSERT BULK dbo.b ([b] binary(5))");
    let ty = SqlType::Binary(5);
    let info = TypeInfo::of(&ty, true, TdsVersion::V7_4);
    let mut rows = vec![0x81, 1, 0, 0, 0, 0, 0, 9, 0];
    info.write(&mut rows);
    rows.extend([1, b'b', 0, 0xD1]);
    info.write_value(&SqlType::VarBinary(Length::Limit(5)), &Value::Bin(vec![1, 2, 3]), &mut rows).expect("it fits");
    rows.extend([0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    client.send(PacketKind::BulkLoad, 0, &rows);
    assert_eq!(dones(&client.reply()), [(DONE, COUNT, 1)]);
    assert_eq!(client.scalar("SELECT b FROM dbo.b"), Value::Bin(vec![1, 2, 3, 0, 0]));
}

#[test]
fn texts_are_in_the_code_page_of_the_collation_that_the_statement_says() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE TABLE dbo.c (a varchar(9) COLLATE SQL_Latin1_General_CP850_CI_AS, b varchar(9) COLLATE Cyrillic_General_CI_AS)");
    client.run(
        "INSERT BULK dbo.c ([a] varchar(9) COLLATE SQL_Latin1_General_CP850_CI_AS, b varchar(9) collate database_default)",
    );
    let ty = SqlType::VarChar(Length::Limit(9));
    let info = TypeInfo::of(&ty, true, TdsVersion::V7_4);
    let mut message = vec![0x81, 2, 0];
    for name in [b'a', b'b'] {
        message.extend([0, 0, 0, 0, 9, 0]);
        info.write(&mut message);
        message.extend([1, name, 0]);
    }
    // Both say cp1252 of themselves.
    message.extend([0xD1, 2, 0, 0xE0, 0xE2, 1, 0, 0xB5]);
    message.extend([0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    client.send(PacketKind::BulkLoad, 0, &message);
    assert_eq!(dones(&client.reply()), [(DONE, COUNT, 1)]);
    let tokens = client.run("SELECT CAST(a AS nvarchar(9)), CAST(b AS nvarchar(9)) FROM dbo.c");
    assert_eq!(rows(&tokens), [&[Value::from("ÓÔ"), Value::from("\u{B5}")][..]]);
}

#[test]
fn values_for_an_identity_column_are_kept_when_it_is_listed() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for (table, column) in [("dbo.t", "[id]"), ("#t", "\"ID\"")] {
        client.run(&format!("CREATE TABLE {table} (id int IDENTITY(7, 1) PRIMARY KEY, name nvarchar(20) NULL)"));
        for (option, ids) in [("", [101, 102]), (" WITH (KEEP_IDENTITY)", [103, 104])] {
            client.run(&format!("INSERT BULK {table} ({column} int, [name] nvarchar(20)){option}"));
            client.send(PacketKind::BulkLoad, 0, &load(&[(ids[0], "a"), (ids[1], "b")]));
            assert_eq!(dones(&client.reply()), [(DONE, COUNT, 2)], "{table}{option}");
            let sum = format!("SELECT COUNT(*) FROM {table} WHERE id IN ({}, {})", ids[0], ids[1]);
            assert_eq!(client.scalar(&sum), Value::Int(2), "{table}{option}");
        }
    }
}

#[test]
fn keys_that_are_there_are_left_out() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run(
        "CREATE TABLE dbo.t (id int PRIMARY KEY WITH (IGNORE_DUP_KEY = ON), name nvarchar(20) NULL DEFAULT N'none')",
    );
    begin(&mut client);
    let values: Vec<(i32, &str)> = (0..1000).map(|id| (id % 900, "a name")).collect();
    client.send(PacketKind::BulkLoad, 0, &load(&values));
    let reply = client.reply();
    assert_eq!((errors(&reply), dones(&reply)), (vec![], vec![(DONE, COUNT, 900)]));
    let told = reply.iter().filter(|token| matches!(token, Token::Info(3604, _)));
    assert_eq!(told.count(), 1);
}

#[test]
fn constraints_are_looked_at_when_that_is_asked_for() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    client.run("ALTER TABLE dbo.t ADD CONSTRAINT short CHECK (LEN(name) < 3)");
    let trusted = "SELECT is_not_trusted FROM sys.check_constraints";
    client.run("INSERT BULK dbo.t ([id] int, [name] nvarchar(20)) WITH (CHECK_CONSTRAINTS)");
    client.send(PacketKind::BulkLoad, 0, &load(&[(1, "long")]));
    assert_eq!(errors(&client.reply()), [547]);
    assert_eq!(client.scalar(trusted), Value::Bit(false));
    client.run("CREATE LOGIN l WITH PASSWORD = 'Pass-word-1'; CREATE USER l; GRANT INSERT, SELECT ON dbo.t TO l");
    let mut other = Client::connect(fixture.address());
    other.log_in("l", "Pass-word-1");
    begin(&mut other);
    other.send(PacketKind::BulkLoad, 0, &load(&[(1, "long")]));
    assert_eq!(errors(&other.reply()).len(), 1, "it may not alter the table");
    assert_eq!(client.scalar(trusted), Value::Bit(false));
    begin(&mut client);
    client.send(PacketKind::BulkLoad, 0, &load(&[(1, "long")]));
    assert_eq!(dones(&client.reply()), [(DONE, COUNT, 1)]);
    assert_eq!(client.scalar(trusted), Value::Bit(true));
    client.run("GRANT ALTER ON dbo.t TO l");
    begin(&mut other);
    other.send(PacketKind::BulkLoad, 0, &load(&[(2, "long")]));
    assert_eq!(dones(&other.reply()), [(DONE, COUNT, 1)]);
}

#[test]
fn a_load_that_fails_leaves_nothing() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    begin(&mut client);
    let values: Vec<(i32, &str)> = (0..1000).map(|id| (id % 900, "a name")).collect();
    client.send(PacketKind::BulkLoad, 0, &load(&values));
    assert_eq!(errors(&client.reply()), [2627]);
    assert_eq!(rows(&client.run("SELECT COUNT(*), @@TRANCOUNT FROM dbo.t")), [&[Value::Int(0), Value::Int(0)][..]]);
    client.send(PacketKind::BulkLoad, 0, &load(&[(1, "a")]));
    assert_eq!(errors(&client.reply()), [4002], "rows that nobody has asked for");
}
