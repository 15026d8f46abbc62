//! Scripts against the engine on the simulated disk and schedulers.

mod batch;
mod bulk_insert;
mod common_tables;
mod crash;
mod cursors;
mod definitions;
mod elsewhere;
mod filtered;
mod flow;
mod format_files;
mod functions;
mod ignored_keys;
mod isolation;
mod joins;
mod key_changes;
mod little_memory;
mod locks;
mod long_values;
mod modify;
mod native_modules;
mod newest;
mod optimizer;
mod output;
mod parallel;
mod parallel_joins;
mod parallel_sorts;
mod parallel_union;
mod queries;
mod random_queries;
mod rules;
mod select;
mod spill;
mod sqlite;
mod statistics;
mod subqueries;
mod synonyms;
mod temporary;

use std::sync::Arc;

use crate::*;
use pikepole_engine::{SchedulerChoice, Server, ServerOptions};
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_tsql::Statement;
use pikepole_types::{SqlType, Value, to_text};

/// A host that has one view and a few functions.
struct TestHost;

impl Host for TestHost {
    fn virtual_table(&self, schema: Option<&str>, name: &str) -> Option<VirtualTable> {
        let int = |name: &str| ColumnInfo::new(name, SqlType::Int, false);
        let sys = schema.is_some_and(|schema| schema.eq_ignore_ascii_case("sys"));
        match name.to_ascii_lowercase().as_str() {
            "numbers" if sys => Some(VirtualTable {
                id: 1,
                name: "numbers".into(),
                columns: vec![int("n"), int("square")],
                parameters: None,
            }),
            "first_numbers" if sys => Some(VirtualTable {
                id: 2,
                name: "first_numbers".into(),
                columns: vec![int("n")],
                parameters: Some(vec![SqlType::Int]),
            }),
            _ => None,
        }
    }

    fn virtual_rows<'a>(
        &'a mut self,
        id: u32,
        arguments: &'a [Value],
        _: &'a mut ExecutionContext,
    ) -> HostFuture<'a, Result<Vec<Vec<Value>>, SqlError>> {
        Box::pin(async move {
            let count = arguments.first().and_then(Value::as_i64).unwrap_or(3) as i32;
            Ok((1..=count)
                .map(|n| match id {
                    1 => vec![Value::Int(n), Value::Int(n * n)],
                    _ => vec![Value::Int(n)],
                })
                .collect())
        })
    }

    fn sequential_guid(&self) -> [u8; 16] {
        [0; 16]
    }

    fn function(&self, name: &str) -> Option<HostFunction> {
        name.eq_ignore_ascii_case("DB_NAME").then_some(HostFunction {
            id: 1,
            result: SqlType::NVarChar(pikepole_types::Length::Limit(128)),
            arguments_min: 0,
            arguments_max: 0,
        })
    }

    fn call_function(&self, _: u32, _: &[Value], context: &ExecutionContext) -> Result<Value, SqlError> {
        Ok(Value::from(context.database().name()))
    }

    fn system_procedure(&self, name: &str) -> Option<u32> {
        name.eq_ignore_ascii_case("sp_double").then_some(1)
    }

    fn call_procedure<'a>(
        &'a mut self,
        _: u32,
        arguments: &'a mut [Argument],
        _: &'a mut ExecutionContext,
        output: &'a mut dyn Output,
    ) -> HostFuture<'a, Result<i32, SqlError>> {
        Box::pin(async move {
            let doubled = arguments[0].value.as_i64().unwrap_or(0) as i32 * 2;
            output.columns(&[ColumnInfo::new("doubled", SqlType::Int, false)]);
            output.row(&[Value::Int(doubled)]);
            arguments[0].value = Value::Int(doubled);
            Ok(7)
        })
    }

    fn statement<'a>(
        &'a mut self,
        _: &'a Statement,
        _: &'a mut ExecutionContext,
        output: &'a mut dyn Output,
    ) -> HostFuture<'a, Result<(), SqlError>> {
        Box::pin(async move {
            output.message(&SqlError::new(0, 0, 1, "host statement"));
            Ok(())
        })
    }
}

/// A server with sessions.
struct World {
    server: Arc<Server>,
    plans: Arc<PlanCache>,
    next_session: i32,
}

