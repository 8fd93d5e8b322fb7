//! The keys: a byte for the kind of record, then what names it, so that records that are read together
//! stand together and in order. Numbers are big-endian; a 0, which no id can hold, ends an id.
//!
//! | key | record |
//! |---|---|
//! | `r` namespace 0 run | head, with what of the run's tasks, rows and timers fits beside it |
//! | `w` namespace 0 run | the run has something to do |
//! | `u` namespace 0 run 0 generation number | unit |
//! | `e` namespace 0 run 0 generation | last event of a generation that others follow |
//! | `a` namespace 0 run 0 generation commit index | attempt |
//! | `k` `q` `o` namespace 0 run 0 number | task, row of the queue, timer that did not fit into the head's value |
//! | `b` namespace 0 run 0 digest | blocked record, by the SHA-256 of its artifact |
//! | `s` namespace 0 run 0 digest | a send or an update that the run knows, by the SHA-256 of its idempotency key |
//! | `t` namespace 0 run 0 arrival | the same send in the order of arrival: that digest |
//! | `i` namespace 0 run 0 stream 0 number | the unit whose first item of that stream this is |
//! | `v` namespace 0 run 0 view | what a view of the run shows |
//! | `h` namespace 0 run 0 operation | offer |
//! | `j` namespace 0 run 0 operation | the offer is open |
//! | `d` deadline namespace 0 run 0 operation | timer of any run |
//! | `f` 0 finished namespace 0 run | the run has finished |
//! | `f` 1 purged namespace 0 run | of the run the head alone is left |
//! | `x` namespace 0 run | how far the restore of the run is |
//! | `p` digest | program, by the SHA-256 of its artifact |
//! | `c` commit index | chunk of a record of that commit |
//! | `m` name | the store's own |

