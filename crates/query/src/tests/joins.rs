//! Joins give the same rows in whatever order they run.

use super::*;

/// Numbers that look like chance and are the same each time.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

pub(super) const TABLES: usize = 5;

/// Tables `t0` to `t4` with the columns k, a, b and c; some have keys and indexes, and one has no rows now and then.
pub(super) fn schema(chance: &mut Chance) -> String {
    let mut script = String::new();
    for table in 0..TABLES {
        let key = match chance.below(4) {
            0 => "k int NOT NULL, a int, b int NOT NULL, c varchar(10)",
            1 => "k int NOT NULL, a int, b int NOT NULL, c varchar(10), UNIQUE (b, k)",
            2 => "k int NOT NULL, a int, b int NOT NULL, c varchar(10), PRIMARY KEY (b, k)",
            _ => "k int NOT NULL PRIMARY KEY, a int, b int NOT NULL, c varchar(10)",
        };
        script += &format!("DROP TABLE IF EXISTS t{table};\nCREATE TABLE t{table} ({key});\n");
        if chance.one_in(2) {
            script += &format!("CREATE INDEX i{table} ON t{table} ({});\n", chance.pick(&["a", "c", "a, b"]));
        }
        let rows = if chance.one_in(9) { 0 } else { 1 + chance.below(12) };
        for row in 0..rows {
            let a = if chance.one_in(5) { "NULL".to_owned() } else { chance.below(5).to_string() };
            let c =
                if chance.one_in(5) { "NULL".to_owned() } else { format!("'{}'", chance.pick(&["x", "Y", "y", "z"])) };
            script += &format!("INSERT t{table} VALUES ({row}, {a}, {}, {c});\n", chance.below(4));
        }
    }
    script
}

/// A condition on one source, or on two of them.
pub(super) fn condition(chance: &mut Chance, sources: &[String]) -> String {
    let (x, y) = (&sources[chance.below(sources.len())], &sources[chance.below(sources.len())]);
    let (p, q) = (chance.pick(&["k", "a", "b"]), chance.pick(&["k", "a", "b"]));
    let value = chance.below(5);
    match chance.below(16) {
        0 => format!("{x}.{p} = {value}"),
        1 => format!("{x}.{p} < {value}"),
        2 => format!("{x}.{p} <= {y}.{q}"),
        3 => format!("{x}.c = {y}.c"),
        4 => format!("({x}.{p} = {y}.{q} AND {x}.b = {value} OR {x}.{p} = {y}.{q} AND {y}.b = 1)"),
        5 => format!("({x}.a = 1 AND {y}.b = {value} OR {x}.a = 2 AND {y}.b = 0)"),
        6 => format!("{x}.{p} + 1 = {y}.{q}"),
        7 => format!("{x}.{p} IN (1, 2, {value})"),
        8 => format!("{x}.c{} = 'y'", chance.pick(&["", " COLLATE Latin1_General_BIN2"])),
        9 => format!("({x}.{p} IS NULL OR {y}.{q} = {value})"),
        10 => format!("ISNULL({x}.{p}, {value}) = {value}"),
        11 => format!("NOT ({x}.{p} = {value} AND {y}.{q} = 1)"),
        12 => format!("{x}.{p} NOT IN (1, {value})"),
        _ => format!("{x}.{p} = {y}.{q}"),
    }
}

pub(super) fn conditions(chance: &mut Chance, sources: &[String], least: usize) -> String {
    let count = least + chance.below(3);
    let all: Vec<String> = (0..count).map(|_| condition(chance, sources)).collect();
    if all.is_empty() { "1 = 1".to_owned() } else { all.join(" AND ") }
}

/// In a derived table, where TOP can be put to have it planned before what stands around it.
pub(super) const CLOSE: &str = "/*close*/";

/// A table, or a query over one or two.
fn source(chance: &mut Chance, name: &str) -> String {
    let table = chance.below(TABLES);
    if !chance.one_in(3) {
        return format!("t{table} {name}");
    }
    if chance.one_in(3) {
        let c = "q.c COLLATE SQL_Latin1_General_CP1_CI_AS AS c";
        return format!("(SELECT {CLOSE} q.k, q.a, q.b, {c} FROM ({}) q) {name}", made_of_many(chance));
    }
    let (y, z) = ("y".to_owned(), "z".to_owned());
    let c = chance.pick(&["y.c", "y.c", "UPPER(y.c)"]);
    let second = chance.below(TABLES);
    let body = match chance.below(5) {
        0 => format!("t{table} y JOIN t{second} z ON {}", conditions(chance, &[y.clone(), z], 1)),
        1 => format!("t{table} z LEFT JOIN t{second} y ON {}", conditions(chance, &[y.clone(), z], 1)),
        2 => format!("(SELECT {CLOSE} z.k, z.b, z.a, z.c FROM t{table} z WHERE {}) y", conditions(chance, &[z], 0)),
        _ => format!("t{table} y"),
    };
    format!("(SELECT {CLOSE} y.k, y.a, y.b, {c} AS c FROM {body} WHERE {}) {name}", conditions(chance, &[y], 0))
}

