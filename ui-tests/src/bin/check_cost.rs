//! What the attributes cost at compile time: `cargo run -p perennial-ui-tests --bin check_cost`.
//!
//! Writes two packages, one with workflows and activities and one with the same functions without attributes,
//! over the same types with the same serde derives, and compares the CPU time of `cargo check` of each. All
//! that they depend on, the attributes included, is built before. The rounds alternate, so that what else the
//! machine does falls on both.
//!
//! With `--lock` all workflows are released, and compared with a `perennial.lock`.
//!
//! `--rounds 9` measures more often, `--workflows 50` and `--awaits 4` measure something else. The exit code is
//! 1 if the attributes cost more than they may.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use perennial_codegen::lock::{FILE, Lock, Package as LockedPackage};

/// How many times as long the check may take with the attributes.
const MOST: f64 = 1.7;

fn main() -> ExitCode {
    let mut size = Size {
        workflows: 200,
        awaits: 12,
    };
    let mut rounds = 5;
    let mut is_locked = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        if option == "--lock" {
            is_locked = true;
            continue;
        }
        let value = arguments.next().and_then(|value| value.parse().ok());
        match (option.as_str(), value) {
            ("--rounds", Some(value)) => rounds = value,
            ("--workflows", Some(value)) => size.workflows = value,
            ("--awaits", Some(value)) => size.awaits = value,
            _ => {
                eprintln!("usage: check_cost [--lock] [--rounds N] [--workflows N] [--awaits N]");
                return ExitCode::from(2);
            }
        }
    }

    let forms = [Form::Plain, Form::Annotated];
    let packages = forms.map(|form| Package::write(form, &size));
    packages.iter().for_each(|package| package.lock(is_locked));
    // Once, so that what they depend on is there, and the files are in the memory of the system.
    packages.iter().for_each(Package::check);
    let mut seconds = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (package, seconds) in packages.iter().zip(&mut seconds) {
            package.forget();
            let before = cpu_of_children();
            package.check();
            seconds.push(cpu_of_children() - before);
        }
    }

    let [plain, annotated] = seconds.map(median);
    let ratio = annotated / plain;
    println!(
        "{} workflows with {} awaits each: CPU time of `cargo check`, median of {rounds}\n\n  \
         plain functions  {plain:6.2} s\n  with attributes  {annotated:6.2} s\n  ratio            {ratio:6.2}   at most {MOST}",
        size.workflows, size.awaits
    );
    ExitCode::from(u8::from(ratio > MOST))
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// The CPU time of all processes that this one has waited for, and of those that they waited for.
fn cpu_of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat")
        .expect("this measures on Linux, where the kernel tells it in /proc");
    // The second field is the program's name in parentheses; `cutime` and `cstime` are the 16th and the 17th.
    let after_name = stat.rsplit(')').next().unwrap();
    let ticks = after_name
        .split_whitespace()
        .skip(16 - 3)
        .take(2)
        .map(|ticks| ticks.parse::<f64>().unwrap());
    // The kernel counts in hundredths of a second here, whatever its own clock is.
    ticks.sum::<f64>() / 100.0
}

struct Size {
    workflows: usize,
    awaits: usize,
}

#[derive(Clone, Copy)]
enum Form {
    Plain,
    Annotated,
}

impl Form {
    fn package(self) -> &'static str {
        match self {
            Form::Plain => "cost-of-plain",
            Form::Annotated => "cost-of-annotated",
        }
    }

    fn workflow(self) -> &'static str {
        match self {
            Form::Plain => "",
            Form::Annotated => "#[workflow]\n",
        }
    }

    fn activity(self) -> &'static str {
        match self {
            Form::Plain => "",
            Form::Annotated => "#[activity(idempotent)]\n",
        }
    }

    /// The first parameter of an activity. In the plain form it is called as it is written.
    fn activity_context(self) -> &'static str {
        match self {
            Form::Plain => "_cx: &Cx",
            Form::Annotated => "_acx: &ActivityCx",
        }
    }
}

/// A package on disk.
struct Package {
    form: Form,
    folder: PathBuf,
}

