//! Calls of aggregates.

use sqlite3_parser::ast::{self, Distinctness, Expr, FunctionTail, OneSelect, ResultColumn};

use resqlite_live::Aggregate;

use crate::{
    maintain::{parsed::Parsed, through::is_distinct},
    sql::{catalog::Catalog, names::unquoted, plan::Stop, syntax::Refused, walk::Walk},
};

/// A call of an aggregate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call<'t> {
    pub(super) aggregate: Aggregate,
    /// `None` if the call counts rows.
    pub(super) argument: Option<&'t Expr<'t>>,
    /// The condition behind FILTER.
    pub(super) filter: Option<&'t Expr<'t>>,
}

impl Call<'_> {
    /// Returns the aggregate that is kept for the call: with a filter, a count of rows counts those that pass the filter.
    pub(super) fn maintained(&self) -> Aggregate {
        match (self.aggregate, self.filter) {
            (Aggregate::Rows, Some(_)) => Aggregate::Count,
            (aggregate, _) => aggregate,
        }
    }
}

/// Returns the call, if the expression is a call of an aggregate. `is_aggregate` says whether some function of a name, in lower
/// case, makes one value of many rows.
///
/// # Errors
/// The call is one that cannot be maintained.
pub(super) fn call<'t>(
    expression: &'t Expr<'t>,
    is_aggregate: impl Fn(&str) -> bool,
) -> Result<Option<Call<'t>>, Refused> {
    let no_arguments: &[Expr<'_>] = &[];
    let (name, arguments, is_distinct, is_ordered, tail) = match expression {
        Expr::FunctionCall {
            name,
            distinctness,
            args,
            order_by,
            filter_over,
        } => {
            let is_distinct = *distinctness == Some(Distinctness::Distinct);
            (
                name,
                args.unwrap_or_default(),
                is_distinct,
                order_by.is_some(),
                filter_over,
            )
        }
        Expr::FunctionCallStar { name, filter_over } => (name, no_arguments, false, false, filter_over),
        _ => return Ok(None),
    };
    let function = unquoted(name.0).to_ascii_lowercase();
    let is_scalar = matches!(&function[..], "min" | "max") && arguments.len() > 1;
    if is_scalar || !is_aggregate(&function) {
        return Ok(None);
    }
    let aggregate = match &function[..] {
        "count" => Aggregate::Count,
        "sum" => Aggregate::Sum,
        "total" => Aggregate::Total,
        "avg" => Aggregate::Average,
        "min" => Aggregate::Min,
        "max" => Aggregate::Max,
        _ => return Err(NOT_MAINTAINED),
    };
    let filter = match tail {
        Some(FunctionTail {
            over_clause: Some(_), ..
        }) => return Err(NOT_MAINTAINED),
        tail => tail.as_ref().and_then(|tail| tail.filter_clause),
    };
    let aggregate = match (aggregate, arguments) {
        _ if is_distinct => return Err("it aggregates distinct values"),
        _ if is_ordered => return Err(NOT_MAINTAINED),
        (Aggregate::Count, []) => Aggregate::Rows,
        (aggregate, [_]) => aggregate,
        _ => return Err(NOT_MAINTAINED),
    };
    Ok(Some(Call {
        aggregate,
        argument: arguments.first(),
        filter,
    }))
}

const NOT_MAINTAINED: Refused = "it calls an aggregate that is not maintained";

/// The functions in a statement that make one value of many rows; `None` if it makes no groups.
pub(super) fn aggregates(catalog: &Catalog<'_>, parsed: &Parsed<'_>) -> Result<Option<Vec<String>>, Stop> {
    let [arm] = &parsed.select.arms[..] else {
        return Ok(None);
    };
    let mut aggregates = Vec::new();
    for function in &arm.functions {
        if catalog.has_aggregate(function)? {
            aggregates.push(function.clone());
        }
    }
    // The functions are known by name, and `min` and `max` of several arguments make no groups.
    let is_aggregate = |name: &str| aggregates.iter().any(|known| known == name);
    let aggregates_rows =
        !aggregates.is_empty() && calls_any(parsed.tree, is_aggregate).map_err(Stop::Refused)?;
    let is_distinct = is_distinct(&parsed.tree.body.select);
    let makes_groups = arm.grouped_by.is_some() || arm.has_having || is_distinct || aggregates_rows;
    Ok(makes_groups.then_some(aggregates))
}

/// Returns whether a SELECT calls an aggregate, even one that cannot be maintained.
fn calls_any(select: &ast::Select<'_>, is_aggregate: impl Fn(&str) -> bool) -> Result<bool, Refused> {
    let mut walk = Walk::default();
    walk.sorted(select.order_by.unwrap_or_default())?;
    if let OneSelect::Select { columns, .. } = &select.body.select {
        walk.expressions(columns.iter().filter_map(|column| match column {
            ResultColumn::Expr(value, _) => Some(value),
            ResultColumn::Star | ResultColumn::TableStar(_) => None,
        }))?;
    }
    let is_call = |expression: &&Expr<'_>| !matches!(call(expression, &is_aggregate), Ok(None));
    Ok(walk.calls.iter().any(is_call))
}
