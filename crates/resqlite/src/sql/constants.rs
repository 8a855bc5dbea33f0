//! The constant values in a statement.

use resqlite_live::Value;
use resqlite_sqlite::Connection;

use super::{syntax::Constant, templates::Operand};
use crate::core::{error::Result, live_value::owned};

/// Returns the operands that a column is compared with. SQLite itself evaluates the literals. Returns `None` if one of them is no
/// value.
pub(super) fn operands(connection: &Connection, constants: &[Constant]) -> Result<Option<Vec<Operand>>> {
    let literals = constants.iter().filter_map(|constant| match constant {
        Constant::Literal(sql) => Some(sql.as_str()),
        Constant::Parameter(_) | Constant::ElementsOf(_) => None,
    });
    let literals: Vec<&str> = literals.collect();
    let mut values = literal_values(connection, &literals)?.into_iter();
    let operand = |constant: &Constant| match constant {
        Constant::Parameter(number) => Some(Operand::Parameter(*number)),
        Constant::ElementsOf(number) => Some(Operand::ElementsOf(*number)),
        Constant::Literal(_) => values.next().map(Operand::Value),
    };
    Ok(constants.iter().map(operand).collect())
}

fn literal_values(connection: &Connection, literals: &[&str]) -> Result<Vec<Value>> {
    let mut values = Vec::with_capacity(literals.len());
    if literals.is_empty() {
        return Ok(values);
    }
    let sql = format!("VALUES ({})", literals.join("), ("));
    let Some(mut rows) = connection.prepare(&sql, false)?.statement else {
        return Ok(values);
    };
    while rows.step()? {
        values.push(owned(rows.column(0)));
    }
    Ok(values)
}
