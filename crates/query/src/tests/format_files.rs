//! Format files and native files, for BULK INSERT and for OPENROWSET(BULK ...).

#[path = "../../../log/tests/fuzz/mutate.rs"]
mod mutate;

use super::Client;
use mutate::{Random, mutate};

/// Mutated files that a test loads, unless `PIKEPOLE_LOAD_RUNS` says how many.
const RUNS: u64 = 300;

const NON_XML: &str =
    "16.0\n3\n1 SQLCHAR 0 10 \",\" 2 name \"\"\n2 SQLCHAR 0 10 \",\" 0 passed \"\"\n3 SQLCHAR 0 10 \"\\n\" 1 id \"\"\n";

const XML: &str = r#"<?xml version="1.0"?>
<BCPFORMAT xmlns="http://schemas.microsoft.com/sqlserver/2004/bulkload/format" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
 <RECORD>
  <FIELD ID="1" xsi:type="CharTerm" TERMINATOR="," MAX_LENGTH="10"/>
  <FIELD ID="2" xsi:type="CharTerm" TERMINATOR=","/>
  <FIELD ID="3" xsi:type="CharTerm" TERMINATOR="\n"/>
 </RECORD>
 <ROW>
  <COLUMN SOURCE="3" NAME="id" xsi:type="SQLINT"/>
  <COLUMN SOURCE="1" NAME="name" xsi:type="SQLVARYCHAR" LENGTH="10"/>
 </ROW>
</BCPFORMAT>"#;

#[test]
fn a_format_file_says_which_fields_become_which_columns() {
    let mut client = Client::alone();
    client.file("f", "one,x,1\ntwo,y,2\n,z,3");
    client.file("f.fmt", NON_XML);
    client.file("f.xml", XML);
    client.quiet("CREATE TABLE t (id int, name varchar(10) DEFAULT 'none', more int DEFAULT 7)");
    for format in ["f.fmt", "f.xml"] {
        let load = format!(
            "TRUNCATE TABLE t BULK INSERT t FROM 'f' WITH (FORMATFILE = '{format}') SELECT * FROM t ORDER BY 1"
        );
        assert_eq!(client.lines(&load), ["(3 rows)", "1|one|7", "2|two|7", "3|none|7", "(3 rows)"], "{format}");
        let read = format!(
            "SELECT f.id, f.name, t.more FROM OPENROWSET(BULK 'f', FORMATFILE = '{format}', ORDER (id) UNIQUE, ROWS_PER_BATCH = 3) AS f
             JOIN t ON t.id = f.id WHERE f.id > 1 ORDER BY f.id"
        );
        assert_eq!(client.lines(&read), ["2|two|7", "3|NULL|7", "(2 rows)"], "{format}");
    }
    let insert = "INSERT t (id, name) SELECT a + 10, b FROM OPENROWSET(BULK 'f', FORMATFILE = 'f.xml', FIRSTROW = 2, LASTROW = 2) AS r(a, b)
        SELECT name FROM t WHERE id = 12";
    assert_eq!(client.lines(insert), ["(1 rows)", "two", "(1 rows)"]);
}

