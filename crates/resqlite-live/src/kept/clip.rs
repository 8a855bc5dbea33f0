//! Turns the change of all kept rows into the change of the rows that are shown.

use std::ops::Range;

use hashbrown::HashMap;

use crate::{
    kept::{KeptRow, KeptRows, Plan, Window, plan::Piece},
    patch::Segment,
};

/// The change of the rows that a window shows: the patch for its subscribers.
#[derive(Debug)]
pub struct Clip {
    segments: Vec<Segment>,
    new_rows: Vec<KeptRow>,
    is_unchanged: bool,
}

/// Adjacent rows that the window shows now.
enum ShownPiece {
    /// The rows at these positions of the old result, which the window showed before.
    Stays(Range<u32>),
    ComesIntoSight(KeptRow),
}

impl Clip {
    /// Returns the segments that make the rows that are shown now from the rows that were shown before. Each old row is kept at
    /// most once.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the rows of the new segments, in order. Some of these rows may have been in the result before, out of sight.
    pub fn new_rows(&self) -> &[KeptRow] {
        &self.new_rows
    }

    /// Returns whether the shown rows have the same values as before. The plan must be applied all the same.
    pub fn is_unchanged(&self) -> bool {
        self.is_unchanged
    }
}

impl KeptRows {
    /// Returns the part of a plan that a window shows.
    ///
    /// # Panics
    /// The rows have changed since the plan was made.
    pub fn clip(&self, plan: &Plan, window: Window) -> Clip {
        assert_eq!(plan.version, self.version, "the plan is for these rows");
        let before = as_positions(window.shown(self.len()));
        let pieces = self.pieces(plan, window, &before);
        let mut left = self.out_of_sight(&pieces, &before);
        let (mut segments, mut new_rows) = (Vec::new(), Vec::new());
        for piece in pieces {
            let row = match piece {
                ShownPiece::Stays(positions) => {
                    Segment::keep(positions).join(&mut segments);
                    continue;
                }
                ShownPiece::ComesIntoSight(row) => row,
            };
            // Subscribers already have these values if a row with the same values goes out of sight.
            match left.get_mut(&row.fingerprint).and_then(Vec::pop) {
                Some(position) => Segment::keep(position..position + 1).join(&mut segments),
                None => {
                    Segment::New { count: 1 }.join(&mut segments);
                    new_rows.push(row);
                }
            }
        }
        let after = window.shown(plan.rows_after(self.len()));
        let is_unchanged = before.len() == after.len() && self.reads_the_same(&segments, before.start);
        segments
            .iter_mut()
            .for_each(|segment| segment.shift(before.start));
        Clip {
            segments,
            new_rows,
            is_unchanged,
        }
    }

    /// Returns the pieces that the window shows now, in order. `before` has the positions that the window showed before.
    fn pieces(&self, plan: &Plan, window: Window, before: &Range<u32>) -> Vec<ShownPiece> {
        let shown = as_positions(window.shown(plan.rows_after(self.len())));
        let (mut pieces, mut next) = (Vec::new(), 0);
        plan.each_piece(self.len() as u32, |piece| {
            let (first, len) = (next, piece.len());
            next += len;
            // The rows of the piece that are in sight, counted from the first row of the piece.
            let seen = within(&(first..next), &shown);
            let seen = seen.start - first..seen.end - first;
            match piece {
                _ if seen.is_empty() => {}
                Piece::Placed(placed) => pieces.push(match placed.old {
                    Some(at) if before.contains(&at) => ShownPiece::Stays(at..at + 1),
                    _ => ShownPiece::ComesIntoSight(placed.row.clone()),
                }),
                Piece::Stays(old) => {
                    let old = old.start + seen.start..old.start + seen.end;
                    let stay = within(&old, before);
                    let comes = |positions| self.rows_at(positions).map(ShownPiece::ComesIntoSight);
                    pieces.extend(comes(old.start..stay.start));
                    pieces.push(ShownPiece::Stays(stay.clone()));
                    pieces.extend(comes(stay.end..old.end));
                }
            }
        });
        pieces
    }

    /// Returns the positions that the window showed before and shows no longer, by the fingerprints of their rows.
    fn out_of_sight(&self, pieces: &[ShownPiece], before: &Range<u32>) -> HashMap<u64, Vec<u32>> {
        let mut stay: Vec<&Range<u32>> = (pieces.iter())
            .filter_map(|piece| match piece {
                ShownPiece::Stays(positions) if !positions.is_empty() => Some(positions),
                _ => None,
            })
            .collect();
        stay.sort_unstable_by_key(|positions| positions.start);
        let mut left: HashMap<u64, Vec<u32>> = HashMap::new();
        let end = before.end..before.end;
        let mut next = before.start;
        for positions in stay.into_iter().chain([&end]) {
            let gone = next..positions.start;
            for (position, fingerprint) in gone.clone().zip(self.fingerprints_at(gone)) {
                left.entry(fingerprint).or_default().push(position);
            }
            next = positions.end;
        }
        left
    }
}

impl Piece<'_> {
    fn len(&self) -> u32 {
        match self {
            Self::Stays(positions) => positions.end - positions.start,
            Self::Placed(_) => 1,
        }
    }
}

impl Segment {
    /// Makes the positions of old rows relative to the position `first`.
    fn shift(&mut self, first: u32) {
        if let Self::Keep { start, .. } = self {
            *start -= first;
        }
    }
}

fn as_positions(range: Range<usize>) -> Range<u32> {
    range.start as u32..range.end as u32
}

/// Returns the part of `range` that lies in `limits`. If no part does, the result is empty, at the start or the end of `range`.
fn within(range: &Range<u32>, limits: &Range<u32>) -> Range<u32> {
    let clamp = |at: u32| at.clamp(range.start, range.end);
    clamp(limits.start)..clamp(limits.end)
}
