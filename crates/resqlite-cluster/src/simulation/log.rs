//! The model of a log, and of its entries: lists of numbers, chained like those of the engine.

use bytes::Bytes;
use resqlite::{Hash, Position};

use crate::{
    core::log::Append,
    protocol::{Link, Logged, Run, Served},
};

/// The model of an entry: what it adds to the list that the database is.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) link: Link,
    pub(super) writer: Run,
    pub(super) served: Vec<Served>,
    pub(super) adds: Vec<u64>,
}

impl Model {
    pub(super) fn new(after: Position, writer: Run, served: Vec<Served>, adds: Vec<u64>) -> Self {
        let position = after.position + 1;
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
        }
    }
}

fn hash(position: u64, previous: Hash, adds: &[u64], writer: u64) -> Hash {
    let mut state = position ^ writer.rotate_left(32);
    let words = previous
        .0
        .chunks(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
    for word in words.chain(adds.iter().copied()) {
        state = super::random::Random(state ^ word).next();
    }
    let mut hash = Hash::default();
    let mut stream = super::random::Random(state);
    hash.0
        .chunks_mut(8)
        .for_each(|word| word.copy_from_slice(&stream.next().to_le_bytes()));
    hash
}

#[derive(Default)]
pub(super) struct ModelLog(pub(super) Vec<Model>);

impl ModelLog {
    pub(super) fn append(&mut self, position: u64, entry: &Model) -> Append {
        if position == self.end() + 1 {
            self.0.push(entry.clone());
            Append::Taken
        } else {
            Append::Refused
        }
    }

    pub(super) fn end(&self) -> u64 {
        self.0.len() as u64
    }

    pub(super) fn at(&self, position: u64) -> Option<&Model> {
        self.0.get(usize::try_from(position).ok()?.checked_sub(1)?)
    }

    /// Forgets its last entries, which no log must.
    pub(super) fn forget(&mut self, count: usize) {
        self.0.truncate(self.0.len().saturating_sub(count));
    }
}
