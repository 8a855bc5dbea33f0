//! How the result of a statement is maintained: the statements that ask for some of its rows again.
//!
//! Each row of a plain SELECT comes from one row of each table in FROM. So the row gets the keys of those base rows as
//! further columns, and with them the values that it is ordered by. When base rows have changed, the rows that came from
//! them are dropped, and the same SELECT with one more condition, the key of a changed base row, returns those that are
//! there now. SQLite evaluates everything.
//!
//! Rows whose values of ORDER BY are equal come in the order of the keys of their base rows, in the direction of the last
//! term: an index serves that. So the order is total, and a row has one place in it.
//!
//! With a LIMIT, the first rows of that order are kept, more than are shown; see [`KeptWindow`](resqlite_live::KeptWindow).

use std::{ops::Range, sync::Arc};

use resqlite_live::{Collation, Order, OrderTerm, ROWID, TableName, fault::planted};
use resqlite_sqlite::{Connection, Statement};

use super::{
    catalog::Catalog,
    clauses::{Clauses, Meaning, Mention, Term},
    expand::Expander,
    keyed::{Keyed, Planner, named_collation, present_with, refuse},
    limit::{self, Limit},
    names::is_rowid,
    parse::{self, Query},
    plan::{Place, Rows, Stop},
    syntax::{Output, Refused, Select},
    tables::{Kind, Table},
    through::see_through,
    tokens,
};

/// The statements that maintain a result. Their columns: those of the result, the values that it is ordered by, the keys
/// of the base rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowsPlan {
    /// All rows of the result, in order.
    pub(crate) all: Arc<str>,
    /// If it has a LIMIT: what else is asked for.
    pub(crate) limit: Option<Limit>,
    /// The row of certain base rows. The parameters behind those of the statement are the keys of all sources.
    pub(crate) one: Arc<str>,
    pub(crate) order: Order,
    /// The columns of the result.
    pub(crate) columns: usize,
    /// The columns that hold the values that it is ordered by.
    pub(crate) sort: Box<[usize]>,
    /// The tables of FROM.
    pub(crate) sources: Box<[Source]>,
    /// How many parameters the statement has.
    pub(crate) parameters: usize,
}

/// A table of FROM.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    pub(crate) table: TableName,
    /// The columns of its key, as images count them.
    pub(crate) key: Box<[u16]>,
    /// The columns that hold its key in the result.
    pub(crate) columns: Range<usize>,
    /// A row of the result may come from no row of it: it stands behind LEFT JOIN.
    pub(crate) is_optional: bool,
    /// The rows that come from one base row of it, the key of which is given by the parameters behind those of the
    /// statement.
    pub(crate) some: Arc<str>,
}

const UNKNOWN_COLLATION: Refused = "it is ordered by something whose collation is not known";

impl Source {
    /// Whether its key is the rowid.
    pub(crate) fn has_rowid(&self) -> bool {
        *self.key == [ROWID]
    }
}

impl RowsPlan {
    /// The columns that are the key of each table.
    pub(crate) fn keys(&self) -> Box<[(TableName, Box<[u16]>)]> {
        let keys = self.sources.iter();
        keys.map(|source| (source.table.clone(), source.key.clone()))
            .collect()
    }
}

/// The tables in FROM, at most.
const SOURCES_MAX: usize = 8;

/// Finds out how the result of a statement can be maintained, or why it cannot.
pub(super) fn plan(
    connection: &Connection,
    catalog: &Catalog<'_>,
    sql: &str,
    statement: &Statement,
    tables: &[Table],
) -> crate::core::error::Result<Result<RowsPlan, Refused>> {
    let planner = Planner {
        connection,
        catalog,
        tables,
    };
    match planner.plan(sql, statement) {
        Ok(plan) => Ok(Ok(plan)),
        Err(Stop::Refused(why)) => Ok(Err(why)),
        Err(Stop::Error(error)) => Err(error),
    }
}

