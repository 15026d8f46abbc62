//! What finds no memory goes on in files, with the same answers.

use super::*;
use crate::executor::spill::fault::{Planted, plant};
use pikepole_engine::WorkspaceLimits;
use pikepole_scheduler::chaos;

/// Two tables: `a` with three thousand rows, `b` with two thousand; keys that repeat, some of them NULL, and texts of all lengths.
const TABLES: &str = "
CREATE TABLE a (k int NOT NULL PRIMARY KEY, g int, h varchar(40), v decimal(9, 2), s sql_variant);
CREATE TABLE b (k int NOT NULL PRIMARY KEY, g int, h varchar(40), w float);
INSERT a SELECT value, NULLIF(value * 7919 % 613, 3), REPLICATE(CHAR(97 + value % 7), value % 31),
  CASE WHEN value % 11 > 0 THEN value % 977 / 4.0 END, CASE value % 3 WHEN 0 THEN CAST(value % 50 AS sql_variant)
  WHEN 1 THEN CAST('v' + CAST(value % 50 AS varchar(9)) AS sql_variant) END FROM GENERATE_SERIES(1, 3000);
INSERT b SELECT value, NULLIF(value * 104729 % 701, 5), REPLICATE(CHAR(97 + value % 5), value % 23), value / 8e0
  FROM GENERATE_SERIES(1, 2000);";

/// Queries whose rows come in an order that is known, or that stays as it is when they find no memory.
const ORDERED: &[&str] = &[
    "SELECT k, g, h FROM a ORDER BY h, g DESC",
    "SELECT h, s, v FROM a ORDER BY s, h",
    "SELECT TOP (700) k, h, s FROM a ORDER BY s, v DESC, k",
    "SELECT k, h FROM a ORDER BY h DESC, k OFFSET 30 ROWS FETCH NEXT 100 ROWS ONLY",
    "SELECT TOP (7) PERCENT k, h FROM a ORDER BY v, h DESC",
    "SELECT TOP (40) WITH TIES g, h FROM a ORDER BY h DESC",
    "SELECT a.k, b.k, b.h FROM a JOIN b ON b.g = a.g",
    "SELECT a.k, b.k FROM a JOIN b ON b.g = a.g AND b.w < a.v",
    "SELECT a.k, b.k FROM a LEFT JOIN b ON b.g = a.g AND b.h = a.h",
    "SELECT a.k, (SELECT MAX(b.w) FROM b WHERE b.g = a.g) FROM a",
    "SELECT a.k FROM a WHERE EXISTS (SELECT * FROM b WHERE b.g = a.g AND b.h > a.h)",
    "SELECT a.k FROM a WHERE a.g NOT IN (SELECT b.g FROM b WHERE b.g IS NOT NULL)",
    "SELECT a.k, x.n FROM a CROSS APPLY (SELECT COUNT(*) n FROM b WHERE b.g = a.g) x WHERE x.n > 2",
    "SELECT a.k, x.k, y.k FROM a JOIN b x ON x.g = a.g JOIN b y ON y.h = x.h AND y.g = a.g",
    "SELECT COUNT(*), SUM(CHECKSUM(a.k, b.k) % 1000) FROM a JOIN (SELECT TOP (60) * FROM b WHERE h > 'a') b ON b.k <> a.k",
    "SELECT k, g, ROW_NUMBER() OVER (PARTITION BY g ORDER BY h, k) r FROM a",
    "SELECT g, k, SUM(v) OVER (PARTITION BY g ORDER BY k) s, COUNT(*) OVER (PARTITION BY g) n FROM a",
    "SELECT g, h, COUNT(*), SUM(v), MIN(k) FROM a GROUP BY g, h ORDER BY 1, 2",
    "SELECT STRING_AGG(CAST(k AS varchar(max)), ',') FROM a",
    "SELECT COUNT(DISTINCT h), COUNT(DISTINCT v), SUM(DISTINCT v), COUNT(DISTINCT k), COUNT(*) FROM a",
];

