//! A statement that makes groups, as it was read.

use sqlite3_parser::dialect::TokenType::*;

use super::calls::calls_any;
use crate::{
    maintain::{clauses::tokens, keyed::refuse, tools::Tools},
    sql::{
        parse::{self, Query},
        plan::Stop,
        tables::Table,
        tokens as numbering,
    },
};

/// A statement that makes groups, and what is known of what it reads.
pub(super) struct Planner<'a> {
    pub(super) tools: &'a Tools<'a>,
    pub(super) tables: &'a [Table],
    pub(super) query: Query,
    pub(super) numbered: numbering::Numbered,
    /// The functions in it that make one value of many rows.
    pub(super) aggregates: Vec<String>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(tools: &'a Tools<'a>, sql: &str, tables: &'a [Table]) -> Result<Option<Self>, Stop> {
        let Ok(query) = parse::parse(sql) else {
            return Ok(None);
        };
        let [arm] = &query.select.arms[..] else {
            return Ok(None);
        };
        let mut aggregates = Vec::new();
        for function in &arm.functions {
            if tools.catalog.has_aggregate(function)? {
                aggregates.push(function.clone());
            }
        }
        let numbered = numbering::number(sql).map_err(Stop::Refused)?;
        let tokens = tokens(sql).map_err(Stop::Refused)?;
        let is_distinct = matches!(&tokens[..], [_, distinct, ..] if distinct.kind == TK_DISTINCT);
        // The functions are known by name, and `min` and `max` of several arguments make no groups.
        let is_aggregate = |name: &str| aggregates.iter().any(|known| known == name);
        let aggregates_rows = !aggregates.is_empty() && calls_any(sql, &tokens, is_aggregate);
        let makes_groups = arm.grouped_by.is_some() || arm.has_having || is_distinct || aggregates_rows;
        Ok(makes_groups.then_some(Self {
            tools,
            tables,
            query,
            numbered,
            aggregates,
        }))
    }

    pub(super) fn check_aggregates(&self) -> Result<(), Stop> {
        for aggregate in &self.aggregates {
            if !self.tools.catalog.is_builtin(aggregate)? {
                return refuse("it calls an aggregate of its own");
            }
        }
        Ok(())
    }
}
