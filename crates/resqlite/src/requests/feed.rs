//! The requests of callers to change feeds.

use std::{fmt, time::Duration};

use crate::core::{limits, position::Position};

/// The options with which a change feed is opened.
///
/// ```
/// use resqlite::feeds::{FeedOptions, Keep};
///
/// let options = FeedOptions { keep: Some(Keep { commits: Some(1_000_000), ..Keep::default() }), ..FeedOptions::named("index") };
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedOptions {
    /// The name of the consumer. If there is no feed of this name, it is created.
    pub name: String,
    /// The position after which the consumer begins to read; default: the position that the consumer has acknowledged last, and for
    /// a new feed the newest commit.
    pub after: Option<Position>,
    /// The bounds on what is kept for the consumer; default: the bounds set before, and for a new feed [`Keep::default`].
    pub keep: Option<Keep>,
}

impl FeedOptions {
    /// The options of the feed of this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// The bounds on what is kept for a consumer that does not read its feed. Of several bounds, the first that is reached applies. If
/// there is none, everything is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    /// The largest number of commits.
    pub commits: Option<u64>,
    /// The largest number of bytes in the database; default [`limits::FEED_BYTES`].
    pub bytes: Option<u64>,
    /// The greatest age of a commit.
    pub age: Option<Duration>,
}

impl Default for Keep {
    fn default() -> Self {
        Self {
            commits: None,
            bytes: Some(limits::FEED_BYTES),
            age: None,
        }
    }
}

/// The reason why a commit in a change feed is incomplete: something changed up to then that the commit does not list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// Another program, or another copy of SQLite, has written to the database.
    External,
    /// SQL has run that manages transactions or the file itself, VACUUM for example.
    Script,
    /// The changes of the commit cannot be listed: it has more than 256 MiB, changed a table whose columns have all three names of
    /// the row id, ran a change of the schema with many sets of parameters, or configured a full-text table.
    Unlisted,
}

impl Gap {
    /// Returns its name, as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::External => "external",
            Self::Script => "script",
            Self::Unlisted => "unlisted",
        }
    }

    /// The gap of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [Self::External, Self::Script, Self::Unlisted];
        all.into_iter().find(|gap| gap.name() == name)
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A request that concerns change feeds. The writer answers with a position.
pub(crate) enum FeedRequest {
    /// Creates the feed if it does not exist. The reply is the position after which to read.
    Open(FeedOptions),
    /// Notes that the consumer needs nothing up to this position any more. The reply is the same position.
    Acknowledge { name: String, position: Position },
    /// Notes that nothing up to this position concerns the consumer, which has not been sent the position. The reply is the same
    /// position.
    Skip { name: String, position: Position },
    /// Removes the feed. The reply is the position of the newest commit.
    Drop { name: String },
    /// Replaces all feeds by these, each acknowledged up to its position. The reply is the position of the newest commit.
    Replace(Vec<(FeedOptions, Position)>),
    /// Removes the position by which feeds count. The reply is the removed position.
    ForgetPosition,
}
