//! The reader against roxmltree, methods against what SQL Server's documentation says they give, and both against what is none of theirs.

use super::{Accessor, Compiled, Document, LEVELS_MAX, Method, Receiver};
use crate::datetime::DateTimeOffset;
use crate::error::SqlError;
use crate::functions::Context;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use proptest::prelude::*;

fn context() -> Context {
    Context::new(DateTimeOffset::new(0, 0).expect("a moment"), 1)
}

fn canonical(text: &str, style: Option<i32>) -> Result<String, SqlError> {
    let from = SqlType::NVarChar(Length::Max);
    match crate::convert(&Value::from(text), &from, &SqlType::Xml, style)? {
        Value::Str(text) => Ok(text),
        other => panic!("{other:?}"),
    }
}

fn message(result: Result<String, SqlError>) -> String {
    result.map_or_else(|error| format!("{} {}", error.number, error.message), |text| format!("fine: {text}"))
}

#[test]
fn values_have_one_form() {
    for (text, expected) in [
        ("<?xml version='1.0'?><a  b='x' ></a>", "<a b=\"x\"/>"),
        ("<r>  <a>1</a>   <b   c = \"2\"  />  </r>", "<r><a>1</a><b c=\"2\"/></r>"),
        ("<a><![CDATA[x<y]]></a>", "<a>x&lt;y</a>"),
        ("<a/> x <b/>", "<a/> x <b/>"),
        ("abc", "abc"),
        ("", ""),
        ("<a b='1&#10;2\t3 \"'>&gt;&#13;</a>", "<a b=\"1&#x0A;2 3 &quot;\">&gt;&#x0D;</a>"),
        ("<a xml:space='preserve'> <b> </b></a>", "<a xml:space=\"preserve\">&#x20;<b>&#x20;</b></a>"),
        ("<a> &#x20;</a>", "<a> &#x20;</a>"),
        ("<p:a z='1' xmlns:p='u' p:y='2'/>", "<p:a xmlns:p=\"u\" z=\"1\" p:y=\"2\"/>"),
        ("<?t   d ?><!-- c -->", "<?t d ?><!-- c -->"),
        ("\u{FEFF}<a>\r\n x</a>", "<a>\n x</a>"),
    ] {
        let text = canonical(text, None).expect("it is XML");
        assert_eq!(text, expected);
        assert_eq!(canonical(&text, None).expect("it is read again"), expected);
    }
    assert_eq!(canonical("<a> <b/> </a>", Some(1)).expect("blanks are kept"), "<a>&#x20;<b/>&#x20;</a>");
}

#[test]
fn faults_have_numbers_and_places() {
    for (text, expected) in [
        ("<a>", "9400 XML parsing: line 1, character 3, unexpected end of input"),
        ("<a></b>", "9436 XML parsing: line 1, character 7, end tag does not match start tag"),
        ("<a\n b='1' b='2'/>", "9437 XML parsing: line 2, character 14, duplicate attribute"),
        ("<a x>", "9414 XML parsing: line 1, character 5, equal expected"),
        ("<a x=1>", "9413 XML parsing: line 1, character 6, A string literal was expected"),
        ("<a x='<'/>", "9415 XML parsing: line 1, character 7, well formed check: no '<' in attribute value"),
        ("<a x='1'y='2'/>", "9410 XML parsing: line 1, character 9, whitespace expected"),
        ("<a>&b;</a>", "9448 XML parsing: line 1, character 6, well formed check: undeclared entity"),
        ("<a>&lt</a>", "9411 XML parsing: line 1, character 7, semicolon expected"),
        ("<a>&#x0;</a>", "9420 XML parsing: line 1, character 8, illegal xml character"),
        ("<1/>", "9455 XML parsing: line 1, character 2, illegal qualified name character"),
        ("a & b", "9421 XML parsing: line 1, character 4, illegal name character"),
        ("<p:a/>", "9459 XML parsing: line 1, character 6, undeclared prefix"),
        ("<a/ >", "9412 XML parsing: line 1, character 4, '>' expected"),
        (
            "\n<?xml version='1.0'?>",
            "9438 XML parsing: line 2, character 6, text/xmldecl not at the beginning of input",
        ),
        ("<!-- -- -->", "9424 XML parsing: line 1, character 8, incorrect comment syntax"),
        ("a]]>", "9454 XML parsing: line 1, character 2, no ']]>' in element content"),
        (
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a/>",
            "9402 XML parsing: line 1, character 38, unable to switch the encoding",
        ),
        (
            "<!DOCTYPE a><a/>",
            "6359 Parsing XML with internal subset DTDs not allowed. Use CONVERT with style option 2 to enable limited internal \
             subset DTD support.",
        ),
    ] {
        assert_eq!(message(canonical(text, None)), expected, "{text}");
    }
    assert_eq!(message(canonical("<a/>", Some(9))), "6358 9 is not a valid style number when converting to XML.");
}

