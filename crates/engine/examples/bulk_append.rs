//! How fast a heap takes rows: children on each scheduler append rows of 20 bytes that are encoded already.
//!
//! `cargo run --release -p pikepole-engine --example bulk_append -- FOLDER MILLIONS WORKERS [POLICY] [TABLOCK]`

use std::time::Instant;

use pikepole_engine::{
    ColumnDefinition, Durability, EncodedRows, LockMode, MASTER, Server, ServerOptions, TableDefinition,
};
use pikepole_scheduler::{Placement, TaskInfo};
use pikepole_types::SqlType;

const ROW_BYTES: usize = 20;
const BATCH_ROWS: usize = 254 * 32;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, millions, workers, rest @ ..] = &arguments[..] else {
        return Err("FOLDER MILLIONS WORKERS [POLICY] [TABLOCK]".into());
    };
    let (rows, workers): (usize, usize) = (millions.parse::<usize>()? << 20, workers.parse()?);
    let mut options = ServerOptions::new(folder);
    options.buffer_pool_bytes = Some(1 << 30);
    let server = Server::open(options)?;
    if let Some(policy) = rest.first() {
        server.set_policy("NESTED_TRANSACTIONS", policy).map_err(|error| error.message)?;
    }
    let mode = if rest.len() > 1 { LockMode::BU } else { LockMode::IX };
    let db = server.database(MASTER).map_err(|error| error.message)?;
    server.schedulers().block_on(async {
        let mut tx = db.transaction(51);
        let column = |name: &str, ty| ColumnDefinition {
            name: name.into(),
            ty,
            nullable: false,
            default: None,
            identity: None,
            user_type: None,
            collation: Default::default(),
        };
        let columns = vec![column("a", SqlType::BigInt), column("b", SqlType::Int), column("c", SqlType::DateTime)];
        let table = TableDefinition { schema: "dbo".into(), name: "t".into(), columns, ..Default::default() };
        let table = db.create_table(&mut tx, table).await.expect("a new table");
        db.commit(&mut tx, Durability::Full).await.expect("a commit");
        let (log, begin) = (db.log_stats(), Instant::now());
        db.begin_statement(&mut tx);
        db.drive(&mut tx, |tx| db.try_lock_table(tx, &table, mode)).await.expect("the lock is free");
        let children = db.drive(&mut tx, |tx| db.try_begin_children(tx, workers, true)).await.expect("the first ones");
        let work = |mut child, at: usize| {
            let (db, table) = (db.clone(), table.clone());
            let future = async move {
                let mut writer = db.bulk_writer(&child, &table).expect("a heap");
                let bytes = vec![at as u8; BATCH_ROWS * ROW_BYTES];
                let mut left = rows / workers;
                while left > 0 {
                    let count = left.min(BATCH_ROWS);
                    let rows = EncodedRows::Fixed { row_bytes: ROW_BYTES, bytes: &bytes[..count * ROW_BYTES] };
                    db.bulk_append(&mut child, &table, &mut writer, rows).await.expect("room");
                    left -= count;
                    pikepole_scheduler::yield_if_due().await;
                }
                db.drive(&mut child, |tx| db.try_bulk_finish(tx, &table, &mut writer)).await.expect("room");
                child
            };
            pikepole_scheduler::spawn(TaskInfo { session_id: Some(51), command: "INSERT" }, Placement::On(at % 2), future)
        };
        let handles: Vec<_> = children.into_iter().enumerate().map(|(at, child)| work(child, at)).collect();
        let mut ended = Vec::new();
        for handle in handles {
            ended.push(handle.await.expect("no panic"));
        }
        db.merge_children(&mut tx, ended);
        let appended = begin.elapsed();
        db.end_statement(&mut tx);
        db.commit(&mut tx, Durability::Full).await.expect("a commit");
        let all = begin.elapsed();
        let after = db.log_stats();
        println!(
            "{rows} rows: appended in {:.2} s, committed after {:.2} s, {:.1} M rows/s; log {:.2} bytes a row, {} MB written",
            appended.as_secs_f64(),
            all.as_secs_f64(),
            rows as f64 / all.as_secs_f64() / 1e6,
            (after.record_bytes - log.record_bytes) as f64 / rows as f64,
            (after.bytes_written - log.bytes_written) >> 20,
        );
        for row in server.statistics().waits().iter().filter(|row| row.wait_time_us > 10_000 && row.waiting_tasks_count > 0) {
            println!("  {}: {} waits, {} ms", row.wait_type, row.waiting_tasks_count, row.wait_time_us / 1000);
        }
        for row in server.statistics().latches().iter().filter(|row| row.waiting_requests_count > 0) {
            println!("  latch {}: {} waits, {} ms", row.class, row.waiting_requests_count, row.wait_time_us / 1000);
        }
        for row in server.statistics().spinlocks().iter().filter(|row| row.collisions > 1000) {
            println!("  spinlock {}: {} collisions, {} spins", row.name, row.collisions, row.spins);
        }
        drop(tx);
        let closing = Instant::now();
        server.shutdown().await.expect("a shutdown");
        println!("  closed in {:.2} s", closing.elapsed().as_secs_f64());
    });
    server.schedulers().shutdown();
    Ok(())
}
