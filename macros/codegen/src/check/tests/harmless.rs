//! What looks like something denied and is not.

use super::{found, found_in_unknown_file};

/// Nothing is found.
fn harmless(file: &str) {
    assert_eq!(found(file), "");
    assert_eq!(found_in_unknown_file(file), "", "in an unknown file");
}

#[test]
fn what_is_ones_own_is_not_denied() {
    let file = "
use crate::clock::Instant;
use super::Utc;
use mine::thread;
mod rand { pub fn random() -> u8 { 4 } }
struct SystemTime;
fn now() {}
fn read(path: &str) {}
enum Local { A }

#[workflow]
async fn w(cx: &Cx, fs: Files, env: u8) {
    Instant::now();
    Utc::now();
    thread::spawn(|| {});
    rand::random();
    SystemTime::now();
    now();
    read(\"x\");
    Local::now();
    fs.read(\"x\");
    let dbg = |x| x;
    dbg(1);
    struct Uuid;
    Uuid::new_v4();
    use mine::chrono::Utc as C;
    C::now();
    macro_rules! println { () => {} }
    println!();
    let spawn = 1;
    spawn;
}
";
    assert_eq!(found(file), "");
}

#[test]
fn types_are_data() {
    harmless(
        "
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use rand::{SeedableRng, rngs::StdRng};
use uuid::Uuid;

#[workflow]
async fn w(cx: &Cx, a: IpAddr, e: std::io::Error, t: Option<SystemTime>, m: HashMap<String, u8>, p: PathBuf) {
    let s: Result<TcpStream, std::io::Error> = todo();
    let d = Duration::from_secs(1);
    let u = SystemTime::UNIX_EPOCH + d;
    let id = Uuid::parse_str(\"x\");
    let nil = Uuid::nil();
    let rng = StdRng::seed_from_u64(cx.random());
    let q = Path::new(\"a\").join(\"b\");
    let name = p.file_name();
    let one = m.get(\"a\");
    let n = m.len();
    m.contains_key(\"a\");
    m.entry(\"a\").or_insert(1);
    m.insert(\"a\", 1);
    std::net::Ipv4Addr::new(127, 0, 0, 1);
    std::io::Error::other(\"x\");
    std::process::ExitCode::SUCCESS;
    std::thread::Result::Ok(1);
    x.elapsed();
    y.exists();
    matches!(t, Some(t) if t > SystemTime::UNIX_EPOCH);
    std::env::consts::OS;
    u.duration_since(SystemTime::UNIX_EPOCH);
    tokio::time::Duration::ZERO;
}
",
    );
}

#[test]
fn order_that_cannot_show() {
    harmless(
        "
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

#[workflow]
async fn w(cx: &Cx, m: HashMap<u8, u8>, s: &HashSet<u8>, v: Vec<u8>, b: BTreeMap<u8, u8>, stock: HashMap<u8, u64>) {
    for x in &v {}
    for x in &b {}
    b.values().sum();
    m.values().count();
    m.iter().any(|(k, v)| k == v);
    m.values().filter(|v| **v > 1).max();
    m.values().sum::<u64>();
    s.iter().copied().collect::<BTreeSet<_>>();
    s.iter().map(|x| x + 1).collect::<HashSet<_>>();
    let sorted: BTreeMap<_, _> = m.iter().collect();
    for x in &sorted {}
    let mut keys: Vec<_> = m.keys().copied().collect();
    keys.sort();
    for key in keys { m.get(&key); }
    let mut keys = s.iter().collect::<Vec<_>>();
    keys.sort_unstable_by(|a, b| b.cmp(a));
    BTreeMap::from_iter(m.clone());
    b.extend(m);
    m.extend(v);
    let m = vec![1];
    for x in m {}
    s.union(&t).count();
    m.keys().sorted();
    let total: u64 = stock.values().filter(|v| **v > 1).sum();
    let mut keys = Vec::from_iter(stock.keys().copied());
    keys.sort();
    let mut pairs = Vec::from_iter(&stock);
    pairs.sort_unstable();
    let mut pairs = Vec::from_iter(stock);
    pairs.sort();
    let mut open: HashMap<String, Line> = x;
    open.retain(|_, line| line.count > 0 && !line.tags.is_empty());
    open.retain(|name, _| !done.contains(name) && name.as_str() != last);
    HashMap::len(&open);
    if let Some(s) = x { for _ in s {} }
}

#[durable]
fn sorted(m: HashMap<u8, u8>) -> Result<BTreeMap<u8, u8>, Error> {
    let m: HashMap<u8, u8> = m;
    Ok(m.into_iter().collect())
}

#[durable]
fn sum(m: HashMap<u8, u64>) -> Result<u64, Error> {
    Ok(m.values().sum())
}

#[durable]
fn set(m: HashMap<u8, u8>) -> std::collections::HashSet<u8> {
    m.into_keys().filter(|x| *x > 1).collect()
}
",
    );
}

#[test]
fn ordinary_code_is_left_alone() {
    harmless(
        "
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::rc::Rc;
use std::sync::{Arc, Mutex, atomic::{AtomicU64, Ordering}};
use chrono::{DateTime, TimeZone, Utc};
use perennial::prelude::*;
use tracing::{info, warn};

const LIMIT: usize = 3;
static RATES: &[u32] = &[1, 2];
type Stock = HashMap<String, u64>;

#[workflow]
async fn w(cx: &Cx, order: Order, stock: Stock, at: DateTime<Utc>, path: std::path::PathBuf) {
    let now = cx.now();
    let next = Utc.with_ymd_and_hms(2026, 1, 1, 0, 0, 0);
    let id = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_DNS, name);
    let random: u64 = cx.random();
    let spawned = cx.spawn(async move { charge(cx).await });
    info!(%order.id, total = ?order.total, \"charged {}\", order.total);
    warn!(\"slow\");
    log::debug!(\"{:?}\", now);
    tracing::event!(Level::INFO, \"x\");
    let mut text = String::new();
    write!(text, \"{}\", LIMIT).ok();
    io::Cursor::new(b\"x\").read_to_string(&mut text);
    let cell = Rc::new(RefCell::new(1));
    cell.borrow_mut();
    let flag = Cell::new(true);
    flag.get();
    flag.replace(false);
    let counter = AtomicU64::new(0);
    counter.load(Ordering::SeqCst);
    let mut queue = VecDeque::from([1]);
    while let Some(x) = queue.pop_front() {}
    for x in queue.drain(..) {}
    stock.get(&order.id).copied().unwrap_or(0);
    stock.is_empty();
    let (some, rest): (Vec<u64>, HashMap<u8, u8>) = split(order);
    for x in some {}
    let rest = rest.len();
    for x in 0..rest {}
    RATES.iter().sum::<u32>();
    order.items.iter().map(|item| item.price).sum::<u64>();
    order.elapsed();
    order.path.exists();
    order.lock().await;
    let read = |x: u8| x;
    read(1);
    let id = order.id;
    id();
    path.display().to_string();
    path.parent().is_some();
    path.join(\"x\").starts_with(\"y\");
    path.to_str();
    let price = Price { rate: RATES[0], now, ..Default::default() };
    let Order { total, .. } = &order else { return };
    let label = 'outer: loop { break 'outer 1 };
    std::mem::take(&mut text);
    std::iter::repeat_with(|| 1).take(LIMIT);
    std::cmp::max(1, 2);
    std::env::consts::ARCH;
    std::fmt::format(format_args!(\"{}\", 1));
    std::thread::AccessError;
    std::net::SocketAddr::from(([127, 0, 0, 1], 80));
    std::net::Ipv6Addr::LOCALHOST;
    std::time::Duration::try_from_secs_f64(1.0);
    std::process::ExitStatus::default();
    std::io::ErrorKind::NotFound;
    std::io::Result::Ok(());
    std::fs::Permissions::readonly;
    tokio::sync::TryLockError;
    serde_json::json!({ \"now\": now, \"fs::read\": 1, \"x\": [order.total, Utc] });
    assert!(matches!(order.kind, Kind::A | Kind::B if total > &1), \"{now} {:?}\", total);
    vec![order.total; LIMIT];
    my_dsl!(select now from orders where random = 1, spawn = 2);
    my_dsl!(fn read(x) { x });
    my_dsl!(x.exit(1), self.spawn(2), y . now());
}
",
    );
}
