//! Statistics of tables: which queries make them, and what plans follow from them.

use super::joins::{reads, reads_of, run_again};
use super::*;
use pikepole_engine::{StatisticsOrigin, TableStatistics};

/// `big` has 30,000 rows, of which nearly all have the kind 7 and thirty each of 1 to 3; `other` has as many, by its key.
const TABLES: &str = "CREATE DATABASE d;
GO
USE d;
CREATE TABLE big (k int, kind int, o int, filler char(200));
CREATE TABLE other (o int PRIMARY KEY, v int, filler char(200));
INSERT big SELECT value, CASE WHEN value % 1000 < 3 THEN value % 1000 + 1 ELSE 7 END, value, REPLICATE('x', 200)
FROM GENERATE_SERIES(1, 30000);
INSERT other SELECT value, value % 10, REPLICATE('x', 200) FROM GENERATE_SERIES(1, 30000);
";

fn with_tables() -> Client {
    let mut client = World::with_log(128 << 20).client();
    client.quiet(TABLES);
    client
}

fn query(kind: i32) -> String {
    format!("SELECT SUM(other.v) FROM big JOIN other ON other.o = big.o WHERE big.kind = {kind}")
}

fn statistics_of(client: &Client, table: &str) -> Option<Arc<TableStatistics>> {
    let view = client.context.catalog();
    let definitions = view.definitions();
    definitions.statistics_of(definitions.table("dbo", table)?.object_id).cloned()
}

#[test]
fn a_dear_join_makes_statistics_and_is_planned_by_them() {
    let mut client = with_tables();
    assert!(statistics_of(&client, "big").is_none());
    // By guesses a tenth of the rows would be looked up in either case.
    assert_eq!(client.value(&query(7)), "134910");
    let big = statistics_of(&client, "big").expect("the query has made some");
    let of =
        |column: usize| big.of_column(column).and_then(|own| own.values.as_ref()).expect("they are of this column");
    assert_eq!((of(1).rows, of(1).distinct[0], of(2).distinct[0]), (30_000, 4.0, 30_000.0));
    assert!(big.entries.iter().all(|own| own.origin == StatisticsOrigin::Automatic));
    let other = statistics_of(&client, "other").expect("the query has made some");
    assert_eq!(other.entries.iter().map(|own| own.origin).collect::<Vec<_>>(), [StatisticsOrigin::Index]);
    assert_eq!(reads(&mut client, &query(7)), "big # other", "nearly all rows: a hash table");
    assert_eq!(reads(&mut client, &query(3)), "big other=", "few rows: by the key");
}

const SOUGHT: &str = "big other=";
const HASHED: &str = "big # other";

/// Makes a procedure of the query for the kind `@k`, with these words before AS and this OPTION.
fn procedure(client: &mut Client, with: &str, option: &str) {
    let query = query(0).replace("= 0", "= @k");
    client.quiet(&format!("DROP PROCEDURE IF EXISTS p;\nGO\nCREATE PROCEDURE p @k int {with} AS {query} {option}"));
}

/// The plan that the cache has of the procedure's statement after this call.
fn called(client: &mut Client, call: &str) -> Arc<crate::plan::Statement> {
    client.quiet(call);
    let view = client.context.catalog();
    let found = view.definitions().procedure("dbo", "p").expect("it was made").clone();
    let program = client.context.plans.procedure(client.context.database().id(), found.object_id, &found.text);
    let program = program.expect("it was called");
    Arc::clone(program.late[0].plan.lock().expect("no panic").as_ref().expect("it has run"))
}

/// The reads of the tables in the plans after each of these calls.
fn calls(client: &mut Client, with: &str, option: &str, calls: &[&str]) -> Vec<String> {
    procedure(client, with, option);
    calls.iter().map(|call| reads_of(&called(client, call))).collect()
}