impl Package {
    fn write(form: Form, size: &Size) -> Package {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let folder = target().join(form.package());
        std::fs::create_dir_all(folder.join("src")).unwrap();
        // The versions that are already there.
        std::fs::copy(repository.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
        let sdk = repository.join("sdk");
        let manifest = format!(
            "[package]\nname = \"{}\"\nedition = \"2024\"\n\n[dependencies]\nperennial = {{ path = {sdk:?} }}\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\n\n[workspace]\n",
            form.package()
        );
        std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        std::fs::write(folder.join("src/lib.rs"), source(form, size)).unwrap();
        Package { form, folder }
    }

    /// Releases what is in it, if that is to be, or nothing.
    fn lock(&self, is_locked: bool) {
        let path = self.folder.join(FILE);
        let _ = std::fs::remove_file(&path);
        if is_locked {
            let lock = LockedPackage::read(&self.folder).unwrap();
            let lock = lock.update(&Lock::default()).lock;
            std::fs::write(path, lock.to_string()).unwrap();
        }
    }

    fn check(&self) {
        self.cargo(&["check", "--quiet"]);
    }

    /// Forgets what was checked of the package itself.
    fn forget(&self) {
        self.cargo(&["clean", "--quiet", "--package", self.form.package()]);
    }

    fn cargo(&self, arguments: &[&str]) {
        let status = Command::new(env!("CARGO"))
            .args(arguments)
            .args(["--offline", "--target-dir"])
            .arg(target().join("target"))
            .current_dir(&self.folder)
            .env_remove("RUSTFLAGS")
            .status()
            .unwrap();
        assert!(
            status.success(),
            "cargo {arguments:?} failed in {}",
            self.folder.display()
        );
    }
}

/// Where all of this happens.
fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"),
        PathBuf::from,
    );
    target.join("check-cost")
}

/// So many workflows take and return the same types, and there is one activity for them.
const OF_A_KIND: usize = 10;

/// The source of a package. Both forms have the same types and the same statements.
fn source(form: Form, size: &Size) -> String {
    let kinds = size.workflows.div_ceil(OF_A_KIND);
    let mut text = HEAD.to_owned();
    for kind in 0..kinds {
        text += &types_and_activity(form, kind);
    }
    for n in 0..size.workflows {
        text += &workflow(form, n, n / OF_A_KIND, kinds, size.awaits);
    }
    text
}

const HEAD: &str = "//! Written by `check_cost`.

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

/// The card was declined.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Declined(pub String);

impl std::fmt::Display for Declined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Declined {}
";

fn types_and_activity(form: Form, kind: usize) -> String {
    let (activity, context) = (form.activity(), form.activity_context());
    format!(
        "
/// What is ordered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order{kind} {{
    id: u64,
    cents: u64,
    items: Vec<String>,
}}

/// What was charged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipt{kind} {{
    number: u64,
    note: Option<String>,
}}

/// How it ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Done{kind} {{
    total: u64,
    notes: Vec<String>,
}}

/// Charges.
{activity}pub async fn charge_{kind}({context}, order: u64, note: String) -> Result<Receipt{kind}, Declined> {{
    if order == 0 {{
        return Err(Declined(note));
    }}
    Ok(Receipt{kind} {{ number: order, note: Some(note) }})
}}
"
    )
}

fn workflow(form: Form, n: usize, kind: usize, kinds: usize, awaits: usize) -> String {
    let mut text = format!(
        "
/// Fulfils.
{}pub async fn fulfil_{n}(cx: &Cx, order: Order{kind}) -> Result<Done{kind}, Error> {{
    let mut total = order.cents;
    let mut notes = Vec::new();
",
        form.workflow()
    );
    for step in 0..awaits {
        let activity = (n + step) % kinds;
        text += &match step % 4 {
            0 => format!(
                "    let receipt = charge_{activity}(cx, order.id + {step}, format!(\"step {step} of {{}}\", order.id)).await?;
    total += receipt.number;
"
            ),
            1 => format!(
                "    for item in &order.items {{
        let receipt = charge_{activity}(cx, {step}, item.clone()).await?;
        notes.extend(receipt.note);
    }}
"
            ),
            2 => format!(
                "    if total > {step}00 {{
        let receipt = charge_{activity}(cx, total, \"large\".to_owned()).await.map_err(|_| Error::new(\"refused\"))?;
        total = receipt.number.max(total) - 1;
    }}
"
            ),
            _ => "    cx.sleep(seconds(total)).await?;\n".to_owned(),
        };
    }
    text += &format!("    Ok(Done{kind} {{ total, notes }})\n}}\n");
    text
}
