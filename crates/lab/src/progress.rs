//! Progress on standard error, for a terminal: what is being done, how far it is, and the time left.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// A bar over steps of known length.
pub struct Bar {
    bar: ProgressBar,
    total: Duration,
    done: Duration,
}

impl Bar {
    /// A bar over work that takes about so long in all.
    pub fn new(total: Duration) -> Self {
        let bar = ProgressBar::new(1000);
        if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:24}] {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Bar { bar, total, done: Duration::ZERO }
    }

    /// A step begins.
    pub fn begin(&mut self, what: &str) {
        self.bar.set_message(format!("{}   {what}", left(self.total.saturating_sub(self.done))));
    }

    /// The step is over, and took about this long by plan.
    pub fn end(&mut self, planned: Duration) {
        self.done += planned;
        let part = self.done.as_secs_f64() / self.total.as_secs_f64().max(1e-9);
        self.bar.set_position((part.min(1.0) * 1000.0) as u64);
    }

    /// A line above the bar that stays.
    pub fn line(&self, line: &str) {
        self.bar.println(line);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn left(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=89 => format!("{seconds} s left"),
        _ => format!("{} min left", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::left;
    use std::time::Duration;

    #[test]
    fn the_time_left_is_in_words() {
        assert_eq!(left(Duration::from_secs(89)), "89 s left");
        assert_eq!(left(Duration::from_secs(121)), "3 min left");
    }
}
