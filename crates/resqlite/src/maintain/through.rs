//! Views, common table expressions and subqueries in FROM, seen through.
//!
//! Each row of a plain SELECT in FROM comes from one row of each of its tables. So it gives their keys as further columns,
//! and the statement around it can name these as it names those of a table:
//!
//! ```text
//! SELECT v.a FROM v                     v is a view: SELECT a FROM t WHERE b
//! SELECT v.a, "v"."#k0" FROM (SELECT a, "t"."rowid" AS "#k0" FROM t WHERE b) AS "v"
//! ```
//!
//! SQLite makes one SELECT of both, if it can, and reaches the table by its key then; whether it does is told by its plan.

use std::ops::Range;

use sqlite3_parser::dialect::TokenType::*;

use super::{
    clauses::{Token, cut_at, listed, span, split, tokens},
    keyed::{Keyed, Planner, refuse},
};
use crate::{
    core::names::quoted,
    sql::{
        catalog::Found,
        parse,
        plan::{ArmPlan, Place, Plan, Rows, Stop},
        syntax::{Arm, CommonTable, Join, Output, Relation, Select, Source},
        tokens::UNREADABLE,
    },
};

/// A statement whose sources give the keys of their base rows.
pub(super) struct Seen<'p> {
    pub(super) sql: String,
    /// The tables that it reads, in the order of FROM.
    pub(super) sources: Vec<Keyed<'p>>,
    /// Some source has ORDER BY.
    pub(super) is_ordered_inside: bool,
}

/// Adds the keys of base rows to the sources of a statement that are SELECTs themselves.
pub(super) fn see_through<'p>(
    planner: &'p Planner<'p>,
    sql: &str,
    select: &Select,
    arm: &'p ArmPlan,
) -> Result<Seen<'p>, Stop> {
    see(planner, Leaves::Keyed, sql, select, arm)
}

/// A statement that reads a given table instead of the only one that it reads through others, and how it names a column
/// that only the given one has.
pub(super) fn with_given<'p>(
    planner: &'p Planner<'p>,
    (given, column): (&'p str, &'p str),
    sql: &str,
    select: &Select,
    arm: &'p ArmPlan,
) -> Result<(String, String), Stop> {
    let seen = see(planner, Leaves::Given(given, column), sql, select, arm)?;
    match &seen.sources[..] {
        [only] => Ok((seen.sql, only.key[0].1.clone())),
        _ => refuse("it makes groups of rows of several tables"),
    }
}

/// A statement in which a given table stands in one place of FROM, and the sources give the keys of their base rows. The key
/// of the given one is this column.
pub(super) fn with_given_at<'p>(
    planner: &'p Planner<'p>,
    (place, given, column): (usize, &'p str, &'p str),
    sql: &str,
    select: &Select,
    arm: &'p ArmPlan,
) -> Result<Seen<'p>, Stop> {
    see(planner, Leaves::GivenAt(place, given, column), sql, select, arm)
}

/// What becomes of the tables.
#[derive(Clone, Copy)]
enum Leaves<'p> {
    /// They give their keys.
    Keyed,
    /// They do, and for the place of this number it is as in the next.
    GivenAt(usize, &'p str, &'p str),
    /// The table of this name takes their place, and gives this column.
    Given(&'p str, &'p str),
}

fn see<'p>(
    planner: &'p Planner<'p>,
    leaves: Leaves<'p>,
    sql: &str,
    select: &Select,
    arm: &'p ArmPlan,
) -> Result<Seen<'p>, Stop> {
    let mut text = Text::new(planner, leaves, sql, 0, &select.with)?;
    let body = text.body.clone();
    let sources = text.arm(&body, &select.arms[0], arm)?;
    Ok(Seen {
        sql: text.edited(),
        sources,
        is_ordered_inside: text.is_ordered_inside,
    })
}

/// The text of the statement, or of a view, and what is changed in it.
struct Text<'t, 'p> {
    planner: &'p Planner<'p>,
    leaves: Leaves<'p>,
    sql: &'t str,
    tokens: Vec<Token>,
    /// The tokens behind WITH and its tables.
    body: Range<usize>,
    common: Vec<Common<'t>>,
    edits: Vec<(Range<usize>, String)>,
    /// Columns of keys so far.
    keys: usize,
    is_ordered_inside: bool,
}

