//! Where the chain of entries begins, and whether a node without entries fits there.
//!
//! The first entry follows the *base*: all zero where the cluster began empty, otherwise a number of the founder's own. A
//! node can go on from the first entry only if it began with the same base.

use resqlite::log::Hash;

/// Where the log begins.
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
    /// With the first entry that its file does not have.
    FromLog,
    /// From a snapshot, in place of its file.
    FromSnapshot,
    /// It gives its content a base, and appends the first entry. If another node is first, the file is refused.
    Found,
    /// Not at all: its file has content of its own, and the cluster has begun otherwise.
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
