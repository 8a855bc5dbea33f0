//! Reads the text of a statement, or of a view, into [`Select`]s.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sqlite3_parser::{
    Bump, FallibleIterator,
    ast::{
        Cmd, Expr, FromClause, IndexedColumn, JoinConstraint, JoinOperator, JoinType, JoinedSelectTable,
        OneSelect, ResultColumn, Select as SelectAst, SelectTable, Stmt,
    },
    lexer::sql::Parser,
};

use super::{
    names::{alias_name, plain},
    syntax::{Arm, CommonTable, Join, Output, Refused, Relation, Select, Source, Terms},
    terms::{bare, column_name, read_terms},
    tokens::{self, Numbered, UNREADABLE},
    walk::Walk,
};

/// A statement or view that has been read.
#[derive(Debug, PartialEq)]
pub(crate) struct Query {
    /// The columns of a view, if they have names of their own.
    pub(crate) columns: Vec<String>,
    pub(crate) select: Select,
    /// Names of parameters with their numbers, and the number of parameters.
    pub(crate) parameters: (Vec<(String, usize)>, usize),
}

/// The syntax tree of a statement, or of a view.
pub(crate) struct Tree<'b> {
    numbered: &'b Numbered,
    columns: Option<&'b [IndexedColumn<'b>]>,
    pub(crate) select: &'b SelectAst<'b>,
}

/// Reads a statement, or the statement that created a view.
///
/// # Errors
/// The reason why the conditions of the statement are not used.
pub(crate) fn parse(sql: &str) -> Result<Query, Refused> {
    let numbered = tokens::number(sql)?;
    Tree::of(&Bump::new(), &numbered)?.read()
}

impl<'b> Tree<'b> {
    /// Returns the tree of the single statement in a text.
    ///
    /// # Errors
    /// If the text cannot be parsed.
    pub(crate) fn of(bump: &'b Bump, numbered: &'b Numbered) -> Result<Self, Refused> {
        let parse = || {
            let mut parser = Parser::new(bump, numbered.sql.as_bytes());
            let command = parser.next().map_err(|_| UNREADABLE)?;
            let (columns, select) = match command {
                Some(Cmd::Stmt(Stmt::Select(select))) => (None, select),
                Some(Cmd::Stmt(Stmt::CreateView { columns, select, .. })) => (columns, select),
                _ => return Err(UNREADABLE),
            };
            match parser.next() {
                Ok(None) => Ok(Self {
                    numbered,
                    columns,
                    select,
                }),
                _ => Err(UNREADABLE),
            }
        };
        // The parser is not part of resqlite. If it panics, nothing is known of the statement.
        catch_unwind(AssertUnwindSafe(parse)).unwrap_or(Err(UNREADABLE))
    }

    /// Reads the tree.
    ///
    /// # Errors
    /// The reason why the tree is not used.
    pub(crate) fn read(&self) -> Result<Query, Refused> {
        let reader = Reader::new(self.numbered);
        let select = reader.select(self.select)?;
        // A SELECT that was overlooked may read anything.
        if reader.arms.get() != self.numbered.arms {
            return Err(UNREADABLE);
        }
        Ok(Query {
            columns: names(self.columns),
            select,
            parameters: (self.numbered.names.clone(), self.numbered.count),
        })
    }
}

/// The greatest depth of nested SELECTs. It bounds the text as it is written, and again the text in which views and common table
/// expressions replace their names.
pub(super) const DEPTH_MAX: usize = 64;
pub(super) const TOO_DEEP: Refused = "it has too many SELECTs inside each other";

/// Reads the syntax tree.
struct Reader<'n> {
    numbered: &'n Numbered,
    /// Arms read so far.
    arms: std::cell::Cell<usize>,
    depth: std::cell::Cell<usize>,
}

impl<'n> Reader<'n> {
    fn new(numbered: &'n Numbered) -> Self {
        Self {
            numbered,
            arms: 0.into(),
            depth: 0.into(),
        }
    }

    fn select(&self, select: &SelectAst<'_>) -> Result<Select, Refused> {
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() > DEPTH_MAX {
            return Err(TOO_DEEP);
        }
        let with = select.with.iter().flat_map(|with| with.ctes);
        let with = with.map(|table| {
            Ok(CommonTable {
                name: plain(&table.tbl_name),
                columns: names(table.columns),
                select: self.select(table.select)?,
            })
        });
        let mut read = Select {
            with: with.collect::<Result<_, Refused>>()?,
            arms: vec![self.arm(&select.body.select)?],
            is_limited: select.limit.is_some(),
            subqueries: Vec::new(),
        };
        for compound in select.body.compounds.iter().flatten() {
            read.arms.push(self.arm(&compound.select)?);
        }
        self.read_tail(select, &mut read)?;
        self.depth.set(self.depth.get() - 1);
        Ok(read)
    }

    /// Reads ORDER BY and LIMIT. The ORDER BY of a single arm sees the columns of this arm.
    fn read_tail(&self, select: &SelectAst<'_>, read: &mut Select) -> Result<(), Refused> {
        let order = || select.order_by.unwrap_or_default();
        if let [arm] = &mut read.arms[..] {
            let mut walk = Walk::default();
            walk.sorted(order())?;
            self.add(walk, arm)?;
        } else {
            let mut walk = Walk::default();
            walk.sorted(order())?;
            read.subqueries.extend(self.selects(&walk.subqueries)?);
        }
        let mut walk = Walk::default();
        if let Some(limit) = select.limit {
            walk.expressions([&limit.expr].into_iter().chain(&limit.offset))?;
        }
        read.subqueries.extend(self.selects(&walk.subqueries)?);
        Ok(())
    }

