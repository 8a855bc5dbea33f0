//! How the result of a statement that makes groups is maintained: by what changed rows add to their groups.
//!
//! Each row that fulfils WHERE contributes to one group: the values of the terms of GROUP BY, and the arguments of the
//! aggregates. A changed row takes back what its old image contributed and adds what its new one does. The images are
//! shown to SQLite as a table with the declared types and collations of the base table, so it evaluates the statement's
//! own expressions over them. From the values of the aggregates it makes the result in the same way: HAVING, ORDER BY
//! and the columns of the result are evaluated over a table of groups, in which calls of aggregates are columns.
//!
//! ```text
//! SELECT list, sum(n) FROM t WHERE done = ?1 GROUP BY list HAVING count(*) > 1
//!   all            … ORDER BY list
//!   contributions  SELECT 1, list, n FROM t WHERE (done = ?1)
//!   images         SELECT sign, list, n FROM images AS t WHERE (done = ?1)
//!   output         SELECT list, a0, list FROM groups AS t WHERE (a1 > 1) ORDER BY list
//! ```

//!
//! **Joins.** Let only one table of an inner join have changed between two states. A sum over all rows of the join is a sum
//! over the rows of that table, of what each is joined with in the others, and these are the same in both states. So the
//! difference is what its new images contribute, less what its old ones do, each joined with the other tables as they are
//! now. If several tables have changed, or one that stands in FROM twice, the statement runs as a whole. A column that is no
//! term, of a table whose key is among the terms, is made one: it makes no other groups.

mod calls;
mod rewrite;
mod scope;
mod text;

use std::{ops::Range, sync::Arc};

use sqlite3_parser::dialect::TokenType::*;

use resqlite_live::{Aggregate, Collation, GroupTerm, Order, OrderTerm, ROWID, TableName, fault::planted};
use resqlite_sqlite::Statement;

use self::{
    calls::Call,
    rewrite::{Replaced, Rewriter, Rewritten, call_column, term_column},
    scope::Scope,
    text::Parts,
};
use super::{
    affinity::Affinity,
    base::Base,
    clauses::{Meaning, Mention, meaning, tokens},
    expand::Expander,
    given_tables::GivenTable,
    images::{OverImages, SIGN, table_of},
    keyed::{Planner as Reader, named_collation, refuse, table},
    limit,
    maintenance::{SOURCES_MAX, ordered_by},
    parse::{self, Query},
    plan::{ArmPlan, Outputs, Place, Rows, Stop},
    syntax::{Join, Output, Refused, Select},
    tables::Table,
    through::{with_given, with_given_at},
    tokens as numbering,
    tools::Tools,
};
/// The statements that maintain groups.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GroupsPlan {
    /// The result, in the order in which the live query has it.
    pub(crate) all: Arc<str>,
    /// If it has a LIMIT: the values of LIMIT and OFFSET.
    pub(crate) bounds: Option<Arc<str>>,
    /// For each row of the table 1, the values of its group, and the arguments of the aggregates.
    pub(crate) contributions: Arc<str>,
    /// The tables that it reads.
    pub(crate) sources: Box<[GroupsSource]>,
    /// The result from groups, and behind its columns what it is ordered by, and the values of the groups.
    pub(crate) output: Arc<str>,
    /// The groups: of one table its columns, and behind them the terms and the aggregates.
    pub(crate) groups_table: GivenTable,
    /// How many columns of the table stand there.
    pub(crate) width: usize,
    pub(crate) terms: Box<[GroupTerm]>,
    /// For each term the column that it is, if it is nothing else.
    pub(crate) term_columns: Box<[Option<u16>]>,
    pub(crate) aggregates: Box<[Aggregate]>,
    /// For each aggregate the column of `contributions` that holds its argument.
    pub(crate) arguments: Box<[Option<usize>]>,
    /// It has GROUP BY or DISTINCT. Otherwise there is one group, always.
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

