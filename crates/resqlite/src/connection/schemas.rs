//! The databases that a connection has.

use resqlite_sqlite::Connection;

use crate::core::{error::Result, names::quoted};

/// Returns all databases that a connection has: name and path.
pub(crate) fn databases(connection: &Connection) -> Result<Vec<(String, String)>> {
    let Some(mut list) = connection.prepare("PRAGMA database_list", false)?.statement else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    while list.step()? {
        let text = |column| list.column_text(column).unwrap_or_default();
        found.push((text(1), text(2)));
    }
    Ok(found)
}

/// Returns the attached databases: name and path. The path is empty if there is no file.
pub(crate) fn attached(connection: &Connection) -> Result<Vec<(String, String)>> {
    let mut all = databases(connection)?;
    all.retain(|(name, _)| name != "main" && name != "temp");
    Ok(all)
}

/// Reads from all databases that a connection has.
pub(crate) fn touch_all(connection: &Connection) -> Result<()> {
    let attached = attached(connection)?.into_iter().map(|(name, _)| name);
    for schema in std::iter::once("main".to_owned()).chain(attached) {
        let sql = format!("SELECT 1 FROM {}.sqlite_schema", quoted(&schema, '"'));
        connection.query_text(&sql)?;
    }
    Ok(())
}
