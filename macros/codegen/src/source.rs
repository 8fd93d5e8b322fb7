//! Reads what a Rust source text declares: its functions, with attributes and what they call, and
//! the macros that it imports from other crates.
//!
//! Far from a parser, and forgiving: it knows comments, literals and brackets, and no more of
//! the grammar than it needs.

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
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// Its functions, in order.
    pub(crate) functions: Vec<Function>,
    /// Names that it imports, each with the crate: `use tokio::{join, select}`.
    pub(crate) imports: Vec<(String, String)>,
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
        let mut source = Source::default();
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
                [Token::Word("use"), Token::Word(from), ..] => {
                    let names = tokens[at + 2..]
                        .iter()
                        .take_while(|token| **token != Token::Sign(';'));
                    let names = names.filter_map(Token::word);
                    source
                        .imports
                        .extend(names.map(|name| ((*from).to_owned(), name.to_owned())));
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
        function.calls = calls(context(parameters), &tokens[body..end]);
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

/// Where the bracket at `open` closes, or the end.
fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// An identifier or keyword, without `r#`.
    Word(&'a str),
    /// What stands between the quotes of a string.
    Text(&'a str),
    Sign(char),
}

impl<'a> Token<'a> {
    fn word(&self) -> Option<&'a str> {
        match self {
            Token::Word(word) => Some(word),
            Token::Text(_) | Token::Sign(_) => None,
        }
    }
}

/// The tokens, and for each the line on which it begins.
fn tokens(text: &str) -> (Vec<Token<'_>>, Vec<usize>) {
    let (mut tokens, mut lines) = (Vec::new(), Vec::new());
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        // In the order of how often they come: whole crates are read by a macro that is not optimised.
        let length = if first.is_whitespace() {
            rest.find(|other: char| !other.is_whitespace())
                .unwrap_or(rest.len())
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment(rest)
        } else if let 'r' | 'b' | 'c' = first
            && let Some((token, length)) = raw(rest)
        {
            tokens.push(token);
            length
        } else if first == '"' {
            let length = quoted(rest, '"');
            tokens.push(Token::Text(rest[..length].trim_matches('"')));
            length
        } else if first == '\'' {
            character(rest)
        } else if is_word(first) {
            let length = rest.find(|other| !is_word(other)).unwrap_or(rest.len());
            tokens.push(Token::Word(&rest[..length]));
            length
        } else {
            tokens.push(Token::Sign(first));
            first.len_utf8()
        };
        lines.resize(tokens.len(), line);
        line += rest.as_bytes()[..length]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        rest = &rest[length..];
    }
    (tokens, lines)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// `/* .. /* .. */ .. */`
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(next) = text[at..].find(['/', '*']).map(|next| at + next) {
        if text[next..].starts_with("/*") {
            depth += 1;
            at = next + 2;
        } else if text[next..].starts_with("*/") {
            depth -= 1;
            at = next + 2;
            if depth == 0 {
                return at;
            }
        } else {
            at = next + 1;
        }
    }
    text.len()
}

/// `r"..."`, `br#"..."#`, and the raw identifier `r#type`.
fn raw(text: &str) -> Option<(Token<'_>, usize)> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        text.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(['"', '#']))
    })?;
    let after = &text[prefix.len()..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    let start = prefix.len() + hashes;
    if text[start..].starts_with('"') {
        let end = format!("\"{}", "#".repeat(hashes));
        let inside = &text[start + 1..];
        let length = inside.find(&end).unwrap_or(inside.len());
        let whole = (start + 1 + length + end.len()).min(text.len());
        return Some((Token::Text(&inside[..length]), whole));
    }
    let word = &text[start..];
    let length = word.find(|other| !is_word(other)).unwrap_or(word.len());
    Some((Token::Word(&word[..length]), start + length))
}

/// The length of a literal with its quotes, escapes skipped.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// `'x'` or `'\n'` is a character, `'name` is a lifetime.
fn character(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), _) => quoted(text, '\''),
        (_, Some((index, '\''))) => index + 1,
        _ => 1,
    }
}
