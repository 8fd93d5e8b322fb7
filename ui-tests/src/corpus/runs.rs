//! The other two of the four: what the test kit says of a run, without the sandbox and with it.

use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::report::{Finder, Findings, Verdict};
use super::{AnyError, Case};
use crate::workspace::{Package, Workspace};

/// The programs that run the cases.
#[derive(Debug)]
pub(super) struct Programs<'a>(Package<'a>);

impl<'a> Programs<'a> {
    /// Builds them.
    pub(super) fn build(workspace: &'a Workspace, cases: &[&Case]) -> Result<Self, AnyError> {
        let package = workspace.programs("run", cases)?;
        let built = package.cargo("build", ["--bins"])?;
        if !built.status.success() {
            let said = String::from_utf8_lossy(&built.stderr).into_owned();
            return Err(format!("the runs of the corpus cannot be built\n{said}").into());
        }
        Ok(Self(package))
    }

    /// A run and its replays, without the sandbox.
    pub(super) fn perturbed(&self, cases: &[&Case]) -> Result<Findings, AnyError> {
        self.all(cases, "plain", None, &Finder::PerturbedRun)
    }

    /// The same with the sandbox, which changes the world.
    pub(super) fn in_a_changed_world(&self, cases: &[&Case]) -> Result<Findings, AnyError> {
        self.all(cases, "sandboxed", None, &Finder::ChangedWorld)
    }

    /// The same, where nothing may be asked of the operating system.
    pub(super) fn strictly(&self, cases: &[&Case]) -> Result<Findings, AnyError> {
        self.all(cases, "sandboxed", Some("strict"), &Finder::StrictSandbox)
    }

    /// Each case in a process of its own, as many at once as there are processors.
    fn all(
        &self,
        cases: &[&Case],
        program: &str,
        argument: Option<&str>,
        finder: &Finder,
    ) -> Result<Findings, AnyError> {
        let (next, findings) = (AtomicUsize::new(0), Mutex::new(Ok(Findings::new())));
        let work = || {
            while let Some((n, case)) = {
                let n = next.fetch_add(1, Ordering::Relaxed);
                cases.get(n).map(|case| (n, case))
            } {
                let verdict = self.one(case, program, argument, finder);
                let Ok(mut findings) = findings.lock() else {
                    return;
                };
                match (&mut *findings, verdict) {
                    (Ok(findings), Ok(Some(verdict))) => drop(findings.insert(n, verdict)),
                    (Ok(_), Err(error)) => *findings = Err(error),
                    _ => {}
                }
            }
        };
        let workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
        findings.into_inner()?
    }

    fn one(
        &self,
        case: &Case,
        program: &str,
        argument: Option<&str>,
        finder: &Finder,
    ) -> Result<Option<Verdict>, AnyError> {
        let Output { status, stderr, .. } = Command::new(self.0.program(program))
            .arg(format!("{}/{}", case.kind.folder(), case.name))
            .args(argument)
            .current_dir(self.0.folder())
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .output()?;
        let said = String::from_utf8_lossy(&stderr).into_owned();
        // See `corpus/run.rs`.
        Ok(match status.code() {
            Some(0) => None,
            Some(10..=12) => Some(Verdict::Found(finder.clone(), said)),
            _ => Some(Verdict::Broken("the run", format!("{said}{status}"))),
        })
    }
}
