//! How much goes into one answer.

/// From so many bytes on nothing more is put into an answer.
const ROOM: usize = 4 << 20;

/// How large a part of an answer is.
pub(super) fn size(part: &impl serde::Serialize) -> usize {
    // What cannot be written as JSON fails where the answer is written.
    serde_json::to_vec(part).map_or(0, |bytes| bytes.len())
}

/// The first of them, one at least, as far as there is room in an answer.
pub(super) fn within_room<T>(all: Vec<T>, size: impl Fn(&T) -> usize) -> Vec<T> {
    let mut used = 0;
    all.into_iter()
        .take_while(|one| {
            let room = used < ROOM;
            used += size(one);
            room
        })
        .collect()
}