#[test]
fn elements_nest_so_deep_and_no_deeper() {
    let nested = |levels: usize| "<a>".repeat(levels) + &"</a>".repeat(levels);
    assert!(Document::read(&nested(LEVELS_MAX)).is_ok());
    for levels in [LEVELS_MAX + 1, 1_000_000] {
        let error = Document::read(&nested(levels)).expect_err("it is too deep");
        assert_eq!((error.number, error.state), (6335, 102));
    }
}

#[test]
fn bytes_are_read_as_they_say() {
    let read = |bytes: &[u8]| {
        let from = SqlType::VarBinary(Length::Max);
        match crate::convert(&Value::Bin(bytes.to_vec()), &from, &SqlType::Xml, None) {
            Ok(Value::Str(text)) => text,
            Ok(other) => panic!("{other:?}"),
            Err(error) => error.message,
        }
    };
    assert_eq!(read(b"<a>\xC3\xA9</a>"), "<a>é</a>");
    assert_eq!(read(b"\xFF\xFE<\0a\0/\0>\0"), "<a/>");
    assert_eq!(read(b"\0<\0a\0/\0>"), "<a/>");
    assert_eq!(read(b"<?xml version='1.0' encoding='windows-1252'?><a>\x80</a>"), "<a>€</a>");
    assert_eq!(read(b"<a>\xE9</a>"), "XML parsing: line 1, character 4, illegal xml character");
}

#[test]
fn values_go_where_they_fit() {
    let to = |text: &str, to: SqlType| match crate::convert(&Value::from(text), &SqlType::Xml, &to, None) {
        Ok(value) => crate::to_text(&value, &to),
        Err(error) => format!("{} {}", error.number, error.message),
    };
    assert_eq!(to("<a/>", SqlType::VarChar(Length::Limit(4))), "<a/>");
    assert_eq!(
        to("<a/>", SqlType::VarChar(Length::Limit(3))),
        "6354 Target string size is too small to represent the XML instance"
    );
    assert_eq!(
        to("<a>Ω</a>", SqlType::VarChar(Length::Max)),
        "6355 Conversion of one or more characters from XML to target collation impossible"
    );
    assert_eq!(to("<a/>", SqlType::VarBinary(Length::Max)), "0xFFFE3C0061002F003E00");
    assert_eq!(to("<a/>", SqlType::Int), "529 Explicit conversion from data type xml to int is not allowed.");
}

/// What a method gives of a value, as text.
fn run(method: Method, xml: &str, query: &str, to: &SqlType) -> String {
    let number = Value::Int(2);
    let mut read = |accessor: &Accessor| match accessor {
        Accessor::Variable(name) if name == "@n" => Ok(SqlType::Int),
        Accessor::Column(name) if name == "x" => Ok(SqlType::Xml),
        Accessor::Variable(name) | Accessor::Column(name) => Err(SqlError::xquery_sql_variable_unknown(name)),
    };
    let inputs = if query.contains("sql:column") { vec![Value::from("<n/>")] } else { vec![number; 2] };
    let compiled = Compiled::new(method, query, Receiver::default(), &[], &mut read);
    let result = compiled.and_then(|compiled| compiled.run(method, &Value::from(xml), &inputs, &mut context(), to));
    result.map_or_else(|error| format!("{} {}", error.number, error.message), |value| crate::to_text(&value, to))
}

