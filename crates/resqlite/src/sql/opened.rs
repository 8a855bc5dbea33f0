//! The b-trees and virtual tables that a statement opens, according to its bytecode.

use std::collections::BTreeSet;

use resqlite_sqlite::Connection;

use crate::core::error::Result;

/// The tables that the program of a statement opens. Unlike the authorizer, the bytecode leaves no table out.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// Pairs of the number of a database (as in `PRAGMA database_list`) and the root page of a table or index.
    pub(super) roots: BTreeSet<(i64, i64)>,
    /// The number of different virtual tables.
    pub(super) virtual_tables: usize,
}

impl Opened {
    /// Reads the bytecode of `sql`, which must be a plain query, because EXPLAIN runs some PRAGMAs.
    pub(super) fn read(connection: &Connection, sql: &str) -> Result<Self> {
        let mut opened = Self::default();
        let mut virtual_tables = BTreeSet::new();
        let explain = format!("EXPLAIN {sql}");
        let Some(mut program) = connection.prepare(&explain, false)?.statement else {
            return Ok(opened);
        };
        while program.step()? {
            let operand = |column| program.integer(column).unwrap_or(-1);
            match program.column_text(1).as_deref() {
                Some("OpenRead" | "ReopenIdx" | "OpenWrite") => {
                    opened.roots.insert((operand(4), operand(3)));
                }
                Some("VOpen") => {
                    virtual_tables.insert(program.column_text(5));
                }
                _ => {}
            }
        }
        opened.virtual_tables = virtual_tables.len();
        Ok(opened)
    }
}
