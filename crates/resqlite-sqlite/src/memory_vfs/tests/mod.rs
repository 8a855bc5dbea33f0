//! SQLite on top of the VFS.

mod either_mode;
mod harness;
mod life;
mod naming;
mod threads;
mod wal;
