//! What trees look like, where their nodes stand, and how they print.

use pikepole_tsql::*;

fn one(text: &str) -> Statement {
    let mut batch = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(batch.statements.len(), 1, "{text}");
    batch.statements.remove(0)
}

fn select(text: &str) -> Select {
    match one(text).kind {
        StatementKind::Select(query) => match query.body {
            QueryBody::Select(select) => *select,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// The text of an expression with all its parentheses.
fn grouped(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Chain(chain) => chain
            .rest
            .iter()
            .fold(grouped(&chain.first), |left, link| format!("({left} {} {})", link.op, grouped(&link.operand))),
        ExprKind::Unary(UnaryOp::Minus, operand) => format!("(-{})", grouped(operand)),
        ExprKind::Collate(operand, name) => format!("({} COLLATE {name})", grouped(operand)),
        _ => expr.to_string(),
    }
}

#[test]
fn operators_bind_as_in_sql_server() {
    for (text, wanted) in [
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("1 - 2 - 3", "((1 - 2) - 3)"),
        ("1 | 2 & 3 ^ 4", "(((1 | 2) & 3) ^ 4)"),
        ("1 & 2 * 3", "(1 & (2 * 3))"),
        ("-a * b", "(-(a * b))"),
        ("a / -b / c", "(a / (-(b / c)))"),
        ("(-a) * b / c", "(((-a) * b) / c)"),
        ("a * -b + c", "((a * (-b)) + c)"),
        ("a + b COLLATE c", "(a + (b COLLATE c))"),
        ("-a COLLATE c", "(-(a COLLATE c))"),
        ("a % b / c", "((a % b) / c)"),
        ("a - -b", "(a - (-b))"),
    ] {
        assert_eq!(grouped(&parse_expression(text).unwrap()), wanted);
    }
}

#[test]
fn operators_may_stand_in_pieces() {
    for (apart, together) in [
        ("SELECT 1 WHERE a < = 1 AND b > = 1 AND c < > 1", "SELECT 1 WHERE a <= 1 AND b >= 1 AND c <> 1"),
        ("SELECT 1 WHERE d ! = 1 AND e !\n< 1 AND f ! /* so */ > 1", "SELECT 1 WHERE d != 1 AND e !< 1 AND f !> 1"),
        ("UPDATE t SET a + = 1, b - = 1, c * = 2, d / = 2", "UPDATE t SET a += 1, b -= 1, c *= 2, d /= 2"),
        ("UPDATE t SET @a = a + = 1, @b % = 2", "UPDATE t SET @a = a += 1, @b %= 2"),
        ("SET @a & = 1", "SET @a &= 1"),
        ("SELECT @a | = 1, @b ^ = 1, @c || = 'x'", "SELECT @a |= 1, @b ^= 1, @c ||= 'x'"),
    ] {
        assert_eq!(one(apart), one(together), "{apart}");
    }
}

#[test]
fn words_of_statements_that_are_gone_are_names() {
    one("SELECT disk, load AS dump FROM dbo.load AS disk WHERE disk.dump = 1");
    one("CREATE TABLE dump (disk int, load int)");
    one("BACKUP DATABASE d TO DISK = 'f'");
}

#[test]
fn intersect_binds_before_union_and_except() {
    let StatementKind::Select(query) = one("SELECT 1 EXCEPT SELECT 2 INTERSECT SELECT 3 UNION SELECT 4").kind else {
        panic!("SELECT")
    };
    let QueryBody::SetOperation(chain) = &query.body else { panic!("a set operation") };
    let [(SetOperator::Except, QueryBody::SetOperation(inner)), (SetOperator::Union, QueryBody::Select(_))] =
        chain.rest.as_slice()
    else {
        panic!("EXCEPT and UNION: {chain:?}")
    };
    assert!(matches!(inner.rest.as_slice(), [(SetOperator::Intersect, QueryBody::Select(_))]));
}

#[test]
fn conditions_bind_not_and_or() {
    let condition = parse_condition("NOT a = 1 AND b = 2 OR c = 3 AND (d = 4 OR e = 5) AND f = 6").unwrap();
    let Condition::Or(terms) = condition else { panic!("an OR") };
    let [Condition::And(left), Condition::And(right)] = &terms[..] else { panic!("two ANDs") };
    assert!(matches!(&left[..], [Condition::Not(_), Condition::Compare(_)]));
    assert!(matches!(&right[..], [Condition::Compare(_), Condition::Or(_), Condition::Compare(_)]));
}

#[test]
fn statements_and_names_know_where_they_stand() {
    let text = "-- first\nSELECT a,\n  dbo.f(x) + b\nFROM t;\nIF 1 = 1\n  PRINT 'é'\nELSE BEGIN SELECT 2 END ;";
    let batch = parse(text).unwrap();
    let places: Vec<_> = batch.statements.iter().map(|s| (s.line(), &text[s.span.range()])).collect();
    assert_eq!(places[0], (2, "SELECT a,\n  dbo.f(x) + b\nFROM t"));
    assert_eq!(places[1], (5, "IF 1 = 1\n  PRINT 'é'\nELSE BEGIN SELECT 2 END"));
    let StatementKind::If(choice) = &batch.statements[1].kind else { panic!("IF") };
    assert_eq!((choice.then.line(), &text[choice.then.span.range()]), (6, "PRINT 'é'"));
    let StatementKind::Select(query) = &batch.statements[0].kind else { panic!("SELECT") };
    let QueryBody::Select(select) = &query.body else { panic!("SELECT") };
    let SelectItem::Expr { expr, .. } = &select.items[1] else { panic!("an expression") };
    assert_eq!((expr.line(), &text[expr.span.range()]), (3, "dbo.f(x) + b"));
    let ExprKind::Chain(sum) = &expr.kind else { panic!("a sum") };
    assert_eq!(&text[sum.first.span.range()], "dbo.f(x)");
    let TableSource::Table(table) = &select.from[0] else { panic!("a table") };
    assert_eq!((table.name.span().line, &text[table.name.span().range()]), (4, "t"));
}

#[test]
fn a_procedure_keeps_the_span_of_its_text() {
    let text = "/* head */\r\nCREATE PROC dbo.p @a int = -5, @b varchar(max) OUT AS\r\nSELECT @a\r\nRETURN 1 -- tail";
    let statement = one(text);
    assert_eq!(&text[statement.span.range()], &text["/* head */\r\n".len()..text.len() - " -- tail".len()]);
    let StatementKind::CreateProcedure(procedure) = &statement.kind else { panic!("a procedure") };
    assert_eq!(procedure.name.dotted(), "dbo.p");
    assert_eq!(procedure.parameters[0].default.as_ref().unwrap().to_string(), "-5");
    assert!(procedure.parameters[1].output && !procedure.parameters[0].output);
    assert_eq!(procedure.parameters[1].data_type.arguments, TypeArguments::Max);
    let lines: Vec<_> = procedure.body.statements().iter().map(Statement::line).collect();
    assert_eq!(lines, [3, 4]);
}

#[test]
fn names_have_their_parts() {
    let StatementKind::Truncate(name) = one("TRUNCATE TABLE srv.[my db]..[t]]x]").kind else { panic!("TRUNCATE") };
    let part = |part: &Option<Name>| part.as_ref().map(|name| name.text.clone());
    assert_eq!(part(&name.server).as_deref(), Some("srv"));
    assert_eq!(name.database_str(), Some("my db"));
    assert_eq!(name.schema_str(), None);
    assert_eq!(name.name.as_str(), "t]x");
    assert_eq!((name.dotted().as_str(), name.to_string().as_str()), ("srv.my db..t]x", "srv.[my db]..[t]]x]"));
    assert!(!name.is_temporary());
    let select = select("SELECT db..t.c, s.t.*, [#x] FROM #t");
    let SelectItem::Expr { expr, .. } = &select.items[0] else { panic!("a column") };
    let ExprKind::Column(column) = &expr.kind else { panic!("a column") };
    let qualifier = column.qualifier.as_ref().unwrap();
    assert_eq!((qualifier.database_str(), qualifier.schema_str(), qualifier.name.as_str()), (Some("db"), None, "t"));
    let SelectItem::Star { qualifier: Some(qualifier), .. } = &select.items[1] else { panic!("a star") };
    assert_eq!(qualifier.dotted(), "s.t");
    let TableSource::Table(table) = &select.from[0] else { panic!("a table") };
    assert!(table.name.is_temporary());
}

#[test]
fn aliases_come_both_ways() {
    let select = select("SELECT x = a, b AS y, c z, 'w' = d, e 'v', f FROM t u");
    let aliases: Vec<_> = select
        .items
        .iter()
        .map(|item| match item {
            SelectItem::Expr { alias, .. } => alias.as_ref().map_or("-", Name::as_str),
            _ => "?",
        })
        .collect();
    assert_eq!(aliases, ["x", "y", "z", "w", "v", "-"]);
}

#[test]
fn joins_lean_left_unless_on_says_otherwise() {
    let print = |text: &str| select(text).from[0].to_string();
    assert_eq!(
        print("SELECT 1 FROM a JOIN b ON 1 = 1 LEFT JOIN c ON 2 = 2"),
        "a INNER JOIN b ON 1 = 1 LEFT JOIN c ON 2 = 2"
    );
    assert_eq!(
        print("SELECT 1 FROM a JOIN b LEFT JOIN c ON 2 = 2 ON 1 = 1"),
        "a INNER JOIN (b LEFT JOIN c ON 2 = 2) ON 1 = 1"
    );
}

#[test]
fn a_batch_may_begin_with_a_bare_call() {
    let StatementKind::Execute(call) = one("dbo.p 1, @b = @x OUTPUT").kind else { panic!("a call") };
    assert!(matches!(&call.target, ExecuteTarget::Procedure { name, number: None } if name.dotted() == "dbo.p"));
    assert!(call.arguments[1].output && call.arguments[1].name.as_ref().unwrap().is("@B"));
    assert_eq!(call.arguments[0].value.as_ref().unwrap().literal(), Some(&Literal::Int(1)));
    assert_eq!(parse("PRINT 1 dbo.p").unwrap_err().number, 102);
    let text = Literal::String { value: "word".into(), national: false };
    assert!(parse("p 1, word").is_ok_and(|batch| matches!(&batch.statements[0].kind,
        StatementKind::Execute(call) if call.arguments[1].value.as_ref().unwrap().literal() == Some(&text))));
}

#[test]
fn else_belongs_to_the_nearest_if() {
    let StatementKind::If(outer) = one("IF 1 = 1 IF 2 = 2 PRINT 'a'; ELSE PRINT 'b'").kind else { panic!("IF") };
    assert!(outer.otherwise.is_none());
    assert!(matches!(&outer.then.kind, StatementKind::If(inner) if inner.otherwise.is_some()));
}

#[test]
fn options_have_values() {
    let StatementKind::AlterDatabase(alter) =
        one("ALTER DATABASE d SET DELAYED_DURABILITY = forced, RECOVERY FULL, AUTO_CLOSE ON").kind
    else {
        panic!("ALTER DATABASE")
    };
    let AlterDatabaseAction::Set { options, termination: None } = &alter.action else { panic!("SET") };
    assert_eq!(options[0].value, Some(SettingValue::Word("FORCED".into())));
    assert_eq!(options[1].value, Some(SettingValue::Word("FULL".into())));
    assert_eq!((options[2].name.as_str(), options[2].on_off()), ("AUTO_CLOSE", Some(true)));
    let StatementKind::Dbcc(dbcc) = one("dbcc traceon (9038, -1, 'x', a.b, clear)").kind else { panic!("DBCC") };
    let texts: Vec<_> = dbcc.arguments.iter().map(|argument| argument.text().unwrap()).collect();
    assert_eq!((dbcc.name.as_str(), texts.join(" ").as_str()), ("TRACEON", "9038 -1 x a.b clear"));
    assert_eq!(FileSize::Of(8, SizeUnit::Megabytes).bytes(), Some(8 << 20));
    assert_eq!(FileSize::Of(u64::MAX, SizeUnit::Terabytes).bytes(), None);
}

#[test]
fn printing_keeps_the_parentheses_that_matter() {
    for text in [
        "(a + b) * c",
        "a - (b - c)",
        "- -a",
        "-(a + b)",
        "(-a) COLLATE x",
        "((a AT TIME ZONE 'x') COLLATE y)",
        "[cast](1, 2)",
        "trim(a)",
        "[trim](a, b)",
        "[select].[from]",
        "left(a, 1)",
        "[output] + [throw]",
    ] {
        let tree = parse_expression(text).unwrap();
        assert_eq!(parse_expression(&tree.to_string()).unwrap(), tree, "{text} prints {tree}");
    }
    for text in
        ["NOT (a = 1 AND b = 2)", "NOT (a = 1 OR b = 2)", "(a = 1 OR b = 2) AND c = 3", "a = 1 AND (b = 2 AND c = 3)"]
    {
        assert_eq!(parse_condition(text).unwrap().to_string(), text);
    }
    assert_eq!(parse_expression("((a)+((b*c)))").unwrap().to_string(), "a + b * c");
    assert_eq!(
        parse_condition("((a=1) or (b=2)) and not (c=3)").unwrap().to_string(),
        "(a = 1 OR b = 2) AND NOT c = 3"
    );
}

#[test]
fn files_as_sources_of_rows_keep_their_options() {
    let text = "SELECT f.BulkColumn FROM OPENROWSET(BULK 'a''b.txt', SINGLE_CLOB) AS f (x) INNER JOIN OPENROWSET(BULK 'c', FORMATFILE = 'd.fmt', FIRSTROW = 2) AS g ON 1 = 1";
    let shown = one(text).to_string();
    assert_eq!(shown, text);
    assert_eq!(one(&shown).to_string(), shown);
    for text in [
        "SELECT 1 FROM OPENROWSET(BULK)",
        "SELECT 1 FROM OPENROWSET(BULK 'a', )",
        "SELECT 1 FROM OPENROWSET(BULK a, SINGLE_BLOB) f",
    ] {
        assert_eq!(parse(text).expect_err(text).number, 102, "{text}");
    }
}

#[test]
fn odbc_escapes_are_what_tsql_has_for_them() {
    for (text, wanted) in [
        ("{d '2024-01-31'}", "CONVERT(datetime, '2024-01-31')"),
        ("{ts '2024-01-31 10:20:30'}", "CONVERT(datetime, '2024-01-31 10:20:30')"),
        ("{fn UCASE(a)}", "UPPER(a)"),
        ("{fn ifnull(a, {fn now()})} + 1", "ISNULL(a, GETDATE()) + 1"),
        ("{fn DAYOFYEAR(a)}", "DATEPART(dayofyear, a)"),
        ("{fn TIMESTAMPADD(SQL_TSI_DAY, 1, a)}", "DATEADD(day, 1, a)"),
        ("{fn MOD(a, 3)}", "a % 3"),
        ("{fn TRUNCATE(a, 2)}", "ROUND(a, 2, 1)"),
        ("{fn curdate()}", "CONVERT(varchar(10), GETDATE(), 23)"),
        ("{fn left(a, 2)}", "left(a, 2)"),
    ] {
        let select = select(&format!("SELECT {text}"));
        let SelectItem::Expr { expr, .. } = &select.items[0] else { panic!("{text}") };
        assert_eq!(expr.to_string(), wanted, "{text}");
    }
    let escaped = "SELECT 1 FROM {oj a LEFT OUTER JOIN b ON a.x = b.x} WHERE a.y LIKE 'z!%' {escape '!'}";
    let plain = "SELECT 1 FROM a LEFT JOIN b ON a.x = b.x WHERE a.y LIKE 'z!%' ESCAPE '!'";
    assert_eq!(one(escaped).to_string(), one(plain).to_string());
    for text in ["SELECT {x 'a'}", "SELECT {fn UCASE('a')", "SELECT {ts 5}", "SELECT {d 'a' + 'b'}", "SELECT {d 'a'"] {
        assert_eq!(parse(text).expect_err(text).number, 102, "{text}");
    }
}

#[test]
fn virtual_columns_are_no_names() {
    for (text, printed) in [
        ("SELECT %%physloc%%", "SELECT %%physloc%%"),
        ("SELECT a%%%LockRes%%", "SELECT a % %%LockRes%%"),
        ("SELECT t.%%physloc%%,s.t.%%lockres%%", "SELECT t.%%physloc%%, s.t.%%lockres%%"),
        ("SELECT [%%physloc%%] WHERE %%physloc%%=0x01", "SELECT [%%physloc%%] WHERE %%physloc%% = 0x01"),
    ] {
        let statement = one(text);
        assert_eq!(statement.to_string(), printed);
        assert_eq!(one(printed).to_string(), printed);
    }
    let is_virtual = |text: &str| match &select(text).items[0] {
        SelectItem::Expr { expr, .. } => match &expr.kind {
            ExprKind::Column(column) => column.is_virtual,
            _ => false,
        },
        _ => false,
    };
    assert!(is_virtual("SELECT t.%%physloc%%"));
    assert!(!is_virtual("SELECT t.[%%physloc%%]"));
    for text in
        ["SELECT %%physloc", "SELECT %physloc%%", "SELECT %% physloc %%", "SELECT %%1%%", "SELECT 1 FROM t.%%a%%"]
    {
        assert!(parse(text).is_err(), "{text}");
    }
}
