//! An entry: a header, operations, and a hash.

use std::{fmt, sync::Arc};

use sha2::{Digest, Sha256};

use super::{operation::Operation, reader::Reader};
use crate::core::{
    error::{EntryFault, Error, Result},
    position::Position,
};

const MAGIC: &[u8; 3] = b"rqe";
const VERSION: u8 = 1;
const HEADER: usize = MAGIC.len() + 1 + size_of::<Position>() + size_of::<Hash>();

/// The hash of an entry (SHA-256), by which the next entry refers to this one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Hash(pub [u8; 32]);

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The exact changes of one commit. Cheap to clone.
///
/// ```
/// # use std::sync::{Arc, mpsc};
/// # use resqlite::{Database, Options, ValueRef, log::{Entry, EntryGate, Operation, Position, Verdict}};
/// struct Feed(mpsc::Sender<Entry>);
///
/// impl EntryGate for Feed {
///     fn committed(&mut self, entry: &Entry) {
///         let _ = self.0.send(entry.clone());
///     }
/// }
///
/// # pollster::block_on(async {
/// # let db = Database::open(":memory:", Options::default()).await?;
/// # db.exec("CREATE TABLE t(a)").await?;
/// let (sender, entries) = mpsc::channel();
/// db.set_entry_gate(Some(Box::new(Feed(sender)))).await?;
/// db.execute("INSERT INTO t VALUES (7)", ()).await?;
///
/// let entry = Entry::from_bytes(entries.recv().unwrap().as_bytes())?;
/// assert_eq!(entry.position(), Position(1));
/// let Some(Operation::Insert { table, new, .. }) = entry.operations().next() else { panic!() };
/// assert_eq!((table.name.as_str(), new.values()), ("t", vec![ValueRef::Integer(7)]));
/// # db.close().await
/// # }).unwrap();
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Entry(Arc<[u8]>);

impl Entry {
    /// Puts an entry together.
    pub(super) fn new(position: Position, previous: Hash, operations: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(HEADER + operations.len() + size_of::<Hash>());
        bytes.extend_from_slice(MAGIC);
        bytes.push(VERSION);
        bytes.extend_from_slice(&position.0.to_le_bytes());
        bytes.extend_from_slice(&previous.0);
        bytes.extend_from_slice(operations);
        let hash = Sha256::digest(&bytes);
        bytes.extend_from_slice(&hash);
        Self(bytes.into())
    }

    /// Reads an entry, and checks all of it.
    ///
    /// # Errors
    /// [`Error::Entry`] describes what is wrong with the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let malformed = |what: &str| Error::entry(EntryFault::Malformed, what);
        if bytes.len() < HEADER + size_of::<Hash>() || !bytes.starts_with(MAGIC) {
            return Err(malformed("these bytes are no entry"));
        }
        let version = bytes[MAGIC.len()];
        if version != VERSION {
            let message = format!("the entry has format {version}, and this version knows only {VERSION}");
            return Err(malformed(&message));
        }
        let (content, hash) = bytes.split_at(bytes.len() - size_of::<Hash>());
        if Sha256::digest(content)[..] != *hash {
            return Err(malformed("the entry is damaged: its hash is another"));
        }
        let entry = Self(bytes.into());
        let mut reader = Reader::new(entry.operation_bytes());
        while reader.next()?.is_some() {}
        Ok(entry)
    }

    /// Returns the bytes, from which [`from_bytes`](Self::from_bytes) makes an equal entry.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the position of the entry in the log. The first entry has the position 1; each later position is one more than the
    /// position before.
    pub fn position(&self) -> Position {
        let bytes = &self.0[MAGIC.len() + 1..][..size_of::<Position>()];
        Position(u64::from_le_bytes(
            bytes.try_into().expect("as many bytes as the number has"),
        ))
    }

    /// Returns the hash of the entry before. For the first entry, this is the
    /// [base](crate::log::EntryBase).
    pub fn previous(&self) -> Hash {
        Self::hash_at(&self.0[HEADER - size_of::<Hash>()..])
    }

    /// Returns the hash of this entry.
    pub fn hash(&self) -> Hash {
        Self::hash_at(&self.0[self.0.len() - size_of::<Hash>()..])
    }

    /// Returns the changes of the commit, in order.
    pub fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        let mut reader = Reader::new(self.operation_bytes());
        std::iter::from_fn(move || reader.next().expect("an entry is checked when it is read"))
    }

    fn operation_bytes(&self) -> &[u8] {
        &self.0[HEADER..self.0.len() - size_of::<Hash>()]
    }

    fn hash_at(bytes: &[u8]) -> Hash {
        Hash(
            bytes[..size_of::<Hash>()]
                .try_into()
                .expect("as many bytes as a hash has"),
        )
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("position", &self.position())
            .field("previous", &self.previous())
            .field("operations", &self.operations().collect::<Vec<_>>())
            .field("hash", &self.hash())
            .finish()
    }
}
