//! Live queries: which ones a commit affects, when they run again, and what their listeners get.
//!
//! ```text
//! observer      what the writer does after each commit
//! coordinator   the live queries that are open
//!   staleness   which of them a commit makes stale (registry)
//!   schedule    when they run (scheduler)
//! dispatch      how many threads are called; quick queries stay with the writer
//! jobs          what a thread that was called does
//! rerun         one run: the statements of a query in one read transaction, compared with the last result
//! maintain      a run that asks only for the rows of changed base rows
//! window        what is kept of a result with a LIMIT
//! shown_rows    kept rows, and which of them a LIMIT shows
//! groups        what is kept of a result that makes groups, and what changed rows change in it
//! groups_run    the run of a statement that makes groups
//! undecided     when groups that did not determine the result are kept again
//! statement_run the run of one statement
//! catch_ups     callers that wait until a query shows what was committed before
//! verification  audits: re-runs that should change nothing
//! external      commits by other processes
//! subscription  the caller's end
//! ```
//!
//! Nothing is missed at the start: the number of the newest commit is read *before* the first run's read transaction
//! begins, and the commits after that number are processed when the query is registered.
//!
//! To the outside, this module gives the interface of live queries without futures, their explanation, and the crate
//! `resqlite-live`: the logic without threads and connections.

pub use resqlite_live::*;

mod catch_ups;
mod coordinator;
mod dispatch;
mod external;
mod groups;
mod groups_run;
mod jobs;
mod live_query;
mod maintain;
mod observer;
mod request;
mod rerun;
mod schedule;
mod shown_rows;
mod staleness;
mod statement_run;
mod stats;
mod subscription;
mod undecided;
mod verification;
mod why_whole;
mod window;

pub use crate::{
    maintain::{Explanation, MaintenanceExplanation},
    sql::{Precision, TableExplanation},
};
pub(crate) use coordinator::LiveCoordinator;
pub(crate) use external::{ExternalListener, ExternalWatch};
pub use request::{Delivery, Emission, Listener, LiveQueryRequest, Maintenance};
pub use stats::{LiveTotals, StreamStats};
pub use subscription::Subscription;

#[cfg(all(test, not(loom)))]
mod tests;
