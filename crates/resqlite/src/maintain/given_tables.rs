//! Tables whose rows are given when a statement runs, as connections know them.

use std::{
    cell::RefCell,
    hash::{DefaultHasher, Hash, Hasher},
    num::NonZeroUsize,
    rc::Rc,
    sync::Arc,
};

use lru::LruCache;
use resqlite_sqlite::{Connection, GivenRows};

use crate::core::limits;

/// A table of given rows: the same on each connection that needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenTable {
    pub(crate) name: Arc<str>,
    /// The columns as written in CREATE TABLE.
    columns: Arc<str>,
}

impl GivenTable {
    /// The table with these columns. No table of a schema has its name.
    pub(crate) fn new(columns: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        columns.hash(&mut hasher);
        Self {
            name: format!("sqlite_given_{:016x}", hasher.finish()).into(),
            columns: columns.into(),
        }
    }
}

/// The given tables that a connection knows, by their columns: two tables whose names happen to be the same are not confused.
pub(crate) struct GivenTables(RefCell<LruCache<Arc<str>, Rc<GivenRows>>>);

impl Default for GivenTables {
    fn default() -> Self {
        let most = NonZeroUsize::new(limits::GIVEN_TABLES_MAX).unwrap_or(NonZeroUsize::MIN);
        Self(RefCell::new(LruCache::new(most)))
    }
}

impl GivenTables {
    /// Returns a table, which the connection knows from now on.
    ///
    /// # Errors
    /// Errors of SQLite about its columns.
    pub(crate) fn get(
        &self,
        connection: &Connection,
        table: &GivenTable,
    ) -> resqlite_sqlite::Result<Rc<GivenRows>> {
        let mut known = self.0.borrow_mut();
        let make = || {
            let rows = connection.register_given_rows(&table.name, &table.columns)?;
            Ok(Rc::new(rows))
        };
        known.try_get_or_insert(Arc::clone(&table.columns), make).cloned()
    }
}
