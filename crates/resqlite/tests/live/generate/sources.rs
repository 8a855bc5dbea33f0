//! What stands in FROM, and the columns that it offers.

use super::{
    draw::Draw,
    expressions::Named,
    model::{Kind, Module, Table},
};

/// An entry of FROM.
pub struct Source {
    pub text: String,
    /// How its columns are qualified.
    pub alias: String,
    pub columns: Vec<Named>,
}

impl Source {
    /// Its columns, qualified unless the source stands alone and the draw says so.
    pub fn scope(&self, qualified: bool) -> Vec<Named> {
        let name = |column: &Named| Named {
            text: if qualified {
                format!("{}.{}", self.alias, column.text)
            } else {
                column.text.clone()
            },
            kind: column.kind,
        };
        self.columns.iter().map(name).collect()
    }
}

impl Draw<'_> {
    /// The name of a table as a statement may write it, so that it means this table.
    pub fn table_name(&mut self, table: &Table, writing: bool) -> String {
        let visible = self.schema.is_visible(table, writing);
        let quoted = match self.rng.below(12) {
            _ if table.name.starts_with('"') => table.name.clone(),
            0 => format!("\"{}\"", table.name),
            1 => format!("[{}]", table.name.to_uppercase()),
            _ => table.name.clone(),
        };
        if visible && self.rng.chance(75) {
            quoted
        } else {
            format!("{}.{quoted}", table.schema)
        }
    }

    /// A table that queries see, if there is one.
    pub fn readable_table(&mut self) -> Option<Table> {
        let tables = self.schema.readable();
        (!tables.is_empty()).then(|| (*self.rng.pick(&tables)).clone())
    }

    pub fn table_source(&mut self, table: &Table, alias: &str) -> Source {
        let name = self.table_name(table, false);
        let (text, alias) = self.aliased(name, &table.name, alias);
        Source {
            text,
            alias,
            columns: columns_of(table),
        }
    }

    /// The name itself qualifies columns where no alias is given.
    fn aliased(&mut self, text: String, name: &str, alias: &str) -> (String, String) {
        match self.rng.below(3) {
            _ if alias.is_empty() => (text, name.into()),
            0 => (format!("{text} {alias}"), alias.into()),
            _ => (format!("{text} AS {alias}"), alias.into()),
        }
    }

    /// A table, a view or a subquery. Without an alias, a source is known by its name.
    pub fn source(&mut self, alias: &str) -> Option<Source> {
        let views = self.schema.views.len();
        if views > 0 && self.rng.chance(20) {
            let view = self.rng.pick(&self.schema.views).clone();
            let name = format!("{}.{}", view.schema, view.name);
            let (text, alias) = self.aliased(name, &view.name, alias);
            let column = |(name, kind): &(String, Kind)| Named {
                text: name.clone(),
                kind: *kind,
            };
            let columns = view.columns.iter().map(column).collect();
            return Some(Source { text, alias, columns });
        }
        let table = self.readable_table()?;
        if !alias.is_empty() && self.rng.chance(12) {
            return Some(self.subquery(&table, alias));
        }
        Some(self.table_source(&table, alias))
    }

    fn subquery(&mut self, table: &Table, alias: &str) -> Source {
        let inner = self.table_source(table, "");
        let columns: Vec<Named> = inner.columns.iter().take(3).cloned().collect();
        let names: Vec<&str> = columns.iter().map(|column| column.text.as_str()).collect();
        let condition = self.predicate(&inner.columns, 1);
        let text = format!(
            "(SELECT {} FROM {} WHERE {condition}) AS {alias}",
            names.join(", "),
            inner.text
        );
        Source {
            text,
            alias: alias.into(),
            columns,
        }
    }
}

fn columns_of(table: &Table) -> Vec<Named> {
    let mut columns: Vec<Named> = table
        .columns
        .iter()
        .map(|column| Named {
            text: column.name.clone(),
            kind: column.kind,
        })
        .collect();
    if table.has_rowid() && table.module != Module::Rtree {
        columns.push(Named {
            text: "rowid".into(),
            kind: Kind::Integer,
        });
    }
    columns
}