/// A query whose rows are made of several: groups, sets, windows.
fn made_of_many(chance: &mut Chance) -> String {
    let (table, second) = (chance.below(TABLES), chance.below(TABLES));
    let filter = conditions(chance, &["y".to_owned()], 0);
    let from = format!("FROM t{table} y WHERE {filter}");
    let binary = chance.pick(&["", " COLLATE Latin1_General_BIN2"]);
    match chance.below(8) {
        0 => format!("SELECT a AS k, a, b, MAX(c) c {from} GROUP BY a, b"),
        1 => format!("SELECT COUNT(*) k, MAX(a) a, b, MAX(c{binary}) c {from} GROUP BY b, c{binary}"),
        2 => format!("SELECT DISTINCT b AS k, a, b, c{binary} AS c {from}"),
        3 => format!("SELECT MIN(k) k, a, b, MAX(c) c {from} GROUP BY ROLLUP (a, b)"),
        4 => format!(
            "SELECT ROW_NUMBER() OVER (PARTITION BY b, a ORDER BY k) k, a, b, MAX(c) OVER (PARTITION BY b) c {from}"
        ),
        5 => {
            let set = chance.pick(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]);
            format!("SELECT k, a, b, UPPER(c{binary}) c {from} {set} SELECT k, b, b, UPPER(c) FROM t{second}")
        }
        6 => format!(
            "SELECT k, a, b, (SELECT MAX(z.c) FROM t{second} z WHERE z.a = y.b) c {from} UNION ALL SELECT 1, 2, 3, 'y'"
        ),
        _ => {
            let join = format!("t{table} y JOIN t{second} z ON {}", conditions(chance, &["y".into(), "z".into()], 1));
            format!("SELECT y.b AS k, z.a, y.b, MIN(z.c) c FROM {join} GROUP BY y.b, z.a")
        }
    }
}

/// FROM of several sources, and what they are called.
fn from(chance: &mut Chance) -> (String, Vec<String>) {
    let count = 2 + chance.below(TABLES - 1);
    from_of(chance, count)
}

/// FROM of so many sources, and what they are called.
pub(super) fn from_of(chance: &mut Chance, count: usize) -> (String, Vec<String>) {
    let mut sources = vec!["x0".to_owned()];
    let mut text = source(chance, "x0");
    // The sources that an ON may name: those since the last comma.
    let mut since = 0;
    while sources.len() < count {
        let at = sources.len();
        let name = format!("x{at}");
        let table = source(chance, &name);
        let before = sources[since..].to_vec();
        sources.push(name.clone());
        let within = sources[since..].to_vec();
        match chance.below(9) {
            0 | 1 => {
                text += &format!(", {table}");
                since = at;
            }
            2 => text += &format!(" CROSS JOIN {table}"),
            3 | 4 => text += &format!(" LEFT JOIN {table} ON {}", conditions(chance, &within, 1)),
            5 => {
                let kind = chance.pick(&["CROSS", "OUTER"]);
                let inner = conditions(chance, &[before, vec!["z".to_owned()]].concat(), 1);
                let table = chance.below(TABLES);
                let columns = "z.k, z.a, z.b, z.c";
                text += &format!(" {kind} APPLY (SELECT {CLOSE} {columns} FROM t{table} z WHERE {inner}) {name}");
            }
            6 if sources.len() < count => {
                let other = format!("x{}", at + 1);
                let pair = [name, other.clone()];
                sources.push(other.clone());
                let kind = chance.pick(&["JOIN", "LEFT JOIN"]);
                let outer = chance.pick(&["JOIN", "LEFT JOIN"]);
                let table2 = source(chance, &other);
                let on = conditions(chance, &pair, 1);
                let all = sources[since..].to_vec();
                text += &format!(" {outer} ({table} {kind} {table2} ON {on}) ON {}", conditions(chance, &all, 1));
            }
            7 => {
                let columns = "k, MAX(a) a, MIN(b) b, MAX(c) c";
                let table = chance.below(TABLES);
                let on = conditions(chance, &within, 1);
                text += &format!(" JOIN (SELECT {columns} FROM t{table} GROUP BY k) {name} ON {on}");
            }
            _ => text += &format!(" JOIN {table} ON {}", conditions(chance, &within, 1)),
        }
    }
    (text, sources)
}