/// A table whose rows make groups, perhaps together with rows of others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GroupsSource {
    pub(crate) table: TableName,
    /// `contributions` of images of it, with their signs: 1 adds, -1 takes back. `None` if they are joined with rows that are
    /// not found without a look at a whole table.
    pub(crate) images: Option<OverImages>,
}

/// Finds out how the result of a statement can be maintained as groups, or why it cannot; `None` if it makes no groups.
pub(super) fn plan(
    tools: &Tools<'_>,
    sql: &str,
    statement: &Statement,
    tables: &[Table],
) -> crate::core::error::Result<Option<Result<GroupsPlan, Refused>>> {
    match Planner::new(tools, sql, tables).and_then(|planner| match planner {
        Some(planner) => planner.plan(statement).map(Some),
        None => Ok(None),
    }) {
        Ok(plan) => Ok(plan.map(Ok)),
        Err(Stop::Refused(why)) => Ok(Some(Err(why))),
        Err(Stop::Error(error)) => Err(error),
    }
}

struct Planner<'a> {
    tools: &'a Tools<'a>,
    tables: &'a [Table],
    query: Query,
    numbered: numbering::Numbered,
    /// The functions in it that make one value of many rows.
    aggregates: Vec<String>,
}

/// A term of GROUP BY, as the statement has it.
struct Term<'s> {
    /// Its text, if it is no plain column.
    text: Option<&'s str>,
    column: Option<u16>,
    /// In `contributions`.
    of_row: String,
    /// As a term of ORDER BY.
    ordered: String,
}

impl<'a> Planner<'a> {
    fn new(tools: &'a Tools<'a>, sql: &str, tables: &'a [Table]) -> Result<Option<Self>, Stop> {
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
        let is_distinct =
            matches!(tokens(sql).as_deref(), Ok([_, distinct, ..]) if distinct.kind == TK_DISTINCT);
        let makes_groups =
            arm.grouped_by.is_some() || arm.has_having || is_distinct || !aggregates.is_empty();
        Ok(makes_groups.then_some(Self {
            tools,
            tables,
            query,
            numbered,
            aggregates,
        }))
    }

    fn plan(&self, statement: &Statement) -> Result<GroupsPlan, Stop> {
        if !self.tools.catalog.utf8 {
            return refuse("the database does not store text as UTF-8");
        }
        check_shape(&self.query.select)?;
        self.check_aggregates()?;
        let Tools {
            connection, catalog, ..
        } = self.tools;
        let expanded = Expander::new(connection, catalog, self.tables).statement(&self.query.select)?;
        let arm = &expanded.arms[0];
        let place = match &arm.places[..] {
            [place] => place,
            _ => return self.plan_join(arm, statement),
        };
        let Some(only) = place.only_table() else {
            return refuse("it makes groups of something else than the rows of a table");
        };
        let (table, columns) = table(only, self.tables)?;
        let Some(called) = &place.called else {
            return refuse("a table has no name");
        };
        let mut base = Base::read(connection, &table.name, called, columns)?;
        let mut seen = None;
        if let Rows::Query(_, outputs) = &place.rows {
            base = base.through(named(place, outputs, self.tables)?)?;
            seen = Some(arm);
        }
        let parts = Parts::cut(&self.numbered.sql).map_err(Stop::Refused)?;
        let maker = Maker {
            planner: self,
            parts: &parts,
            scope: &Scope { bases: vec![base] },
            arm,
            seen,
        };
        maker.plan(statement)
    }

