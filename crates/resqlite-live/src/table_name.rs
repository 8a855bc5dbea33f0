//! The name of a table.

use std::{fmt, sync::Arc};

/// A table in its schema, spelt as SQLite's hooks and authorizer report it (as declared, whatever the spelling
/// in a statement). Cheap to clone.
///
/// ```
/// use resqlite_live::TableName;
/// assert_eq!(TableName::new("main", "users").to_string(), "main.users");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName {
    schema: Arc<str>,
    table: Arc<str>,
}

impl TableName {
    /// The table `table` of the schema `schema`: `main`, `temp` or an attached name.
    pub fn new(schema: impl Into<Arc<str>>, table: impl Into<Arc<str>>) -> Self {
        Self {
            schema: schema.into(),
            table: table.into(),
        }
    }

    /// `main`, `temp` or an attached name.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The name without the schema.
    pub fn table(&self) -> &str {
        &self.table
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::TableName;

    #[test]
    fn the_schema_tells_tables_of_one_name_apart() {
        assert_eq!(TableName::new("main", "t"), TableName::new("main", "t"));
        assert_ne!(TableName::new("main", "t"), TableName::new("temp", "t"));
    }
}
