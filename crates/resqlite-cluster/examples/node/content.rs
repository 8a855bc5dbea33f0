//! The content of a database, in a form that can be compared.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hasher},
};

use resqlite::{Database, Result, Rows, Value};
use serde_json::{Value as Json, json};

/// A checksum of each table with its row ids, of the schema, and what the integrity check says.
pub(crate) async fn checksums(database: &Database) -> Result<Json> {
    let schema = database
        .select(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name",
            (),
        )
        .await?;
    let mut tables = BTreeMap::new();
    for table in schema
        .iter()
        .filter(|row| row.get("type") == Some(&"table".into()))
    {
        let Some(Value::Text(name)) = table.get("name") else {
            continue;
        };
        tables.insert(name.clone(), json!(checksum(&rows_of(database, name).await?)));
    }
    let integrity = database.select("PRAGMA integrity_check", ()).await?;
    tables.insert("(schema)".to_owned(), json!(checksum(&schema)));
    tables.insert("(integrity)".to_owned(), crate::values::rows(&integrity));
    Ok(json!(tables))
}

async fn rows_of(database: &Database, table: &str) -> Result<Rows> {
    let with_ids = format!("SELECT rowid, * FROM \"{table}\" ORDER BY rowid");
    match database.select(&with_ids, ()).await {
        Ok(rows) => Ok(rows),
        // A table WITHOUT ROWID gives its rows in the order of its key.
        Err(_) => database.select(&format!("SELECT * FROM \"{table}\""), ()).await,
    }
}

fn checksum(rows: &Rows) -> String {
    let mut hasher = DefaultHasher::new();
    for row in rows.iter() {
        hasher.write(format!("{:?}", row.values()).as_bytes());
    }
    format!("{} rows, {:016x}", rows.len(), hasher.finish())
}