impl Planner<'_> {
    fn plan(&self, sql: &str, statement: &Statement) -> Result<RowsPlan, Stop> {
        if !self.catalog.utf8 {
            return refuse("the database does not store text as UTF-8");
        }
        let query = parse::parse(sql).map_err(Stop::Refused)?;
        check_shape(&query.select)?;
        let mut expander = Expander::new(self.connection, self.catalog, self.tables);
        let plan = expander.statement(&query.select)?;
        let arm = &plan.arms[0];
        self.check_functions(arm)?;
        let numbered = tokens::number(sql).map_err(Stop::Refused)?;
        let seen = see_through(self, &numbered.sql, &query.select, arm)?;
        if seen.sources.len() > SOURCES_MAX {
            return refuse("it joins too many tables");
        }
        let clauses = Clauses::cut(&seen.sql).map_err(Stop::Refused)?;
        if seen.is_ordered_inside && clauses.order.is_empty() {
            return refuse("the order is that of a SELECT that it reads");
        }
        let named = Named {
            places: &arm.places,
            tables: self.tables,
            outputs: &query.select.arms[0].outputs,
        };
        check_partners(&clauses, &named).map_err(Stop::Refused)?;
        let bounds = clauses.limit.map(|clause| limit::bounds(clause, &numbered));
        let bounds = bounds.transpose().map_err(Stop::Refused)?;
        if bounds.is_some() {
            check_order(&clauses, &named).map_err(Stop::Refused)?;
        }
        let made = self.put_together(&query, &clauses, bounds, &seen.sources, statement)?;
        self.check_columns(&made, statement)?;
        self.check_search(&made, sql)?;
        if seen.sources.len() > arm.places.len() || seen.sources.iter().any(|source| !source.is_plain()) {
            self.check_keys(&made)?;
        }
        Ok(made)
    }

    fn put_together(
        &self,
        query: &Query,
        clauses: &Clauses<'_>,
        bounds: Option<String>,
        sources: &[Keyed<'_>],
        statement: &Statement,
    ) -> Result<RowsPlan, Stop> {
        let (columns, parameters) = (statement.column_count(), query.parameters.1);
        let (mut more, mut sort, mut terms) = (Vec::new(), Vec::new(), Vec::new());
        for term in &clauses.order {
            let column = ordered_by(term, &query.select, columns).map_err(Stop::Refused)?;
            sort.push(column.unwrap_or(columns + more.len()));
            if column.is_none() {
                more.push(term.value.to_owned());
            }
            terms.push(OrderTerm {
                collation: self.term_collation(term, column.is_some(), clauses, sources)?,
                descending: term.descending,
                nulls_last: term.nulls_last,
            });
        }
        let identity_descending = terms.last().is_some_and(|term| term.descending);
        let mut last_terms = Vec::new();
        let mut keys = Vec::new();
        for source in sources {
            let start = columns + more.len();
            for (_, column) in &source.key {
                last_terms.push(format!(
                    "{column}{}",
                    if identity_descending && !planted("ties_ascend") {
                        " DESC"
                    } else {
                        ""
                    }
                ));
                more.push(column.clone());
            }
            keys.push(start..columns + more.len());
        }
        let mut parameter = parameters;
        let mut all_keys = Vec::new();
        for source in sources {
            // With `=`, SQLite would take rows without a partner for impossible.
            let operator = if source.is_optional() { "IS" } else { "=" };
            all_keys.push(source.has_key(operator, &mut parameter));
        }
        let sources = sources.iter().zip(keys).map(|(source, columns)| {
            let mut parameter = parameters;
            let present: Vec<String> = present_with(source, sources).map(Keyed::is_there).collect();
            Source {
                table: source.table.name.clone(),
                key: source.key.iter().map(|(column, _)| *column).collect(),
                columns,
                is_optional: source.is_optional(),
                some: clauses
                    .some_rows(&more, &present, &source.has_key("=", &mut parameter))
                    .into(),
            }
        });
        let all = clauses.all_rows(&more, &last_terms);
        let limit = bounds.map(|bounds| Limit {
            bounds: bounds.into(),
            first: format!("{all} LIMIT ?{}", parameters + 1).into(),
        });
        Ok(RowsPlan {
            sources: sources.collect(),
            all: match clauses.limit {
                Some(clause) => format!("{all} {clause}").into(),
                None => all.into(),
            },
            limit,
            one: clauses.some_rows(&more, &[], &all_keys.join(" AND ")).into(),
            order: Order::new(terms.into(), identity_descending),
            columns,
            sort: sort.into(),
            parameters,
        })
    }

    /// By which collation SQLite compares the values of a term.
    fn term_collation(
        &self,
        term: &Term<'_>,
        is_result: bool,
        clauses: &Clauses<'_>,
        sources: &[Keyed<'_>],
    ) -> Result<Collation, Stop> {
        if let Some(name) = &term.collation {
            return named_collation(name);
        }
        if is_result && clauses.gives_collations() && !planted("collation_of_result") {
            return refuse(UNKNOWN_COLLATION);
        }
        if term.value.to_ascii_uppercase().contains("COLLATE") {
            return refuse("it is ordered by an expression with a collation");
        }
        let is_seen_through = sources.iter().any(|source| !source.is_plain());
        if is_seen_through && clauses.reads_collations() && !planted("collation_inside") {
            return refuse(UNKNOWN_COLLATION);
        }
        // Which collation an expression has depends on the columns in it; there is no question where all have the same.
        for source in sources {
            let Kind::Ordinary(columns) = &source.table.kind else {
                continue;
            };
            for column in columns {
                if self.collation(&source.table.name, &column.name)? == Collation::Binary {
                    continue;
                }
                return if is_result {
                    refuse(UNKNOWN_COLLATION)
                } else {
                    self.column_collation(term, sources)
                };
            }
        }
        Ok(Collation::Binary)
    }

    /// The collation of a term that is the name of a column of the only table.
    fn column_collation(&self, term: &Term<'_>, sources: &[Keyed<'_>]) -> Result<Collation, Stop> {
        if let ([source], Meaning::Name(name)) = (sources, &term.meaning)
            && let Some(column) = source.place.column_called(name, self.tables)
            && let Kind::Ordinary(columns) = &source.table.kind
        {
            return self.collation(&source.table.name, &columns[usize::from(column)].name);
        }
        refuse(UNKNOWN_COLLATION)
    }

    /// Whether the result has the columns of the statement.
    fn check_columns(&self, plan: &RowsPlan, statement: &Statement) -> Result<(), Stop> {
        let first = plan.limit.iter().map(|limit| &limit.first);
        let some = plan.sources.iter().map(|source| &source.some);
        for sql in [&plan.all, &plan.one].into_iter().chain(first).chain(some) {
            let Ok(prepared) = self.connection.prepare(sql, false) else {
                return refuse("its parts cannot be asked for");
            };
            let Some(made) = prepared.statement else {
                return refuse("its parts cannot be asked for");
            };
            let is_same = |column| made.column_name(column) == statement.column_name(column);
            let expected = plan
                .sources
                .last()
                .map_or(plan.columns, |source| source.columns.end);
            if made.column_count() != expected || !(0..plan.columns).all(is_same) {
                return refuse("its parts have other columns");
            }
        }
        Ok(())
    }

    /// Whether a few rows in the order of the plan are found as quickly as in any order.
    fn check_search(&self, plan: &RowsPlan, sql: &str) -> Result<(), Stop> {
        let Some(limit) = &plan.limit else {
            return Ok(());
        };
        for other in [&plan.all, &limit.first] {
            if !limit::is_same_search(self.connection, sql, other)? {
                return refuse("with a total order, its rows would have to be found in another way");
            }
        }
        Ok(())
    }

    /// Whether base rows behind other SELECTs are found by their keys.
    fn check_keys(&self, plan: &RowsPlan) -> Result<(), Stop> {
        for sql in plan
            .sources
            .iter()
            .map(|source| &source.some)
            .chain([&plan.one, &plan.all])
        {
            let steps = limit::search(self.connection, sql)?;
            let begins = |with: &str| steps.iter().any(|step| step.starts_with(with));
            let is_apart = begins("MATERIALIZE") || begins("CO-ROUTINE");
            let is_found = begins("SEARCH") || *sql == plan.all;
            if is_apart || !is_found {
                return refuse("SQLite reads a SELECT in FROM apart");
            }
        }
        Ok(())
    }
}

