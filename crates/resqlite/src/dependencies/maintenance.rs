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
//! Of a UNION ALL, each arm is such a SELECT. All have the same columns: the number of the arm stands behind the keys, and
//! where one is asked for rows, the others give none. A row that comes from one arm has no base rows of the others.
//!
//! With a LIMIT, the first rows of that order are kept, more than are shown; see [`KeptWindow`](resqlite_live::KeptWindow).

use std::{ops::Range, sync::Arc};

use resqlite_live::{Collation, Order, OrderTerm, ROWID, TableName, fault::planted};
use resqlite_sqlite::Statement;

use super::{
    clauses::{Clauses, Meaning, Mention, Term, arms},
    expand::Expander,
    keyed::{Keyed, Planner, named_collation, present_with, refuse},
    limit::{self, Limit},
    names::is_rowid,
    parse::{self, Query},
    partners::{self, PARTNERS_DECIDE, Partners},
    plan::{Place, Plan, Rows, Stop},
    syntax::{Output, Refused, Select},
    tables::{Kind, Table},
    through::{Seen, see_through},
    tokens,
    tools::Tools,
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
    /// All columns.
    pub(crate) width: usize,
    /// Of several SELECTs joined by UNION ALL, the column that tells which one a row comes from.
    pub(crate) number_column: Option<usize>,
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
    /// Which of the SELECTs reads it.
    pub(crate) arm: usize,
    /// The first source of that one.
    pub(crate) first: usize,
    pub(crate) absence: Absence,
    /// The rows that come from one base row of it, the key of which is given by the parameters behind those of the
    /// statement.
    pub(crate) some: Arc<str>,
}

/// Whether a row of the result may come from no row of a source: it stands behind LEFT JOIN. A change of it then concerns
/// all rows of the first source that it is joined with, or was.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Absence {
    Never,
    /// Rows that were joined with a row of it are kept.
    Kept,
    /// They need not be.
    Asked(Box<Partners>),
    /// They need not be, and nothing finds them.
    Unknown,
}

const UNKNOWN_COLLATION: Refused = "it is ordered by something whose collation is not known";

impl Source {
    /// Whether it stands behind LEFT JOIN.
    pub(crate) fn is_optional(&self) -> bool {
        self.absence != Absence::Never
    }

    /// Whether its key is the rowid.
    pub(crate) fn has_rowid(&self) -> bool {
        *self.key == [ROWID]
    }
}

impl RowsPlan {
    /// The columns of each table of which images are needed.
    pub(crate) fn needed_images(&self) -> Box<[(TableName, Box<[u16]>)]> {
        let images = |source: &Source| {
            let mut columns = source.key.to_vec();
            if let Absence::Asked(partners) = &source.absence {
                columns.extend_from_slice(&partners.before.needed);
                columns.sort_unstable();
                columns.dedup();
            }
            (source.table.clone(), columns.into())
        };
        self.sources.iter().map(images).collect()
    }
}

/// The tables in FROM, at most.
pub(super) const SOURCES_MAX: usize = 8;

/// Finds out how the result of a statement can be maintained, or why it cannot.
pub(super) fn plan(
    tools: &Tools<'_>,
    sql: &str,
    statement: &Statement,
    tables: &[Table],
) -> crate::core::error::Result<Result<RowsPlan, Refused>> {
    match Planner::new(tools, tables).plan(sql, statement) {
        Ok(plan) => Ok(Ok(plan)),
        Err(Stop::Refused(why)) => Ok(Err(why)),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// One SELECT of a statement: its text, and what it reads.
struct ArmText {
    query: Query,
    plan: Plan,
}

/// The same, cut at its clauses.
struct Arm<'a> {
    clauses: Clauses<'a>,
    select: &'a Select,
    places: &'a [Place],
    sources: &'a [Keyed<'a>],
    absences: Vec<Absence>,
}

