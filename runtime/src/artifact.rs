//! Which program this is: its name, and the build of it. Histories, errors and the records of blocked runs know it
//! by one text, its artifact (S16).
//!
//! A name that is used again for another build would make two programs one: what one of them could not go on with,
//! the other would not be asked for. So the first build that has had a store open under a name has that name there,
//! and others have it with their builds.

use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;

use crate::manifest::Manifest;
use crate::store::{MAX_NAME_BYTES, ProgramRecord};

/// A program as it knows itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Artifact {
    /// The name that it was given.
    pub(crate) name: Option<String>,
    /// Its build, where that is not to be found out.
    pub(crate) build: Option<String>,
}

impl Artifact {
    /// Which build it is, which takes reading the executable once.
    fn build(&self) -> String {
        self.build
            .clone()
            .unwrap_or_else(|| executable_digest().to_owned())
    }

    /// Its name, where no store is asked.
    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.build())
    }

    /// What a store knows it by: all programs that have had the store open have to be [noted](Known::note).
    pub(crate) fn known(&self) -> Known {
        let build = self.build();
        Known {
            name: self.name.clone().unwrap_or_else(|| build.clone()),
            build,
            has_name: false,
            others: false,
        }
    }

    /// What a store knows it by that has had these programs.
    pub(crate) fn among(&self, programs: &[ProgramRecord]) -> Known {
        let mut known = self.known();
        programs.iter().for_each(|program| known.note(program));
        known
    }
}

/// A program as a store knows it.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    name: String,
    pub(crate) build: String,
    /// It has the name there.
    has_name: bool,
    /// Another build has, or had until its record gave its place to newer ones.
    others: bool,
}

impl Known {
    /// There is this one. Software that did not note builds was another one.
    pub(crate) fn note(&mut self, program: &ProgramRecord) {
        if program.artifact == self.name {
            let manifest = Manifest::from_value(&program.manifest);
            let build = manifest.and_then(|manifest| manifest.build);
            self.has_name = build.as_ref() == Some(&self.build);
            self.others |= !self.has_name;
        } else {
            let more = program.artifact.strip_prefix(&self.name);
            self.others |= more.is_some_and(|more| more.starts_with(BUILD));
        }
    }

    /// Its name in histories and errors.
    pub(crate) fn artifact(&self) -> String {
        let Self { name, build, .. } = self;
        // Without a name of its own it is called by its build.
        if self.has_name || !self.others || name == build {
            return name.clone();
        }
        let short: String = build.chars().take(8).collect();
        let artifact = format!("{name}{BUILD}{short})");
        if artifact.len() > MAX_NAME_BYTES {
            return build.clone();
        }
        artifact
    }
}

/// What stands between a name and a build.
const BUILD: &str = " (build ";

/// A digest of the running executable. It tells one build from another and protects against nobody, so it is
/// the standard library's quick one: in a debug build a cryptographic one takes seconds.
fn executable_digest() -> &'static str {
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| match std::env::current_exe().and_then(std::fs::read) {
        Ok(bytes) => {
            let mut hasher = DefaultHasher::new();
            hasher.write(&bytes);
            format!("{:016x}", hasher.finish())
        }
        // Two programs that cannot be told apart would be taken for one, so this one is only itself.
        Err(_) => crate::generate_run_id().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use perennial::Timestamp;

    fn shop(build: &str) -> Artifact {
        Artifact {
            name: Some("shop".into()),
            build: Some(build.into()),
        }
    }

    fn noted(artifact: &str, build: Option<&str>) -> ProgramRecord {
        let manifest = Manifest {
            build: build.map(str::to_owned),
            ..Manifest::of(&crate::registry::Registry::default(), artifact)
        };
        ProgramRecord {
            artifact: artifact.to_owned(),
            manifest: manifest.to_record(),
            at: Timestamp::default(),
        }
    }

    #[test]
    fn s16_the_first_build_of_a_name_has_it_and_others_have_it_with_their_builds() {
        let first = noted("shop", Some("11111111aa"));
        let second = noted("shop (build 22222222)", Some("22222222bb"));
        let known = |build, programs: &[ProgramRecord]| shop(build).among(programs).artifact();
        assert_eq!(known("11111111aa", &[]), "shop");
        assert_eq!(
            known("11111111aa", &[second.clone(), first.clone()]),
            "shop"
        );
        assert_eq!(
            known("22222222bb", std::slice::from_ref(&first)),
            "shop (build 22222222)"
        );
        assert_eq!(
            known("33333333cc", &[first, second.clone()]),
            "shop (build 33333333)"
        );
        // The record of the first has given its place to newer ones: nobody gets the name after it.
        assert_eq!(known("33333333cc", &[second]), "shop (build 33333333)");
        // Software that did not note its build was another one.
        assert_eq!(
            known("11111111aa", &[noted("shop", None)]),
            "shop (build 11111111)"
        );
        assert_eq!(known("11111111aa", &[noted("shop 2", None)]), "shop");
    }

    #[test]
    fn without_a_name_it_is_called_by_its_build_and_a_long_name_stays_within_its_bound() {
        let nameless = Artifact {
            name: None,
            build: Some("aa".into()),
        };
        assert_eq!(nameless.among(&[noted("aa", None)]).artifact(), "aa");
        let name = "n".repeat(MAX_NAME_BYTES);
        let long = Artifact {
            name: Some(name.clone()),
            build: Some("aa".into()),
        };
        assert_eq!(long.among(&[noted(&name, Some("bb"))]).artifact(), "aa");
    }
}
