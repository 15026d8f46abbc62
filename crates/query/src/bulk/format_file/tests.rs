use super::*;

fn parse(text: &str) -> Result<FormatFile, i32> {
    FormatFile::parse(text.as_bytes(), "f.fmt").map_err(|error| error.number)
}

fn text(encoding: Option<Encoding>, length: usize, terminator: &[u8]) -> FieldFormat {
    FieldFormat { host: Host::Text(encoding), prefix_bytes: 0, length, terminator: terminator.to_vec() }
}

#[test]
fn a_table_of_words_is_read() {
    let format = parse(concat!(
        "14.0\r\n4\r\n",
        "1       SQLCHAR     0       12      \"\\t\"     2     id                 \"\"\r\n",
        "2       SQLNCHAR    2       40      \"\"       1     \"a name\"         Latin1_General_CI_AS\r\n",
        "3       SQLINT      1       4       \"\"       0     passed             \"\"\r\n",
        "4       SQLCHAR     0       0       \"\\\"\\\\\\r\\n\" 3     last     Latin1_General_100_CI_AS_SC_UTF8\r\n\r\n",
    ));
    let format = format.expect("a format file");
    let wide = FieldFormat { host: Host::Wide, prefix_bytes: 2, length: 40, terminator: Vec::new() };
    let native = FieldFormat { host: Host::Native(SqlType::Int), prefix_bytes: 1, length: 4, terminator: Vec::new() };
    let last = text(Some(Encoding::Utf8), 0, b"\"\\\r\n");
    assert_eq!(format.fields, [text(None, 12, b"\t"), wide, native, last]);
    let columns: Vec<_> = format.columns.iter().map(|column| (column.field, column.place, &column.name[..])).collect();
    assert_eq!(columns, [(1, 0, "a name"), (0, 1, "id"), (3, 2, "last")]);
    assert_eq!(format.columns[0].ty, SqlType::NVarChar(Length::Limit(20)));
}

#[test]
fn what_is_wrong_with_words_has_its_number() {
    let line = |line: &str| format!("16.0\n1\n{line}\n");
    let cases = [
        ("17.9\n1\n".to_owned(), 4820),
        (String::new(), 4820),
        ("16.0\nmany\n".to_owned(), 4821),
        ("16.0\n0\n".to_owned(), 4822),
        ("16.0\n2000\n".to_owned(), 4822),
        (line("1 SQLCHAR 0 1 \",\" 1 a \"\"") + "2 SQLCHAR 0 1 \",\" 2 b \"\"", 4822),
        (line("2 SQLCHAR 0 1 \",\" 1 a \"\""), 4823),
        ("16.0\n1".to_owned(), 4823),
        (line("1 SQLTEXT 0 1 \",\" 1 a \"\""), 4824),
        (line("1 SQLCHAR 3 1 \",\" 1 a \"\""), 4825),
        (line("1 SQLCHAR 0 -1 \",\" 1 a \"\""), 4826),
        (line("1 SQLCHAR 0 1 , 1 a \"\""), 4827),
        (line("1 SQLCHAR 0 1 \",\" x a \"\""), 4828),
        (line("1 SQLCHAR 0 1 \",\" 1"), 4829),
        (line("1 SQLCHAR 0 1 \",\" 1 a nonsense"), 4839),
        (line("1 SQLCHAR 0 0 \"\" 1 a \"\""), 4882),
    ];
    for (text, number) in cases {
        assert_eq!(parse(&text), Err(number), "{text}");
    }
}

fn xml(record: &str, row: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<BCPFORMAT xmlns=\"{}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n<RECORD>{record}</RECORD>\n<ROW>{row}</ROW>\n</BCPFORMAT>",
        "http://schemas.microsoft.com/sqlserver/2004/bulkload/format",
    )
}