fn query(xml: &str, query: &str) -> String {
    run(Method::Query, xml, query, &SqlType::Xml)
}

fn value(xml: &str, query: &str) -> String {
    run(Method::Value, xml, query, &SqlType::NVarChar(Length::Max))
}

fn modify(xml: &str, query: &str) -> String {
    run(Method::Modify, xml, query, &SqlType::Xml)
}

const PRODUCTS: &str = "<r><p id='1'><n>one</n><c>1.50</c></p><p id='2'><n>two</n><c>20</c></p><q/>tail</r>";

#[test]
fn paths_find_nodes() {
    for (path, expected) in [
        ("/r/p[@id=2]/n", "<n>two</n>"),
        ("//n", "<n>one</n><n>two</n>"),
        ("(//n)[2]", "<n>two</n>"),
        ("/r/p[n=\"one\"]/@id/../c", "<c>1.50</c>"),
        ("/r/p[last()]/n/text()", "two"),
        ("/r/p[position()=1]/n", "<n>one</n>"),
        ("/r/*[3]", "<q/>"),
        ("/r/node()[4]", "tail"),
        ("/r/p[sql:variable(\"@n\")]/n", "<n>two</n>"),
        ("/r/p[c > 2 and not(n=\"one\")]/c", "<c>20</c>"),
        ("/r/p[c > 2 or n = \"one\"]/c", "<c>1.50</c><c>20</c>"),
        ("/r/descendant::n[1]", "<n>one</n>"),
        ("/r/p//n[1]", "<n>one</n><n>two</n>"),
        ("for $p in /r/p order by $p/c[1] descending return <x i=\"{$p/@id}\">{ $p/n/text() }</x>", {
            "<x i=\"2\">two</x><x i=\"1\">one</x>"
        }),
        ("if (count(/r/p) > 1) then <many/> else <few/>", "<many/>"),
        ("<a>{ 1 + 2 }</a>, element b { attribute c { 1 }, text { \"t\" } }", "<a>3</a><b c=\"1\">t</b>"),
        ("some $p in /r/p satisfies $p/c > 10", "true"),
        ("distinct-values((1, 2, 1))", "1 2"),
        ("(: no (: nodes :) :) /r/z", ""),
    ] {
        assert_eq!(query(PRODUCTS, path), expected, "{path}");
    }
}

#[test]
fn namespaces_are_declared_where_they_are_used() {
    let xml = "<r xmlns:p=\"urn:p\" xmlns=\"urn:d\"><a><p:b/></a></r>";
    assert_eq!(query(xml, "/*:r/*:a"), "<p1:a xmlns:p1=\"urn:d\"><p2:b xmlns:p2=\"urn:p\"/></p1:a>");
    let declared = "declare default element namespace \"urn:d\"; declare namespace q=\"urn:p\"; /r/a";
    assert_eq!(query(xml, declared), "<a xmlns=\"urn:d\"><q:b xmlns:q=\"urn:p\"/></a>");
    assert_eq!(query(xml, "/p:r"), "2229 XQuery [query()]: The name \"p\" does not denote a namespace.");
}

