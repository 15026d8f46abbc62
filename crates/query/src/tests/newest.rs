//! Changing statements at READ COMMITTED: their conditions hold for the rows when they are changed, and each change
//! is counted once.

use super::{Client, World, line};
use pikepole_scheduler::{JoinHandle, Placement, TaskInfo};

const SESSIONS: usize = 5;
const TURNS: usize = 25;

/// Runs a script in a task of its own; its lines when it is awaited.
fn apart(world: &World, mut client: Client, script: String) -> JoinHandle<Vec<String>> {
    let info = TaskInfo { session_id: Some(60), command: "SELECT" };
    world.server.schedulers().spawn(info, Placement::LeastLoaded, async move {
        let mut output = crate::Collected::default();
        client.execute(&script, &mut output).await;
        output.events.iter().filter_map(line).collect()
    })
}

/// Sessions that move rows from state to state, each row some times. `change` changes the rows of c whose state s is
/// @s, to state @to, adds one to n, and puts the state that each had into @was. What was found, and how often, must
/// agree with the rows.
fn moves(table: &str, change: &str, transaction: bool) {
    let mut world = World::new();
    let mut first = world.client();
    first.quiet(&format!(
        "CREATE TABLE c ({table}) CREATE TABLE done (changed int) CREATE TABLE state (s int PRIMARY KEY)
        INSERT c (k, s, n) SELECT value, value % 4, 0 FROM GENERATE_SERIES(1, 23)
        INSERT state VALUES (0), (1), (2), (3)"
    ));
    let (begin, end) = match transaction {
        true => ("BEGIN TRAN", "WAITFOR DELAY '00:00:00.002' IF @turn % 5 = 4 ROLLBACK ELSE COMMIT"),
        false => ("", ""),
    };
    let script = |seed: usize| {
        format!(
            "SET NOCOUNT ON DECLARE @turn int = 0, @s int, @to int DECLARE @was TABLE (s int)
            WHILE @turn < {TURNS}
            BEGIN
                SET @s = (@turn * 7 + {seed} * (1 + @turn % 3)) % 4
                SET @to = (@s + 1 + (@turn + {seed}) % 3) % 4
                DELETE @was
                BEGIN TRY
                    {begin}
                    {change}
                    INSERT done SELECT COUNT(*) FROM @was
                    IF EXISTS (SELECT * FROM @was WHERE s <> @s) PRINT 'a row of another state'
                    {end}
                END TRY
                BEGIN CATCH
                    IF ERROR_NUMBER() <> 1205 PRINT ERROR_MESSAGE()
                    IF @@TRANCOUNT > 0 ROLLBACK
                END CATCH
                SET @turn += 1
            END"
        )
    };
    let clients: Vec<_> = (0..SESSIONS).map(|_| world.client()).collect();
    let tasks: Vec<_> =
        clients.into_iter().enumerate().map(|(seed, client)| apart(&world, client, script(seed))).collect();
    for task in tasks {
        let shown = world.server.schedulers().block_on(task).expect("no panic");
        assert_eq!(shown, [""; 0], "{table}: {change}");
    }
    let counted = first.value("SELECT SUM(changed) FROM done");
    assert_eq!(first.value("SELECT SUM(n) FROM c"), counted, "{table}: {change}");
    assert!(counted.parse::<usize>().is_ok_and(|counted| counted > TURNS), "{counted} of {table}: {change}");
    assert_eq!(first.value("SELECT COUNT(*) FROM c"), "23", "{table}: {change}");
}

const CHANGES: [&str; 6] = [
    "UPDATE c SET s = @to, n = n + 1 OUTPUT deleted.s INTO @was WHERE s = @s",
    "UPDATE TOP (3) c SET s = @to, n += 1 OUTPUT deleted.s INTO @was WHERE s = @s",
    "UPDATE c SET s = @to, n = c.n + 1 OUTPUT deleted.s INTO @was FROM c JOIN state ON state.s = c.s WHERE state.s = @s",
    "UPDATE c SET s = @to, n = n + 1 OUTPUT deleted.s INTO @was WHERE s = @s
        AND EXISTS (SELECT * FROM state WHERE state.s = c.s)",
    "MERGE c USING (SELECT @s AS s) AS x ON c.s = x.s WHEN MATCHED THEN UPDATE SET s = @to, n = c.n + 1
        OUTPUT deleted.s INTO @was;",
    ";WITH found AS (SELECT s, n FROM c WHERE s = @s) UPDATE found SET s = @to, n += 1 OUTPUT deleted.s INTO @was",
];

