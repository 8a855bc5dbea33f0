//! The rules by which the values of a column are compared, followed through views and subqueries.

use resqlite_sqlite::Connection;

use super::{
    affinity::Affinity,
    plan::{PlaceColumn, Plan, Rows},
    tables::{Kind, Table},
};
use crate::core::error::Result;

/// The rules by which the values of a column are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nature {
    pub(crate) affinity: Affinity,
    /// The column is compared with other columns by the rules of `affinity`, too.
    pub(crate) joins: bool,
}

/// The columns of all places.
pub(super) struct Natures<'a> {
    connection: &'a Connection,
    tables: &'a [Table],
    places: Vec<Origins>,
}

/// The origin of the columns of a place.
enum Origins {
    Table(usize),
    /// For each column of the query, the column that it stands for in each arm, if it stands for one.
    Query(Vec<Vec<Option<PlaceColumn>>>),
    Unknown,
}

impl<'a> Natures<'a> {
    pub(crate) fn new(connection: &'a Connection, tables: &'a [Table]) -> Self {
        Self {
            connection,
            tables,
            places: Vec::new(),
        }
    }

    /// Adds a place and returns its number.
    pub(crate) fn add(&mut self, rows: &Rows) -> usize {
        self.places.push(match rows {
            Rows::Table(position) => Origins::Table(*position),
            Rows::Query(plan, outputs) => {
                Origins::Query((0..outputs.columns.len()).map(|at| in_arms(plan, at)).collect())
            }
            Rows::Other(..) => Origins::Unknown,
        });
        self.places.len() - 1
    }

    /// Returns the nature of a column. If values of the column are not compared as they are, returns the reason.
    pub(crate) fn of(&self, column: PlaceColumn) -> Result<std::result::Result<Nature, &'static str>> {
        let arms = match &self.places[column.place] {
            Origins::Table(position) => return self.of_table(&self.tables[*position], column.index),
            Origins::Query(columns) => &columns[usize::from(column.index)],
            Origins::Unknown => return Ok(Err("it is no column of a table")),
        };
        let mut all: Option<Nature> = None;
        for arm in arms {
            let Some(column) = arm else {
                return Ok(Err("it is computed"));
            };
            match (self.of(*column)?, all) {
                (Err(why), _) => return Ok(Err(why)),
                (Ok(nature), _) if !nature.joins => return Ok(Err("its type says nothing about its values")),
                (Ok(nature), Some(first)) if nature != first => {
                    return Ok(Err("it has several types"));
                }
                (Ok(nature), _) => all = Some(nature),
            }
        }
        Ok(all.ok_or("it is computed"))
    }

    fn of_table(&self, table: &Table, index: u16) -> Result<std::result::Result<Nature, &'static str>> {
        let Kind::Ordinary(columns) = &table.kind else {
            return Ok(Err("it is a column of a virtual table"));
        };
        let column = &columns[usize::from(index)];
        if column.is_generated() {
            return Ok(Err("it is computed from other columns"));
        }
        let (schema, name) = (table.name.schema(), table.name.table());
        let metadata = self
            .connection
            .column_metadata(Some(schema), name, &column.name)?;
        if !metadata.collation.eq_ignore_ascii_case("BINARY") {
            return Ok(Err("its collation is not BINARY"));
        }
        let declared = metadata.declared_type.unwrap_or_default();
        Ok(Ok(Nature {
            affinity: Affinity::of(&declared),
            // In a STRICT table, ANY has no affinity; in other tables, it has the affinity of numbers.
            joins: !declared.eq_ignore_ascii_case("ANY"),
        }))
    }
}

/// Returns the column that an output stands for in each arm; `None` where the output is no plain column.
fn in_arms(plan: &Plan, at: usize) -> Vec<Option<PlaceColumn>> {
    let arms = plan.arms.iter();
    arms.map(|arm| arm.outputs.columns.get(at)?.column).collect()
}
