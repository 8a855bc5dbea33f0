//! How two results of one query differ, row by row.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use crate::fault::planted;

/// Rows of a new result, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Rows that the old result had, too.
    Keep {
        /// Where the first of them was.
        start: u32,
        /// How many.
        count: u32,
    },
    /// Rows that the old result did not have.
    New {
        /// How many.
        count: u32,
    },
}

/// Compares a new result with an old one while it is being read. Rows are known by their fingerprints; each old row
/// is kept at most once, wherever it stands now.
///
/// ```
/// use resqlite_live::{Differ, Run};
/// let mut differ = Differ::new(&[1, 2, 3]);
/// assert!(!differ.push(1));
/// assert!(differ.push(9), "a row that was not there before");
/// assert!(!differ.push(3));
/// let difference = differ.finish().unwrap();
/// let keep = |start| Run::Keep { start, count: 1 };
/// assert_eq!(difference.runs, [keep(0), Run::New { count: 1 }, keep(2)]);
/// ```
pub struct Differ<'a> {
    old: &'a [u64],
    new: Vec<u64>,
    runs: Vec<Run>,
    /// Where the next old row is expected.
    next: usize,
    /// Made when the first row is not where it was.
    index: Option<Index>,
}

/// What makes the new result of the old one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// The fingerprints of the new result.
    pub fingerprints: Vec<u64>,
    /// Where its rows come from.
    pub runs: Vec<Run>,
}

impl Difference {
    /// How many rows the old result did not have.
    pub fn new_rows(&self) -> u64 {
        let new = |run: &Run| match run {
            Run::New { count } => u64::from(*count),
            Run::Keep { .. } => 0,
        };
        self.runs.iter().map(new).sum()
    }
}

impl<'a> Differ<'a> {
    /// Compares with a result that had rows of these fingerprints.
    pub fn new(old: &'a [u64]) -> Self {
        Self {
            old,
            new: Vec::with_capacity(old.len()),
            runs: Vec::new(),
            next: 0,
            index: None,
        }
    }

    /// The next row of the new result; `true` if the old result did not have it.
    pub fn push(&mut self, fingerprint: u64) -> bool {
        self.new.push(fingerprint);
        match self.find(fingerprint) {
            Some(position) => {
                self.next = position + 1;
                self.keep(position as u32);
                false
            }
            None => {
                match self.runs.last_mut() {
                    Some(Run::New { count }) => *count += 1,
                    _ => self.runs.push(Run::New { count: 1 }),
                }
                true
            }
        }
    }

    /// What is different; `None` if nothing is.
    pub fn finish(self) -> Option<Difference> {
        let only_moved =
            planted("differ_unordered") && !self.runs.iter().any(|run| matches!(run, Run::New { .. }));
        let unmoved = (self.index.is_none() || only_moved) && self.new.len() == self.old.len();
        (!unmoved).then_some(Difference {
            fingerprints: self.new,
            runs: self.runs,
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

    fn keep(&mut self, position: u32) {
        match self.runs.last_mut() {
            Some(Run::Keep { start, count }) if *start + *count == position => *count += 1,
            _ => self.runs.push(Run::Keep {
                start: position,
                count: 1,
            }),
        }
    }
}

const NONE: u32 = u32::MAX;

/// Where each fingerprint stands in the old result.
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

    /// The first row of this fingerprint that has not been taken.
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

/// Fingerprints are hashes already.
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

    use super::{Differ, Difference, Run};
    use crate::testing::cases;

    fn keep(start: u32, count: u32) -> Run {
        Run::Keep { start, count }
    }

    fn new(count: u32) -> Run {
        Run::New { count }
    }

    fn difference(old: &[u64], now: &[u64]) -> Option<Difference> {
        let mut differ = Differ::new(old);
        now.iter().for_each(|&row| {
            differ.push(row);
        });
        differ.finish()
    }

    fn runs(old: &[u64], now: &[u64]) -> Vec<Run> {
        difference(old, now).expect("the results differ").runs
    }

    #[test]
    fn equal_results_do_not_differ() {
        assert_eq!(difference(&[], &[]), None);
        assert_eq!(difference(&[1, 2, 2], &[1, 2, 2]), None);
    }

    #[test]
    fn a_row_that_changed_leaves_the_others_in_place() {
        assert_eq!(runs(&[1, 2, 3], &[1, 9, 3]), [keep(0, 1), new(1), keep(2, 1)]);
    }

    #[test]
    fn rows_that_came_or_went_move_no_others() {
        assert_eq!(runs(&[1, 2], &[9, 1, 2]), [new(1), keep(0, 2)]);
        assert_eq!(runs(&[1, 2, 3], &[1, 3]), [keep(0, 1), keep(2, 1)]);
        assert_eq!(runs(&[1, 2, 3], &[1, 2]), [keep(0, 2)]);
        assert_eq!(runs(&[1, 2, 3], &[]), []);
    }

    #[test]
    fn a_row_that_moved_is_kept() {
        assert_eq!(runs(&[1, 2, 3], &[3, 1, 2]), [keep(2, 1), keep(0, 2)]);
    }

    #[test]
    fn equal_rows_are_kept_as_often_as_there_were_some() {
        assert_eq!(runs(&[1, 1], &[1, 1, 1]), [keep(0, 2), new(1)]);
        assert_eq!(runs(&[5, 1, 1], &[1, 1]), [keep(1, 2)]);
    }

    proptest! {
        #![proptest_config(cases(512))]

        /// Few different rows, so that there are equal ones and moves.
        #[test]
        fn the_runs_make_the_new_result_of_the_old_one(
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
            for run in &difference.runs {
                match *run {
                    Run::Keep { start, count } => {
                        kept.extend(start..start + count);
                        made.extend(&old[start as usize..(start + count) as usize]);
                    }
                    Run::New { count } => made.extend(fresh.by_ref().take(count as usize)),
                }
            }
            prop_assert_eq!(made, now.clone());
            prop_assert!(fresh.next().is_none());

            let mut once = kept.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), kept.len(), "an old row was kept twice");

            // Every row that can be kept is: as many of each as both results have.
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