    /// A statement that makes groups of rows of several tables: by inner joins, and of each table once, so that a change of
    /// one of them is a change of the sum.
    fn plan_join(&self, arm: &ArmPlan, statement: &Statement) -> Result<GroupsPlan, Stop> {
        let mut bases: Vec<Base<'_>> = Vec::new();
        for place in &arm.places {
            if place.join != Join::Inner || place.is_natural || !place.using.is_empty() {
                return refuse("it makes groups of rows of several tables, not by inner joins with ON");
            }
            let (table, columns) = table(place, self.tables)?;
            if bases.iter().any(|base| *base.name == table.name) && !planted("groups_of_self_join") {
                return refuse("it makes groups of a table that is joined with itself");
            }
            let Some(called) = &place.called else {
                return refuse("a table has no name");
            };
            bases.push(Base::read(self.tools.connection, &table.name, called, columns)?);
        }
        if bases.len() > SOURCES_MAX {
            return refuse("it joins too many tables");
        }
        let parts = Parts::cut(&self.numbered.sql).map_err(Stop::Refused)?;
        let maker = Maker {
            planner: self,
            parts: &parts,
            scope: &Scope { bases },
            arm,
            seen: None,
        };
        maker.plan(statement)
    }

    fn check_aggregates(&self) -> Result<(), Stop> {
        for aggregate in &self.aggregates {
            if !self.tools.catalog.is_builtin(aggregate)? {
                return refuse("it calls an aggregate of its own");
            }
        }
        Ok(())
    }
}

/// The columns of a SELECT in FROM, and which of its only table they are.
fn named(place: &Place, outputs: &Outputs, tables: &[Table]) -> Result<Vec<(String, Option<u16>)>, Stop> {
    let named = outputs.columns.iter().map(|column| {
        let name = column.name.clone()?;
        let of_table = place.column_called(&name, tables);
        Some((name, of_table))
    });
    match named.collect::<Option<Vec<_>>>() {
        Some(named) if !outputs.is_open => Ok(named),
        _ => refuse("it reads something whose columns have no names"),
    }
}

fn check_shape(select: &Select) -> Result<(), Stop> {
    let arm = &select.arms[0];
    let has_subquery = !select.with.is_empty()
        || !select.subqueries.is_empty()
        || !arm.subqueries.is_empty()
        || !arm.terms.subqueries.is_empty();
    match () {
        () if arm.has_window => refuse("it has a window function"),
        () if has_subquery => refuse("it has a subquery"),
        () if arm.sources.is_empty() => refuse("it reads no table"),
        () if arm.outputs.iter().any(|output| matches!(output, Output::Star(_))) => {
            refuse("it makes groups of all columns")
        }
        () => Ok(()),
    }
}

/// Puts the statements together.
struct Maker<'a> {
    planner: &'a Planner<'a>,
    parts: &'a Parts<'a>,
    scope: &'a Scope<'a>,
    arm: &'a ArmPlan,
    /// If the table is read through SELECTs.
    seen: Option<&'a ArmPlan>,
}

/// What stands behind FROM.
struct Sources {
    rows: String,
    /// For each table, what stands there with its images, and how the sign of these is named.
    images: Vec<(String, String)>,
    groups: String,
}

/// What the output statement gives besides the columns of the result.
#[derive(Default)]
struct Ordered {
    /// Further columns.
    more: Vec<String>,
    /// The terms of ORDER BY.
    texts: Vec<String>,
    sort: Vec<usize>,
    terms: Vec<OrderTerm>,
}