/// Queries whose rows come in any order.
const UNORDERED: &[&str] = &[
    "SELECT g, h, COUNT(*), SUM(v), AVG(v), MAX(s) FROM a GROUP BY g, h",
    "SELECT DISTINCT g, v FROM a",
    "SELECT h, STRING_AGG(CAST(k AS varchar(9)), ';') FROM a GROUP BY h",
    "SELECT g, COUNT(DISTINCT h), COUNT(DISTINCT k), SUM(DISTINCT v) FROM a GROUP BY g",
    "SELECT h, g, COUNT(*), GROUPING(h) FROM a GROUP BY ROLLUP (h, g)",
    "SELECT s, COUNT(*) FROM a GROUP BY s",
    "SELECT g, h FROM a UNION SELECT g, h FROM b",
    "SELECT g, h FROM a INTERSECT SELECT g, h FROM b",
    "SELECT g, h FROM a EXCEPT SELECT g, h FROM b",
    "SELECT a.k, b.k FROM a FULL JOIN b ON b.g = a.g",
    "SELECT a.k, b.k, a.h FROM a FULL JOIN b ON b.g = a.g AND b.h = a.h AND a.v > 3",
    "WITH c AS (SELECT k % 900 AS k, h, COUNT(*) n, SUM(v) v FROM a GROUP BY k % 900, h) SELECT x.k, y.n, y.v FROM c x JOIN c y ON y.k = x.k + 1 WHERE x.n > 0",
    "WITH c AS (SELECT k, g, ROW_NUMBER() OVER (PARTITION BY g ORDER BY h, k) r FROM a) SELECT x.k, y.k, z.k FROM c x JOIN c y ON y.g = x.g AND y.r = x.r + 1 LEFT JOIN c z ON z.g = x.g AND z.r = y.r + 1",
    "WITH c AS (SELECT g, h, MAX(k) k FROM a GROUP BY g, h), e AS (SELECT h, COUNT(*) n FROM c GROUP BY h) SELECT x.h, y.n FROM e x JOIN e y ON y.n >= x.n WHERE x.h IN (SELECT h FROM c)",
    "SELECT x.g, COUNT(*), SUM(x.n) FROM (SELECT g, h, COUNT(*) n FROM a GROUP BY g, h) x JOIN b ON b.g = x.g GROUP BY x.g",
];

/// So little that nothing of the tables fits into it.
pub(super) fn limits(total_kb: u64) -> WorkspaceLimits {
    WorkspaceLimits { total_bytes: total_kb << 10, first_bytes: 2 << 10, share_percent: 25, wait_ms: 500 }
}

fn world() -> (World, Client) {
    let mut world = World::with_log(64 << 20);
    let mut client = world.client();
    client.quiet(TABLES);
    (world, client)
}

/// Waits until no file is left: they are removed beside what the session does next.
fn see_files_removed(client: &mut Client) {
    let is_file = |name: &String| name.starts_with("spill");
    for _ in 0..100 {
        if !client.server.disk().list("/server/tempdb").unwrap_or_default().iter().any(is_file) {
            return;
        }
        client.quiet("SELECT 1 x INTO #file; DROP TABLE #file");
    }
    panic!("files are left");
}

/// What a query gives with all memory, and with little.
fn both(client: &mut Client, query: &str, sorted: bool, kilobytes: u64) -> (Vec<String>, Vec<String>) {
    let server = Arc::clone(&client.server);
    let mut run = |kilobytes: u64| {
        server.workspace().set_limits(limits(kilobytes));
        let mut lines = client.lines(query);
        if sorted {
            lines.sort();
        }
        lines
    };
    (run(1 << 20), run(kilobytes))
}

#[test]
fn queries_without_memory_give_what_they_give_with_it() {
    let (_world, mut client) = world();
    for kilobytes in [64, 512] {
        for (queries, sorted) in [(ORDERED, false), (UNORDERED, true)] {
            for query in queries {
                let (with, without) = both(&mut client, query, sorted, kilobytes);
                assert!(with.len() > 1 || with[0].starts_with("(1 rows"), "{query}: {with:?}");
                assert!(with == without, "{kilobytes} KB: {query}\n{}", difference(&with, &without));
            }
        }
        client.quiet("SELECT g, h, COUNT(*) n INTO #g FROM a GROUP BY g, h; DROP TABLE #g");
        client.quiet("DECLARE @n int; SELECT @n = k FROM (SELECT k, h FROM a UNION SELECT k, h FROM b) c ORDER BY h");
        let totals = client.server.workspace().totals();
        assert_eq!((totals.given_bytes, totals.grants, totals.waiting), (0, 0, 0), "all is given back");
    }
    see_files_removed(&mut client);
}

#[test]
fn queries_without_memory_give_the_same_in_chaos() {
    let (_world, mut client) = world();
    client.server.workspace().set_limits(limits(1 << 20));
    let queries = ORDERED.iter().map(|query| (*query, false)).chain(UNORDERED.iter().map(|query| (*query, true)));
    for (seed, (query, sorted)) in (1..).zip(queries) {
        let mut with = client.lines(query);
        client.server.workspace().set_limits(limits(64));
        chaos::begin(chaos::Options::of(seed));
        let mut without = client.lines(query);
        chaos::end();
        client.server.workspace().set_limits(limits(1 << 20));
        if sorted {
            with.sort();
            without.sort();
        }
        assert!(with == without, "seed {seed}: {query}\n{}", difference(&with, &without));
    }
    see_files_removed(&mut client);
}

fn difference(with: &[String], without: &[String]) -> String {
    let at = with.iter().zip(without).position(|(a, b)| a != b).unwrap_or(with.len().min(without.len()));
    let row = |lines: &[String]| lines.get(at).cloned();
    format!("{} and {} rows, row {at}: {:?} and {:?}", with.len(), without.len(), row(with), row(without))
}

