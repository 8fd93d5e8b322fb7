//! What the checks have found, as people read it: a line each, and what is wrong below.

use std::fmt;

use super::{Check, CheckState, Checked};

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { artifact, checks } = self;
        writeln!(f, "checks of the program {artifact}\n")?;
        for check in checks {
            let state = match check.state {
                CheckState::Well => "ok",
                CheckState::Nothing => "-",
                CheckState::Wrong => "WRONG",
            };
            writeln!(f, "  {state:<5}  {:<10}  {}", check.name, check.summary)?;
        }
        for Check { name, wrong, .. } in checks {
            for what in wrong {
                writeln!(f, "\n── {name} ──\n{what}")?;
            }
        }
        for Check { name, remarks, .. } in checks {
            for remark in remarks {
                writeln!(f, "\n── {name}, a remark ──\n{remark}")?;
            }
        }
        let wrong: Vec<_> = checks
            .iter()
            .filter(|check| check.state == CheckState::Wrong)
            .map(|check| check.name)
            .collect();
        match &*wrong {
            [] => f.write_str("\nnothing is wrong"),
            wrong => write!(f, "\nsomething is wrong: {}", wrong.join(", ")),
        }
    }
}

/// As its text: a test that unwraps it shows it like this.
impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Checked {}
