//! Reads what a Rust source text declares: its functions, with attributes and what they call, and
//! what its names mean.
//!
//! Far from a parser, and forgiving: it knows comments, literals and brackets, and no more of
//! the grammar than it needs.

mod modules;
mod names;
mod tokens;

pub(crate) use self::modules::{Candidate, candidates};
pub(crate) use self::tokens::{Token, unescaped};
use self::tokens::{closing, tokens};
use crate::lower::Made;
use crate::markers::{self, Marker};
use crate::names::FileNames;

/// A function that a source declares.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The line of its name, from 1.
    pub(crate) line: usize,
    pub(crate) attributes: Vec<Attribute>,
    /// Stands in an `impl` or a `trait`.
    pub(crate) is_associated: bool,
    /// The modules, types and functions of this file around it, and its name: `inner::Shop::restock`.
    pub(crate) path: String,
    /// Stands in what only tests have.
    pub(crate) is_test: bool,
    /// Stands in the tokens of a macro.
    pub(crate) in_macro: bool,
    /// One of its parameters is a `Cx`.
    pub(crate) takes_context: bool,
    /// The functions that it calls with its context, each once.
    pub(crate) calls: Vec<String>,
    /// The markers that it asks for.
    pub(crate) markers: Vec<Marker>,
    /// It may wait for messages or signals, or handle updates, by itself or where its context goes and nobody looks.
    pub(crate) listens: bool,
}

/// An attribute of a function.
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    /// The last segment of its path.
    pub(crate) name: String,
    /// The text of its option `name = ".."`.
    pub(crate) name_option: Option<String>,
    /// `cfg(test)`.
    is_test: bool,
}

/// What a source declares.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its functions, in order.
    pub(crate) functions: Vec<Function>,
    /// What its names mean.
    pub(crate) names: FileNames,
    /// The modules in other files that only tests have: `tests`, `inner::tests`.
    pub(crate) test_modules: Vec<String>,
    /// All of it is there for tests only: `#![cfg(test)]`.
    pub(crate) is_test: bool,
}

/// A brace that is open, or will be.
#[derive(Debug, Clone, Default)]
struct Block<'a> {
    /// Of an `impl` or a `trait`.
    is_associated: bool,
    /// The tokens of what it belongs to: the name of a module or function, `impl .. for ..`.
    of: &'a [Token<'a>],
    is_test: bool,
}

impl Block<'_> {
    fn name(&self) -> String {
        match self.of {
            [Token::Word("impl"), rest @ ..] => implemented(rest),
            [name, ..] => name.word().unwrap_or_default().to_owned(),
            [] => String::new(),
        }
    }
}

