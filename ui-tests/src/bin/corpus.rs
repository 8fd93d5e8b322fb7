//! `cargo run -p perennial-ui-tests --bin corpus`: who finds which nondeterminism, as a table.
//!
//! Exit code 1 where something is not found, or by another one than its file says, or where something harmless
//! is taken for nondeterministic.

use std::process::ExitCode;

use perennial_ui_tests::corpus;

fn main() -> ExitCode {
    match corpus::judge() {
        Ok(report) => {
            print!("{report}");
            ExitCode::from(u8::from(!report.is_as_expected()))
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
