//! The conditions on the rows of each table that follow from the conditions of a statement.
//!
//! The invariant: at each place, a row that does not fulfil the facts given for the place cannot change the result, whatever the
//! other rows are. The invariant rests on this:
//!
//! - A comparison is not true for NULL. So if WHERE, or ON of an inner join, must be true, a row that does not fulfil it
//!   is in no row of the result. Neither is the row of NULLs that may replace it.
//! - ON of a LEFT JOIN says nothing about the tables before it. But a row of the joined table that does not fulfil ON joins
//!   with nothing.
//! - A column that equals a known value is known. If it also equals a column of an outer query, the outer column has the
//!   known value, or it is NULL, which equals nothing.
//! - A row of a view or subquery that does not matter outside need not exist. So conditions on the columns of the view or
//!   subquery also hold inside, unless rows there depend on other rows, as with LIMIT, windows, and aggregates of other groups.

use super::{
    catalog::Catalog,
    plan::{ArmPlan, Equality, Fact, Place, PlaceColumn, Plan, Rows},
    syntax::Join,
    templates::Template,
};
use crate::core::error::Result;

/// The largest number of facts of one SELECT. Further facts are not derived.
const FACTS_MAX: usize = 256;

/// A place at which a table is read.
#[derive(Debug)]
pub(super) struct Occurrence {
    pub(super) place: usize,
    /// The table, by its position among the tables that the statement reads.
    pub(super) table: usize,
    /// The conditions that its rows must fulfil to matter.
    pub(super) templates: Vec<Template>,
    /// A column that must equal another column, whose value is not known.
    pub(super) open_key: Option<u16>,
}

/// Finds the conditions that rows must fulfil at each place of a statement.
pub(super) fn occurrences(catalog: &Catalog<'_>, plan: &Plan) -> Result<Vec<Occurrence>> {
    let mut search = Search {
        catalog,
        found: Vec::new(),
    };
    search.query(plan, &[], &[])?;
    Ok(search.found)
}

struct Search<'a> {
    catalog: &'a Catalog<'a>,
    found: Vec<Occurrence>,
}

impl Search<'_> {
    /// Searches a query. `outer`: the known facts about the columns of outer queries. `asked`: the conditions that its own columns
    /// must fulfil.
    fn query(&mut self, plan: &Plan, outer: &[Fact], asked: &[Template]) -> Result<()> {
        for arm in &plan.arms {
            let inside = if plan.is_limited {
                Vec::new()
            } else {
                self.inside(arm, asked)?
            };
            self.arm(arm, outer, inside)?;
        }
        self.queries(&plan.subqueries, outer)
    }

    fn queries(&mut self, plans: &[Plan], outer: &[Fact]) -> Result<()> {
        plans.iter().try_for_each(|plan| self.query(plan, outer, &[]))
    }

    /// Returns the conditions that the columns of a result must fulfil, as facts about the columns inside.
    fn inside(&self, arm: &ArmPlan, asked: &[Template]) -> Result<Vec<Fact>> {
        if asked.is_empty() || self.mixes_rows(arm)? {
            return Ok(Vec::new());
        }
        let inside = asked.iter().filter_map(|template| {
            let output = arm.outputs.columns.get(usize::from(template.column))?;
            let column = output.column?;
            let is_grouped = arm.grouped_by.as_ref().is_none_or(|by| by.contains(&column));
            is_grouped.then(|| Fact::of(template, column))
        });
        Ok(inside.collect())
    }

    /// Returns whether a row of the result may depend on rows that share no column with it.
    fn mixes_rows(&self, arm: &ArmPlan) -> Result<bool> {
        if arm.has_window || arm.grouped_by.is_some() {
            return Ok(arm.has_window);
        }
        for name in &arm.functions {
            if self.catalog.has_aggregate(name)? {
                return Ok(true);
            }
        }
        Ok(arm.has_having)
    }

    fn arm(&mut self, arm: &ArmPlan, outer: &[Fact], inside: Vec<Fact>) -> Result<()> {
        let facts = facts(arm, outer, inside);
        for place in &arm.places {
            let mut here = facts.clone();
            if place.join == Join::Left {
                here.extend(place.on.facts.iter().cloned());
                spread(&mut here, arm.terms.equalities.iter().chain(&place.on.equalities));
            }
            self.place(arm, place, outer, &here)?;
            self.queries(&place.on.subqueries, &here)?;
        }
        self.queries(&arm.terms.subqueries, &facts)?;
        self.queries(&arm.subqueries, &facts)
    }

    fn place(&mut self, arm: &ArmPlan, place: &Place, outer: &[Fact], here: &[Fact]) -> Result<()> {
        let own = here.iter().filter(|fact| fact.place == place.number);
        let templates: Vec<Template> = own.map(|fact| fact.template.clone()).collect();
        match &place.rows {
            Rows::Table(table) => {
                let equalities = arm.terms.equalities.iter().chain(&place.on.equalities);
                let mut ends = equalities.flat_map(|equality| [equality.left, equality.right]);
                self.found.push(Occurrence {
                    place: place.number,
                    table: *table,
                    open_key: ends.find(|end| end.place == place.number).map(|end| end.index),
                    templates,
                });
                Ok(())
            }
            Rows::Query(plan, _) => self.query(plan, outer, &templates),
            Rows::Other(arguments, _) => self.queries(arguments, here),
        }
    }
}

/// Returns the known facts about the columns in a SELECT.
fn facts(arm: &ArmPlan, outer: &[Fact], inside: Vec<Fact>) -> Vec<Fact> {
    let mut facts = inside;
    facts.extend(outer.iter().chain(&arm.terms.facts).cloned());
    for place in &arm.places {
        if let Rows::Query(plan, _) = &place.rows {
            facts.extend(results(plan, outer).iter().map(|template| Fact {
                place: place.number,
                template: template.clone(),
            }));
        }
    }
    spread(&mut facts, &arm.terms.equalities);
    facts
}

/// Returns the known conditions on the columns of a result: each column is NULL or fulfils them.
fn results(plan: &Plan, outer: &[Fact]) -> Vec<Template> {
    let [arm] = &plan.arms[..] else {
        return Vec::new();
    };
    let facts = facts(arm, outer, Vec::new());
    let of_output = |(index, column): (u16, Option<PlaceColumn>)| {
        let facts = facts.iter().filter(move |fact| Some(fact.column()) == column);
        facts.map(move |fact| Template {
            column: index,
            ..fact.template.clone()
        })
    };
    let columns = arm.outputs.columns.iter().map(|output| output.column);
    (0..).zip(columns).flat_map(of_output).collect()
}

/// Adds the facts that follow from the equality of columns.
fn spread<'e>(facts: &mut Vec<Fact>, equalities: impl IntoIterator<Item = &'e Equality>) {
    let equalities: Vec<&Equality> = equalities.into_iter().collect();
    let mut next = 0;
    while next < facts.len() && facts.len() < FACTS_MAX {
        for equality in &equalities {
            let derived = follow(&facts[next], equality);
            if let Some(derived) = derived.filter(|derived| !facts.contains(derived)) {
                facts.push(derived);
            }
        }
        next += 1;
    }
}

/// Returns the fact that holds for one side of an equality because it holds for the other side.
fn follow(fact: &Fact, equality: &Equality) -> Option<Fact> {
    let other = match fact.column() {
        column if column == equality.left => equality.right,
        column if column == equality.right => equality.left,
        _ => return None,
    };
    let mut derived = Fact::of(&fact.template, other);
    derived.template.affinity = fact.template.affinity.with(equality.affinity)?;
    Some(derived)
}
