//! The beginning of the chain of entries, and whether a node without entries fits there.
//!
//! The first entry follows the *base*: all zero if the cluster began empty, otherwise a number that the founder has chosen. A
//! node can go on from the first entry only if it began with the same base.

use resqlite::log::Hash;

/// The beginning of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// Nothing was appended yet.
    Nothing,
    /// The first entry follows this base.
    Base(Hash),
    /// The log has let go of the first entry.
    Purged,
}

/// The way in which a node begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// The node begins with the first entry that its file does not have.
    FromLog,
    /// The node begins from a snapshot, which replaces its file.
    FromSnapshot,
    /// The node gives its content a base, and appends the first entry. If another node is first, the file is refused.
    Found,
    /// The node does not begin: its file has content of its own, and the cluster has begun in another way.
    Refuse,
}

impl Begin {
    /// `has_content`: the file has something that did not come from a log.
    pub(crate) fn of(has_content: bool, base: Hash, log: Beginning) -> Self {
        let began_empty = !has_content && base == Hash::default();
        match log {
            Beginning::Nothing if began_empty => Self::FromLog,
            Beginning::Nothing => Self::Found,
            Beginning::Base(there) if there == base && (began_empty || base != Hash::default()) => {
                Self::FromLog
            }
            _ if began_empty => Self::FromSnapshot,
            _ => Self::Refuse,
        }
    }
}
