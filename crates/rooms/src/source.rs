//! The modules of a crate: what each defines, imports and mentions.

use std::collections::{HashMap, HashSet};

/// The modules of a crate, without its tests. The first is `lib.rs`.
pub struct Source {
    pub(crate) modules: Vec<Module>,
}

/// A file, or an inline module in a file.
pub(crate) struct Module {
    pub(crate) parent: Option<usize>,
    /// Relative to the folder of `lib.rs`.
    pub(crate) file: String,
    /// The meanings of each name. A name may have several: a module and a function, or a module per platform.
    pub(crate) names: HashMap<String, Vec<Name>>,
    pub(crate) globs: Vec<Mention>,
    pub(crate) mentions: Vec<Mention>,
    /// The first names of all paths in the code. Imports are not included.
    pub(crate) words: HashSet<String>,
}

pub(crate) enum Name {
    Item,
    Module(usize),
    Import(Vec<String>),
}

/// A path in the code, or an import.
pub(crate) struct Mention {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// The name under which the path is re-exported, if it is.
    pub(crate) reexported_as: Option<String>,
}
