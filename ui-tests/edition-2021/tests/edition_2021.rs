//! The same in an older edition: borrowed arguments of a `#[durable]` function need no lifetime
//! there either.

#[path = "../../pass/awaits.rs"]
mod awaits;
#[path = "../../pass/by_macro_rules.rs"]
mod by_macro_rules;
#[path = "../../pass/conditional.rs"]
mod conditional;

#[test]
fn what_works_in_the_newest_edition_works_in_2021() {
    awaits::main();
    by_macro_rules::main();
    conditional::main();
}