/// A common table expression, by its tokens.
struct Common<'t> {
    table: &'t CommonTable,
    /// The parenthesis behind the names of its columns.
    end_of_columns: Option<usize>,
    body: Range<usize>,
    is_used: bool,
}

impl<'t, 'p> Text<'t, 'p> {
    /// The text from a token on.
    fn new(
        planner: &'p Planner<'p>,
        leaves: Leaves<'p>,
        sql: &'t str,
        first: usize,
        with: &'t [CommonTable],
    ) -> Result<Self, Stop> {
        let tokens = tokens(sql).map_err(Stop::Refused)?;
        let (common, start) = match with {
            [] => (Vec::new(), first),
            tables => common_tables(&tokens, first, tables)?,
        };
        Ok(Self {
            planner,
            leaves,
            sql,
            body: start..tokens.len(),
            tokens,
            common,
            edits: Vec::new(),
            keys: 0,
            is_ordered_inside: false,
        })
    }

    /// The text with all changes.
    fn edited(&mut self) -> String {
        self.edits.sort_by_key(|(place, _)| place.start);
        let (mut edited, mut copied) = (String::new(), 0);
        for (place, text) in &self.edits {
            edited.push_str(&self.sql[copied..place.start]);
            edited.push_str(text);
            copied = place.end;
        }
        edited + &self.sql[copied..]
    }

