//! Reads what a Rust source text declares: its functions, with attributes and what they call, and
//! what its names mean.
//!
//! Far from a parser, and forgiving: it knows comments, literals and brackets, and no more of
//! the grammar than it needs.

mod names;
mod tokens;

pub(crate) use self::tokens::Token;
use self::tokens::{closing, tokens};
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
    /// The functions that it calls with its context, each once.
    pub(crate) calls: Vec<String>,
    /// The markers that it asks for.
    pub(crate) markers: Vec<Marker>,
}

/// An attribute of a function.
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    /// The last segment of its path.
    pub(crate) name: String,
    /// The text of its option `name = ".."`.
    pub(crate) name_option: Option<String>,
}

/// What a source declares.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its functions, in order.
    pub(crate) functions: Vec<Function>,
    /// What its names mean.
    pub(crate) names: FileNames,
}

/// A brace that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Of an `impl` or a `trait`.
    Associated,
    Other,
}

impl Source {
    pub(crate) fn read(text: &str) -> Source {
        let (tokens, lines) = tokens(text);
        let mut source = Source {
            functions: Vec::new(),
            names: names::read(&tokens, &lines),
        };
        let mut attributes = Vec::new();
        let mut open: Vec<Block> = Vec::new();
        // What the next brace opens.
        let mut next = Block::Other;
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at..] {
                [Token::Sign('#'), Token::Sign('['), ..] => {
                    let end = closing(&tokens, at + 1);
                    attributes.extend(attribute(&tokens[at + 2..end]));
                    at = end;
                }
                [Token::Word("fn"), Token::Word(name), ..] => {
                    let mut function =
                        function(name, std::mem::take(&mut attributes), &tokens[at + 2..]);
                    function.line = lines[at + 1];
                    function.is_associated = open.last() == Some(&Block::Associated);
                    source.functions.push(function);
                    next = Block::Other;
                    at = signature_end(&tokens, at + 2);
                    continue;
                }
                [Token::Word("impl" | "trait"), ..] => next = Block::Associated,
                [Token::Sign('{'), ..] => {
                    open.push(std::mem::replace(&mut next, Block::Other));
                    attributes.clear();
                }
                [Token::Sign('}'), ..] => {
                    open.pop();
                    attributes.clear();
                }
                [Token::Sign(';'), ..] => {
                    next = Block::Other;
                    attributes.clear();
                }
                _ => {}
            }
            at += 1;
        }
        source
    }
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
        [Token::Word("name"), Token::Sign('='), Token::Text(text)] => Some((*text).to_owned()),
        _ => None,
    });
    Some(Attribute {
        name: name.to_owned(),
        name_option,
    })
}

/// `tokens` begin after the function's name.
fn function(name: &str, attributes: Vec<Attribute>, tokens: &[Token<'_>]) -> Function {
    let mut function = Function {
        name: name.to_owned(),
        line: 0,
        attributes,
        is_associated: false,
        calls: Vec::new(),
        markers: Vec::new(),
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
    let body = tokens[close..]
        .iter()
        .position(|token| matches!(token, Token::Sign('{' | ';')))
        .map(|start| close + start);
    if let Some(body) = body.filter(|body| tokens[*body] == Token::Sign('{')) {
        let end = closing(tokens, body);
        let context = context(parameters);
        function.calls = calls(context, &tokens[body..end]);
        function.markers = markers::scan(context, &tokens[body..end]);
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

/// `f(cx, ..)`, `f(&cx)`, `path::f::<T>(cx.clone())`, `x.f(cx)`
fn calls(context: &str, tokens: &[Token<'_>]) -> Vec<String> {
    let mut calls: Vec<String> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if *token != Token::Sign('(') {
            continue;
        }
        let mut argument = tokens[index + 1..]
            .iter()
            .skip_while(|token| **token == Token::Sign('&'));
        if argument.next() != Some(&Token::Word(context)) {
            continue;
        }
        let hands_over = matches!(
            (argument.next(), argument.next()),
            (Some(Token::Sign(',' | ')')), _)
                | (Some(Token::Sign('.')), Some(Token::Word("clone")))
        );
        if let Some(name) = called(&tokens[..index])
            && hands_over
            && !calls.contains(&name)
        {
            calls.push(name);
        }
    }
    calls
}

/// The last name before a parenthesis, through a turbofish.
fn called(before: &[Token<'_>]) -> Option<String> {
    match before {
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
