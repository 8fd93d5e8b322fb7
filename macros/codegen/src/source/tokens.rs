//! Rust, cut into what matters: words, the texts of strings, and signs.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// An identifier or keyword, without `r#`.
    Word(&'a str),
    /// What stands between the quotes of a string.
    Text(&'a str),
    Sign(char),
}

impl<'a> Token<'a> {
    pub(super) fn word(&self) -> Option<&'a str> {
        match self {
            Token::Word(word) => Some(word),
            Token::Text(_) | Token::Sign(_) => None,
        }
    }
}

/// The tokens, and for each the line on which it begins.
pub(super) fn tokens(text: &str) -> (Vec<Token<'_>>, Vec<usize>) {
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
            let inside = &rest[1..length];
            tokens.push(Token::Text(inside.strip_suffix('"').unwrap_or(inside)));
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

/// The text of a string, its escapes replaced.
pub(crate) fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let literal = syn::parse_str::<syn::LitStr>(&format!("\"{text}\""));
    literal.map_or_else(|_| text.to_owned(), |literal| literal.value())
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

/// Where the bracket at `open` closes, or the end.
pub(super) fn closing(tokens: &[Token<'_>], open: usize) -> usize {
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