/// WHERE, with a subquery of two tables now and then.
pub(super) fn filter(chance: &mut Chance, sources: &[String]) -> String {
    let mut text = conditions(chance, sources, 0);
    if chance.one_in(3) {
        let not = chance.pick(&["", "NOT "]);
        let (a, b) = (source(chance, "z"), source(chance, "w"));
        let inner = conditions(chance, &["z".to_owned(), "w".to_owned(), sources[0].clone()], 2);
        text += &format!(" AND {not}EXISTS (SELECT * FROM {a}, {b} WHERE {inner})");
    }
    text
}

/// A query of joins.
struct Joins {
    seed: u64,
    from: String,
    sources: Vec<String>,
    filter: String,
}

impl Joins {
    /// The columns of all sources, each as `shown` says.
    fn columns(&self, shown: impl Fn(&str, &str) -> String) -> String {
        let all = self.sources.iter().flat_map(|x| ["k", "a", "b", "c"].map(|column| shown(x, column)));
        all.collect::<Vec<_>>().join(", ")
    }

    fn query(&self) -> String {
        let columns = self.columns(|x, column| format!("{x}.{column}"));
        format!("SELECT {columns} FROM {} WHERE {}", self.from, self.filter)
    }
}

/// Calls `check` with one query after the other; now and then there are other tables.
fn for_joins(seeds: std::ops::Range<u64>, mut check: impl FnMut(&mut Client, &Joins)) {
    let mut client = Client::alone();
    for seed in seeds {
        let mut chance = Chance(seed);
        if seed % 10 == 0 {
            client.quiet(&schema(&mut chance));
        }
        let (from, sources) = from(&mut chance);
        let filter = filter(&mut chance, &sources);
        check(&mut client, &Joins { seed, from, sources, filter });
    }
}

/// What a query gives, in the order of the texts.
fn rows(client: &mut Client, query: &str) -> Vec<String> {
    sorted(client.lines(query))
}

pub(super) fn sorted(mut lines: Vec<String>) -> Vec<String> {
    assert!(!lines.iter().any(|line| line.starts_with("Msg")), "{lines:?}");
    // Where no rows are joined, the order says whether those of a grouped member are made at all.
    lines.retain(|line| !line.starts_with("Warning"));
    lines.sort();
    lines
}

#[test]
fn the_order_of_joins_changes_no_result() {
    let (mut reordered, mut given) = (0, 0);
    for_joins(0..500, |client, joins| {
        let query = joins.query();
        let free = client.lines(&query);
        let kept = client.lines(&format!("{query} OPTION (FORCE ORDER)"));
        given += usize::from(free.len() > 1);
        reordered += usize::from(free != kept);
        assert_eq!(sorted(free), sorted(kept), "seed {}: {query}", joins.seed);
    });
    assert!(given > 100, "{given} queries have rows");
    assert!(reordered > 10, "{reordered} queries were joined in another order");
}

#[test]
fn conditions_that_move_into_queries_change_no_result() {
    let (mut with, mut given) = (0, 0);
    for_joins(10_000..10_600, |client, joins| {
        let query = joins.query();
        let open = rows(client, &query);
        let closed = rows(client, &query.replace(CLOSE, "TOP (9223372036854775807)"));
        with += usize::from(query.contains(CLOSE));
        given += usize::from(query.contains(CLOSE) && open.len() > 1);
        assert_eq!(open, closed, "seed {}: {query}", joins.seed);
    });
    assert!(with > 300 && given > 60, "{given} of {with} queries over queries have rows");
}

#[test]
fn outer_joins_that_become_inner_ones_change_no_result() {
    let mut given = 0;
    for_joins(20_000..20_600, |client, joins| {
        let Joins { seed, from, sources, filter } = joins;
        let within = joins.query();
        // Behind TOP the rows are there before any is dropped.
        let named = joins.columns(|x, column| format!("{x}.{column} AS {x}_{column}"));
        let all = format!("SELECT TOP (9223372036854775807) {named} FROM {from}");
        let filter = sources.iter().fold(filter.clone(), |text, x| text.replace(&format!("{x}."), &format!("d.{x}_")));
        let behind = format!("SELECT * FROM ({all}) AS d WHERE {filter}");
        let found = rows(client, &within);
        given += usize::from(from.contains("LEFT") && found.len() > 1);
        assert_eq!(found, rows(client, &behind), "seed {seed}: {within}\n{behind}");
    });
    assert!(given > 50, "{given} queries with outer joins have rows");
}

