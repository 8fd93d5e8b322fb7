//! The frames of a backtrace, and whose they are.

use std::path::Path;

/// Where this crate's own source is, as its debug information has it.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");

/// One function on the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) name: String,
    /// `file:line:column`, the file with its whole path; empty where it is not known.
    pub(super) location: String,
}

/// Whose code a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Sandbox,
    /// `std`, `core`, `alloc` and what they are made of.
    Standard,
    Perennial,
    /// The user's, or that of a crate in between.
    Other,
    /// Nobody knows.
    Unknown,
}

/// The frames of a printed backtrace, from the innermost. The standard library gives them no other way:
///
/// ```text
///    0: function
///              at file:line:column
///       function that the one above is inlined in
///              at ./file/in/the/working/folder:line:column
/// ```
pub(super) fn parse(backtrace: &str, here: &Path) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    for line in backtrace.lines().map(str::trim) {
        if let (Some(location), Some(frame)) = (line.strip_prefix("at "), frames.last_mut()) {
            frame.location = match location.strip_prefix("./") {
                Some(inside) => here.join(inside).display().to_string(),
                None => location.to_owned(),
            };
            continue;
        }
        let name = match line.split_once(": ") {
            Some((number, name)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => line,
        };
        if !name.is_empty() {
            frames.push(Frame {
                name: name.trim().to_owned(),
                location: String::new(),
            });
        }
    }
    frames
}

impl Frame {
    /// The crate that the function is in; empty for a function of C, and where nobody knows.
    ///
    /// The file says it where it lies in a registry. Otherwise the name: what the function is a method of
    /// decides, and of a blanket implementation the trait, `<T as trait>::method`. The names of inlined
    /// functions do not have it.
    pub(super) fn crate_name(&self) -> String {
        if let Some(path) = in_registry(&self.location)
            && let Some((folder, _)) = path.split_once('/')
            && let Some((name, _)) = folder.rsplit_once('-')
        {
            return name.replace('-', "_");
        }
        let mut name = self.name.as_str();
        if let Some(implementation) = name.strip_prefix('<') {
            name = match implementation.split_once(" as ") {
                Some((of, of_trait)) if !of.contains("::") => of_trait,
                _ => implementation,
            };
            name = name.trim_start_matches(['&', '*', '(', '[', '<']);
            for word in ["const ", "mut ", "dyn ", "impl "] {
                name = name.strip_prefix(word).unwrap_or(name);
            }
        }
        match name.split_once("::") {
            Some((first, _)) if !first.contains(['<', ' ', '>', '{']) => first.to_owned(),
            _ => String::new(),
        }
    }

    /// Whether it is of a crate that the user's depends on.
    pub(super) fn is_in_registry(&self) -> bool {
        in_registry(&self.location).is_some()
    }

    pub(super) fn owner(&self) -> Owner {
        if is_standard(&self.location) {
            return Owner::Standard;
        }
        if self.location.starts_with(SOURCES) {
            return Owner::Sandbox;
        }
        if self.location.starts_with(perennial::__private::SOURCES) {
            return Owner::Perennial;
        }
        match self.crate_name().as_str() {
            "std" | "core" | "alloc" | "__rustc" => Owner::Standard,
            "perennial_sandbox" => Owner::Sandbox,
            "perennial" => Owner::Perennial,
            "" if self.name.starts_with("__rust") || self.name.starts_with("_Unwind_") => {
                Owner::Standard
            }
            "" if self.name == "<unknown>" => Owner::Unknown,
            _ => Owner::Other,
        }
    }

    /// Whether it is a function of this module of the standard library.
    pub(super) fn is_in_standard(&self, module: &str) -> bool {
        let name = self.name.trim_start_matches('<');
        let named = name
            .strip_prefix("std::")
            .and_then(|path| path.strip_prefix(module));
        named.is_some_and(|rest| rest.starts_with("::"))
            || ["/", ".rs:"].iter().any(|end| {
                let file = format!("/library/std/src/{module}{end}");
                self.location.contains(&file)
            })
    }

    /// The function, as people read it.
    pub(super) fn function(&self) -> &str {
        named(&self.name)
    }

    /// The workflow, where it is the `body` of one.
    pub(super) fn workflow(&self) -> Option<&str> {
        let implementation = self.function().strip_suffix(">::body")?;
        if let Some((_, workflow)) = implementation.split_once("::Workflow for ") {
            return Some(workflow);
        }
        let (workflow, of_trait) = implementation.strip_prefix('<')?.split_once(" as ")?;
        of_trait.ends_with("::Workflow").then_some(workflow)
    }

