//! Keeps the rows of a result with a LIMIT: those up to its end, and some behind it.

use resqlite_live::KeptWindow;

use super::maintain::is_of_values;
use crate::{
    connection::{
        engine_connection::EngineConnection,
        keep::{Keep, Maintained},
    },
    core::error::Result,
    maintain::Limit,
};

/// Reads the rows to be kept, in the state in which the statement has run. `shown`: the fingerprints of its result.
///
/// The rows are not read together with the result, because rows that are not shown must not cause an error.
pub(super) fn keep(
    connection: &mut EngineConnection,
    maintained: Maintained<'_>,
    limit: &Limit,
    slack: usize,
    shown: &[u64],
) -> Result<(Keep, Option<KeptWindow>)> {
    let Some(window) = connection.window(maintained.query, &maintained.plan.all, &limit.bounds)? else {
        return Ok((Keep::Nothing, None));
    };
    let window = KeptWindow::new(window, slack);
    let mut keep = Keep::rows(&maintained.plan.order);
    match connection.keep_first(maintained, limit, window.most(), &mut keep) {
        Err(error) if is_of_values(&error) => {
            return Ok((Keep::Unfit, None));
        }
        kept => kept?,
    }
    let Keep::Rows(rows) = &keep else {
        return Ok((keep, None));
    };
    // In a damaged file, an index may have other rows than its table.
    if window.fingerprints(rows) != shown {
        return Ok((Keep::Unfit, None));
    }
    Ok((keep, Some(window)))
}
