//! The effect of commits on live queries, as pure logic: no threads, no clock, no SQLite.
//!
//! The writer records every row that SQLite changes in a [`ChangeSet`]. Work that SQLite undoes (a failed statement,
//! ROLLBACK TO) is undone here through marks. At COMMIT the change set becomes a [`ChangeSummary`], which the bounded
//! [`CommitLog`] keeps under a commit number. The log returns all commits since an older number, or an [`Overflow`] if
//! it no longer reaches back that far.
//!
//! An [`Interest`] says how much of each changed row to decode: the columns to compare, and those whose values to keep
//! ([`Watched`]).
//!
//! Commit events can report rows. For such events [`Interest::add_row_listener`] asks for the images of the rows of all
//! tables ([`RowNames`]).
//!
//! The [`Dependencies`] of a live query are the tables and columns that it reads, and a [`Filter`] on rows that can
//! change its result. [`Dependencies::impact`] is the reference rule that decides whether a commit affects the live
//! query. The [`Registry`] finds the affected live queries among very many. The [`Scheduler`] decides when they re-run,
//! and a [`Differ`] compares the new result with the previous one. [`KeptRows`] know which base rows their rows came
//! from, so the effect of a few changed base rows is found without a comparison of all rows. [`Groups`] do the same for
//! aggregates.
//!
//! Everything here over-approximates. The tables alone make the results correct; columns and values only save work. If
//! a bound in [`limits`] is reached or something is not known, a summary reports more than what changed
//! ([`Columns::Any`], [`Rows::Any`], everything), never less.
//!
//! ```
//! use std::sync::Arc;
//! use resqlite_live::{ChangeSet, CommitLog, RowChange, TableName, Value, Watched};
//!
//! let users = TableName::new("main", "users");
//! let watched = Arc::new(Watched { images: [0].into(), ..Watched::default() });
//! let insert = |id| RowChange::Insert { new: Some([Value::Integer(id)].into()) };
//! let mut changes = ChangeSet::new();
//! let statement = changes.mark();
//! changes.record(&users, &watched, insert(1));
//! changes.rollback_to(statement); // the statement failed
//! changes.record(&users, &watched, insert(2));
//!
//! let mut log = CommitLog::new();
//! let before = log.last();
//! log.append(changes.finish());
//! let commits: Vec<_> = log.since(before)?.collect();
//! assert!(commits[0].summary.table(&users).is_some());
//! # Ok::<(), resqlite_live::Overflow>(())
//! ```

#![forbid(unsafe_code)]

mod affects;
mod change_set;
mod column_set;
mod commit_log;
mod commit_number;
mod dependencies;
mod filter;
mod groups;
mod image;
mod impact;
mod interest;
mod kept;
pub mod limits;
mod live_query_id;
mod live_query_map;
mod patch;
mod registry;
mod row_change;
mod row_names;
mod scheduler;
mod summary;
mod table_name;
mod value;

pub use change_set::{ChangeSet, Mark};
pub use column_set::{ColumnSet, Columns};
pub use commit_log::{Commit, CommitLog, Overflow};
pub use commit_number::CommitNumber;
pub use dependencies::{Dependencies, TableDependency};
pub use filter::{Conjunct, Filter, Test};
pub use groups::{Aggregate, AggregateValue, Contribution, Doubt, Group, GroupTerm, Groups, GroupsChange};
pub use image::{Image, Watched};
pub use impact::{Impact, Reason, Skip};
pub use interest::Interest;
pub use kept::{
    Clip, Collation, KeptRow, KeptRows, KeptWindow, Order, OrderTerm, OutOfOrder, Plan, SourceKey, Window,
};
pub use live_query_id::LiveQueryId;
pub use live_query_map::LiveQueryMap;
pub use patch::{Differ, Difference, Segment};
pub use registry::{Registry, Skips};
pub use row_change::RowChange;
pub use row_names::{ROWID, RowDetail, RowKey, RowNames, ToldRow, told};
pub use scheduler::{MarkOutcome, Scheduler};
pub use summary::{ChangeSummary, Operations, Rows, TableChange};
pub use table_name::TableName;
pub use value::Value;
