//! `cargo run -p perennial-ui-tests --bin cases`: the numbered cases, and the tests that show them.
//!
//! Exit code 1 where a case has no test and does not say why, or is called open and has one.

use std::process::ExitCode;

use perennial_ui_tests::cases;

fn main() -> ExitCode {
    match cases::report() {
        Ok(report) => {
            print!("{report}");
            let wrong = report.wrong();
            for line in &wrong {
                eprintln!("error: {line}");
            }
            ExitCode::from(u8::from(!wrong.is_empty()))
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