/// What names in a statement can mean.
struct Named<'a> {
    places: &'a [Place],
    tables: &'a [Table],
    outputs: &'a [Output],
}

fn check_shape(select: &Select) -> Result<(), Stop> {
    let [arm] = &select.arms[..] else {
        return refuse("it is a compound SELECT");
    };
    let has_subquery = !select.subqueries.is_empty() || !arm.subqueries.is_empty();
    let in_terms = |terms: &super::syntax::Terms| !terms.subqueries.is_empty();
    match () {
        () if arm.has_window => refuse("it has a window function"),
        () if has_subquery
            || in_terms(&arm.terms)
            || arm.sources.iter().any(|source| in_terms(&source.on)) =>
        {
            refuse("it has a subquery")
        }
        () if arm.sources.is_empty() => refuse("it reads no table"),
        () => Ok(()),
    }
}

/// Rows are found to have gained or lost a partner behind LEFT JOIN by the rows of the result that have one. So no
/// condition may leave out rows for what the partner is.
fn check_partners(clauses: &Clauses<'_>, named: &Named<'_>) -> Result<(), Refused> {
    let places = named.places;
    let Some(first) = places.iter().position(Place::is_optional) else {
        return Ok(());
    };
    let joins = clauses.names_in_joins();
    if joins.len() != places.len() {
        return Err("its FROM could not be read");
    }
    for (at, names) in joins.iter().enumerate() {
        if names.iter().any(|name| named.meant(name).any(|place| place > at)) {
            return Err("a condition of a join names a table to its right");
        }
    }
    let inner = (first..places.len()).filter(|&at| !places[at].is_optional());
    let condition = clauses.names_in_condition();
    for name in inner.flat_map(|at| &joins[at]).chain(&condition) {
        if named.is_behind_left_join(name) && !planted("partners_decide") {
            return Err("a condition leaves out rows behind LEFT JOIN");
        }
    }
    Ok(())
}

