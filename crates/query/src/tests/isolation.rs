//! Isolation levels: the anomalies that Hermitage lists, and random histories that must have a serial order.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::{Client, World, line};
use pikepole_scheduler::{JoinHandle, Placement, TaskInfo};

/// Runs steps of sessions, each a second after the one before unless its session waits for another then. What each session has
/// shown, errors by their numbers.
fn steps(level: &str, steps: &[(usize, &str)]) -> Vec<Vec<String>> {
    let mut world = World::new();
    let mut first = world.client();
    first.quiet("CREATE TABLE test (id int PRIMARY KEY, value int) INSERT test VALUES (1, 10), (2, 20)");
    let sessions = steps.iter().map(|(session, _)| *session).max().unwrap_or_default() + 1;
    let mut scripts = vec![(0, format!("SET NOCOUNT ON SET TRANSACTION ISOLATION LEVEL {level} BEGIN TRAN")); sessions];
    for (at, (session, statement)) in (1..).zip(steps) {
        let (last, script) = &mut scripts[*session];
        script.push_str(&format!(" WAITFOR DELAY '00:00:{:02}' {statement}", at - *last));
        *last = at;
    }
    let tasks: Vec<_> = scripts.into_iter().map(|(_, script)| apart(&world, world_client(&first), script)).collect();
    tasks.into_iter().map(|task| ended(&world, task)).collect()
}

fn world_client(of: &Client) -> Client {
    use std::sync::atomic::{AtomicI32, Ordering};
    static NEXT: AtomicI32 = AtomicI32::new(100);
    let server = Arc::clone(&of.server);
    let database = server.database("master").expect("master is there");
    let plans = crate::PlanCache::new();
    let context =
        crate::ExecutionContext::new(Arc::clone(&server), database, NEXT.fetch_add(1, Ordering::Relaxed), plans);
    Client { server, context, host: super::TestHost }
}

fn apart(world: &World, mut client: Client, script: String) -> JoinHandle<Vec<String>> {
    let info = TaskInfo { session_id: Some(60), command: "SELECT" };
    world.server.schedulers().spawn(info, Placement::LeastLoaded, async move { lines(&mut client, &script).await })
}

async fn lines(client: &mut Client, script: &str) -> Vec<String> {
    let mut output = crate::Collected::default();
    client.execute(script, &mut output).await;
    let short = |line: String| match line.strip_prefix("Msg ") {
        Some(error) => format!("Msg {}", error.split(',').next().unwrap_or_default()),
        None => line,
    };
    let told = |line: &String| line != "The statement has been terminated.";
    output.events.iter().filter_map(line).map(short).filter(told).collect()
}

fn ended<T: Send + 'static>(world: &World, task: JoinHandle<T>) -> T {
    world.server.schedulers().block_on(task).expect("no panic")
}

const LOCKING: [&str; 2] = ["REPEATABLE READ", "SERIALIZABLE"];

#[test]
fn writers_and_readers_wait_for_each_other() {
    let read = |id: i32| format!("SELECT value FROM test WHERE id = {id}");
    let (read_1, read_2) = (read(1), read(2));
    for level in LOCKING {
        // G0: both write both rows; the second waits.
        let shown = steps(
            level,
            &[
                (0, "UPDATE test SET value = 11 WHERE id = 1"),
                (1, "UPDATE test SET value = 12 WHERE id = 1"),
                (0, "UPDATE test SET value = 21 WHERE id = 2"),
                (0, "COMMIT"),
                (1, "UPDATE test SET value = 22 WHERE id = 2"),
                (1, "COMMIT SELECT value FROM test"),
            ],
        );
        assert_eq!(shown, [vec![], vec!["12", "22"]], "G0 at {level}");
        // G1a, G1b: what is rolled back, or written over, is not read.
        for (last, value) in [("ROLLBACK", "10"), ("UPDATE test SET value = 11 WHERE id = 1 COMMIT", "11")] {
            let shown = steps(
                level,
                &[(0, "UPDATE test SET value = 101 WHERE id = 1"), (1, &read_1), (0, last), (1, "COMMIT")],
            );
            assert_eq!(shown[1], [value], "G1 at {level}");
        }
        // G1c: each reads what the other has written.
        let shown = steps(
            level,
            &[
                (0, "UPDATE test SET value = 11 WHERE id = 1"),
                (1, "UPDATE test SET value = 22 WHERE id = 2"),
                (0, &read_2),
                (1, &read_1),
                (0, "COMMIT"),
                (1, "COMMIT"),
            ],
        );
        assert_eq!(shown, [vec!["20"], vec!["Msg 1205"]], "G1c at {level}");
        // P4: both read, then both write what they have read.
        let shown = steps(
            level,
            &[
                (0, &read_1),
                (1, &read_1),
                (0, "UPDATE test SET value = 11 WHERE id = 1"),
                (1, "UPDATE test SET value = 11 WHERE id = 1"),
                (0, "COMMIT"),
                (1, "COMMIT"),
            ],
        );
        assert_eq!(shown, [vec!["10"], vec!["10", "Msg 1205"]], "P4 at {level}");
        // G-single: a reader sees both rows as they were before a writer.
        let shown = steps(
            level,
            &[
                (0, &read_1),
                (1, "UPDATE test SET value = 12 WHERE id = 1"),
                (1, "UPDATE test SET value = 18 WHERE id = 2 COMMIT"),
                (0, &read_2),
                (0, "COMMIT"),
            ],
        );
        assert_eq!(shown[0], ["10", "20"], "G-single at {level}");
        // G2-item: write skew.
        let both = "SELECT value FROM test WHERE id IN (1, 2)";
        for reads in [both.to_owned(), format!("{read_1} {read_2}")] {
            let shown = steps(
                level,
                &[
                    (0, &reads),
                    (1, &reads),
                    (0, "UPDATE test SET value = 11 WHERE id = 1"),
                    (1, "UPDATE test SET value = 21 WHERE id = 2"),
                    (0, "COMMIT"),
                    (1, "COMMIT"),
                ],
            );
            assert_eq!(shown, [vec!["10", "20"], vec!["10", "20", "Msg 1205"]], "G2-item at {level}");
        }
    }
}