#[test]
fn xml_is_read() {
    let format = parse(&xml(
        concat!(
            r#"<FIELD ID="1" xsi:type="CharTerm" TERMINATOR="," MAX_LENGTH="12"/>"#,
            r#"<FIELD ID="2" xsi:type="NCharPrefix" PREFIX_LENGTH="2" COLLATION="Latin1_General_CI_AS"/>"#,
            r#"<FIELD ID="3" xsi:type="NativePrefix" PREFIX_LENGTH="1"/>"#,
            r#"<FIELD ID="x" xsi:type="NativeFixed" LENGTH="4"/>"#,
            r#"<FIELD ID="5" xsi:type="CharFixed" LENGTH="3"/>"#,
            r#"<FIELD ID="6" xsi:type="NCharTerm" TERMINATOR="\r\0\n\0"/>"#,
        ),
        concat!(
            r#"<COLUMN SOURCE="3" NAME="d" xsi:type="SQLDECIMAL" PRECISION="9" SCALE="2" NULLABLE="NO"/>"#,
            r#"<COLUMN SOURCE="1" NAME="a" xsi:type="SQLVARYCHAR" LENGTH="12"/>"#,
            r#"<COLUMN SOURCE="x" NAME="t" xsi:type="SQLINT"/>"#,
        ),
    ));
    let format = format.expect("a format file");
    let host = |host, prefix_bytes, length, terminator: &[u8]| FieldFormat {
        host,
        prefix_bytes,
        length,
        terminator: terminator.to_vec(),
    };
    let decimal = SqlType::Decimal { precision: 9, scale: 2 };
    assert_eq!(
        format.fields,
        [
            text(None, 12, b","),
            host(Host::Wide, 2, 0, b""),
            host(Host::Native(decimal), 1, 0, b""),
            host(Host::Native(SqlType::Int), 0, 4, b""),
            text(None, 3, b""),
            host(Host::Wide, 0, 0, b"\r\0\n\0"),
        ]
    );
    let columns: Vec<_> = format.columns.iter().map(|column| (column.field, column.place, column.ty)).collect();
    assert_eq!(columns, [(2, 0, decimal), (0, 1, SqlType::VarChar(Length::Limit(12))), (3, 2, SqlType::Int)]);
    assert!(!format.columns[0].nullable && format.columns[1].nullable);
}

#[test]
fn what_is_wrong_with_xml_has_its_number_and_line() {
    let field = r#"<FIELD ID="1" xsi:type="CharTerm" TERMINATOR=","/>"#;
    let column = r#"<COLUMN SOURCE="1" NAME="a" xsi:type="SQLINT"/>"#;
    let cases = [
        (xml(&field.replace("FIELD", "FELD"), column), 4855),
        (xml(&format!("{field} x"), column), 4856),
        (xml(&field.replace("ID=", "COLOUR=\"red\" ID="), column), 4857),
        (xml(&field.replace("CharTerm", "NativeTerm"), column), 4858),
        (xml(&field.replace("TERMINATOR=\",\"", ""), column), 4859),
        (xml(field, &column.replace("NAME=\"a\"", "")), 4859),
        (xml(field, &column.replace("SQLINT", "SQLTEXT")), 4858),
        (xml(&format!("{field}{field}"), column), 4872),
        (xml(field, &column.replace("SOURCE=\"1\"", "SOURCE=\"2\"")), 4873),
        (xml(field, &format!("{column}{column}")), 4874),
        (xml(field, ""), 4822),
        (xml(&field.replace("CharTerm\" TERMINATOR=\",", "CharFixed\" LENGTH=\"0"), column), 4882),
        ("<BCPFORMAT".to_owned(), 4883),
        ("<other/>".to_owned(), 4855),
    ];
    for (text, number) in cases {
        assert_eq!(parse(&text), Err(number), "{text}");
    }
    let told = FormatFile::parse(xml(&format!("\n{}", field.replace("ID=", "X=")), column).as_bytes(), "f.xml");
    let told = told.expect_err("no ID").message;
    assert_eq!(told, "Line 4 in format file \"f.xml\": Attribute \"X\" could not be specified for this type.");
}

#[test]
fn marks_and_code_pages_do_not_matter() {
    let plain = "16.0\n1\n1 SQLCHAR 0 3 \",\" 1 né \"\"\n";
    let wide: Vec<u8> = format!("\u{FEFF}{plain}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = format!("\u{FEFF}{plain}").into_bytes();
    let mut latin = Vec::new();
    pikepole_types::CodePage::Western.encode(plain, &mut latin);
    for bytes in [plain.as_bytes(), &wide, &marked, &latin] {
        let format = FormatFile::parse(bytes, "f").expect("a format file");
        assert_eq!(format.columns[0].name, "né");
    }
}
