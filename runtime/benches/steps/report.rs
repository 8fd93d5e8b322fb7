//! How the figures are shown.

use std::cell::RefCell;
use std::path::Path;

pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// On what the figures were measured.
pub fn machine(folder: &Path, sync: f64) -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let folder = folder.canonicalize().unwrap();
    let mounts = read("/proc/mounts");
    let mount = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (at, kind) = (fields.next()?, fields.next()?);
        folder.starts_with(at).then_some((at.len(), kind))
    });
    let file_system = mount.max().map_or("unknown", |(_, kind)| kind);
    let load = read("/proc/loadavg");
    let load = load
        .split(' ')
        .next()
        .filter(|load| !load.is_empty())
        .unwrap_or("unknown");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("file system {file_system}, {sync:.0} µs a sync, {cores} cores, load {load}\n")
}

/// For whom the figures are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Table,
    Json,
    /// For the book.
    Markdown,
}

/// Where the figures go.
pub struct Report {
    form: Form,
    /// The names of the lines that are wanted; empty: all.
    only: Vec<String>,
    /// Those that were shown.
    shown: RefCell<Vec<&'static str>>,
}

impl Report {
    pub fn new(form: Form, only: Vec<String>) -> Self {
        let shown = RefCell::default();
        Self { form, only, shown }
    }

    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == name)
    }

    pub fn wants_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.wants(name))
    }

    /// On what it was measured, for people.
    pub fn head(&self, head: impl FnOnce() -> String) {
        match self.form {
            Form::Table => println!("{}", head()),
            Form::Json => {}
            Form::Markdown => println!(
                "Measured by `cargo bench -p perennial-runtime --bench steps -- --markdown` ({}).\n\n\
                 | figure | value | unit | ratio |\n|---|---:|---|---:|",
                head().trim()
            ),
        }
    }

    /// Shows a line, if it is wanted.
    pub fn say(&self, line: Line) {
        if !self.wants(line.name) {
            return;
        }
        let text = match self.form {
            Form::Table => line.table(),
            Form::Json => line.json(),
            Form::Markdown => line.markdown(),
        };
        println!("{text}");
        self.shown.borrow_mut().push(line.name);
    }

    /// A figure that is wanted and that nothing measures was probably misspelt.
    pub fn end(self) {
        let shown = self.shown.into_inner();
        let missing = |wanted: &&String| !shown.contains(&wanted.as_str());
        let missing: Vec<_> = self.only.iter().filter(missing).collect();
        assert!(
            missing.is_empty(),
            "no figure is called {missing:?}, or not with this number of rounds; see the head of benches/steps/main.rs"
        );
    }
}

/// One figure.
pub struct Line {
    name: &'static str,
    value: f64,
    unit: &'static str,
    ratio: Option<f64>,
}

impl Line {
    pub fn new(name: &'static str, value: f64, unit: &'static str, ratio: Option<f64>) -> Self {
        Self {
            name,
            value,
            unit,
            ratio,
        }
    }

    pub fn json(&self) -> String {
        let Self {
            name,
            value,
            unit,
            ratio,
        } = self;
        let round = |number: f64| (number * 1_000.0).round() / 1_000.0;
        serde_json::json!({ "name": name, "value": round(*value), "unit": unit, "ratio": ratio.map(round) }).to_string()
    }

    pub fn table(&self) -> String {
        let (value, ratio) = self.texts();
        let Self { name, unit, .. } = self;
        format!("{name:<20}{value:>12} {unit:<10}{ratio:>8}")
    }

    pub fn markdown(&self) -> String {
        let (value, ratio) = self.texts();
        let Self { name, unit, .. } = self;
        let unit = if *unit == "ratio" { "" } else { unit };
        format!("| `{name}` | {value} | {unit} | {ratio} |")
    }

    fn texts(&self) -> (String, String) {
        let value = if self.value < 100.0 {
            format!("{:.2}", self.value)
        } else {
            format!("{:.0}", self.value)
        };
        let ratio = self.ratio.map(|ratio| format!("{ratio:.3}"));
        (value, ratio.unwrap_or_default())
    }
}