#[test]
fn tests_made_before_rows_are_joined_change_no_result() {
    let mut given = 0;
    for_joins(30_000..30_400, |client, joins| {
        let Joins { seed, from, sources, filter } = joins;
        let mut chance = Chance(seed + 1);
        let (x, column, other) = (chance.pick(&["x0", "x1"]), chance.pick(&["k", "a", "b"]), chance.below(TABLES));
        let (wanted, not) = (chance.pick(&["a", "b", "k"]), if chance.one_in(4) { "NOT " } else { "" });
        let list = format!("{not}IN (SELECT {wanted} FROM t{other} WHERE b < {})", 1 + chance.below(4));
        let columns = joins.columns(|x, column| format!("{x}.{column}"));
        let early = rows(client, &format!("SELECT {columns} FROM {from} WHERE {filter} AND {x}.{column} {list}"));
        // Behind TOP the rows are joined before any is tested.
        let named = joins.columns(|x, column| format!("{x}.{column} AS {x}_{column}"));
        let all = format!("SELECT TOP (9223372036854775807) {named} FROM {from} WHERE {filter}");
        let late = rows(client, &format!("SELECT * FROM ({all}) AS d WHERE d.{x}_{column} {list}"));
        given += usize::from(early.len() > 1);
        assert_eq!(early, late, "seed {seed}, {} sources: {x}.{column} {list} of {all}", sources.len());
    });
    assert!(given > 20, "{given} queries have rows");
}

#[test]
fn a_test_of_a_table_of_a_join_narrows_its_scan() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let mut narrowed = |query: &str| {
        let mut narrowed = Vec::new();
        plan(&mut client, query).source.visit_scans(&mut |scan| {
            if scan.narrowing.is_some() {
                narrowed.push(scan.table.name.to_string());
            }
        });
        narrowed.join(" ")
    };
    let list = "item.i IN (SELECT s FROM supplier WHERE name = 'x')";
    assert_eq!(narrowed(&format!("SELECT 1 FROM item JOIN part ON item.p = part.p WHERE {list}")), "item");
    assert_eq!(narrowed(&format!("SELECT 1 FROM item LEFT JOIN part ON item.p = part.p WHERE {list}")), "item");
    assert_eq!(
        narrowed(&format!("SELECT 1 FROM part LEFT JOIN item ON item.p = part.p WHERE {list} OR part.p = 1")),
        ""
    );
    assert_eq!(narrowed(&format!("SELECT 1 FROM part JOIN item ON item.p = part.p WHERE NOT {list}")), "");
}

/// Part, supplier and what joins them, written so that the order of FROM multiplies the first two.
const SHOP: &str = "
    CREATE TABLE part (p int PRIMARY KEY, name varchar(20) NOT NULL);
    CREATE TABLE supplier (s int PRIMARY KEY, name varchar(20) NOT NULL);
    CREATE TABLE item (i int PRIMARY KEY, p int NOT NULL, s int NOT NULL);
    INSERT part SELECT value, 'part' FROM GENERATE_SERIES(1, 50);
    INSERT supplier SELECT value, 'supplier' FROM GENERATE_SERIES(1, 50);
    INSERT item SELECT value, 51 - value, value FROM GENERATE_SERIES(1, 50);";

#[test]
fn hints_keep_the_order_of_from() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let query = "SELECT part.p FROM part, supplier, item WHERE item.p = part.p AND item.s = supplier.s";
    let first = |client: &mut Client, query: &str| client.shown(query)[0].clone();
    assert_eq!(first(&mut client, query), "50", "the items come first");
    assert_eq!(first(&mut client, &format!("{query} OPTION (FORCE ORDER)")), "1", "the parts come first");
    let hinted =
        "SELECT part.p FROM part CROSS JOIN supplier INNER LOOP JOIN item ON item.p = part.p AND item.s = supplier.s";
    assert_eq!(first(&mut client, hinted), "1");
    assert_eq!(first(&mut client, &hinted.replace(" LOOP", "")), "50");
    let into = format!("{} OPTION (FORCE ORDER)", query.replace("FROM", "INTO kept FROM"));
    client.quiet(&into);
    assert_eq!(first(&mut client, "SELECT p FROM kept"), "1");
}

