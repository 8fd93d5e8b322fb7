//! Two lists of lines beside each other.

/// One line of both, or of one of them: the indices in the old and in the new list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    Same(usize, usize),
    Removed(usize),
    Added(usize),
}

/// Lists that differ in more than so many pairs of lines are not aligned inside.
const MOST_PAIRS: usize = 4_000_000;

/// The edits from `old` to `new`, in order: as few as possible.
pub(super) fn align<T: PartialEq>(old: &[T], new: &[T]) -> Vec<Edit> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (
        &old_rest[..old_rest.len() - end],
        &new_rest[..new_rest.len() - end],
    );
    let mut edits: Vec<_> = (0..start).map(|at| Edit::Same(at, at)).collect();
    edits.extend(
        middle(old_middle, new_middle)
            .into_iter()
            .map(|edit| match edit {
                Edit::Same(a, b) => Edit::Same(a + start, b + start),
                Edit::Removed(a) => Edit::Removed(a + start),
                Edit::Added(b) => Edit::Added(b + start),
            }),
    );
    edits.extend((0..end).map(|at| Edit::Same(old.len() - end + at, new.len() - end + at)));
    edits
}

fn middle<T: PartialEq>(old: &[T], new: &[T]) -> Vec<Edit> {
    let removed = (0..old.len()).map(Edit::Removed);
    let added = (0..new.len()).map(Edit::Added);
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        return removed.chain(added).collect();
    }
    // The length of what is common to the two rests.
    let width = new.len() + 1;
    let mut common = vec![0u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            common[a * width + b] = if old[a] == new[b] {
                common[(a + 1) * width + b + 1] + 1
            } else {
                common[(a + 1) * width + b].max(common[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut edits = Vec::new();
    while a < old.len() || b < new.len() {
        if a < old.len() && b < new.len() && old[a] == new[b] {
            edits.push(Edit::Same(a, b));
            (a, b) = (a + 1, b + 1);
        } else if b == new.len()
            || a < old.len() && common[(a + 1) * width + b] >= common[a * width + b + 1]
        {
            edits.push(Edit::Removed(a));
            a += 1;
        } else {
            edits.push(Edit::Added(b));
            b += 1;
        }
    }
    edits
}
