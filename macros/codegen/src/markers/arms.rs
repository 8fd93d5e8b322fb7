//! The arms of `match cx.version("id", 0..=2)`: one for each version, and none for another.

use quote::ToTokens;
use syn::{Arm, Expr, ExprMethodCall, Pat};

use super::number;
use crate::check::text;
use crate::errors::Errors;

/// How many missing versions an error lists.
const LISTED: usize = 4;

/// Checks the arms of a `match` over `call`, which supports the versions of `range`.
pub(super) fn check(
    call: &ExprMethodCall,
    (lowest, highest): (u32, u32),
    arms: &[Arm],
    errors: &mut Errors,
) {
    let mut versions = Vec::new();
    let mut all_read = true;
    for arm in arms {
        all_read &= pattern(call, (lowest, highest), &arm.pat, &mut versions, errors);
    }
    // An arm that cannot be read may be the one that is missing.
    if all_read {
        missing(call, (lowest, highest), versions, errors);
    }
}

/// Reads the versions of a pattern; says whether it can be read.
fn pattern(
    call: &ExprMethodCall,
    (lowest, highest): (u32, u32),
    pat: &Pat,
    versions: &mut Vec<u32>,
    errors: &mut Errors,
) -> bool {
    match pat {
        Pat::Or(or) => {
            let mut all_read = true;
            for case in &or.cases {
                all_read &= pattern(call, (lowest, highest), case, versions, errors);
            }
            all_read
        }
        Pat::Paren(inner) => pattern(call, (lowest, highest), &inner.pat, versions, errors),
        Pat::Lit(literal) => match number(&Expr::Lit(literal.clone())) {
            Some(version) if (lowest..=highest).contains(&version) => {
                versions.push(version);
                true
            }
            Some(version) => {
                never_returned(call, (lowest, highest), version, pat, errors);
                true
            }
            None => unreadable(pat, errors),
        },
        Pat::Guard(guarded) => {
            pattern(call, (lowest, highest), &guarded.pat, versions, errors);
            errors.under(
                &guarded.guard,
                text(
                    "L324",
                    "the code of a version cannot be told where a condition decides too",
                    &["put the condition inside of the arm"],
                ),
            );
            false
        }
        _ => unreadable(pat, errors),
    }
}

fn unreadable(pat: &Pat, errors: &mut Errors) -> bool {
    let help = match pat {
        Pat::Wild(_) | Pat::Ident(_) => {
            "name the versions, as in `0 =>` or `1 | 2 =>`; no other arm is needed"
        }
        _ => "write the versions as numbers: `0 =>` or `1 | 2 =>`",
    };
    errors.under(
        pat,
        text(
            "L324",
            "it cannot be told of which versions this is the code, so that it could not be compared with what was released",
            &[help],
        ),
    );
    false
}

fn never_returned(
    call: &ExprMethodCall,
    (lowest, highest): (u32, u32),
    version: u32,
    pat: &Pat,
    errors: &mut Errors,
) {
    let supported = if version < lowest {
        format!("{version}..={highest}")
    } else {
        format!("{lowest}..={version}")
    };
    errors.under(
        pat,
        text(
            "L322",
            &format!(
                "`{}` never gives this: it supports `{lowest}..={highest}`",
                called(call)
            ),
            &[&format!(
                "take the arm out, or support its version: `{supported}`"
            )],
        ),
    );
}

fn missing(
    call: &ExprMethodCall,
    (lowest, highest): (u32, u32),
    mut versions: Vec<u32>,
    errors: &mut Errors,
) {
    versions.sort_unstable();
    versions.dedup();
    let count = u64::from(highest - lowest) + 1 - versions.len() as u64;
    let listed: Vec<String> = (lowest..=highest)
        .filter(|version| versions.binary_search(version).is_err())
        .take(LISTED)
        .map(|version| version.to_string())
        .collect();
    let Some(first) = listed.first() else {
        return;
    };
    let wrong = match (count, listed.as_slice()) {
        (1, _) => format!("version {first} is supported, but has no arm"),
        (more, [all @ .., last]) if more == listed.len() as u64 => {
            format!(
                "versions {} and {last} are supported, but have no arms",
                all.join(", ")
            )
        }
        _ => format!(
            "versions {} and {} more are supported, but have no arms",
            listed.join(", "),
            count - listed.len() as u64
        ),
    };
    errors.under(
        call,
        text("L321", &wrong, &[&format!("add `{first} => ..`")]),
    );
}

/// `cx.version("rounding", ..)`, without the spaces of printed tokens.
fn called(call: &ExprMethodCall) -> String {
    let receiver = call.receiver.to_token_stream();
    let id = call.args.first().map(|id| id.to_token_stream().to_string());
    format!("{receiver}.{}({}, ..)", call.method, id.unwrap_or_default())
}