/// Where a row of the result stands in it must not depend on its partners behind LEFT JOIN: only rows that are kept tell
/// which partners others had.
fn check_order(clauses: &Clauses<'_>, named: &Named<'_>) -> Result<(), Refused> {
    if !named.places.iter().any(Place::is_optional) {
        return Ok(());
    }
    for term in &clauses.order {
        let is_result = match &term.meaning {
            Meaning::Name(name) => named.outputs.iter().any(|output| output.is_called(name)),
            meaning => matches!(meaning, Meaning::Ordinal(_)),
        };
        let mut names = term.mentions.iter();
        let depends = is_result || names.any(|name| named.is_behind_left_join(name));
        if depends && !planted("partners_order") {
            return Err("with a LIMIT, it is ordered by what stands behind LEFT JOIN");
        }
    }
    Ok(())
}

impl Named<'_> {
    /// Whether a name may mean a column behind LEFT JOIN.
    fn is_behind_left_join(&self, name: &Mention) -> bool {
        let mut meant = self.meant(name).peekable();
        // A name that is no column may be that of a result.
        if meant.peek().is_none() {
            return self.outputs.iter().any(|output| output.is_called(&name.name));
        }
        meant.any(|place| self.places[place].is_optional())
    }

    /// The places in FROM of which a name may mean a column.
    fn meant<'s>(&'s self, mention: &'s Mention) -> impl Iterator<Item = usize> + 's {
        let is_meant = |place: &Place| match &mention.table {
            Some(table) => {
                let called = place.called.as_deref();
                called.is_none_or(|called| called.eq_ignore_ascii_case(table))
            }
            None => self.has_column(place, &mention.name),
        };
        (0..self.places.len()).filter(move |&at| is_meant(&self.places[at]))
    }

    fn has_column(&self, place: &Place, name: &str) -> bool {
        let is_it = |known: &str| known.eq_ignore_ascii_case(name);
        match &place.rows {
            Rows::Table(table) => match &self.tables[*table].kind {
                Kind::Ordinary(columns) => is_rowid(name) || columns.iter().any(|column| is_it(&column.name)),
                Kind::Virtual => true,
            },
            Rows::Query(_, outputs) => {
                let mut columns = outputs.columns.iter();
                outputs.is_open || columns.any(|column| column.name.as_deref().is_none_or(is_it))
            }
            Rows::Other(..) => true,
        }
    }
}

/// The column of the result that a term orders by; `None` where it orders by something else.
pub(super) fn ordered_by(term: &Term<'_>, select: &Select, columns: usize) -> Result<Option<usize>, Refused> {
    if term.value.contains(['?', ':', '@', '$', '#']) {
        return Err("it is ordered by a parameter");
    }
    match &term.meaning {
        Meaning::Ordinal(number) if (1..=columns).contains(number) => Ok(Some(number - 1)),
        Meaning::Ordinal(_) => Err("it is ordered by a column that it does not have"),
        Meaning::Name(name) => alias(name, &select.arms[0].outputs),
        Meaning::Qualified | Meaning::Expression => Ok(None),
        Meaning::Hidden => Err("it is ordered by a hint to the planner"),
    }
}

/// The column of the result that has this name of its own.
fn alias(name: &str, outputs: &[Output]) -> Result<Option<usize>, Refused> {
    let found = outputs.iter().position(|output| output.is_called(name));
    let mut before = outputs[..found.unwrap_or(0)].iter();
    if before.any(|output| matches!(output, Output::Star(_))) {
        return Err("it is ordered by a name behind *");
    }
    Ok(found)
}
