//! What is found in a file, and what is not.

#![allow(clippy::unwrap_used)]

mod harmless;

use std::fmt::Write;
use std::sync::Arc;

use syn::{Expr, Item, Path, Stmt, parse_quote};

use super::Check;
use crate::errors::Errors;
use crate::names::{FileNames, Names};
use crate::source::Source;

/// Checks each function of a file that is marked with `#[workflow]` or `#[durable]`, and lists what is
/// found: the line, the tokens under which it is, and the first line of the text.
pub(super) fn found(file: &str) -> String {
    let names = Arc::new(Source::read(file).names);
    report(file, Some(&names))
}

/// The same, where the compiler does not tell which file it is.
fn found_in_unknown_file(file: &str) -> String {
    report(file, None)
}

fn report(file: &str, names: Option<&Arc<FileNames>>) -> String {
    let mut report = String::new();
    let file: syn::File = syn::parse_str(file).unwrap();
    visit(&file.items, names, &mut report);
    report
}

fn nested(stmt: &Stmt, names: Option<&Arc<FileNames>>, report: &mut String) {
    match stmt {
        Stmt::Item(item) => visit(std::slice::from_ref(item), names, report),
        Stmt::Expr(Expr::If(branch), _) => {
            for stmt in &branch.then_branch.stmts {
                nested(stmt, names, report);
            }
        }
        _ => {}
    }
}

fn visit(items: &[Item], names: Option<&Arc<FileNames>>, report: &mut String) {
    for item in items {
        match item {
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    visit(items, names, report);
                }
            }
            Item::Fn(function)
                if function
                    .attrs
                    .iter()
                    .any(|attr| attr.path().is_ident("test")) =>
            {
                for stmt in &function.block.stmts {
                    nested(stmt, names, report);
                }
            }
            Item::Fn(function) if !function.attrs.is_empty() => {
                let mut errors = Errors::default();
                let krate: Path = parse_quote!(::perennial);
                let line = function.sig.ident.span().start().line;
                let names = Names::at(names.map(|names| (names.clone(), line)));
                let context = syn::Ident::new("cx", proc_macro2::Span::call_site());
                let mut block = (*function.block).clone();
                Check::new(&krate, Some(&context), names, &mut errors)
                    .function(&function.sig, &mut block);
                for (span, text) in errors.texts() {
                    let (start, source) = (span.start(), span.source_text());
                    writeln!(
                        report,
                        "{}: {}: {}",
                        start.line,
                        source.unwrap_or_default(),
                        text.lines().next().unwrap_or_default()
                    )
                    .unwrap();
                }
            }
            _ => {}
        }
    }
}

