//! What plans are made with.

use resqlite_sqlite::Connection;

use super::given_tables::GivenTables;
use crate::{guard::Guard, sql::catalog::Catalog};

/// A connection, and what is known of it.
pub(super) struct Tools<'a> {
    pub(super) connection: &'a Connection,
    pub(super) guard: &'a Guard,
    pub(super) given: &'a GivenTables,
    pub(super) catalog: &'a Catalog<'a>,
}