impl<'a> Maker<'a> {
    fn plan(&self, statement: &Statement) -> Result<GroupsPlan, Stop> {
        let own_terms = self.terms()?;
        let own_count = own_terms.len();
        let terms = self.with_determined(own_terms)?;
        let named = |mention: &Mention| self.column_of_groups(mention, &terms);
        let mut rewriter = self.rewriter();
        rewriter.named = &named;
        let replaced = terms.iter().enumerate().filter_map(|(number, term)| {
            let column = term_column(number);
            term.text.map(|text| Replaced { text, column })
        });
        rewriter.terms = replaced.collect();
        let outputs = self.outputs(&mut rewriter, &terms)?;
        let having = self.having(&mut rewriter, &terms)?;
        let columns = statement.column_count();
        let mut ordered = self.order(&mut rewriter, &terms, columns)?;
        let aggregates: Vec<Aggregate> = rewriter.calls.iter().map(Call::maintained).collect();
        let arguments = rewriter.calls.iter().map(|call| self.argument(call));
        let arguments: Vec<Option<String>> = arguments.collect::<Result<_, _>>()?;

        let identity_descending = ordered.terms.last().is_some_and(|term| term.descending);
        let direction = if identity_descending { " DESC" } else { "" };
        let names: Vec<String> = (0..)
            .zip(&terms)
            .map(|(at, term)| self.key_column(at, term))
            .collect();
        let directed = |terms: &mut dyn Iterator<Item = &String>| -> Vec<String> {
            terms.map(|term| format!("{term}{direction}")).collect()
        };
        let last_of_all = directed(&mut terms[..own_count].iter().map(|term| &term.ordered));
        let own = self.parts.order.iter().map(|term| term.text.to_owned());
        let limit = self.parts.limit.map(|clause| format!(" {clause}"));
        let all = format!(
            "{}{}{}",
            self.parts.unordered,
            order_by(own.chain(last_of_all).collect()),
            limit.unwrap_or_default()
        );
        let bounds = self
            .parts
            .limit
            .map(|clause| limit::bounds(clause, &self.planner.numbered));
        let bounds = bounds.transpose().map_err(Stop::Refused)?;
        ordered.texts.extend(directed(&mut names.iter()));
        let start = columns + ordered.more.len();
        let key = start..start + names.len();
        let given: Vec<String> = outputs.into_iter().chain(ordered.more).chain(names).collect();

        let calls = || (0..aggregates.len()).map(call_column);
        let (groups_table, width) = match self.scope.only() {
            Some(base) => (
                base.given((0..terms.len()).map(term_column).chain(calls())),
                base.columns.len(),
            ),
            None => (self.scope.given(terms.iter().map(|term| term.column), calls()), 0),
        };
        let condition = self.condition()?;
        let more = (0..terms.len()).map(term_column);
        let more = more.chain(calls());
        let sources = self.sources(&groups_table, more)?;
        let rows = |sign: &str, from: &str| {
            let values = [sign.to_owned()].into_iter();
            let values = values.chain(terms.iter().map(|term| term.of_row.clone()));
            let values: Vec<String> = values.chain(arguments.iter().flatten().cloned()).collect();
            format!("SELECT {} FROM {from}{condition}", values.join(", "))
        };
        let count = 1 + terms.len() + arguments.iter().flatten().count();
        let mut read = Vec::new();
        for (base, (from, sign)) in self.scope.bases.iter().zip(&sources.images) {
            read.push(GroupsSource {
                table: base.name.clone(),
                images: self.over_images(base, rows(sign, from), count)?,
            });
        }
        if read.iter().all(|source| source.images.is_none()) {
            return refuse("no index finds the rows that a changed one is joined with");
        }
        let plan = GroupsPlan {
            all: all.into(),
            bounds: bounds.map(Arc::from),
            contributions: rows("1", &sources.rows).into(),
            sources: read.into(),
            output: format!(
                "SELECT {} FROM {}{having}{}",
                given.join(", "),
                sources.groups,
                order_by(ordered.texts)
            )
            .into(),
            groups_table,
            width,
            terms: terms.iter().map(|term| self.group_term(term)).collect(),
            term_columns: terms.iter().map(|term| term.column).collect(),
            aggregates: aggregates.into(),
            arguments: numbered(&arguments, 1 + terms.len()),
            is_grouped: !terms.is_empty(),
            order: Order::new(ordered.terms.into(), identity_descending),
            columns,
            sort: ordered.sort.into(),
            key,
        };
        self.check(plan, statement)
    }