struct Client {
    server: Arc<Server>,
    context: ExecutionContext,
    host: TestHost,
}

fn is_send<T: Send>(value: T) -> T {
    value
}

impl World {
    fn new() -> World {
        World::with_options(None)
    }

    /// A server whose log may grow to this many bytes.
    fn with_log(bytes: u64) -> World {
        World::with_options(Some(bytes))
    }

    fn with_options(log_bytes_max: Option<u64>) -> World {
        let options = ServerOptions {
            log_bytes_max,
            disk: Disk::simulated(SimulatedDisk::new(1)),
            schedulers: SchedulerChoice::Simulated { seed: 7, count: 2 },
            small: true,
            ..ServerOptions::new("/server")
        };
        World {
            server: Server::open(options).expect("the folder is usable"),
            plans: PlanCache::new(),
            next_session: 51,
        }
    }

    fn client(&mut self) -> Client {
        let database = self.server.database("master").expect("master is there");
        let context =
            ExecutionContext::new(Arc::clone(&self.server), database, self.next_session, Arc::clone(&self.plans));
        self.next_session += 1;
        Client { server: Arc::clone(&self.server), context, host: TestHost }
    }
}

impl Client {
    /// A client of a world of its own.
    fn alone() -> Client {
        World::new().client()
    }

    /// Runs one batch.
    fn batch(&mut self, text: &str) -> Collected {
        let server = Arc::clone(&self.server);
        let mut output = Collected::default();
        let batch = is_send(self.execute(text, &mut output));
        server.schedulers().block_on(batch);
        output
    }

    async fn execute(&mut self, text: &str, output: &mut Collected) {
        match prepare(text, "", &self.context, &self.host) {
            Err(errors) => errors.iter().for_each(|error| output.error(error)),
            Ok(program) => {
                let (context, host) = (&mut self.context, &mut self.host);
                // The error has gone to the output.
                let _ = crate::run(&program, &mut [], Vec::new(), context, &mut *host, output).await;
            }
        }
    }

    /// Runs a script of batches and gives what came out as lines: rows joined by `|`, `(n rows)`, messages, errors.
    fn lines(&mut self, script: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for batch in pikepole_tsql::split_batches(script) {
            for event in self.batch(batch.text).events {
                lines.extend(line(&event));
            }
        }
        lines
    }

    /// Runs a script of which no errors and nothing else is expected.
    fn quiet(&mut self, script: &str) {
        let lines = self.lines(script);
        let bad = lines.iter().find(|line| line.starts_with("Msg"));
        assert!(bad.is_none(), "{bad:?}");
    }

    /// The rows and messages of a script, without the row counts.
    fn shown(&mut self, script: &str) -> Vec<String> {
        let mut lines = self.lines(script);
        lines.retain(|line| !line.starts_with('(') || !line.ends_with("rows)"));
        lines
    }

    /// The only value of a script.
    fn value(&mut self, script: &str) -> String {
        let lines = self.shown(script);
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines[0].clone()
    }
}

fn line(event: &Event) -> Option<String> {
    match event {
        Event::Columns(_) => None,
        Event::Row(row) => {
            let texts = row.iter().map(|value| match value {
                Value::Null => "NULL".to_owned(),
                Value::Str(text) => text.clone(),
                value => to_text(value, &type_of(value)),
            });
            Some(texts.collect::<Vec<_>>().join("|"))
        }
        Event::Done(done) => done.rows.map(|rows| format!("({rows} rows)")),
        Event::Message(message) => Some(message.message.clone()),
        Event::Error(error) => Some(error.to_string()),
    }
}

fn type_of(value: &Value) -> SqlType {
    match value {
        Value::Bit(_) => SqlType::Bit,
        Value::TinyInt(_) => SqlType::TinyInt,
        Value::SmallInt(_) => SqlType::SmallInt,
        Value::Int(_) => SqlType::Int,
        Value::BigInt(_) => SqlType::BigInt,
        Value::Decimal(_) => SqlType::Decimal { precision: 38, scale: 6 },
        Value::Money(_) => SqlType::Money,
        Value::Float(_) => SqlType::Float,
        Value::DateTime(_) => SqlType::DateTime,
        Value::Date(_) => SqlType::Date,
        _ => SqlType::NVarChar(pikepole_types::Length::Max),
    }
}
