//! The command line.

use std::path::PathBuf;

use crate::parked::Child;
use crate::report::Form;

pub struct Options {
    pub form: Form,
    /// The names of the lines that are wanted; empty: all.
    pub only: Vec<String>,
    pub folder: PathBuf,
    pub rounds: usize,
    /// What this process is to do for the one that started it.
    pub child: Option<Child>,
}

pub fn parse() -> Options {
    let mut options = Options {
        form: Form::Table,
        only: Vec::new(),
        folder: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("steps"),
        rounds: 5,
        child: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            let value = arguments.next();
            value.unwrap_or_else(|| panic!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--json" => options.form = Form::Json,
            "--markdown" => options.form = Form::Markdown,
            "--only" => options.only = value().split(',').map(str::to_owned).collect(),
            "--dir" => options.folder = value().into(),
            "--rounds" => options.rounds = value().parse().expect("--rounds needs a number"),
            "--child" => options.child = Some(Child::parse(&value(), &value())),
            // What cargo itself passes on.
            "--bench" => {}
            other => panic!("unknown argument {other}; see the head of benches/steps/main.rs"),
        }
    }
    options
}
