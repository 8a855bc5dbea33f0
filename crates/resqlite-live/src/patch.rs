//! The difference of two results of one query, row by row.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    ops::Range,
};

/// A stretch of rows of a new result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    /// Rows that the old result has too.
    Keep {
        /// The position of the first row in the old result.
        start: u32,
        /// The number of rows.
        count: u32,
    },
    /// Rows that the old result does not have.
    New {
        /// The number of rows.
        count: u32,
    },
}

impl Segment {
    /// Makes the new result that these segments describe, from the old result and the rows that the old result does not
    /// have.
    ///
    /// ```
    /// use resqlite_live::Segment;
    /// let segments = [Segment::New { count: 1 }, Segment::Keep { start: 1, count: 2 }];
    /// assert_eq!(Segment::apply(&segments, &[1, 2, 3], vec![9]), [9, 2, 3]);
    /// ```
    ///
    /// # Panics
    /// A segment keeps rows that the old result does not have.
    pub fn apply<T: Clone>(segments: &[Self], old: &[T], new: impl IntoIterator<Item = T>) -> Vec<T> {
        let (mut rows, mut new) = (Vec::new(), new.into_iter());
        for segment in segments {
            match *segment {
                Self::Keep { start, count } => {
                    rows.extend_from_slice(&old[start as usize..][..count as usize]);
                }
                Self::New { count } => rows.extend(new.by_ref().take(count as usize)),
            }
        }
        rows
    }

    /// Returns a segment of the rows at these positions in the old result.
    pub(crate) fn keep(positions: Range<u32>) -> Self {
        Self::Keep {
            start: positions.start,
            count: positions.end - positions.start,
        }
    }

    /// Adds this segment at the end of `segments`. If its rows continue the last segment, extends that segment instead.
    pub(crate) fn join(self, segments: &mut Vec<Segment>) {
        match (segments.last_mut(), self) {
            (_, Segment::Keep { count: 0, .. } | Segment::New { count: 0 }) => {}
            (Some(Segment::New { count }), Segment::New { count: more }) => *count += more,
            (
                Some(Segment::Keep { start, count }),
                Segment::Keep {
                    start: next,
                    count: more,
                },
            ) if *start + *count == next => {
                *count += more;
            }
            _ => segments.push(self),
        }
    }
}

/// Compares a new result with an old one while the new one is read. Rows are compared by their fingerprints. Each old
/// row is kept at most once, whatever its new position is.
///
/// ```
/// use resqlite_live::{Differ, Segment};
/// let mut differ = Differ::new(&[1, 2, 3]);
/// assert!(!differ.push(1));
/// assert!(differ.push(9), "a new row");
/// assert!(!differ.push(3));
/// let difference = differ.finish().unwrap();
/// let keep = |start| Segment::Keep { start, count: 1 };
/// assert_eq!(difference.segments, [keep(0), Segment::New { count: 1 }, keep(2)]);
/// ```
pub struct Differ<'a> {
    old: &'a [u64],
    new: Vec<u64>,
    segments: Vec<Segment>,
    /// The old position of the row that comes next if nothing has moved.
    next: usize,
    /// The index of the old result, built at the first row that is not at its old position.
    index: Option<Index>,
}

/// The difference of the new result from the old one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// The fingerprints of the new result.
    pub fingerprints: Vec<u64>,
    /// The rows of the new result, in order.
    pub segments: Vec<Segment>,
}

impl Difference {
    /// The number of rows that the old result does not have.
    pub fn new_rows(&self) -> u64 {
        let new = |segment: &Segment| match segment {
            Segment::New { count } => u64::from(*count),
            Segment::Keep { .. } => 0,
        };
        self.segments.iter().map(new).sum()
    }
}

impl<'a> Differ<'a> {
    /// Makes a differ that compares with an old result whose rows have these fingerprints.
    pub fn new(old: &'a [u64]) -> Self {
        Self {
            old,
            new: Vec::with_capacity(old.len()),
            segments: Vec::new(),
            next: 0,
            index: None,
        }
    }

    /// Adds the next row of the new result. Returns `true` if the old result does not have it.
    pub fn push(&mut self, fingerprint: u64) -> bool {
        self.new.push(fingerprint);
        match self.find(fingerprint) {
            Some(position) => {
                self.next = position + 1;
                let start = position as u32;
                Segment::Keep { start, count: 1 }.join(&mut self.segments);
                false
            }
            None => {
                Segment::New { count: 1 }.join(&mut self.segments);
                true
            }
        }
    }

    /// Returns the difference, or `None` if the results are equal.
    pub fn finish(self) -> Option<Difference> {
        let unmoved = self.index.is_none() && self.new.len() == self.old.len();
        (!unmoved).then_some(Difference {
            fingerprints: self.new,
            segments: self.segments,
        })
    }

    fn find(&mut self, fingerprint: u64) -> Option<usize> {
        let (old, next) = (self.old, self.next);
        let expected = old.get(next) == Some(&fingerprint);
        if let Some(index) = &mut self.index {
            return if expected && !index.taken[next] {
                index.taken[next] = true;
                Some(next)
            } else {
                index.take(fingerprint)
            };
        }
        if expected {
            return Some(next);
        }
        // Everything before `next` has been kept so far.
        self.index.insert(Index::new(old, next)).take(fingerprint)
    }
}

const NONE: u32 = u32::MAX;