impl Source {
    pub(crate) fn read(text: &str) -> Source {
        let (tokens, lines) = tokens(text);
        let mut source = Source {
            functions: Vec::new(),
            names: names::read(&tokens, &lines),
            test_modules: Vec::new(),
            is_test: false,
        };
        let mut attributes: Vec<Attribute> = Vec::new();
        let mut open: Vec<Block<'_>> = Vec::new();
        // What the next brace opens.
        let mut next = Block::default();
        // Where the tokens of a macro end.
        let mut macro_end = 0;
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at..] {
                [Token::Sign('#'), Token::Sign('['), ..] => {
                    let end = closing(&tokens, at + 1);
                    attributes.extend(attribute(&tokens[at + 2..end]));
                    at = end;
                }
                [Token::Sign('#'), Token::Sign('!'), Token::Sign('['), ..] => {
                    let end = closing(&tokens, at + 2);
                    let is_test =
                        attribute(&tokens[at + 3..end]).is_some_and(|inner| inner.is_test);
                    match open.last_mut() {
                        Some(block) => block.is_test |= is_test,
                        None => source.is_test |= is_test,
                    }
                    at = end;
                }
                [Token::Word("fn"), Token::Word(name), ..] => {
                    let is_test = attributes.iter().any(|attribute| attribute.is_test);
                    let mut function =
                        function(name, std::mem::take(&mut attributes), &tokens[at + 2..]);
                    function.line = lines[at + 1];
                    function.is_associated = open.last().is_some_and(|block| block.is_associated);
                    function.path = path(&open, name);
                    function.is_test = is_test || open.iter().any(|block| block.is_test);
                    function.in_macro = at < macro_end;
                    source.functions.push(function);
                    next = Block {
                        of: &tokens[at + 1..at + 2],
                        is_test,
                        ..Block::default()
                    };
                    at = signature_end(&tokens, at + 2);
                    continue;
                }
                [
                    Token::Word("mod"),
                    Token::Word(name),
                    Token::Sign(sign @ ('{' | ';')),
                    ..,
                ] => {
                    let is_test = attributes.iter().any(|attribute| attribute.is_test);
                    let is_inside = open.iter().any(|block| block.is_test);
                    if *sign == ';' && (is_test || is_inside) {
                        source.test_modules.push(path(&open, name));
                    }
                    next = Block {
                        of: &tokens[at + 1..at + 2],
                        is_test,
                        ..Block::default()
                    };
                }
                [Token::Word("impl"), ..] => {
                    next = Block {
                        is_associated: true,
                        of: &tokens[at..signature_end(&tokens, at)],
                        is_test: attributes.iter().any(|attribute| attribute.is_test),
                    };
                }
                [Token::Word("trait"), ..] => {
                    next = Block {
                        is_associated: true,
                        of: &tokens[at + 1..],
                        is_test: attributes.iter().any(|attribute| attribute.is_test),
                    };
                }
                [
                    Token::Word(_),
                    Token::Sign('!'),
                    Token::Sign('(' | '[' | '{'),
                    ..,
                ] if at >= macro_end => {
                    macro_end = closing(&tokens, at + 2);
                }
                [
                    Token::Word("macro_rules"),
                    Token::Sign('!'),
                    Token::Word(_),
                    ..,
                ] if at >= macro_end => {
                    macro_end = closing(&tokens, at + 3);
                }
                [Token::Sign('{'), ..] => {
                    open.push(std::mem::take(&mut next));
                    attributes.clear();
                }
                [Token::Sign('}'), ..] => {
                    open.pop();
                    attributes.clear();
                }
                [Token::Sign(';'), ..] => {
                    next = Block::default();
                    attributes.clear();
                }
                _ => {}
            }
            at += 1;
        }
        source
    }
}

