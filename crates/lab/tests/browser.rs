//! The page of an experiment in a real browser, without a screen: that its charts are laid out and its tables filled.
//!
//! The page is the product's own, of a small experiment on the real engine. The browser runs the page's scripts and hands
//! back the document as it became; a script added for the test writes down what was laid out. Where there is no browser
//! the test says so; with `PIKEPOLE_BROWSER=required` in the environment that is a failure.

use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::AtomicBool;
use pikepole_embedded::SystemFiles;
use pikepole_lab::experiment::{self, Machine, Options};
use pikepole_lab::page;
use pikepole_lab::profile::Profiler;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Writes down, as an attribute of the document, what the browser made of the page.
const LOOK: &str = "<script>
  document.querySelectorAll('details').forEach(function (part) { part.open = true; });
  var boxes = [].map.call(document.querySelectorAll('figure svg'), function (svg) { return svg.getBoundingClientRect(); });
  var seen = {
    charts: boxes.length,
    drawn: boxes.filter(function (box) { return box.width > 200 && box.height > 80; }).length,
    lines: [].filter.call(document.querySelectorAll('figure svg path.line'), function (path) { return path.getTotalLength() > 20; }).length,
    flames: [].filter.call(document.querySelectorAll('svg.flame'), function (svg) { var box = svg.getBoundingClientRect(); return box.width > 600 && svg.querySelectorAll('g rect').length > 10; }).length,
    callers: document.querySelectorAll('.callers > details').length,
    points: document.querySelectorAll('svg.way g.point').length,
    overlaps: (function () {
      var texts = [].map.call(document.querySelectorAll('svg.way text'), function (text) { return text.getBBox(); }), count = 0;
      texts.forEach(function (a, at) {
        if (a.x < 0 || a.x + a.width > 1200) count += 1;
        texts.slice(at + 1).forEach(function (b) {
          if (a.x + 1 < b.x + b.width && b.x + 1 < a.x + a.width && a.y + 3 < b.y + b.height && b.y + 3 < a.y + a.height) count += 1;
        });
      });
      return count;
    })(),
    rows: document.querySelectorAll('table tbody tr').length,
    wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
    experiment: JSON.parse(document.getElementById('outcome').textContent).experiment,
    styled: getComputedStyle(document.querySelector('.claim')).display
  };
  document.documentElement.setAttribute('data-seen', JSON.stringify(seen));
</script></body>";

fn browser() -> Option<&'static str> {
    let starts = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|done| done.status.success());
    BROWSERS.into_iter().find(starts)
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays behind is in the folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_browser_lays_out_every_chart_and_table() {
    let Some(browser) = browser() else {
        assert!(
            std::env::var_os("PIKEPOLE_BROWSER").is_none_or(|value| value != "required"),
            "a browser is required, and none of {BROWSERS:?} is installed"
        );
        println!("SKIPPED: none of {BROWSERS:?} is installed, so no browser has looked at the page");
        return;
    };
    let folder = Folder(std::env::temp_dir().join(format!("pikepole-browser-{}", std::process::id())));
    let options = Options {
        folder: folder.0.join("work"),
        time: Duration::from_millis(100),
        warmup: Duration::ZERO,
        repeats: 2,
        sessions: Some(vec![1, 2]),
        profiler: Some(Profiler::new()),
        stop: Arc::new(AtomicBool::new(false)),
    };
    let machine = Machine::read(&SystemFiles::below("/")).expect("a machine");
    let experiment = experiment::find("trace-flags").expect("an experiment");
    let outcome = experiment::run(experiment, &machine, &options).expect("an outcome");
    let arms = outcome.panels[0].arms.len();
    let page = page::page(&outcome);
    // Charts over sessions, of which those of zeros are left out, and four over time.
    let charts = page.matches("<figure>").count();
    assert!(charts > 4 && charts <= outcome.panels[0].charts.len() + 3 + 4, "{charts}");
    let page = page.replace("</body>", LOOK);
    let file = folder.0.join("page.html");
    std::fs::write(&file, page).expect("the page is written");

    let profile = folder.0.join("profile");
    let done = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--window-size=1300,2000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("the browser starts");
    let document = String::from_utf8_lossy(&done.stdout);
    let seen = document.split("data-seen=\"").nth(1).and_then(|rest| rest.split('"').next());
    let errors = String::from_utf8_lossy(&done.stderr);
    let seen = seen.unwrap_or_else(|| panic!("the page's script did not run: {errors}"));
    let seen: serde_json::Value = serde_json::from_str(&seen.replace("&quot;", "\"")).expect("JSON");
    let number = |field: &str| seen[field].as_u64().unwrap_or(0) as usize;
    assert_eq!((number("charts"), number("drawn")), (charts, charts), "{seen}");
    // Each arm has a line in each chart over sessions, however flat.
    assert!(number("lines") >= (charts - 4) * arms, "{seen}");
    // The texts of the picture of the way are within it, and none is over another.
    assert_eq!((number("points"), number("overlaps")), (11, 0), "{seen}");
    // Where samples can be taken, each arm's flame graph is drawn, with callers to open.
    if cfg!(target_arch = "x86_64") {
        assert_eq!(number("flames"), arms, "{seen}");
        assert!(number("callers") >= arms, "{seen}");
    }
    assert!(number("rows") >= 2 * arms + 9, "figures, arms and environment: {seen}");
    let rest = (&seen["experiment"], &seen["styled"], &seen["wide"]);
    assert_eq!(rest, (&"trace-flags".into(), &"grid".into(), &false.into()));
}
