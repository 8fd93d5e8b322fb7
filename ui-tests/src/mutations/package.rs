//! The package in which all mutants are compiled together, a module each, with the program that runs them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::{fs, io};

use serde_json::Value;

use super::lock::Locks;
use super::mutant::Mutant;
use super::original::{Original, folder};
use super::protocol::{ENDLESS, Line, Recordings};
use super::twins::twins;
use crate::AnyError;
use crate::workspace::{Package, Workspace, repository, write_if_changed};

/// An original and what was made of it.
pub(super) type Mutated = (Original, Vec<Mutant>);

/// Compiles all mutants and runs them over what the originals record. Machine-made ones that do not compile, or
/// compute without end, are taken out.
pub(super) fn run(
    workspace: &Workspace,
    originals: &mut [Mutated],
    locks: &Locks,
) -> Result<Vec<Line>, AnyError> {
    let mut known = Known::read(workspace)?;
    take_out(originals, |_, mutant| known.has(mutant));
    let package = loop {
        let package = write(workspace, originals, locks)?;
        let output = package.cargo("build", ["--message-format=json"])?;
        if output.status.success() {
            break package;
        }
        let broken = broken(originals, &output)?;
        take_out(originals, |workflow, mutant| {
            let is_broken = broken.contains(&(workflow.to_owned(), mutant.module.clone()));
            if is_broken {
                known.add(mutant);
            }
            is_broken
        });
        known.write()?;
    };
    let mut endless = Vec::new();
    loop {
        match lines(&package, originals, &endless)? {
            Ran::ToTheEnd(lines) => {
                take_out(originals, |workflow, mutant| {
                    endless.contains(&format!("{workflow}/{}", mutant.module))
                });
                return Ok(lines);
            }
            Ran::Until(mutant) => endless.push(mutant),
        }
    }
}

fn take_out(originals: &mut [Mutated], mut which: impl FnMut(&str, &Mutant) -> bool) {
    for (original, mutants) in originals {
        mutants.retain(|mutant| !which(&original.name, mutant));
    }
}

/// The machine-made mutants of which it is known that they do not compile: otherwise each run would begin with
/// finding them out again.
struct Known {
    path: PathBuf,
    /// What all mutants see.
    common: String,
    broken: BTreeSet<u64>,
}

impl Known {
    fn read(workspace: &Workspace) -> Result<Self, AnyError> {
        let path = workspace.folder().join("broken.json");
        let mut common = String::new();
        for file in ["shop.rs", "skipped.rs"] {
            common += &fs::read_to_string(folder().join(file))?;
        }
        let broken = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(_) => BTreeSet::new(),
        };
        Ok(Self {
            path,
            common,
            broken,
        })
    }

    fn write(&self) -> Result<(), AnyError> {
        fs::write(&self.path, serde_json::to_string(&self.broken)?)?;
        Ok(())
    }

    fn key(&self, mutant: &Mutant) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.common, &mutant.source).hash(&mut hasher);
        hasher.finish()
    }

    fn has(&self, mutant: &Mutant) -> bool {
        mutant.expected.is_none() && self.broken.contains(&self.key(mutant))
    }

    fn add(&mut self, mutant: &Mutant) {
        self.broken.insert(self.key(mutant));
    }
}

