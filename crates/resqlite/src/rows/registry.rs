//! What is the same for many statements is kept once, whichever thread prepared them, and has a number.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Weak},
};

use crate::core::limits;

/// Values by what they were made from. It keeps no value alive.
pub(super) struct Registry<K, V> {
    known: HashMap<K, Weak<V>>,
    last_id: u32,
}

impl<K, V> Default for Registry<K, V> {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
            last_id: 0,
        }
    }
}

impl<K: Hash + Eq + Clone, V> Registry<K, V> {
    /// Returns the value of `key`; `make` makes it, with a number that no other value has.
    pub(super) fn intern(&mut self, key: K, make: impl FnOnce(u32, K) -> V) -> Arc<V> {
        if let Some(value) = self.known.get(&key).and_then(Weak::upgrade) {
            return value;
        }
        if self.known.len() >= limits::SHAPES_MAX {
            self.known.retain(|_, value| value.strong_count() > 0);
        }
        self.last_id += 1;
        let value = Arc::new(make(self.last_id, key.clone()));
        self.known.insert(key, Arc::downgrade(&value));
        value
    }
}
