//! Runs the statements that maintain groups. They read what rows contribute to groups, and make the result of the groups.

use std::sync::Arc;

use resqlite_live::{AggregateValue, Contribution, Difference, Group, Groups, KeptRow, SourceKey, Value};
use resqlite_sqlite::{Rows, Statement, ValueRef};
use smallvec::smallvec;

use super::{
    compare::{Before, TakeRows},
    engine_connection::EngineConnection,
    given::{GivenImage, GivenImages},
    keep::{Keep, missing},
};
use crate::{
    core::{
        error::Result,
        limits,
        live_value::{borrowed, owned},
    },
    maintain::{GroupsPlan, OfGroups, OverImages},
    requests::request::Query,
    rows::{ColumnLayout, fingerprint},
};

/// The query of a live query, with the way in which its groups are maintained.
#[derive(Clone, Copy)]
pub(crate) struct Grouped<'a> {
    pub(crate) query: &'a Query,
    pub(crate) plan: &'a GroupsPlan,
    /// The columns of the result.
    pub(crate) layout: &'a Arc<ColumnLayout>,
    /// The seed of the fingerprints.
    pub(crate) seed: u64,
}

/// A group: the values of its terms, and what is kept of the group.
pub(crate) type GivenGroup<'a> = (&'a [Value], &'a Group);

/// Groups, presented as the rows of the table of groups.
struct GivenGroups<'a>(&'a GroupsPlan, &'a [GivenGroup<'a>]);

impl Rows for GivenGroups<'_> {
    fn len(&self) -> usize {
        self.1.len()
    }

    fn rowid(&self, _: usize) -> Option<i64> {
        None
    }

    fn value(&self, row: usize, column: usize) -> Option<ValueRef<'_>> {
        let Self(plan, groups) = self;
        let (values, group) = groups[row];
        let Some(behind) = column.checked_sub(plan.width) else {
            let is_it = |term: &Option<u16>| term.map(usize::from) == Some(column);
            let term = plan.term_columns.iter().position(is_it)?;
            return Some(borrowed(&values[term]));
        };
        Some(match behind.checked_sub(values.len()) {
            None => borrowed(&values[behind]),
            Some(aggregate) => match group.value(aggregate) {
                AggregateValue::Null => ValueRef::Null,
                AggregateValue::Integer(value) => ValueRef::Integer(value),
                AggregateValue::Real(value) => ValueRef::Real(value),
                AggregateValue::Extreme(value) => borrowed(value),
            },
        })
    }
}

/// Groups by the values of their terms.
struct GivenValues<'a>(&'a [Box<[Value]>]);

impl Rows for GivenValues<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn rowid(&self, _: usize) -> Option<i64> {
        None
    }

    fn value(&self, row: usize, column: usize) -> Option<ValueRef<'_>> {
        self.0[row].get(column).map(borrowed)
    }
}

impl EngineConnection {
    /// Runs the whole query, and keeps no part of its result.
    ///
    /// # Errors
    /// The errors of [`compare`](Self::compare).
    pub(crate) fn compare_groups(
        &mut self,
        query: &Query,
        plan: &GroupsPlan,
        before: &Before<'_>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<(Arc<ColumnLayout>, Option<Difference>)> {
        self.compare_rows(&plan.all, query, None, before, take_rows, &mut |_, _| {})
    }

    /// Returns the groups of all rows. Returns `None` if they would differ from what SQLite finds, or take more than
    /// [`limits::KEPT_BYTES`].
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn groups(&mut self, grouped: Grouped<'_>) -> Result<Option<Groups>> {
        let plan = grouped.plan;
        self.run_with(grouped.query, &plan.contributions, |run| {
            read_groups(&mut run.prepared.statement, plan, |groups, _| {
                groups.weight() <= limits::KEPT_BYTES
            })
        })
    }

