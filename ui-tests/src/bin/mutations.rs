//! `cargo run -p perennial-ui-tests --bin mutations`: who finds which change of a workflow that has runs in flight,
//! as a table.
//!
//! Exit code 1 where a change is not found as it has to be, or something harmless is.

use std::process::ExitCode;

use perennial_ui_tests::mutations;

fn main() -> ExitCode {
    match mutations::judge() {
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
