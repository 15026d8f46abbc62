//! What the sessions of each scenario do: batches drawn by chance.

/// Deals numbers from a seed (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len() as u64) as usize]
    }
}

/// Makes a session's next batch; the session's number is given.
pub type Next = fn(&mut Random, i32) -> String;

pub struct Scenario {
    pub name: &'static str,
    pub setup: &'static str,
    pub cleanup: &'static str,
    /// One for each session.
    pub sessions: &'static [Next],
}

const TWO_TABLES: &str = "CREATE TABLE t1 (id int IDENTITY PRIMARY KEY, v int NOT NULL);
    CREATE TABLE t2 (id int PRIMARY KEY, v int NOT NULL);
    INSERT t1 (v) VALUES (1), (2), (3), (4);
    INSERT t2 (id, v) VALUES (1, 1), (2, 2), (3, 3)";
const DROP_TWO: &str = "DROP TABLE t1, t2";

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "table_locks",
        setup: TWO_TABLES,
        cleanup: DROP_TWO,
        sessions: &[
            update_insert,
            update_insert,
            update_insert,
            insert_update,
            insert_update,
            insert_update,
            insert_whole,
            insert_whole,
            insert_whole,
            insert_whole,
        ],
    },
    Scenario {
        name: "create_index",
        setup: TWO_TABLES,
        cleanup: DROP_TWO,
        sessions: &[
            update_insert,
            update_insert,
            update_insert,
            insert_update,
            insert_update,
            insert_update,
            change_index,
            change_index,
            change_index,
        ],
    },
    Scenario {
        name: "alter_table",
        setup: TWO_TABLES,
        cleanup: DROP_TWO,
        sessions: &[
            update_insert,
            update_insert,
            update_insert,
            insert_update,
            insert_update,
            insert_update,
            change_column,
            change_column,
            change_column,
        ],
    },
    Scenario {
        name: "foreign_key",
        setup: "CREATE TABLE parents (id int PRIMARY KEY, v int NOT NULL);
            CREATE TABLE children (id int IDENTITY PRIMARY KEY, parent int NOT NULL REFERENCES parents (id), v int);
            INSERT parents VALUES (1, 1), (2, 2), (3, 3), (4, 4);
            INSERT children (parent, v) VALUES (1, 1), (2, 2)",
        cleanup: "DROP TABLE children, parents",
        sessions: &[family, family, family, family, family, family, family, family],
    },
    Scenario {
        name: "application_locks",
        setup: TWO_TABLES,
        cleanup: DROP_TWO,
        sessions: &[
            application_locks,
            application_locks,
            application_locks,
            application_locks,
            update_insert,
            insert_update,
        ],
    },
    Scenario {
        name: "snapshot",
        setup: TWO_TABLES,
        cleanup: DROP_TWO,
        sessions: &[snapshot, snapshot, snapshot, snapshot, insert_whole, change_index, snapshot],
    },
    Scenario {
        name: "anything",
        setup: "CREATE TABLE t1 (id int PRIMARY KEY, v int NOT NULL, w int NULL);
            CREATE TABLE t2 (id int PRIMARY KEY, v int NOT NULL, w int NULL);
            CREATE TABLE t3 (id int PRIMARY KEY, v int NOT NULL REFERENCES t1 (id), w int NULL);
            CREATE INDEX by_v ON t1 (v); CREATE INDEX by_v ON t2 (v);
            INSERT t1 VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4);
            INSERT t2 VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4);
            INSERT t3 VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)",
        cleanup: "DROP TABLE t3, t2, t1",
        sessions: &[anything, anything, anything, anything, anything, anything, anything, anything, killer],
    },
];

fn pause(random: &mut Random) -> &'static str {
    random.one_of(&["", "", "WAITFOR DELAY '00:00:00.005';", "WAITFOR DELAY '00:00:00.001';"])
}

fn update_insert(random: &mut Random, _: i32) -> String {
    let id = 1 + random.below(3);
    format!("BEGIN TRAN; UPDATE t2 SET v = v + 1 WHERE id = {id}; INSERT t1 (v) VALUES (7); COMMIT")
}

fn insert_update(random: &mut Random, _: i32) -> String {
    let id = 1 + random.below(3);
    format!(
        "BEGIN TRAN; INSERT t1 (v) VALUES (8); WAITFOR DELAY '00:00:00.005'; UPDATE t2 SET v = v + 1 WHERE id = {id}; COMMIT"
    )
}

fn insert_whole(_: &mut Random, _: i32) -> String {
    "INSERT t1 WITH (TABLOCK) (v) SELECT TOP (3) v FROM t2".to_owned()
}

fn change_index(random: &mut Random, session: i32) -> String {
    let table = random.one_of(&["t1", "t2"]);
    match random.below(2) {
        0 => format!("CREATE INDEX by_v{session} ON {table} (v); DROP INDEX by_v{session} ON {table}"),
        _ => format!(
            "BEGIN TRAN; CREATE INDEX by_v{session} ON {table} (v); {} DROP INDEX by_v{session} ON {table}; COMMIT",
            pause(random)
        ),
    }
}

fn change_column(random: &mut Random, session: i32) -> String {
    let table = random.one_of(&["t1", "t2"]);
    format!("ALTER TABLE {table} ADD c{session} int NULL;\nALTER TABLE {table} DROP COLUMN c{session}")
}