#[test]
fn plans_are_made_for_the_parameters_of_the_first_call() {
    let mut client = with_tables();
    assert_eq!(client.value(&query(7)), "134910");
    assert_eq!(calls(&mut client, "", "", &["EXEC p 3", "EXEC p 7"]), [SOUGHT; 2], "thirty rows, and then it stays");
    assert_eq!(calls(&mut client, "", "", &["EXEC p 7", "EXEC p 3"]), [HASHED; 2], "nearly all rows");
    assert_eq!(*called(&mut client, "EXEC p 3").values, [(0, Value::Int(7))]);
    client.quiet("CREATE TABLE another (i int)");
    assert_eq!(reads_of(&called(&mut client, "EXEC p 3")), SOUGHT, "a definition has changed: for the next call");
    client.quiet("ALTER DATABASE SCOPED CONFIGURATION SET PARAMETER_SNIFFING = OFF");
    assert_eq!(calls(&mut client, "", "", &["EXEC p 7"]), [SOUGHT], "a share that is the average of four values");
    assert!(called(&mut client, "EXEC p 7").values.is_empty());
}

#[test]
fn options_say_what_values_plans_are_made_for() {
    let mut client = with_tables();
    assert_eq!(client.value(&query(7)), "134910");
    let three_and_seven = ["EXEC p 3", "EXEC p 7"];
    let mut ways = |option: &str| calls(&mut client, "", &format!("OPTION ({option})"), &three_and_seven);
    assert_eq!(ways("RECOMPILE"), [SOUGHT, HASHED]);
    assert_eq!(ways("OPTIMIZE FOR (@k = 2)"), [SOUGHT; 2]);
    assert_eq!(ways("OPTIMIZE FOR (@k = 7)"), [HASHED; 2]);
    // A share that is the average of four values.
    for unknown in ["OPTIMIZE FOR UNKNOWN", "OPTIMIZE FOR (@k UNKNOWN)", "USE HINT ('DISABLE_PARAMETER_SNIFFING')"] {
        assert_eq!(calls(&mut client, "", &format!("OPTION ({unknown})"), &["EXEC p 7"]), [SOUGHT], "{unknown}");
    }
    let both = "OPTION (OPTIMIZE FOR UNKNOWN, OPTIMIZE FOR (@k = 7))";
    assert_eq!(calls(&mut client, "", both, &["EXEC p 3"]), [HASHED]);
    // The value of a variable that is no parameter is known when its statement runs, and no earlier.
    let mut local = |option: &str| {
        let program = format!("DECLARE @k int = 7; {} {option}", query(0).replace("= 0", "= @k"));
        reads(&mut client, &program)
    };
    assert_eq!(local(""), SOUGHT);
    assert_eq!(local("OPTION (RECOMPILE)"), HASHED);
    assert_eq!(local("OPTION (OPTIMIZE FOR (@k = 7))"), HASHED);
    assert!(client.lines("SELECT 1 OPTION (OPTIMIZE FOR (@none = 3))")[0].starts_with("Msg 137"));
    assert!(client.lines("DECLARE @k int; SELECT @k OPTION (OPTIMIZE FOR (@k = 'x'))")[0].starts_with("Msg 245"));
}

#[test]
fn calls_with_recompile_have_plans_of_their_own() {
    let mut client = with_tables();
    assert_eq!(client.value(&query(7)), "134910");
    let hashes = |client: &mut Client, call: &str| {
        client.context.settings.statistics_profile = true;
        let lines = client.lines(call);
        client.context.settings.statistics_profile = false;
        lines.iter().any(|line| line.contains("Hash Match(Inner Join"))
    };
    procedure(&mut client, "", "");
    let kept = called(&mut client, "EXEC p 3");
    assert_eq!(
        ["EXEC p 7", "EXEC p 7 WITH RECOMPILE", "EXEC p 7"].map(|call| hashes(&mut client, call)),
        [false, true, false]
    );
    assert!(Arc::ptr_eq(&kept, &called(&mut client, "EXEC p 3 WITH RECOMPILE")));
    procedure(&mut client, "WITH RECOMPILE", "");
    assert_eq!(["EXEC p 3", "EXEC p 7", "EXEC p 3"].map(|call| hashes(&mut client, call)), [false, true, false]);
    let view = client.context.catalog();
    let found = view.definitions().procedure("dbo", "p").expect("it was made").clone();
    let database = client.context.database().id();
    assert!(client.context.plans.procedure(database, found.object_id, &found.text).is_none(), "it is kept nowhere");
}