impl Planner<'_> {
    fn plan(&self, sql: &str, statement: &Statement) -> Result<RowsPlan, Stop> {
        if !self.catalog.utf8 {
            return refuse("the database does not store text as UTF-8");
        }
        let numbered = tokens::number(sql).map_err(Stop::Refused)?;
        let texts = arms(&numbered.sql).map_err(Stop::Refused)?;
        let read: Vec<ArmText> = texts
            .iter()
            .map(|text| self.read(text))
            .collect::<Result<_, _>>()?;
        let seen: Vec<Seen<'_>> = texts
            .iter()
            .zip(&read)
            .map(|(text, arm)| see_through(self, text, &arm.query.select, &arm.plan.arms[0]))
            .collect::<Result<_, _>>()?;
        let mut arms: Vec<Arm<'_>> = seen
            .iter()
            .zip(&read)
            .map(|(seen, arm)| self.cut(seen, arm))
            .collect::<Result<_, _>>()?;
        if arms.iter().map(|arm| arm.sources.len()).sum::<usize>() > SOURCES_MAX {
            return refuse("it joins too many tables");
        }
        let is_limited = arms[arms.len() - 1].clauses.limit.is_some();
        for ((text, read), arm) in texts.iter().zip(&read).zip(&mut arms) {
            let sql = numbered.by_number(text).map_err(Stop::Refused)?;
            let text = partners::Text {
                sql: &sql,
                select: &read.query.select,
                arm: &read.plan.arms[0],
                parameters: numbered.count,
            };
            arm.absences = self.absences(arm, &text, is_limited, texts.len() > 1)?;
        }
        let last = &arms[arms.len() - 1];
        if seen.iter().any(|seen| seen.is_ordered_inside) && last.clauses.order.is_empty() {
            return refuse("the order is that of a SELECT that it reads");
        }
        let bounds = last.clauses.limit.map(|clause| limit::bounds(clause, &numbered));
        let bounds = bounds.transpose().map_err(Stop::Refused)?;
        if arms.len() > 1 {
            check_arms(&arms).map_err(Stop::Refused)?;
        }
        let made = self.put_together(&arms, bounds, numbered.count, statement)?;
        self.check_columns(&made, statement)?;
        self.check_search(&made, sql)?;
        let reads_through = |arm: &Arm<'_>| {
            arm.sources.len() > arm.places.len() || arm.sources.iter().any(|source| !source.is_plain())
        };
        if arms.iter().any(reads_through) {
            self.check_keys(&made)?;
        }
        Ok(made)
    }

    fn read(&self, sql: &str) -> Result<ArmText, Stop> {
        let query = parse::parse(sql).map_err(Stop::Refused)?;
        check_shape(&query.select)?;
        let plan = Expander::new(self.connection, self.catalog, self.tables).statement(&query.select)?;
        self.check_functions(&plan.arms[0])?;
        Ok(ArmText { query, plan })
    }

    fn cut<'s>(&'s self, seen: &'s Seen<'s>, arm: &'s ArmText) -> Result<Arm<'s>, Stop> {
        Ok(Arm {
            clauses: Clauses::cut(&seen.sql).map_err(Stop::Refused)?,
            select: &arm.query.select,
            places: &arm.plan.arms[0].places,
            sources: &seen.sources,
            absences: Vec::new(),
        })
    }

    /// Which sources may have no row, and how rows are found that were joined with them.
    fn absences(
        &self,
        arm: &Arm<'_>,
        text: &partners::Text<'_>,
        is_limited: bool,
        is_compound: bool,
    ) -> Result<Vec<Absence>, Stop> {
        let named = self.named(arm);
        let decide = partners_decide(&arm.clauses, &named).map_err(Stop::Refused)?
            || is_limited && (is_compound || partners_order(&arm.clauses, &named));
        if decide && arm.sources.len() != arm.places.len() {
            return refuse(PARTNERS_DECIDE);
        }
        let absence = |(position, source): (usize, &Keyed<'_>)| {
            Ok(match () {
                () if !source.is_optional() => Absence::Never,
                () if !decide => Absence::Kept,
                () => match self.partners(text, position)? {
                    Some(partners) => Absence::Asked(Box::new(partners)),
                    None => Absence::Unknown,
                },
            })
        };
        arm.sources.iter().enumerate().map(absence).collect()
    }

    fn named<'s>(&'s self, arm: &Arm<'s>) -> Named<'s> {
        Named {
            places: arm.places,
            tables: self.tables,
            outputs: &arm.select.arms[0].outputs,
        }
    }

    fn put_together(
        &self,
        arms: &[Arm<'_>],
        bounds: Option<String>,
        parameters: usize,
        statement: &Statement,
    ) -> Result<RowsPlan, Stop> {
        let columns = statement.column_count();
        let mut ordered = self.order(arms, statement)?;
        let descending = ordered.terms.last().is_some_and(|term| term.descending);
        let keys_start = columns + ordered.more.len();
        let width = arms.iter().map(Arm::key_columns).max().unwrap_or(0);
        let number_column = (arms.len() > 1).then_some(keys_start + width);
        let mut last_columns = keys_start..keys_start + width + usize::from(number_column.is_some());
        if let (Some(column), []) = (number_column, &ordered.terms[..]) {
            ordered.by_arm(column);
            last_columns.end = column;
        }
        // Behind the columns of the result: what it is ordered by, the keys, and of several arms the number.
        let more: Vec<Vec<String>> = (0..)
            .zip(arms)
            .map(|(number, arm)| {
                let keys = arm.sources.iter().flat_map(|source| &source.key);
                let mut more = ordered.more.clone();
                more.extend(keys.map(|(_, column)| column.clone()));
                if number_column.is_some() {
                    more.resize(ordered.more.len() + width, "NULL".into());
                    more.push(format!("{number}"));
                }
                more
            })
            .collect();
        let last_terms = last_columns.map(|column| match number_column {
            Some(_) => (column + 1).to_string(),
            None => more[0][column - columns].clone(),
        });
        let direction = if descending && !planted("ties_ascend") {
            " DESC"
        } else {
            ""
        };
        let last_terms = last_terms.map(|term| format!("{term}{direction}"));
        let order: Vec<String> = ordered.texts.into_iter().chain(last_terms).collect();
        let rows = arms.iter().zip(&more);
        let rows: Vec<String> = rows.map(|(arm, more)| arm.clauses.all_rows(more)).collect();
        let all = format!("{} ORDER BY {}", rows.join(UNION), order.join(", "));

        let mut parameter = parameters;
        let one: Vec<String> = arms
            .iter()
            .zip(&more)
            .map(|(arm, more)| {
                let keys = arm.sources.iter().map(|source| {
                    // With `=`, SQLite would take rows without a partner for impossible.
                    let operator = if source.is_optional() { "IS" } else { "=" };
                    source.has_key(operator, &mut parameter)
                });
                let keys: Vec<String> = keys.collect();
                arm.clauses.some_rows(more, &[], &keys.join(" AND "))
            })
            .collect();
        let mut sources = Vec::new();
        for (number, arm) in arms.iter().enumerate() {
            let (first, mut start) = (sources.len(), keys_start);
            for (source, absence) in arm.sources.iter().zip(&arm.absences) {
                let mut parameter = parameters;
                let present: Vec<String> = present_with(source, arm.sources).map(Keyed::is_there).collect();
                let condition = source.has_key("=", &mut parameter);
                // Where they stand, parameters have the same numbers and names in every statement.
                let some = arms.iter().zip(&more).enumerate().map(|(other, (arm, more))| {
                    if other == number {
                        arm.clauses.some_rows(more, &present, &condition)
                    } else {
                        arm.clauses.some_rows(more, &[], "0")
                    }
                });
                let some: Vec<String> = some.collect();
                sources.push(Source {
                    table: source.table.name.clone(),
                    key: source.key.iter().map(|(column, _)| *column).collect(),
                    columns: start..start + source.key.len(),
                    arm: number,
                    first,
                    absence: absence.clone(),
                    some: some.join(UNION).into(),
                });
                start += source.key.len();
            }
        }
        let limit = bounds.map(|bounds| Limit {
            bounds: bounds.into(),
            first: format!("{all} LIMIT ?{}", parameters + 1).into(),
        });
        Ok(RowsPlan {
            sources: sources.into(),
            all: match arms[arms.len() - 1].clauses.limit {
                Some(clause) => format!("{all} {clause}").into(),
                None => all.into(),
            },
            limit,
            one: one.join(UNION).into(),
            order: Order::new(ordered.terms.into(), descending),
            columns,
            width: columns + more[0].len(),
            number_column,
            sort: ordered.sort.into(),
            parameters,
        })
    }

    /// What the statement is ordered by.
    fn order(&self, arms: &[Arm<'_>], statement: &Statement) -> Result<Ordered, Stop> {
        let (first, last) = (&arms[0], &arms[arms.len() - 1]);
        let columns = statement.column_count();
        let mut ordered = Ordered::default();
        for term in &last.clauses.order {
            let column = if arms.len() > 1 {
                let column = self.ordered_in_all(term, first, statement);
                Some(column.map_err(Stop::Refused)?)
            } else {
                ordered_by(term, first.select, columns).map_err(Stop::Refused)?
            };
            ordered.sort.push(column.unwrap_or(columns + ordered.more.len()));
            if column.is_none() {
                ordered.more.push(term.value.to_owned());
            }
            let mut collation = Collation::Binary;
            for arm in arms {
                collation = self.term_collation(term, column.is_some(), &arm.clauses, arm.sources)?;
            }
            ordered.texts.push(term.text.to_owned());
            ordered.terms.push(OrderTerm {
                collation,
                descending: term.descending,
                nulls_last: term.nulls_last,
            });
        }
        Ok(ordered)
    }

    /// The column of the result that a term of several arms means: its number, or a name that means nothing else in the
    /// first arm, where SQLite looks first.
    fn ordered_in_all(
        &self,
        term: &Term<'_>,
        first: &Arm<'_>,
        statement: &Statement,
    ) -> Result<usize, Refused> {
        let columns = statement.column_count();
        let name = match &term.meaning {
            Meaning::Ordinal(number) if (1..=columns).contains(number) => return Ok(number - 1),
            Meaning::Name(name) => name,
            _ => return Err(UNCERTAIN_ORDER),
        };
        let is_it = |column: &usize| statement.column_name(*column).eq_ignore_ascii_case(name);
        let found: Vec<usize> = (0..columns).filter(is_it).collect();
        let [column] = found[..] else {
            return Err(UNCERTAIN_ORDER);
        };
        let mention = Mention {
            table: None,
            name: name.clone(),
        };
        let has_alias = first.select.arms[0]
            .outputs
            .iter()
            .any(|output| output.is_called(name));
        if has_alias || self.named(first).meant(&mention).count() == 1 {
            Ok(column)
        } else {
            Err(UNCERTAIN_ORDER)
        }
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
            if made.column_count() != plan.width || !(0..plan.columns).all(is_same) {
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

const UNION: &str = " UNION ALL ";
const UNCERTAIN_ORDER: Refused = "it is not certain by which column of several SELECTs it is ordered";

/// What a statement is ordered by.
#[derive(Default)]
struct Ordered {
    /// What is no column of the result.
    more: Vec<String>,
    /// The terms of ORDER BY.
    texts: Vec<String>,
    terms: Vec<OrderTerm>,
    /// The columns that hold their values.
    sort: Vec<usize>,
}

impl Ordered {
    /// By the number of the arm, in this column.
    fn by_arm(&mut self, column: usize) {
        self.texts.push(format!("{}", column + 1));
        self.sort.push(column);
        self.terms.push(OrderTerm {
            collation: Collation::Binary,
            descending: false,
            nulls_last: false,
        });
    }
}

impl Arm<'_> {
    /// How many columns the keys of its sources have.
    fn key_columns(&self) -> usize {
        self.sources.iter().map(|source| source.key.len()).sum()
    }
}

/// Whether the rows of several arms have one order, which needs no more than their sources.
fn check_arms(arms: &[Arm<'_>]) -> Result<(), Refused> {
    for source in arms.iter().flat_map(|arm| arm.sources) {
        // Where it has no row, it would be compared with that of another arm column by column.
        if source.is_optional() && source.key.len() > 1 {
            return Err("in several SELECTs, a table behind LEFT JOIN has a key of several columns");
        }
    }
    Ok(())
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
        () if arm.grouped_by.is_some() || arm.has_having => refuse("one of several SELECTs makes groups"),
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

/// Whether a condition may leave out rows for what their partner behind LEFT JOIN is. If none does, the rows of the result
/// tell which partners all rows have.
fn partners_decide(clauses: &Clauses<'_>, named: &Named<'_>) -> Result<bool, Refused> {
    let places = named.places;
    let Some(first) = places.iter().position(Place::is_optional) else {
        return Ok(false);
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
    let mut names = inner.flat_map(|at| &joins[at]).chain(&condition);
    Ok(names.any(|name| named.is_behind_left_join(name)) && !planted("partners_decide"))
}

/// Whether where a row of the result stands in it may depend on its partners behind LEFT JOIN. With a LIMIT, not all rows
/// are kept that tell which partners others had.
fn partners_order(clauses: &Clauses<'_>, named: &Named<'_>) -> bool {
    if !named.places.iter().any(Place::is_optional) {
        return false;
    }
    let depends = |term: &Term<'_>| {
        let is_result = match &term.meaning {
            Meaning::Name(name) => named.outputs.iter().any(|output| output.is_called(name)),
            meaning => matches!(meaning, Meaning::Ordinal(_)),
        };
        let mut names = term.mentions.iter();
        is_result || names.any(|name| named.is_behind_left_join(name))
    };
    clauses.order.iter().any(depends) && !planted("partners_order")
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