#[test]
fn values_are_single() {
    assert_eq!(value(PRODUCTS, "(/r/p/n)[2]"), "two");
    assert_eq!(value(PRODUCTS, "/r[1]/p[2]/@id"), { "2" });
    assert_eq!(value(PRODUCTS, "sum(/r/p/c)"), "21.5");
    assert_eq!(value(PRODUCTS, "count(/r/p)"), "2");
    assert_eq!(value(PRODUCTS, "concat(\"a\", string((/r/p/n)[1]), 'b')"), "aoneb");
    assert_eq!(value(PRODUCTS, "substring(\"12345\", 2, 3)"), "234");
    assert_eq!(value(PRODUCTS, "2 div 3"), "0.666666");
    assert_eq!(value(PRODUCTS, "upper-case(local-name((/r/q)[1]))"), "Q");
    assert_eq!(value(PRODUCTS, "(/r/z)[1]"), "NULL");
    for path in ["/r/p/n", "/r/p[@id=\"1\"]", "/r/p/@id", "/r/p[1]/n"] {
        assert_eq!(
            value(PRODUCTS, path),
            "2389 XQuery [value()]: 'value()' requires a singleton (or empty sequence), found operand of type \
             'xdt:untypedAtomic *'"
        );
    }
    assert_eq!(run(Method::Value, "<a>7</a>", "(/a)[1]", &SqlType::Int), "7");
    assert_eq!(run(Method::Value, "<a>true</a>", "(/a)[1]", &SqlType::Bit), "1");
    assert_eq!(run(Method::Value, "<a>AQI=</a>", "(/a)[1]", &SqlType::VarBinary(Length::Max)), "0x0102");
}

#[test]
fn what_exists_is_any_item() {
    let exist = |query: &str| run(Method::Exist, PRODUCTS, query, &SqlType::Bit);
    assert_eq!(exist("/r/p"), "1");
    assert_eq!(exist("/r/z"), "0");
    assert_eq!(exist("false()"), "1");
    assert_eq!(exist("()"), "0");
}

#[test]
fn what_is_refused_is_named() {
    for (text, expected) in [
        ("/r/p[", "2209 XQuery [query()]: Syntax error near '<eof>'"),
        ("/r/@a", "2396 XQuery [query()]: Attribute may not appear outside of an element"),
        ("/r/following-sibling::p", "9335 XQuery [query()]: The XQuery syntax 'following-sibling' is not supported."),
        ("/r/above::p", "2392 XQuery [query()]: 'above::' is not a valid axis"),
        ("starts-with(\"a\", \"a\")", {
            "2395 XQuery [query()]: There is no function '{http://www.w3.org/2004/07/xpath-functions}:starts-with()'"
        }),
        (
            "count()",
            "2236 XQuery [query()]: There are not enough actual arguments in the call to function \"count()\".",
        ),
        ("true(1)", "2238 XQuery [query()]: Too many arguments in call to function 'true()'"),
        ("$x", "2227 XQuery [query()]: The variable 'x' was not found in the scope in which it was referenced."),
        ("\"a\" = 1", {
            "2234 XQuery [query()]: The operator \"=\" cannot be applied to \"xs:string\" and \"xs:integer\" operands."
        }),
        ("(<a/>)/b", "2373 XQuery [query()]: '/' is not supported with constructed XML"),
        ("/r/p[\"a\"]", {
            "2203 XQuery [query()]: Only 'http://www.w3.org/2001/XMLSchema#decimal?', \
             'http://www.w3.org/2001/XMLSchema#boolean?' or 'node()*' expressions allowed as predicates, found 'xs:string'"
        }),
        (
            "(1, /r)",
            "2210 XQuery [query()]: Heterogeneous sequences are not allowed: found 'xs:integer' and 'element(r,xdt:untyped) *'",
        ),
        ("position()", "2371 XQuery [query()]: 'position()' can only be used within a predicate or XPath selector"),
        ("<!--\u{1}-->", "2333 XQuery [query()]: Invalid source character 0x01"),
        (" ", "6306 Invalid XQuery expression passed to XML data type method."),
        ("sql:variable(\"@z\")", {
            "9501 XQuery: Unable to resolve sql:variable('@z'). The variable must be declared as a scalar TSQL variable."
        }),
    ] {
        assert_eq!(query(PRODUCTS, text), expected, "{text}");
    }
    let deep = "(".repeat(1000) + "1";
    assert_eq!(query("", &deep), "2363 XQuery [query()]: XQuery too complex");
    let long = "1".to_owned() + &" + 1".repeat(100_000);
    assert_eq!(query("", &long), "2363 XQuery [query()]: XQuery too complex");
    // As deep as it may be, with as much as may lean on each other.
    let sums = "(".repeat(40) + "1" + &") + 1 + 1 + 1".repeat(40);
    assert_eq!(query("", &sums), "121");
    let loops = "for $a in 1 ".repeat(200) + "return $a";
    assert_eq!(query("", &loops), "1");
}

