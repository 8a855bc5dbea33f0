//! What commits changed, as pure logic: no threads, no clock, no SQLite, only the standard library.
//!
//! The writer tells a [`ChangeSet`] of every row that SQLite changes, while it changes it. Work that SQLite
//! undoes (a failed statement, ROLLBACK TO) is undone here through marks. At COMMIT the change set becomes a
//! [`ChangeSummary`], which the bounded [`CommitLog`] keeps under a sequence number. Whoever knows an older
//! sequence number asks the log what happened since, or learns that it no longer reaches back that far.
//!
//! An [`Interest`] says how far changes to a table are worth decoding: which columns are compared, and of which the
//! values are kept ([`Watched`]).
//!
//! What a stream depends on is a [`Dependencies`]: tables, columns of them, and [`Filter`]s that say which rows can
//! matter. [`Dependencies::concerned`] is the rule by which a commit concerns it; the [`Registry`] finds those whom
//! one concerns among very many.
//!
//! One rule holds everywhere: tables give correctness; columns and values only save work. Where a bound in
//! [`limits`] is reached or something is not known, a summary claims more than what changed ([`Columns::Any`],
//! [`Rows::Any`], everything), never less.
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
//! let sequence = log.append(changes.finish());
//! let commits: Vec<_> = log.since(sequence - 1)?.collect();
//! assert!(commits[0].summary.touches(&users));
//! # Ok::<(), resqlite_live::Overflow>(())
//! ```

#![forbid(unsafe_code)]

mod by_stream;
mod change_set;
mod column_set;
mod commit_log;
mod dependencies;
#[doc(hidden)]
pub mod fault;
mod filter;
mod image;
mod interest;
pub mod limits;
mod patch;
mod registry;
mod row_change;
mod scheduler;
mod summary;
mod table_name;
#[cfg(test)]
mod testing;
mod value;

pub use by_stream::ByStream;
pub use change_set::{ChangeSet, Mark};
pub use column_set::{ColumnSet, Columns};
pub use commit_log::{Commit, CommitLog, Overflow};
pub use dependencies::{Dependencies, Reason, Skip, TableDependency};
pub use filter::{Conjunct, Filter, Test};
pub use image::{Image, Watched};
pub use interest::Interest;
pub use patch::{Differ, Difference, Run};
pub use registry::{Registry, Skips, StreamId};
pub use row_change::RowChange;
pub use scheduler::{Scheduler, Stale};
pub use summary::{ChangeSummary, ChangedRow, Operations, Rows, TableChange};
pub use table_name::TableName;
pub use value::Value;
