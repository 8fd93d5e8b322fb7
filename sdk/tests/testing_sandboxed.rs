//! A folder of histories where a sandbox is linked: each is replayed in another world too.

#![allow(clippy::unwrap_used)]

mod story;

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::PathBuf;

use perennial::history::History;
use perennial::prelude::*;
use perennial::testing::{
    Sandbox, Touched, Unfit, World, Worlds, check_histories, replay_folder, save_history,
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
fn what_fits_must_fit_in_another_world_too_and_without_asking_for_either() {
    set_sandbox(&Small);
    let careful_folder = save::<careful>("careful");
    let checked = check_histories(&careful_folder, careful);
    assert_eq!(checked.worlds, Worlds::RealAndChanged);

    let clocked_folder = save::<clocked>("clocked");
    let clocked = replay_folder(&clocked_folder, clocked).unwrap_err();
    assert!(matches!(clocked.misfits[0].why, Unfit::OnlyHere(_)));

    let curious_folder = save::<curious>("curious");
    let curious = replay_folder(&curious_folder, curious).unwrap_err();
    assert!(matches!(curious.misfits[0].why, Unfit::Touched(_)));
    let texts = [clocked, curious].map(|misfits| {
        let folder = env!("CARGO_TARGET_TMPDIR").replace('\\', "/");
        misfits.to_string().replace(&folder, "tests")
    });
    insta::assert_snapshot!(texts.join("\n---\n"));
}
