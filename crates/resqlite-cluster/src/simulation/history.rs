//! The answers to clients, and the check that they are true.

use std::collections::{BTreeMap, HashSet};

use super::log::ModelLog;

/// The fate of a write, as far as its client knows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fate {
    /// The client waits.
    Pending,
    Acknowledged,
    /// The client was told that there was nothing to change.
    ChangedNothing,
    /// The client was told that the write has not happened.
    Failed(&'static str),
    Unknown,
}

#[derive(Default)]
pub(super) struct History(pub(super) BTreeMap<u64, Fate>);

impl History {
    pub(super) fn set(&mut self, write: u64, fate: Fate) {
        let before = self.0.insert(write, fate);
        assert!(
            matches!(before, None | Some(Fate::Pending)),
            "write {write} has two fates"
        );
    }

    pub(super) fn count(&self, fate: &Fate) -> usize {
        self.0.values().filter(|other| *other == fate).count()
    }

    /// Checks that each acknowledged write stands in the log, that no failed write does, and that no write stands there twice.
    pub(super) fn check(&self, log: &ModelLog) {
        let mut there = HashSet::new();
        for write in log.entries.iter().flat_map(|entry| &entry.adds) {
            assert!(there.insert(*write), "write {write} stands in the log twice");
        }
        for (write, fate) in &self.0 {
            match fate {
                Fate::Acknowledged => assert!(
                    there.contains(write),
                    "write {write} was acknowledged, and is lost"
                ),
                Fate::Failed(code) => {
                    assert!(
                        !there.contains(write),
                        "write {write} failed with {code}, and has happened"
                    );
                }
                Fate::ChangedNothing => assert!(
                    !there.contains(write),
                    "write {write} changes nothing, and stands in the log"
                ),
                Fate::Pending => panic!("write {write} never ended"),
                Fate::Unknown => {}
            }
        }
    }
}
