//! One row of a result and the base rows that it came from.

use smallvec::SmallVec;

use crate::value::Value;

/// The row of one source (a table in the FROM clause) that a row of the result contains.
///
/// The keys are ordered as the variants stand here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKey {
    /// There is no row, because an outer join found no match.
    Absent,
    /// The row with this rowid.
    Rowid(i64),
    /// The row with this primary key, of a table WITHOUT ROWID.
    Columns(Box<[Value]>),
}

impl SourceKey {
    fn heap_bytes(&self) -> usize {
        match self {
            SourceKey::Absent | SourceKey::Rowid(_) => 0,
            SourceKey::Columns(values) => {
                size_of_val::<[Value]>(values) + values.iter().map(Value::heap_bytes).sum::<usize>()
            }
        }
    }
}

/// A row of a result, without its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRow {
    /// The value of each ORDER BY term.
    pub sort: Box<[Value]>,
    /// The base row of each source. In a result that makes groups: the values of the group, as if they were the key of one base
    /// row. No two rows of a result have the same sources.
    pub sources: SmallVec<[SourceKey; 1]>,
    /// The fingerprint of the row's values.
    pub fingerprint: u64,
}

impl KeptRow {
    pub(super) fn place(&self) -> Place<'_> {
        Place {
            sort: &self.sort,
            sources: &self.sources,
        }
    }
}

/// The values that decide the place of a row in the result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) sort: &'a [Value],
    pub(super) sources: &'a [SourceKey],
}

impl Place<'_> {
    /// Returns the number of bytes that the values hold outside themselves.
    pub(super) fn heap_bytes(self) -> usize {
        let sort: usize = self.sort.iter().map(Value::heap_bytes).sum();
        let sources: usize = self.sources.iter().map(SourceKey::heap_bytes).sum();
        sort + sources
    }
}
