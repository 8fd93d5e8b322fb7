//! Which other files a source makes part of its crate.

use std::path::{Component, Path, PathBuf};

use super::tokens::{Token, closing, tokens, unescaped};

/// A module with code in the same file, around something.
#[derive(Debug, Clone, Default)]
struct Around {
    name: String,
    /// What `#[path = ".."]` says, also in a `cfg_attr`.
    paths: Vec<String>,
}

/// A file that may be part of the crate, and the folder in which its own modules are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub(crate) file: PathBuf,
    pub(crate) modules: PathBuf,
}

/// The files that the source in `file` may mean by `mod name;`, or includes. Its own modules are in the folder
/// `modules`.
///
/// No `cfg` is looked at, and what stands in the tokens of a macro counts too: rather one too many, as it has to be
/// there to matter. A `mod` whose name a macro makes is not seen.
pub(crate) fn candidates(file: &Path, modules: &Path, text: &str) -> Vec<Candidate> {
    let (tokens, _) = tokens(text);
    let beside = file.parent().unwrap_or(Path::new(""));
    let mut found = Vec::new();
    // Of each open brace the module whose it is.
    let mut open: Vec<Option<Around>> = Vec::new();
    let mut next: Option<Around> = None;
    let mut paths: Vec<String> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at..] {
            [Token::Sign('#'), Token::Sign('['), ..] => {
                let end = closing(&tokens, at + 1);
                paths.extend(path_option(&tokens[at + 2..end.max(at + 2)]));
                at = end;
            }
            [Token::Word("mod"), Token::Word(name), Token::Sign(';'), ..] => {
                let around: Vec<&Around> = open.iter().flatten().collect();
                for path in &paths {
                    let folders = match around.as_slice() {
                        [] => vec![beside.to_owned()],
                        around => folders(beside, modules, around),
                    };
                    found.extend(folders.iter().map(|folder| at_path(folder, path)));
                }
                for folder in folders(beside, modules, &around) {
                    let inside = normal(&folder.join(name));
                    found.push(Candidate {
                        file: normal(&folder.join(format!("{name}.rs"))),
                        modules: inside.clone(),
                    });
                    found.push(Candidate {
                        file: inside.join("mod.rs"),
                        modules: inside,
                    });
                }
            }
            [Token::Word("mod"), Token::Word(name), Token::Sign('{'), ..] => {
                next = Some(Around {
                    name: (*name).to_owned(),
                    paths: std::mem::take(&mut paths),
                });
            }
            [
                Token::Word("include"),
                Token::Sign('!'),
                Token::Sign('(' | '[' | '{'),
                Token::Text(path),
                ..,
            ] => found.push(at_path(beside, &unescaped(path))),
            [Token::Sign('{'), ..] => {
                open.push(next.take());
                paths.clear();
            }
            [Token::Sign('}'), ..] => {
                open.pop();
                paths.clear();
            }
            [Token::Sign(';'), ..] => paths.clear(),
            _ => {}
        }
        at += 1;
    }
    found
}

/// `path = ".."` of an attribute, without its brackets.
fn path_option(tokens: &[Token<'_>]) -> Vec<String> {
    let (Some(Token::Word("path")) | Some(Token::Word("cfg_attr"))) = tokens.first() else {
        return Vec::new();
    };
    let options = tokens.windows(3).filter_map(|window| match window {
        [Token::Word("path"), Token::Sign('='), Token::Text(text)] => Some(unescaped(text)),
        _ => None,
    });
    options.collect()
}

/// The folders in which the modules are that stand inside of these.
fn folders(beside: &Path, modules: &Path, around: &[&Around]) -> Vec<PathBuf> {
    let mut folders = vec![modules.to_owned()];
    for (depth, Around { name, paths }) in around.iter().enumerate() {
        let mut inside: Vec<PathBuf> = folders.iter().map(|folder| folder.join(name)).collect();
        for path in paths {
            match depth {
                0 => inside.push(beside.join(path)),
                _ => inside.extend(folders.iter().map(|folder| folder.join(path))),
            }
        }
        folders = inside;
    }
    folders
}

/// A file that is named: its own modules are beside it.
fn at_path(folder: &Path, path: &str) -> Candidate {
    let file = normal(&folder.join(path));
    Candidate {
        modules: file.parent().unwrap_or(Path::new("")).to_owned(),
        file,
    }
}

/// Without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
