//! What the purchase does in the world: letters and orders, each a file of its own.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;

use perennial::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::Order;

/// Whom a letter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Person {
    /// Who may approve.
    Boss,
    /// Who wants to buy.
    Buyer,
}

impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boss => "boss",
            Self::Buyer => "buyer",
        })
    }
}

/// A letter that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The purchase that it is about.
    pub run: RunId,
    /// Whom it is for.
    pub to: Person,
    /// What it says.
    pub text: String,
}

/// Where letters and orders go: the folders `letters` and `orders` of a folder.
#[derive(Clone, Debug)]
pub struct Office {
    folder: PathBuf,
    written: mpsc::UnboundedSender<Letter>,
}

impl Office {
    /// An office in a folder, and the letters that it writes from now on.
    pub fn new(folder: impl Into<PathBuf>) -> (Self, mpsc::UnboundedReceiver<Letter>) {
        let (written, letters) = mpsc::unbounded_channel();
        let folder = folder.into();
        (Self { folder, written }, letters)
    }

    /// Writes a file whole. One of the same name is from an earlier attempt of the same operation, and says the same.
    fn write(&self, kind: &str, name: &str, text: &str) -> io::Result<()> {
        let folder = self.folder.join(kind);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), text)
    }
}

/// Writes a letter. The second time it is the same file again.
#[activity(idempotent, blocking)]
pub fn tell(acx: &ActivityCx, to: Person, text: String) -> Result<(), Failure> {
    let office = acx.state::<Office>();
    let name = format!("{}-{to}.txt", acx.operation());
    office.write("letters", &name, &format!("{text}\n"))?;
    let run = acx.run().id.clone();
    // Nobody may be there to see it.
    let _ = office.written.send(Letter { run, to, text });
    Ok(())
}

/// Orders, and gives the number of the order: the operation's, so that an order that is placed again is the same one.
#[activity(idempotent, blocking)]
pub fn place_order(acx: &ActivityCx, order: Order) -> Result<String, Failure> {
    let number = acx.operation().to_string();
    let text = format!("{} for {}\n", order.item, order.price);
    acx.state::<Office>()
        .write("orders", &format!("{number}.txt"), &text)?;
    Ok(number)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_done_again_is_there_once() {
        let folder = tempfile::tempdir().unwrap();
        let (office, mut letters) = Office::new(folder.path());
        let acx = ActivityCx::for_test().with_state(office);
        let order = Order {
            item: "a desk".into(),
            price: 300,
            within: days(7),
        };
        for _ in 0..2 {
            assert_eq!(place_order::run(&acx, order.clone()).unwrap(), "test~1");
            tell::run(&acx, Person::Boss, "may we?".into()).unwrap();
        }
        for (kind, text) in [("letters", "may we?\n"), ("orders", "a desk for 300\n")] {
            let files: Vec<_> = fs::read_dir(folder.path().join(kind)).unwrap().collect();
            assert_eq!(files.len(), 1, "{kind}");
            let path = files[0].as_ref().unwrap().path();
            assert_eq!(fs::read_to_string(path).unwrap(), text);
        }
        assert_eq!(letters.try_recv().unwrap().to, Person::Boss);
    }
}
