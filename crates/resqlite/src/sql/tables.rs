//! Finds the tables and columns that a statement depends on, from what SQLite reports about the statement.

use std::collections::{BTreeMap, BTreeSet};

use resqlite_live::{ColumnSet, Columns, TableName};

use super::{
    catalog::{Catalog, Found, Indexed},
    module,
    names::is_internal,
    opened::Opened,
    shape::ColumnShape,
};
use crate::{
    core::error::Result,
    guard::authorizer_log::{AuthorizerLog, Named},
};

/// The tables that a statement reads.
#[derive(Debug, PartialEq)]
pub(crate) enum Tables {
    /// The tables are not known, for this reason.
    Everything(String),
    Known(Vec<Table>),
}

/// A table that a statement reads.
#[derive(Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) name: TableName,
    pub(crate) kind: Kind,
    /// Columns that are read or decide the order of rows.
    pub(crate) columns: Columns,
    /// The reason why every column counts, if every column does.
    pub(crate) why_any: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Kind {
    Ordinary(Vec<ColumnShape>),
    Virtual,
}

/// Stops the search: the statement may depend on everything, for this reason.
type Stop = super::plan::Stop<String>;

/// Finds the tables of a plain query.
pub(super) fn find(
    catalog: &Catalog<'_>,
    sql: &str,
    authorized: &AuthorizerLog,
    opened: &Opened,
) -> Result<Tables> {
    let search = Search {
        catalog,
        authorized,
        opened,
        hides_columns: may_hide_columns(sql, catalog),
    };
    match search.run() {
        Ok(tables) => Ok(Tables::Known(tables)),
        Err(Stop::Refused(why)) => Ok(Tables::Everything(why)),
        Err(Stop::Error(error)) => Err(error),
    }
}

struct Search<'a> {
    catalog: &'a Catalog<'a>,
    authorized: &'a AuthorizerLog,
    opened: &'a Opened,
    hides_columns: bool,
}

/// The tables found so far, with the columns that the authorizer named; `None` if the authorizer did not name the table.
#[derive(Default)]
struct Gathered {
    ordinary: BTreeMap<TableName, (bool, Option<BTreeSet<String>>)>,
    own: BTreeSet<TableName>,
    /// Virtual tables that only list what is in their arguments.
    functions: BTreeSet<String>,
    /// A name that means nothing outside the statement, unless it means a virtual table.
    unknown: Option<String>,
}

impl Search<'_> {
    fn run(&self) -> Result<Vec<Table>, Stop> {
        let mut gathered = Gathered::default();
        for (named, columns) in &self.authorized.tables {
            self.gather_named(named, columns, &mut gathered)?;
        }
        for &(number, root) in &self.opened.roots {
            self.gather_opened(number, root, &mut gathered)?;
        }
        self.check_virtual(&gathered)?;
        let mut tables = Vec::new();
        for (name, (without_rowid, columns)) in gathered.ordinary {
            tables.push(self.ordinary(name, without_rowid, columns)?);
        }
        tables.extend(gathered.own.into_iter().map(own));
        Ok(tables)
    }

    fn gather_named(
        &self,
        named: &Named,
        columns: &BTreeSet<String>,
        gathered: &mut Gathered,
    ) -> Result<(), Stop> {
        if is_internal(&named.table) {
            return Err(internal(&named.table));
        }
        match self.catalog.find(named.schema.as_deref(), &named.table)? {
            Some(found) => gather(found, Some(columns), gathered),
            None if module::columns_of_function(&named.table).is_some() => {
                gathered.functions.insert(named.table.to_ascii_lowercase());
                Ok(())
            }
            // The name of a CTE none of whose columns is used.
            None if named.schema.is_none() => {
                gathered.unknown = Some(named.table.clone());
                Ok(())
            }
            None => Err(foreign(&named.table)),
        }
    }

    fn gather_opened(&self, number: i64, root: i64, gathered: &mut Gathered) -> Result<(), Stop> {
        match self.catalog.owner(number, root)? {
            Some(Found::Ordinary { name, .. }) if is_internal(name.table()) => Err(internal(name.table())),
            Some(found) => gather(found, None, gathered),
            None => Err(internal("sqlite_schema")),
        }
    }

    /// Checks that all virtual tables that the statement opens are known.
    fn check_virtual(&self, gathered: &Gathered) -> Result<(), Stop> {
        let known = gathered.own.len() + gathered.functions.len();
        if self.opened.virtual_tables == 0 {
            return Ok(());
        }
        if let Some(name) = &gathered.unknown {
            return Err(foreign(name));
        }
        if self.hides_columns || self.opened.virtual_tables > known {
            return Err(Stop::Refused(
                "it joins a virtual table by USING or NATURAL, or one that SQLite does not name".into(),
            ));
        }
        Ok(())
    }

    fn ordinary(
        &self,
        name: TableName,
        without_rowid: bool,
        read: Option<BTreeSet<String>>,
    ) -> Result<Table, Stop> {
        let columns = self.catalog.columns(&name)?;
        let (set, why_any) = match self.column_set(&name, without_rowid, &columns, read)? {
            Ok(set) => (Columns::Only(set), None),
            Err(why) => (Columns::Any, Some(why)),
        };
        Ok(Table {
            name,
            kind: Kind::Ordinary(columns),
            columns: set,
            why_any,
        })
    }

    /// Returns the columns that matter, or the reason why every column can matter.
    fn column_set(
        &self,
        name: &TableName,
        without_rowid: bool,
        columns: &[ColumnShape],
        read: Option<BTreeSet<String>>,
    ) -> Result<Result<ColumnSet, String>, Stop> {
        let (false, Some(read)) = (self.hides_columns, read) else {
            let why = "a join by USING or NATURAL does not say which columns it reads";
            return Ok(Err(why.into()));
        };
        // Rows may arrive in the order of an index. So a change of an indexed column can move rows, although the column is not
        // read.
        let Indexed::Columns(mut set) = self.catalog.indexed(name, without_rowid)? else {
            return Ok(Err("one of its indexes is on an expression".into()));
        };
        for column in &read {
            let is_it = |known: &ColumnShape| known.name.eq_ignore_ascii_case(column);
            match columns.iter().position(is_it).map(u16::try_from) {
                Some(Ok(position)) => set.insert(position),
                None if column.is_empty() || column == "ROWID" => {}
                _ => return Ok(Err(format!("its column {column} is not known"))),
            }
        }
        let computed = set.iter().find_map(|column| {
            columns
                .get(usize::from(column))
                .filter(|known| known.is_generated())
        });
        Ok(match computed {
            Some(computed) => Err(format!("its column {} is computed from others", computed.name)),
            None => Ok(set),
        })
    }
}

