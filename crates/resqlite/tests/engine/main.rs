//! The engine, tested through its public API. One file per topic; one behaviour per test.

mod support;

mod any_statement;
#[cfg(feature = "log")]
mod apply;
mod attached;
mod backups;
mod batches;
mod cancelling;
mod changes_basic;
mod changes_indirect;
mod changes_schema;
mod changes_undone;
mod changes_values;
mod checkpoints;
mod commit_numbers;
mod commit_rows;
mod cursors;
mod deep;
mod describe;
#[cfg(feature = "log")]
mod entries;
#[cfg(feature = "log")]
mod entries_odd;
#[cfg(feature = "log")]
mod entry_gate;
#[cfg(feature = "log")]
mod entry_position;
mod extensions;
#[cfg(feature = "log")]
mod feed_copies;
#[cfg(feature = "log")]
mod feeds;
mod foreign_connections;
mod foreign_keys;
mod functions;
mod group_commit;
mod groups;
mod halfway;
mod inline;
mod leases;
mod limits;
mod live_queries;
mod lost_files;
mod opened_to_read;
mod opening;
#[cfg(feature = "log")]
mod overtaken;
mod panics;
#[cfg(feature = "log")]
mod position;
mod pragmas;
mod readers;
#[cfg(target_os = "linux")]
mod resting;
mod scripts;
mod statistics;
mod strangers;
mod transactions;
mod unwatched;
mod values;
mod values_roundtrip;
mod wal;
