//! A map by live query.

use crate::live_query_id::LiveQueryId;

/// Entries by live query. The number of a live query is the position of its entry. So finding an entry takes one memory
/// access, however many there are, and the map takes memory for all numbers up to the greatest.
///
/// ```
/// use resqlite_live::{LiveQueryMap, LiveQueryId};
/// let mut names = LiveQueryMap::default();
/// names.insert(LiveQueryId(3), "three");
/// assert_eq!(names.get(LiveQueryId(3)), Some(&"three"));
/// assert_eq!(names.remove(LiveQueryId(3)), Some("three"));
/// assert!(names.is_empty());
/// ```
#[derive(Debug)]
pub struct LiveQueryMap<T> {
    entries: Vec<Option<T>>,
    len: usize,
}

impl<T> Default for LiveQueryMap<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            len: 0,
        }
    }
}

impl<T> LiveQueryMap<T> {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry of a live query.
    pub fn get(&self, id: LiveQueryId) -> Option<&T> {
        self.entries.get(id.0 as usize)?.as_ref()
    }

    /// The entry of a live query.
    pub fn get_mut(&mut self, id: LiveQueryId) -> Option<&mut T> {
        self.entries.get_mut(id.0 as usize)?.as_mut()
    }

    /// Sets the entry of a live query. Returns the previous entry.
    pub fn insert(&mut self, id: LiveQueryId, entry: T) -> Option<T> {
        let at = id.0 as usize;
        if at >= self.entries.len() {
            self.entries.resize_with(at + 1, || None);
        }
        let before = self.entries[at].replace(entry);
        self.len += usize::from(before.is_none());
        before
    }

    /// Removes the entry of a live query and returns it. A map without entries holds no memory.
    pub fn remove(&mut self, id: LiveQueryId) -> Option<T> {
        let entry = self.entries.get_mut(id.0 as usize)?.take()?;
        self.len -= 1;
        if self.len == 0 {
            self.entries = Vec::new();
        }
        Some(entry)
    }

    /// Returns the live queries that have an entry, in the order of their numbers.
    pub fn ids(&self) -> impl Iterator<Item = LiveQueryId> {
        let ids = (0..).map(LiveQueryId).zip(&self.entries);
        ids.filter_map(|(id, entry)| entry.as_ref().map(|_| id))
    }
}

#[cfg(test)]
mod tests {
    use super::{LiveQueryId, LiveQueryMap};

    fn of(ids: &[u32]) -> LiveQueryMap<u32> {
        let mut all = LiveQueryMap::default();
        for &id in ids {
            all.insert(LiveQueryId(id), id);
        }
        all
    }

    #[test]
    fn a_live_query_has_one_entry() {
        let mut all = of(&[2]);
        assert_eq!(all.insert(LiveQueryId(2), 7), Some(2));
        assert_eq!((all.len(), all.get(LiveQueryId(2))), (1, Some(&7)));
    }

    #[test]
    fn live_queries_without_an_entry_are_left_out() {
        let mut all = of(&[5, 1, 3]);
        all.remove(LiveQueryId(3));
        assert_eq!(all.remove(LiveQueryId(3)), None);
        assert_eq!(all.get(LiveQueryId(3)), None);
        assert_eq!(all.get_mut(LiveQueryId(1_000_000)), None);
        assert_eq!(all.ids().collect::<Vec<_>>(), [LiveQueryId(1), LiveQueryId(5)]);
    }

    #[test]
    fn a_map_without_entries_holds_no_memory() {
        let mut all = of(&[7, 100]);
        all.remove(LiveQueryId(7));
        all.remove(LiveQueryId(100));
        assert_eq!((all.len(), all.entries.capacity()), (0, 0));
    }
}