#[test]
fn text_has_lengths_before_it_or_always_as_many_bytes() {
    let mut client = Client::alone();
    client.file(
        "f.fmt",
        "13.0\n4\n1 SQLCHAR 0 3 \"\" 1 a \"\"\n2 SQLCHAR 2 10 \";\" 2 b \"\"\n3 SQLNCHAR 0 0 \"\\n\\0\" 3 c \"\"\n4 SQLINT 1 4 \"\" 4 d \"\"\n",
    );
    let mut rows = Vec::new();
    // U+0A0D ends in the terminator's bytes where no unit begins.
    for (a, b, c, d) in
        [("12 ", Some("x;y"), "\u{0A0D}\u{000D}ž", Some(-7)), ("345", None, "", None), ("  6", Some(""), "z", Some(1))]
    {
        rows.extend_from_slice(a.as_bytes());
        rows.extend(b.map_or(u16::MAX, |b| b.len() as u16).to_le_bytes());
        rows.extend_from_slice(b.unwrap_or_default().as_bytes());
        rows.push(b';');
        rows.extend(c.encode_utf16().chain([10]).flat_map(u16::to_le_bytes));
        match d {
            Some(d) => {
                rows.push(4);
                rows.extend(i32::to_le_bytes(d));
            }
            None => rows.push(u8::MAX),
        }
    }
    client.file("f", &rows);
    client.quiet("CREATE TABLE t (a int, b varchar(10), c nvarchar(10), d int)");
    let load = "BULK INSERT t FROM 'f' WITH (FORMATFILE = 'f.fmt') SELECT a, '<' + b + '>', c, d FROM t ORDER BY 1";
    let wanted = ["(3 rows)", "6|<>|z|1", "12|<x;y>|\u{0A0D}\rž|-7", "345|NULL|NULL|NULL", "(3 rows)"];
    assert_eq!(client.lines(load), wanted);
    let cut = |client: &mut Client, bytes: &[u8]| {
        client.file("f", bytes);
        client.lines("BULK INSERT t FROM 'f' WITH (FORMATFILE = 'f.fmt')")[0].clone()
    };
    assert!(cut(&mut client, &rows[..rows.len() - 1]).starts_with("Msg 4832"));
    rows[3] = 2;
    assert!(cut(&mut client, &rows).starts_with("Msg 4866"), "no terminator behind the length");
}

/// A row of [`NATIVE_COLUMNS`] as `bcp -n` writes it.
fn native_row() -> Vec<u8> {
    let mut row = Vec::new();
    row.extend(7i32.to_le_bytes());
    row.extend([1, 1]);
    row.extend([1, 255]);
    row.extend([2, 0xFE, 0xFF]);
    row.extend([8]);
    row.extend(9_000_000_000i64.to_le_bytes());
    row.extend([4]);
    row.extend(1.5f32.to_le_bytes());
    row.extend([8]);
    row.extend((-2.25f64).to_le_bytes());
    // 12345.6789 in ten-thousandths, upper half first.
    row.extend([8, 0, 0, 0, 0]);
    row.extend(123_456_789u32.to_le_bytes());
    row.extend([19, 9, 2, 0]);
    row.extend(1_234u128.to_le_bytes());
    row.extend([8]);
    row.extend(43_888i32.to_le_bytes());
    row.extend((300u32 * 60).to_le_bytes());
    row.extend([3]);
    row.extend(&737_483u32.to_le_bytes()[..3]);
    row.extend([4]);
    row.extend(&450_000u32.to_le_bytes()[..4]);
    row.extend([16]);
    row.extend(0u8..16);
    row.extend(3u16.to_le_bytes());
    row.extend(*b"ab\xE9");
    row.extend(4u16.to_le_bytes());
    row.extend("ž\u{20AC}".encode_utf16().flat_map(u16::to_le_bytes));
    row.extend(2u16.to_le_bytes());
    row.extend([0xBE, 0xEF]);
    row.extend(5u64.to_le_bytes());
    row.extend(*b"long!");
    row
}

const NATIVE_COLUMNS: &str = "a int NOT NULL, b bit, c tinyint, d smallint, e bigint, f real, g float, h money, i decimal(9, 3), j datetime, k date,
    l time(3), m uniqueidentifier, n varchar(10), o nvarchar(10), p varbinary(4), q varchar(max)";

