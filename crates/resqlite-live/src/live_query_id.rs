//! The name of a live query.

/// Names a live query. Numbers are small and reused, because they are positions in a
/// [`LiveQueryMap`](crate::LiveQueryMap).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LiveQueryId(pub u32);