#[test]
fn conditions_hold_for_what_is_changed_by_a_scan() {
    CHANGES.iter().for_each(|change| moves("k int PRIMARY KEY, s int, n int", change, false));
}

#[test]
fn conditions_hold_for_what_is_changed_by_an_index() {
    CHANGES.iter().for_each(|change| moves("k int PRIMARY KEY, s int, n int, INDEX i (s)", change, false));
}

#[test]
fn conditions_hold_for_what_is_changed_in_a_heap() {
    CHANGES.iter().for_each(|change| moves("k int, s int, n int", change, false));
    CHANGES.iter().for_each(|change| moves("k int, s int, n int, INDEX i (s)", change, false));
}

#[test]
fn conditions_hold_for_what_is_changed_in_transactions() {
    for table in
        ["k int PRIMARY KEY, s int, n int", "k int PRIMARY KEY, s int, n int, INDEX i (s)", "k int, s int, n int"]
    {
        CHANGES.iter().for_each(|change| moves(table, change, true));
    }
    // The row gets another key in the clustered index.
    CHANGES.iter().for_each(|change| moves("k int, s int, n int, PRIMARY KEY (s, k)", change, true));
}

/// One session changes rows of several leaves, and then the rows of `ahead` while another one waits in the middle of a leaf.
fn waits_within_a_leaf(table: &str, delete: &str, ahead: std::ops::RangeInclusive<i32>) {
    let mut world = World::new();
    let (mut one, two) = (world.client(), world.client());
    one.quiet(&format!("CREATE TABLE t ({table})"));
    one.quiet("INSERT t SELECT value, value % 2, '' FROM GENERATE_SERIES(1, 60)");
    one.quiet("BEGIN TRAN UPDATE t SET v = 1 - v WHERE id BETWEEN 20 AND 40");
    let task = apart(&world, two, format!("SET NOCOUNT ON {delete} WHERE v = 1 SELECT @@ROWCOUNT"));
    let (first, last) = (ahead.start(), ahead.end());
    one.quiet(&format!("WAITFOR DELAY '00:00:01' UPDATE t SET v = 1 - v WHERE id BETWEEN {first} AND {last} COMMIT"));
    let shown = world.server.schedulers().block_on(task).expect("no panic");
    let is_left = |id: &i32| (id % 2 == 0) != ((20..=40).contains(id) || ahead.contains(id));
    let expected: Vec<String> = (1..=60).filter(is_left).map(|id: i32| id.to_string()).collect();
    assert_eq!(one.shown("SELECT id FROM t ORDER BY id"), expected, "{table}: {delete}");
    assert_eq!(shown, [(60 - expected.len()).to_string()], "{table}: {delete}");
}

#[test]
fn a_scan_that_waits_within_a_leaf_goes_on_with_the_rows_as_they_are_then() {
    let tree = "id int PRIMARY KEY, v int, text char(1000)";
    let heap = "id int, v int, text char(1000)";
    let backwards = "; WITH x AS (SELECT TOP (1000) id, v FROM t ORDER BY id DESC) DELETE x";
    for (table, delete, ahead) in [
        (tree, "DELETE t", 56..=60),
        (tree, "DELETE t", 41..=43),
        (heap, "DELETE t", 56..=60),
        (heap, "DELETE t", 41..=43),
    ] {
        waits_within_a_leaf(table, delete, ahead);
    }
    waits_within_a_leaf(tree, backwards, 17..=19);
    waits_within_a_leaf(tree, backwards, 1..=5);
}