fn gather(found: Found, columns: Option<&BTreeSet<String>>, gathered: &mut Gathered) -> Result<(), Stop> {
    match found {
        // The authorizer also names the tables that a view reads.
        Found::View { .. } => {}
        Found::Ordinary { name, without_rowid } => {
            let (_, known) = gathered.ordinary.entry(name).or_insert((without_rowid, None));
            if let Some(columns) = columns {
                known.get_or_insert_default().extend(columns.iter().cloned());
            }
        }
        Found::Virtual { name, sql } if module::is_self_contained(&sql) => {
            gathered.own.insert(name);
        }
        Found::Virtual { name, .. } => return Err(foreign(name.table())),
        Found::Shadow => {
            let why = "it reads the inner tables of a virtual table";
            return Err(Stop::Refused(why.into()));
        }
    }
    Ok(())
}

fn own(name: TableName) -> Table {
    Table {
        name,
        kind: Kind::Virtual,
        columns: Columns::Any,
        why_any: Some("it is a virtual table".into()),
    }
}

fn internal(table: &str) -> Stop {
    Stop::Refused(format!("it reads {table}, which SQLite keeps itself"))
}

fn foreign(table: &str) -> Stop {
    Stop::Refused(format!(
        "it reads {table}, a virtual table that can take its rows from anywhere"
    ))
}

/// Returns whether the statement, or a view that it may read, has the word `USING` or `NATURAL`. SQLite does not report to the
/// authorizer the columns that such joins compare. If the word means something else, only precision is lost.
fn may_hide_columns(sql: &str, catalog: &Catalog<'_>) -> bool {
    let mut texts = vec![sql.to_ascii_lowercase()];
    let mut views: Vec<(String, String)> = catalog
        .views()
        .map(|(name, sql)| (name.to_ascii_lowercase(), sql.to_ascii_lowercase()))
        .collect();
    while let Some(text) = texts.pop() {
        if text.contains("using") || text.contains("natural") {
            return true;
        }
        let (mentioned, others): (Vec<_>, Vec<_>) =
            views.into_iter().partition(|(name, _)| mentions(&text, name));
        views = others;
        texts.extend(mentioned.into_iter().map(|(_, sql)| sql));
    }
    false
}

/// Returns whether a text may mean a table of this name somewhere; both are in lower case. A name that contains quotes is spelt
/// differently in the text, so the answer is always yes.
fn mentions(text: &str, name: &str) -> bool {
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
    let is_whole = |start: usize| {
        let (before, after) = (&text.as_bytes()[..start], &text.as_bytes()[start + name.len()..]);
        !before.last().is_some_and(is_inside) && !after.first().is_some_and(is_inside)
    };
    name.contains(['"', '`', '\'', '[', ']']) || text.match_indices(name).any(|(start, _)| is_whole(start))
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_name_is_mentioned_as_a_word_or_between_quotes() {
        for text in [
            "from v",
            "v",
            "from x,v join y",
            "main.v",
            "\"v\"",
            "[v]x",
            "`v`",
            "(v)",
        ] {
            assert!(mentions(text, "v"), "{text}");
        }
        for text in ["vv", "from vx", "av", "v1", "_v", "v$", "äv", "from w"] {
            assert!(!mentions(text, "v"), "{text}");
        }
        assert!(mentions("vv, v", "v") && mentions("[a b]", "a b"));
        assert!(mentions("\"a\"\"b\"", "a\"b"));
    }
}