fn family(random: &mut Random, _: i32) -> String {
    let level = random.one_of(&["SERIALIZABLE", "SERIALIZABLE", "SERIALIZABLE", "REPEATABLE READ", "READ COMMITTED"]);
    let mut batch = format!("SET TRANSACTION ISOLATION LEVEL {level}; BEGIN TRAN; ");
    for _ in 0..1 + random.below(3) {
        let id = 1 + random.below(5);
        batch += &match random.below(8) {
            0 | 1 => format!("INSERT children (parent, v) VALUES ({id}, 1); "),
            2 => format!("DELETE children WHERE parent = {id}; "),
            3 => format!("UPDATE parents SET v = v + 1 WHERE id = {id}; "),
            4 => format!("DELETE parents WHERE id = {id}; "),
            5 => format!("IF NOT EXISTS (SELECT * FROM parents WHERE id = {id}) INSERT parents VALUES ({id}, 1); "),
            6 => format!("DECLARE @n{id}{} int = (SELECT COUNT(*) FROM children WHERE parent = {id}); ", batch.len()),
            _ => format!("UPDATE children SET v = v + 1, parent = {id} WHERE parent = {}; ", 1 + random.below(4)),
        };
        batch += pause(random);
    }
    batch + "COMMIT"
}

fn application_locks(random: &mut Random, _: i32) -> String {
    let mut batch = "BEGIN TRAN; DECLARE @r int; ".to_owned();
    for _ in 0..2 {
        let name = random.one_of(&["a", "b", "c"]);
        let mode = random.one_of(&["Exclusive", "Exclusive", "Shared", "Update", "IntentExclusive"]);
        let owner = random.one_of(&["Transaction", "Session"]);
        batch += &match random.below(3) {
            0 => format!("UPDATE t2 SET v = v + 1 WHERE id = {}; ", 1 + random.below(3)),
            _ => format!("EXEC @r = sp_getapplock '{name}', '{mode}', '{owner}'; IF @r = -3 SELECT 'deadlock'; "),
        };
        batch += pause(random);
    }
    // What the session has locked does not end with the transaction.
    batch += "IF @@TRANCOUNT > 0 COMMIT; ";
    for name in ["a", "b", "c"] {
        batch += &format!(
            "WHILE APPLOCK_MODE('public', '{name}', 'Session') <> 'NoLock' EXEC sp_releaseapplock '{name}', 'Session'; "
        );
    }
    batch
}

fn snapshot(random: &mut Random, _: i32) -> String {
    let (one, other) = (1 + random.below(3), 1 + random.below(3));
    format!(
        "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRAN; UPDATE t2 SET v = v + 1 WHERE id = {one}; {} \
         INSERT t1 (v) SELECT TOP (1) v FROM t2; {} UPDATE t2 SET v = v - 1 WHERE id = {other}; COMMIT",
        pause(random),
        pause(random)
    )
}

fn anything(random: &mut Random, session: i32) -> String {
    let level =
        random.one_of(&["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "READ UNCOMMITTED"]);
    let mut batch = format!("SET TRANSACTION ISOLATION LEVEL {level}; BEGIN TRAN; ");
    for _ in 0..1 + random.below(4) {
        let table = random.one_of(&["t1", "t2", "t3"]);
        let (id, high) = (1 + random.below(6), 4 + random.below(4));
        let name = batch.len();
        batch += &match random.below(16) {
            0 | 1 => format!("UPDATE {table} SET w = w + 1 WHERE id = {id}; "),
            2 => format!("UPDATE {table} SET w = w + 1; "),
            3 | 4 => format!("INSERT {table} VALUES ({id}, {}, 1); ", 1 + random.below(4)),
            5 => format!("DELETE {table} WHERE id = {id}; "),
            6 => format!("INSERT {table} WITH (TABLOCK) SELECT TOP (2) id + {high}, v, 1 FROM t2; "),
            7 => format!(
                "DECLARE @a{name} int = (SELECT COUNT(*) FROM {table} WITH (HOLDLOCK) WHERE id BETWEEN {id} AND {high}); "
            ),
            8 => format!("DECLARE @b{name} int = (SELECT COUNT(*) FROM {table} WITH (UPDLOCK) WHERE id = {id}); "),
            9 => format!("DECLARE @c{name} int = (SELECT COUNT(*) FROM {table} WITH (TABLOCKX)); "),
            10 => format!("DECLARE @d{name} int = (SELECT COUNT(*) FROM {table} WITH (HOLDLOCK) WHERE v = {id}); "),
            11 => format!("CREATE INDEX x{session} ON {table} (w); DROP INDEX x{session} ON {table}; "),
            12 => format!("ALTER TABLE {table} ADD c{session} int NULL; "),
            13 => format!("IF COL_LENGTH('{table}', 'c{session}') > 0 ALTER TABLE {table} DROP COLUMN c{session}; "),
            14 => format!("EXEC sp_getapplock '{table}', 'Exclusive'; "),
            _ => format!("UPDATE {table} SET v = {} WHERE v = {}; ", 1 + random.below(4), 1 + random.below(4)),
        };
        batch += pause(random);
    }
    batch + "IF @@TRANCOUNT > 0 COMMIT"
}

/// Ends sessions now and then, waiting or not.
fn killer(random: &mut Random, _: i32) -> String {
    format!("WAITFOR DELAY '00:00:00.{:03}'; KILL {}", 50 + random.below(200), 51 + random.below(12))
}