#[test]
fn a_select_whose_conditions_read_what_it_assigns_keeps_the_order_of_from() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let script = "DECLARE @last int = 0;
        SELECT @last = part.p FROM part, supplier, item
        WHERE item.p = part.p AND item.s = supplier.s AND part.p > @last;
        SELECT @last;";
    assert_eq!(client.value(script), "50", "each part is larger than the one before it");
}

#[test]
fn changes_through_joins_keep_their_target() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let joined = "FROM part, supplier, item WHERE item.p = part.p AND item.s = supplier.s AND supplier.s <= 3";
    client.quiet(&format!("UPDATE supplier SET name = 'near ' + part.name {joined}"));
    assert_eq!(client.value("SELECT COUNT(*) FROM supplier WHERE name = 'near part'"), "3");
    client.quiet(&format!("DELETE part {joined}"));
    assert_eq!(client.shown("SELECT p FROM part WHERE p > 46"), ["47"]);
    client.quiet(
        "MERGE part USING (SELECT item.p FROM part, supplier, item WHERE item.p = part.p AND item.s = supplier.s
             AND supplier.s = 4) source ON part.p = source.p
         WHEN MATCHED THEN UPDATE SET name = 'merged';",
    );
    assert_eq!(client.shown("SELECT p, name FROM part WHERE name <> 'part'"), ["47|merged"]);
}

#[test]
fn equal_columns_share_their_constants() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let joined = "SELECT COUNT(*) FROM part, supplier, item WHERE part.p = item.p AND item.p = supplier.s";
    assert_eq!(client.value(joined), "50");
    assert_eq!(client.value(&format!("{joined} AND supplier.s = 7")), "1");
    assert_eq!(client.value(&format!("{joined} AND supplier.s = 7 AND part.p = 8")), "0", "7 is not 8");
    assert_eq!(client.value(&format!("{joined} AND supplier.s = NULL")), "0");
    assert_eq!(client.value(&format!("DECLARE @s int = 9; {joined} AND supplier.s = @s")), "1");
}

/// The plan of a query that has been run.
pub(super) fn plan(client: &mut Client, query: &str) -> Arc<crate::plan::Statement> {
    let program = prepare(query, "", &client.context, &client.host).expect("it can be compiled");
    run_again(client, &program)
}

/// Runs a program of one statement and gives its plan.
pub(super) fn run_again(client: &mut Client, program: &Arc<Program>) -> Arc<crate::plan::Statement> {
    let mut output = Collected::default();
    let server = Arc::clone(&client.server);
    let (context, host) = (&mut client.context, &mut client.host);
    let ended = server.schedulers().block_on(crate::run(program, &mut [], Vec::new(), context, host, &mut output));
    assert!(ended.is_ok());
    Arc::clone(program.late[0].plan.lock().expect("no panic").as_ref().expect("it has run"))
}

/// How a plan reads its tables: each by name with `=` for a range that equalities bound, `#` within a spool with keys.
pub(super) fn reads(client: &mut Client, query: &str) -> String {
    reads_of(&plan(client, query))
}

/// The same of a plan.
pub(super) fn reads_of(plan: &crate::plan::Statement) -> String {
    let mut reads = Vec::new();
    plan.source.visit_nodes(&mut |node| match node {
        crate::plan::Node::Scan(scan) => {
            let mark = if scan.range.prefix.is_empty() { "" } else { "=" };
            reads.push(format!("{}{mark}", scan.table.name));
        }
        crate::plan::Node::More(more) => {
            if let crate::plan::More::Spool(spool) = more.as_ref() {
                reads.push("#".repeat(spool.keys.len()));
            }
        }
        _ => {}
    });
    reads.join(" ")
}

#[test]
fn tables_meet_by_their_keys() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let all = "SELECT 1 FROM part, supplier, item WHERE item.p = part.p AND item.s = supplier.s";
    assert_eq!(reads(&mut client, all), "item # part # supplier", "all of them are wanted: each is read once");
    let few = "SELECT 1 FROM part, supplier, item WHERE item.p = part.p AND item.s = supplier.s AND item.i = 7";
    assert_eq!(reads(&mut client, few), "item= part= supplier=", "one of each is wanted");
    // A constant for one column is one for all that equal it.
    let one = "SELECT 1 FROM item, part WHERE item.p = part.p AND item.p = 7";
    assert_eq!(reads(&mut client, one), "item part=");
    let other = "SELECT 1 FROM part JOIN item ON item.p = part.p WHERE item.p = 7";
    assert_eq!(reads(&mut client, other), "part= item");
    // What all parts of an OR say is a condition of the join.
    let or = "SELECT 1 FROM part, item WHERE (item.p = part.p AND item.s = 1) OR (item.p = part.p AND part.name = 'a')";
    assert_eq!(reads(&mut client, or), "part # item");
    // Two members that only a third one joins are equal to each other, too.
    let chain = "SELECT 1 FROM item a, part, item b WHERE a.s = part.p AND part.p = b.s";
    assert!(!reads(&mut client, chain).contains("item item"), "{}", reads(&mut client, chain));
}