    /// Adds keys to the sources of a SELECT; returns the tables that it reads, with the keys as it can name them.
    fn arm(&mut self, at: &Range<usize>, arm: &Arm, plan: &'p ArmPlan) -> Result<Vec<Keyed<'p>>, Stop> {
        let clauses = Cut::new(&self.tokens[at.clone()])?;
        if clauses.sources.len() != plan.places.len() || clauses.outputs.len() != arm.outputs.len() {
            return refuse(UNREADABLE);
        }
        self.planner.check_names(plan)?;
        self.expand_stars(&clauses, arm, plan)?;
        let mut keyed = Vec::new();
        for ((first, source), place) in clauses.sources.iter().zip(&arm.sources).zip(&plan.places) {
            match &place.rows {
                Rows::Query(plan, _) => keyed.extend(self.query(at.start + first, source, place, plan)?),
                _ => keyed.push(self.table(at.start + first, source, place)?),
            }
        }
        Ok(keyed)
    }

    fn table(&mut self, first: usize, source: &Source, place: &'p Place) -> Result<Keyed<'p>, Stop> {
        let keyed = self.planner.source(place)?;
        let (given, column) = match self.leaves {
            Leaves::Keyed => return Ok(keyed),
            Leaves::GivenAt(number, ..) if number != place.number => return Ok(keyed),
            Leaves::GivenAt(_, given, column) | Leaves::Given(given, column) => (given, column),
        };
        let (called, alias) = match (&place.called, &source.alias) {
            (None, _) => return refuse(NO_TABLE),
            (Some(called), Some(_)) => (quoted(called, '"'), String::new()),
            (Some(called), None) => (quoted(called, '"'), format!(" AS {}", quoted(called, '"'))),
        };
        self.rename(first, source, format!("{given}{alias}"));
        Ok(Keyed {
            key: vec![(0, format!("{called}.{column}"))],
            ..keyed
        })
    }

    /// Replaces the name of a source.
    fn rename(&mut self, first: usize, source: &Source, text: String) {
        let has_schema = matches!(&source.relation, Relation::Named { schema: Some(_), .. });
        let last = first + if has_schema { 2 } else { 0 };
        self.edits.push((span(&self.tokens[first..=last]), text));
    }

    /// Adds keys to a source that is a SELECT.
    fn query(
        &mut self,
        first: usize,
        source: &Source,
        place: &'p Place,
        plan: &'p Plan,
    ) -> Result<Vec<Keyed<'p>>, Stop> {
        let (keyed, called) = match &source.relation {
            Relation::Select(select) => {
                let end = closing(&self.tokens, first)?;
                let keyed = self.select(&(first + 1..end), select, plan, &[])?;
                let called = match &place.called {
                    Some(called) => called.clone(),
                    None => self.add_alias(end),
                };
                (keyed, called)
            }
            Relation::Named { schema, name } => {
                let keyed = match self.common(schema.as_deref(), name) {
                    Some(common) => self.common_table(common, plan)?,
                    None => self.view(first, source, place, plan)?,
                };
                (keyed, place.called.clone().unwrap_or_else(|| name.clone()))
            }
            Relation::Function(..) => return refuse(NO_TABLE),
        };
        if keyed.len() > 1 && place.join != Join::Inner {
            return refuse("behind LEFT JOIN it reads a join");
        }
        let outside = keyed.into_iter().map(|inside| Keyed {
            place,
            table: inside.table,
            key: inside
                .key
                .into_iter()
                .map(|(column, name)| (column, format!("{}.{name}", quoted(&called, '"'))))
                .collect(),
        });
        Ok(outside.collect())
    }

    fn add_alias(&mut self, end: usize) -> String {
        let alias = format!("#s{}", self.keys);
        let end = self.tokens[end].span.end;
        self.edits
            .push((end..end, format!(" AS {}", quoted(&alias, '"'))));
        alias
    }

    fn common(&self, schema: Option<&str>, name: &str) -> Option<usize> {
        let is_it = |common: &Common<'_>| schema.is_none() && common.table.name.eq_ignore_ascii_case(name);
        self.common.iter().position(is_it)
    }

    fn common_table(&mut self, number: usize, plan: &'p Plan) -> Result<Vec<Keyed<'p>>, Stop> {
        let common = &mut self.common[number];
        if std::mem::replace(&mut common.is_used, true) {
            return refuse("it reads a common table expression twice");
        }
        let (body, table, end) = (common.body.clone(), common.table, common.end_of_columns);
        let keyed = self.select(&body, &table.select, plan, &[])?;
        if let Some(end) = end {
            let names = keyed.iter().flat_map(|source| &source.key);
            let names: String = names.map(|(_, name)| format!(", {name}")).collect();
            let end = self.tokens[end].span.start;
            self.edits.push((end..end, names));
        }
        Ok(keyed)
    }

    /// Puts what a view selects in place of its name.
    fn view(
        &mut self,
        first: usize,
        source: &Source,
        place: &Place,
        plan: &'p Plan,
    ) -> Result<Vec<Keyed<'p>>, Stop> {
        let Relation::Named { name, .. } = &source.relation else {
            return refuse(NO_TABLE);
        };
        let found = self.planner.catalog.find(place.schema.as_deref(), name)?;
        let sql = match (found, place.schema.as_deref()) {
            (Some(Found::View { sql, .. }), Some("main")) => sql,
            _ => return refuse("it reads a view of another database"),
        };
        let view = parse::parse_view(&sql).map_err(Stop::Refused)?;
        let start = start_of_view(&sql)?;
        let mut text = Text::new(self.planner, self.leaves, &sql, start, &view.select.with)?;
        text.keys = self.keys;
        let (body, first_byte) = (text.body.clone(), text.tokens[start].span.start);
        let keyed = text.select(&body, &view.select, plan, &view.columns)?;
        // What stands before the SELECT creates the view.
        text.edits.push((0..first_byte, String::new()));
        let end = text.tokens.last().map_or(0, |token| token.span.end);
        text.edits.push((end..sql.len(), String::new()));
        let alias = match source.alias {
            Some(_) => String::new(),
            None => format!(" AS {}", quoted(name, '"')),
        };
        self.rename(first, source, format!("({}){alias}", text.edited()));
        self.is_ordered_inside |= text.is_ordered_inside;
        self.keys = text.keys;
        Ok(keyed)
    }

    /// Adds keys to a SELECT that is a source of another; returns the names under which it gives them. `names`: those of its
    /// columns, if they are not its own.
    fn select(
        &mut self,
        at: &Range<usize>,
        select: &Select,
        plan: &'p Plan,
        names: &[String],
    ) -> Result<Vec<Keyed<'p>>, Stop> {
        if *at != self.body && !select.with.is_empty() {
            return refuse("it reads a SELECT with tables of its own");
        }
        self.check(select, plan)?;
        let (arm, plan) = (&select.arms[0], &plan.arms[0]);
        let mut keyed = self.arm(at, arm, plan)?;
        let clauses = Cut::new(&self.tokens[at.clone()])?;
        if clauses.is_distinct {
            return refuse("it reads a SELECT with DISTINCT");
        }
        self.is_ordered_inside |= clauses.is_ordered;
        let edits = self.named(&clauses, arm, names)?;
        let end = clauses.end_of_outputs;
        self.edits.extend(edits);
        let mut added = String::new();
        for (_, name) in keyed.iter_mut().flat_map(|source| &mut source.key) {
            let key = quoted(&format!("#k{}", self.keys), '"');
            self.keys += 1;
            added += &format!(", {name} AS {key}");
            *name = key;
        }
        self.edits.push((end..end, added));
        Ok(keyed)
    }