#[test]
fn native_files_have_values_of_every_type() {
    let mut client = Client::alone();
    let mut file = native_row();
    let nulls = [&8i32.to_le_bytes()[..], &[0xFF; 12], &[0xFF; 2], &[0xFF; 2], &[0xFF; 2], &[0xFF; 8]].concat();
    file.extend(&nulls);
    client.file("f", &file);
    client.quiet(&format!("CREATE TABLE t ({NATIVE_COLUMNS}) BULK INSERT t FROM 'f' WITH (DATAFILETYPE = 'native')"));
    let same = "SELECT COUNT(*) FROM t WHERE a = 7 AND b = 1 AND c = 255 AND d = -2 AND e = 9000000000 AND f = 1.5 AND g = -2.25 AND h = 12345.6789
        AND i = -12.34 AND j = '2020-02-29T00:01:00' AND k = '2020-02-29' AND l = '00:07:30' AND m = CAST(0x000102030405060708090A0B0C0D0E0F AS uniqueidentifier)
        AND n = N'abé' AND o = N'ž€' AND p = 0xBEEF AND q = 'long!'";
    assert_eq!(client.value(same), "1");
    let others = "SELECT COUNT(*) FROM t WHERE a = 8 AND COALESCE(CAST(b AS varchar(10)), CAST(c AS varchar(10)), CAST(m AS varchar(40)), n, o, q) IS NULL AND p IS NULL";
    assert_eq!(client.value(others), "1");
    // bcp -N: texts are UTF-16.
    let wide = [&4u16.to_le_bytes()[..], &[0x7E, 1, 0x21, 0]].concat();
    client.file("f", wide);
    client.quiet("CREATE TABLE w (a nvarchar(5))");
    assert_eq!(client.lines("BULK INSERT w FROM 'f' WITH (DATAFILETYPE = 'widenative') SELECT a FROM w")[1], "ž!");
    client.file("f", [&[1u8, 5][..]].concat());
    let told = client
        .lines("CREATE TABLE y (a tinyint) BULK INSERT y FROM 'f' WITH (DATAFILETYPE = 'native') SELECT a FROM y");
    assert_eq!(told[1], "5");
    client.file("f", [2u8, 5, 0, 1, 9]);
    let told = client.lines("TRUNCATE TABLE y BULK INSERT y FROM 'f' WITH (DATAFILETYPE = 'native') SELECT a FROM y");
    assert!(told[1].starts_with("Msg 4864"), "{told:?}");
    assert_eq!(told[2], "9");
}

#[test]
fn csv_is_read_as_rows() {
    let mut client = Client::alone();
    client.file("f", "id,name,when\n1,\"a,b\",2020-02-29\n2,c,\n");
    let read = "SELECT * FROM OPENROWSET(BULK 'f', FORMAT = 'CSV', FIRSTROW = 2) WITH (id int, name varchar(5), d date) AS t ORDER BY id";
    assert_eq!(client.lines(read), ["1|a,b|2020-02-29", "2|c|NULL", "(2 rows)"]);
    let placed = "SELECT t.d, t.n FROM OPENROWSET(BULK 'f', FORMAT = 'CSV', FIRSTROW = 2) WITH (d date 3, n int 1) AS t WHERE n = 1";
    assert_eq!(client.lines(placed), ["2020-02-29|1", "(1 rows)"]);
    client.file(
        "f.fmt",
        "16.0\n3\n1 SQLCHAR 0 9 \",\" 1 id \"\"\n2 SQLCHAR 0 9 \",\" 2 name \"\"\n3 SQLCHAR 0 10 \"\\n\" 3 d \"\"\n",
    );
    let described =
        "SELECT name FROM OPENROWSET(BULK 'f', FORMATFILE = 'f.fmt', FORMAT = 'CSV', FIRSTROW = 2) AS t WHERE id = 1";
    assert_eq!(client.lines(described), ["a,b", "(1 rows)"]);
    client.file("f", "1,x\n?,y\n3,z\n");
    let refused = client.lines("SELECT n FROM OPENROWSET(BULK 'f', FORMAT = 'CSV') WITH (n int, s varchar(5)) AS t");
    assert!(refused[0].starts_with("Msg 4864"), "{refused:?}");
    assert_eq!(refused[1..], ["1", "3", "(2 rows)"]);
    let over = client
        .lines("SELECT n FROM OPENROWSET(BULK 'f', FORMAT = 'CSV', MAXERRORS = 0) WITH (n int, s varchar(5)) AS t");
    let numbers: Vec<&str> = over.iter().filter_map(|line| line.strip_prefix("Msg ")?.get(..4)).collect();
    assert_eq!(numbers, ["4864", "4865", "7399", "7330"]);
}

