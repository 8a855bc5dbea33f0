//! Views, common table expressions and subqueries in FROM, seen through.
//!
//! Each row of a plain SELECT in FROM comes from one row of each of its tables. So this SELECT gives the keys of these rows as
//! further columns, and the statement around it can name them like the key of a table:
//!
//! ```text
//! SELECT v.a FROM v                     v is a view: SELECT a FROM t WHERE b
//! SELECT v.a, "v"."#k0" FROM (SELECT a, "t"."rowid" AS "#k0" FROM t WHERE b) AS "v"
//! ```
//!
//! If it can, SQLite makes one SELECT of both, and then reaches the table by its key. Its query plan shows whether it does.

use sqlite3_parser::{
    Bump,
    ast::{
        As, CommonTableExpr, Distinctness, Materialized, OneSelect, ResultColumn, Select as SelectTree,
        SelectTable, With,
    },
    dialect::TokenType::TK_COLLATE,
};

use super::{
    clauses::{
        Clauses, Mention, NO_PLAIN, names_in_condition, names_in_joins, printed, printed_all, sources,
    },
    keyed::{Keyed, Planner, refuse, table},
    parsed::OneArm,
};
use crate::{
    core::names::quoted,
    sql::{
        catalog::Found,
        names::alias_name,
        parse::Tree,
        plan::{ArmPlan, Place, Plan, Rows, Stop},
        syntax::{Arm, CommonTable, Join, Output, Relation, Select, Source},
        tokens::{self, UNREADABLE, has},
    },
};

/// A SELECT whose sources give the keys of their base rows.
pub(super) struct Seen<'p> {
    pub(super) one: OneArm<'p>,
    pub(super) clauses: Clauses,
    /// The tables that it reads, in the order of FROM.
    pub(super) sources: Vec<Keyed<'p>>,
    /// Some source has ORDER BY.
    pub(super) is_ordered_inside: bool,
}

impl Seen<'_> {
    pub(super) fn places(&self) -> &[Place] {
        &self.one.plan.places
    }

    /// The number of columns of the keys of its sources.
    pub(super) fn key_columns(&self) -> usize {
        self.sources.iter().map(|source| source.key.len()).sum()
    }
}

/// A table that is read instead of another.
#[derive(Clone, Copy)]
pub(super) struct Instead<'p> {
    /// The place of the other table, perhaps inside a SELECT in FROM.
    pub(super) place: usize,
    pub(super) given: &'p str,
    /// The column of `given` that stands for the key.
    pub(super) column: &'p str,
}

/// Adds the keys of base rows to the sources of a SELECT that are SELECTs themselves, and puts a given table in place of a
/// table that the SELECT reads.
pub(super) fn see_through<'p>(
    planner: &'p Planner<'p>,
    instead: Option<Instead<'p>>,
    arm: OneArm<'p>,
) -> Result<Seen<'p>, Stop> {
    let mut printer = Printer::new(planner, instead, arm.with, arm.common);
    let (mut clauses, sources) = printer.arm(arm.tree, arm.arm, arm.plan, &[])?;
    clauses.with = printer.with();
    Ok(Seen {
        one: arm,
        clauses,
        sources,
        is_ordered_inside: printer.is_ordered_inside,
    })
}

/// A text that gives keys, and the tables that it reads, with the names by which it gives their keys.
type Printed<'p> = Result<(String, Vec<Keyed<'p>>), Stop>;

/// Prints a statement, or a view, with what is changed in it.
struct Printer<'t, 'p> {
    planner: &'p Planner<'p>,
    instead: Option<Instead<'p>>,
    with: Option<&'t With<'t>>,
    common: Vec<Common<'t>>,
    /// The number of columns of keys so far.
    keys: usize,
    is_ordered_inside: bool,
}

/// A common table expression.
struct Common<'t> {
    tree: &'t CommonTableExpr<'t>,
    table: &'t CommonTable,
    /// Its text with keys, if it is read.
    keyed: Option<String>,
}