#[test]
fn documents_change() {
    let xml = "<r><a m=\"1\" n=\"2\">x</a><b/></r>";
    for (text, expected) in [
        ("delete /r/b", "<r><a m=\"1\" n=\"2\">x</a></r>"),
        ("delete /r", ""),
        ("delete //@m", "<r><a n=\"2\">x</a><b/></r>"),
        ("replace value of (/r/a/@m)[1] with \"9\"", "<r><a m=\"9\" n=\"2\">x</a><b/></r>"),
        ("replace value of (/r/a/text())[1] with 1 + 2", "<r><a m=\"1\" n=\"2\">3</a><b/></r>"),
        ("replace value of (/r/a/text())[1] with ()", "<r><a m=\"1\" n=\"2\"/><b/></r>"),
        ("insert <c/> into (/r)[1]", "<r><a m=\"1\" n=\"2\">x</a><b/><c/></r>"),
        ("insert <c/> as first into (/r)[1]", "<r><c/><a m=\"1\" n=\"2\">x</a><b/></r>"),
        ("insert (<c/>, <d/>) before (/r/b)[1]", "<r><a m=\"1\" n=\"2\">x</a><c/><d/><b/></r>"),
        ("insert <c/> after (/r)[1]", "<r><a m=\"1\" n=\"2\">x</a><b/></r><c/>"),
        ("insert attribute z { 9 } into (/r/a)[1]", "<r><a m=\"1\" z=\"9\" n=\"2\">x</a><b/></r>"),
        ("insert text { \"t\" } into (/r/b)[1]", "<r><a m=\"1\" n=\"2\">x</a><b>t</b></r>"),
        ("insert sql:column(\"x\") into (/r/b)[1]", "<r><a m=\"1\" n=\"2\">x</a><b><n/></b></r>"),
        ("insert /r/b into (/r/b)[1]", "<r><a m=\"1\" n=\"2\">x</a><b><b/></b></r>"),
        ("delete /r/z", "<r><a m=\"1\" n=\"2\">x</a><b/></r>"),
        (
            "insert <c/> into /r",
            "2226 XQuery [modify()]: The target of 'insert' must be a single node, found 'element(r,xdt:untyped) *'",
        ),
        (
            "replace value of (/r/a)[1] with 1",
            "2356 XQuery [modify()]: The target of 'replace value of' must be a non-metadata attribute or an element with \
             simple typed content, found 'element(a,xdt:untyped) ?'",
        ),
        (
            "replace value of /r/a/text() with 1",
            "2337 XQuery [modify()]: The target of 'replace' must be at most one node, found 'text *'",
        ),
        ("insert attribute m { 1 } into (/r/a)[1]", {
            "6308 XML well-formedness check: Duplicate attribute 'm'. Rewrite your XQuery so it returns well-formed XML."
        }),
        ("/r", "6305 XQuery data manipulation expression required in XML data type method."),
        ("replace value of (/r/a/@m)[1]", "2205 XQuery [modify()]: \"with\" was expected."),
    ] {
        assert_eq!(modify(xml, text), expected, "{text}");
    }
}