/// The names of the blocks around, and one more.
fn path(open: &[Block<'_>], name: &str) -> String {
    let mut path = String::new();
    for outer in open.iter().map(Block::name).filter(|name| !name.is_empty()) {
        path.push_str(&outer);
        path.push_str("::");
    }
    path + name
}

/// `Shop<A>` of `impl<A> Shop<A> where ..`, and `<Shop as Sells>` of `impl Sells for Shop`.
fn implemented(tokens: &[Token<'_>]) -> String {
    let (mut sides, mut depth) = (vec![String::new()], 0usize);
    let skipped = match tokens.first() {
        Some(Token::Sign('<')) => after_generics(tokens),
        _ => 0,
    };
    for (index, token) in tokens.iter().enumerate().skip(skipped) {
        match token {
            Token::Word("where") if depth == 0 => break,
            Token::Word("for")
                if depth == 0 && tokens.get(index + 1) != Some(&Token::Sign('<')) =>
            {
                sides.push(String::new());
                continue;
            }
            Token::Sign('<') => depth += 1,
            Token::Sign('>') => depth = depth.saturating_sub(1),
            _ => {}
        }
        let Some(side) = sides.last_mut() else {
            continue;
        };
        match token {
            Token::Word(word) => {
                if side.ends_with(|last: char| last.is_alphanumeric() || last == '_') {
                    side.push(' ');
                }
                side.push_str(word);
            }
            Token::Text(text) => side.push_str(text),
            Token::Sign(sign) => side.push(*sign),
        }
    }
    match sides.as_slice() {
        [of_trait, ty, ..] => format!("<{ty} as {of_trait}>"),
        [ty] => ty.clone(),
        [] => String::new(),
    }
}

/// How many tokens `<..>` at the beginning has.
fn after_generics(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('<') => depth += 1,
            Token::Sign('>') if index > 0 && tokens[index - 1] == Token::Sign('-') => {}
            Token::Sign('>') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// The body or the semicolon behind a signature, whose `impl`s are none that could be entered.
fn signature_end(tokens: &[Token<'_>], start: usize) -> usize {
    let end = tokens[start..]
        .iter()
        .position(|token| matches!(token, Token::Sign('{' | ';')));
    end.map_or(tokens.len(), |end| start + end)
}

/// `activity(name = "..")`, without the brackets.
fn attribute(tokens: &[Token<'_>]) -> Option<Attribute> {
    let path = tokens
        .iter()
        .take_while(|token| matches!(token, Token::Word(_) | Token::Sign(':')));
    let name = path.filter_map(Token::word).last()?;
    let name_option = tokens.windows(3).find_map(|window| match window {
        [Token::Word("name"), Token::Sign('='), Token::Text(text)] => Some(unescaped(text)),
        _ => None,
    });
    // Of `cfg(any(test, ..))` and `cfg(not(test))` there is something in a release too.
    let has = |word: &str| tokens.contains(&Token::Word(word));
    let is_test = name == "cfg" && has("test") && !has("any") && !has("not");
    Some(Attribute {
        name: name.to_owned(),
        name_option,
        is_test,
    })
}

/// `tokens` begin after the function's name.
fn function(name: &str, attributes: Vec<Attribute>, tokens: &[Token<'_>]) -> Function {
    let mut function = Function {
        name: name.to_owned(),
        line: 0,
        attributes,
        is_associated: false,
        path: String::new(),
        is_test: false,
        in_macro: false,
        takes_context: false,
        calls: Vec::new(),
        markers: Vec::new(),
        listens: false,
    };
    let Some(open) = tokens
        .iter()
        .position(|token| *token == Token::Sign('('))
        .map(|first| parameters(tokens, first))
    else {
        return function;
    };
    let close = closing(tokens, open);
    let parameters = &tokens[(open + 1).min(close)..close];
    function.takes_context = parameters.contains(&Token::Word("Cx"));
    let body = tokens[close..]
        .iter()
        .position(|token| matches!(token, Token::Sign('{' | ';')))
        .map(|start| close + start);
    if let Some(body) = body.filter(|body| tokens[*body] == Token::Sign('{')) {
        let end = closing(tokens, body);
        let context = context(parameters);
        function.calls = calls(context, &tokens[body..end]);
        function.markers = markers::scan(context, &tokens[body..end]);
        function.listens = listens(context, &tokens[body..end]);
    }
    function
}

/// The parenthesis of the parameters: one inside of `<..>` belongs to a bound.
fn parameters(tokens: &[Token<'_>], first: usize) -> usize {
    if tokens.first() != Some(&Token::Sign('<')) {
        return first;
    }
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('<') => depth += 1,
            Token::Sign('>') if index > 0 && tokens[index - 1] == Token::Sign('-') => {}
            Token::Sign('>') => depth = depth.saturating_sub(1),
            Token::Sign('(') if depth == 0 => return index,
            _ => {}
        }
    }
    first
}

/// The name of the parameter whose type is `Cx`.
fn context<'a>(parameters: &[Token<'a>]) -> &'a str {
    parameters
        .split(|token| *token == Token::Sign(','))
        .find(|parameter| parameter.contains(&Token::Word("Cx")))
        .and_then(|parameter| {
            parameter
                .iter()
                .filter_map(Token::word)
                .find(|word| *word != "mut")
        })
        .unwrap_or("cx")
}

/// `f(cx, ..)`, `f(n, &cx)`, `path::f::<T>(cx.clone())`, `x.f(cx)`
fn calls(context: &str, tokens: &[Token<'_>]) -> Vec<String> {
    let mut calls: Vec<String> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if *token == Token::Sign('(')
            && let Some(name) = called(&tokens[..index])
            && hands_over(context, &tokens[index + 1..])
        {
            let before = &tokens[..index];
            let name = match made_with_context(before) {
                Some(Made::Set) => None,
                Some(Made::Mailbox) => second_argument(&tokens[index + 1..]),
                None => Some(name),
            };
            calls.extend(name.filter(|name| !calls.contains(name)));
        }
    }
    calls
}

/// `JoinSet::new`, `JoinSet::<T>::new`, `Mailbox::open`: by itself it calls nothing with the context.
fn made_with_context(before: &[Token<'_>]) -> Option<Made> {
    let [
        ty @ ..,
        Token::Sign(':'),
        Token::Sign(':'),
        Token::Word(last),
    ] = before
    else {
        return None;
    };
    let ty = match ty {
        [.., Token::Sign('>')] => {
            let open = ty.iter().rposition(|token| *token == Token::Sign('<'));
            match open.map(|open| &ty[..open]) {
                Some([ty @ .., Token::Sign(':'), Token::Sign(':')]) => ty,
                _ => return None,
            }
        }
        ty => ty,
    };
    match (ty.last()?, *last) {
        (Token::Word("JoinSet"), "new" | "named") => Some(Made::Set),
        (Token::Word("Mailbox"), "open" | "open_with") => Some(Made::Mailbox),
        _ => None,
    }
}

/// The last name of the path that is the second argument. `tokens` begin behind the parenthesis.
fn second_argument(tokens: &[Token<'_>]) -> Option<String> {
    let comma = tokens.iter().position(|token| *token == Token::Sign(','))?;
    let path = tokens[comma + 1..]
        .iter()
        .take_while(|token| matches!(token, Token::Word(_) | Token::Sign(':')));
    path.filter_map(Token::word).last().map(str::to_owned)
}

/// Whether it waits for a message or a signal, handles an update, or does something else with its context than to call what it offers
/// and to hand it to a function that is called by its name.
fn listens(context: &str, tokens: &[Token<'_>]) -> bool {
    let is_handed = |before: &[Token<'_>]| {
        let before = match before {
            [before @ .., Token::Sign('&')] => before,
            before => before,
        };
        matches!(before, [.., Token::Sign('(' | ',')])
            && opening(before).is_some_and(|open| called(&before[..open]).is_some())
    };
    tokens.iter().enumerate().any(|(at, token)| {
        let (before, after) = (&tokens[..at], &tokens[at + 1..]);
        match (token, after) {
            (Token::Word("receive" | "wait_for" | "handle"), _) => {
                before.last() == Some(&Token::Sign('.'))
            }
            (Token::Word(word), _) if *word != context => false,
            (Token::Word(_), [Token::Sign('.'), Token::Word("clone"), ..]) => !is_handed(before),
            (Token::Word(_), [Token::Sign('.'), ..]) => false,
            (Token::Word(_), _) => !is_handed(before),
            _ => false,
        }
    })
}

/// The parenthesis that is open at the end of `tokens`.
fn opening(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0usize;
    tokens.iter().rposition(|token| match token {
        Token::Sign(')' | ']' | '}') => {
            depth += 1;
            false
        }
        Token::Sign('(') if depth == 0 => true,
        Token::Sign('(' | '[' | '{') => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => false,
    })
}

/// Whether one of the arguments is the context. `tokens` begin behind the parenthesis.
fn hands_over(context: &str, tokens: &[Token<'_>]) -> bool {
    let (mut depth, mut begins) = (0usize, true);
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('&') if begins => continue,
            Token::Word(word) if begins && *word == context => {
                let is_it = matches!(
                    &tokens[index + 1..],
                    [Token::Sign(',' | ')'), ..] | [Token::Sign('.'), Token::Word("clone"), ..]
                );
                if is_it {
                    return true;
                }
            }
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => return false,
            },
            _ => {}
        }
        begins = depth == 0 && *token == Token::Sign(',');
    }
    false
}

/// The last name before a parenthesis, through a turbofish.
fn called(before: &[Token<'_>]) -> Option<String> {
    match before {
        // A tuple.
        [
            ..,
            Token::Word("return" | "break" | "in" | "if" | "match" | "while"),
        ] => None,
        [.., Token::Word(name)] => Some((*name).to_owned()),
        [.., Token::Sign('>')] => {
            let mut depth = 0usize;
            let open = before.iter().rposition(|token| {
                match token {
                    Token::Sign('>') => depth += 1,
                    Token::Sign('<') => depth -= 1,
                    _ => {}
                }
                depth == 0
            })?;
            match &before[..open] {
                [.., Token::Word(name), Token::Sign(':'), Token::Sign(':')] => {
                    Some((*name).to_owned())
                }
                _ => None,
            }
        }
        _ => None,
    }
}
