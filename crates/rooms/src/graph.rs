//! The files of a crate and the uses between them.

use std::collections::{BTreeMap, BTreeSet};

/// For each file, the files that it uses, with the items that it uses of each. Another crate of the workspace counts as one file,
/// named after the crate.
pub type Graph = BTreeMap<String, BTreeMap<String, BTreeSet<Use>>>;

/// A line of a file that names an item of another file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The number of the line; the first is 1.
    pub line: usize,
    /// The item as the line names it, without `crate` and `super`.
    pub item: String,
}

/// An edge of the graph with its uses: `a.rs → b.rs: b::Item (line 3)`.
pub(crate) fn edge(graph: &Graph, from: &str, to: &str) -> String {
    let uses = graph[from][to]
        .iter()
        .map(|used| format!("{} (line {})", used.item, used.line));
    format!("{from} → {to}: {}", uses.collect::<Vec<_>>().join(", "))
}