#[test]
fn spools_know_what_is_read_above_them() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let mut carried = |query: &str| {
        let plan = plan(&mut client, query);
        let mut names = Vec::new();
        plan.source.visit_scans(&mut |scan| {
            let slots = scan.wanted.iter().filter(|column| plan.live.is_carried(scan.registers.first + **column));
            names.extend(slots.map(|column| scan.table.columns[*column].name.to_string()));
        });
        names.join(" ")
    };
    let joined = "FROM item JOIN part ON item.p = part.p WHERE part.name <> 'x'";
    assert_eq!(carried(&format!("SELECT item.i {joined}")), "");
    assert_eq!(carried(&format!("SELECT item.i, part.name {joined}")), "name");
    assert_eq!(carried(&format!("SELECT item.i {joined} AND part.p + item.i > 3")), "p");
    assert_eq!(
        carried(&format!("SELECT item.i, s.s {} JOIN supplier s ON s.s = part.p", joined.replace(" WHERE", " AND"))),
        "p s"
    );
}

#[test]
fn conditions_move_into_queries_that_only_choose() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    client.quiet("CREATE VIEW parts AS SELECT name AS n, p AS id FROM part WHERE name <> ''");
    let mut reads = |query: &str| reads(&mut client, query);
    assert_eq!(reads("SELECT n FROM parts WHERE id = 5"), "part=");
    assert_eq!(reads("SELECT * FROM (SELECT i, p FROM item) AS d WHERE d.i = 5"), "item=");
    assert_eq!(
        reads("WITH a AS (SELECT i, s FROM item), b AS (SELECT i AS x FROM a) SELECT x FROM b WHERE x = 5"),
        "item="
    );
    assert_eq!(reads("SELECT n FROM item JOIN parts ON item.p = parts.id WHERE item.i = 5"), "item= part=");
    assert_eq!(reads("SELECT n FROM item LEFT JOIN parts ON parts.id = item.p WHERE item.i = 5"), "item= part=");
    let shop = "SELECT part.p, item.i, item.s FROM item JOIN part ON item.p = part.p";
    assert_eq!(reads(&format!("SELECT * FROM ({shop}) AS d WHERE d.i = 5")), "item= part=");
    assert_eq!(reads("SELECT 1 FROM item WHERE EXISTS (SELECT * FROM parts WHERE id = item.p)"), "item part=");
    assert_eq!(
        reads("SELECT 1 FROM part, (SELECT p FROM item) AS d WHERE d.p = part.p"),
        "part # item",
        "no key: kept by hash"
    );
    // What other rows are made of is planned as it stands.
    assert_eq!(reads("SELECT * FROM (SELECT TOP (3) p FROM part) AS d WHERE d.p = 5"), "part");
    assert_eq!(
        reads("SELECT * FROM (SELECT p, ROW_NUMBER() OVER (ORDER BY p) AS r FROM part) AS d WHERE d.p = 5"),
        "part"
    );
    assert_eq!(reads("SELECT * FROM (SELECT p + 1 AS q FROM part) AS d WHERE d.q = 5"), "part");
}

