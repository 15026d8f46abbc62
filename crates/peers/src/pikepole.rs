//! Pikepole beside the peers: its own load driver, run as a process.

use crate::Failure;
use crate::drive::Measurement;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// One run of `pikepole stress`.
pub fn run(
    binary: &Path,
    folder: &Path,
    durable: bool,
    sessions: usize,
    duration: Duration,
) -> Result<Measurement, Failure> {
    let data = folder.join("pikepole");
    let json = folder.join("pikepole.json");
    let _ = std::fs::remove_dir_all(&data);
    std::fs::create_dir_all(folder)?;
    let output = Command::new(binary)
        .args(["stress", "-n", &sessions.to_string(), "--seconds", &duration.as_secs_f64().to_string()])
        .args(["--durability", if durable { "full" } else { "delayed" }])
        .arg("-d")
        .arg(&data)
        .arg("--json")
        .arg(&json)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let runs: serde_json::Value = serde_json::from_slice(&std::fs::read(&json)?)?;
    let rate = runs[0]["rows_per_second"].as_f64().ok_or("the report has no rate")?;
    std::fs::remove_dir_all(&data)?;
    std::fs::remove_file(&json)?;
    Ok(Measurement { engine: "pikepole (T-SQL procedure)".to_string(), rows_per_second: rate })
}
