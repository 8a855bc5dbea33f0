//! Entries under small numbers that are used again.

use std::ops::{Index, IndexMut};

/// Entries, each under the number that it got.
#[derive(Debug)]
pub(super) struct Slab<T> {
    entries: Vec<Option<T>>,
    /// The numbers that are free.
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) fn insert(&mut self, entry: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.entries[number as usize] = Some(entry);
            return number;
        }
        let number = u32::try_from(self.entries.len()).expect("fewer entries than a u32 can count");
        self.entries.push(Some(entry));
        number
    }

    /// Takes an entry out. Gives memory back when the last one has gone.
    pub(super) fn remove(&mut self, number: u32) {
        let entry = self.entries[number as usize].take();
        debug_assert!(entry.is_some(), "{number} is free");
        self.free.push(number);
        if self.free.len() == self.entries.len() {
            *self = Self::default();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        self.entries[number as usize].as_ref().expect("not free")
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, number: u32) -> &mut T {
        self.entries[number as usize].as_mut().expect("not free")
    }
}

#[cfg(test)]
mod tests {
    use super::Slab;

    #[test]
    fn a_number_is_used_again_once_it_is_free() {
        let mut slab = Slab::default();
        let numbers = ["a", "b", "c"].map(|entry| slab.insert(entry));
        slab.remove(numbers[1]);
        assert_eq!(slab.insert("d"), numbers[1]);
        assert_eq!(numbers.map(|number| slab[number]), ["a", "d", "c"]);
    }

    #[test]
    fn an_emptied_slab_holds_no_memory() {
        let mut slab = Slab::default();
        let numbers = [1, 2].map(|entry| slab.insert(entry));
        numbers.into_iter().for_each(|number| slab.remove(number));
        assert!(slab.is_empty());
        assert_eq!(slab.entries.capacity(), 0);
    }
}