    /// Whether each row of a SELECT comes from one row of each of its tables.
    fn check(&self, select: &Select, plan: &Plan) -> Result<(), Stop> {
        let ([arm], [planned]) = (&select.arms[..], &plan.arms[..]) else {
            return refuse("it reads a compound SELECT");
        };
        let has_subquery =
            !select.subqueries.is_empty() || !arm.subqueries.is_empty() || !arm.terms.subqueries.is_empty();
        match () {
            () if has_subquery => refuse("it reads a SELECT with a subquery"),
            () if select.is_limited => refuse("it reads a SELECT with LIMIT"),
            () if arm.has_window => refuse("it reads a SELECT with a window function"),
            () if arm.grouped_by.is_some() || arm.has_having => refuse("it reads a SELECT that makes groups"),
            () if arm.sources.is_empty() => refuse("it reads a SELECT without tables"),
            () if arm.sources.iter().any(|source| source.join != Join::Inner) => {
                refuse("it reads a SELECT with LEFT JOIN")
            }
            () => self.planner.check_functions(planned),
        }
    }

    /// Gives the columns of a SELECT these names.
    fn named(&self, clauses: &Cut, arm: &Arm, names: &[String]) -> Result<Vec<(Range<usize>, String)>, Stop> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let has_star = arm.outputs.iter().any(|output| matches!(output, Output::Star(_)));
        if has_star || names.len() != clauses.outputs.len() {
            return refuse("it reads a view that gives names to *");
        }
        let outputs = clauses.outputs.iter().zip(&arm.outputs);
        let named = outputs.zip(names).map(|((tokens, output), name)| {
            let end = span(tokens).end;
            let start = match &tokens[..] {
                [.., by, _] if by.kind == TK_AS => by.span.start,
                [.., alias] if output.has_alias() => alias.span.start,
                _ => end,
            };
            (start..end, format!(" AS {}", quoted(name, '"')))
        });
        Ok(named.collect())
    }

    /// Replaces `*` where it would give keys.
    fn expand_stars(&mut self, clauses: &Cut, arm: &Arm, plan: &ArmPlan) -> Result<(), Stop> {
        let gives_keys = |place: &&Place| matches!(place.rows, Rows::Query(..));
        for (tokens, output) in clauses.outputs.iter().zip(&arm.outputs) {
            let Output::Star(of) = output else {
                continue;
            };
            let places = || {
                let is_meant = |place: &&Place| match (of, &place.called) {
                    (Some(of), Some(called)) => called.eq_ignore_ascii_case(of),
                    (Some(_), None) => false,
                    (None, _) => true,
                };
                plan.places.iter().filter(is_meant)
            };
            if !places().any(|place| gives_keys(&place)) {
                continue;
            }
            if plan
                .places
                .iter()
                .any(|place| place.is_natural || !place.using.is_empty())
            {
                return refuse("it reads all columns of a join that makes one of two");
            }
            let columns: Vec<String> = places().map(columns).collect::<Result<_, _>>()?;
            self.edits.push((span(tokens), columns.join(", ")));
        }
        Ok(())
    }
}

const NO_TABLE: &str = "it reads something else than tables";

/// All columns of a place, as a statement names them.
fn columns(place: &Place) -> Result<String, Stop> {
    let called = place
        .called
        .as_deref()
        .map(|called| format!("{}.", quoted(called, '"')));
    let called = called.unwrap_or_default();
    let Rows::Query(_, outputs) = &place.rows else {
        return Ok(format!("{called}*"));
    };
    let names: Option<Vec<&String>> = outputs
        .columns
        .iter()
        .map(|output| output.name.as_ref())
        .collect();
    let names = names.filter(|_| !outputs.is_open).unwrap_or_default();
    let is_again =
        |(at, name): (usize, &&String)| names[..at].iter().any(|other| other.eq_ignore_ascii_case(name));
    if names.is_empty() || names.iter().enumerate().any(is_again) {
        return refuse("it reads all columns of something whose columns have no names");
    }
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("{called}{}", quoted(name, '"')))
        .collect();
    Ok(names.join(", "))
}

