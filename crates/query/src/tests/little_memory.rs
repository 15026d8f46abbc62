//! Groups and tables that workers make where their session has little memory.

use super::Client;
use super::parallel::{roomy, waits_of};
use super::spill::limits;

/// Rows of more groups than are given in order, some of whose values are NULL or equal and yet differ.
const TABLE: &str = "
CREATE TABLE t (k int NOT NULL PRIMARY KEY, g int, h varchar(20), d decimal(9, 2), v int NOT NULL, filler char(100) NOT NULL);
INSERT t SELECT value, NULLIF(value * 7919 % 30011, 3), CASE WHEN value % 9 > 0 THEN IIF(value % 2 = 0, 'word ', 'WORD ') + CAST(value % 28000 AS varchar(9)) END,
  value % 20000 / 4.0, value, '' FROM GENERATE_SERIES(1, 40000);";

/// Queries with many groups.
const GROUPS: &[&str] = &[
    "SELECT g, COUNT(*), SUM(v), MAX(d) FROM t GROUP BY g",
    "SELECT LOWER(h), COUNT(*), SUM(CAST(v AS bigint)) FROM t GROUP BY LOWER(h)",
    "SELECT d, g % 2, COUNT(g) FROM t GROUP BY d, g % 2 HAVING COUNT(*) < 2",
    "SELECT t.k, x.s FROM (SELECT g, SUM(v) s FROM t GROUP BY g) x JOIN t ON t.g = x.g AND t.v = x.s",
    "SELECT COUNT(*), SUM(t.v) FROM t WHERE EXISTS (SELECT * FROM t u WHERE u.g = t.v)",
];

fn lines(client: &mut Client, query: &str, degree: usize) -> Vec<String> {
    let mut lines = client.lines(&format!("{query} OPTION (MAXDOP {degree})"));
    lines.sort();
    lines
}

#[test]
fn groups_that_find_no_room_are_made_a_share_at_a_time() {
    let mut client = roomy();
    client.quiet(TABLE);
    for query in GROUPS {
        client.server.workspace().set_limits(limits(1 << 20));
        let all = lines(&mut client, query, 1);
        let count = |client: &mut Client, kilobytes: u64| {
            client.server.workspace().set_limits(limits(kilobytes));
            let before = waits_of(client, "CXCONSUMER");
            assert_eq!(lines(client, query, 2), all, "{kilobytes} KB: {query}");
            waits_of(client, "CXCONSUMER") - before
        };
        let with_all = count(&mut client, 1 << 20);
        let with_some = count(&mut client, 1 << 10);
        // A table of rows to be looked up takes what room there is, so that groups beside it are made row by row.
        let is_grouped_alone = query.contains(" FROM t GROUP BY") && !query.contains("JOIN");
        assert!(!is_grouped_alone || with_some > with_all + 2, "{query}: {with_some} and {with_all} times");
    }
    // So little that no share is small enough: groups are made row by row.
    client.server.workspace().set_limits(limits(1 << 20));
    let all = lines(&mut client, GROUPS[0], 1);
    client.server.workspace().set_limits(limits(64));
    assert_eq!(lines(&mut client, GROUPS[0], 2), all);
    let totals = client.server.workspace().totals();
    assert_eq!((totals.given_bytes, totals.grants, totals.waiting), (0, 0, 0), "all is given back");
}

/// Groups of which one alone has no room, so that its share is made row by row when others are given already.
#[test]
fn what_was_not_given_of_shares_is_made_row_by_row() {
    let mut client = roomy();
    client.quiet(TABLE);
    for large in [1, 77, 1234, 39999] {
        let key = format!("IIF(v = {large}, REPLICATE(CAST('x' AS varchar(max)), 400000), CAST(g AS varchar(max)))");
        let query = format!("SELECT LEFT({key}, 9), COUNT(*), SUM(v) FROM t GROUP BY {key}");
        client.server.workspace().set_limits(limits(1 << 20));
        let all = lines(&mut client, &query, 1);
        client.server.workspace().set_limits(limits(1 << 10));
        let before = waits_of(&client, "CXCONSUMER");
        assert_eq!(lines(&mut client, &query, 2), all, "{large}");
        assert!(waits_of(&client, "CXCONSUMER") > before + 3, "{large}");
    }
}

#[test]
fn a_table_in_which_only_existence_is_looked_up_has_each_key_once() {
    let mut client = roomy();
    client.quiet(TABLE);
    client.quiet("UPDATE t SET g = g % 50");
    let query = "SELECT COUNT(*), SUM(t.v) FROM t WHERE NOT EXISTS (SELECT * FROM t u WHERE u.g = t.v)";
    let all = lines(&mut client, query, 1);
    let run = |client: &mut Client, kilobytes: u64| {
        client.server.workspace().set_limits(limits(kilobytes));
        let before = waits_of(client, "CXCONSUMER");
        assert_eq!(lines(client, query, 2), all, "{kilobytes} KB");
        waits_of(client, "CXCONSUMER") - before
    };
    // Keys of all rows would have no room.
    assert_eq!(run(&mut client, 128), run(&mut client, 1 << 20));
}