    fn arm(&self, select: &OneSelect<'_>) -> Result<Arm, Refused> {
        self.arms.set(self.arms.get() + 1);
        let (mut arm, mut walk) = (Arm::default(), Walk::default());
        match select {
            OneSelect::Values(rows) => walk.expressions(rows.iter().flatten())?,
            OneSelect::Select {
                distinctness: _,
                columns,
                from,
                where_clause,
                group_by,
                having,
                window_clause,
            } => {
                for column in *columns {
                    if let ResultColumn::Expr(expression, _) = column {
                        walk.expression(expression)?;
                    }
                }
                walk.expressions(group_by.unwrap_or_default())?;
                walk.expressions(*having)?;
                for definition in window_clause.unwrap_or_default() {
                    walk.window(&definition.window)?;
                }
                arm.outputs = columns.iter().map(output).collect();
                arm.grouped_by = group_by.map(|by| by.iter().filter_map(column_name).collect());
                arm.has_having = having.is_some();
                if let Some(from) = from {
                    self.read_from(from, &mut arm)?;
                }
                self.read_terms(*where_clause, &mut arm.terms)?;
            }
        }
        self.add(walk, &mut arm)?;
        Ok(arm)
    }

    fn selects(&self, selects: &[&SelectAst<'_>]) -> Result<Vec<Select>, Refused> {
        selects.iter().map(|select| self.select(select)).collect()
    }

    /// Adds to an arm what its expressions contain.
    fn add(&self, walk: Walk<'_, '_>, arm: &mut Arm) -> Result<(), Refused> {
        let subqueries = self.selects(&walk.subqueries)?;
        arm.functions.extend(walk.functions);
        arm.has_window |= walk.has_window;
        for subquery in &subqueries {
            subquery.add_functions(&mut arm.functions);
        }
        arm.subqueries.extend(subqueries);
        Ok(())
    }

    fn read_terms<'e, 'b: 'e>(
        &self,
        expressions: impl IntoIterator<Item = &'e Expr<'b>>,
        terms: &mut Terms,
    ) -> Result<(), Refused> {
        let subqueries = read_terms(self.numbered, expressions, terms)?;
        terms.subqueries.extend(self.selects(&subqueries)?);
        Ok(())
    }

    fn read_from(&self, from: &FromClause<'_>, arm: &mut Arm) -> Result<(), Refused> {
        if let Some(table) = from.select {
            arm.sources.push(self.source(table)?);
        }
        let joins = || from.joins.iter().flatten();
        // After such a join there can be rows for which an earlier ON does not hold.
        let has_right = joins().any(|join| kind(join).contains(JoinType::RIGHT));
        for join in joins() {
            self.read_join(join, has_right, arm)?;
        }
        Ok(())
    }

    fn read_join(&self, join: &JoinedSelectTable<'_>, has_right: bool, arm: &mut Arm) -> Result<(), Refused> {
        let mut source = self.source(&join.table)?;
        let kind = kind(join);
        source.is_natural = kind.contains(JoinType::NATURAL);
        source.join = match () {
            () if kind.contains(JoinType::RIGHT) => Join::Right,
            () if kind.contains(JoinType::LEFT) => Join::Left,
            () => Join::Inner,
        };
        match &join.constraint {
            Some(JoinConstraint::Using(names)) => source.using = names.iter().map(plain).collect(),
            Some(JoinConstraint::On(on)) if has_right => {
                let mut walk = Walk::default();
                walk.expression(on)?;
                source.on.subqueries = self.selects(&walk.subqueries)?;
            }
            Some(JoinConstraint::On(on)) if source.join == Join::Left => {
                self.read_terms([on], &mut source.on)?;
            }
            Some(JoinConstraint::On(on)) => self.read_terms([on], &mut arm.terms)?,
            None => {}
        }
        arm.sources.push(source);
        Ok(())
    }

    fn source(&self, table: &SelectTable<'_>) -> Result<Source, Refused> {
        let (relation, alias) = match table {
            SelectTable::Table(name, alias, _) => {
                let relation = Relation::Named {
                    schema: name.db_name.as_ref().map(plain),
                    name: plain(&name.name),
                };
                (relation, alias)
            }
            SelectTable::TableCall(name, arguments, alias) => {
                let mut walk = Walk::default();
                walk.expressions(arguments.unwrap_or_default())?;
                (
                    Relation::Function(plain(&name.name), self.selects(&walk.subqueries)?),
                    alias,
                )
            }
            SelectTable::Select(select, alias) => (Relation::Select(self.select(select)?), alias),
            SelectTable::Sub(..) => return Err("it has joins in parentheses"),
        };
        Ok(Source {
            relation,
            alias: alias.as_ref().map(alias_name),
            join: Join::Inner,
            using: Vec::new(),
            is_natural: false,
            on: Terms::default(),
        })
    }
}

fn kind(join: &JoinedSelectTable<'_>) -> JoinType {
    match join.operator {
        JoinOperator::TypedJoin(Some(kind)) => kind,
        _ => JoinType::INNER,
    }
}

fn output(column: &ResultColumn<'_>) -> Output {
    match column {
        ResultColumn::Star => Output::Star(None),
        ResultColumn::TableStar(table) => Output::Star(Some(plain(table))),
        ResultColumn::Expr(expression, alias) => {
            let alias = alias.as_ref().map(alias_name);
            match column_name(bare(expression)) {
                Some(column) => Output::Column(column, alias),
                None => Output::Expression(alias),
            }
        }
    }
}

fn names(columns: Option<&[IndexedColumn<'_>]>) -> Vec<String> {
    let columns = columns.into_iter().flatten();
    columns.map(|column| plain(&column.col_name)).collect()
}