/// The clauses of one SELECT, as far as they matter here.
struct Cut {
    is_distinct: bool,
    outputs: Vec<Vec<Token>>,
    /// The byte behind the outputs.
    end_of_outputs: usize,
    /// The first token of each source.
    sources: Vec<usize>,
    is_ordered: bool,
}

impl Cut {
    fn new(tokens: &[Token]) -> Result<Self, Stop> {
        let mut cut = Self {
            is_distinct: false,
            outputs: Vec::new(),
            end_of_outputs: 0,
            sources: Vec::new(),
            is_ordered: false,
        };
        let mut at = 0;
        for clause in split(tokens, |kind| {
            matches!(
                kind,
                TK_SELECT | TK_FROM | TK_WHERE | TK_GROUP | TK_HAVING | TK_ORDER | TK_LIMIT
            )
        }) {
            match clause[0].kind {
                TK_SELECT => {
                    let quantifiers = |token: &&Token| matches!(token.kind, TK_ALL | TK_DISTINCT);
                    let skipped = clause[1..].iter().take_while(quantifiers).count();
                    cut.is_distinct = clause[1..=skipped].iter().any(|token| token.kind == TK_DISTINCT);
                    let outputs = listed(&clause[1 + skipped..]).into_iter();
                    cut.outputs = outputs.map(<[Token]>::to_vec).collect();
                    cut.end_of_outputs = span(clause).end;
                }
                TK_FROM => {
                    let mut first = at + 1;
                    let (sources, _) = cut_at(&clause[1..], |kind| matches!(kind, TK_JOIN | TK_COMMA));
                    for source in sources {
                        cut.sources.push(first);
                        first += source.len() + 1;
                    }
                }
                TK_ORDER => cut.is_ordered = true,
                _ => {}
            }
            at += clause.len();
        }
        if cut.outputs.iter().any(Vec::is_empty) || cut.sources.is_empty() {
            return refuse(UNREADABLE);
        }
        Ok(cut)
    }
}

/// The common table expressions of a text that begins with WITH at a token, and the token behind them.
fn common_tables<'t>(
    tokens: &[Token],
    first: usize,
    tables: &'t [CommonTable],
) -> Result<(Vec<Common<'t>>, usize), Stop> {
    let mut at = first + 1;
    let kind = |at: usize| tokens.get(at).map(|token| token.kind);
    at += usize::from(kind(at) == Some(TK_RECURSIVE));
    let mut common = Vec::new();
    for table in tables {
        // Its name.
        at += 1;
        let mut end_of_columns = None;
        if kind(at) == Some(TK_LP) {
            let end = closing(tokens, at)?;
            end_of_columns = Some(end);
            at = end + 1;
        }
        // AS, perhaps with NOT MATERIALIZED.
        while kind(at).is_some_and(|kind| kind != TK_LP) {
            at += 1;
        }
        let end = closing(tokens, at)?;
        common.push(Common {
            table,
            end_of_columns,
            body: at + 1..end,
            is_used: false,
        });
        // A comma, if there is another one.
        at = end + 1 + usize::from(kind(end + 1) == Some(TK_COMMA));
    }
    Ok((common, at))
}

/// The token of the parenthesis that closes the one at this token.
fn closing(tokens: &[Token], open: usize) -> Result<usize, Stop> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TK_LP => depth += 1,
            TK_RP if depth == 1 => return Ok(at),
            TK_RP if depth > 1 => depth -= 1,
            _ if depth == 0 => break,
            _ => {}
        }
    }
    refuse(UNREADABLE)
}

/// The token with which the SELECT of a view begins.
fn start_of_view(sql: &str) -> Result<usize, Stop> {
    let tokens = tokens(sql).map_err(Stop::Refused)?;
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TK_LP => depth += 1,
            TK_RP => depth = depth.saturating_sub(1),
            TK_AS if depth == 0 => return Ok(at + 1),
            _ => {}
        }
    }
    refuse(UNREADABLE)
}
