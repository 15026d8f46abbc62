//! What DEFAULT, CHECK and computed columns are stored as.

use pikepole_tsql::{ExprKind, parse_condition, parse_expression, stored_condition, stored_expression, stored_filter};
use proptest::prelude::*;

fn expression(text: &str) -> String {
    stored_expression(&parse_expression(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn condition(text: &str) -> String {
    stored_condition(&parse_condition(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

#[test]
fn members_of_types_are_in_brackets() {
    assert_eq!(condition("g.STArea() > 1"), "([g].[STArea]()>(1))");
    assert_eq!(condition("g.STSrid = 4326"), "([g].[STSrid]=(4326))");
    assert_eq!(expression("geometry::Point(1, 2, 0).STX"), "([geometry]::[Point]((1),(2),(0)).[STX])");
}

#[test]
fn constants_stand_in_parentheses() {
    for (text, wanted) in [
        ("0", "((0))"),
        ("(0)", "((0))"),
        ("-1", "((-1))"),
        ("+1", "((1))"),
        ("-(+1)", "((-1))"),
        ("007", "((7))"),
        ("- -1", "(-(-1))"),
        ("~1", "(~(1))"),
        ("0.50", "((0.50))"),
        (".5", "((0.5))"),
        ("-1.25", "((-1.25))"),
        ("9000000000", "((9000000000.))"),
        ("-2147483648", "((-2147483648))"),
        ("-2147483649", "((-2147483649.))"),
        ("1.5e0", "((1.5000000000000000e+000))"),
        ("-1e-3", "((-1.0000000000000000e-003))"),
        ("0.1e0", "((1.0000000000000001e-001))"),
        ("1e100", "((1.0000000000000000e+100))"),
        ("$0", "(($0.0000))"),
        ("-$1.5", "((-$1.5000))"),
        ("0x", "((0x))"),
        ("0x1f", "((0x1F))"),
        ("'x'", "('x')"),
        ("N'it''s'", "(N'it''s')"),
        ("NULL", "(NULL)"),
    ] {
        assert_eq!(expression(text), wanted, "{text}");
    }
}

#[test]
fn lists_stay_lists_in_filters() {
    for (text, wanted) in [
        ("a = 1 AND (b > 2)", "([a]=(1) AND [b]>(2))"),
        ("a IN (1, -2) AND s IN ('x', N'y')", "([a] IN ((1), (-2)) AND [s] IN ('x', N'y'))"),
        ("a IN (10)", "([a]=(10))"),
        ("a IS NULL AND b IS NOT NULL AND c !< 5", "([a] IS NULL AND [b] IS NOT NULL AND [c]>=(5))"),
    ] {
        let filter = parse_condition(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(stored_filter(&filter), wanted, "{text}");
    }
}

#[test]
fn functions_have_their_usual_names() {
    for (text, wanted) in [
        ("GETDATE()", "(getdate())"),
        ("[NewID]()", "(newid())"),
        ("CURRENT_TIMESTAMP", "(getdate())"),
        ("SYSTEM_USER", "(suser_sname())"),
        ("CURRENT_USER", "(user_name())"),
        ("User_Name()", "(user_name())"),
        ("@@SPID", "(@@spid)"),
        ("dbo.MakeCode(1, DEFAULT)", "([dbo].[MakeCode]((1),DEFAULT))"),
        ("NEXT VALUE FOR dbo.Numbers", "(NEXT VALUE FOR [dbo].[Numbers])"),
        ("ISNULL(a, 0)", "(isnull([a],(0)))"),
        ("LEFT(a, 3)", "(left([a],(3)))"),
        ("COALESCE(a, NULLIF(b, ''))", "(coalesce([a],nullif([b],'')))"),
        ("TRIM(a)", "(Trim([a]))"),
        ("TRIM(LEADING '0' FROM a)", "(Trim(LEADING '0' FROM [a]))"),
        ("YEAR(a)", "(datepart(year,[a]))"),
        ("DATEADD(dd, -18, getdate())", "(dateadd(day,(-18),getdate()))"),
        ("DATEPART(dw, d)", "(datepart(weekday,[d]))"),
        ("DATEDIFF(day, day, [month])", "(datediff(day,[day],[month]))"),
        ("CAST(x AS int)", "(CONVERT([int],[x]))"),
        ("CAST(x AS DECIMAL(18, 2))", "(CONVERT([decimal](18,2),[x]))"),
        ("CONVERT(national character varying(max), x, 126)", "(CONVERT([nvarchar](max),[x],(126)))"),
        ("CONVERT(integer, x)", "(CONVERT([int],[x]))"),
        ("TRY_CAST(x AS tinyint)", "(TRY_CAST([x] AS [tinyint]))"),
        ("TRY_CONVERT(datetime2(7), x, 126)", "(TRY_CONVERT([datetime2](7),[x],(126)))"),
        ("IIF(a > 0, 1, 0)", "(case when [a]>(0) then (1) else (0) end)"),
        ("CASE WHEN a = 1 THEN 'x' END", "(case when [a]=(1) then 'x'  end)"),
        (
            "CASE a WHEN 1 THEN 'x' WHEN 2 THEN b ELSE NULL END",
            "(case [a] when (1) then 'x' when (2) then [b] else NULL end)",
        ),
    ] {
        assert_eq!(expression(text), wanted, "{text}");
    }
}

#[test]
fn operators_of_one_level_are_grouped() {
    for (text, wanted) in [
        ("a*2", "([a]*(2))"),
        ("first + ' ' + last", "(([first]+' ')+[last])"),
        ("price * (1.0 - discount) * quantity", "(([price]*((1.0)-[discount]))*[quantity])"),
        ("a + b * c", "([a]+[b]*[c])"),
        ("(level & ~1) / 2 & 3", "(([level]&~(1))/(2)&(3))"),
        ("a - (b - c)", "([a]-([b]-[c]))"),
        ("a - -b", "([a]-(-[b]))"),
        ("a - -b * c", "([a]-(-[b]*[c]))"),
        ("- -a", "(-(-[a]))"),
        ("a - -1", "([a]-(-1))"),
        ("-(a + b)", "(-([a]+[b]))"),
        ("t.a + [b]]c]", "([t].[a]+[b]]c])"),
        ("a COLLATE Latin1_General_BIN2", "(([a]) collate Latin1_General_BIN2)"),
        ("sysdatetimeoffset() AT TIME ZONE 'UTC'", "((sysdatetimeoffset() AT TIME ZONE 'UTC'))"),
    ] {
        assert_eq!(expression(text), wanted, "{text}");
    }
}

#[test]
fn conditions_are_comparisons_in_the_order_of_sql_server() {
    for (text, wanted) in [
        ("a > 0 AND b IN (1,2)", "([a]>(0) AND ([b]=(2) OR [b]=(1)))"),
        ("a BETWEEN 1 AND 2", "([a]>=(1) AND [a]<=(2))"),
        ("a NOT BETWEEN 1 AND 10", "(NOT ([a]>=(1) AND [a]<=(10)))"),
        ("a IN ('x')", "([a]='x')"),
        ("a NOT IN (N'a', N'b')", "(NOT ([a]=N'b' OR [a]=N'a'))"),
        ("a NOT LIKE '%x%'", "(NOT [a] like '%x%')"),
        ("a LIKE '!%' ESCAPE '!'", "([a] like '!%' escape '!')"),
        ("NOT (a = 1)", "(NOT [a]=(1))"),
        ("a != 1 OR a !> 2", "([a]<>(1) OR [a]<=(2))"),
        ("a IS NULL OR b IS NOT NULL", "([a] IS NULL OR [b] IS NOT NULL)"),
        ("upper(s) IN ('a', 'b') OR s IS NULL", "(upper([s])='b' OR upper([s])='a' OR [s] IS NULL)"),
        ("s IS NULL OR s IN ('a', 'b')", "([s] IS NULL OR ([s]='b' OR [s]='a'))"),
        ("a IS NULL OR a BETWEEN 1 AND 2", "([a] IS NULL OR [a]>=(1) AND [a]<=(2))"),
        ("NOT p LIKE 'x' AND len(p) BETWEEN 7 AND 8", "(NOT [p] like 'x' AND (len([p])>=(7) AND len([p])<=(8)))"),
        ("(a = 1 AND b = 2) AND c = 3", "([a]=(1) AND [b]=(2) AND [c]=(3))"),
        ("(a = 1 OR b = 2) AND (c = 3 OR d = 4)", "(([a]=(1) OR [b]=(2)) AND ([c]=(3) OR [d]=(4)))"),
        ("a ^ b = 1", "(([a]^[b])=(1))"),
        ("a % 2 = 1", "([a]%(2)=(1))"),
        ("a + b IS NULL", "(([a]+[b]) IS NULL)"),
        ("n COLLATE Latin1_General_BIN2 = upper(n)", "(([n]) collate Latin1_General_BIN2=upper([n]))"),
        ("CASE WHEN a = 1 THEN b ELSE 1 END > 0", "(case when [a]=(1) then [b] else (1) end>(0))"),
    ] {
        assert_eq!(condition(text), wanted, "{text}");
    }
}

/// A sum of many terms would nest more deeply than a text may.
#[test]
fn what_would_nest_too_deeply_is_kept_plain() {
    let sum = vec!["a"; 400].join(" + ");
    assert_eq!(expression(&sum), format!("({sum})"));
    // Each level of IN would write what it tests twice.
    let mut nested = "a".to_owned();
    for _ in 0..60 {
        nested = format!("CASE WHEN {nested} IN (1, 2) THEN 1 END");
    }
    assert_eq!(expression(&nested), format!("({nested})"));
    assert_eq!(condition(&format!("{nested} = 1")), format!("({nested} = 1)"));
}

fn constants() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "a",
        "[b c]",
        "t.[a]",
        "NULL",
        "'x'",
        "N'it''s'",
        "getdate()",
        "CURRENT_TIMESTAMP",
        "SESSION_USER",
        "0x1F",
        "$2.5",
        "@@SPID",
        "dbo.F()",
    ];
    prop_oneof![
        prop::sample::select(WORDS).prop_map(str::to_owned),
        any::<i64>().prop_map(|value| value.unsigned_abs().to_string()),
        (0u32..1000).prop_map(|value| format!("{value}.25")),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| format!("{:e}", value.abs())),
    ]
}

/// Texts of expressions, with parentheses where chance puts them.
fn expressions() -> impl Strategy<Value = String> {
    const OPERATORS: &[&str] = &["+", "-", "*", "/", "%", "&", "|", "^"];
    const COMPARISONS: &[&str] = &["=", "<>", "<", ">=", "!>"];
    constants().prop_recursive(5, 40, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        let three = (inner.clone(), inner.clone(), inner.clone());
        prop_oneof![
            (pair.clone(), prop::sample::select(OPERATORS)).prop_map(|((a, b), op)| format!("{a} {op} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            (inner.clone(), prop::sample::select(&["- ", "+", "~", "- - "][..]))
                .prop_map(|(a, op)| format!("{op}({a})")),
            pair.clone().prop_map(|(a, b)| format!("ISNULL({a}, {b})")),
            pair.clone().prop_map(|(a, b)| format!("DATEADD(dd, {a}, {b})")),
            inner.clone().prop_map(|a| format!("CAST({a} AS varchar(10))")),
            inner.clone().prop_map(|a| format!("({a}) COLLATE Latin1_General_BIN2")),
            inner.clone().prop_map(|a| format!("({a}) AT TIME ZONE 'UTC'")),
            three.clone().prop_map(|(a, b, c)| format!("CASE {a} WHEN {b} THEN {c} END")),
            (three.clone(), prop::sample::select(COMPARISONS))
                .prop_map(|((a, b, c), op)| format!("IIF({a} {op} {b}, {c}, 0)")),
            three.clone().prop_map(|(a, b, c)| format!("CASE WHEN {a} BETWEEN {b} AND {c} THEN 1 END")),
            three.clone().prop_map(|(a, b, c)| format!("CASE WHEN NOT ({a} IN ({b}, {c}) OR {b} LIKE 'x') THEN 1 END")),
            three.prop_map(|(a, b, c)| {
                format!("CASE WHEN {a} IS NULL AND ({b} NOT IN ({c}, 1) AND ({a} = 1 OR {c} > 2)) THEN 1 ELSE 2 END")
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn stored_texts_are_stored_as_they_are(text in expressions()) {
        let Ok(tree) = parse_expression(&text) else { return Ok(()) };
        let stored = stored_expression(&tree);
        prop_assert_eq!(&expression(&stored), &stored, "{}", text);
        // What does not parse would be printed as queries are. Some simple things look the same there.
        let simple = matches!(&tree.kind, ExprKind::Literal(_) | ExprKind::Function(_) | ExprKind::Unary(..));
        prop_assert!(simple || stored != format!("({tree})"), "{} is kept plain", text);
        let test = format!("{text} > 1 AND NOT {text} IN (1, 2)");
        let Ok(tree) = parse_condition(&test) else { return Ok(()) };
        let stored = stored_condition(&tree);
        prop_assert_eq!(&condition(&stored), &stored, "{}", test);
        prop_assert_ne!(stored, format!("({tree})"));
    }
}
