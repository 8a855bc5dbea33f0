//! A registry of values that many statements share. Each value is kept once, whichever thread prepared its statement, and has a
//! number.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Weak},
};

use crate::core::limits;

/// Values, by the key from which each was made. The registry keeps no value alive.
pub(super) struct Registry<K, V> {
    known: HashMap<K, Weak<V>>,
    /// The number of known values at which unused values are removed. It is twice the number of values in use at the last removal,
    /// so that each value costs the same, however many are in use.
    sweep_at: usize,
    last_id: u32,
}

impl<K, V> Default for Registry<K, V> {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
            sweep_at: limits::SHAPES_MAX,
            last_id: 0,
        }
    }
}

impl<K: Hash + Eq + Clone, V> Registry<K, V> {
    /// Returns the value of `key`. If there is none, `make` creates it, with a number that no other value has.
    pub(super) fn intern(&mut self, key: K, make: impl FnOnce(u32, K) -> V) -> Arc<V> {
        if let Some(value) = self.known.get(&key).and_then(Weak::upgrade) {
            return value;
        }
        if self.known.len() >= self.sweep_at {
            self.known.retain(|_, value| value.strong_count() > 0);
            self.sweep_at = limits::SHAPES_MAX.max(2 * self.known.len());
        }
        self.last_id += 1;
        let value = Arc::new(make(self.last_id, key.clone()));
        self.known.insert(key, Arc::downgrade(&value));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::{Registry, limits};

    #[test]
    fn unused_values_are_forgotten_once_there_are_twice_as_many_as_were_in_use() {
        let mut registry = Registry::<usize, usize>::default();
        let make = |_, key| key;
        let used: Vec<_> = (0..limits::SHAPES_MAX)
            .map(|key| registry.intern(key, make))
            .collect();
        for key in limits::SHAPES_MAX..2 * limits::SHAPES_MAX {
            registry.intern(key, make);
        }
        assert_eq!(
            registry.known.len(),
            2 * limits::SHAPES_MAX,
            "no sweep in between"
        );
        registry.intern(usize::MAX, make);
        assert_eq!(registry.known.len(), used.len() + 1);
        drop(used);
        for key in 0..limits::SHAPES_MAX {
            registry.intern(key, make);
        }
        assert!(registry.known.len() <= limits::SHAPES_MAX + 1);
    }
}