/// Pieces that documents and queries are made of, so that what is put together at random is often nearly right.
const PIECES: &[&str] = &[
    "<",
    ">",
    "/",
    "</",
    "/>",
    "a",
    "b",
    "p:a",
    "xmlns:p='u'",
    " ",
    "=",
    "'1'",
    "\"2\"",
    "&lt;",
    "&#65;",
    "&",
    ";",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "xml",
    "version",
    "é",
    "\u{1}",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "@",
    "//",
    "..",
    ".",
    "*",
    "1",
    "+",
    "-",
    " and ",
    " or ",
    "not",
    "$v",
    " in ",
    "for ",
    "let ",
    ":=",
    " return ",
    " where ",
    " order by ",
    "if ",
    " then ",
    " else ",
    "count",
    "sum",
    "position()",
    "last()",
    "text()",
    "node()",
    "::",
    "child",
    "parent",
    "insert ",
    "delete ",
    "replace value of ",
    " with ",
    " into ",
    " before ",
    "sql:variable(\"@n\")",
    "sql:column(\"x\")",
    "declare namespace p=\"u\";",
    "(:",
    ":)",
    ",",
    "'",
    "\"",
    "element a ",
    "attribute b ",
    "text ",
    "<a>",
    "</a>",
    "<b c=\"{",
    "}\"/>",
];

fn pieces(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..most).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Content that we take is what roxmltree takes in an element, and says the same.
    #[test]
    fn the_reader_agrees_with_another(text in pieces(14)) {
        let ours = Document::read(&text);
        let wrapped = format!("<w>{text}</w>");
        let theirs = roxmltree::Document::parse(&wrapped);
        // It takes what namespaces forbid in places, and a declaration nowhere but in front.
        if let (Ok(ours), false) = (&ours, text.starts_with("<?xml")) {
            let theirs = theirs.expect("we take it");
            let text = |node: roxmltree::Node<'_, '_>| node.descendants().filter_map(|node| {
                node.is_text().then(|| node.text()).flatten().map(str::to_owned)
            }).collect::<String>();
            let blanks = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(blanks(&ours.string_value(0)), blanks(&text(theirs.root())));
            let elements = theirs.root_element().descendants().filter(|node| node.is_element()).count() - 1;
            let own = ours.descendants(0).filter(|id| ours.kind(*id) == super::document::Kind::Element).count();
            prop_assert_eq!(own, elements);
        }
    }

    /// What was written is read again, and written the same.
    #[test]
    fn what_is_written_is_read(text in pieces(14)) {
        if let Ok(document) = Document::read(&text) {
            let written = document.to_text();
            let again = Document::read(&written).expect("it was written").to_text();
            prop_assert_eq!(again, written);
        }
    }

    /// No text of a query panics; what it gives is XML.
    #[test]
    fn no_query_panics(text in pieces(16), xml in pieces(10)) {
        let xml = Document::read(&xml).map_or_else(|_| "<a b='1'><b>1</b>x</a>".to_owned(), |document| document.to_text());
        for method in [Method::Value, Method::Query, Method::Exist, Method::Nodes, Method::Modify] {
            let mut read = |accessor: &Accessor| Ok(match accessor {
                Accessor::Variable(_) => SqlType::Int,
                Accessor::Column(_) => SqlType::Xml,
            });
            let Ok(compiled) = Compiled::new(method, &text, Receiver::default(), &[], &mut read) else { continue };
            let inputs: Vec<Value> = compiled.inputs().iter().map(|ty| match ty {
                SqlType::Xml => Value::from("<n/>"),
                _ => Value::Int(1),
            }).collect();
            if method == Method::Nodes {
                let _ = compiled.nodes(&Value::Str(xml.clone()), &inputs, &mut context());
                continue;
            }
            let to = if method == Method::Value { SqlType::NVarChar(Length::Max) } else { SqlType::Xml };
            let result = compiled.run(method, &Value::Str(xml.clone()), &inputs, &mut context(), &to);
            if let (Method::Query | Method::Modify, Ok(Value::Str(result))) = (method, result) {
                prop_assert!(Document::read(&result).is_ok(), "{text} on {xml} gives {result}");
            }
        }
    }
}
