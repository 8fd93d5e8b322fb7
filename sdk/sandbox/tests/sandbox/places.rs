//! The places that are told.

use std::time::Instant;

use perennial::testing::{World, sandbox};

fn how_long() -> u64 {
    Instant::now().elapsed().as_secs()
}

fn helper() -> u64 {
    how_long() + 1
}

#[test]
fn a_place_is_the_stack_from_the_call_to_the_watch() {
    let watch = || {
        sandbox().unwrap().watch(World::Real, &mut || {
            let _ = helper() + rand::random::<u64>() % 2;
        })
    };
    let touched = std::thread::spawn(watch).join().unwrap();
    let told: Vec<_> = touched
        .iter()
        .map(|touched| format!("{} {}\n{}", touched.rule, touched.call, touched.place))
        .collect();
    insta::assert_snapshot!(told.join("\n\n"));
}
