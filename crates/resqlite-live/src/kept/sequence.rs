//! A long list with quick changes in the middle, whose positions are known.

use std::cmp::Ordering;

use crate::kept::prefix_sums::PrefixSums;

/// The most handles of a chunk. A full one is split; two neighbours become one when they have at most half as many.
const CHUNK: usize = if cfg!(test) { 8 } else { 1_024 };

/// Handles of rows in the order of the result, in chunks. To find one by position takes O(log n); to insert or remove one
/// moves a part of a chunk, and now and then adds or removes a chunk.
#[derive(Debug)]
pub(super) struct Sequence {
    /// At least one. None is empty but an only one.
    chunks: Vec<Vec<u32>>,
    lengths: PrefixSums,
    /// Handles for which the chunks have memory.
    capacity: usize,
}

impl Sequence {
    pub(super) fn new() -> Self {
        Self {
            chunks: vec![Vec::new()],
            lengths: PrefixSums::new([0]),
            capacity: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lengths.total()
    }

    pub(super) fn last(&self) -> Option<u32> {
        self.chunks.last().and_then(|chunk| chunk.last()).copied()
    }

    /// The handles from a position on.
    pub(super) fn iter_from(&self, position: usize) -> impl Iterator<Item = u32> {
        let (index, offset) = self.lengths.find(position);
        let (first, others) = (&self.chunks[index][offset..], &self.chunks[index + 1..]);
        first.iter().chain(others.iter().flatten()).copied()
    }

    /// Like `binary_search_by` of a slice: `compare` tells how a handle compares with what is looked for.
    pub(super) fn search(&self, compare: impl Fn(u32) -> Ordering) -> Result<usize, usize> {
        let starts_behind = |chunk: &Vec<u32>| compare(chunk[0]).is_gt();
        let index = self.chunks[1..].partition_point(|chunk| !starts_behind(chunk));
        let before = self.lengths.before(index);
        let found = self.chunks[index].binary_search_by(|&handle| compare(handle));
        found
            .map(|offset| before + offset)
            .map_err(|offset| before + offset)
    }

    /// Adds a handle behind all others. Chunks that were filled so stay full.
    pub(super) fn push(&mut self, handle: u32) {
        let mut last = self.chunks.len() - 1;
        if self.chunks[last].len() == CHUNK {
            self.chunks.push(Vec::new());
            self.count_again();
            last += 1;
        }
        self.insert_into(last, self.chunks[last].len(), handle);
    }

    pub(super) fn insert(&mut self, position: usize, handle: u32) {
        let (mut index, mut offset) = self.lengths.find(position);
        if self.chunks[index].len() == CHUNK {
            self.split(index);
            (index, offset) = self.lengths.find(position);
        }
        self.insert_into(index, offset, handle);
    }

    pub(super) fn remove(&mut self, position: usize) -> u32 {
        let (index, offset) = self.lengths.find(position);
        let handle = self.chunks[index].remove(offset);
        self.lengths.decrement(index);
        self.merge(index.saturating_sub(1));
        self.merge(index);
        handle
    }

    /// Approximate bytes on the heap.
    pub(super) fn weight(&self) -> usize {
        self.chunks.capacity() * size_of::<Vec<u32>>()
            + self.capacity * size_of::<u32>()
            + self.lengths.weight()
    }

    fn insert_into(&mut self, index: usize, offset: usize, handle: u32) {
        let chunk = &mut self.chunks[index];
        let before = chunk.capacity();
        chunk.insert(offset, handle);
        self.capacity += chunk.capacity() - before;
        self.lengths.increment(index);
    }

    fn split(&mut self, index: usize) {
        let half = self.chunks[index].split_off(CHUNK / 2);
        self.capacity += half.capacity();
        self.chunks.insert(index + 1, half);
        self.count_again();
    }

    /// Makes one chunk of this one and the next if they are small.
    fn merge(&mut self, index: usize) {
        let Some([left, right]) = self.chunks.get_mut(index..index + 2) else {
            return;
        };
        let small = left.len() + right.len() <= CHUNK / 2;
        if small || left.is_empty() || right.is_empty() {
            let before = left.capacity() + right.capacity();
            left.append(right);
            self.capacity = self.capacity - before + left.capacity();
            self.chunks.remove(index + 1);
            self.count_again();
        }
    }

    fn count_again(&mut self) {
        self.lengths = PrefixSums::new(self.chunks.iter().map(Vec::len));
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::Sequence;
    use crate::testing::cases;

    #[derive(Debug, Clone)]
    enum Step {
        Push,
        Insert(usize),
        Remove(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = |insert: u32, remove: u32| {
            prop_oneof![
                2 => Just(Step::Push),
                insert => any::<usize>().prop_map(Step::Insert),
                remove => any::<usize>().prop_map(Step::Remove),
            ]
        };
        // Grows to many chunks, then shrinks to none.
        (vec(step(8, 4), 0..200), vec(step(2, 8), 0..200)).prop_map(|(grow, shrink)| [grow, shrink].concat())
    }

    proptest! {
        #![proptest_config(cases(128))]

        #[test]
        fn it_is_a_list(steps in steps()) {
            let (mut sequence, mut list) = (Sequence::new(), Vec::new());
            for (handle, step) in (0..).zip(steps) {
                match step {
                    Step::Push => {
                        sequence.push(handle);
                        list.push(handle);
                    }
                    Step::Insert(position) => {
                        let position = position % (list.len() + 1);
                        sequence.insert(position, handle);
                        list.insert(position, handle);
                    }
                    Step::Remove(position) if !list.is_empty() => {
                        let position = position % list.len();
                        prop_assert_eq!(sequence.remove(position), list.remove(position));
                    }
                    Step::Remove(_) => {}
                }
                prop_assert_eq!(sequence.iter_from(0).collect::<Vec<_>>(), list.clone());
                prop_assert_eq!(sequence.len(), list.len());
                prop_assert_eq!(sequence.last(), list.last().copied());
                prop_assert_eq!(sequence.capacity, sequence.chunks.iter().map(Vec::capacity).sum::<usize>());
                prop_assert!(sequence.chunks.len() == 1 || sequence.chunks.iter().all(|chunk| !chunk.is_empty()));
            }
            for position in 0..=list.len() {
                prop_assert_eq!(sequence.iter_from(position).collect::<Vec<_>>(), &list[position..]);
            }
        }

        #[test]
        fn it_is_searched_like_a_slice(handles in vec(0..500_u32, 0..100), wanted in 0..500_u32) {
            let mut sorted = handles;
            sorted.sort_unstable();
            sorted.dedup();
            let mut sequence = Sequence::new();
            sorted.iter().for_each(|&handle| sequence.push(handle));
            prop_assert_eq!(sequence.search(|handle| handle.cmp(&wanted)), sorted.binary_search(&wanted));
        }
    }
}
