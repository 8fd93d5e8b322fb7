//! A folder of histories where a sandbox is linked: each is replayed in another world too.

#![allow(clippy::unwrap_used)]

mod story;

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::PathBuf;

use perennial::history::History;
use perennial::prelude::*;
use perennial::testing::{
    Changed, Sandbox, Touched, Unfit, World, check_histories, replay_folder, save_history,
    set_sandbox,
};
use perennial::{Namespace, RunId, RunKey, Workflow};
use story::Story;

thread_local! {
    /// What the clock of the operating system shows.
    static CLOCK: Cell<u64> = const { Cell::new(1) };
    static TOUCHED: RefCell<Vec<Touched>> = const { RefCell::new(Vec::new()) };
}

/// A call that no history records.
fn clock() -> u64 {
    let place = "tests::forgetful\nsrc/orders.rs:31:9".to_owned();
    let touched = Touched::new("D101", "clock_gettime(CLOCK_REALTIME)", place);
    TOUCHED.with_borrow_mut(|all| all.push(touched));
    CLOCK.get()
}

/// What `perennial-sandbox` does, in small.
struct Small;

impl Sandbox for Small {
    fn watch(&self, world: World, code: &mut dyn FnMut()) -> Vec<Touched> {
        if let World::Changed(number) = world {
            CLOCK.set(number);
        }
        TOUCHED.take();
        code();
        CLOCK.set(1);
        TOUCHED.take()
    }
}

#[activity(pure)]
async fn pay(acx: &ActivityCx, cents: u64) -> Result<(), Failure> {
    let _ = (acx, cents);
    Ok(())
}

#[workflow]
async fn careful(cx: &Cx, cents: u64) -> Result<(), Error> {
    pay(cx, cents).await?;
    Ok(())
}

/// Depends on the clock.
#[workflow]
async fn clocked(cx: &Cx, cents: u64) -> Result<(), Error> {
    pay(cx, cents + clock()).await?;
    Ok(())
}

/// Looks at the clock, but does the same whatever it shows.
#[workflow]
async fn curious(cx: &Cx, cents: u64) -> Result<(), Error> {
    pay(cx, cents + clock().min(1)).await?;
    Ok(())
}

/// Sleeps as long as the clock says. A replay in production takes the deadline that was recorded.
#[workflow]
async fn sleepy(cx: &Cx, cents: u64) -> Result<(), Error> {
    cx.sleep(seconds(cents + clock())).await?;
    Ok(())
}

/// Sleeps longer than the code that wrote the history, and that is allowed.
mod longer {
    use super::*;

    #[workflow]
    pub(super) async fn sleepy(cx: &Cx, cents: u64) -> Result<(), Error> {
        cx.sleep(seconds(cents + 100)).await?;
        Ok(())
    }
}

fn save<W: Workflow>(folder: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let _ = fs::remove_dir_all(&folder);
    let history = History {
        run: RunKey::new(Namespace::default(), RunId::new("order-42").unwrap()),
        generation: 1,
        units: Story::of::<W>(7_u64).units,
    };
    save_history(&history, folder.join("order.json")).unwrap();
    folder
}

#[test]
fn what_fits_must_fit_in_another_world_too() {
    set_sandbox(&Small);
    for checked in [
        check_histories(save::<careful>("careful"), careful),
        check_histories(save::<curious>("curious"), curious),
        check_histories(save::<sleepy>("longer"), longer::sleepy),
    ] {
        assert_eq!((checked.histories, checked.changed), (1, Changed::All));
    }
    let clocked = replay_folder(save::<clocked>("clocked"), clocked).unwrap_err();
    let sleepy = replay_folder(save::<sleepy>("sleepy"), sleepy).unwrap_err();
    let texts = [clocked, sleepy].map(|misfits| {
        assert!(matches!(misfits.misfits[0].why, Unfit::Diverged(_)));
        let folder = env!("CARGO_TARGET_TMPDIR").replace('\\', "/");
        let text = misfits.to_string().replace(&folder, "tests");
        // The rest is the kit's, and tested there.
        let told = text
            .lines()
            .take_while(|line| !line.starts_with("It was replayed"));
        told.collect::<Vec<_>>().join("\n")
    });
    insta::assert_snapshot!(texts.join("\n---\n"));
}