impl<'t, 'p> Printer<'t, 'p> {
    fn new(
        planner: &'p Planner<'p>,
        instead: Option<Instead<'p>>,
        with: Option<&'t With<'t>>,
        tables: &'t [CommonTable],
    ) -> Self {
        let trees = with.iter().flat_map(|with| with.ctes);
        let common = trees.zip(tables).map(|(tree, table)| Common {
            tree,
            table,
            keyed: None,
        });
        Self {
            planner,
            instead,
            with,
            common: common.collect(),
            keys: 0,
            is_ordered_inside: false,
        }
    }

    /// WITH and its tables, and a space.
    fn with(&self) -> String {
        let Some(with) = self.with else {
            return String::new();
        };
        let tables = self.common.iter();
        let tables = tables.map(|common| common.keyed.clone().unwrap_or_else(|| printed(common.tree)));
        let tables: Vec<String> = tables.collect();
        let recursive = if with.recursive { "RECURSIVE " } else { "" };
        format!("WITH {recursive}{} ", tables.join(", "))
    }

    /// Prints a SELECT whose sources give keys. Also returns the tables that it reads, and the names by which it can use their
    /// keys. `names`: the names of its columns, if these are not its own.
    fn arm(
        &mut self,
        tree: &'t OneSelect<'t>,
        arm: &'t Arm,
        plan: &'p ArmPlan,
        names: &[String],
    ) -> Result<(Clauses, Vec<Keyed<'p>>), Stop> {
        let OneSelect::Select {
            columns,
            from: Some(from),
            where_clause,
            window_clause: None,
            ..
        } = tree
        else {
            return refuse(NO_PLAIN);
        };
        let trees: Vec<_> = sources(from).collect();
        if trees.len() != plan.places.len() || columns.len() != arm.outputs.len() {
            return refuse(UNREADABLE);
        }
        self.planner.check_names(plan)?;
        let outputs = match names {
            [] => outputs(columns, arm, plan)?,
            names => {
                let mut used = names_in_condition(tree).map_err(Stop::Refused)?;
                used.extend(names_in_joins(tree).map_err(Stop::Refused)?.into_iter().flatten());
                named(columns, names, &used)?
            }
        };
        let (mut from, mut keyed) = (Vec::new(), Vec::new());
        for (((join, table, constraint), source), place) in
            trees.into_iter().zip(&arm.sources).zip(&plan.places)
        {
            let (text, keys) = match &place.rows {
                Rows::Query(plan, _) => self.query(table, source, place, plan)?,
                _ => self.table(table, place)?,
            };
            let constraint = constraint.map(|constraint| format!(" {}", printed(constraint)));
            from.push(format!("{join}{text}{}", constraint.unwrap_or_default()));
            keyed.extend(keys);
        }
        let clauses = Clauses {
            with: String::new(),
            outputs,
            from,
            condition: where_clause.map(printed),
        };
        Ok((clauses, keyed))
    }

