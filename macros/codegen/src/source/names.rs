//! What a source imports and declares, block by block.

use super::tokens::{Token, closing};
use crate::check::rules::statics::changes;
use crate::names::{FileNames, FileScope, Name, Scope};

/// What a brace opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Module,
    /// An `impl` or a `trait`: what it declares is no name by itself.
    Associated,
    Other,
}

/// A brace that is open.
struct Open {
    block: Block,
    scope: usize,
}

pub(super) fn read(tokens: &[Token<'_>], lines: &[usize]) -> FileNames {
    let file = FileScope {
        is_module: true,
        lines: (0, usize::MAX),
        ..FileScope::default()
    };
    let mut reader = Reader {
        scopes: vec![file],
        open: vec![Open {
            block: Block::Module,
            scope: 0,
        }],
    };
    reader.read(tokens, lines);
    FileNames {
        scopes: reader.scopes,
    }
}

struct Reader {
    scopes: Vec<FileScope>,
    open: Vec<Open>,
}

impl Reader {
    fn read(&mut self, tokens: &[Token<'_>], lines: &[usize]) {
        // What the next brace opens, and the name of a module.
        let mut next = (Block::Other, None);
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at..] {
                [Token::Sign('#'), Token::Sign('['), ..] => at = closing(tokens, at + 1),
                [
                    Token::Word("use"),
                    Token::Word(_) | Token::Sign(':' | '{'),
                    ..,
                ] => {
                    let mut imports = Scope::default();
                    at = use_tree(tokens, at + 1, "", &mut imports);
                    let scope = self.scope();
                    scope.names.extend(imports.names);
                    scope.globs.extend(imports.globs);
                    continue;
                }
                [
                    Token::Word("extern"),
                    Token::Word("crate"),
                    Token::Word(krate),
                    Token::Word("as"),
                    Token::Word(name),
                    ..,
                ] => {
                    self.declare(name, Name::Path(format!("::{krate}")));
                    at += 4;
                }
                [Token::Word("mod"), Token::Word(name), Token::Sign('{'), ..] => {
                    next = (Block::Module, Some(*name));
                }
                [Token::Word("type"), Token::Word(name), rest @ ..] => {
                    let alias = alias(rest).map_or(Name::Declared, Name::Path);
                    self.declare(name, alias);
                }
                [Token::Word("static"), rest @ ..] => {
                    if let Some((name, meaning)) = a_static(rest) {
                        self.declare(name, meaning);
                    }
                }
                [
                    Token::Word("thread_local" | "lazy_static"),
                    Token::Sign('!'),
                    Token::Sign('{' | '('),
                    ..,
                ] => {
                    let end = closing(tokens, at + 2);
                    let is_local = tokens[at] == Token::Word("thread_local");
                    for start in at..end {
                        if tokens[start] == Token::Word("static")
                            && let Some((name, meaning)) = a_static(&tokens[start + 1..])
                        {
                            let meaning = if is_local { Name::ThreadLocal } else { meaning };
                            self.declare(name, meaning);
                        }
                    }
                    at = end;
                }
                [
                    Token::Word("macro_rules"),
                    Token::Sign('!'),
                    Token::Word(name),
                    ..,
                ] => {
                    self.declare(name, Name::Declared);
                    self.scope().macros.push(((*name).to_owned(), lines[at]));
                }
                [Token::Word("impl"), ..] => next = (Block::Associated, None),
                [Token::Word("trait"), Token::Word(name), ..] => {
                    self.declare(name, Name::Declared);
                    next = (Block::Associated, None);
                }
                [Token::Word("fn"), Token::Word(name), ..] => {
                    self.declare(name, Name::Declared);
                    // An `impl` in its signature is none that could be entered.
                    let body = |token: &Token<'_>| matches!(token, Token::Sign('{' | ';'));
                    at += tokens[at..].iter().position(body).unwrap_or(1);
                    next = (Block::Other, None);
                    continue;
                }
                [
                    Token::Word("mod" | "struct" | "enum" | "union" | "const"),
                    Token::Word(name),
                    ..,
                ] if *name != "fn" => {
                    self.declare(name, Name::Declared);
                }
                [Token::Sign('{'), ..] => {
                    let (block, name) = std::mem::replace(&mut next, (Block::Other, None));
                    self.enter(block, name, lines[at]);
                }
                [Token::Sign('}'), ..] => self.leave(lines[at]),
                [Token::Sign(';'), ..] => next = (Block::Other, None),
                _ => {}
            }
            at += 1;
        }
        // What is still open goes to the end.
        while self.open.len() > 1 {
            self.leave(usize::MAX);
        }
    }

    fn enter(&mut self, block: Block, module: Option<&str>, line: usize) {
        let scope = self.scopes.len();
        if let Some(name) = module {
            self.declare(name, Name::Module(scope));
        }
        self.scopes.push(FileScope {
            scope: Scope::default(),
            parent: self.open.last().map(|open| open.scope),
            is_module: block == Block::Module,
            lines: (line, usize::MAX),
        });
        self.open.push(Open { block, scope });
    }

    fn leave(&mut self, line: usize) {
        // One that never opened leaves the file open.
        if self.open.len() == 1 {
            return;
        }
        if let Some(Open { block, scope }) = self.open.pop() {
            let is_last = scope + 1 == self.scopes.len();
            let Scope {
                names,
                globs,
                macros,
            } = &self.scopes[scope].scope;
            if is_last
                && block != Block::Module
                && names.is_empty()
                && globs.is_empty()
                && macros.is_empty()
            {
                self.scopes.pop();
            } else {
                self.scopes[scope].lines.1 = line;
            }
        }
    }

    fn declare(&mut self, name: &str, meaning: Name) {
        if self
            .open
            .last()
            .is_none_or(|open| open.block != Block::Associated)
        {
            self.scope().declare(name, meaning);
        }
    }

    /// The scope of the innermost brace.
    fn scope(&mut self) -> &mut Scope {
        let scope = self.open.last().map_or(0, |open| open.scope);
        &mut self.scopes[scope].scope
    }
}

/// `a::{b, c as d, e::*}`: returns where it ends.
fn use_tree(tokens: &[Token<'_>], mut at: usize, prefix: &str, imports: &mut Scope) -> usize {
    let mut path = prefix.to_owned();
    let mut last = "";
    loop {
        match tokens.get(at) {
            Some(Token::Word("as")) => {
                if let Some(Token::Word(name)) = tokens.get(at + 1) {
                    let path = path.strip_suffix("::self").unwrap_or(&path);
                    imports.declare(name, Name::Path(path.to_owned()));
                }
                return at + 2;
            }
            Some(Token::Word(word)) => {
                if !(path.is_empty() || path.ends_with("::")) {
                    path.push_str("::");
                }
                path.push_str(word);
                last = word;
                at += 1;
            }
            Some(Token::Sign(':')) => {
                // Of a leading `::`, both.
                if path.is_empty() || path == ":" {
                    path.push(':');
                }
                at += 1;
            }
            Some(Token::Sign('*')) => {
                imports.globs.push(path);
                return at + 1;
            }
            Some(Token::Sign('{')) => {
                let end = closing(tokens, at);
                at += 1;
                while at < end {
                    at = use_tree(&tokens[..end], at, &path, imports) + 1;
                }
                return end + 1;
            }
            _ => {
                let (path, last) = match path.strip_suffix("::self") {
                    Some(path) => (path, path.rsplit("::").next().unwrap_or(path)),
                    None => (path.as_str(), last),
                };
                if !last.is_empty() {
                    imports.declare(last, Name::Path(path.to_owned()));
                }
                return at;
            }
        }
    }
}

/// `= path;`, `<K, V> = path<K, V>;`
fn alias(mut tokens: &[Token<'_>]) -> Option<String> {
    if tokens.first() == Some(&Token::Sign('<')) {
        let mut depth = 0usize;
        let end = tokens.iter().position(|token| {
            match token {
                Token::Sign('<') => depth += 1,
                Token::Sign('>') => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        tokens = &tokens[end + 1..];
    }
    let [Token::Sign('='), rest @ ..] = tokens else {
        return None;
    };
    let end = rest
        .iter()
        .position(|token| matches!(token, Token::Sign(';' | '<')))?;
    let mut path = String::new();
    for token in &rest[..end] {
        match token {
            Token::Word(word) => path.push_str(word),
            Token::Sign(':') => path.push(':'),
            _ => return None,
        }
    }
    Some(path)
}

/// `mut NAME: Type`, `ref NAME: Type`
fn a_static<'a>(tokens: &[Token<'a>]) -> Option<(&'a str, Name)> {
    let (is_mut, tokens) = match tokens {
        [Token::Word("mut"), rest @ ..] => (true, rest),
        [Token::Word("ref"), rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let [Token::Word(name), Token::Sign(':'), ty @ ..] = tokens else {
        return None;
    };
    let mut ty = ty
        .iter()
        .take_while(|token| !matches!(token, Token::Sign('=' | ';')))
        .filter_map(Token::word);
    let meaning = if is_mut || ty.any(changes) {
        Name::Static
    } else {
        Name::Declared
    };
    Some((name, meaning))
}
