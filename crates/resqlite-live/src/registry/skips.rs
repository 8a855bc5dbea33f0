//! Counts of commits that did not affect a live query.

use std::ops::{Add, Sub};

use crate::impact::Skip;

/// Counts of the commits since a live query was inserted, and of those that did not affect it, by what ruled them out:
/// see [`Skip`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Skips {
    /// All commits.
    pub commits: u64,
    /// Commits that changed none of the tables that the live query reads.
    pub by_table: u64,
    /// Commits that changed only columns that the live query does not read.
    pub by_column: u64,
    /// Commits that changed only rows that the filter of the live query excludes.
    pub by_key: u64,
}

impl Skips {
    /// The counter of one kind of skips.
    pub(super) fn counter(&mut self, skip: Skip) -> &mut u64 {
        match skip {
            Skip::Table => &mut self.by_table,
            Skip::Column => &mut self.by_column,
            Skip::Key => &mut self.by_key,
        }
    }
}

impl Add for Skips {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            commits: self.commits + other.commits,
            by_table: self.by_table + other.by_table,
            by_column: self.by_column + other.by_column,
            by_key: self.by_key + other.by_key,
        }
    }
}

impl Sub for Skips {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            commits: self.commits - other.commits,
            by_table: self.by_table - other.by_table,
            by_column: self.by_column - other.by_column,
            by_key: self.by_key - other.by_key,
        }
    }
}
