//! Sets of columns.

use std::iter;

const WORD_BITS: usize = u64::BITS as usize;
const INLINE_WORDS: usize = 2;

/// A set of column indexes of one table. Holds the first 128 columns without an allocation.
///
/// ```
/// use resqlite_live::ColumnSet;
/// let set: ColumnSet = [3, 1999].into_iter().collect();
/// assert!(set.contains(3) && !set.contains(4));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ColumnSet(Words);

/// The words of a set. Nothing is ever removed from a set, and a set moves to the heap only for a column that needs the heap. So
/// equal sets have equal words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Words {
    Inline([u64; INLINE_WORDS]),
    /// More than `INLINE_WORDS` words, of which the last is not zero.
    Heap(Vec<u64>),
}

impl Default for Words {
    fn default() -> Self {
        Words::Inline([0; INLINE_WORDS])
    }
}

impl ColumnSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column.
    pub fn insert(&mut self, column: u16) {
        let (word, bit) = place(column);
        self.words_mut(word + 1)[word] |= bit;
    }

    /// Returns whether the column is in the set.
    pub fn contains(&self, column: u16) -> bool {
        let (word, bit) = place(column);
        self.words().get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Returns whether the set has no column.
    pub fn is_empty(&self) -> bool {
        self.words().iter().all(|&bits| bits == 0)
    }

    /// Returns the columns in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u16> {
        self.words().iter().enumerate().flat_map(|(word, &bits)| {
            let left = |bits: u64| Some(bits).filter(|&bits| bits != 0);
            iter::successors(left(bits), move |&bits| left(bits & (bits - 1)))
                .map(move |bits| (word * WORD_BITS + bits.trailing_zeros() as usize) as u16)
        })
    }

    /// Returns whether the sets have a column in common.
    pub fn intersects(&self, other: &ColumnSet) -> bool {
        self.words()
            .iter()
            .zip(other.words())
            .any(|(left, right)| left & right != 0)
    }

    /// Returns whether the other set has all columns of this one.
    pub fn is_subset_of(&self, other: &ColumnSet) -> bool {
        let others = other.words();
        self.words()
            .iter()
            .enumerate()
            .all(|(word, bits)| bits & !others.get(word).unwrap_or(&0) == 0)
    }

    /// Adds the columns of another set.
    pub fn union_with(&mut self, other: &ColumnSet) {
        let more = other.words();
        for (bits, added) in self.words_mut(more.len()).iter_mut().zip(more) {
            *bits |= added;
        }
    }

    /// Returns the number of bytes that the set holds outside itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        match &self.0 {
            Words::Inline(_) => 0,
            Words::Heap(words) => size_of_val(words.as_slice()),
        }
    }

    fn words(&self) -> &[u64] {
        match &self.0 {
            Words::Inline(words) => words,
            Words::Heap(words) => words,
        }
    }

    /// Returns at least `count` words. The caller asks for more words than there are only if it will set a bit in the last word.
    fn words_mut(&mut self, count: usize) -> &mut [u64] {
        if let Words::Inline(words) = &self.0
            && count > INLINE_WORDS
        {
            self.0 = Words::Heap(words.to_vec());
        }
        match &mut self.0 {
            Words::Inline(words) => words,
            Words::Heap(words) => {
                words.resize(words.len().max(count), 0);
                words
            }
        }
    }
}

fn place(column: u16) -> (usize, u64) {
    (
        usize::from(column) / WORD_BITS,
        1 << (usize::from(column) % WORD_BITS),
    )
}

impl Extend<u16> for ColumnSet {
    fn extend<I: IntoIterator<Item = u16>>(&mut self, columns: I) {
        columns.into_iter().for_each(|column| self.insert(column));
    }
}

impl FromIterator<u16> for ColumnSet {
    fn from_iter<I: IntoIterator<Item = u16>>(columns: I) -> Self {
        let mut set = Self::new();
        set.extend(columns);
        set
    }
}

