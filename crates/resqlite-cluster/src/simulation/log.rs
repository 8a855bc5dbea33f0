//! The model of a log, and of its entries: lists of numbers, chained like those of the engine.

use std::collections::BTreeMap;

use bytes::Bytes;
use dice::Rng;
use resqlite::log::{Hash, Head, Position};

use crate::{
    core::log::Append,
    protocol::{Beginning, Link, Logged, Run, Served},
};

/// The model of an entry. The database is a list of numbers, to which the entry adds some.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) link: Link,
    pub(super) writer: Run,
    pub(super) served: Vec<Served>,
    pub(super) adds: Vec<u64>,
}

impl Model {
    pub(super) fn new(after: Head, writer: Run, served: Vec<Served>, adds: Vec<u64>) -> Self {
        let position = after.position.next();
        let link = Link {
            position,
            previous: after.hash,
            hash: hash(position, after.hash, &adds, writer.number),
        };
        Self {
            link,
            writer,
            served,
            adds,
        }
    }

    pub(super) fn logged(&self) -> Logged {
        Logged {
            link: self.link,
            writer: self.writer.clone(),
            served: self.served.clone(),
            bytes: Bytes::copy_from_slice(&self.link.hash.0),
            entry: None,
        }
    }
}

fn hash(position: Position, previous: Hash, adds: &[u64], writer: u64) -> Hash {
    let mut state = position.0 ^ writer.rotate_left(32);
    let words = previous
        .0
        .chunks(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
    for word in words.chain(adds.iter().copied()) {
        state = Rng(state ^ word).any();
    }
    let mut hash = Hash::default();
    let mut stream = Rng(state);
    hash.0
        .chunks_mut(8)
        .for_each(|word| word.copy_from_slice(&stream.any().to_le_bytes()));
    hash
}

/// The content of a position.
#[derive(Debug, Clone)]
pub(super) enum There {
    Entry(Model),
    Nothing,
    /// The entry was let go of. The log now begins at this position.
    Purged(Position),
}

/// A copy of a database.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub(super) at: Head,
    pub(super) list: Vec<u64>,
}

#[derive(Default)]
pub(super) struct ModelLog {
    /// All entries that the log has taken, also those that it has let go of.
    pub(super) entries: Vec<Model>,
    /// The position up to which the log has let go of entries.
    purged: Position,
    pub(super) snapshots: BTreeMap<Position, Snapshot>,
}

impl ModelLog {
    pub(super) fn append(&mut self, position: Position, entry: &Model) -> Append {
        if position == self.end().next() {
            self.entries.push(entry.clone());
            Append::Taken
        } else {
            Append::Refused
        }
    }

    /// Returns the first position that is there.
    pub(super) fn first(&self) -> Position {
        self.purged.next()
    }

    pub(super) fn end(&self) -> Position {
        Position(self.entries.len() as u64)
    }

    pub(super) fn at(&self, position: Position) -> There {
        if position <= self.purged {
            return There::Purged(self.first());
        }
        match self.entries.get(position.0 as usize - 1) {
            Some(entry) => There::Entry(entry.clone()),
            None => There::Nothing,
        }
    }

    /// Returns the hash that the first entry of the log followed.
    pub(super) fn base(&self) -> Option<Hash> {
        self.entries.first().map(|entry| entry.link.previous)
    }

    /// Returns the beginning of the log, as far as it can be read.
    pub(super) fn beginning(&self) -> Beginning {
        match self.base() {
            _ if self.purged > Position(0) => Beginning::Purged,
            None => Beginning::Nothing,
            Some(base) => Beginning::Base(base),
        }
    }

    pub(super) fn put(&mut self, snapshot: Snapshot, purges: Option<Position>) {
        self.snapshots.insert(snapshot.at.position, snapshot);
        if let Some(up_to) = purges {
            self.purged = self.purged.max(up_to.min(self.end()));
            self.snapshots.retain(|&position, _| position >= up_to);
        }
    }

    /// Forgets the last entries, which no log may do.
    pub(super) fn forget(&mut self, count: usize) {
        let there = self.entries.len() - self.purged.0 as usize;
        self.entries.truncate(self.entries.len() - count.min(there));
    }
}
