//! Which program this is: its name, and the build of it. Histories, errors and the records of blocked runs know it
//! by one text, its artifact (S16).
//!
//! A name that is used again for another build would make two programs one: what one of them could not go on with,
//! the other would not be asked for. So the first build that has had a store open under a name has that name there,
//! and others have it with their builds.

use std::hash::{DefaultHasher, Hasher};

use crate::manifest::Manifest;
use crate::store::{MAX_NAME_BYTES, ProgramRecord, Store, StoreError};

/// A program as it knows itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Artifact {
    /// The name that it was given.
    pub(crate) name: Option<String>,
    /// Its build, where that is not to be found out.
    pub(crate) build: Option<String>,
}

impl Artifact {
    /// Which build it is, which takes reading the executable.
    pub(crate) fn build(&self) -> String {
        self.build.clone().unwrap_or_else(executable_digest)
    }

    /// Its name, where no store is asked.
    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.build())
    }

    /// What a store knows it by that has had these programs.
    pub(crate) fn among(&self, programs: &[ProgramRecord]) -> Known {
        let build = self.build();
        let Some(name) = self.name.clone() else {
            return Known {
                artifact: build.clone(),
                build,
            };
        };
        let mut others = programs.iter().filter(|program| program.artifact == name);
        let is_another = others.any(|program| is_other(program, &build));
        let artifact = match is_another {
            false => name,
            true => of_build(&name, &build),
        };
        Known { artifact, build }
    }

    /// What a store knows it by.
    ///
    /// # Errors
    ///
    /// When its programs cannot be read.
    #[cfg(feature = "cli")]
    pub(crate) fn known_in(&self, store: &dyn Store) -> Result<String, StoreError> {
        Ok(self.among(&store.programs()?).artifact)
    }
}

/// A program as a store knows it.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) artifact: String,
    pub(crate) build: String,
}

/// Whether a program was of another build. Older software did not note which.
pub(crate) fn is_other(program: &ProgramRecord, build: &str) -> bool {
    let manifest = Manifest::from_value(&program.manifest);
    let noted = manifest.and_then(|manifest| manifest.build);
    noted.is_some_and(|noted| noted != build)
}

/// A build that is not the first of its name.
pub(crate) fn of_build(name: &str, build: &str) -> String {
    let short: String = build.chars().take(8).collect();
    let artifact = format!("{name} (build {short})");
    if artifact.len() > MAX_NAME_BYTES {
        return build.to_owned();
    }
    artifact
}

/// A digest of the running executable. It tells one build from another and protects against nobody, so it is
/// the standard library's quick one: in a debug build a cryptographic one takes seconds.
fn executable_digest() -> String {
    match std::env::current_exe().and_then(std::fs::read) {
        Ok(bytes) => {
            let mut hasher = DefaultHasher::new();
            hasher.write(&bytes);
            format!("{:016x}", hasher.finish())
        }
        // Two programs that cannot be told apart would be taken for one, so this one is only itself.
        Err(_) => crate::generate_run_id().to_string(),
    }
}
