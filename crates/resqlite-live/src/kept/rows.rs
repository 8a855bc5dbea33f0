//! The rows of one result.

use std::{cmp::Ordering, error::Error, fmt, ops::Range};

use hashbrown::HashMap;

use crate::{
    kept::{
        index::Index,
        order::Order,
        plan::{Dropped, Plan},
        row::{KeptRow, Place, SourceKey},
        sequence::Sequence,
        store::Store,
    },
    patch::Segment,
};

/// The rows of a live query's result in order, each row with the base rows that it came from.
///
/// A full run of the query adds all rows. When base rows have changed, the query is asked for the rows that contain them now, and
/// [`plan`](Self::plan) returns the resulting change.
///
/// ```
/// use resqlite_live::{KeptRow, KeptRows, Order, Segment, SourceKey};
/// // SELECT name FROM users ORDER BY id; a row's fingerprint stands for its values.
/// let user = |id, fingerprint| KeptRow {
///     sort: [].into(),
///     sources: [SourceKey::Rowid(id)].into_iter().collect(),
///     fingerprint,
/// };
/// let mut rows = KeptRows::new(Order::new([].into(), false));
/// for id in 1..=1_000 {
///     rows.append(user(id, id as u64))?;
/// }
/// // User 3 has a new name, and user 7 is gone.
/// let changed = [(0, SourceKey::Rowid(3)), (0, SourceKey::Rowid(7))];
/// let plan = rows.plan(&changed, vec![user(3, 5_000)])?;
/// let keep = |start, count| Segment::Keep { start, count };
/// assert_eq!(plan.segments(), [keep(0, 2), Segment::New { count: 1 }, keep(3, 3), keep(7, 993)]);
/// rows.apply(plan);
/// assert_eq!(rows.len(), 999);
/// # Ok::<(), resqlite_live::OutOfOrder>(())
/// ```
#[derive(Debug)]
pub struct KeptRows {
    order: Order,
    store: Store,
    index: Index,
    sequence: Sequence,
    /// The number of changes so far.
    pub(super) version: u64,
}

/// Two rows of a result are not in the expected [`Order`], or come from the same base rows. A query with such rows must run as a
/// whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfOrder;

impl fmt::Display for OutOfOrder {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("the rows of a result are not in the expected order")
    }
}

impl Error for OutOfOrder {}

impl KeptRows {
    /// Returns an empty result.
    pub fn new(order: Order) -> Self {
        Self {
            store: Store::new(order.terms()),
            order,
            index: Index::default(),
            sequence: Sequence::new(),
            version: 0,
        }
    }

    /// Adds the next row of a full run.
    ///
    /// # Errors
    /// The row does not sort after the last row, or comes from the same base rows. Then SQLite orders the rows in another way
    /// than this type does, and the query must not be maintained.
    ///
    /// # Panics
    /// The row does not have one sort value for each term, or does not have as many sources as the other rows.
    pub fn append(&mut self, row: KeptRow) -> Result<(), OutOfOrder> {
        if !self.ends_before(&row) {
            return Err(OutOfOrder);
        }
        let handle = self.insert(row);
        self.sequence.push(handle);
        self.version += 1;
        Ok(())
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.sequence.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the approximate number of bytes on the heap, in constant time. The memory of rows that left is not given back, but
    /// used again.
    pub fn weight(&self) -> usize {
        self.store.weight() + self.index.weight() + self.sequence.weight()
    }

    #[cfg(test)]
    pub(super) fn weight_of_values(&self) -> usize {
        self.store.weight_of_values()
    }

    /// Returns the fingerprints of all rows, in order.
    pub fn fingerprints(&self) -> Vec<u64> {
        self.fingerprints_at(0..self.len() as u32).collect()
    }

    /// The fingerprints of the rows at these positions.
    pub(super) fn fingerprints_at(&self, positions: Range<u32>) -> impl Iterator<Item = u64> {
        self.handles_at(positions)
            .map(|handle| self.store.fingerprint(handle))
    }

    /// The rows at these positions.
    pub(super) fn rows_at(&self, positions: Range<u32>) -> impl Iterator<Item = KeptRow> {
        self.handles_at(positions).map(|handle| self.store.row(handle))
    }

    fn handles_at(&self, positions: Range<u32>) -> impl Iterator<Item = u32> {
        let handles = self.sequence.iter_from(positions.start as usize);
        handles.take(positions.len())
    }

    /// Returns whether a row sorts after the last row.
    pub(super) fn ends_before(&self, row: &KeptRow) -> bool {
        let last = self.sequence.last();
        last.is_none_or(|last| self.order.compare(self.store.place(last), row.place()).is_lt())
    }

    /// Returns the base rows of `source` in the rows that contain the base row `key` of the source `of`. A base row may be
    /// returned several times. After an outer join has gained or lost a match, these are the rows on its other side that must be
    /// asked for again.
    pub fn partners<'a>(
        &'a self,
        of: usize,
        key: &SourceKey,
        source: usize,
    ) -> impl Iterator<Item = &'a SourceKey> + use<'a> {
        let rows = self.index.rows(of, key, &self.store);
        rows.map(move |row| self.store.source(row, source))
            .filter(|partner| **partner != SourceKey::Absent)
    }