#[test]
fn switches_and_cheap_queries_make_none() {
    let mut client = with_tables();
    client.quiet("ALTER DATABASE d SET AUTO_CREATE_STATISTICS OFF;");
    assert_eq!(client.value(&query(7)), "134910");
    assert!(statistics_of(&client, "big").is_none());
    client.quiet("ALTER DATABASE d SET AUTO_CREATE_STATISTICS ON;");
    assert_eq!(client.value("SELECT a.v + b.v FROM other AS a JOIN other AS b ON b.o = a.o WHERE a.o = 5"), "10");
    assert!(statistics_of(&client, "other").is_none(), "a row by its key");
    assert_eq!(client.value(&query(3)), "60");
    assert!(statistics_of(&client, "big").is_some());
}

#[test]
fn statistics_follow_the_rows() {
    let mut client = with_tables();
    let program = prepare(&query(7), "", &client.context, &client.host).expect("it can be compiled");
    run_again(&mut client, &program);
    let rows = |client: &Client| {
        let own = statistics_of(client, "big").expect("the query has made some");
        own.of_column(1).and_then(|own| own.values.as_ref().map(|values| values.rows))
    };
    assert_eq!(rows(&client), Some(30_000));
    // Less than a fifth.
    client.quiet("INSERT big SELECT value, 8, value, 'y' FROM GENERATE_SERIES(1, 4000);");
    (0..40).for_each(|_| drop(run_again(&mut client, &program)));
    assert_eq!(rows(&client), Some(30_000));
    client.quiet("ALTER DATABASE d SET AUTO_UPDATE_STATISTICS OFF;\nGO\nUPDATE TOP (4000) big SET kind = 9;");
    (0..40).for_each(|_| drop(run_again(&mut client, &program)));
    assert_eq!(rows(&client), Some(30_000), "they are not to be brought up to date");
    client.quiet("ALTER DATABASE d SET AUTO_UPDATE_STATISTICS ON;");
    (0..40).for_each(|_| drop(run_again(&mut client, &program)));
    assert_eq!(rows(&client), Some(34_000));
}

#[test]
fn queries_do_not_wait_for_statistics_that_are_updated_in_the_background() {
    let mut client = with_tables();
    client.quiet("ALTER DATABASE d SET AUTO_UPDATE_STATISTICS_ASYNC ON;");
    let program = prepare(&query(7), "", &client.context, &client.host).expect("it can be compiled");
    run_again(&mut client, &program);
    let rows = |client: &Client, table: &str, column: usize| {
        let own = statistics_of(client, table).expect("the query has made some");
        own.of_column(column).and_then(|own| own.values.as_ref().map(|values| values.rows))
    };
    assert_eq!(rows(&client, "big", 1), Some(30_000), "a query waits for those that there are not");
    client.quiet("INSERT big SELECT value, 8, value, 'y' FROM GENERATE_SERIES(1, 60000);");
    // The checkpoint task, which updates them, does not run in between.
    (0..40).for_each(|_| drop(run_again(&mut client, &program)));
    assert_eq!(rows(&client, "big", 1), Some(30_000));
    for _ in 0..200 {
        if rows(&client, "big", 1) != Some(30_000) {
            break;
        }
        client.quiet("WAITFOR DELAY '00:00:00.020'");
    }
    // Some pages tell of all.
    let new = rows(&client, "big", 1).expect("they are there still");
    assert!(new != 30_000 && new.abs_diff(90_000) < 9_000, "{new}");
    assert_eq!(reads(&mut client, &query(8)), "big # other", "the plan is bound again: many rows have the kind 8");
}

#[test]
fn a_query_within_a_transaction_that_changes_definitions_does_without() {
    let mut client = with_tables();
    client.quiet("BEGIN TRANSACTION; CREATE TABLE mine (x int);");
    assert_eq!(client.value(&query(7)), "134910");
    client.quiet("ROLLBACK;");
    assert!(statistics_of(&client, "big").is_none());
}