use perennial::{Namespace, RunId, RunKey, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::store::{DueTimer, FinishedRun, KeyKind, Remains};

pub(super) type Key = Vec<u8>;

pub(super) const RUN: u8 = b'r';
pub(super) const WORK: u8 = b'w';
pub(super) const UNIT: u8 = b'u';
pub(super) const END: u8 = b'e';
pub(super) const ATTEMPT: u8 = b'a';
pub(super) const TASK: u8 = b'k';
pub(super) const ROW: u8 = b'q';
pub(super) const TIMER: u8 = b'o';
pub(super) const BLOCKED: u8 = b'b';
pub(super) const SEND: u8 = b's';
pub(super) const SEND_ORDER: u8 = b't';
pub(super) const ITEM: u8 = b'i';
pub(super) const VIEW: u8 = b'v';
pub(super) const OFFER: u8 = b'h';
pub(super) const OPEN_OFFER: u8 = b'j';
pub(super) const DUE: u8 = b'd';
pub(super) const FINISHED: u8 = b'f';
pub(super) const RESTORING: u8 = b'x';
pub(super) const PROGRAM: u8 = b'p';
pub(super) const CHUNK: u8 = b'c';
/// Of the store's own.
pub(super) const OWN: u8 = b'm';
/// The last number given to an owner.
pub(super) const OWNERS: &[u8] = b"mo";
/// How many runs there are.
pub(super) const RUNS: &[u8] = b"mr";
/// The last commit that sled has taken over from the journal. In sled alone.
pub(super) const APPLIED: &[u8] = b"ma";

fn push_run(key: &mut Key, run: &RunKey) {
    key.extend_from_slice(run.namespace.as_str().as_bytes());
    key.push(0);
    key.extend_from_slice(run.id.as_str().as_bytes());
}

/// The key of a record that a run has one of: [`RUN`], [`WORK`], [`RESTORING`].
pub(super) fn one(kind: u8, run: &RunKey) -> Key {
    let mut key = Vec::with_capacity(64);
    key.push(kind);
    push_run(&mut key, run);
    key
}

/// What the keys of a run's records of a kind begin with.
pub(super) fn all(kind: u8, run: &RunKey) -> Key {
    let mut key = one(kind, run);
    key.push(0);
    key
}

/// The key of a record that a run has several of, by number.
pub(super) fn numbered(kind: u8, run: &RunKey, number: u64) -> Key {
    let mut key = all(kind, run);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

/// The key of a record of a generation, by number.
pub(super) fn of_generation(kind: u8, run: &RunKey, generation: u64, number: u64) -> Key {
    let mut key = numbered(kind, run, generation);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

pub(super) fn attempt(run: &RunKey, generation: u64, commit: u64, index: u32) -> Key {
    let mut key = of_generation(ATTEMPT, run, generation, commit);
    key.extend_from_slice(&index.to_be_bytes());
    key
}

pub(super) fn blocked(run: &RunKey, artifact: &str) -> Key {
    let mut key = all(BLOCKED, run);
    key.extend_from_slice(&Sha256::digest(artifact.as_bytes()));
    key
}

/// The key of a send that a run knows, by the digest of its idempotency key.
pub(super) fn send(run: &RunKey, digest: &[u8]) -> Key {
    let mut key = all(SEND, run);
    key.extend_from_slice(digest);
    key
}

/// The key of what the index has of a unit's items in a stream, by the number of the first. The name has no 0.
pub(super) fn item(run: &RunKey, stream: &str, number: u64) -> Key {
    let mut key = all(ITEM, run);
    key.extend_from_slice(stream.as_bytes());
    key.push(0);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

/// Run, stream and number of a key that [`item`] made.
pub(super) fn item_of(key: &[u8]) -> Option<(RunKey, String, u64)> {
    if key.first() != Some(&ITEM) {
        return None;
    }
    let (run, rest) = run_and_rest(key)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    let name = std::str::from_utf8(&rest[..end]).ok()?.to_owned();
    let number = u64::from_be_bytes(rest[end + 1..].try_into().ok()?);
    Some((run, name, number))
}

/// The key of a view. The name has no 0.
pub(super) fn view(run: &RunKey, name: &str) -> Key {
    let mut key = all(VIEW, run);
    key.extend_from_slice(name.as_bytes());
    key
}

/// Run and name of a key that [`view`] made.
pub(super) fn view_of(key: &[u8]) -> Option<(RunKey, String)> {
    if key.first() != Some(&VIEW) {
        return None;
    }
    let (run, name) = run_and_rest(key)?;
    Some((run, std::str::from_utf8(name).ok()?.to_owned()))
}

/// What stands for an idempotency key, however long it is. That of an update is one of its own, whatever key a message
/// has: no text has the byte that comes first.
pub(super) fn digest_of(kind: KeyKind, key: &str) -> [u8; 32] {
    let sha = match kind {
        KeyKind::Send => Sha256::new(),
        KeyKind::Update => Sha256::new_with_prefix([0xff]),
    };
    sha.chain_update(key.as_bytes()).finalize().into()
}

pub(super) fn program(artifact: &str) -> Key {
    let mut key = vec![PROGRAM];
    key.extend_from_slice(&Sha256::digest(artifact.as_bytes()));
    key
}

pub(super) fn due(run: &RunKey, operation: u64, deadline: Timestamp) -> Key {
    let mut key = Vec::with_capacity(64);
    key.push(DUE);
    key.extend_from_slice(&deadline.as_millis().to_be_bytes());
    push_run(&mut key, run);
    key.push(0);
    key.extend_from_slice(&operation.to_be_bytes());
    key
}

/// What the keys of finished runs begin with that have a time: that of all of them from then on.
pub(super) fn finished_from(remains: Remains, at: Timestamp) -> Key {
    let mut key = Vec::with_capacity(64);
    key.push(FINISHED);
    key.push(match remains {
        Remains::Whole => 0,
        Remains::Head => 1,
    });
    key.extend_from_slice(&at.as_millis().to_be_bytes());
    key
}

pub(super) fn finished(remains: Remains, at: Timestamp, run: &RunKey) -> Key {
    let mut key = finished_from(remains, at);
    push_run(&mut key, run);
    key
}

pub(super) fn chunk(commit: u64, index: u32) -> Key {
    let mut key = vec![CHUNK];
    key.extend_from_slice(&commit.to_be_bytes());
    key.extend_from_slice(&index.to_be_bytes());
    key
}

/// What the keys of a kind begin with of a namespace's runs.
pub(super) fn of_namespace(kind: u8, namespace: &Namespace) -> Key {
    let mut key = vec![kind];
    key.extend_from_slice(namespace.as_str().as_bytes());
    key.push(0);
    key
}

/// What the keys of a namespace's runs begin with whose ids begin with `prefix`.
pub(super) fn runs(namespace: &Namespace, prefix: &str) -> Key {
    let mut key = of_namespace(RUN, namespace);
    key.extend_from_slice(prefix.as_bytes());
    key
}

/// Where the runs of the namespaces after `namespace` begin.
pub(super) fn after_namespace(namespace: &Namespace) -> Key {
    let mut key = runs(namespace, "");
    // In place of the 0 that ends it.
    if let Some(end) = key.last_mut() {
        *end = 1;
    }
    key
}

/// The key right after `key`.
pub(super) fn next(key: &[u8]) -> Key {
    let mut next = key.to_vec();
    next.push(0);
    next
}

fn id_pair(bytes: &[u8]) -> Option<RunKey> {
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let namespace = Namespace::new(std::str::from_utf8(&bytes[..end]).ok()?).ok()?;
    let id = RunId::new(std::str::from_utf8(&bytes[end + 1..]).ok()?).ok()?;
    Some(RunKey::new(namespace, id))
}

/// The run of a key that [`one`] made.
pub(super) fn run_of(key: &[u8]) -> Option<RunKey> {
    id_pair(key.get(1..)?)
}

/// The run of a key of which a run has several, and what follows it.
pub(super) fn run_and_rest(key: &[u8]) -> Option<(RunKey, &[u8])> {
    let bytes = key.get(1..)?;
    let mut zeros = bytes.iter().enumerate().filter(|&(_, &byte)| byte == 0);
    let (_, end) = (zeros.next()?, zeros.next()?.0);
    Some((id_pair(&bytes[..end])?, &bytes[end + 1..]))
}

/// The number at the beginning of `bytes`.
pub(super) fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*bytes.first_chunk()?))
}

/// The number at the end of a key.
pub(super) fn last_number(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*key.last_chunk()?))
}