    /// Returns the change of the result if the base rows `changed` (the number of the source, and the key) changed, and `now` has
    /// all rows of the new result that contain any of these base rows, in any order.
    ///
    /// # Errors
    /// A row of `now` comes from the same base rows as another row of `now`, or as a row that contains no changed base row.
    pub fn plan(&self, changed: &[(usize, SourceKey)], mut now: Vec<KeptRow>) -> Result<Plan, OutOfOrder> {
        let dropped = self.dropped(changed);
        let stood: HashMap<&[SourceKey], u32> =
            dropped.iter().map(|row| (row.sources, row.position)).collect();
        now.sort_unstable_by(|left, right| self.order.compare(left.place(), right.place()));
        let mut placed: Vec<(KeptRow, u32)> = Vec::with_capacity(now.len());
        for row in now {
            if let Some((last, _)) = placed.last()
                && self.order.compare(last.place(), row.place()).is_eq()
            {
                return Err(OutOfOrder);
            }
            let stays = |position| {
                dropped
                    .binary_search_by_key(&position, |row| row.position)
                    .is_err()
            };
            let found = match stood.get(&*row.sources) {
                Some(&position) => self.search_near(position, row.place()),
                None => self.search(row.place()),
            };
            let before = match found {
                Ok(position) if stays(position) => return Err(OutOfOrder),
                Ok(position) | Err(position) => position,
            };
            placed.push((row, before));
        }
        let reads_the_same = |segments: &[Segment]| self.reads_the_same(segments, 0);
        let len = self.len() as u32;
        Ok(Plan::new(self.version, len, &dropped, placed, reads_the_same))
    }

    /// Makes the change.
    ///
    /// # Panics
    /// The rows have changed since the plan was made, or the plan has a row that [`append`](Self::append) panics on.
    pub fn apply(&mut self, plan: Plan) {
        assert_eq!(plan.version, self.version, "the plan is for these rows");
        for &position in plan.dropped.iter().rev() {
            self.remove(position as usize);
        }
        let mut dropped = plan.dropped.iter().peekable();
        let mut gone = 0;
        for (inserted, placed) in plan.placed.into_iter().enumerate() {
            while dropped.next_if(|position| **position < placed.before).is_some() {
                gone += 1;
            }
            let handle = self.insert(placed.row);
            self.sequence
                .insert(placed.before as usize - gone + inserted, handle);
        }
        self.version += 1;
    }

    /// Drops all rows after the first `len` rows.
    pub(super) fn truncate(&mut self, len: usize) {
        for position in (len..self.len()).rev() {
            self.remove(position);
        }
        self.version += 1;
    }

    fn remove(&mut self, position: usize) {
        let handle = self.sequence.remove(position);
        self.index.remove(handle, &self.store);
        self.store.remove(handle);
    }

    fn insert(&mut self, row: KeptRow) -> u32 {
        let handle = self.store.insert(row);
        self.index.insert(handle, &self.store);
        handle
    }

    /// Returns the rows that contain a changed base row, by position.
    fn dropped(&self, changed: &[(usize, SourceKey)]) -> Vec<Dropped<'_>> {
        let containing = |(source, key): &(usize, SourceKey)| self.index.rows(*source, key, &self.store);
        let mut dropped: Vec<_> = (changed.iter().flat_map(containing))
            .map(|handle| Dropped {
                position: self.position(handle),
                sources: self.store.sources(handle),
                fingerprint: self.store.fingerprint(handle),
            })
            .collect();
        dropped.sort_unstable_by_key(|row| row.position);
        dropped.dedup_by_key(|row| row.position);
        dropped
    }

    /// Returns whether rows that are kept in this order, from a position on, have the fingerprints of the rows whose places they
    /// take. Walks over moved rows until a row differs, which is usually the first one.
    pub(super) fn reads_the_same(&self, segments: &[Segment], first: u32) -> bool {
        let mut place = first;
        segments.iter().all(|segment| {
            let Segment::Keep { start, count } = *segment else {
                return false;
            };
            let fingerprints = |from: u32| self.fingerprints_at(from..from + count);
            let same = place == start || fingerprints(start).eq(fingerprints(place));
            place += count;
            same
        })
    }

    fn position(&self, handle: u32) -> u32 {
        self.sequence.position(handle) as u32
    }

    /// Finds the same as [`search`](Self::search). Rows mostly stay at or near their old positions. Then few other rows are
    /// looked at, each of which would have to be fetched from memory.
    fn search_near(&self, position: u32, wanted: Place) -> Result<u32, u32> {
        let compare = |at: Option<usize>| {
            let handle = at.and_then(|at| self.sequence.get(at));
            handle.map(|handle| self.order.compare(self.store.place(handle), wanted))
        };
        let at = position as usize;
        match compare(Some(at)) {
            Some(Ordering::Equal) => Ok(position),
            Some(Ordering::Less) if compare(Some(at + 1)).is_none_or(Ordering::is_gt) => Err(position + 1),
            Some(Ordering::Greater) if compare(at.checked_sub(1)).is_none_or(Ordering::is_lt) => {
                Err(position)
            }
            _ => self.search(wanted),
        }
    }

    /// Returns the position of the row with the place `wanted`, or, as an error, the position that such a row would have.
    fn search(&self, wanted: Place) -> Result<u32, u32> {
        let compare = |handle| self.order.compare(self.store.place(handle), wanted);
        let found = self.sequence.search(compare);
        found.map(|at| at as u32).map_err(|at| at as u32)
    }
}