#[test]
fn what_a_load_cannot_be_is_told() {
    let mut client = Client::alone();
    client.file("f", "1,2\n");
    client.file("wrong.fmt", "16.0\n1\n1 SQLCHAR 9 0 \",\" 1 a \"\"\n");
    client.file("far.fmt", "16.0\n1\n1 SQLCHAR 0 0 \"\\n\" 3 a \"\"\n");
    client.quiet("CREATE TABLE t (a int, b sql_variant)");
    let cases = [
        ("BULK INSERT t FROM 'f' WITH (FORMATFILE = 'none.fmt')", 4860),
        ("BULK INSERT t FROM 'f' WITH (FORMATFILE = 'wrong.fmt')", 4825),
        ("BULK INSERT t FROM 'f' WITH (FORMATFILE = 'far.fmt')", 4828),
        ("BULK INSERT t FROM 'f' WITH (DATAFILETYPE = 'native')", 40517),
        ("SELECT * FROM OPENROWSET(BULK 'f', FORMATFILE = 'none.fmt') AS x", 4860),
        ("SELECT * FROM OPENROWSET(BULK 'f', FORMATFILE = 'wrong.fmt') AS x", 4825),
        ("SELECT * FROM OPENROWSET(BULK 'none', FORMAT = 'CSV') WITH (a int) AS x", 4860),
        ("SELECT * FROM OPENROWSET(BULK 'f', FORMAT = 'CSV') WITH (a int, a int) AS x", 8156),
        ("SELECT * FROM OPENROWSET(BULK 'f', FORMAT = 'CSV') AS x", 40517),
        ("SELECT * FROM OPENROWSET(BULK 'f', FORMAT = 'CSV', TABLOCK) WITH (a int) AS x", 155),
        ("SELECT * FROM OPENROWSET(BULK 'f', FORMAT = 'CSV', ORDER (z)) WITH (a int) AS x", 207),
        ("SELECT * FROM OPENROWSET(BULK 'f', FORMAT = 'CSV') WITH (a int 0) AS x", 102),
    ];
    for (text, number) in cases {
        let told = client.lines(text);
        assert!(told[0].starts_with(&format!("Msg {number},")), "{text}: {told:?}");
    }
}

/// Whatever stands in format files and native files, the server answers.
#[test]
fn no_bytes_end_a_load_but_by_its_errors() {
    let mut client = Client::alone();
    client.quiet(&format!("CREATE TABLE t (id int, name varchar(10)) CREATE TABLE n ({NATIVE_COLUMNS})"));
    let native = [native_row(), native_row()].concat();
    let (non_xml, xml) = (NON_XML.as_bytes(), XML.as_bytes());
    let runs = std::env::var("PIKEPOLE_LOAD_RUNS").ok().and_then(|runs| runs.parse().ok());
    for seed in 0..runs.unwrap_or(RUNS) {
        let mut random = Random::new(seed);
        let mut changed = native.clone();
        mutate(&mut changed, non_xml, &mut random);
        client.file("f", &changed);
        client.lines("BULK INSERT n FROM 'f' WITH (DATAFILETYPE = 'native')");
        let (plain, other) = if seed % 2 == 0 { (non_xml, xml) } else { (xml, non_xml) };
        let mut format = plain.to_vec();
        mutate(&mut format, other, &mut random);
        client.file("f.fmt", &format);
        client.lines("BULK INSERT t FROM 'f' WITH (FORMATFILE = 'f.fmt')");
        client.lines("SELECT COUNT(*) FROM OPENROWSET(BULK 'f', FORMATFILE = 'f.fmt') AS t");
    }
    assert_eq!(client.value("SELECT 1"), "1");
}
