//! Generated code names nothing that the user's own names could take the place of. RW-37 point 3.

#![deny(warnings)]
#![allow(dead_code, unused_macros)]

#[derive(Debug)]
pub struct E;

mod hostile {
    #![allow(non_camel_case_types)]

    type Result = u8;
    struct Vec;
    struct String;
    struct Ok;
    struct Err;
    struct Some;
    struct None;
    struct Box;
    struct Option;
    struct Future;
    struct Send;
    struct Cx;
    struct ActivityCx;
    struct Workflow;
    struct Activity;
    struct str_;
    mod std {}
    mod core {}
    mod serde {}
    mod perennial {}
    macro_rules! vec { () => { compile_error!("not this one") } }
    macro_rules! file { () => { compile_error!("not this one") } }
    macro_rules! line { () => { compile_error!("not this one") } }
    macro_rules! column { () => { compile_error!("not this one") } }

    #[::perennial::activity(idempotent, attempt = "1s", retry(cap = "1s"))]
    pub async fn act(acx: &::perennial::ActivityCx, input: u32, acx2: u8) -> ::core::result::Result<u32, ::perennial::Failure> {
        let _ = (acx.state::<u64>(), acx2);
        ::core::result::Result::Ok(input)
    }

    #[::perennial::workflow]
    pub async fn work(cx: &::perennial::Cx, input: u32) -> ::core::result::Result<u32, ::perennial::Error> {
        let later = async move { act(cx, input, 1).await };
        let (a, b) = ::perennial::join!(later, help(cx, input));
        ::core::result::Result::Ok(a? + b?)
    }

    #[::perennial::durable]
    pub async fn help(cx: &::perennial::Cx, __ret: u32) -> ::core::result::Result<u32, ::perennial::Error> {
        ::core::result::Result::Ok(act(cx, __ret, 1).await?)
    }
}

fn main() {
    assert_eq!(hostile::act::NAME, "act");
    assert_eq!(hostile::work::NAME, "work");
}
