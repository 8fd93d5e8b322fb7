//! RW-43: what an editor sees while a function is being typed.

#![allow(clippy::unwrap_used)]

use proc_macro2::{TokenStream, TokenTree};

type Attribute = fn(TokenStream, TokenStream) -> TokenStream;

/// Bodies that do not parse, for a function with `cx` and `x`.
const HALF_TYPED: [&str; 8] = [
    "let s = String::new(); s.",
    "let  Ok(x)",
    "cx.",
    "if x > 1 { cx. } Ok(())",
    "let a = x.; Ok(a)",
    "let",
    "let y = match x { 1 => x., _ => 2 };",
    "ship(cx, x.).await?; Ok(())",
];

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap()
}

/// All tokens, those in groups too: the text of each and where it stands.
fn places(tokens: TokenStream) -> Vec<(String, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                found.push(("(".to_owned(), group.span_open().byte_range()));
                found.extend(places(group.stream()));
                found.push((")".to_owned(), group.span_close().byte_range()));
            }
            token => found.push((token.to_string(), token.span().byte_range())),
        }
    }
    found
}

fn count(name: &str, tokens: &TokenStream) -> usize {
    let all = places(tokens.clone());
    all.iter().filter(|(text, _)| text == name).count()
}

/// Each attribute with a function that it goes on, around this body.
fn functions(body: &str) -> [(Attribute, &'static str, String); 4] {
    let function = |context: &str| {
        format!("pub async fn name(cx: {context}, mut x: u32) -> Result<(), E> {{ {body} }}")
    };
    [
        (perennial_codegen::workflow, "", function("&Cx")),
        (perennial_codegen::activity, "pure", function("&ActivityCx")),
        (perennial_codegen::durable, "", function("&Cx")),
        (
            perennial_codegen::activity,
            "pure, blocking",
            function("&ActivityCx").replace("async ", ""),
        ),
    ]
}

#[test]
fn rw43_half_typed_code_is_passed_on_with_its_places_and_one_error() {
    for body in HALF_TYPED {
        for (attribute, options, item) in functions(body) {
            let item = tokens(&item);
            let expanded = attribute(tokens(options), item.clone());
            assert_eq!(count("compile_error", &expanded), 1, "{item}\n{expanded}");
            let text = expanded.to_string();
            assert!(text.contains("fn name"), "{text}");
            // The body in one piece, token by token.
            let Some(TokenTree::Group(body)) = item.clone().into_iter().last() else {
                panic!("no body in {item}");
            };
            assert!(
                text.contains(&body.stream().to_string()),
                "{item}\n{expanded}"
            );
            let there = places(expanded);
            let is_name = |text: &str| text.starts_with(|first: char| first.is_alphabetic());
            let names = places(item.clone())
                .into_iter()
                .filter(|(text, _)| is_name(text));
            for token in places(body.stream()).into_iter().chain(names) {
                assert!(there.contains(&token), "{token:?} of {item}");
            }
        }
    }
}

#[test]
fn rw43_a_function_that_is_misused_is_still_there_with_its_body() {
    for (attribute, options, item) in [
        (
            perennial_codegen::workflow as Attribute,
            "",
            "fn name(order: &str) { std::thread::sleep(D); let x = later(1); }",
        ),
        (
            perennial_codegen::activity,
            "nonsense",
            "async fn name<T>(cx: &Cx, x: T) { let x = later(1); }",
        ),
        (
            perennial_codegen::durable,
            "nonsense",
            "async fn name(cx: &Cx) { let f = async |x| x; std::fs::read(f); let x = later(1); }",
        ),
    ] {
        let expanded = attribute(tokens(options), tokens(item));
        let text = expanded.to_string();
        assert!(count("compile_error", &expanded) > 1, "{text}");
        assert!(text.contains("fn name"), "{text}");
        assert!(text.contains("let x = later (1) ;"), "{text}");
    }
}

/// rust-analyzer expands a function twice, as it is and with a made-up name where the cursor stands, and looks
/// for the one in the other at the same place. So nothing before the code may change with it.
#[test]
fn rw43_nothing_before_the_code_changes_with_what_is_typed_in_it() {
    let typed = "sleepIntellijRulezz";
    for body in [
        "let a = ship(cx, x).await?; cx.sleep(D).await?; Ok(())",
        "cx.sleep(cx, D).await?; join!(cx.sleep(D), async { cx.sleep(D).await }); Ok(())",
        "sleep(cx, x).await?; set.submit(sleep(cx, x)); Ok(())",
    ] {
        let before = functions(body);
        let after = functions(&body.replace("sleep", typed));
        for ((attribute, options, before), (_, _, after)) in before.into_iter().zip(after) {
            let expanded = |item: &str| attribute(tokens(options), tokens(item)).to_string();
            let (before, after) = (expanded(&before), expanded(&after));
            let place = |text: &str, name: &str| text.find(name).unwrap();
            assert_eq!(
                before[..place(&before, "sleep")],
                after[..place(&after, typed)],
                "\n{before}\n{after}"
            );
            // That was in the code and not in the label of a site.
            assert!(
                !before[..place(&before, "sleep")].ends_with('"'),
                "{before}"
            );
        }
    }
}