#[test]
fn conditions_move_into_queries_that_put_rows_together() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let mut reads = |query: &str| reads(&mut client, query);
    let parts = "SELECT p, s, COUNT(*) AS n FROM item GROUP BY p, s";
    assert_eq!(reads("SELECT n FROM (SELECT i, COUNT(*) AS n FROM item GROUP BY i) AS d WHERE d.i = 5"), "item=");
    assert_eq!(reads("SELECT 1 FROM (SELECT DISTINCT i, p FROM item) AS d WHERE d.i = 5"), "item=");
    let both = "SELECT i FROM item UNION SELECT p FROM part";
    assert_eq!(reads(&format!("SELECT 1 FROM ({both}) AS d WHERE d.i = 5")), "item= part=");
    let three = "SELECT i FROM item UNION ALL SELECT p FROM part EXCEPT SELECT s FROM supplier";
    assert_eq!(reads(&format!("SELECT 1 FROM ({three}) AS d WHERE d.i = 5")), "item= part= supplier=");
    let window = "SELECT i, ROW_NUMBER() OVER (PARTITION BY i ORDER BY p) AS r FROM item";
    assert_eq!(reads(&format!("SELECT 1 FROM ({window}) AS d WHERE d.i = 5 AND d.r = 1")), "item=");
    let window = "SELECT i, SUM(p) OVER (PARTITION BY i) AS r FROM item";
    assert_eq!(reads(&format!("SELECT 1 FROM ({window}) AS d WHERE d.i = 5")), "item=");
    assert_eq!(reads("SELECT i, COUNT(*) FROM item GROUP BY i HAVING i = 5 AND COUNT(*) > 1"), "item=");
    assert_eq!(reads("SELECT 1 FROM (SELECT s, p FROM item GROUP BY s, p) AS d WHERE d.p = 5 AND d.s = 6"), "item");
    let kinds = "SELECT i, 'i' AS kind, 1 AS n FROM item UNION ALL SELECT p, 'p', 2 FROM part";
    assert_eq!(reads(&format!("SELECT 1 FROM ({kinds}) AS d WHERE d.kind = 'P' AND d.i = 5")), "part=");
    assert_eq!(reads(&format!("SELECT 1 FROM ({kinds}) AS d WHERE d.n < 2")), "item");
    // What is not of all rows that are put together stays outside.
    assert_eq!(reads(&format!("SELECT 1 FROM ({parts}) AS d WHERE d.n = 5")), "item");
    assert_eq!(reads("SELECT 1 FROM (SELECT MIN(i) AS i FROM item) AS d WHERE d.i = 5"), "item");
    assert_eq!(reads("SELECT 1 FROM (SELECT i FROM item GROUP BY ROLLUP (i)) AS d WHERE d.i = 5"), "item");
    assert_eq!(reads("SELECT 1 FROM (SELECT TOP (5) i FROM item GROUP BY i) AS d WHERE d.i = 5"), "item");
    assert_eq!(reads("SELECT 1 FROM (SELECT i, SUM(p) OVER (ORDER BY i) AS r FROM item) AS d WHERE d.i = 5"), "item");
}

#[test]
fn conditions_that_can_fail_stay_behind_the_query() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE texts (i int PRIMARY KEY, v varchar(9)); INSERT texts VALUES (1, 'a'), (2, '5');
         CREATE TABLE kinds (i int PRIMARY KEY, n int); INSERT kinds VALUES (1, 0), (2, 1)",
    );
    let numbers = "(SELECT t.v, k.n, t.i FROM texts AS t JOIN kinds AS k ON k.i = t.i WHERE k.n = 1) AS d";
    for condition in ["CAST(d.v AS int) = 5", "2147483645 + d.i = 2147483647", "10 / d.n = 10", "d.v = 5"] {
        let lines = client.lines(&format!("SELECT d.v FROM {numbers} WHERE {condition}"));
        assert_eq!(lines, ["5", "(1 rows)"], "{condition}");
    }
    let grouped = "(SELECT v, i FROM texts WHERE i = 2 GROUP BY v, i UNION SELECT '5', 2 FROM texts WHERE i = 2) AS d";
    for condition in ["CAST(d.v AS int) = 5", "2147483645 + d.i = 2147483647", "d.v = 5"] {
        let lines = client.lines(&format!("SELECT d.v FROM {grouped} WHERE {condition}"));
        assert_eq!(lines, ["5", "(1 rows)"], "{condition}");
    }
    let text = "SELECT i FROM (SELECT i, v FROM texts WHERE i > 0) AS d WHERE d.v = N'5' AND d.i = 2";
    assert_eq!(reads(&mut client, text), "texts=");
}

