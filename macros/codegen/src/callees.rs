//! Which of the functions that a workflow calls are activities, and which markers those ask for that are durable.
//!
//! A runtime can then say at its start which activities a workflow will miss, and list its markers. A name that is not
//! found, or that stands for several things, is unknown, and nothing fails because of it.

use std::collections::HashSet;

use proc_macro2::Span;

use crate::index::{Index, Meaning};
use crate::markers::Marker;

/// A function that a workflow calls with its context.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Callee {
    /// The name in histories of an activity or a stub, or the name of the function.
    pub(crate) name: String,
    pub(crate) kind: CalleeKind,
}

/// What a function is that a workflow calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalleeKind {
    Activity,
    Stub,
    Unknown,
}

/// What a workflow reaches through the functions that it calls.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    /// The functions, durable ones replaced by what they call themselves.
    pub(crate) callees: Vec<Callee>,
    /// The markers of the durable ones, each with the function that asks for it.
    pub(crate) markers: Vec<(String, Marker)>,
    /// One of them may wait for messages or signals.
    pub(crate) listens: bool,
    /// One of them may publish something: it gets the context, and is neither an activity nor a stub.
    pub(crate) publishes: bool,
}

/// Finds out what the functions are that the workflow at `place` calls.
pub(crate) fn resolve(called: &[String], place: Span) -> Reached {
    Index::with(place, |index| reached(index, called))
}

/// The `#[durable]` functions among those that the workflow at `place` calls, and those that these call.
pub(crate) fn durable(called: &[String], place: Span) -> HashSet<String> {
    Index::with(place, |index| {
        let mut seen = HashSet::new();
        follow(index, called, &mut seen, &mut Reached::default());
        let is_durable = |name: &String| matches!(index.meaning(name), Some(Meaning::Durable(..)));
        seen.retain(is_durable);
        seen
    })
}

/// What is reached from functions that are called.
pub(crate) fn reached(index: &Index, called: &[String]) -> Reached {
    let mut reached = Reached::default();
    follow(index, called, &mut HashSet::new(), &mut reached);
    reached
}

/// A durable function is replaced by what it calls itself.
fn follow(index: &Index, called: &[String], seen: &mut HashSet<String>, reached: &mut Reached) {
    for function in called {
        if !seen.insert(function.clone()) {
            continue;
        }
        let callee = match index.meaning(function) {
            Some(Meaning::Activity(name)) => Callee {
                name: name.clone(),
                kind: CalleeKind::Activity,
            },
            Some(Meaning::Stub(name)) => Callee {
                name: name.clone(),
                kind: CalleeKind::Stub,
            },
            Some(Meaning::Durable(calls, markers, listens)) => {
                reached.listens |= listens;
                reached.publishes = true;
                let markers = markers.iter().cloned();
                let markers = markers.map(|marker| (function.clone(), marker));
                reached.markers.extend(markers);
                follow(index, calls, seen, reached);
                continue;
            }
            Some(Meaning::Other) | None => Callee {
                name: function.clone(),
                kind: CalleeKind::Unknown,
            },
        };
        // It may be a method that is called, of which nothing is known.
        let is_method = index.is_method(function);
        reached.listens |= is_method;
        reached.publishes |= is_method;
        if callee.kind == CalleeKind::Unknown {
            reached.listens |= may_listen(index, function, seen);
            reached.publishes |= may_publish(index, function);
        }
        if !reached.callees.contains(&callee) {
            reached.callees.push(callee);
        }
    }
}

/// Whether a function of this name may wait for messages or signals, whichever of that name it is.
fn may_listen(index: &Index, function: &str, seen: &HashSet<String>) -> bool {
    let mut meanings = index.meanings(function).peekable();
    // One of another crate, or of which nothing is known.
    meanings.peek().is_none()
        || meanings.any(|meaning| match meaning {
            Meaning::Activity(_) | Meaning::Stub(_) => false,
            Meaning::Durable(calls, _, listens) => {
                let mut aside = Reached::default();
                // What it calls counts for this question alone.
                follow(index, calls, &mut seen.clone(), &mut aside);
                *listens || aside.listens
            }
            Meaning::Other => true,
        })
}

/// Whether a function of this name may publish something, whichever of that name it is.
fn may_publish(index: &Index, function: &str) -> bool {
    let mut meanings = index.meanings(function).peekable();
    meanings.peek().is_none()
        || meanings.any(|meaning| !matches!(meaning, Meaning::Activity(_) | Meaning::Stub(_)))
}

#[cfg(test)]
mod tests {
    use super::{Callee, CalleeKind, reached};
    use crate::index::Index;

    fn reached_in(source: &str, called: &[&str]) -> Vec<Callee> {
        let mut index = Index::default();
        index.add(std::path::Path::new("src/lib.rs"), source);
        let called: Vec<String> = called.iter().map(|name| (*name).to_owned()).collect();
        reached(&index, &called).callees
    }

