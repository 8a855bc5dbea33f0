//! Attaching databases to a connection.

use resqlite_sqlite::Connection;

use super::schemas::attached;
use crate::core::{error::Result, names::quoted};

/// Detaches all attached databases, and attaches `wanted` (names and files) instead.
pub(super) fn replace(connection: &Connection, wanted: &[(String, String)]) -> Result<()> {
    for (name, _) in attached(connection)? {
        connection.execute_script(&format!("DETACH {}", quoted(&name, '"')))?;
    }
    for (name, file) in wanted {
        let (file, name) = (quoted(file, '\''), quoted(name, '"'));
        connection.execute_script(&format!("ATTACH {file} AS {name}"))?;
    }
    Ok(())
}