    /// Returns the groups of these values, made of all their rows. Returns `None` if they would differ from what SQLite finds, or have
    /// more rows than `most`.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn groups_of(
        &mut self,
        Grouped { query, plan, .. }: Grouped<'_>,
        of_groups: &OfGroups,
        values: &[Box<[Value]>],
        most: usize,
    ) -> Result<Option<Groups>> {
        let given = GivenValues(values);
        self.run_given(query, &of_groups.given, &given, &of_groups.sql, |run| {
            read_groups(&mut run.prepared.statement, plan, |_, rows| rows <= most)
        })
    }

    /// Returns the contributions of new images to the groups, and those of old images. Returns `None` if there are more than `most` of
    /// either.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn contributions(
        &mut self,
        Grouped { query, plan, .. }: Grouped<'_>,
        over: &OverImages,
        images: &[GivenImage<'_>],
        most: usize,
    ) -> Result<Option<(Vec<Contribution>, Vec<Contribution>)>> {
        let (mut came, mut left) = (Vec::new(), Vec::new());
        let given = GivenImages(over, images);
        self.run_given(query, &over.given, &given, &over.sql, |run| {
            let statement = &mut run.prepared.statement;
            while came.len().max(left.len()) <= most && statement.step()? {
                let mut row = no_contribution(plan);
                read_contribution(statement, plan, &mut row);
                let is_new = statement.column(0) == ValueRef::Integer(1);
                if is_new { &mut came } else { &mut left }.push(row);
            }
            Ok(())
        })?;
        let is_all = came.len().max(left.len()) <= most;
        Ok(is_all.then_some((came, left)))
    }

    /// Makes the result of all groups, compares it with the previous result, and keeps its rows.
    ///
    /// # Errors
    /// The errors of [`compare`](Self::compare).
    pub(crate) fn compare_and_keep_groups(
        &mut self,
        grouped: Grouped<'_>,
        groups: &[GivenGroup<'_>],
        before: &Before<'_>,
        take_rows: &mut TakeRows<'_>,
        keep: &mut Keep,
    ) -> Result<Option<Difference>> {
        let Grouped {
            query, plan, layout, ..
        } = grouped;
        let given = GivenGroups(plan, groups);
        self.run_given(query, &plan.groups_table, &given, &plan.output, |run| {
            let row = run.prepared.first_step()?;
            let mut see = |statement: &Statement, print| keep.add(|| kept_row(statement, plan, print));
            let layout = Arc::clone(layout);
            let (_, difference) = run.compare(row, layout, query.integers, before, take_rows, &mut see)?;
            Ok(difference)
        })
    }

    /// Returns the rows of the result that these groups make.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn rows_of_groups(
        &mut self,
        grouped: Grouped<'_>,
        groups: &[GivenGroup<'_>],
    ) -> Result<Vec<KeptRow>> {
        let plan = grouped.plan;
        let given = GivenGroups(plan, groups);
        self.run_given(grouped.query, &plan.groups_table, &given, &plan.output, |run| {
            let statement = &mut run.prepared.statement;
            let mut rows = Vec::new();
            while statement.step()? {
                let print = fingerprint(statement, plan.columns, grouped.seed);
                rows.push(kept_row(statement, plan, print));
            }
            Ok(rows)
        })
    }

    /// Hands over those rows of [`rows_of_groups`](Self::rows_of_groups) that are new. They are in the order of the result. If a row is
    /// missing before any row is handed over, returns `false`.
    ///
    /// # Errors
    /// SQLite's errors; [`Error::Aborted`] if `take_rows` wants no more rows.
    pub(crate) fn hand_over_groups<'r>(
        &mut self,
        grouped: Grouped<'_>,
        groups: &[GivenGroup<'_>],
        new: impl Iterator<Item = &'r KeptRow>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<bool> {
        let Grouped {
            query,
            plan,
            layout,
            seed,
        } = grouped;
        let mut new = new.peekable();
        let given = GivenGroups(plan, groups);
        self.run_given(query, &plan.groups_table, &given, &plan.output, |run| {
            run.packer.begin(plan.columns, query.integers);
            let mut handed_over = false;
            while new.peek().is_some() && run.prepared.statement.step()? {
                let statement = &run.prepared.statement;
                let print = fingerprint(statement, plan.columns, seed);
                let is_next =
                    |row: &&KeptRow| row.fingerprint == print && **row == kept_row(statement, plan, print);
                if new.next_if(is_next).is_none() {
                    continue;
                }
                if run.packer.is_full(limits::ROW_BATCH_ROWS_MAX) {
                    run.hand_over_full(layout, take_rows)?;
                    handed_over = true;
                }
                run.packer.push(&run.prepared.statement)?;
            }
            match new.peek() {
                Some(_) => missing(handed_over),
                None => {
                    run.hand_over_new(layout, take_rows)?;
                    Ok(true)
                }
            }
        })
    }
}

/// Makes a contribution of NULLs, into which rows are read.
fn no_contribution(plan: &GroupsPlan) -> Contribution {
    Contribution {
        group: vec![Value::Null; plan.terms.len()].into(),
        arguments: vec![Value::Null; plan.arguments.len()].into(),
    }
}

/// Reads the groups of all rows of `contributions`. Returns `None` if they would differ from what SQLite finds, or if `may_be` refuses
/// them. `may_be` gets the groups read so far, and the number of rows that have made them.
fn read_groups(
    statement: &mut Statement,
    plan: &GroupsPlan,
    may_be: impl Fn(&Groups, usize) -> bool,
) -> Result<Option<Groups>> {
    let mut groups = Groups::new(plan.terms.clone(), plan.aggregates.clone());
    let (mut row, mut rows) = (no_contribution(plan), 0);
    while statement.step()? {
        rows += 1;
        read_contribution(statement, plan, &mut row);
        if groups.add(&row.group, &row.arguments).is_err() || !may_be(&groups, rows) {
            return Ok(None);
        }
    }
    Ok(Some(groups))
}

/// Reads the contribution of the current row of a statement.
fn read_contribution(statement: &Statement, plan: &GroupsPlan, row: &mut Contribution) {
    for (at, value) in row.group.iter_mut().enumerate() {
        *value = owned(statement.column(1 + at));
    }
    for (argument, column) in row.arguments.iter_mut().zip(&plan.arguments) {
        if let Some(column) = column {
            *argument = owned(statement.column(*column));
        }
    }
}

/// Makes the [`KeptRow`] of the current row of the statement that gives the result.
fn kept_row(statement: &Statement, plan: &GroupsPlan, fingerprint: u64) -> KeptRow {
    let value = |column: usize| owned(statement.column(column));
    KeptRow {
        sort: plan.sort.iter().copied().map(value).collect(),
        sources: smallvec![SourceKey::Columns(plan.key.clone().map(value).collect())],
        fingerprint,
    }
}