#[test]
fn planted_faults_are_caught() {
    let (_world, mut client) = world();
    for (fault, sorted) in [(Planted::LostRow, true), (Planted::UnstableMerge, false), (Planted::TornPart, true)] {
        let queries = if sorted { UNORDERED } else { ORDERED };
        let mut caught = 0;
        for query in queries {
            client.server.workspace().set_limits(limits(1 << 20));
            let mut with = client.lines(query);
            plant(Some(fault));
            client.server.workspace().set_limits(limits(64));
            let mut without = client.lines(query);
            plant(None);
            if sorted {
                with.sort();
                without.sort();
            }
            caught += usize::from(with != without);
        }
        assert!(caught > 0, "{fault:?}");
    }
}

#[test]
fn a_broken_disk_ends_the_statement_alone() {
    let (_world, mut client) = world();
    client.quiet("SELECT 1 x INTO #t");
    client.server.workspace().set_limits(limits(64));
    let query = "SELECT k, g, h FROM a ORDER BY h, g DESC";
    plant(Some(Planted::GarbledBlock));
    let lines = client.lines(query);
    plant(None);
    assert!(lines.last().is_some_and(|line| line.starts_with("Msg 824, Level 24, State 2")), "{lines:?}");
    let disk = client.server.disk().as_simulated().expect("it is").clone();
    disk.set_capacity(Some(disk.used() + 20_000));
    let lines = client.lines(query);
    disk.set_capacity(None);
    assert!(lines.last().is_some_and(|line| line.starts_with("Msg 1105, Level 17, State 2")), "{lines:?}");
    assert!(lines[0].contains("'<temporary system object>' in database 'tempdb'"), "{lines:?}");
    assert_eq!(client.lines(query).len(), 3001);
    see_files_removed(&mut client);
}

/// tempdb is made when it is first needed: on a full disk that is error 1105 too.
#[test]
fn a_disk_without_room_for_tempdb_ends_the_statement_with_1105() {
    let (_world, mut client) = world();
    client.server.workspace().set_limits(limits(64));
    let disk = client.server.disk().as_simulated().expect("it is").clone();
    disk.set_capacity(Some(disk.used() + 20_000));
    for statement in [
        "SELECT k, g, h FROM a ORDER BY h, g DESC",
        "CREATE TABLE #t (i int)",
        "DECLARE @t TABLE (i int) INSERT @t VALUES (1)",
    ] {
        let lines = client.lines(statement);
        assert!(
            lines.last().is_some_and(|line| line.starts_with("Msg 1105, Level 17, State 2")),
            "{statement}: {lines:?}"
        );
        assert!(lines[0].contains("'<temporary system object>' in database 'tempdb'"), "{lines:?}");
    }
    disk.set_capacity(None);
    assert_eq!(client.lines("SELECT k, g, h FROM a ORDER BY h, g DESC").len(), 3001);
}

#[test]
fn a_cancelled_statement_gives_all_back() {
    let (_world, mut client) = world();
    client.server.workspace().set_limits(limits(64));
    client.context.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
    let lines = client.lines("SELECT a.k, b.k FROM a JOIN b ON b.g = a.g ORDER BY b.h");
    client.context.cancelled.store(false, std::sync::atomic::Ordering::Relaxed);
    assert!(lines.iter().any(|line| line.starts_with("Msg 3617")), "{lines:?}");
    assert_eq!(client.server.workspace().totals().given_bytes, 0);
    see_files_removed(&mut client);
}

#[test]
fn statements_wait_for_memory_and_give_up() {
    let (_world, mut client) = world();
    client.server.workspace().set_limits(limits(64));
    let other = client.server.workspace().ask(99);
    assert!(other.force(62 << 10));
    let query = "SELECT k, g, h FROM a ORDER BY h, g DESC";
    let lines = client.lines(query);
    assert_eq!(
        lines,
        [
            "Msg 8645, Level 17, State 1, Line 1: A timeout occurred while waiting for memory resources to execute the query in resource pool 'default'. Rerun the query."
        ]
    );
    let totals = client.server.workspace().totals();
    assert_eq!((totals.timeouts, totals.grants, totals.waiting), (1, 1, 0));
    // A little needs no asking; what no file can take ends when there is nothing left.
    assert_eq!(client.lines("SELECT TOP (3) k FROM b ORDER BY k").len(), 4);
    drop(other);
    let lines =
        client.lines("SELECT COUNT(*) FROM a WHERE k IN (SELECT k + 0 FROM a UNION ALL SELECT k + 9000 FROM a)");
    assert!(lines[0].starts_with("Msg 701, Level 17, State 123"), "{lines:?}");
    assert_eq!(client.lines(query).len(), 3001);
}

#[test]
fn a_statement_can_ask_for_less_than_its_share() {
    let (_world, mut client) = world();
    client.server.workspace().set_limits(limits(16 << 10));
    let query = "SELECT k, g, h FROM a ORDER BY h, g DESC";
    for (option, spills) in [("", false), (" OPTION (MAX_GRANT_PERCENT = 0.5)", true), ("", false)] {
        assert_eq!(client.lines(&format!("{query}{option}")).len(), 3001);
        assert_eq!(client.context.budget.has_spilled(), spills, "{option}");
    }
    let lines = client.lines("SELECT 1 OPTION (MAX_GRANT_PERCENT = 101)");
    assert!(lines[0].starts_with("Msg 102, Level 15, State 1"), "{lines:?}");
}
