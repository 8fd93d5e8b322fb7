//! The code of *Migration*.

use perennial::OldRun;
use perennial::history::History;
use perennial_book::migration::{
    self, Order, careless, cart_to_order, move_order, order, program, to_parcel,
};
use perennial_runtime::store::Durability;
use perennial_runtime::{MigrateError, Runtime, cli};

use crate::chapters::Still;
use crate::texts::assert_text;

fn an_order() -> Order {
    Order {
        id: "A-1".to_owned(),
        cents: 1250,
    }
}

/// Waits until a run has a number of events.
async fn events(runtime: &Runtime, id: &str, events: u64) -> History {
    let id = id.parse().unwrap();
    loop {
        let history = runtime.client().history(&id).await.unwrap().history;
        if history.length() >= events {
            return history;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn migration_moves_runs() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = folder.path().join("data");
    let shop = || {
        program(data.as_path())
            .durability(Durability::Os)
            .clock(Still)
            .artifact("shop 2")
    };
    let runtime = shop().start().await.unwrap();
    let client = runtime.client();
    let old = client.start(order, "order-42", an_order()).await.unwrap();
    client.start(order, "order-43", an_order()).await.unwrap();
    let before = events(&runtime, "order-42", 5).await;
    events(&runtime, "order-43", 5).await;

    let open = client.migrate("order-42", careless, "parcel-42").await;
    let open = open.unwrap_err();
    assert!(matches!(open, MigrateError::Open { .. }));
    let text = open
        .to_string()
        .replace("book/listings/src/migration.rs", "src/orders.rs");
    assert_text("texts/migration/open.txt", &text);

    move_order(&client).await.unwrap();
    let to = migration::follow(&old).await.unwrap();
    assert_eq!(to.as_deref(), Some("parcel-42"));
    let text = events(&runtime, "order-42", 6).await.text();
    assert_text(
        "texts/migration/history.txt",
        &text.replace("migration.rs", "orders.rs"),
    );
    drop(runtime);

    // In a test, without a runtime.
    // ANCHOR: test
    let old = OldRun::of(before).unwrap();
    let parcel = to_parcel::run(&old).unwrap();
    assert_eq!(parcel.receipt, Some(1250));
    assert_eq!(old.undisposed(), []);
    // ANCHOR_END: test

    let call = |words: &[&str]| {
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let code = cli::call(shop(), words, &mut out, &mut errors);
        out.extend(errors);
        (code, String::from_utf8(out).unwrap())
    };
    let words = [
        "my-shop",
        "perennial",
        "migrate",
        "order-43",
        "to_parcel",
        "parcel-43",
    ];
    let (code, said) = call(&words);
    assert_eq!(code, 0, "{said}");
    assert_text(
        "texts/migration/command.txt",
        &format!("$ {}\n{said}", words.join(" ")),
    );
    assert_eq!(cart_to_order::NAME, "cart_to_order");
}
