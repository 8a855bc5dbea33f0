//! How often a stream could be left alone.

use std::ops::{AddAssign, Sub};

/// Commits, by what became of them. `commits` is the sum of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Skips {
    /// All commits.
    pub commits: u64,
    /// Commits that changed none of the stream's tables.
    pub by_table: u64,
    /// Commits that changed only columns which the stream does not read.
    pub by_column: u64,
    /// Commits that changed only rows which the stream's filter excludes.
    pub by_key: u64,
    /// Commits of which the stream had to hear.
    pub concerned: u64,
}

/// Commits that got as far as the columns or the rows of a group of streams: what is needed to tell the skips of
/// its members without visiting them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Reached {
    pub(super) column: u64,
    pub(super) key: u64,
}

impl Sub for Reached {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            column: self.column - other.column,
            key: self.key - other.key,
        }
    }
}

impl AddAssign for Reached {
    fn add_assign(&mut self, other: Self) {
        self.column += other.column;
        self.key += other.key;
    }
}

impl AddAssign for Skips {
    fn add_assign(&mut self, other: Self) {
        self.commits += other.commits;
        self.by_table += other.by_table;
        self.by_column += other.by_column;
        self.by_key += other.by_key;
        self.concerned += other.concerned;
    }
}

impl Skips {
    /// What became of so many commits. Those that got nowhere were skipped by table.
    pub(super) fn of(commits: u64, skipped: Reached, concerned: u64) -> Self {
        Self {
            commits,
            by_table: commits - skipped.column - skipped.key - concerned,
            by_column: skipped.column,
            by_key: skipped.key,
            concerned,
        }
    }
}
