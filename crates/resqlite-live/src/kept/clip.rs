//! From the change of all kept rows to the change of those that are shown.

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

/// Rows that the window shows now, which stand together.
enum ShownPiece {
    /// Rows at these positions of the old result, which it showed before.
    Stays(Range<u32>),
    ComesIntoSight(KeptRow),
}

impl Clip {
    /// The segments that make the rows shown now from those shown before. Each old row is kept at most once.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The rows of the segments that are new, in order. Some may have been in the result, out of sight.
    pub fn new_rows(&self) -> &[KeptRow] {
        &self.new_rows
    }

    /// Returns whether the shown rows read as before. The plan must be applied all the same.
    pub fn is_unchanged(&self) -> bool {
        self.is_unchanged
    }
}

impl KeptRows {
    /// The part of a plan that a window shows.
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
            // Subscribers have the same values if a row with them goes out of sight.
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

    /// The pieces that the window shows now, in order. `before`: the positions that it showed.
    fn pieces(&self, plan: &Plan, window: Window, before: &Range<u32>) -> Vec<ShownPiece> {
        let shown = as_positions(window.shown(plan.rows_after(self.len())));
        let (mut pieces, mut next) = (Vec::new(), 0);
        plan.each_piece(self.len() as u32, |piece| {
            let (first, len) = (next, piece.len());
            next += len;
            // The rows of the piece that are in sight, counted from its first.
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

    /// The positions that the window showed and shows no longer, by the fingerprints of their rows.
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
    /// Counts the old rows from a later one on.
    fn shift(&mut self, first: u32) {
        if let Self::Keep { start, .. } = self {
            *start -= first;
        }
    }
}

fn as_positions(range: Range<usize>) -> Range<u32> {
    range.start as u32..range.end as u32
}

/// The part of a range that lies in another, at its start or its end if none does.
fn within(range: &Range<u32>, limits: &Range<u32>) -> Range<u32> {
    let clamp = |at: u32| at.clamp(range.start, range.end);
    clamp(limits.start)..clamp(limits.end)
}