    /// The terms, and behind them the columns that are determined by them and used beside aggregates: those of a table whose
    /// key is among the terms.
    fn with_determined(&self, mut terms: Vec<Term<'a>>) -> Result<Vec<Term<'a>>, Stop> {
        if self.scope.only().is_some() {
            return Ok(terms);
        }
        let mut determined = Vec::new();
        for (number, base) in self.scope.bases.iter().enumerate() {
            let first = self.scope.first_column(number);
            let key = self.planner.tools.catalog.row_key(base.name)?;
            let has = |column: &u16| {
                let wanted = u16::try_from(first + usize::from(*column)).ok();
                terms
                    .iter()
                    .any(|term| term.column.is_some() && term.column == wanted)
            };
            if planted("groups_of_any_column") || !key.is_empty() && key.iter().all(has) {
                determined.push(first..first + base.columns.len());
            }
        }
        let texts = self.parts.outputs.iter().map(|output| output.value);
        let texts = texts.chain(self.parts.having);
        let mut mentions = Vec::new();
        for text in texts.chain(self.parts.order.iter().map(|term| term.value)) {
            mentions.extend(self.rewriter().of_group(text).map_err(Stop::Refused)?.mentions);
        }
        for column in mentions.iter().filter_map(|mention| self.scope.meant(mention)) {
            let is_known = terms.iter().any(|term| term.column == Some(column));
            let is_determined = determined
                .iter()
                .any(|columns| columns.contains(&usize::from(column)));
            if is_known || !is_determined {
                continue;
            }
            if !self.scope.is_binary(column) {
                return refuse("it uses a column whose collation is not BINARY");
            }
            let name = self.scope.qualified(column);
            terms.push(Term {
                text: None,
                column: Some(column),
                of_row: name.clone(),
                ordered: name,
            });
        }
        Ok(terms)
    }

    /// The column of the groups of several tables that a name means.
    fn column_of_groups(&self, mention: &Mention, terms: &[Term<'_>]) -> Option<String> {
        if self.scope.only().is_some() {
            return None;
        }
        let column = self.scope.meant(mention)?;
        let number = terms.iter().position(|term| term.column == Some(column))?;
        Some(term_column(number))
    }

    /// What images of a table contribute. `None` if that cannot be found out: then a change of it makes the statement run as a
    /// whole, unless it is the only table.
    fn over_images(&self, base: &Base<'_>, sql: String, columns: usize) -> Result<Option<OverImages>, Stop> {
        let over = match OverImages::new(self.planner.tools, base, sql, columns) {
            Err(Stop::Refused(_)) if self.scope.only().is_none() => return Ok(None),
            over => over?,
        };
        let reader = Reader::new(self.planner.tools, self.planner.tables);
        let is_found = self.scope.only().is_some() || reader.finds(&over.sql)?;
        Ok(is_found.then_some(over))
    }

    fn sources(&self, groups: &GivenTable, more: impl Iterator<Item = String>) -> Result<Sources, Stop> {
        let Some(base) = self.scope.only() else {
            return self.sources_of_join(groups);
        };
        let images = table_of(base);
        let Some(arm) = self.seen else {
            return Ok(Sources {
                rows: self.parts.from.to_owned(),
                images: vec![(from(&images, base), SIGN.to_owned())],
                groups: from(groups, base),
            });
        };
        let planner = Reader::new(self.planner.tools, self.planner.tables);
        let (sql, query) = (&self.planner.numbered.sql, &self.planner.query);
        let (sql, sign) = with_given(&planner, (&images.name, SIGN), sql, &query.select, arm)?;
        let seen = Parts::cut(&sql).map_err(Stop::Refused)?;
        let tokens = tokens(seen.from).map_err(Stop::Refused)?;
        let has = |kind| tokens.iter().any(|token| token.kind == kind);
        if has(TK_COLLATE) {
            return refuse("it reads something whose collation is not known");
        }
        // Which values compare as texts and which as numbers, a column of the groups does not know.
        if has(TK_CAST) && !planted("cast_in_a_view") {
            return refuse("it reads a CAST");
        }
        Ok(Sources {
            rows: self
                .rewriter()
                .of_row(self.parts.from)
                .map_err(Stop::Refused)?
                .sql,
            images: vec![(
                self.rewriter().of_row(seen.from).map_err(Stop::Refused)?.sql,
                sign,
            )],
            groups: base.seen_groups(groups, more),
        })
    }

    fn sources_of_join(&self, groups: &GivenTable) -> Result<Sources, Stop> {
        let reader = Reader::new(self.planner.tools, self.planner.tables);
        let (sql, query) = (&self.planner.numbered.sql, &self.planner.query);
        let by_number = |from: &str| {
            let sql = self.planner.numbered.by_number(from);
            sql.map_err(Stop::Refused)
        };
        let mut images = Vec::new();
        for (position, base) in self.scope.bases.iter().enumerate() {
            let (given, number) = (table_of(base), self.arm.places[position].number);
            let at = (number, &*given.name, SIGN);
            let seen = with_given_at(&reader, at, sql, &query.select, self.arm)?;
            let from = by_number(Parts::cut(&seen.sql).map_err(Stop::Refused)?.from)?;
            images.push((from, format!("{}.{SIGN}", base.called)));
        }
        Ok(Sources {
            rows: by_number(self.parts.from)?,
            images,
            groups: groups.name.to_string(),
        })
    }

    fn rewriter(&self) -> Rewriter<'a> {
        Rewriter {
            numbered: &self.planner.numbered,
            aggregates: &self.planner.aggregates,
            terms: Vec::new(),
            named: &|_| None,
            calls: Vec::new(),
        }
    }

    /// The terms of the groups.
    fn terms(&self) -> Result<Vec<Term<'a>>, Stop> {
        let outputs = || (1..).zip(&self.parts.outputs);
        if self.parts.is_distinct {
            if !self.parts.groups.is_empty() || !self.planner.aggregates.is_empty() {
                return refuse("it has DISTINCT besides groups");
            }
            return outputs()
                .map(|(number, output)| self.term(output.value, Some(number)))
                .collect();
        }
        let term = |text: &&'a str| {
            let by_number = |number: usize| match self.parts.outputs.get(number.wrapping_sub(1)) {
                Some(output) => self.term(output.value, Some(number)),
                None => refuse("it is grouped by a column that it does not have"),
            };
            let tokens = tokens(text).map_err(Stop::Refused)?;
            match meaning(text, &tokens) {
                Meaning::Ordinal(number) => by_number(number),
                Meaning::Name(name) if !self.scope.has(&name) => {
                    match outputs().find(|(_, output)| output.is_called(&name)) {
                        Some((number, _)) => by_number(number),
                        None => refuse("it is grouped by a name that is not known"),
                    }
                }
                Meaning::Hidden => refuse("it is grouped by a hint to the planner"),
                _ => self.term(text, None),
            }
        };
        self.parts.groups.iter().map(term).collect()
    }

    /// `output`: the number of the column of the result that it is, counted from 1.
    fn term(&self, text: &'a str, output: Option<usize>) -> Result<Term<'a>, Stop> {
        let written = tokens(text).map_err(Stop::Refused)?;
        let row = self.of_row(text)?;
        let columns: Vec<u16> = row
            .mentions
            .iter()
            .filter_map(|name| self.scope.meant(name))
            .collect();
        let has = |kind| written.iter().any(|token| token.kind == kind);
        match () {
            () if columns.is_empty() && !row.mentions.iter().any(|mention| self.scope.has(&mention.name)) => {
                return refuse("it is grouped by a constant");
            }
            () if has(TK_COLLATE) || !columns.iter().all(|column| self.scope.is_binary(*column)) => {
                return refuse("it is grouped by something whose collation is not BINARY");
            }
            () => {}
        }
        let column = match meaning(text, &written) {
            Meaning::Name(name) => self.scope.position(&name),
            Meaning::Qualified => columns.first().copied().filter(|column| *column != ROWID),
            _ => None,
        };
        if column.is_none() && has(TK_CAST) {
            return refuse("it is grouped by a CAST");
        }
        let ordered = match (output, column) {
            (Some(number), _) => number.to_string(),
            (None, Some(column)) => self.scope.qualified(column),
            (None, None) => row.sql.clone(),
        };
        Ok(Term {
            text: column.is_none().then_some(text),
            column,
            of_row: row.sql,
            ordered,
        })
    }

    fn group_term(&self, term: &Term<'_>) -> GroupTerm {
        let column = term.column.and_then(|column| self.scope.column(column));
        GroupTerm {
            is_real: column.is_some_and(|column| column.affinity == Affinity::Real),
        }
    }

    /// The column of the table of groups that holds the values of a term.
    fn key_column(&self, number: usize, term: &Term<'_>) -> String {
        match term.column.filter(|_| self.scope.only().is_some()) {
            Some(column) => self.scope.qualified(column),
            None => term_column(number),
        }
    }

    /// A text that is evaluated for each row. An alias means nothing there but in the statement itself.
    fn of_row(&self, text: &'a str) -> Result<Rewritten, Stop> {
        let row = self.rewriter().of_row(text).map_err(Stop::Refused)?;
        let is_alias = |name: &str| self.parts.outputs.iter().any(|output| output.is_called(name));
        for mention in &row.mentions {
            if self.scope.meant(mention).is_none() && is_alias(&mention.name) {
                return refuse("an expression of it uses a name of its result");
            }
        }
        Ok(row)
    }

    /// A text that is evaluated for each group.
    fn of_group(
        &self,
        rewriter: &mut Rewriter<'a>,
        text: &'a str,
        terms: &[Term<'_>],
    ) -> Result<String, Stop> {
        let group = rewriter.of_group(text).map_err(Stop::Refused)?;
        for mention in &group.mentions {
            if let Some(column) = self.scope.meant(mention)
                && !terms.iter().any(|term| term.column == Some(column))
            {
                return refuse("it uses a column that is neither grouped by nor aggregated");
            }
            // In the table of groups, it could mean one of its further columns.
            if mention.name.starts_with('#') {
                return refuse("it uses a name that begins with #");
            }
            let name = mention.name.to_ascii_lowercase();
            if self.planner.tools.catalog.reads_subtypes(&name)? {
                return refuse("it calls a function that knows JSON from other text");
            }
        }
        Ok(group.sql)
    }

    fn outputs(&self, rewriter: &mut Rewriter<'a>, terms: &[Term<'_>]) -> Result<Vec<String>, Stop> {
        let mut outputs = Vec::new();
        for output in &self.parts.outputs {
            if has_collation(output.value)? {
                return refuse("a column of it has a collation");
            }
            let value = self.of_group(rewriter, output.value, terms)?;
            outputs.push(match output.alias {
                Some(alias) => format!("{value} AS {alias}"),
                None => value,
            });
        }
        Ok(outputs)
    }

    fn having(&self, rewriter: &mut Rewriter<'a>, terms: &[Term<'_>]) -> Result<String, Stop> {
        let Some(having) = self.parts.having else {
            return Ok(String::new());
        };
        Ok(format!(" WHERE ({})", self.of_group(rewriter, having, terms)?))
    }

    fn condition(&self) -> Result<String, Stop> {
        let Some(condition) = self.parts.condition else {
            return Ok(String::new());
        };
        Ok(format!(" WHERE ({})", self.of_row(condition)?.sql))
    }

    fn order(
        &self,
        rewriter: &mut Rewriter<'a>,
        terms: &[Term<'_>],
        columns: usize,
    ) -> Result<Ordered, Stop> {
        let mut ordered = Ordered::default();
        for term in &self.parts.order {
            let column = ordered_by(term, &self.planner.query.select, columns).map_err(Stop::Refused)?;
            ordered.sort.push(column.unwrap_or(columns + ordered.more.len()));
            if column.is_some() {
                ordered.texts.push(term.text.to_owned());
            } else {
                if has_collation(term.value)? {
                    return refuse("it is ordered by an expression with a collation");
                }
                let value = self.of_group(rewriter, term.value, terms)?;
                let how = &term.text[term.value.len()..];
                ordered.texts.push(format!("{value}{how}"));
                ordered.more.push(value);
            }
            ordered.terms.push(OrderTerm {
                // No column of the groups and no expression over them has another one.
                collation: match &term.collation {
                    Some(name) => named_collation(name)?,
                    None => Collation::Binary,
                },
                descending: term.descending,
                nulls_last: term.nulls_last,
            });
        }
        Ok(ordered)
    }

    /// What an aggregate looks at in each row; `None` if it counts rows.
    fn argument(&self, call: &Call<'a>) -> Result<Option<String>, Stop> {
        let argument = match call.argument {
            Some(text) => Some(self.value(call, text)?),
            None => None,
        };
        let Some(filter) = call.filter else {
            return Ok(argument);
        };
        let filter = self.of_row(filter)?.sql;
        let value = argument.as_deref().unwrap_or("1");
        Ok(Some(format!("CASE WHEN ({filter}) THEN ({value}) END")))
    }

    fn value(&self, call: &Call<'a>, text: &'a str) -> Result<String, Stop> {
        let row = self.of_row(text)?;
        let compares = matches!(call.aggregate, Aggregate::Min | Aggregate::Max);
        let mut columns = row.mentions.iter().filter_map(|name| self.scope.meant(name));
        if compares && (has_collation(text)? || !columns.all(|column| self.scope.is_binary(column))) {
            return refuse("it aggregates something whose collation is not BINARY");
        }
        Ok(row.sql)
    }

    /// Whether all statements give what they should.
    fn check(&self, plan: GroupsPlan, statement: &Statement) -> Result<GroupsPlan, Stop> {
        let Tools {
            connection, given, ..
        } = self.planner.tools;
        if given.get(connection, &plan.groups_table).is_err() {
            return refuse("with what is added for groups, its table has too many columns");
        }
        let has_columns = |sql: &Arc<str>, columns: usize| {
            let prepared = connection.prepare(sql, false).ok()?.statement?;
            (prepared.column_count() == columns).then_some(prepared)
        };
        let rows = 1 + plan.terms.len() + plan.arguments.iter().flatten().count();
        let is_same = |made: Statement| {
            (0..plan.columns).all(|column| made.column_name(column) == statement.column_name(column))
        };
        let prepared = has_columns(&plan.contributions, rows).is_some()
            && has_columns(&plan.output, plan.key.end).is_some()
            && has_columns(&plan.all, plan.columns).is_some_and(is_same);
        if !prepared {
            return refuse("its parts cannot be asked for");
        }
        if plan.bounds.is_some() && !limit::is_same_search(connection, &self.planner.numbered.sql, &plan.all)?
        {
            return refuse("with a total order, its rows would have to be found in another way");
        }
        Ok(plan)
    }
}

/// The columns of those that are there, from this one on.
fn numbered(arguments: &[Option<String>], first: usize) -> Box<[Option<usize>]> {
    let mut next = first..;
    arguments
        .iter()
        .map(|argument| argument.as_ref().and_then(|_| next.next()))
        .collect()
}

fn from(table: &GivenTable, base: &Base<'_>) -> String {
    format!("{} AS {}", table.name, base.called)
}

fn order_by(terms: Vec<String>) -> String {
    match &terms[..] {
        [] => String::new(),
        terms => format!(" ORDER BY {}", terms.join(", ")),
    }
}

fn has_collation(text: &str) -> Result<bool, Stop> {
    let tokens = tokens(text).map_err(Stop::Refused)?;
    Ok(tokens.iter().any(|token| token.kind == TK_COLLATE))
}
