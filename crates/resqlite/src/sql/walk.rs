//! Collects the subqueries, calls of functions and names of columns anywhere in an expression.

use sqlite3_parser::ast::{
    Expr, FrameBound, FunctionCallOrder, FunctionTail, Id, Over, Select as SelectAst, SortedColumn, Window,
};

use super::{names::unquoted, syntax::Refused};

/// The parts collected from expressions. Every kind of expression is known, so that no subquery is missed.
#[derive(Default)]
pub(crate) struct Walk<'a, 'b> {
    pub(crate) subqueries: Vec<&'a SelectAst<'b>>,
    /// Functions that are called outside of subqueries, in lower case.
    pub(crate) functions: Vec<String>,
    /// The calls of these functions.
    pub(crate) calls: Vec<&'a Expr<'b>>,
    /// The names of columns outside of subqueries.
    pub(crate) names: Vec<&'a Expr<'b>>,
    pub(crate) has_window: bool,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub(crate) fn expressions(
        &mut self,
        expressions: impl IntoIterator<Item = &'a Expr<'b>>,
    ) -> Result<(), Refused> {
        expressions.into_iter().try_for_each(|one| self.expression(one))
    }

    pub(crate) fn expression(&mut self, expression: &'a Expr<'b>) -> Result<(), Refused> {
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
            Expr::Exists(select) | Expr::Subquery(select) => {
                self.subqueries.push(select);
                Ok(())
            }
            Expr::FunctionCall {
                name,
                args,
                order_by,
                filter_over,
                ..
            } => {
                self.call(expression, name, filter_over.as_ref())?;
                if let Some(FunctionCallOrder::SortList(columns)) = order_by {
                    self.sorted(*columns)?;
                }
                self.expressions(args.unwrap_or_default())
            }
            Expr::FunctionCallStar { name, filter_over } => self.call(expression, name, filter_over.as_ref()),
            Expr::InList { lhs, rhs, .. } => {
                self.expression(lhs)?;
                self.expressions(rhs.unwrap_or_default())
            }
            Expr::InSelect { lhs, rhs, .. } => {
                self.subqueries.push(rhs);
                self.expression(lhs)
            }
            Expr::InTable { .. } => Err("the statement has IN with a table"),
            Expr::Like { lhs, rhs, escape, .. } => {
                self.expressions([*lhs, *rhs])?;
                self.expressions(*escape)
            }
            Expr::Parenthesized(inner) => self.expressions(inner),
            Expr::Raise(_, message) => self.expressions(*message),
            Expr::DoublyQualified(..) | Expr::Id(_) | Expr::Name(_) | Expr::Qualified(..) => {
                self.names.push(expression);
                Ok(())
            }
            Expr::Literal(_) | Expr::Variable(_) => Ok(()),
        }
    }

    pub(crate) fn sorted(
        &mut self,
        columns: impl IntoIterator<Item = &'a SortedColumn<'b>>,
    ) -> Result<(), Refused> {
        self.expressions(columns.into_iter().map(|column| &column.expr))
    }

    pub(crate) fn window(&mut self, window: &'a Window<'b>) -> Result<(), Refused> {
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

    fn call(
        &mut self,
        call: &'a Expr<'b>,
        name: &Id<'b>,
        tail: Option<&'a FunctionTail<'b>>,
    ) -> Result<(), Refused> {
        self.calls.push(call);
        self.functions.push(unquoted(name.0).to_ascii_lowercase());
        let Some(tail) = tail else { return Ok(()) };
        self.expressions(tail.filter_clause)?;
        self.has_window |= tail.over_clause.is_some();
        match tail.over_clause {
            Some(Over::Window(window)) => self.window(window),
            Some(Over::Name(_)) | None => Ok(()),
        }
    }
}
