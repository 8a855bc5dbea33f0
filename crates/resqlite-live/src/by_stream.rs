//! What is kept for each stream.

use crate::StreamId;

/// Entries by stream. The number of a stream is where its entry is: so one of very many is found by one look at
/// memory, but it takes as much memory as the greatest number.
///
/// ```
/// use resqlite_live::{ByStream, StreamId};
/// let mut names = ByStream::default();
/// names.insert(StreamId(3), "three");
/// assert_eq!(names.get(StreamId(3)), Some(&"three"));
/// assert_eq!(names.remove(StreamId(3)), Some("three"));
/// assert!(names.is_empty());
/// ```
#[derive(Debug)]
pub struct ByStream<T> {
    entries: Vec<Option<T>>,
    len: usize,
}

impl<T> Default for ByStream<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            len: 0,
        }
    }
}

impl<T> ByStream<T> {
    /// How many streams have an entry.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no stream has one.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry of a stream.
    pub fn get(&self, id: StreamId) -> Option<&T> {
        self.entries.get(id.0 as usize)?.as_ref()
    }

    /// The entry of a stream.
    pub fn get_mut(&mut self, id: StreamId) -> Option<&mut T> {
        self.entries.get_mut(id.0 as usize)?.as_mut()
    }

    /// Sets the entry of a stream. Gives the one before.
    pub fn insert(&mut self, id: StreamId, entry: T) -> Option<T> {
        let at = id.0 as usize;
        if at >= self.entries.len() {
            self.entries.resize_with(at + 1, || None);
        }
        let before = self.entries[at].replace(entry);
        self.len += usize::from(before.is_none());
        before
    }

    /// Takes the entry of a stream out. The last one leaves no memory in use.
    pub fn remove(&mut self, id: StreamId) -> Option<T> {
        let entry = self.entries.get_mut(id.0 as usize)?.take()?;
        self.len -= 1;
        if self.len == 0 {
            self.entries = Vec::new();
        }
        Some(entry)
    }

    /// The streams that have an entry, by number.
    pub fn ids(&self) -> impl Iterator<Item = StreamId> {
        let ids = (0..).map(StreamId).zip(&self.entries);
        ids.filter_map(|(id, entry)| entry.as_ref().map(|_| id))
    }

    /// All entries, by the number of their streams.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (StreamId, &mut T)> {
        let all = (0..).map(StreamId).zip(&mut self.entries);
        all.filter_map(|(id, entry)| entry.as_mut().map(|entry| (id, entry)))
    }
}

#[cfg(test)]
mod tests {
    use super::{ByStream, StreamId};

    fn of(ids: &[u32]) -> ByStream<u32> {
        let mut all = ByStream::default();
        for &id in ids {
            all.insert(StreamId(id), id);
        }
        all
    }

    #[test]
    fn a_stream_has_one_entry() {
        let mut all = of(&[2]);
        assert_eq!(all.insert(StreamId(2), 7), Some(2));
        assert_eq!((all.len(), all.get(StreamId(2))), (1, Some(&7)));
    }

    #[test]
    fn streams_without_an_entry_are_passed_over() {
        let mut all = of(&[5, 1, 3]);
        all.remove(StreamId(3));
        assert_eq!(all.remove(StreamId(3)), None);
        assert_eq!(all.get(StreamId(3)), None);
        assert_eq!(all.get_mut(StreamId(1_000_000)), None);
        assert_eq!(all.ids().collect::<Vec<_>>(), [StreamId(1), StreamId(5)]);
        let entries: Vec<_> = all.iter_mut().map(|(_, entry)| *entry).collect();
        assert_eq!(entries, [1, 5]);
    }

    #[test]
    fn without_entries_no_memory_is_held() {
        let mut all = of(&[7, 100]);
        all.remove(StreamId(7));
        all.remove(StreamId(100));
        assert_eq!((all.len(), all.entries.capacity()), (0, 0));
    }
}
