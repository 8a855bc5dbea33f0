//! The statements that maintain groups.

use std::{ops::Range, sync::Arc};

use resqlite_live::{Aggregate, GroupTerm, Order, TableName};

use crate::maintain::{given_tables::GivenTable, images::OverImages};

/// The statements that maintain groups.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GroupsPlan {
    /// The result, in the order in which the live query has it.
    pub(crate) all: Arc<str>,
    /// If it has a LIMIT: the values of LIMIT and OFFSET.
    pub(crate) bounds: Option<Arc<str>>,
    /// For each row of the table: the number 1, the values of its group, and the arguments of the aggregates.
    pub(crate) contributions: Arc<str>,
    /// The same for the rows of some groups, if that is needed and an index finds these rows.
    pub(crate) of_groups: Option<OfGroups>,
    /// The tables that it reads.
    pub(crate) sources: Box<[GroupsSource]>,
    /// The statement that makes the result from groups. Behind the result's columns are the values by which it is ordered, and
    /// the values of the groups.
    pub(crate) output: Arc<str>,
    /// The table of groups: if there is only one base table, its columns, and behind them the terms and the aggregates.
    pub(crate) groups_table: GivenTable,
    /// The number of columns of the base table in `groups_table`.
    pub(crate) width: usize,
    pub(crate) terms: Box<[GroupTerm]>,
    /// For each term, the column that it is, if it is a plain column.
    pub(crate) term_columns: Box<[Option<u16>]>,
    pub(crate) aggregates: Box<[Aggregate]>,
    /// For each aggregate the column of `contributions` that holds its argument.
    pub(crate) arguments: Box<[Option<usize>]>,
    /// The statement has GROUP BY or DISTINCT. Otherwise there is always one group.
    pub(crate) is_grouped: bool,
    pub(crate) order: Order,
    /// The columns of the result.
    pub(crate) columns: usize,
    /// The columns of `output` that hold the values that it is ordered by.
    pub(crate) sort: Box<[usize]>,
    /// The columns of `output` that hold the values of the group.
    pub(crate) key: Range<usize>,
}

impl GroupsPlan {
    /// The columns of which images are needed.
    pub(crate) fn needed_images(&self) -> Box<[(TableName, Box<[u16]>)]> {
        let images = self.sources.iter().filter_map(|source| source.images.as_ref());
        images
            .map(|over| (over.table.clone(), over.needed.clone()))
            .collect()
    }
}

/// The statement that reads the contributions of the rows of some groups.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OfGroups {
    pub(crate) sql: Arc<str>,
    /// The groups, by the values of their terms.
    pub(crate) given: GivenTable,
}

/// A table whose rows make groups, perhaps together with rows of others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GroupsSource {
    pub(crate) table: TableName,
    /// The statement `contributions` for images of the table, with their signs: 1 adds, -1 takes back. `None` if the images are
    /// joined with rows that can only be found by reading a whole table.
    pub(crate) images: Option<OverImages>,
}
