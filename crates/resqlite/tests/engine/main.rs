//! The engine, tested through its public API. One file per topic; one behaviour per test.

mod support;

mod any_statement;
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
mod describe;
mod extensions;
mod foreign_connections;
mod foreign_keys;
mod functions;
mod group_commit;
mod halfway;
mod leases;
mod limits;
mod live_queries;
mod lost_files;
mod opening;
mod panics;
mod pragmas;
mod readers;
mod scripts;
mod statistics;
mod strangers;
mod transactions;
mod values;
mod values_roundtrip;
mod wal;
