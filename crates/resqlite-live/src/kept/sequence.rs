//! A long list with quick changes in the middle, whose positions are known.

use std::{cmp::Ordering, iter};

use crate::kept::{prefix_sums::PrefixSums, store::extend};

/// Handles of rows in the order of the result, in chunks. Finding a handle by position takes O(log n). Finding the position of a
/// handle takes O(log n) and a look through its chunk. Inserting or removing a handle moves a part of a chunk, and now and then
/// adds or removes a chunk.
///
/// `CHUNK`: the most handles of a chunk. A full chunk is split. Two neighbours are merged when together they have at most half as
/// many handles.
#[derive(Debug)]
pub(super) struct Sequence<const CHUNK: usize = 1_024> {
    /// The chunks, of which there is at least one. A chunk is empty only if there is no other chunk.
    chunks: Vec<Chunk>,
    lengths: PrefixSums,
    /// The number of handles for which the chunks have memory.
    capacity: usize,
    /// The number of the chunk of each handle, by handle. Without this list, a search would have to look at many rows, each
    /// somewhere else in memory.
    homes: Vec<u32>,
    /// The place of each chunk among the chunks, by the number of the chunk.
    places: Vec<u32>,
    /// The numbers that no chunk has.
    free: Vec<u32>,
}

#[derive(Debug)]
struct Chunk {
    number: u32,
    handles: Vec<u32>,
}

impl<const CHUNK: usize> Sequence<CHUNK> {
    pub(super) fn new() -> Self {
        let mut sequence = Self {
            chunks: Vec::new(),
            lengths: PrefixSums::new([]),
            capacity: 0,
            homes: Vec::new(),
            places: Vec::new(),
            free: Vec::new(),
        };
        sequence.add_chunk(0, Vec::new());
        sequence
    }

    pub(super) fn len(&self) -> usize {
        self.lengths.total()
    }

    pub(super) fn last(&self) -> Option<u32> {
        self.chunks.last().and_then(|chunk| chunk.handles.last()).copied()
    }

    /// Returns the handle at a position.
    pub(super) fn get(&self, position: usize) -> Option<u32> {
        let (index, offset) = self.lengths.find(position);
        self.chunks[index].handles.get(offset).copied()
    }

    /// Returns the handles from a position on.
    pub(super) fn iter_from(&self, position: usize) -> impl Iterator<Item = u32> {
        let (index, offset) = self.lengths.find(position);
        let (first, others) = (&self.chunks[index].handles[offset..], &self.chunks[index + 1..]);
        let others = others.iter().flat_map(|chunk| &chunk.handles);
        first.iter().chain(others).copied()
    }

    /// Returns the position of a handle that is in the list.
    pub(super) fn position(&self, handle: u32) -> usize {
        let index = self.places[self.homes[handle as usize] as usize] as usize;
        let offset = offset_in(&self.chunks[index].handles, handle);
        self.lengths.before(index) + offset.expect("a handle is in its chunk")
    }

    /// Searches as `binary_search_by` of a slice does: `compare` compares a handle with the wanted one.
    pub(super) fn search(&self, compare: impl Fn(u32) -> Ordering) -> Result<usize, usize> {
        let starts_behind = |chunk: &Chunk| compare(chunk.handles[0]).is_gt();
        let index = self.chunks[1..].partition_point(|chunk| !starts_behind(chunk));
        let before = self.lengths.before(index);
        let found = self.chunks[index]
            .handles
            .binary_search_by(|&handle| compare(handle));
        found
            .map(|offset| before + offset)
            .map_err(|offset| before + offset)
    }

    /// Adds a handle after all others. Chunks that are filled in this way stay full.
    pub(super) fn push(&mut self, handle: u32) {
        let mut last = self.chunks.len() - 1;
        if self.chunks[last].handles.len() == CHUNK {
            last += 1;
            self.add_chunk(last, Vec::new());
        }
        self.insert_into(last, self.chunks[last].handles.len(), handle);
    }

    pub(super) fn insert(&mut self, position: usize, handle: u32) {
        let (mut index, mut offset) = self.lengths.find(position);
        if self.chunks[index].handles.len() == CHUNK {
            self.split(index);
            (index, offset) = self.lengths.find(position);
        }
        self.insert_into(index, offset, handle);
    }

    pub(super) fn remove(&mut self, position: usize) -> u32 {
        let (index, offset) = self.lengths.find(position);
        let handle = self.chunks[index].handles.remove(offset);
        self.lengths.decrement(index);
        self.merge(index.saturating_sub(1));
        self.merge(index);
        handle
    }

