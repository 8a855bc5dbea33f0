//! All that a database holds, to be compared with another.

use std::collections::BTreeMap;

use resqlite::{Rows, Value};

use crate::rows::same_values;

pub type Row = Vec<Value>;

/// The definitions and the rows of each table, by a name for people; where they cannot be read, the error's code.
pub type Contents = BTreeMap<String, Result<Vec<Row>, &'static str>>;

/// Tables whose rows are compared: those behind virtual tables are arranged as it happens, and statistics are not kept
/// alike.
const TABLES: &str = "SELECT schema, name, type, wr FROM pragma_table_list AS this
    WHERE type IN ('table', 'virtual') AND (name = 'sqlite_sequence' OR name NOT GLOB 'sqlite_*')
    AND NOT EXISTS (SELECT 1 FROM pragma_table_list AS other
        WHERE other.schema = this.schema AND other.type = 'virtual' AND this.name GLOB other.name || '_*')";

/// Reads it all by `select`. `temp`: the temporary tables, too.
pub fn read(temp: bool, select: impl Fn(&str) -> Result<Vec<Row>, &'static str>) -> Contents {
    let mut contents = Contents::new();
    let tables = select(TABLES);
    let Ok(tables) = &tables else {
        contents.insert("tables".into(), tables);
        return contents;
    };
    for schema in schemas(temp, tables) {
        let sql = format!(
            "SELECT type, name, sql FROM {schema}.sqlite_schema WHERE name NOT GLOB 'sqlite_stat*' ORDER BY 1, 2"
        );
        contents.insert(format!("definitions of {schema}"), select(&sql));
    }
    for table in tables {
        let [
            Value::Text(schema),
            Value::Text(name),
            Value::Text(kind),
            Value::Integer(without_rowid),
        ] = &table[..]
        else {
            unreachable!("pragma_table_list has other columns: {table:?}")
        };
        if schema == "temp" && !temp {
            continue;
        }
        let rowid = if *without_rowid == 1 { "" } else { "rowid, " };
        let order = if kind == "virtual" { " ORDER BY rowid" } else { "" };
        let rows = select(&format!(
            "SELECT {rowid}* FROM {schema}.\"{name}\" NOT INDEXED{order}"
        ));
        contents.insert(format!("{schema}.{name}"), rows);
    }
    contents
}

fn schemas(temp: bool, tables: &[Row]) -> Vec<&'static str> {
    let has = |schema: &str| tables.iter().any(|table| table[0] == Value::Text(schema.into()));
    let mut schemas = vec!["main"];
    schemas.extend(has("aux").then_some("aux"));
    schemas.extend(temp.then_some("temp"));
    schemas
}

/// What is not alike, for people.
pub fn difference(is: &Contents, should_be: &Contents) -> Option<String> {
    let names = is.keys().chain(should_be.keys());
    names
        .into_iter()
        .find_map(|name| match (is.get(name), should_be.get(name)) {
            (Some(Ok(is)), Some(Ok(should_be))) if same_rows(is, should_be) => None,
            (Some(Ok(is)), Some(Ok(should_be))) => Some(format!(
                "{name}\nhas:        {:?}\nshould have: {:?}",
                without(is, should_be),
                without(should_be, is)
            )),
            (is, should_be) if is == should_be => None,
            (is, should_be) => Some(format!("{name}\nis:        {is:?}\nshould be: {should_be:?}")),
        })
}

/// The rows that are not among those others.
fn without<'a>(rows: &'a [Row], others: &[Row]) -> Vec<&'a Row> {
    let is_other = |row: &&Row| !others.iter().any(|other| same_values(row, other));
    rows.iter().filter(is_other).collect()
}

pub fn rows(rows: &Rows) -> Vec<Row> {
    rows.iter().map(|row| row.values().to_vec()).collect()
}

pub fn same_rows(left: &[Row], right: &[Row]) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(left, right)| same_values(left, right))
}