/// The positions of each fingerprint in the old result.
struct Index {
    first: HashMap<u64, u32, BuildHasherDefault<Plain>>,
    /// The next position of the same fingerprint.
    further: Vec<u32>,
    taken: Vec<bool>,
}

impl Index {
    fn new(old: &[u64], taken: usize) -> Self {
        let mut first = HashMap::with_capacity_and_hasher(old.len(), BuildHasherDefault::default());
        let mut further = vec![NONE; old.len()];
        for (position, &fingerprint) in old.iter().enumerate().skip(taken).rev() {
            if let Some(later) = first.insert(fingerprint, position as u32) {
                further[position] = later;
            }
        }
        let taken = (0..old.len()).map(|position| position < taken).collect();
        Self {
            first,
            further,
            taken,
        }
    }

    /// Takes the first row with this fingerprint that is not taken yet.
    fn take(&mut self, fingerprint: u64) -> Option<usize> {
        let first = self.first.get_mut(&fingerprint)?;
        let mut position = *first;
        while position != NONE && self.taken[position as usize] {
            position = self.further[position as usize];
        }
        *first = position;
        let position = (position != NONE).then_some(position as usize)?;
        self.taken[position] = true;
        Some(position)
    }
}

/// A hasher that returns fingerprints unchanged, because they are hashes already.
#[derive(Default)]
struct Plain(u64);

impl Hasher for Plain {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only fingerprints are hashed")
    }

    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::{collection::vec, prelude::*};

    use super::{Differ, Difference, Segment};
    use dice::cases;

    fn keep(start: u32, count: u32) -> Segment {
        Segment::Keep { start, count }
    }

    fn new(count: u32) -> Segment {
        Segment::New { count }
    }

    fn difference(old: &[u64], now: &[u64]) -> Option<Difference> {
        let mut differ = Differ::new(old);
        now.iter().for_each(|&row| {
            differ.push(row);
        });
        differ.finish()
    }

    fn segments(old: &[u64], now: &[u64]) -> Vec<Segment> {
        difference(old, now).expect("the results differ").segments
    }

    // G107
    #[test]
    fn equal_results_do_not_differ() {
        assert_eq!(difference(&[], &[]), None);
        assert_eq!(difference(&[1, 2, 2], &[1, 2, 2]), None);
    }

    #[test]
    fn a_changed_row_leaves_the_others_in_place() {
        assert_eq!(segments(&[1, 2, 3], &[1, 9, 3]), [keep(0, 1), new(1), keep(2, 1)]);
    }

    #[test]
    fn inserted_and_deleted_rows_do_not_move_the_others() {
        assert_eq!(segments(&[1, 2], &[9, 1, 2]), [new(1), keep(0, 2)]);
        assert_eq!(segments(&[1, 2, 3], &[1, 3]), [keep(0, 1), keep(2, 1)]);
        assert_eq!(segments(&[1, 2, 3], &[1, 2]), [keep(0, 2)]);
        assert_eq!(segments(&[1, 2, 3], &[]), []);
    }

    #[test]
    fn a_moved_row_is_kept() {
        assert_eq!(segments(&[1, 2, 3], &[3, 1, 2]), [keep(2, 1), keep(0, 2)]);
    }

    #[test]
    fn equal_rows_are_kept_as_often_as_the_old_result_has_them() {
        assert_eq!(segments(&[1, 1], &[1, 1, 1]), [keep(0, 2), new(1)]);
        assert_eq!(segments(&[5, 1, 1], &[1, 1]), [keep(1, 2)]);
    }

    proptest! {
        #![proptest_config(cases(512))]

        /// Few different rows, so that some are equal and some move.
        // G110
        #[test]
        fn the_segments_make_the_new_result_from_the_old_one(
            old in vec(0..12_u64, 0..24), now in vec(0..16_u64, 0..24),
        ) {
            let mut differ = Differ::new(&old);
            let handed_over: Vec<u64> = now.iter().copied().filter(|&row| differ.push(row)).collect();
            let Some(difference) = differ.finish() else {
                prop_assert_eq!(old, now);
                return Ok(());
            };
            prop_assert!(old != now);
            prop_assert_eq!(&difference.fingerprints, &now);
            prop_assert_eq!(difference.new_rows(), handed_over.len() as u64);

            let (mut made, mut fresh, mut kept) = (Vec::<u64>::new(), handed_over.iter(), Vec::new());
            for segment in &difference.segments {
                match *segment {
                    Segment::Keep { start, count } => {
                        kept.extend(start..start + count);
                        made.extend(&old[start as usize..(start + count) as usize]);
                    }
                    Segment::New { count } => made.extend(fresh.by_ref().take(count as usize)),
                }
            }
            prop_assert_eq!(made, now.clone());
            prop_assert!(fresh.next().is_none());

            let mut once = kept.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), kept.len(), "an old row was kept twice");

            // Every row that can be kept is kept: each as often as both results have it.
            let count = |rows: &[u64]| rows.iter().fold(HashMap::new(), |mut counts, &row| {
                *counts.entry(row).or_insert(0_usize) += 1;
                counts
            });
            let (before, after) = (count(&old), count(&now));
            let common: usize = before.iter().map(|(row, n)| (*n).min(after.get(row).copied().unwrap_or(0))).sum();
            prop_assert_eq!(kept.len(), common);
        }
    }
}
