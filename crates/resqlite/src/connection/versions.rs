//! SQLite's own counts of changes, per database of a connection. They show what other processes have done.

use crate::core::{error::Result, names::quoted};

/// One count of the main database and of each attached database, by name. The default is unknown, and differs from every count that was
/// read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Versions {
    main: Option<i64>,
    attached: Vec<(String, Option<i64>)>,
}

impl Versions {
    /// Reads the counts of schema changes, by every process. `ask` runs a PRAGMA and returns its
    /// value.
    ///
    /// # Errors
    /// The errors of `ask`.
    pub(crate) fn of_schemas(
        attached: Vec<String>,
        ask: impl FnMut(&str) -> Result<Option<i64>>,
    ) -> Result<Self> {
        Self::read("PRAGMA main.schema_version", attached, ask)
    }

    /// Reads the counts of commits by connections *other* than the one that is asked. Call this outside of transactions: inside a
    /// transaction the counts do not change. `ask` runs a PRAGMA and returns its value.
    ///
    /// # Errors
    /// The errors of `ask`.
    pub(crate) fn of_data(
        attached: Vec<String>,
        ask: impl FnMut(&str) -> Result<Option<i64>>,
    ) -> Result<Self> {
        Self::read("PRAGMA main.data_version", attached, ask)
    }

    fn read(
        of_main: &str,
        attached: Vec<String>,
        mut ask: impl FnMut(&str) -> Result<Option<i64>>,
    ) -> Result<Self> {
        let main = ask(of_main)?;
        let attached = attached.into_iter().map(|name| {
            let version = ask(&of_main.replacen("main", &quoted(&name, '"'), 1))?;
            Ok((name, version))
        });
        Ok(Self {
            main,
            attached: attached.collect::<Result<_>>()?,
        })
    }

    /// Returns whether nothing is known.
    pub(crate) fn is_unknown(&self) -> bool {
        self.main.is_none()
    }
}