    /// The function and where it is, as people read it; `here` is the folder that paths are shown from.
    pub(super) fn shown(&self, here: &Path) -> String {
        let name = self.function();
        if self.location.is_empty() {
            return name.to_owned();
        }
        format!("{name}\n    {}", located(&self.location, here))
    }
}

fn is_standard(file: &str) -> bool {
    ["/rustc/", "/rust/deps/", "/rustlib/src/rust/library/"]
        .iter()
        .any(|part| file.contains(part))
}

/// The path of a file below the sources of a registry: `name-version/src/..`.
fn in_registry(file: &str) -> Option<&str> {
    let (_, inside) = file.split_once("/registry/src/")?;
    let (_, path) = inside.split_once('/')?;
    Some(path)
}

/// Without what the compiler made of an `async` function: `f::{{closure}}` or `f::{closure#0}<T>`. Names of
/// inlined functions may be the last part alone: `f<T>` or `{async_fn#0}`.
fn named(name: &str) -> &str {
    for (part, what) in [
        ("{closure", "a closure"),
        ("{async_fn", "an async function"),
        ("{async_block", "an async block"),
        ("{async_closure", "an async closure"),
    ] {
        if name.starts_with(part) {
            return what;
        }
    }
    let mut named = name;
    while let Some(at) = named.rfind("::{") {
        let (function, last) = named.split_at(at);
        if last.contains("}::") {
            break;
        }
        named = function;
    }
    match named.split_once('<') {
        Some((function, _)) if !function.is_empty() && !function.contains("::") => function,
        _ => named,
    }
}

/// Paths of a registry begin with the name of the crate, others are relative to `here` where they are in it.
fn located(location: &str, here: &Path) -> String {
    if let Some(path) = in_registry(location) {
        return path.to_owned();
    }
    match Path::new(location).strip_prefix(here) {
        Ok(inside) => inside.display().to_string(),
        Err(_) => location.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKTRACE: &str = "   0: clock_gettime
             at /somewhere/hooks/clock.rs:59:5
   1: std::time::SystemTime::now
             at /rustc/59807616e1fa/library/std/src/time.rs:633:19
      now<chrono::Utc>
             at /home/alice/.cargo/registry/src/index-1949cf/chrono-0.4.45/src/offset/utc.rs:84:19
   2: shop::_::__body::{{closure}}
             at ./src/orders.rs:31:9
   3: shop::_::<impl perennial::workflow::Workflow for shop::order>::body::{{closure}}
             at ./src/orders.rs:28:1
  10: <unknown>
";

    #[test]
    fn frames_are_read_and_shown() {
        let frames = parse(BACKTRACE, Path::new("/home/shop"));
        let here = Path::new("/home/shop");
        let shown: Vec<_> = frames.iter().map(|frame| frame.shown(here)).collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn each_frame_is_somebodys() {
        let frames = parse(BACKTRACE, Path::new("/home/shop"));
        let owners: Vec<_> = frames.iter().map(Frame::owner).collect();
        assert_eq!(
            owners,
            [
                Owner::Other,
                Owner::Standard,
                Owner::Other,
                Owner::Other,
                Owner::Other,
                Owner::Unknown
            ]
        );
        let workflows: Vec<_> = frames.iter().filter_map(Frame::workflow).collect();
        assert_eq!(workflows, ["shop::order"]);
        assert!(frames[1].is_in_standard("time") && !frames[2].is_in_standard("time"));
    }

    #[test]
    fn the_crate_is_that_of_the_file_or_of_the_method() {
        let crate_of = |name: &str| {
            let (name, location) = (name.to_owned(), String::new());
            Frame { name, location }.crate_name()
        };
        assert_eq!(crate_of("shop::orders::ship"), "shop");
        assert_eq!(crate_of("<shop::Order as core::fmt::Display>::fmt"), "shop");
        assert_eq!(
            crate_of("<&mut dyn shop::Ship as core::fmt::Debug>::fmt"),
            "shop"
        );
        assert_eq!(crate_of("<T as perennial::Data>::to_value"), "perennial");
        assert_eq!(crate_of("getenv"), "");
        assert_eq!(crate_of("poll<shop::Order>"), "");
        let frames = parse(BACKTRACE, Path::new("/"));
        assert_eq!(frames[2].crate_name(), "chrono");
    }
}