/// The timer of a key that [`due`] made.
pub(super) fn timer_of(key: &[u8]) -> Option<DueTimer> {
    let deadline = Timestamp::from_millis(number(key.get(1..)?)?);
    let (run, rest) = run_and_rest(key.get(8..)?)?;
    Some(DueTimer {
        deadline,
        run,
        operation: number(rest)?,
    })
}

/// The run of a key that [`finished`] made.
pub(super) fn finished_run_of(key: &[u8]) -> Option<FinishedRun> {
    Some(FinishedRun {
        at: Timestamp::from_millis(number(key.get(2..)?)?),
        run: id_pair(key.get(10..)?)?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn run(namespace: &str, id: &str) -> RunKey {
        RunKey::new(namespace.parse().unwrap(), id.parse().unwrap())
    }

    #[test]
    fn keys_read_back() {
        let run = run("a.b", "order-42");
        assert_eq!(run_of(&one(RUN, &run)), Some(run.clone()));
        // Numbers hold zeros; they come after the two that end the ids.
        let key = of_generation(UNIT, &run, 1, 256);
        let (read, rest) = run_and_rest(&key).unwrap();
        assert_eq!(
            (read, number(rest), last_number(&key)),
            (run.clone(), Some(1), Some(256))
        );
        let key = item(&run, "output", 256);
        assert_eq!(item_of(&key), Some((run.clone(), "output".into(), 256)));
        let key = view(&run, "status");
        assert_eq!(view_of(&key), Some((run.clone(), "status".into())));
        let at = Timestamp::from_millis(256);
        assert_eq!(
            finished_run_of(&finished(Remains::Head, at, &run)),
            Some(FinishedRun {
                at,
                run: run.clone()
            })
        );
        let timer = DueTimer {
            deadline: at,
            run,
            operation: 3,
        };
        assert_eq!(
            timer_of(&due(&timer.run, timer.operation, timer.deadline)),
            Some(timer)
        );
    }

    #[test]
    fn the_order_of_keys_is_that_of_runs_and_timers() {
        let mut runs = Vec::new();
        for namespace in ["a", "a-b", "a.b", "ab", "b"] {
            for id in ["1", "1-1", "1.1", "11", "A", "a"] {
                runs.push(run(namespace, id));
            }
        }
        for one_run in &runs {
            for other in &runs {
                assert_eq!(one(RUN, one_run).cmp(&one(RUN, other)), one_run.cmp(other));
                for (deadline, operation) in [(1, 1), (1, 2), (256, 1)] {
                    let timer = |run: &RunKey, deadline, operation| DueTimer {
                        deadline: Timestamp::from_millis(deadline),
                        run: run.clone(),
                        operation,
                    };
                    let key = |timer: &DueTimer| due(&timer.run, timer.operation, timer.deadline);
                    let (a, b) = (timer(one_run, deadline, operation), timer(other, 1, 256));
                    assert_eq!(key(&a).cmp(&key(&b)), a.cmp(&b));
                    let ended = |timer: &DueTimer| FinishedRun {
                        at: timer.deadline,
                        run: timer.run.clone(),
                    };
                    let key = |run: &FinishedRun| finished(Remains::Whole, run.at, &run.run);
                    let (a, b) = (ended(&a), ended(&b));
                    assert_eq!(key(&a).cmp(&key(&b)), a.cmp(&b));
                }
            }
        }
    }
}