    /// Returns the approximate number of bytes on the heap.
    pub(super) fn weight(&self) -> usize {
        let numbers = self.capacity + self.homes.capacity() + self.places.capacity() + self.free.capacity();
        self.chunks.capacity() * size_of::<Chunk>() + numbers * size_of::<u32>() + self.lengths.weight()
    }

    fn insert_into(&mut self, index: usize, offset: usize, handle: u32) {
        let Chunk { number, handles } = &mut self.chunks[index];
        let before = handles.capacity();
        handles.insert(offset, handle);
        self.capacity += handles.capacity() - before;
        self.lengths.increment(index);
        let lacking = (handle as usize + 1).saturating_sub(self.homes.len());
        extend(&mut self.homes, iter::repeat_n(0, lacking));
        self.homes[handle as usize] = *number;
    }

    fn split(&mut self, index: usize) {
        let half = self.chunks[index].handles.split_off(CHUNK / 2);
        self.capacity += half.capacity();
        self.add_chunk(index + 1, half);
    }

    /// Merges this chunk and the next if they are small.
    fn merge(&mut self, index: usize) {
        let Some([left, right]) = self.chunks.get_mut(index..index + 2) else {
            return;
        };
        let [left_len, right_len] = [left.handles.len(), right.handles.len()];
        if left_len + right_len > CHUNK / 2 && left_len > 0 && right_len > 0 {
            return;
        }
        for &handle in &right.handles {
            self.homes[handle as usize] = left.number;
        }
        let before = left.handles.capacity() + right.handles.capacity();
        left.handles.append(&mut right.handles);
        self.capacity = self.capacity - before + left.handles.capacity();
        let Chunk { number, .. } = self.chunks.remove(index + 1);
        self.free.push(number);
        self.count_again();
    }

    /// Adds a chunk of handles that were in another chunk, or an empty chunk.
    fn add_chunk(&mut self, index: usize, handles: Vec<u32>) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.places.push(0);
            self.places.len() as u32 - 1
        });
        for &handle in &handles {
            self.homes[handle as usize] = number;
        }
        self.chunks.insert(index, Chunk { number, handles });
        self.count_again();
    }

    fn count_again(&mut self) {
        self.lengths = PrefixSums::new(self.chunks.iter().map(|chunk| chunk.handles.len()));
        for (place, chunk) in (0..).zip(&self.chunks) {
            self.places[chunk.number as usize] = place;
        }
    }
}

/// Returns the offset of a handle. Looks at many handles at a time.
fn offset_in(handles: &[u32], wanted: u32) -> Option<usize> {
    const AT_ONCE: usize = 32;
    let is_wanted = |handle: &u32| *handle == wanted;
    // There is no early end, so that the compiler makes one comparison of vectors.
    let has_it = |some: &[u32]| some.iter().fold(false, |found, handle| found | is_wanted(handle));
    let (number, some) = handles
        .chunks(AT_ONCE)
        .enumerate()
        .find(|(_, some)| has_it(some))?;
    some.iter().position(is_wanted).map(|at| number * AT_ONCE + at)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::Sequence;
    use dice::cases;

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
        // The sequence grows to many chunks, then shrinks to none.
        (vec(step(8, 4), 0..200), vec(step(2, 8), 0..200)).prop_map(|(grow, shrink)| [grow, shrink].concat())
    }

    proptest! {
        #![proptest_config(cases(128))]

        #[test]
        fn it_is_a_list(steps in steps()) {
            let (mut sequence, mut list) = (Sequence::<8>::new(), Vec::new());
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
                prop_assert_eq!(sequence.chunks.len() + sequence.free.len(), sequence.places.len());
                for (position, handle) in list.iter().enumerate() {
                    prop_assert_eq!(sequence.position(*handle), position);
                    prop_assert_eq!(sequence.get(position), Some(*handle));
                }
                prop_assert_eq!(sequence.get(list.len()), None);
                prop_assert_eq!(sequence.capacity, sequence.chunks.iter().map(|chunk| chunk.handles.capacity()).sum::<usize>());
                prop_assert!(sequence.chunks.len() == 1 || sequence.chunks.iter().all(|chunk| !chunk.handles.is_empty()));
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
            let mut sequence = Sequence::<8>::new();
            sorted.iter().for_each(|&handle| sequence.push(handle));
            prop_assert_eq!(sequence.search(|handle| handle.cmp(&wanted)), sorted.binary_search(&wanted));
        }
    }
}
