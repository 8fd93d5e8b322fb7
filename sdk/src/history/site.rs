//! Call sites in the text of a history: the same on each machine.

use crate::history::CallSite;

/// Folders that a package keeps its code in.
const CODE: [&str; 4] = ["src", "tests", "examples", "benches"];

/// The file's name and the function; with `lines`, `file:line:column` and the function.
pub(super) fn show(site: &CallSite, lines: bool) -> String {
    let file = portable(&site.file);
    let place = if lines {
        format!("{file}:{}:{}", site.line, site.column)
    } else {
        name(&file).to_owned()
    };
    format!("{place} {}", site.function).trim_end().to_owned()
}

/// The name of a file; where that says nothing, with its folder.
fn name(file: &str) -> &str {
    let folder = file.strip_suffix("/mod.rs").unwrap_or(file);
    folder.rfind('/').map_or(file, |at| &file[at + 1..])
}

/// A path that begins with the package or in it. The compiler names the files of packages from elsewhere with
/// all folders of the machine.
fn portable(file: &str) -> String {
    let file = file.replace('\\', "/");
    let absolute = file.starts_with('/') || file.as_bytes().get(1) == Some(&b':');
    if !absolute {
        return file.strip_prefix("./").unwrap_or(&file).to_owned();
    }
    let parts: Vec<&str> = file.split('/').collect();
    let built = parts
        .iter()
        .rposition(|part| *part == "out")
        .filter(|at| *at >= 2 && parts[at - 2] == "build");
    let code = |at: usize| CODE.contains(&parts[at]);
    let from = match (built, (0..parts.len()).rev().find(|at| code(*at))) {
        // What a build script wrote.
        (Some(out), _) => out + 1,
        (None, Some(mut at)) => {
            while at > 0 && code(at) {
                at -= 1;
            }
            at
        }
        (None, None) => parts.len() - 1,
    };
    parts[from..].join("/")
}

#[cfg(test)]
mod tests {
    use super::{name, portable};

    #[test]
    fn paths_are_the_same_on_each_machine() {
        let files = [
            "src/orders.rs",
            "./src/orders.rs",
            "src\\orders\\mod.rs",
            "/home/alice/.cargo/registry/src/index-1949cf8c6b5b557f/billing-1.2.0/src/flows/mod.rs",
            "C:\\Users\\alice\\shared\\billing\\src\\lib.rs",
            "/home/src/shared/billing/src/tests/orders.rs",
            "/home/alice/shop/target/debug/build/shop-0a1b2c3d4e5f6071/out/flows.rs",
            "/flows.rs",
            "",
        ];
        let shown = files.map(|file| {
            let file = portable(file);
            format!("{file:<36} {}", name(&file)).trim_end().to_owned()
        });
        insta::assert_snapshot!(shown.join("\n"));
    }
}
