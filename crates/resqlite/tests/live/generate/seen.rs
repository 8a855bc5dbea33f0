//! SELECTs in FROM whose rows come from one row of each table: subqueries, common table expressions, views.

use dice::Rng;

use super::{
    ddl::free_name,
    draw::Draw,
    expressions::Named,
    model::{Attached, Kind, Module, Schema, Table, View},
    sources::Source,
};

/// What stands in such a SELECT, and the columns that it gives.
struct Inner {
    text: String,
    columns: Vec<Named>,
    tables: Vec<String>,
}

impl Draw<'_> {
    /// A SELECT in place of a table, and the table expressions that belong before the statement. It is never without a name.
    pub fn seen_source(&mut self, table: &Table, alias: &str, with: &mut Vec<String>) -> Source {
        let alias = if alias.is_empty() { "sub" } else { alias };
        let views: Vec<View> = (self.schema.views.iter())
            .filter(|view| view.schema == "main")
            .cloned()
            .collect();
        if !views.is_empty() && self.rng.chance(50) {
            let view = self.rng.pick(&views);
            let columns = view.columns.iter().map(|(name, kind)| Named {
                text: name.clone(),
                kind: *kind,
            });
            let name = match self.rng.chance(20) {
                true => format!("main.{}", view.name),
                false => view.name.clone(),
            };
            return Source {
                text: format!("{name} AS {alias}"),
                alias: alias.into(),
                columns: columns.collect(),
            };
        }
        let inner = inner(self, table);
        let text = if self.rng.chance(40) {
            let name = format!("c{}", with.len());
            let names: Vec<&str> = inner.columns.iter().map(|column| column.text.as_str()).collect();
            let names = match self.rng.chance(30) {
                true => format!("({})", names.join(", ")),
                false => String::new(),
            };
            let hint = *self.rng.pick(&["", "", "", "NOT MATERIALIZED ", "MATERIALIZED "]);
            with.push(format!("{name}{names} AS {hint}({})", inner.text));
            format!("{name} AS {alias}")
        } else {
            format!("({}) AS {alias}", inner.text)
        };
        Source {
            text,
            alias: alias.into(),
            columns: inner.columns,
        }
    }
}

/// A view that is seen through.
pub fn view(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    let name = free_name(rng, schema, 'v');
    let mut draw = Draw::literal(rng, schema);
    let table = draw
        .readable_table()
        .filter(|table| table.module == Module::Btree)?;
    let inner = inner(&mut draw, &table);
    let renamed = draw.rng.chance(25);
    let columns: Vec<(String, Kind)> = (inner.columns.iter().enumerate())
        .map(|(at, column)| match renamed {
            true => (format!("n{at}"), column.kind),
            false => (column.text.clone(), column.kind),
        })
        .collect();
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let names = match renamed {
        true => format!("({})", names.join(", ")),
        false => String::new(),
    };
    let sql = format!("CREATE VIEW {name}{names} AS {}", inner.text);
    schema.views.push(View {
        schema: "main",
        name: name.clone(),
        columns,
        inserts: false,
        updates: false,
        deletes: false,
    });
    schema.attached.push(Attached {
        what: "VIEW",
        schema: "main",
        name,
        tables: inner.tables,
    });
    Some(sql)
}

fn inner(draw: &mut Draw<'_>, table: &Table) -> Inner {
    let (name, tables) = (format!("main.{}", table.name), vec![table.full_name()]);
    let all: Vec<Named> = (table.columns.iter())
        .map(|column| Named {
            text: column.name.clone(),
            kind: column.kind,
        })
        .collect();
    if draw.rng.chance(25) {
        return joined(draw, table, &all);
    }
    let chosen = draw.rng.subset(all.len(), 60);
    let mut columns: Vec<Named> = chosen.into_iter().map(|at| all[at].clone()).collect();
    let mut given: Vec<String> = columns.iter().map(|column| column.text.clone()).collect();
    if draw.rng.chance(35) {
        (columns, given) = (all.clone(), vec!["*".into()]);
    } else if draw.rng.chance(30) {
        let (text, collation) = (draw.scalar(&all, 1), draw.rng.chance(10));
        let collation = if collation && !text.contains("COLLATE") {
            " COLLATE NOCASE"
        } else {
            ""
        };
        given.push(format!("{text}{collation} AS e"));
        columns.push(Named {
            text: "e".into(),
            kind: Kind::Any,
        });
    }
    let condition = match draw.rng.chance(60) {
        true => format!(" WHERE {}", draw.predicate(&all, 1)),
        false => String::new(),
    };
    let end = draw
        .rng
        .weighted(&[(20, ""), (2, " ORDER BY 1 DESC"), (1, " LIMIT 5")]);
    Inner {
        text: format!("SELECT {} FROM {name}{condition}{end}", given.join(", ")),
        columns,
        tables,
    }
}

fn joined(draw: &mut Draw<'_>, table: &Table, all: &[Named]) -> Inner {
    let other = draw.readable_table().expect("there is a table");
    let (left, right) = (
        draw.rng.pick(all).text.clone(),
        draw.rng.pick(&other.columns).clone(),
    );
    let given: Vec<String> = all.iter().map(|column| format!("p.{}", column.text)).collect();
    let mut columns = all.to_vec();
    columns.push(Named {
        text: "w".into(),
        kind: right.kind,
    });
    Inner {
        text: format!(
            "SELECT {}, q.{} AS w FROM main.{} p JOIN main.{} AS q ON p.{left} = q.{}",
            given.join(", "),
            right.name,
            table.name,
            other.name,
            right.name
        ),
        columns,
        tables: vec![table.full_name(), other.full_name()],
    }
}
