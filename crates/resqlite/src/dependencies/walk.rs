//! What stands anywhere in an expression: subqueries, calls of functions.

use sqlite3_parser::ast::{
    Expr, FrameBound, FunctionCallOrder, FunctionTail, Id, Over, Select as SelectAst, SortedColumn, Window,
};

use super::{
    names::unquoted,
    parse::{Reader, Refused},
    syntax::{Arm, Relation, Select},
};

/// Collects what stands in expressions. It knows every kind of expression, so that no subquery escapes.
pub(super) struct Walk<'r, 'n> {
    reader: &'r Reader<'n>,
    pub(super) subqueries: Vec<Select>,
    functions: Vec<String>,
    has_window: bool,
}

impl<'r, 'n> Walk<'r, 'n> {
    pub(super) fn new(reader: &'r Reader<'n>) -> Self {
        Self {
            reader,
            subqueries: Vec::new(),
            functions: Vec::new(),
            has_window: false,
        }
    }

    /// Adds all that was found to the arm whose expressions they are.
    pub(super) fn add_to(self, arm: &mut Arm) {
        arm.functions.extend(self.functions);
        arm.has_window |= self.has_window;
        for subquery in &self.subqueries {
            add_functions(subquery, &mut arm.functions);
        }
        arm.subqueries.extend(self.subqueries);
    }

    pub(super) fn expressions<'e, 'b: 'e>(
        &mut self,
        expressions: impl IntoIterator<Item = &'e Expr<'b>>,
    ) -> Result<(), Refused> {
        expressions.into_iter().try_for_each(|one| self.expression(one))
    }

    pub(super) fn expression(&mut self, expression: &Expr<'_>) -> Result<(), Refused> {
        match expression {
            Expr::Between { lhs, start, end, .. } => self.expressions([*lhs, *start, *end]),
            Expr::Binary(left, _, right) => self.expressions([*left, *right]),
            Expr::Case {
                base,
                when_then_pairs,
                else_expr,
            } => {
                self.expressions(base.iter().chain(else_expr).copied())?;
                let pairs = when_then_pairs.iter();
                self.expressions(pairs.flat_map(|(when, then)| [when, then]))
            }
            Expr::Cast { expr: inner, .. }
            | Expr::Collate(inner, _)
            | Expr::IsNull(inner)
            | Expr::NotNull(inner)
            | Expr::Unary(_, inner) => self.expression(inner),
            Expr::Exists(select) | Expr::Subquery(select) => self.subquery(select),
            Expr::FunctionCall {
                name,
                args,
                order_by,
                filter_over,
                ..
            } => {
                self.call(name, filter_over.as_ref())?;
                if let Some(FunctionCallOrder::SortList(columns)) = order_by {
                    self.sorted(*columns)?;
                }
                self.expressions(args.unwrap_or_default())
            }
            Expr::FunctionCallStar { name, filter_over } => self.call(name, filter_over.as_ref()),
            Expr::InList { lhs, rhs, .. } => {
                self.expression(lhs)?;
                self.expressions(rhs.unwrap_or_default())
            }
            Expr::InSelect { lhs, rhs, .. } => {
                self.expression(lhs)?;
                self.subquery(rhs)
            }
            Expr::InTable { .. } => Err("the statement has IN with a table"),
            Expr::Like { lhs, rhs, escape, .. } => {
                self.expressions([*lhs, *rhs])?;
                self.expressions(*escape)
            }
            Expr::Parenthesized(inner) => self.expressions(inner),
            Expr::Raise(_, message) => self.expressions(*message),
            Expr::DoublyQualified(..)
            | Expr::Id(_)
            | Expr::Literal(_)
            | Expr::Name(_)
            | Expr::Qualified(..)
            | Expr::Variable(_) => Ok(()),
        }
    }

    pub(super) fn sorted<'e, 'b: 'e>(
        &mut self,
        columns: impl IntoIterator<Item = &'e SortedColumn<'b>>,
    ) -> Result<(), Refused> {
        self.expressions(columns.into_iter().map(|column| &column.expr))
    }

    pub(super) fn window(&mut self, window: &Window<'_>) -> Result<(), Refused> {
        self.expressions(window.partition_by.unwrap_or_default())?;
        self.sorted(window.order_by.unwrap_or_default())?;
        let frame = window.frame_clause.iter();
        let bounds = frame.flat_map(|frame| [Some(&frame.start), frame.end.as_ref()]);
        let bounds = bounds.flatten().filter_map(|bound| match bound {
            FrameBound::Following(distance) | FrameBound::Preceding(distance) => Some(distance),
            FrameBound::CurrentRow | FrameBound::UnboundedFollowing | FrameBound::UnboundedPreceding => None,
        });
        self.expressions(bounds)
    }

    fn call(&mut self, name: &Id<'_>, tail: Option<&FunctionTail<'_>>) -> Result<(), Refused> {
        self.functions.push(unquoted(name.0).to_ascii_lowercase());
        let Some(tail) = tail else { return Ok(()) };
        self.expressions(tail.filter_clause)?;
        self.has_window |= tail.over_clause.is_some();
        match tail.over_clause {
            Some(Over::Window(window)) => self.window(window),
            Some(Over::Name(_)) | None => Ok(()),
        }
    }

    fn subquery(&mut self, select: &SelectAst<'_>) -> Result<(), Refused> {
        self.subqueries.push(self.reader.select(select)?);
        Ok(())
    }
}

/// Adds the functions that a subquery calls: an aggregate of outer columns belongs to the outer query.
fn add_functions(select: &Select, functions: &mut Vec<String>) {
    let tables = select.with.iter().map(|table| &table.select);
    for inner in tables.chain(&select.subqueries) {
        add_functions(inner, functions);
    }
    for arm in &select.arms {
        // Those of subqueries in its expressions are among them.
        functions.extend(arm.functions.iter().cloned());
        let terms = [&arm.terms]
            .into_iter()
            .chain(arm.sources.iter().map(|source| &source.on));
        terms
            .flat_map(|terms| &terms.subqueries)
            .for_each(|inner| add_functions(inner, functions));
        for source in &arm.sources {
            if let Relation::Select(inner) = &source.relation {
                add_functions(inner, functions);
            }
        }
    }
}