    fn table(&mut self, tree: &SelectTable<'_>, place: &'p Place) -> Printed<'p> {
        let Some(instead) = self.instead.filter(|instead| instead.place == place.number) else {
            return Ok((printed(tree), vec![self.planner.source(place)?]));
        };
        let (SelectTable::Table(_, alias, _), Some(called)) = (tree, &place.called) else {
            return refuse(NO_TABLE);
        };
        let (table, _) = table(place, self.planner.tables)?;
        let key = vec![(0, format!("{}.{}", quoted(called, '"'), instead.column))];
        let text = format!("{} {}", instead.given, named_as(alias.as_ref(), called));
        Ok((text, vec![Keyed { place, table, key }]))
    }

    /// A source that is a SELECT, with keys.
    fn query(
        &mut self,
        tree: &'t SelectTable<'t>,
        source: &'t Source,
        place: &'p Place,
        plan: &'p Plan,
    ) -> Printed<'p> {
        let (text, keyed, called) = match (&source.relation, tree) {
            (Relation::Select(select), SelectTable::Select(tree, alias)) => {
                let (text, keyed) = self.select(tree, select, plan)?;
                let called = place.called.clone().unwrap_or_else(|| format!("#s{}", self.keys));
                let alias = named_as(alias.as_ref(), &called);
                (format!("({text}) {alias}"), keyed, called)
            }
            (Relation::Named { schema, name }, SelectTable::Table(_, alias, _)) => {
                let called = place.called.as_ref().unwrap_or(name).clone();
                if let Some(common) = self.common(schema.as_deref(), name) {
                    (printed(tree), self.common_table(common, plan)?, called)
                } else {
                    let (text, keyed) = self.view(name, place, plan)?;
                    let alias = named_as(alias.as_ref(), &called);
                    (format!("({text}) {alias}"), keyed, called)
                }
            }
            _ => return refuse(NO_TABLE),
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
        Ok((text, outside.collect()))
    }

    fn common(&self, schema: Option<&str>, name: &str) -> Option<usize> {
        let is_it = |common: &Common<'_>| schema.is_none() && common.table.name.eq_ignore_ascii_case(name);
        self.common.iter().position(is_it)
    }

    fn common_table(&mut self, number: usize, plan: &'p Plan) -> Result<Vec<Keyed<'p>>, Stop> {
        let Common { tree, table, keyed } = &self.common[number];
        if keyed.is_some() {
            return refuse("it reads a common table expression twice");
        }
        let (tree, table) = (*tree, *table);
        let (text, keyed) = self.select(tree.select, &table.select, plan)?;
        let columns = tree.columns.map_or_else(String::new, |columns| {
            let keys = keyed.iter().flat_map(|source| &source.key);
            let names = printed_all(columns).into_iter();
            let names: Vec<String> = names.chain(keys.map(|(_, name)| name.clone())).collect();
            format!("({})", names.join(", "))
        });
        let materialized = match tree.materialized {
            Materialized::Any => "",
            Materialized::Yes => "MATERIALIZED ",
            Materialized::No => "NOT MATERIALIZED ",
        };
        let name = printed(&tree.tbl_name);
        self.common[number].keyed = Some(format!("{name}{columns} AS {materialized}({text})"));
        Ok(keyed)
    }

    /// The SELECT of a view, with keys.
    fn view(&mut self, name: &str, place: &Place, plan: &'p Plan) -> Printed<'p> {
        let found = self.planner.catalog.find(place.schema.as_deref(), name)?;
        let sql = match (found, place.schema.as_deref()) {
            (Some(Found::View { sql, .. }), Some("main")) => sql,
            _ => return refuse("it reads a view of another database"),
        };
        let (bump, numbered) = (Bump::new(), tokens::number(&sql).map_err(Stop::Refused)?);
        let tree = Tree::of(&bump, &numbered).map_err(Stop::Refused)?;
        let view = tree.read().map_err(Stop::Refused)?;
        let with = tree.select.with.as_ref();
        let mut printer = Printer::new(self.planner, self.instead, with, &view.select.with);
        printer.keys = self.keys;
        let (text, keyed) = printer.body(tree.select, &view.select, plan, &view.columns)?;
        self.is_ordered_inside |= printer.is_ordered_inside;
        self.keys = printer.keys;
        Ok((printer.with() + &text, keyed))
    }

    /// A SELECT that is a source of another, with keys, and the names under which it gives them.
    fn select(&mut self, tree: &'t SelectTree<'t>, select: &'t Select, plan: &'p Plan) -> Printed<'p> {
        if tree.with.is_some() {
            return refuse("it reads a SELECT with tables of its own");
        }
        self.body(tree, select, plan, &[])
    }

    /// Does the same for a SELECT without WITH. `names`: the names of its columns, if these are not its own.
    fn body(
        &mut self,
        tree: &'t SelectTree<'t>,
        select: &'t Select,
        plan: &'p Plan,
        names: &[String],
    ) -> Printed<'p> {
        self.check(select, plan)?;
        let (one, arm, plan) = (&tree.body.select, &select.arms[0], &plan.arms[0]);
        let (clauses, mut keyed) = self.arm(one, arm, plan, names)?;
        if is_distinct(one) {
            return refuse("it reads a SELECT with DISTINCT");
        }
        if names.is_empty() {
            check_unnamed(arm, plan, &clauses.outputs)?;
        }
        let mut added = Vec::new();
        for (_, name) in keyed.iter_mut().flat_map(|source| &mut source.key) {
            let key = quoted(&format!("#k{}", self.keys), '"');
            self.keys += 1;
            added.push(format!("{name} AS {key}"));
            *name = key;
        }
        let mut text = clauses.all_rows(&added);
        if let Some(order) = tree.order_by {
            self.is_ordered_inside = true;
            text += &format!(" ORDER BY {}", printed_all(order).join(", "));
        }
        Ok((text, keyed))
    }

    /// Checks that each row of a SELECT comes from one row of each of its tables.
    fn check(&self, select: &Select, plan: &Plan) -> Result<(), Stop> {
        let ([arm], [planned]) = (&select.arms[..], &plan.arms[..]) else {
            return refuse("it reads a compound SELECT");
        };
        match () {
            () if select.has_subquery() => refuse("it reads a SELECT with a subquery"),
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
}

/// Checks that no name of a SELECT in FROM can mean a column that has no name of its own. The name by which SQLite knows such a
/// column depends on how it is written, and on whether it stands in a view.
fn check_unnamed(arm: &Arm, plan: &ArmPlan, printed: &[String]) -> Result<(), Stop> {
    let is_word = |name: &str| name.chars().all(|it| it.is_alphanumeric() || it == '_');
    let unnamed = arm.outputs.iter().zip(printed);
    for (output, text) in unnamed.filter(|(output, _)| output.is_named_by_sqlite()) {
        let is_called_by_text = matches!(output, Output::Expression(_)) && !is_column_in_disguise(text);
        let mut names = plan
            .outputs
            .columns
            .iter()
            .filter_map(|column| column.name.as_deref());
        if !is_called_by_text || !names.all(|name| is_word(name) && !name.eq_ignore_ascii_case(text)) {
            return refuse("it reads a SELECT with a column that has no name");
        }
    }
    Ok(())
}

/// Returns whether a column may be more than its text says: in a view, SQLite calls `likely(a)` and `a COLLATE NOCASE` just `a`.
fn is_column_in_disguise(text: &str) -> bool {
    let starts = |with: &&str| {
        text.get(..with.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    ["(", "likel", "unlikely"].iter().any(starts) || has(text, TK_COLLATE)
}

/// Returns the alias of a source; if it has none, `name` as its alias.
fn named_as(alias: Option<&As<'_>>, name: &str) -> String {
    alias.map_or_else(|| format!("AS {}", quoted(name, '"')), printed)
}

/// Returns whether a SELECT has DISTINCT.
pub(super) fn is_distinct(select: &OneSelect<'_>) -> bool {
    let OneSelect::Select { distinctness, .. } = select else {
        return false;
    };
    *distinctness == Some(Distinctness::Distinct)
}

/// The columns of a SELECT under these names. `used`: the names in its conditions.
fn named(columns: &[ResultColumn<'_>], names: &[String], used: &[Mention]) -> Result<Vec<String>, Stop> {
    let is_used = |alias: &As<'_>| {
        let name = alias_name(alias);
        used.iter()
            .any(|mention| mention.name.eq_ignore_ascii_case(&name))
    };
    let mut named = Vec::new();
    for (column, name) in columns.iter().zip(names) {
        match column {
            ResultColumn::Expr(_, Some(alias)) if is_used(alias) => {
                return refuse("it reads a view that renames what its WHERE uses");
            }
            ResultColumn::Expr(value, _) => {
                named.push(format!("{} AS {}", printed(value), quoted(name, '"')));
            }
            ResultColumn::Star | ResultColumn::TableStar(_) => {
                return refuse("it reads a view that gives names to *");
            }
        }
    }
    if columns.len() != names.len() {
        return refuse(UNREADABLE);
    }
    Ok(named)
}

/// The columns of a SELECT, without `*` where it would give keys.
fn outputs(trees: &[ResultColumn<'_>], arm: &Arm, plan: &ArmPlan) -> Result<Vec<String>, Stop> {
    let gives_keys = |place: &&Place| matches!(place.rows, Rows::Query(..));
    let output = |(tree, output): (&ResultColumn<'_>, &Output)| {
        let Output::Star(of) = output else {
            return Ok(printed(tree));
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
            return Ok(printed(tree));
        }
        if plan
            .places
            .iter()
            .any(|place| place.is_natural || !place.using.is_empty())
        {
            return refuse("it reads all columns of a join that makes one of two");
        }
        let columns: Vec<String> = places().map(columns).collect::<Result<_, _>>()?;
        Ok(columns.join(", "))
    };
    trees.iter().zip(&arm.outputs).map(output).collect()
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