fn write<'a>(
    workspace: &'a Workspace,
    originals: &[Mutated],
    locks: &Locks,
) -> Result<Package<'a>, AnyError> {
    let package = workspace.package("run", &manifest(), &library(originals, locks))?;
    let sources = package.folder().join("src");
    let main = "fn main() {\n    mutations_run::main();\n}\n";
    write_if_changed(&sources.join("main.rs"), main)?;
    let shop = fs::read_to_string(folder().join("shop.rs"))?;
    write_if_changed(&sources.join("twins.rs"), &twins(&shop)?)?;
    for (original, mutants) in originals {
        let folder = sources.join(&original.name);
        fs::create_dir_all(&folder)?;
        let mut files = BTreeSet::new();
        let mut write = |module: &str, source: &str| {
            let file = format!("{module}.rs");
            write_if_changed(&folder.join(&file), source)?;
            files.insert(file);
            io::Result::Ok(())
        };
        write("original", &original.source)?;
        for (number, (_, source)) in original.before.iter().enumerate() {
            write(&format!("before_{number}"), source)?;
        }
        for mutant in mutants {
            write(&mutant.module, &mutant.source)?;
            if let Some(oracle) = &mutant.oracle {
                write(&oracle_of(&mutant.module), oracle)?;
            }
        }
        // The attributes read all files of a package.
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if !files.contains(&*entry.file_name().to_string_lossy()) {
                fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(package)
}

fn oracle_of(module: &str) -> String {
    format!("oracle_of_{module}")
}

fn manifest() -> String {
    let sdk = repository().join("sdk");
    format!(
        "[package]\nname = \"mutations-run\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nperennial = {{ path = {sdk:?} }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n"
    )
}

/// The modules, and the table of their workflows.
fn library(originals: &[Mutated], locks: &Locks) -> String {
    let at = |path: &str| repository().join("ui-tests").join(path);
    let mut text = String::from("#![allow(warnings)]\n");
    for (name, path) in [
        ("shop", "mutations/shop.rs"),
        ("run", "mutations/run.rs"),
        ("world", "mutations/world.rs"),
        ("truth", "mutations/truth.rs"),
        ("marked", "mutations/marked.rs"),
        ("skipped", "mutations/skipped.rs"),
        ("protocol", "src/mutations/protocol.rs"),
    ] {
        let _ = writeln!(text, "#[path = {:?}]\nmod {name};", at(path));
    }
    text.push_str("mod twins;\n");
    for (original, mutants) in originals {
        let _ = writeln!(text, "mod {} {{\n    pub mod original;", original.name);
        for number in 0..original.before.len() {
            let _ = writeln!(text, "    pub mod before_{number};");
        }
        for mutant in mutants {
            let _ = writeln!(text, "    pub mod {};", mutant.module);
            if mutant.oracle.is_some() {
                let _ = writeln!(text, "    pub mod {};", oracle_of(&mutant.module));
            }
        }
        text.push_str("}\n");
    }
    text.push_str(
        "\npub fn main() {\n    run::main(programs);\n}\n\n\
         fn programs(workflow: &str) -> Option<run::Program> {\n    \
         use perennial::WorkflowDefinition as Definition;\n    use run::{Mutant, Program};\n    \
         Some(match workflow {\n",
    );
    for (original, mutants) in originals {
        let name = &original.name;
        let definition = |module: &str, workflow: &str| {
            format!("Definition::of::<{name}::{module}::{workflow}>()")
        };
        let _ = writeln!(
            text,
            "        {name:?} => Program {{\n            original: {},\n            before: vec![",
            definition("original", name)
        );
        for (number, (before, _)) in original.before.iter().enumerate() {
            let definition = definition(&format!("before_{number}"), name);
            let _ = writeln!(text, "                ({before:?}, {definition}),");
        }
        text.push_str("            ],\n            mutants: vec![\n");
        for mutant in mutants {
            let Mutant {
                module, workflow, ..
            } = mutant;
            let oracle = match mutant.oracle {
                Some(_) => format!("Some({})", definition(&oracle_of(module), workflow)),
                None => "None".to_owned(),
            };
            let retired: Vec<_> = locks.retired(name, module).iter().collect();
            let retired: Vec<_> = retired.iter().map(|of| (&of.id, of.version)).collect();
            let definition = definition(module, workflow);
            let _ = writeln!(
                text,
                "                Mutant {{ name: {module:?}, definition: {definition}, oracle: {oracle}, \
                 retired: &{retired:?} }},"
            );
        }
        text.push_str("            ],\n        },\n");
    }
    text + "        _ => return None,\n    })\n}\n"
}

/// The machine-made mutants that do not compile: workflow and module. All others have to.
fn broken(originals: &[Mutated], output: &Output) -> Result<BTreeSet<(String, String)>, AnyError> {
    let mut broken = BTreeSet::new();
    let mut said = String::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message = &serde_json::from_str::<Value>(line)?["message"];
        if message["level"] != "error" {
            continue;
        }
        let file = primary(message).map(PathBuf::from);
        let mutant = file.as_deref().and_then(of_package);
        let text = message["rendered"].as_str().unwrap_or_default();
        match mutant {
            Some(mutant) => drop(broken.insert(mutant)),
            // The sum of all errors has no place.
            None if message["spans"].as_array().is_none_or(Vec::is_empty) => {}
            None => said.push_str(text),
        }
        let by_hand = |mutant: &&Mutant| mutant.expected.is_some();
        if let Some((workflow, module)) = broken.last()
            && let Some(mutant) = find(originals, workflow, module).filter(by_hand)
        {
            let _ = write!(said, "{workflow}: {}\n{text}", mutant.title());
        }
    }
    if broken.is_empty() || !said.is_empty() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the mutants cannot be compiled\n{said}{errors}").into());
    }
    Ok(broken)
}

fn find<'a>(originals: &'a [Mutated], workflow: &str, module: &str) -> Option<&'a Mutant> {
    let (_, mutants) = originals.iter().find(|(o, _)| o.name == workflow)?;
    mutants.iter().find(|mutant| mutant.module == module)
}

/// The file that an error is about.
fn primary(message: &Value) -> Option<&str> {
    let spans = message["spans"].as_array()?;
    let mut span = spans.iter().find(|span| span["is_primary"] == true)?;
    // From a macro's definition to where it was called.
    while span["expansion"]["span"].is_object() {
        span = &span["expansion"]["span"];
    }
    span["file_name"].as_str()
}

/// `src/fulfil/m3.rs` as the workflow and the module.
fn of_package(file: &Path) -> Option<(String, String)> {
    let module = file.file_stem()?.to_str()?.trim_start_matches("oracle_of_");
    let workflow = file.parent()?.file_name()?.to_str()?;
    (file.starts_with("src")
        || file
            .components()
            .any(|part| part.as_os_str() == "mutations-run"))
    .then(|| (workflow.to_owned(), module.to_owned()))
    .filter(|(workflow, _)| workflow != "src")
}

/// How far the program came.
enum Ran {
    ToTheEnd(Vec<Line>),
    /// It ended with this mutant.
    Until(String),
}

/// What the program says, without the mutants that are left out.
fn lines(
    package: &Package<'_>,
    originals: &[Mutated],
    left_out: &[String],
) -> Result<Ran, AnyError> {
    let recordings: Vec<&Recordings> = originals.iter().map(|(o, _)| &o.recordings).collect();
    let file = package.folder().join("recordings.json");
    write_if_changed(&file, &serde_json::to_string_pretty(&recordings)?)?;
    let file = file.to_string_lossy().into_owned();
    let arguments = std::iter::once(&file).chain(left_out);
    let output = package.run("mutations-run", arguments)?;
    let mut lines = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        lines.push(serde_json::from_str(line)?);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    match lines.last() {
        _ if output.status.success() => Ok(Ran::ToTheEnd(lines)),
        Some(Line::Begun { workflow, mutant })
            if output.status.code() == Some(ENDLESS) || said.contains("overflowed its stack") =>
        {
            Ok(Ran::Until(format!("{workflow}/{mutant}")))
        }
        _ => Err(format!("the mutants cannot be run: {}\n{said}", output.status).into()),
    }
}
