//! Whatever a plain function can have stays as it was: docs, visibility, attributes, patterns,
//! `mut`, raw identifiers. RW-33 point 1, RW-41 point 3.

#![deny(warnings, missing_docs, unreachable_pub, missing_debug_implementations, unused_qualifications)]
#![forbid(unsafe_code)]

use perennial::prelude::*;

/// What the charge was for.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Order {
    id: String,
}

/// Declined.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Declined;

/// `mut` on arguments, see [`Order`].
#[activity(pure)]
pub async fn push(_acx: &ActivityCx, mut list: Vec<u32>, mut n: u32) -> Result<Vec<u32>, Failure> {
    n += 1;
    list.push(n);
    Ok(list)
}

/// Patterns, an owned context, an ignored argument.
#[activity(pure, name = "add-up")]
pub(crate) async fn add(acx: ActivityCx, (a, b): (u8, u8), _: String) -> Result<u8, Failure<Declined>> {
    drop(acx);
    Ok(a + b)
}

/// A plain function, for a thread where it may block. Every error is final.
#[activity(idempotent, blocking, attempt = "1m 30s", timeout = "2h", retry(attempts = 3, initial = "200ms", cap = "1m", factor = 2))]
fn blocks(acx: &ActivityCx, cx: u32) -> Result<u32, Declined> {
    if acx.attempt() > 3 { Err(Declined) } else { Ok(cx) }
}

/// A raw identifier, here and among the arguments.
#[activity(pure)]
async fn r#type(_acx: &ActivityCx, r#struct: u32) -> Result<u32, Failure> {
    Ok(r#struct)
}

/// State is found in the body, also in a macro, and declared for what the body calls.
#[activity(pure, state(String))]
async fn states(acx: &ActivityCx) -> Result<String, Failure> {
    let list = acx.state::<Vec<Option<u8>>>();
    Ok(format!("{list:?} {} {}", acx.state::<u32>(), more(acx)))
}

fn more(acx: &ActivityCx) -> &String {
    acx.state()
}

/// Attributes act on the call or on the code, whichever they are about.
#[deprecated(note = "use add")]
#[must_use]
#[allow(unused_variables)]
#[inline]
#[activity(pure)]
pub async fn old(acx: &ActivityCx, unused: u32) -> Result<(), Failure> {
    let also_unused = 1;
    Ok(())
}

/// Eight inputs.
#[activity(pure)]
#[expect(clippy::too_many_arguments, reason = "that is the point")]
pub async fn eight(_acx: &ActivityCx, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8) -> Result<u8, Failure> {
    Ok(a + b + c + d + e + f + g + h)
}

/// A workflow like any other function.
#[workflow(name = "total-up")]
pub async fn total(cx: &Cx, mut total: u64, (a, _b): (u8, u8), _order: Order) -> Result<u64, Error> {
    total += u64::from(a);
    let list = push(cx, vec![], 1).await?;
    let sum = add(cx, (1, 2), String::new()).await.map_err(|_| Error::new("declined"))?;
    let number = r#type(cx, 1).await?;
    blocks(cx, number).await.map_err(|_| Error::new("declined"))?;
    #[allow(deprecated)]
    old(cx, 1).await?;
    let more = eight(cx, 1, 2, 3, 4, 5, 6, 7, 8).await?;
    Ok(total + u64::from(list[0]) + u64::from(sum) + u64::from(more))
}

/// Without inputs, with an owned context.
#[workflow]
async fn r#match(cx: Cx) -> Result<(), Error> {
    #![allow(unused_variables)]
    let unused = states(&cx).await?;
    cx.sleep(seconds(1)).await?;
    Ok(())
}

/// Visible as the function was.
pub mod nested {
    use perennial::prelude::*;

    /// To all.
    #[workflow]
    pub async fn open(_: &Cx) -> Result<(), Error> {
        Ok(())
    }

    #[workflow]
    pub(super) async fn half_open(_cx: &Cx) -> Result<(), Error> {
        closed(_cx).await?;
        Ok(())
    }

    #[activity(pure)]
    async fn closed(_: &ActivityCx) -> Result<(), Failure> {
        Ok(())
    }
}

fn main() {
    // Inside of a function, as in tests.
    #[activity(pure)]
    async fn local(_acx: &ActivityCx) -> Result<(), Failure> {
        Ok(())
    }
    #[workflow]
    async fn in_a_function(cx: &Cx) -> Result<(), Error> {
        nothing(cx).await;
        Ok(local(cx).await?)
    }
    #[durable]
    async fn nothing(_: &Cx) {}
    assert_eq!(in_a_function::GRAPH.callees.len(), 1);
    assert_eq!(in_a_function::GRAPH.callees[0].kind, perennial::CalleeKind::Activity);

    assert_eq!(push::NAME, "push");
    assert_eq!(add::NAME, "add-up");
    assert_eq!(r#type::NAME, "type");
    assert_eq!(total::NAME, "total-up");
    assert_eq!(total::GRAPH.name, "total-up");
    assert_eq!(r#match::NAME, "match");
    assert_eq!(nested::open::NAME, "open");
    assert_eq!(nested::half_open::GRAPH.callees.len(), 1);

    let names: Vec<_> = <states as perennial::Activity>::states().iter().map(|state| state.name()).collect();
    assert_eq!(names, ["alloc::string::String", "alloc::vec::Vec<core::option::Option<u8>>", "u32"]);
    let options = <blocks as perennial::Activity>::OPTIONS;
    assert!(format!("{options:?}").contains("90s"), "{options:?}");
}
