//! A transaction without foreign keys. They are switched off before its BEGIN, checked before its COMMIT, and switched on again
//! after it.

use resqlite_sqlite::{Connection, codes};

use super::writing::Writing;
use crate::{
    connection::{open::set_foreign_keys, schemas::databases},
    core::{
        error::{Error, Result},
        names::quoted,
    },
};

/// The largest number of violations that an error names.
const NAMED: usize = 3;

impl Writing {
    /// Switches foreign keys on or off. SQLite ignores the switch inside a transaction.
    pub(super) fn switch_foreign_keys(&mut self, on: bool) -> Result<()> {
        // SQLite prepares statements again, but only when they run. Until then, what is known about them would be out of date.
        self.connection.clear();
        Ok(self
            .connection
            .as_internal(|connection| set_foreign_keys(connection, on))?)
    }

    /// Switches foreign keys on again, after the transaction has ended.
    pub(super) fn restore_foreign_keys(&mut self) {
        let switched = self.switch_foreign_keys(true);
        // If the switch fails, the panic makes the writer replace this connection.
        assert!(switched.is_ok(), "PRAGMA foreign_keys failed: {switched:?}");
    }

    /// Checks the foreign keys of all databases. The timeout of the transaction interrupts the check, and its caller can, too.
    pub(super) fn check_foreign_keys(&self) -> Result<()> {
        let found =
            violations(&self.connection.sqlite).map_err(|error| self.connection.guard.explain(error))?;
        match found.as_slice() {
            [] => Ok(()),
            found => {
                let message = format!("FOREIGN KEY constraint failed: {}", found.join("; "));
                Err(resqlite_sqlite::Error::new(codes::CONSTRAINT_FOREIGNKEY, message).into())
            }
        }
    }
}

/// Returns the first rows that refer to missing rows, in a form for people.
fn violations(connection: &Connection) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (schema, _) in databases(connection)? {
        let sql = format!("PRAGMA {}.foreign_key_check", quoted(&schema, '"'));
        let Some(mut rows) = connection.prepare(&sql, false)?.statement else {
            continue;
        };
        while rows.step().map_err(Error::from)? {
            if found.len() == NAMED {
                found.push("and more".into());
                return Ok(found);
            }
            let text = |column| rows.column_text(column).unwrap_or_default();
            let row = rows
                .column_text(1)
                .map_or("a row".into(), |rowid| format!("row {rowid}"));
            let prefix = if schema == "main" {
                String::new()
            } else {
                format!("{schema}.")
            };
            found.push(format!(
                "{row} of {prefix}{} refers to a row of {prefix}{} that is not there",
                text(0),
                text(2)
            ));
        }
    }
    Ok(found)
}
