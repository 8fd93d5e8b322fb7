//! Killed between the answer and the wait for it.

use crate::world::World;

#[test]
fn an_answer_that_was_stored_is_taken_by_the_next_process() {
    let world = World::new();
    // The boss cannot be asked, so nothing waits for an answer.
    world.lose_letters();
    let mut running = world.start();
    running.type_line("buy desk-42 300 a desk");
    running.until("desk-42: asked for");
    running.type_line("approve desk-42 --by Grace");
    running.until("desk-42: answer 1 is stored");
    running.kill();

    world.find_letters();
    let mut running = world.start();
    running.until("letter to the boss: may we buy a desk for 300?");
    running.until("letter to the buyer: bought as order desk-42~");
    running.end();
    assert_eq!(world.orders(), ["a desk for 300\n"]);
    let shown = world.done("show desk-42");
    assert!(shown.ends_with("\n    taken\n"), "{shown}");
}

#[test]
fn the_time_for_an_answer_goes_on_while_nothing_runs() {
    let world = World::new();
    let mut running = world.start();
    running.type_line("buy desk-42 300 a desk --within 1s");
    running.until("letter to the boss");
    running.kill();
    let mut running = world.start();
    running.type_line("list");
    // Told by a letter or by the list, whichever is first: the first process may have been slow.
    while !running
        .until("desk-42: ")
        .contains("not bought, since nobody answered in time")
    {
        running.type_line("list");
    }
}