#[test]
fn names_are_resolved_through_imports_of_the_file() {
    insta::assert_snapshot!(found(
        "
use std::time::SystemTime as Clock;
use std::{fs, thread as t, collections::HashMap as Map};
use std::{io::{self, stdout as out}, env::*};
use chrono;
use uuid::Uuid as Id;
use std::time;
use time::Instant;
extern crate fastrand as dice;
type Stamp = std::time::SystemTime;
type Index<K, V = Vec<K>> = std::collections::HashMap<K, V>;

mod inner {
    pub use std::process as p;
    pub fn now() {}
}
use inner::p;

#[workflow]
async fn w(cx: &Cx, map: Map<u8, u8>) {
    Clock::now();
    fs::read(\"x\");
    t::sleep(d);
    out();
    io::stdin();
    var(\"HOME\");
    chrono::Utc::now();
    Id::new_v4();
    Instant::now();
    ::std::time::SystemTime::now();
    core::time::Duration::from_secs(1);
    dice::u8(..);
    Stamp::now();
    p::exit(1);
    inner::now();
    for _ in &map {}
    x.unwrap_or_else(Clock::now);
    let f = Id::now_v7;
    <Clock>::now();
    ::std::println!();
    let index: Index<u8> = x;
    for _ in index {}
    {
        use rand::{random as r, rng};
        r::<u8>();
        rng();
    }
    r();
}
"
    ));
}

#[test]
fn names_are_those_of_the_block_and_the_module_around() {
    insta::assert_snapshot!(found(
        "
use std::time::Instant;
fn other() { fn read() {} use mine::Instant; }
mod inner {
    mod deep { pub use std::fs as files; }
    use self::deep::files;
    pub struct SystemTime;
    #[workflow]
    async fn a(cx: &Cx) {
        Instant::now();
        files::read(1);
        SystemTime::now();
        super::Instant::now();
    }
}
#[test]
fn test() {
    fn fs() {}
    use std::env::var as v;
    if true {
        use std::process::id;
        #[workflow]
        async fn b(cx: &Cx) {
            Instant::now();
            v(1);
            id();
            inner::SystemTime::now();
            fs();
        }
    }
    #[workflow]
    async fn c(cx: &Cx) { id(); v(1); }
}
"
    ));
}

#[test]
fn what_is_known_without_its_file() {
    insta::assert_snapshot!(found_in_unknown_file(
        "
#[workflow]
async fn w(cx: &Cx, m: HashMap<u8, u8>) {
    SystemTime::now();
    std::time::SystemTime::now();
    Uuid::new_v4();
    thread::sleep(d);
    fs::read(\"x\");
    for _ in m {}
    println!();
    read(\"x\");
    now();
}
"
    ));
}

#[test]
fn globs_count() {
    insta::assert_snapshot!(found(
        "
use std::time::*;
use std::fs::*;
mod tests {
    use super::*;
    #[workflow]
    async fn w(cx: &Cx) {
        SystemTime::now();
        read(\"x\");
        use std::collections::*;
        let m = HashMap::new();
        for _ in m {}
        fn write() {}
        write();
    }
}
"
    ));
}

#[test]
fn methods_of_what_is_visibly_of_a_type() {
    insta::assert_snapshot!(found(
        "
use std::net::ToSocketAddrs as _;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Instant, UNIX_EPOCH};
use rayon::prelude::*;

#[workflow]
async fn w(cx: &Cx, start: Instant, folder: &Path, state: Arc<Mutex<u8>>, unknown: Other) {
    start.elapsed();
    UNIX_EPOCH.elapsed();
    folder.join(\"a\").exists();
    Path::new(\"a\").is_file();
    let p: PathBuf = \"a\".into();
    p.canonicalize();
    Path::exists(&p);
    state.lock();
    list.par_iter().sum();
    (\"host\", 80).to_socket_addrs();
    unknown.lock();
    unknown.exists();
    let start = 1;
    start.elapsed();
    let [p] = x;
    p.exists();
}
"
    ));
}

#[test]
fn hash_order() {
    insta::assert_snapshot!(found(
        "
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

#[workflow]
async fn w(cx: &Cx, m: HashMap<u8, u8>, s: &HashSet<u8>, v: Vec<u8>, mut list: Vec<u8>) {
    for (k, _) in &m {}
    for k in m.keys() {}
    for k in m.clone() {}
    m.values().map(|v| v + 1).collect::<Vec<_>>();
    m.retain(|_, v| seen.insert(*v));
    m.retain(|_, v| { n += 1; *v > n });
    m.retain(|_, v| cx.random() < *v);
    m.retain(keep);
    HashMap::keys(&m);
    IntoIterator::into_iter(m);
    let first: Vec<_> = Vec::from_iter(m);
    first.len();
    let total: f64 = m.values().sum();
    s.union(&other);
    let made: HashMap<_, _> = v.iter().collect();
    made.drain();
    let made = v.iter().collect::<Result<HashMap<u8, u8>, E>>()?;
    made.into_iter();
    Vec::from_iter(m);
    list.extend(s);
    v.iter().chain(s);
    let (a, b) = (HashMap::from([(1, 2)]), 2);
    a.iter_mut();
    let f = |map: HashMap<u8, u8>| map.into_values().next();
    m.values().sum::<f64>();
    m.keys().any(|k| cx.random() == *k);
    let unsorted: Vec<_> = m.iter().collect();
    v.sort();
}

#[durable]
fn list(m: HashMap<u8, u8>) -> Result<Vec<u8>, Error> {
    Ok(m.into_keys().collect())
}
"
    ));
}

#[test]
fn statics_thread_locals_and_addresses() {
    insta::assert_snapshot!(found(
        "
use std::sync::atomic::{AtomicU64, Ordering};
use crate::metrics::RUNS;
static COUNTER: AtomicU64 = AtomicU64::new(0);
static NAMES: [&str; 2] = [\"a\", \"b\"];
static mut LAST: u8 = 0;
static PATTERN: LazyLock<Regex> = LazyLock::new(make);
static CACHE: LazyLock<Mutex<Vec<u8>>> = LazyLock::new(make);
thread_local! {
    static DEPTH: Cell<u8> = const { Cell::new(0) };
}

#[workflow]
async fn w(cx: &Cx, text: String) {
    COUNTER.fetch_add(1, Ordering::Relaxed);
    COUNTER;
    RUNS.load(Ordering::Relaxed);
    OTHER.fetch_add(1, x);
    NAMES[0];
    unsafe { LAST += 1 };
    PATTERN.is_match(\"x\");
    CACHE.lock();
    DEPTH.with(|d| d.get());
    ELSEWHERE.with(|d| d.get());
    LIMIT.with(1);
    static HERE: AtomicU64 = AtomicU64::new(0);
    HERE.fetch_add(1, Ordering::Relaxed);
    static PLAIN: &str = \"x\";
    static WORDS: LazyLock<Regex> = LazyLock::new(|| Regex::new(\"x\"));
    static PRICES: [Price; 1] = [Price { cents: 1 }];
    static HOME: LazyLock<String> = LazyLock::new(|| std::env::var(\"HOME\"));
    static SEEN: LazyLock<Mutex<Vec<u8>>> = LazyLock::new(make);
    thread_local! { static X: u8 = 1; }
    format!(\"{:p} {}\", a, b);
    format!(\"{text:p}\");
    format!(\"{:?} {{:p}} {x:?}\", a);
    info!(\"{:p}\", a);
    let n = text.as_ptr() as usize;
    let n = &text as *const String as usize;
    let n = 1u8 as usize;
    std::thread::current().id();
    let a = AtomicU64::new(0);
    a.fetch_add(1, Ordering::Relaxed);
}
"
    ));
}

#[test]
fn everywhere_in_a_body() {
    insta::assert_snapshot!(found(
        "
use std::time::SystemTime;
use std::fs;

#[workflow]
async fn w(cx: &Cx) {
    let f = |x| SystemTime::now();
    async { SystemTime::now() };
    match x { _ if SystemTime::now() > y => {} _ => { fs::read(\"a\"); } }
    let Some(x) = y else { std::process::exit(1) };
    if let Some(x) = fs::read(\"a\") {} else if fs::read(\"b\") {}
    while fs::exists(\"a\") {}
    vec![SystemTime::now(), x];
    vec![SystemTime::now(); 3];
    format!(\"{}\", fs::read(\"a\"));
    json!({ \"at\": SystemTime::now(), \"x\": [fs::read(\"a\")] });
    info!(%x, at = ?SystemTime::now(), \"text\");
    my_macro!(println!(\"x\") => fs::read(a) read(b) x.read(c) { let fs = 1; });
    matches!(fs::read(a), Ok(_) if SystemTime::now() > x);
    perennial::join!(tokio::time::sleep(d), b);
    select! { x = tokio::time::sleep(d) => { println!(\"x\") } };
    fn helper() { fs::read(\"a\"); }
    #[activity(pure)]
    async fn act() { fs::read(\"a\"); }
    struct Own;
    impl Own { fn go(&self) { fs::read(\"a\"); } }
    S { a: SystemTime::now() };
    unsafe { fs::read(\"a\") };
    const { 1 };
    return fs::read(\"a\");
}
"
    ));
}

#[test]
fn ones_own_macro_is_searched_as_any_unknown_one() {
    let file = "
macro_rules! join { ($($part:expr),*) => { [$($part),*].concat() } }
mod inner {
    #[workflow]
    async fn w(cx: &Cx) {
        join!(\"a\", std::fs::read(\"b\"));
        macro_rules! select { ($($x:ident),* from $t:ident) => { 1 } }
        select!(a, b from orders);
    }
}
";
    assert!(found(file).starts_with("6: std::fs::read: [D106]"));
    let before = "
#[workflow]
async fn w(cx: &Cx) { join!(std::fs::read(\"b\"), f); }
macro_rules! join { () => {} }
";
    assert!(found(before).starts_with("3: std::fs::read: [D106]"));
}

#[test]
fn what_is_recorded_may_be_another_each_time() {
    insta::assert_snapshot!(found(
        "
#[workflow]
async fn w(cx: &Cx) {
    cx.record(\"host\", || std::env::var(\"HOST\"));
    cx.record(\"now\", std::time::SystemTime::now);
    cx.record(\"go\", || std::thread::spawn(|| {}));
    other.record(\"host\", || std::env::var(\"HOST\"));
}
"
    ));
}

#[test]
fn foreign_crates() {
    insta::assert_snapshot!(found(
        "
use rand::prelude::*;
use chrono::prelude::*;
use futures::executor::block_on;

#[workflow]
async fn w(cx: &Cx) {
    rand::random::<u8>();
    rand::random_range(0..9);
    rand::rng().random::<u8>();
    rand::thread_rng();
    thread_rng();
    StdRng::from_os_rng();
    StdRng::from_entropy();
    StdRng::seed_from_u64(1);
    rand::rngs::OsRng.fill_bytes(&mut b);
    fastrand::shuffle(&mut v);
    fastrand::Rng::with_seed(1);
    getrandom::fill(&mut b);
    uuid::Uuid::now_v7();
    ulid::Ulid::new();
    nanoid::nanoid!();
    Utc::now();
    chrono::offset::Local::now();
    time::OffsetDateTime::now_utc();
    jiff::Zoned::now();
    reqwest::get(\"x\").await;
    reqwest::blocking::Client::new();
    ureq::get(\"x\").call();
    sqlx::PgPool::connect(\"x\").await;
    rayon::join(a, b);
    crossbeam::channel::unbounded();
    parking_lot::Mutex::new(1).lock();
    smol::Timer::after(d).await;
    async_std::task::spawn(x);
    block_on(x);
    futures::channel::oneshot::channel();
    num_cpus::get();
    libc::getpid();
}
"
    ));
}

#[test]
fn what_hides_and_what_does_not() {
    insta::assert_snapshot!(found(
        "
use std::env;
use std::fs;
use std::time::Instant;

#[workflow]
async fn w(cx: &Cx, env: Env) {
    env::var(\"A\");
    let fs = 1;
    fs::read(\"x\");
    { struct Instant; Instant::now(); }
    Instant::now();
    { use mine::Instant; Instant::now(); }
    let now = Instant::now;
    now();
    let f = |spawn: u8| spawn;
    { use tokio::spawn; spawn(x); let spawn = 1; spawn; }
    match x { exit => exit, }
    use std::process::exit;
    exit(1);
}
"
    ));
}
