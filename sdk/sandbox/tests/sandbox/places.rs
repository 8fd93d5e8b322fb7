//! The places that are told.

use std::time::Instant;

use perennial::testing::World;

use crate::cold_in;

fn how_long() -> u64 {
    Instant::now().elapsed().as_secs()
}

fn helper() -> u64 {
    how_long() + 1
}

#[test]
fn a_place_is_the_stack_from_the_call_to_the_watch() {
    let (_, touched) = cold_in(World::Real, || helper() + u64::from(rand::random::<u8>()));
    let told: Vec<_> = touched
        .iter()
        .map(|touched| format!("{} {}\n{}", touched.rule, touched.call, touched.place))
        .collect();
    insta::assert_snapshot!(told.join("\n\n"));
}