#[test]
fn what_a_condition_finds_stays_at_serializable() {
    for condition in ["value % 3 = 0", "id BETWEEN 3 AND 9", "id = 3"] {
        let read = format!("SELECT id FROM test WHERE {condition}");
        // PMP: a row that comes between two reads.
        let between = [(0, read.as_str()), (1, "INSERT test VALUES (3, 30) COMMIT"), (0, &read), (0, "COMMIT")];
        assert_eq!(steps("SERIALIZABLE", &between)[0], [""; 0], "{condition}");
        assert_eq!(steps("REPEATABLE READ", &between)[0], ["3"], "{condition}: it is what the level allows");
        assert_eq!(steps("SNAPSHOT", &between)[0], [""; 0], "{condition}");
        // G2: each puts in what the other has looked for.
        let both = [
            (0, read.as_str()),
            (1, &read),
            (0, "INSERT test VALUES (3, 30)"),
            (1, "INSERT test VALUES (6, 42)"),
            (0, "COMMIT"),
            (1, "COMMIT"),
        ];
        if condition != "id = 3" {
            assert_eq!(steps("SERIALIZABLE", &both), [vec![], vec!["Msg 1205"]], "{condition}");
        }
        assert_eq!(steps("SNAPSHOT", &both), [[""; 0], [""; 0]], "{condition}: it is what the level allows");
    }
}

#[test]
fn a_statement_of_another_level_waits_too() {
    let read = "SELECT value FROM test WHERE id BETWEEN 1 AND 5";
    for writer in ["READ COMMITTED", "SNAPSHOT", "READ UNCOMMITTED"] {
        for change in
            ["INSERT test VALUES (3, 30)", "UPDATE test SET value = 0 WHERE id = 2", "DELETE test WHERE id = 1"]
        {
            let other = format!("COMMIT SET TRANSACTION ISOLATION LEVEL {writer} {change} SELECT 'done'");
            let shown = steps("SERIALIZABLE", &[(0, read), (1, &other), (0, read), (0, "COMMIT SELECT 'first'")]);
            assert_eq!(shown[0], ["10", "20", "10", "20", "first"], "{writer}: {change}");
            assert_eq!(shown[1], ["done"], "{writer}: {change}");
        }
    }
}

/// What a transaction of a history does.
#[derive(Debug, Clone)]
enum Operation {
    Get(i32),
    Sum(i32, i32),
    With(i32),
    Even,
    Put(i32, i32),
    Insert(i32, i32),
    Delete(i32, i32),
}

const KEYS: u64 = 8;
const VALUES: u64 = 4;

impl Operation {
    fn random(random: &mut impl FnMut(u64) -> u64) -> Operation {
        let (key, value) = (random(KEYS) as i32, random(VALUES) as i32);
        let to = key + random(3) as i32;
        match random(9) {
            0 | 1 => Operation::Get(key),
            2 => Operation::Sum(key, to),
            3 => Operation::With(value),
            4 => Operation::Even,
            5 => Operation::Put(key, value),
            6 | 7 => Operation::Insert(key, value),
            _ => Operation::Delete(key, to),
        }
    }

