//! What a machine holds, as it says itself.

use perennial::prelude::*;

use crate::story::Story;

#[test]
fn what_is_open_and_what_was_spawned_counts_as_long_as_it_is_there() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        cx.sleep(seconds(1)).await?;
        join_all((0..300).map(|_| cx.sleep(seconds(1)))).await;
        let own = cx.clone();
        let task = cx.spawn(async move {
            let large = [1_u8; 20_000];
            own.sleep(seconds(1)).await.ok();
            u64::from(large[0])
        });
        let spawned = task.await;
        cx.sleep(seconds(1)).await?;
        Ok(spawned)
    }
    let mut story = Story::of::<flow>(()).unchecked();
    let one = story.machine().memory();
    assert!((400..4_000).contains(&one), "{one}");
    story.fire(1);
    let many = story.machine().memory();
    assert!(many > one + 300 * 256, "{many}");
    for timer in 2..302 {
        story.fire(timer);
    }
    let spawned = story.machine().memory();
    assert!((20_000..60_000).contains(&spawned), "{spawned}");
    story.fire(302);
    let one_again = story.machine().memory();
    assert!(one_again < one + 4_000, "{one_again}");
}

#[test]
fn the_workflows_own_future_and_its_input_count() {
    #[workflow]
    async fn flow(cx: &Cx, text: String) -> Result<usize, Error> {
        let large = [1_u8; 20_000];
        cx.sleep(seconds(1)).await?;
        Ok(text.len() + large.len())
    }
    let memory = |text: String| Story::of::<flow>(text).machine().memory();
    let small = memory(String::new());
    assert!(small > 20_000, "{small}");
    assert_eq!(memory("x".repeat(50_000)), small + 50_000);
}
