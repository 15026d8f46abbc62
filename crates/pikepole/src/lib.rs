//! Pikepole: a T-SQL database engine for insert-heavy transaction processing, embedded in your process.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("pikepole-doc-{}", std::process::id()));
//! use pikepole::{Engine, Options, Value};
//!
//! let engine = Engine::open(Options::new(&folder))?;
//! let mut connection = engine.connect_blocking()?;
//! connection.execute("CREATE TABLE dbo.reading (id int PRIMARY KEY, celsius float NOT NULL)", &[])?;
//! connection.execute(
//!     "INSERT dbo.reading (id, celsius) VALUES (@id, @celsius)",
//!     &[("@id", Value::Int(1)), ("@celsius", Value::Float(21.5))],
//! )?;
//! let rows = connection.query("SELECT id, celsius FROM dbo.reading", &[])?;
//! for row in &rows {
//!     let celsius: f64 = row.get("celsius")?;
//!     assert_eq!(celsius, 21.5);
//! }
//! # drop(connection);
//! # engine.shutdown()?;
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```

pub use pikepole_embedded::*;
