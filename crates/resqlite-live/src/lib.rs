//! What commits changed, as pure logic: no threads, no clock, no SQLite, only the standard library.
//!
//! The writer tells a [`ChangeSet`] of every row that SQLite changes, while it changes it. Work that SQLite
//! undoes (a failed statement, ROLLBACK TO) is undone here through marks. At COMMIT the change set becomes a
//! [`ChangeSummary`], which the bounded [`CommitLog`] keeps under a sequence number. Whoever knows an older
//! sequence number asks the log what happened since, or learns that it no longer reaches back that far.
//!
//! An [`Interest`] says how far changes to a table are worth decoding: table, columns or rows.
//!
//! One rule holds everywhere: tables give correctness; columns and keys only save work. Where a bound in
//! [`limits`] is reached or something is not known, a summary claims more than what changed ([`Columns::Any`],
//! [`Keys::Any`], everything), never less.
//!
//! ```
//! use resqlite_live::{ChangeSet, CommitLog, Key, RowChange, TableName};
//!
//! let users = TableName::new("main", "users");
//! let mut changes = ChangeSet::new();
//! let statement = changes.mark();
//! changes.record(&users, RowChange::Insert { key: Some(Key::Rowid(1)) });
//! changes.rollback_to(statement); // the statement failed
//! changes.record(&users, RowChange::Insert { key: Some(Key::Rowid(2)) });
//!
//! let mut log = CommitLog::new();
//! let sequence = log.append(changes.finish());
//! let commits: Vec<_> = log.since(sequence - 1)?.collect();
//! assert!(commits[0].summary.touches(&users));
//! # Ok::<(), resqlite_live::Overflow>(())
//! ```

#![forbid(unsafe_code)]

mod change_set;
mod column_set;
mod commit_log;
mod interest;
mod key;
pub mod limits;
mod row_change;
mod summary;
mod table_name;
#[cfg(test)]
mod testing;
mod value;

pub use change_set::{ChangeSet, Mark};
pub use column_set::{ColumnSet, Columns};
pub use commit_log::{Commit, CommitLog, Overflow};
pub use interest::{Detail, Interest};
pub use key::{Key, Keys};
pub use row_change::RowChange;
pub use summary::{ChangeSummary, Operations, TableChange};
pub use table_name::TableName;
pub use value::Value;
