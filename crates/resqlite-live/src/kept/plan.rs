//! Makes a patch from the rows that a change drops and the rows that it brings.

use std::ops::Range;

use hashbrown::HashMap;

use crate::{
    kept::row::{KeptRow, SourceKey},
    patch::Segment,
};

/// The change of a result: the patch for its subscribers, and the work of [`KeptRows::apply`](crate::KeptRows::apply).
#[derive(Debug)]
pub struct Plan {
    /// The version of the rows that this plan was made for.
    pub(super) version: u64,
    /// The positions of the dropped rows in the old result, ascending.
    pub(super) dropped: Vec<u32>,
    /// The placed rows, in the order of the new result.
    pub(super) placed: Vec<Placed>,
    segments: Vec<Segment>,
    is_unchanged: bool,
}

/// A row that takes a place in the new result.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) row: KeptRow,
    /// The number of old rows before this row, including dropped rows.
    pub(super) before: u32,
    /// The position of the same row in the old result.
    pub(super) old: Option<u32>,
}

/// Adjacent rows of the new result.
pub(super) enum Piece<'a> {
    /// The rows at these positions in the old result, which the change does not concern.
    Stays(Range<u32>),
    Placed(&'a Placed),
}

/// A row that leaves its place in the old result.
pub(super) struct Dropped<'a> {
    pub(super) position: u32,
    pub(super) sources: &'a [SourceKey],
    pub(super) fingerprint: u64,
}

impl<'a> Dropped<'a> {
    fn identity(&self) -> (&'a [SourceKey], u64) {
        (self.sources, self.fingerprint)
    }
}

impl Plan {
    /// Returns the segments that make the new result from the old result. Each old row is kept at most once; the number of
    /// segments depends only on the number of rows that the change concerns.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns whether the new result has the same values as the old result. The plan must be applied all the same: the sort
    /// values of the rows, or the base rows that they came from, may have changed.
    pub fn is_unchanged(&self) -> bool {
        self.is_unchanged
    }

    /// Returns the number of rows of the new result, if the old result has `rows` rows.
    pub(super) fn rows_after(&self, rows: usize) -> usize {
        rows - self.dropped.len() + self.placed.len()
    }

    /// Returns the rows of the new segments, in the order of the result.
    pub fn new_rows(&self) -> impl Iterator<Item = &KeptRow> {
        let new = self.placed.iter().filter(|placed| placed.old.is_none());
        new.map(|placed| &placed.row)
    }

    /// Passes the new result to `take` piece by piece. The old result has `len` rows.
    pub(super) fn each_piece<'a>(&'a self, len: u32, take: impl FnMut(Piece<'a>)) {
        each_piece(len, &self.dropped, &self.placed, take);
    }

    /// Makes a plan. `dropped` is ordered by position. `now` is in the order of the result, and has each row with the number of
    /// old rows before it. `reads_the_same` returns whether moving rows in this way makes no difference to their values.
    pub(super) fn new(
        version: u64,
        len: u32,
        dropped: &[Dropped],
        now: Vec<(KeptRow, u32)>,
        reads_the_same: impl FnOnce(&[Segment]) -> bool,
    ) -> Self {
        let old = old_positions(dropped, &now);
        let placed = now.into_iter().zip(old);
        let placed: Vec<Placed> = placed
            .map(|((row, before), old)| Placed { row, before, old })
            .collect();
        let dropped: Vec<u32> = dropped.iter().map(|dropped| dropped.position).collect();
        let segments = segments(len, &dropped, &placed);
        let same_rows = placed.len() == dropped.len() && placed.iter().all(|placed| placed.old.is_some());
        Self {
            version,
            is_unchanged: same_rows && reads_the_same(&segments),
            dropped,
            placed,
            segments,
        }
    }
}

/// Returns, for each row of `now`, the position of the dropped row that it was: the dropped row from the same base rows if its
/// values are the same, or else any dropped row with the same values that no other row of `now` was.
fn old_positions(dropped: &[Dropped], now: &[(KeptRow, u32)]) -> Vec<Option<u32>> {
    let mut by_identity: HashMap<_, u32> =
        (dropped.iter().map(|row| (row.identity(), row.position))).collect();
    let mut positions: Vec<Option<u32>> = now
        .iter()
        .map(|(row, _)| by_identity.remove(&(&*row.sources, row.fingerprint)))
        .collect();

    let is_left = |row: &&Dropped| by_identity.contains_key(&row.identity());
    let mut by_fingerprint: HashMap<u64, Vec<u32>> = HashMap::new();
    for row in dropped.iter().filter(is_left).rev() {
        by_fingerprint
            .entry(row.fingerprint)
            .or_default()
            .push(row.position);
    }
    for (position, (row, _)) in positions.iter_mut().zip(now) {
        if position.is_none() {
            *position = by_fingerprint.get_mut(&row.fingerprint).and_then(Vec::pop);
        }
    }
    positions
}

fn each_piece<'a>(len: u32, dropped: &[u32], placed: &'a [Placed], mut take: impl FnMut(Piece<'a>)) {
    let mut dropped = dropped.iter().peekable();
    let mut next = 0;
    let mut stay_until = |end: u32, take: &mut dyn FnMut(Piece<'a>)| {
        while let Some(&position) = dropped.next_if(|position| **position < end) {
            take(Piece::Stays(next..position));
            next = position + 1;
        }
        take(Piece::Stays(next..end));
        next = end;
    };
    for placed in placed {
        stay_until(placed.before, &mut take);
        take(Piece::Placed(placed));
    }
    stay_until(len, &mut take);
}

fn segments(len: u32, dropped: &[u32], placed: &[Placed]) -> Vec<Segment> {
    let mut segments = Vec::new();
    each_piece(len, dropped, placed, |piece| {
        let segment = match piece {
            Piece::Stays(positions) => Segment::keep(positions),
            Piece::Placed(Placed { old: Some(at), .. }) => Segment::keep(*at..at + 1),
            Piece::Placed(_) => Segment::New { count: 1 },
        };
        segment.join(&mut segments);
    });
    segments
}