    #[test]
    fn markers_of_durable_functions_are_found_through_what_they_call() {
        let mut index = Index::default();
        index.add(
            std::path::Path::new("src/lib.rs"),
            r#"
            #[durable] async fn outer(ctx: &Cx) {
                if ctx.patched("fraud \"check\"") { inner(ctx).await }
                if cx.patched("of another cx") {}
                // ctx.patched("in a comment")
            }
            #[durable] async fn inner(cx: &Cx) {
                match cx.version_each(r"rounding", 1..=1_2u32) { 1 => outer(cx).await }
                match cx.version(NAME, 0..=2) {}
                match cx.version("range", LOW..=2) {}
            }
            fn plain(cx: &Cx) { cx.patched("not durable"); }
            "#,
        );
        let called = ["outer".to_owned(), "plain".to_owned()];
        let markers = reached(&index, &called).markers;
        let texts: Vec<String> = markers
            .iter()
            .map(|(function, marker)| {
                format!(
                    "{function}: {} {}..={} {}",
                    marker.id, marker.lowest, marker.highest, marker.each
                )
            })
            .collect();
        assert_eq!(
            texts,
            [
                "outer: fraud \"check\" 0..=1 false",
                "inner: rounding 1..=12 true"
            ]
        );
    }

    #[test]
    fn a_function_listens_that_waits_or_hands_its_context_on_to_where_nobody_looks() {
        let listens = |body: &str| {
            let source = format!(
                "#[durable] async fn outer(ctx: &Cx, n: u64) {{ {body} }}
                #[durable] async fn waits(cx: &Cx) {{ cx.receive(A).await }}
                #[durable] async fn works(cx: &Cx) {{ pay(cx).await }}
                #[activity(pure)] async fn pay(acx: &ActivityCx) {{}}"
            );
            let mut index = Index::default();
            index.add(std::path::Path::new("src/lib.rs"), &source);
            reached(&index, &["outer".to_owned()]).listens
        };
        for body in [
            "",
            "works(ctx).await; pay(&ctx).await; ctx.sleep(d).await",
            "works(ctx.clone()).await; shop.works(n, ctx)",
            "let mut set = JoinSet::new(ctx); set.submit(pay(ctx)); JoinSet::<u8>::new(ctx)",
            "join!(pay(ctx), works::<u64>(ctx))",
            "ctx.spawn(async move { pay(ctx).await })",
        ] {
            assert!(!listens(body), "{body}");
        }
        for body in [
            "waits(ctx).await",
            "other(ctx).await",
            "let own = ctx.clone(); own.receive(A).await",
            "let own = ctx; works(own)",
            "ctx.wait_for(BELL).await",
            "(self.f)(ctx)",
            "Work { ctx }",
            "return (n, ctx)",
        ] {
            assert!(listens(body), "{body}");
        }
    }

    fn activity(name: &str) -> Callee {
        Callee {
            name: name.to_owned(),
            kind: CalleeKind::Activity,
        }
    }

    fn unknown(name: &str) -> Callee {
        Callee {
            name: name.to_owned(),
            kind: CalleeKind::Unknown,
        }
    }

    #[test]
    fn an_activity_is_known_by_its_attribute_and_called_by_its_name_option() {
        let source = r#"
            #[activity(pure)] async fn plain(acx: &ActivityCx) -> R { b() }
            /// Docs with a { brace.
            #[perennial::activity(idempotent, retry(attempts = 2), name = "other-name")]
            #[allow(dead_code)]
            pub(crate) async fn named(acx: &ActivityCx, name: String) -> R { a() }
        "#;
        assert_eq!(
            reached_in(source, &["plain", "named", "absent"]),
            [activity("plain"), activity("other-name"), unknown("absent")]
        );
    }

    #[test]
    fn a_stub_is_known_by_its_attribute_also_where_a_mailbox_offers_it() {
        let source = r#"
            #[stub(name = "second look")] pub async fn review(cx: &Cx, order: Order) -> bool;
            #[stub] async fn inject(cx: &Cx) -> String;
            #[durable] async fn outer(cx: &Cx) {
                let mailbox = Mailbox::<String>::open(cx, shop::inject);
                let mut set = JoinSet::named(cx, "turn");
                set.submit(review(cx, order));
            }
        "#;
        let mut index = Index::default();
        index.add(std::path::Path::new("src/lib.rs"), source);
        let reached = reached(&index, &["outer".to_owned()]);
        let stub = |name: &str| Callee {
            name: name.to_owned(),
            kind: CalleeKind::Stub,
        };
        assert_eq!(reached.callees, [stub("inject"), stub("second look")]);
        assert!(!reached.listens);
    }

    #[test]
    fn a_durable_function_stands_for_what_it_calls_also_in_a_circle() {
        let source = "
            #[durable] async fn outer<T: Fn(u8) -> u8>(t: T, ctx: &Cx) -> u8 {
                join_all(vec![ship(ctx, 1), inner::<Vec<u8>>(&ctx)]).await;
                other(ctx.clone(), 'x', b'{').await
            }
            #[durable] async fn inner<T>(cx: &Cx) { outer(t, cx).await; pay(cx).await; not_called(x) }
            #[activity(pure)] async fn pay(acx: &ActivityCx) {}
            #[activity(pure)] fn ship(acx: &ActivityCx, n: u8) {}
        ";
        assert_eq!(
            reached_in(source, &["outer"]),
            [activity("ship"), activity("pay"), unknown("other")]
        );
    }

    #[test]
    fn the_context_may_be_any_argument() {
        let source = "
            #[durable] async fn outer(n: u32, cx: &Cx) {
                first(cx); second(n, cx); third((n, 1), [2, 3], &cx); fourth(f(n), cx.clone(), n);
                self.fifth(n, cx); sixth::<A, B>(n, cx); let pair = (n, cx); return (n, cx);
                not(n, ctx); nor(g(n, context), cx + 1); map(|n, cx| 1); of(N { n, cx });
            }
        ";
        let names = ["first", "second", "third", "fourth", "fifth", "sixth"];
        assert_eq!(reached_in(source, &["outer"]), names.map(unknown));
    }

    #[test]
    fn a_name_that_stands_for_several_things_is_unknown() {
        let source = "
            mod a { #[activity(pure)] async fn charge(acx: &ActivityCx) {} }
            mod b { fn charge(n: u32) {} }
        ";
        assert_eq!(reached_in(source, &["charge"]), [unknown("charge")]);
    }

    #[test]
    fn a_name_of_several_functions_listens_where_one_of_them_does() {
        let listens = |others: &str| {
            let source = format!(
                "#[durable] async fn outer(cx: &Cx) {{ charge(cx).await }}
                mod a {{ #[activity(pure)] async fn charge(acx: &ActivityCx) {{}} }}
                {others}"
            );
            let mut index = Index::default();
            index.add(std::path::Path::new("src/lib.rs"), &source);
            reached(&index, &["outer".to_owned()]).listens
        };
        for others in [
            "mod b { #[activity(pure)] async fn charge(acx: &ActivityCx, n: u32) {} }",
            "mod b { #[stub(name = \"b\")] async fn charge(cx: &Cx) -> u32; }",
            "mod b { #[durable] async fn charge(cx: &Cx) { again(cx).await } }
             #[durable] async fn again(cx: &Cx) { outer(cx).await }",
        ] {
            assert!(!listens(others), "{others}");
        }
        for others in [
            "mod b { #[durable] async fn charge(cx: &Cx) { cx.receive(OK).await } }",
            "mod b { #[durable] async fn charge(cx: &Cx) { again(cx).await } }
             #[durable] async fn again(cx: &Cx) { cx.receive(OK).await }",
            "mod b { fn charge(cx: &Cx) {} }",
        ] {
            assert!(listens(others), "{others}");
        }
    }

    #[test]
    fn what_gets_the_context_and_is_no_activity_and_no_stub_may_publish() {
        let source = "
            #[activity(pure)] async fn pay(acx: &ActivityCx) {}
            #[stub] async fn review(cx: &Cx) -> bool;
            #[durable] async fn tells(cx: &Cx) { cx.emit(OUTPUT, 1) }
            mod a { #[activity(pure)] async fn ship(acx: &ActivityCx) {} }
            mod b { #[activity(pure)] async fn ship(acx: &ActivityCx) {} }
            mod a { #[activity(pure)] async fn mail(acx: &ActivityCx) {} }
            mod b { fn mail(cx: &Cx) {} }
        ";
        let mut index = Index::default();
        index.add(std::path::Path::new("src/lib.rs"), source);
        for (called, expected) in [
            ("pay", false),
            ("review", false),
            ("ship", false),
            ("tells", true),
            ("mail", true),
            ("absent", true),
        ] {
            let publishes = reached(&index, &[called.to_owned()]).publishes;
            assert_eq!(publishes, expected, "{called}");
        }
    }

    #[test]
    fn a_method_of_the_same_name_does_not_hide_an_activity() {
        let source = "
            impl Bank { pub fn charge(&self, order: &Order) {} fn refund(self: Arc<Self>) {} }
            #[activity(pure)] async fn charge(acx: &ActivityCx) {}
            #[activity(pure)] async fn refund(acx: &ActivityCx) {}
        ";
        assert_eq!(
            reached_in(source, &["charge", "refund"]),
            [activity("charge"), activity("refund")]
        );
    }

    #[test]
    fn comments_and_strings_declare_nothing() {
        let source = r####"
            // #[activity(pure)] fn a() {}
            /* #[activity(pure)] fn a() {} /* nested */ fn a() {} */
            const TEXT: &str = "#[activity(pure)] fn a() {} \" ";
            const RAW: &str = r##"fn a() {} "# "##;
            #[activity(pure)] fn b<'a>(acx: &'a ActivityCx) { let c = '\''; let d = '"'; }
            #[activity(pure)] fn r#type(acx: &ActivityCx) {}
        "####;
        assert_eq!(
            reached_in(source, &["a", "b", "type"]),
            [unknown("a"), activity("b"), activity("type")]
        );
    }

    #[test]
    fn half_typed_sources_are_no_problem() {
        for source in [
            "#[activity",
            "fn",
            "fn a(",
            "#[durable] fn a(cx: &Cx) { b(cx",
            "\"",
            "r#\"",
            "/*",
            "'",
            "fn a<",
        ] {
            reached_in(source, &["a"]);
        }
    }
}