    fn text(&self) -> String {
        match self {
            Operation::Get(key) => format!("SELECT v FROM h WHERE id = {key}"),
            Operation::Sum(from, to) => format!("SELECT COUNT(*), SUM(v) FROM h WHERE id BETWEEN {from} AND {to}"),
            Operation::With(value) => format!("SELECT id FROM h WHERE v = {value} ORDER BY id"),
            Operation::Even => "SELECT COUNT(*) FROM h WHERE v % 2 = 0".to_owned(),
            Operation::Put(key, value) => format!("UPDATE h SET v = {value} WHERE id = {key}"),
            Operation::Insert(key, value) => format!("INSERT h VALUES ({key}, {value})"),
            Operation::Delete(from, to) => format!("DELETE h WHERE id BETWEEN {from} AND {to}"),
        }
    }

    /// What it shows when it runs alone.
    fn alone(&self, rows: &mut BTreeMap<i32, i32>) -> Vec<String> {
        let count = |rows: usize| format!("({rows} rows)");
        let with_count = |mut shown: Vec<String>| {
            shown.push(count(shown.len()));
            shown
        };
        match *self {
            Operation::Get(key) => with_count(rows.get(&key).map(i32::to_string).into_iter().collect()),
            Operation::Sum(from, to) => {
                let found: Vec<i32> = rows.range(from..=to).map(|(_, v)| *v).collect();
                let sum = if found.is_empty() { "NULL".to_owned() } else { found.iter().sum::<i32>().to_string() };
                with_count(vec![format!("{}|{sum}", found.len())])
            }
            Operation::With(value) => {
                with_count(rows.iter().filter(|(_, v)| **v == value).map(|(id, _)| id.to_string()).collect())
            }
            Operation::Even => with_count(vec![rows.values().filter(|v| **v % 2 == 0).count().to_string()]),
            Operation::Put(key, value) => {
                vec![count(rows.get_mut(&key).map(|v| *v = value).into_iter().count())]
            }
            Operation::Insert(key, value) if !rows.contains_key(&key) => {
                rows.insert(key, value);
                vec![count(1)]
            }
            Operation::Insert(..) => vec!["Msg 2627".to_owned()],
            Operation::Delete(from, to) => {
                let before = rows.len();
                rows.retain(|id, _| !(from..=to).contains(id));
                vec![count(before - rows.len())]
            }
        }
    }
}

/// Committed transactions in the order in which each had done its last operation: what it has locked, nobody changes until it
/// has committed, so that this is a serial order.
type History = Arc<Mutex<Vec<Vec<(Operation, Vec<String>)>>>>;

async fn random_transactions(mut client: Client, mut seed: u64, history: History) -> usize {
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut victims = 0;
    for _ in 0..40 {
        lines(&mut client, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE BEGIN TRAN").await;
        let mut done = Vec::new();
        let mut is_victim = false;
        for _ in 0..1 + random(4) {
            let operation = Operation::random(&mut random);
            let shown = lines(&mut client, &operation.text()).await;
            is_victim = shown.iter().any(|line| line == "Msg 1205");
            if is_victim {
                break;
            }
            done.push((operation, shown));
            lines(&mut client, &format!("WAITFOR DELAY '00:00:00.{:03}'", random(4))).await;
        }
        if is_victim {
            victims += 1;
            continue;
        }
        history.lock().unwrap_or_else(|e| e.into_inner()).push(done);
        lines(&mut client, "COMMIT").await;
    }
    victims
}

#[test]
fn random_histories_have_a_serial_order() {
    for table in [
        "id int PRIMARY KEY, v int, INDEX iv (v)",
        "id int PRIMARY KEY NONCLUSTERED, v int",
        "id int PRIMARY KEY, v int",
    ] {
        for seed in 1..=2 {
            let mut world = World::new();
            let mut first = world.client();
            first.quiet(&format!("CREATE TABLE h ({table})"));
            let history = History::default();
            let info = TaskInfo { session_id: Some(60), command: "SELECT" };
            let tasks: Vec<_> = (0..5)
                .map(|session| {
                    let run = random_transactions(world_client(&first), seed * 1000 + session, Arc::clone(&history));
                    world.server.schedulers().spawn(info, Placement::LeastLoaded, run)
                })
                .collect();
            let victims: usize = tasks.into_iter().map(|task| ended(&world, task)).sum();
            let history = history.lock().unwrap_or_else(|e| e.into_inner());
            assert!(history.len() > 50 && victims > 0, "{} of {table} have committed", history.len());
            let mut rows = BTreeMap::new();
            for (at, transaction) in history.iter().enumerate() {
                for (operation, shown) in transaction {
                    let alone = operation.alone(&mut rows);
                    assert_eq!(
                        *shown, alone,
                        "{table}, seed {seed}: {operation:?} of transaction {at}, {transaction:?}"
                    );
                }
            }
            let left: Vec<String> = rows.iter().map(|(id, v)| format!("{id}|{v}")).collect();
            assert_eq!(first.shown("SELECT id, v FROM h ORDER BY id"), left);
        }
    }
}
