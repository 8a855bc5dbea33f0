//! Checks whether the partners of rows behind LEFT JOIN decide about more than their own columns.

use sqlite3_parser::ast::OneSelect;

use super::names::Names;
use crate::{
    maintain::clauses::{Meaning, Term, names_in_condition, names_in_joins},
    sql::{plan::Place, syntax::Refused},
};

/// Returns whether a condition may leave out rows because of their partners behind LEFT JOIN. If no condition does, the rows of
/// the result show which partners all rows have.
pub(super) fn partners_decide(select: &OneSelect<'_>, named: &Names<'_>) -> Result<bool, Refused> {
    let places = named.places;
    let Some(first) = places.iter().position(Place::is_optional) else {
        return Ok(false);
    };
    let joins = names_in_joins(select)?;
    if joins.len() != places.len() {
        return Err("its FROM could not be read");
    }
    for (at, names) in joins.iter().enumerate() {
        if names.iter().any(|name| named.meant(name).any(|place| place > at)) {
            return Err("a condition of a join names a table to its right");
        }
    }
    let inner = (first..places.len()).filter(|&at| !places[at].is_optional());
    let condition = names_in_condition(select)?;
    let mut names = inner.flat_map(|at| &joins[at]).chain(&condition);
    Ok(names.any(|name| named.is_behind_left_join(name)))
}

/// Returns whether the place of a row in the result may depend on its partners behind LEFT JOIN. With a LIMIT, some of the rows
/// that show which partners others had are not kept.
pub(super) fn partners_order(order: &[Term<'_>], named: &Names<'_>) -> bool {
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
    order.iter().any(depends)
}