/// The columns of a table that changed, or that a query reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Columns {
    /// At most these columns.
    Only(ColumnSet),
    /// Any column.
    Any,
}

impl Columns {
    /// No column.
    pub(crate) fn none() -> Self {
        Columns::Only(ColumnSet::new())
    }

    /// Adds the columns of `other`.
    pub(crate) fn union_with(&mut self, other: &Columns) {
        match (self, other) {
            (Columns::Only(known), Columns::Only(more)) => known.union_with(more),
            (known, Columns::Any) => *known = Columns::Any,
            (Columns::Any, _) => {}
        }
    }

    /// Returns the number of bytes held outside the value itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Columns::Only(set) => set.heap_bytes(),
            Columns::Any => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::{collection::vec, prelude::*};

    use super::{ColumnSet, Columns};
    use dice::cases;

    /// Draws columns on both sides of the inline border, up to SQLite's limit, and the largest index that the type allows.
    fn column() -> impl Strategy<Value = u16> {
        prop_oneof![4 => 0..130_u16, 2 => 0..2_000_u16, 1 => Just(u16::MAX)]
    }

    #[test]
    fn the_first_128_columns_need_no_heap() {
        let mut set: ColumnSet = (0..128).collect();
        assert_eq!(set.heap_bytes(), 0);
        set.insert(128);
        assert!(set.heap_bytes() > 0);
        assert!((0..=128).all(|column| set.contains(column)));
    }

    #[test]
    fn a_column_beyond_the_words_of_the_set_is_not_in_it() {
        assert!(!ColumnSet::new().contains(u16::MAX));
        assert!(!ColumnSet::from_iter([200]).contains(u16::MAX));
    }

    #[test]
    fn any_column_absorbs_the_known_ones() {
        let mut columns = Columns::Only([1].into_iter().collect());
        columns.union_with(&Columns::Any);
        assert_eq!(columns, Columns::Any);
        columns.union_with(&Columns::Only([2].into_iter().collect()));
        assert_eq!(columns, Columns::Any);
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn a_column_set_is_a_set(first in vec(column(), 0..20), second in vec(column(), 0..20)) {
            let mut set: ColumnSet = first.iter().copied().collect();
            let mut model: BTreeSet<u16> = first.into_iter().collect();
            prop_assert_eq!(set.is_empty(), model.is_empty());
            prop_assert!(set.iter().eq(model.iter().copied()));

            set.union_with(&second.iter().copied().collect());
            model.extend(second);
            prop_assert!(set.iter().eq(model.iter().copied()));
            prop_assert!(model.iter().all(|&column| set.contains(column)));
        }

        #[test]
        fn sets_intersect_and_include_as_sets_do(first in vec(column(), 0..4), second in vec(column(), 0..40)) {
            let models: [BTreeSet<u16>; 2] = [first.into_iter().collect(), second.into_iter().collect()];
            let sets: [ColumnSet; 2] = [models[0].iter().copied().collect(), models[1].iter().copied().collect()];
            prop_assert_eq!(sets[0].intersects(&sets[1]), !models[0].is_disjoint(&models[1]));
            prop_assert_eq!(sets[1].intersects(&sets[0]), !models[0].is_disjoint(&models[1]));
            prop_assert_eq!(sets[0].is_subset_of(&sets[1]), models[0].is_subset(&models[1]));

            let mut both = sets[0].clone();
            both.union_with(&sets[1]);
            prop_assert!(sets[0].is_subset_of(&both) && sets[1].is_subset_of(&both));
        }

        #[test]
        fn sets_of_the_same_columns_are_equal_however_they_were_made(
            columns in vec(column(), 0..20), split in 0..20_usize,
        ) {
            let forward: ColumnSet = columns.iter().copied().collect();
            let (left, right) = columns.split_at(split.min(columns.len()));
            let mut joined: ColumnSet = right.iter().rev().copied().collect();
            joined.union_with(&left.iter().copied().collect());
            prop_assert_eq!(forward, joined);
        }
    }
}