#[test]
fn outer_joins_whose_added_rows_are_dropped_are_inner_ones() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let mut inner = |filter: &str| {
        let from = "item LEFT JOIN part ON part.p = item.p LEFT JOIN supplier ON supplier.s = part.p";
        let mut left = 0;
        plan(&mut client, &format!("SELECT 1 FROM {from} WHERE {filter}")).source.visit_nodes(&mut |node| {
            left += usize::from(matches!(node, crate::plan::Node::Join { kind: crate::plan::JoinKind::Left, .. }));
        });
        2 - left
    };
    assert_eq!(inner("part.p = 7"), 1);
    assert_eq!(inner("part.name LIKE 'a%'"), 1);
    assert_eq!(inner("part.name IS NOT NULL"), 1);
    assert_eq!(inner("part.p + 1 <> 7"), 1);
    assert_eq!(inner("part.p NOT IN (1, 2)"), 1);
    assert_eq!(inner("part.p = 7 OR part.name = 'a'"), 1);
    assert_eq!(inner("supplier.name > 'a'"), 2, "its ON drops what the other join adds");
    assert_eq!(inner("part.p IS NULL"), 0);
    assert_eq!(inner("ISNULL(part.p, 7) = 7"), 0);
    assert_eq!(inner("part.p = 7 OR item.i = 1"), 0);
    assert_eq!(inner("NOT (part.p = 7 AND item.i = 1)"), 0);
    assert_eq!(inner("item.i = 1"), 0);
}

#[test]
fn subqueries_find_their_rows_by_what_they_read_outside() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let by_hash = "SELECT 1 FROM part WHERE EXISTS (SELECT * FROM item WHERE item.p = part.p)";
    assert_eq!(reads(&mut client, by_hash), "part # item");
    let by_key = "SELECT 1 FROM item WHERE EXISTS (SELECT * FROM part WHERE item.p = part.p)";
    assert_eq!(reads(&mut client, by_key), "item part=");
    let joined = "SELECT 1 FROM part WHERE 1 < (SELECT COUNT(*) FROM supplier, item WHERE item.p = part.p AND item.s = supplier.s)";
    assert_eq!(reads(&mut client, joined), "part # supplier # item");
}

#[test]
fn other_joins_come_before_a_left_join_that_they_do_not_read() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let free = "SELECT 1 FROM item LEFT JOIN supplier ON supplier.s = item.s + 40 JOIN part ON part.p = item.p WHERE part.p < 5";
    assert_eq!(reads(&mut client, free), "item # part supplier=");
    // Each of these reads the right side of the LEFT JOIN, and it is all that joins the third table.
    let linked = [
        "FROM item LEFT JOIN supplier ON supplier.s = item.s + 40 JOIN part ON part.p = ISNULL(supplier.s, 3)",
        "FROM item LEFT JOIN supplier ON supplier.s = item.s + 40 CROSS APPLY (SELECT TOP 1 p FROM part WHERE part.p = supplier.s) part",
        "FROM (item LEFT JOIN supplier ON supplier.s = item.s + 40) JOIN (part LEFT JOIN supplier s2 ON s2.s = part.p) ON supplier.s = s2.s",
    ];
    for from in linked {
        let query = format!("SELECT COUNT(*), SUM(ISNULL(supplier.s, 0) - ISNULL(supplier.s, 1) + part.p) {from}");
        let plain = client.lines(&format!("{query} OPTION (QUERYRULEOFF JoinOrder, QUERYRULEOFF OuterToInnerJoin)"));
        assert_eq!(client.lines(&query), plain, "{from}");
    }
}

#[test]
fn nested_subqueries_are_not_planned_again_and_again() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let nested = (0..20).fold("SELECT 1 AS one".to_owned(), |inner, level| {
        format!("SELECT i{level}.i FROM item i{level} CROSS APPLY ({inner}) AS a{level} WHERE i{level}.s = part.p")
    });
    assert_eq!(client.value(&format!("SELECT COUNT(*) FROM part WHERE EXISTS ({nested})")), "50");
}

#[test]
fn plans_of_joins_are_made_anew_when_tables_have_grown() {
    let mut client = Client::alone();
    client.quiet(SHOP);
    let query = "SELECT COUNT(*) FROM part, supplier, item WHERE item.p = part.p AND item.s = supplier.s";
    let program = prepare(query, "", &client.context, &client.host).expect("it can be compiled");
    let first = run_again(&mut client, &program);
    assert!(!first.is_outgrown());
    assert!(Arc::ptr_eq(&first, &run_again(&mut client, &program)), "a plan is kept while tables are as they were");
    for thousand in 1..50 {
        let series = format!("GENERATE_SERIES({thousand}000, {thousand}999)");
        client.quiet(&format!("INSERT item SELECT value, value % 50 + 1, value % 50 + 1 FROM {series};"));
    }
    assert!(first.is_outgrown());
    // A session that has a plan looks at the tables now and then.
    let mut plans = (0..16).map(|_| run_again(&mut client, &program));
    assert!(plans.any(|plan| !Arc::ptr_eq(&first, &plan)), "the plan was made for small tables");
}
