//! `cargo run -p perennial-ui-tests --bin mutations`: who finds which change of a workflow that has runs in flight,
//! as a table. While one writes mutations of a workflow: `-- --by-hand fulfil`.
//!
//! Exit code 1 where a change is not found as it has to be, or something harmless is.

use std::process::ExitCode;

use perennial_ui_tests::mutations::{self, Chosen};

fn main() -> ExitCode {
    let (options, workflows) = std::env::args()
        .skip(1)
        .partition(|word| word == "--by-hand");
    let options: Vec<String> = options;
    let chosen = Chosen {
        workflows,
        by_hand: !options.is_empty(),
    };
    match mutations::judge(&chosen) {
        Ok(report) => {
            print!("{report}");
            let wrong = report.wrong();
            for text in &wrong {
                eprintln!("\n{text}");
            }
            ExitCode::from(u8::from(!wrong.is_empty()))
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
